"""Convolution and correlation of vectors."""

from __future__ import annotations

from typing import Final, Literal, TypeVar, cast

import numpy as np

from vtgrad.errors import OptionValueError, ShapeError
from vtgrad.later.beside import beside
from vtgrad.later.is_plain import is_plain
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.promotion import result_dtype
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["convolve", "convolved", "correlate", "correlated"]


T = TypeVar("T", bound=TensorBase)

# How many elements of the shorter vector may reach beyond the longer one, at either end.
_MODES: Final = {"valid": 0, "same": 1, "full": 2}
_NAMES: Final[tuple[Literal["valid", "same", "full"], ...]] = ("valid", "same", "full")


@explained
def convolve(a: T, v: TensorBase, mode: str = "full") -> T:
    """Return the discrete convolution of two vectors.

    The name is NumPy's; PyTorch has no such function.

    Parameters
    ----------
    a, v : Tensor
        Vectors that are not empty; a 0-d tensor is one of one element.
    mode : str, default 'full'
        ``"full"``: they overlap in one element at least; ``"same"``: the result has the length of
        the longer one; ``"valid"``: they overlap completely.

    Returns
    -------
    Tensor
        A new vector in the dtype of both.

    Raises
    ------
    ShapeError
        If a tensor has several dimensions, or no element.
    OptionValueError
        If there is no such mode.

    Examples
    --------
    >>> vt.convolve(vt.tensor([1.0, 2.0, 3.0]), vt.tensor([1.0, 1.0]))
    tensor([1., 3., 5., 3.])
    >>> vt.convolve(vt.tensor([1.0, 2.0, 3.0]), vt.tensor([1.0, 1.0]), "valid")
    tensor([3., 5.])
    """
    first, second = _vectors("convolve", a, v)
    number = _number_of(mode)
    if is_plain(first, second) and first._impl.array.dtype.kind != "b":
        found = np.convolve(first._impl.array, second._impl.array, _NAMES[number])
        return beside(first, found)
    return convolved(first, second, number)


@explained
def correlate(a: T, v: TensorBase, mode: str = "valid") -> T:
    """Return the correlation of two vectors: products with the conjugate of the second.

    The name is NumPy's; PyTorch has no such function.

    Parameters
    ----------
    a, v : Tensor
        Vectors that are not empty; a 0-d tensor is one of one element.
    mode : str, default 'valid'
        As of `convolve`.

    Returns
    -------
    Tensor
        A new vector in the dtype of both.

    Raises
    ------
    ShapeError
        If a tensor has several dimensions, or no element.
    OptionValueError
        If there is no such mode.

    Examples
    --------
    >>> vt.correlate(vt.tensor([1.0, 2.0, 3.0]), vt.tensor([0.0, 1.0]), "same")
    tensor([1., 2., 3.])
    """
    first, second = _vectors("correlate", a, v)
    number = _number_of(mode)
    if is_plain(first, second) and first._impl.array.dtype.kind != "b":
        found = np.correlate(first._impl.array, second._impl.array, _NAMES[number])
        return beside(first, found)
    return correlated(first, second, number)


def _vectors(name: str, a: T, v: TensorBase) -> tuple[T, T]:
    """Both in one dtype, as vectors."""
    refuse_names(name, a, v)
    arrays = [array_of(x, nr) for x, nr in ((a, "a"), (v, "v"))]
    for array in arrays:
        if array.ndim > 1 or not array.size:
            raise ShapeError(
                f"{name}() takes vectors that are not empty, got shape {list(array.shape)}",
                shape=array.shape,
            )
    kind = result_dtype(*arrays)
    first, second = [F.to_dtype(x, kind) if x._impl.array.dtype != kind else x for x in (a, v)]
    found = [F.reshape(x, -1) for x in (first, second)]
    return cast("T", found[0]), cast("T", found[1])


def _number_of(mode: str) -> int:
    number = _MODES.get(mode)
    if number is None:
        raise OptionValueError(f"mode must be one of {', '.join(_MODES)}, not {mode!r}", mode=mode)
    return number


def convolved(a: T, v: T, number: int) -> T:
    """The convolution of two vectors of one dtype.

    Parameters
    ----------
    number : int
        0 for a complete overlap, 1 for the length of the longer one, 2 for any overlap.
    """
    if v._impl.array.shape[0] > a._impl.array.shape[0]:
        a, v = v, a
    return _slid(a, F.flip(v, 0), number)


def correlated(a: T, v: T, number: int) -> T:
    """The correlation of two vectors of one dtype; `number` is as of `convolved`."""
    if v._impl.array.dtype.kind == "c":
        v = F.conj(v)
    if v._impl.array.shape[0] <= a._impl.array.shape[0]:
        return _slid(a, v, number)
    # The shorter vector slides along the longer one in the other direction.
    return F.flip(_slid(v, a, number), 0)


def _slid(long: T, short: T, number: int) -> T:
    """The products with the shorter vector, at each place that it is moved to."""
    count: int = short._impl.array.shape[0]
    before = (0, count // 2, count - 1)[number]
    behind = (0, count - count // 2 - 1, count - 1)[number]
    size: int = long._impl.array.shape[0]
    if not before and not behind:
        return F.mv(F.unfold(long, 0, count, 1), short)
    windows = F.unfold(F.constant_pad(long, (before, behind)), 0, count, 1)
    if short._impl.key_set or np.isfinite(short._impl.array).all():
        return F.mv(windows, short)
    # Where the vectors do not overlap there is no product, which would be NaN of zero and infinity.
    overlaps = making.zeros(before + size + behind, np.bool_)
    overlaps[before : before + size] = True
    mask = np.lib.stride_tricks.sliding_window_view(overlaps, count).copy()
    products = F.where(beside(long, mask), F.mul(windows, short), F.zeros_like(windows))
    return F.sum_dim_IntList(products, (1,), False)
