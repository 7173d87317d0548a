"""Functions of `scipy.special` called with arrays of the namespace, and in adopted code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

import vtgrad as vt
import vtgrad.numpy as np

special = pytest.importorskip("scipy.special")

PLACES = numpy.array([0.3, 0.8, 0.45])
ONE_OPERAND = (
    "digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1 i1e j0 j1 k0 k0e k1 k1e "
    "log1p log_ndtr logit ndtr ndtri psi y0 y1"
).split()
TWO_OPERANDS = (
    "eval_chebyt eval_chebyu eval_hermite eval_hermitenorm eval_laguerre eval_legendre "
    "eval_sh_chebyt eval_sh_chebyu gammainc gammaincc xlog1py xlogy zeta"
).split()


def differences(function: Any, *first: Any) -> Any:
    """The derivatives of SciPy's function, by central differences."""
    step = 1e-6
    return (function(*first, PLACES + step) - function(*first, PLACES - step)) / (2 * step)


@pytest.mark.parametrize("name", ONE_OPERAND + TWO_OPERANDS)
def test_ufuncs_record(name: str) -> None:
    function: Any = getattr(special, name)
    first = (3,) if name in TWO_OPERANDS else ()
    leaf = vt.tensor(PLACES, requires_grad=True)
    found = function(*first, np.asarray(leaf))
    assert type(found) is np.ndarray
    numpy.testing.assert_allclose(found.detach().numpy(), function(*first, PLACES), rtol=1e-12)
    found.sum().backward()
    assert leaf.grad is not None
    numpy.testing.assert_allclose(leaf.grad.numpy(), differences(function, *first), rtol=1e-5)


def test_dtypes_are_those_of_scipy() -> None:
    for operand in (numpy.array([1, 2]), numpy.array([1.0], "f"), numpy.float32(0.5), 2.0):
        found = special.erfcx(np.asarray(operand))
        assert found.dtype == special.erfcx(operand).dtype
    both = special.xlogy(np.array([1.0], "f"), numpy.float64(2.0))
    assert both.dtype == special.xlogy(numpy.array([1.0], "f"), numpy.float64(2.0)).dtype
    assert special.zeta(2, np.array([1.0], "f")).dtype == numpy.float32


def test_what_is_not_there_is_computed_without_a_derivative_or_refused() -> None:
    numpy.testing.assert_array_equal(
        special.erf(np.array([1j])).numpy(), special.erf(numpy.array([1j]))
    )
    half = special.eval_legendre(2.5, np.array(PLACES))
    numpy.testing.assert_array_equal(half.numpy(), special.eval_legendre(2.5, PLACES))
    leaf = vt.tensor(PLACES, requires_grad=True)
    for name, first in (("eval_legendre", (2.5,)), ("struve", (0.5,))):
        with pytest.raises(vt.errors.NumpyConversionError, match=name):
            getattr(special, name)(*first, np.asarray(leaf))


PROGRAM = """
import importlib
import scipy
import scipy.special
import scipy.special as alias
import scipy.linalg
from scipy import special
from scipy.special import expit, logsumexp

imported = importlib.import_module("scipy.special")
same = [scipy.special is special, alias is special, imported is special]


def sums(x):
    return (
        expit(x).sum()
        + logsumexp(x)
        + logsumexp(x, axis=0, keepdims=True)[0]
        + special.softmax(x)[0]
        + special.log_softmax(x * x[:, None], axis=1)[0, 1]
        + scipy.special.polygamma(1, x).sum()
        + alias.multigammaln(x + 2, 2).sum()
        + special.lambertw(x).real.sum()
        + special.lambertw(-x / 30, k=-1).real.sum()
        + special.wofz(x).imag.sum()
        + special.spherical_jn(1, x).sum()
        + special.spherical_yn([0, 1, 3], x, derivative=True).sum()
        + (special.spherical_in(x.astype(int), x) * special.spherical_kn(2, z=x)).sum()
    )


def weighted(x):
    return logsumexp(x, b=2.0)
"""


def test_adopted_code_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sums_of_special_functions.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    program: Any = np.adopt("sums_of_special_functions")
    assert program.same == [True, True, True]
    namespace: dict[str, Any] = {}
    exec(PROGRAM, namespace)
    plain = namespace["sums"]
    leaf = vt.tensor(PLACES, requires_grad=True)
    found = program.sums(leaf)
    assert found.item() == pytest.approx(plain(PLACES), rel=1e-12)
    found.backward()
    steps = 1e-6 * numpy.eye(3)
    expected = [(plain(PLACES + h) - plain(PLACES - h)) / 2e-6 for h in steps]
    assert leaf.grad is not None
    numpy.testing.assert_allclose(leaf.grad.numpy(), expected, rtol=1e-6)
    # Values alone are SciPy's.
    assert program.sums(PLACES) == plain(PLACES)
    with pytest.raises(vt.errors.NotSupportedError, match="b="):
        program.weighted(leaf)


def test_a_module_that_adopted_code_must_not_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "import scipy\ntry:\n    from scipy import optimize\nexcept ImportError:\n    optimize = 0"
    )
    (tmp_path / "without_a_part_of_scipy.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert np.adopt("without_a_part_of_scipy", without=["scipy.optimize"]).optimize == 0
