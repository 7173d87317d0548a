"""What passes through from NumPy, what arrays are, and what is left to NumPy."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import vtgrad.numpy as vnp
from tests.numpy.calls_by_namespace import Call, by_numpys_name, compare_call
from tests.numpy.support import DTYPES, array, values
from vtgrad.numpy import ndarray

CALLS: dict[str, Call] = {
    "shape": lambda np, a: np.shape(a([[1.0, 2]])),
    "shape of lists": lambda np, a: np.shape([[a(1.0), 2]]),
    "shape of a number": lambda np, a: np.shape(3),
    "shape of ragged": lambda np, a: np.shape([[1, 2], [3]]),
    "ndim": lambda np, a: np.ndim(a([[1.0, 2]])),
    "ndim of lists": lambda np, a: np.ndim([a([1.0, 2])]),
    "size": lambda np, a: np.size(a([[1.0, 2]])),
    "size of": lambda np, a: np.size(a([[1.0, 2]]), 1),
    "size error": lambda np, a: np.size(a([[1.0, 2]]), 2),
    "isscalar": lambda np, a: np.isscalar(a([1.0])[0]),
    "isscalar array": lambda np, a: np.isscalar(a(1.0)),
    "isscalar text": lambda np, a: np.isscalar("a"),
    "iterable": lambda np, a: (np.iterable(a([1.0])), np.iterable(a(1.0))),
    "result_type": lambda np, a: np.result_type(a(np.ones(2, "f")), 3, "i8"),
    "result_type of lists": lambda np, a: np.result_type(a(np.ones(2, "i2")), 3),
    "can_cast": lambda np, a: np.can_cast(a([1.0]).dtype, "f", "same_kind"),
    "can_cast integers": lambda np, a: np.can_cast(np.int64, np.int32),
    "can_cast error": lambda np, a: np.can_cast(3, "f"),
    "min_scalar_type": lambda np, a: np.min_scalar_type(a([1.0])),
    "min_scalar_type of": lambda np, a: np.min_scalar_type(-300),
    "common_type": lambda np, a: np.common_type(a(np.ones(1, "f")), a([1])),
    "common_type error": lambda np, a: np.common_type(np.array(["a"])),
    "astype": lambda np, a: np.astype(a([1.0, 2]), np.float32),
    "astype list": lambda np, a: np.astype([1.0], "f"),
    "isfortran": lambda np, a: (np.isfortran(a([[1.0, 2], [3, 4]]).T), np.isfortran(a([1.0]))),
    "array_repr": lambda np, a: np.array_repr(a([1.0, 2.5]), precision=3),
    "array_str": lambda np, a: np.array_str(a([1.0, 1e-9]), 60, 3, True),
    "array2string": lambda np, a: np.array2string(a([1.0, 2.5]), separator=",", floatmode="fixed"),
    "positional": lambda np, a: np.format_float_positional(a([0.1])[0], precision=3),
    "scientific": lambda np, a: np.format_float_scientific(a([1e10])[0], 3),
    "base_repr": lambda np, a: np.base_repr(10, 3),
    "binary_repr": lambda np, a: np.binary_repr(-3, width=5),
    "promote_types": lambda np, a: np.promote_types("i4", "f4"),
    "issubdtype": lambda np, a: np.issubdtype(a([1.0]).dtype, np.floating),
    "issubdtype of": lambda np, a: np.issubdtype(np.float32, np.integer),
    "isdtype": lambda np, a: np.isdtype(a([1.0]).dtype, "real floating"),
    "isdtype of": lambda np, a: np.isdtype(a([1.0]).dtype, (np.float64, np.int8)),
    "mintypecode": lambda np, a: np.mintypecode("fd"),
    "finfo": lambda np, a: np.finfo(np.float32).eps,
    "finfo of": lambda np, a: np.finfo(a([1.0]).dtype).max,
    "iinfo": lambda np, a: np.iinfo(np.int16).max,
    "constants": lambda np, a: (np.pi, np.e, np.inf, np.euler_gamma, np.newaxis),
    "True_": lambda np, a: (np.True_, np.False_, np.little_endian),
    "dtype": lambda np, a: np.dtype([("x", np.float64), ("y", np.uint16)]),
    "numbers": lambda np, a: (np.uint16(3), np.bool_(1), np.longdouble(2), np.intc(2), np.byte(1)),
    "isnat": lambda np, a: np.isnat(np.datetime64("NaT")),
}
# These have a function of the namespace.
DISPATCHED = "shape ndim size result_type common_type array_repr array_str array2string".split()


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    compare_call(CALLS[name], name)


@pytest.mark.parametrize("name", DISPATCHED)
def test_numpys_names(name: str) -> None:
    by_numpys_name(CALLS[name], name)


def test_shared_memory() -> None:
    for grad in (False, True):
        x = array([1.0, 2.0, 3.0, 4.0], grad)
        for library in (vnp, np):
            assert library.shares_memory(x, x[1:])
            assert not library.shares_memory(x[::2], x[1::2])
            assert library.may_share_memory(x[::2], x[1::2])
            assert not library.may_share_memory(x, array([1.0]))
    assert vnp.isnan(vnp.nan)


@pytest.mark.parametrize("dtype", DTYPES)
def test_astype_is_recorded(dtype: str) -> None:
    x = array(values(dtype), True)
    for other in "fdD":
        if dtype in "FD" and other != "D":
            continue
        made = vnp.astype(x, other)
        assert made.requires_grad == x.requires_grad
        assert vnp.astype(x, other, copy=False) is x or dtype != other


def test_floating_errors_are_numpys() -> None:
    with vnp.errstate(divide="raise"):
        assert np.geterr()["divide"] == vnp.geterr()["divide"] == "raise"
    with vnp.printoptions(precision=2):
        assert str(array([1.23456])) == "[1.23]"
    assert vnp.__version__ == np.__version__


MODULES: dict[str, list[str]] = {
    "exceptions": ["AxisError", "ComplexWarning", "RankWarning"],
    "typing": ["ArrayLike", "DTypeLike", "NDArray"],
    "testing": ["assert_allclose", "assert_equal", "assert_raises"],
    "lib.stride_tricks": ["sliding_window_view", "as_strided", "broadcast_to"],
    "random": ["default_rng", "rand", "seed"],
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str) -> None:
    module: Any = importlib.import_module(f"vtgrad.numpy.{name}")
    found: Any = vnp
    for part in name.split("."):
        found = getattr(found, part)
    assert found is module
    for member in MODULES[name]:
        assert member in module.__all__
        assert hasattr(module, member)


def test_assertions_are_loaded_at_first_use() -> None:
    program = (
        "import sys, vtgrad.numpy as np; assert 'numpy.testing' not in sys.modules; "
        "np.testing.assert_equal(np.ones(2), 1)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_names_that_are_left_to_numpy() -> None:
    for name in ("ma", "memmap", "recarray", "matrix", "rec"):
        with pytest.raises(AttributeError, match=f"numpy.{name}"):
            getattr(vnp, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        getattr(vnp, "nonsense")  # noqa: B009
    assert not hasattr(vnp, "nonsense")
    assert hasattr(vnp, "float128") == hasattr(np, "float128")


def test_all_names_are_there() -> None:
    for name in vnp.__all__:
        assert getattr(vnp, name) is not None or name == "newaxis"
    # Names of NumPy have its meanings only.
    assert vnp.ndarray is ndarray
    assert isinstance(vnp.sin, vnp.ufunc)
    assert isinstance(array([1.0]).flat, vnp.flatiter)


def test_assertions_compare_values() -> None:
    for x in (array([1.0, 2.0]), array([1.0, 2.0], grad=True)):
        vnp.testing.assert_allclose(x, [1, 2])
        vnp.testing.assert_array_equal(x, np.array([1.0, 2.0]))
        vnp.testing.assert_array_less(x, 3)
        vnp.testing.assert_almost_equal(x, [1, 2], decimal=3)
        vnp.testing.assert_equal({"a": [x, 1]}, {"a": [np.array([1.0, 2]), 1]})
        vnp.testing.assert_equal(x[0], 1.0)
        with pytest.raises(AssertionError, match="Mismatched"):
            vnp.testing.assert_allclose(x, [1, 3], rtol=1e-3)
        with pytest.raises(AssertionError):
            vnp.testing.assert_equal([x[0]], [2.0])
