"""Index arrays, and functions that choose among overloads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import ArgumentTypeError, DimensionError, DTypeError, ShapeError
from vtgrad.ops import kernels as k
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explain, explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.composites.support.undifferentiable import NotImplemented as NotImplementedNode
from vtgrad.ops.composites.support.undifferentiable import without_derivative
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.indexing.basic_index import warn_of_uint8_mask
from vtgrad.storage.argument_types import AnyBool, AnyInt, AnyStr, AnyTensor, T
from vtgrad.storage.arrays import Number
from vtgrad.storage.geometry import broadcast_shapes, normalize_dim
from vtgrad.storage.tensor_base import TensorBase, wrap_like
from vtgrad.views.store_inplace_result import store_without_warnings
from vtgrad.views.write import write

__all__ = [
    "index_put",
    "index_put_",
    "scatter",
    "scatter_",
    "take_along_dim",
]


@explained
def index_put(
    input: T, indices: Sequence[TensorBase], values: AnyTensor, accumulate: AnyBool = False
) -> T:
    """A copy with values stored at, or added to, the elements at index arrays.

    Parameters
    ----------
    indices : sequence of tensor
        One for each of the first dimensions; masks cover as many as they have.
    values : tensor
        Of the same dtype; broadcast to what the indices name.
    accumulate : bool
        Whether to add; then an element that is named twice gets both values.
    """
    return F.index_put_at(input, list(indices), _places(indices), values, accumulate)


@explained
def index_put_(
    input: T, indices: Sequence[TensorBase], values: AnyTensor, accumulate: AnyBool = False
) -> T:
    """`index_put` into the tensor itself."""
    return F.index_put_at_(input, list(indices), _places(indices), values, accumulate)


def _places(indices: Sequence[object]) -> tuple[int, ...]:
    """The dimension at which each index array stands."""
    if not indices:
        raise ShapeError("index_put needs at least one index array")
    for x in indices:
        if isinstance(x, TensorBase) and x._impl.dtype == np.uint8:
            warn_of_uint8_mask()
    return tuple(range(len(indices)))


@explained
def take_along_dim(
    input: T, indices: AnyTensor, dim: AnyInt | None = None, *, out: T | None = None
) -> T:
    """`gather` with broadcasting; of the flattened tensors without `dim`.

    With `dim`, indices are of int64, and those below zero count from the end.

    Raises
    ------
    ShapeError
        If the numbers of dimensions differ.
    DTypeError
        If the indices are not of int64; of int32 they may be without `dim`, as in `gather`.
    """
    if dim is None:
        return F.gather(F.reshape(input, -1), 0, F.reshape(indices, -1), out=out)
    if input.ndim != indices.ndim:
        raise ShapeError(
            f"take_along_dim needs as many dimensions, got {input.ndim} and {indices.ndim}",
            ndim=input.ndim,
            indices_ndim=indices.ndim,
        )
    if indices._impl.dtype != np.int64:
        raise DTypeError(
            f"take_along_dim needs int64 indices, got {indices._impl.dtype}",
            found=indices._impl.dtype.name,
        )
    axis = normalize_dim(dim, input.ndim)
    if input.ndim == 0:
        raise DimensionError("a 0-d tensor has no dimension to take from", dim=dim, ndim=0)
    shape, other = list(input.shape), list(indices.shape)
    length, count = shape[axis], other[axis]
    shape[axis] = other[axis] = 1
    common = list(broadcast_shapes(tuple(shape), tuple(other)))
    before, after = common[:axis], common[axis + 1 :]
    return F.gather(
        F.expand_sizes(input, (*before, length, *after)),
        axis,
        F.expand_sizes(_from_the_start(indices, length), (*before, count, *after)),
        out=out,
    )


def _from_the_start(indices: AnyTensor, length: int) -> AnyTensor:
    """A copy of the places of a dimension of this length, without indices below zero."""
    places = indices._impl.array
    if places.dtype.kind != "i":
        return indices
    return wrap_like(indices, np.where(places < 0, places + length, places))


def scatter(
    input: T,
    dim: AnyInt,
    index: AnyTensor,
    src: AnyTensor | Number | None = None,
    *,
    value: Number | None = None,
    reduce: AnyStr | None = None,
    out: T | None = None,
) -> T:
    """A copy with ``result[index[i, j], j] = src[i, j]`` for ``dim=0``, and so on.

    Parameters
    ----------
    src : Tensor or number
        What to store.
    value : number
        The same, by keyword.
    reduce : str
        ``"add"`` or ``"multiply"``, instead of storing. As in PyTorch its backward raises;
        `scatter_reduce` and `scatter_add` have one.
    out : Tensor
        Where to store the result; it must have the result's dtype.
    """
    src = _one_of(src, value, "scatter")
    if reduce is not None:
        result = F.scatter_reduced(input, dim, index, src, reduce, out=out)
        return without_derivative(result, input, src)
    if isinstance(src, TensorBase):
        return F.scatter_src(input, dim, index, src, out=out)
    return F.scatter_value(input, dim, index, src, out=out)


def scatter_(
    input: T,
    dim: AnyInt,
    index: AnyTensor,
    src: AnyTensor | Number | None = None,
    *,
    value: Number | None = None,
    reduce: AnyStr | None = None,
) -> T:
    """`scatter` into the tensor itself."""
    src = _one_of(src, value, "scatter_")
    # By way of a variable of no type: a native function would refuse another kind by itself.
    how: object = reduce
    if how is not None:
        array_of(index, "index")
        record, writer = NotImplementedNode.record, _scatter_reduced_writer
        try:
            return write(
                input, record, writer, dim, index, src, how, distinct=True, operator="scatter_"
            )
        except Exception as error:
            wanted = "input: Tensor, dim: int, index: Tensor, src: Tensor | Number, reduce: str"
            explain(error, wanted, input, dim, index, src, how)
            raise
    if isinstance(src, TensorBase):
        return F.scatter_src_(input, dim, index, src)
    return F.scatter_value_(input, dim, index, src)


_scatter_reduced_writer = store_without_warnings(k.scatter_reduced_)


def _one_of(src: AnyTensor | Number | None, value: Number | None, name: str) -> TensorBase | Number:
    given = src if value is None else number_of(value, "value")
    if given is None or (src is not None and value is not None):
        raise ArgumentTypeError(f"{name} needs either src or value", argument="src")
    return given
