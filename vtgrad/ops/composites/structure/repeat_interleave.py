"""Each element several times in a row."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import ShapeError
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.take_over import is_keyed_as_whole, take_over
from vtgrad.ops.composites.views.reshaping import flatten
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import REPEAT_INTERLEAVE
from vtgrad.storage.geometry import normalize_dim
from vtgrad.storage.integers import integer
from vtgrad.storage.key_set import keys
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "repeat_interleave",
]


T = TypeVar("T", bound=TensorBase)


@explained
def repeat_interleave(
    input: T,
    repeats: int | TensorBase | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> T:
    """Return each element, or each slice of a dimension, several times in a row.

    Without `repeats` the tensor holds counts itself, and the result is each position as often
    as the count there says. The gradient of an element is the sum over its copies.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape; without `repeats` a vector of counts, of int64 or int32.
    repeats : int or Tensor, optional
        One count for all, or a vector of int64 or int32 with a count for each slice.
    dim : int, optional
        The dimension; without it the flattened tensor is taken.
    output_size : int, optional
        What the counts add up to, which is checked.

    Returns
    -------
    Tensor
        A new tensor; a vector without `dim`.

    Raises
    ------
    ShapeError
        If a count is negative, `repeats` is no vector with a count for each slice, or the sum
        is not `output_size`.
    NotSupportedError
        If the counts are of another dtype than int64 and int32.
    DimensionError
        If `input` has no dimension `dim`.

    Examples
    --------
    >>> x = vt.tensor([[1, 2], [3, 4]])
    >>> vt.repeat_interleave(x, 2, dim=1)
    tensor([[1, 1, 2, 2],
            [3, 3, 4, 4]])
    >>> vt.repeat_interleave(x, vt.tensor([1, 2]), dim=0)
    tensor([[1, 2],
            [3, 4],
            [3, 4]])
    >>> vt.repeat_interleave(vt.tensor([0, 2, 1]))
    tensor([1, 1, 2])
    """
    if keys.active and is_keyed_as_whole(input, repeats):
        return take_over(
            REPEAT_INTERLEAVE, repeat_interleave, input, repeats, dim, output_size=output_size
        )
    if output_size is not None:
        output_size = integer(output_size)
    if repeats is None:
        return F.counted_indices(input, output_size=output_size)
    if dim is None:
        input, dim = flatten(input), 0
    if isinstance(repeats, TensorBase):
        return _repeat_each(input, repeats, dim, output_size)
    count = integer(repeats)
    if count < 0:
        raise ShapeError(f"repeats must not be negative, got {count}", repeats=count)
    axis = normalize_dim(dim, input.ndim)
    normalize_dim(axis + 1, input.ndim + 1)  # a 0-d tensor has no slices
    wide = F.unsqueeze(input, axis + 1)
    sizes = [-1] * wide.ndim
    sizes[axis + 1] = count
    if output_size is not None and output_size != count * input.shape[axis]:
        raise ShapeError(
            f"the repeats add up to {count * input.shape[axis]}, but output_size is {output_size}"
        )
    copy = F.clone(F.expand_sizes(wide, sizes), memory_format=MemoryFormat.CONTIGUOUS)
    return flatten(copy, axis, axis + 1)


def _repeat_each(input: T, repeats: TensorBase, dim: int, output_size: int | None) -> T:
    axis = normalize_dim(dim, input.ndim)
    size = input.shape[axis] if input.ndim else 1
    if repeats.ndim == 0 or repeats.shape == (1,):
        repeats = F.expand_sizes(F.reshape(repeats, -1), (size,))
    elif repeats.ndim > 1:
        raise ShapeError(f"repeats must be a vector, got shape {list(repeats.shape)}")
    elif repeats.numel() != size:
        raise ShapeError(
            f"repeat_interleave needs a count for each of {size} slices, got {repeats.numel()}",
            expected=size,
            found=repeats.numel(),
        )
    return F.index_select(input, axis, F.counted_indices(repeats, output_size=output_size))
