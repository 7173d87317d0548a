"""The calls that programs write, by the namespace and by NumPy's own names."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.lists_of_calls import OF_A_MATRIX, OF_A_PROGRAM
from tests.numpy.support import plain
from vtgrad.errors import NotSupportedError, NumpyConversionError

BASE: Final = np.array([[0.3, 0.7], [0.2, 0.9]])
X: Final = np.array([[0.52, 0.2], [0.31, 0.8]])

#: Calls whose result carries no gradient as they are written: the imaginary part of real numbers
#: and a sign.
WITHOUT_GRADIENT: Final = frozenset(["np.imag(x)", "np.linalg.slogdet(x)"])
#: What is neither in the namespace nor an operator yet: refused, before anything is computed.
MISSING: Final[frozenset[str]] = frozenset()
#: What NumPy itself computes without asking its arguments.
NEVER_ASKED: Final = frozenset(["np.full((2,),x[0,0])"])

#: Writes to leaves, which autograd refuses.
WRITES_A_LEAF: Final = frozenset(["x.fill(0)", "x.sort()"])


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def values(call: str) -> Any:
    return X + 1 if "arccosh" in call else X


def first(call: str, namespace: Any, x: Any, make: Any) -> Any:
    """The first result of a call."""
    names = {"np": namespace, "x": x, "base": BASE, "mk": make}
    found = eval(call, names)
    return found[0] if isinstance(found, (tuple, list)) else found


def differentiate(call: str, namespace: Any, make: Any) -> None:
    """Compare a call's value with NumPy's and its gradients with finite differences."""

    def function(x: Any) -> Any:
        found = first(call, namespace, x * 1, make)
        # A number would be taken for a part that is not differentiated.
        return found if isinstance(found, vt.Tensor) else vt.tensor(found)

    x = make(values(call))
    right = first(call, np, values(call) * 1, np.array)
    if "where=" not in call:  # where NumPy leaves memory as it was
        np.testing.assert_allclose(plain(function(x)), right, rtol=1e-12, atol=1e-15)
    x.requires_grad_()
    assert function(x).requires_grad
    assert vt.autograd.gradcheck(function, (x,))
    assert vt.autograd.gradgradcheck(function, (x,), fast_mode=True)


@pytest.mark.parametrize("call", OF_A_MATRIX)
def test_a_call_of_the_namespace(call: str) -> None:
    if call in MISSING:
        with pytest.raises(NotSupportedError, match=r"derivative|gradient"):
            first(call, vnp, vnp.array(X).requires_grad_(), vnp.array)
    elif call in WITHOUT_GRADIENT:
        found = first(call, vnp, vnp.array(X).requires_grad_(), vnp.array)
        np.testing.assert_allclose(plain(found), first(call, np, X, np.array))
    else:
        differentiate(call, vnp, vnp.array)


@pytest.mark.parametrize("call", OF_A_MATRIX)
def test_a_call_by_numpys_name(call: str) -> None:
    def make(values: Any) -> vt.Tensor:
        return vt.tensor(np.array(values))

    if call in MISSING:
        with pytest.raises(NotSupportedError, match=r"derivative|gradient"):
            first(call, np, make(X).requires_grad_(), make)
    elif call in NEVER_ASKED:
        with pytest.raises(NumpyConversionError, match="detach"):
            first(call, np, make(X).requires_grad_(), make)
    elif call in WITHOUT_GRADIENT:
        found = first(call, np, make(X).requires_grad_(), make)
        np.testing.assert_allclose(plain(found), first(call, np, X, np.array))
    else:
        differentiate(call, np, make)


M: Final = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.8]])
A: Final = np.array([0.5, 1.5, 2.5, 3.5])
B: Final = np.array([1.0, 2.0, 3.0])


def run(call: str, namespace: Any, make: Any) -> Any:
    """A call of a program."""
    names = {"np": namespace, "A": M, "a": A, "b": B}
    names |= {"M": make(M), "x": make(A), "v": make(B)}
    return eval(call, names)


@pytest.mark.parametrize("call", OF_A_PROGRAM)
def test_a_call_of_a_program(call: str) -> None:
    def leaf(values: Any) -> Any:
        return vnp.array(values).requires_grad_()

    if call in WRITES_A_LEAF:
        with pytest.raises(RuntimeError, match="leaf"):
            run(call, vnp, leaf)
    else:
        numpys = call.replace(".detach()", "")
        try:
            right = run(numpys, np, np.array)
        except AttributeError as error:
            # Some are PyTorch's, as `exp`, and one is of an older NumPy.
            right = error
        if isinstance(right, AttributeError) and "ptp" in call:
            with pytest.raises(AttributeError):
                run(call, vnp, leaf)
            return
        found = run(call, vnp, leaf)
        # Attributes of memory have no counterpart.
        if call not in ("x.data", "x.base") and not isinstance(right, AttributeError):
            compare_values(found, right)


def compare_values(found: Any, right: Any) -> None:
    if isinstance(right, (tuple, list)):
        assert len(found) == len(right)
        for a, b in zip(found, right, strict=True):
            compare_values(a, b)
    elif isinstance(right, (np.ndarray, np.generic, float)):
        assert isinstance(found, (vt.Tensor, np.generic, float, int)), type(found)
        np.testing.assert_allclose(plain(found), plain(right), rtol=1e-12, atol=1e-15)
    else:
        assert found == right
