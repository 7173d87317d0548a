"""Cumulative sums, products, extremes and logarithms, and differences of neighbours."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import (
    ArgumentTypeError,
    DTypeError,
    NotSupportedError,
    OptionValueError,
    ShapeError,
)
from vtgrad.ops.calling.arguments import array_of, numpy_or_none
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.ops.calling.take_over import is_keyed_as_whole, take_over
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import DIFF
from vtgrad.storage.dtypes import DType
from vtgrad.storage.inference_tensors import refuse_outside_inference_mode
from vtgrad.storage.integers import integer
from vtgrad.storage.key_set import keys
from vtgrad.storage.shapes import normalize_dim
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.views.write_out import check_out, write_out

__all__ = ["cumprod_", "cumsum_", "diff"]


T = TypeVar("T", bound=TensorBase)


@explained
def diff(
    input: T,
    n: int = 1,
    dim: int = -1,
    prepend: TensorBase | None = None,
    append: TensorBase | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the differences of neighbours along a dimension.

    Each difference is an element less the one before it; of bools it is whether they differ.
    Integers that leave their dtype wrap around. With ``n = 0`` the result is a copy of `input`
    alone, without what is to be joined to it.

    Parameters
    ----------
    input : Tensor
        The values, of at least 1 dimension.
    n : int, default 1
        How many times differences are taken.
    dim : int, default -1
        The dimension, which gets shorter by `n`, down to size 0.
    prepend : Tensor, optional
        What is joined in front of `input` first.
    append : Tensor, optional
        What is joined behind `input` first.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.

    Returns
    -------
    Tensor
        A new tensor of the dtype of `input`, promoted with what is joined to it.

    Raises
    ------
    ShapeError
        If `input` is 0-d, or what is joined has another number of dimensions or other sizes.
    OptionValueError
        If `n` is negative.
    DimensionError
        If there is no dimension `dim`.
    ArgumentTypeError
        If `n` or `dim` is not an integer, or what is joined is not a tensor.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> x = vt.tensor([1, 4, 9, 16])
    >>> vt.diff(x)
    tensor([3, 5, 7])
    >>> vt.diff(x, n=2)
    tensor([2, 2])
    >>> vt.diff(x, prepend=vt.tensor([0]))
    tensor([1, 3, 5, 7])
    """
    if keys.active and is_keyed_as_whole(input, prepend, append, out):
        return take_over(DIFF, diff, input, n, dim, prepend, append, out=out)
    array = array_of(input, "input")
    if array.ndim == 0:
        raise ShapeError("diff() needs one dimension at least")
    for name, x in (("prepend", prepend), ("append", append)):
        if x is not None and array_of(x, name).ndim != array.ndim:
            raise ShapeError(
                f"diff() cannot join {name} of shape {list(x.shape)} to shape {list(input.shape)}"
            )
    n = integer(n)
    if n < 0:
        raise OptionValueError(f"diff() cannot be taken {n} times", n=n)
    axis = normalize_dim(checked_dim(dim), array.ndim)
    if n == 0:
        return F.copy_(F.zeros_like(input), input) if out is None else _stored(out, input)
    if prepend is not None or append is not None:
        parts = [x for x in (prepend, input, append) if x is not None]
        input = _joined(parts, axis, input)
    times = min(n, input.shape[axis])
    for left in range(times, 0, -1):
        length = input.shape[axis] - 1
        following, previous = F.narrow(input, axis, 1, length), F.narrow(input, axis, 0, length)
        target = out if left == 1 else None
        if input._impl.array.dtype.kind == "b":
            input = F.logical_xor(following, previous, out=target)
        else:
            input = F.sub(following, previous, out=target)
    return input if times or out is None else _stored(out, input)


def _stored(out: T, input: TensorBase) -> T:
    """The values as they are, row-major, where there is no difference to take."""
    check_out(out, input)
    return write_out(out, F.contiguous(input)._impl.array, "diff", exact=True)


def _joined(parts: list[TensorBase], axis: int, like: T) -> T:
    joined = F.cat(parts, axis)
    if not isinstance(joined, type(like)):
        raise ArgumentTypeError(f"diff() joins tensors of {type(like).__name__}")
    return joined


def _check_own_dtype(x: TensorBase, dtype: DType | None) -> None:
    own = array_of(x, "input").dtype
    if x._impl.version_counter is INFERENCE:
        # Whether the tensor may be written at all comes first; see Note [The write funnel].
        refuse_outside_inference_mode()
    if own.kind == "b":
        raise NotSupportedError("running sums and products are not defined in bool", dtype=x.dtype)
    if dtype is not None and numpy_or_none(dtype) != own:
        raise DTypeError(f"in place, dtype= can only be the tensor's own {x.dtype}", dtype=dtype)


def cumsum_(input: T, dim: int, *, dtype: DType | None = None) -> T:
    """Replace the elements by the running sums along `dim`."""
    _check_own_dtype(input, dtype)
    return F.cumsum_dim_(input, dim)


def cumprod_(input: T, dim: int, *, dtype: DType | None = None) -> T:
    """Replace the elements by the running products along `dim`."""
    _check_own_dtype(input, dtype)
    return F.cumprod_dim_(input, dim)
