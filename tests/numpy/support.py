"""The same computation on arrays of the namespace and on NumPy's, compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np

import vtgrad as vt
from vtgrad.numpy import ndarray, scalar
from vtgrad.numpy.operands import fresh

#: The dtypes that arrays of the namespace have.
DTYPES: Final = ("?", "b", "B", "h", "i", "l", "e", "f", "d", "F", "D")
INEXACT: Final = frozenset("efdFD")


def array(value: Any, grad: bool = False) -> Any:
    """An array of the namespace on a copy of NumPy's, a leaf if `grad` is set and it can be."""
    made = fresh(np.array(value))
    if grad and made.dtype.char in INEXACT:
        made.requires_grad_()
    return made


def plain(x: Any) -> Any:
    """What NumPy would have in place of a result, arrays and scalars with their values."""
    if isinstance(x, vt.Tensor):
        values = x.detach().numpy(force=True)
        return values[()] if type(x) is scalar else values.view(np.ndarray)
    if isinstance(x, tuple):
        return tuple(plain(part) for part in x)
    return x


def assert_same(mine: Any, theirs: Any, *, exact: bool = False, what: str = "") -> None:
    """Value, dtype, shape, and whether it is an array or a scalar."""
    if isinstance(theirs, tuple):
        assert isinstance(mine, tuple), what
        assert len(mine) == len(theirs), what
        for a, b in zip(mine, theirs, strict=True):
            assert_same(a, b, exact=exact, what=what)
        return
    if isinstance(theirs, np.ndarray):
        # Dtypes that tensors do not have stay NumPy's, as of the sum of uint8.
        kind = ndarray if theirs.dtype.char in DTYPES else np.ndarray
        assert type(mine) is kind, f"{what}: {type(mine)} for an array"
    elif isinstance(theirs, np.generic):
        assert isinstance(mine, (np.generic, scalar)), f"{what}: {type(mine)} for a scalar"
    else:
        assert type(mine) is type(theirs), f"{what}: {type(mine)} for {type(theirs)}"
        assert mine == theirs, what
        return
    found = plain(mine)
    assert found.dtype == theirs.dtype, f"{what}: {found.dtype}, NumPy has {theirs.dtype}"
    assert found.shape == theirs.shape, f"{what}: {found.shape}, NumPy has {theirs.shape}"
    if found.tobytes() == theirs.tobytes():
        return  # as most are; what compares number by number takes a hundred times as long
    if exact or theirs.dtype.char not in INEXACT:
        np.testing.assert_array_equal(found, theirs, err_msg=what)
    else:
        digits = 1e-2 if theirs.dtype.char == "e" else 1e-5 if theirs.dtype.char in "fF" else 1e-12
        np.testing.assert_allclose(found, theirs, rtol=digits, atol=digits, err_msg=what)


def outcome(function: Callable[[], Any]) -> tuple[Any, type[BaseException] | None]:
    """What a function returned, or the class of what it raised."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(), None
        except Exception as error:  # whatever NumPy raises
            return error, type(error)


def compare(
    mine: Callable[[], Any], theirs: Callable[[], Any], what: str, *, exact: bool = False
) -> None:
    """Run both, and compare results, or the classes of errors."""
    right, error = outcome(theirs)
    found, raised = outcome(mine)
    if error is None:
        assert raised is None, f"{what}: raised {found!r}, NumPy gives {right!r}"
        assert_same(found, right, exact=exact, what=what)
        return
    expected = next(base for base in error.__mro__ if base.__module__ == "builtins")
    assert raised is not None, f"{what}: {found!r}, NumPy raises {right!r}"
    assert issubclass(raised, expected), f"{what}: {found!r}, NumPy raises {right!r}"


def values(dtype: str, shape: tuple[int, ...] = (3,), seed: int = 0) -> np.ndarray[Any, Any]:
    """Values of a dtype that are neither large nor zero, in an array of its own."""
    return _values(dtype, tuple(shape), seed).copy()


@cache
def _values(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(seed)
    numbers = random.integers(1, 6, shape)
    if dtype == "?":
        return np.asarray(numbers % 2 == 0)
    if dtype in "FD":
        return np.asarray(numbers + 1j * random.integers(-3, 4, shape), dtype)
    scale = 0.25 if dtype in INEXACT else 1
    return np.asarray(numbers * scale, dtype)


__all__ = [
    "DTYPES",
    "INEXACT",
    "array",
    "assert_same",
    "compare",
    "outcome",
    "plain",
    "values",
]
