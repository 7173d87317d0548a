"""Index arrays, and functions that choose among overloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, DimensionError, DTypeError, ShapeError
from vtgrad.graph.batch import is_batched
from vtgrad.graph.tracer import read_value
from vtgrad.ops import kernels as k
from vtgrad.ops.calling.arguments import array_of, is_array
from vtgrad.ops.calling.constants import constant
from vtgrad.ops.calling.explain import explain, explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.calling.take_over import (
    call_override,
    is_keyed,
    is_keyed_as_whole,
    is_overridden,
    take_over,
)
from vtgrad.ops.composites.support.undifferentiable import NotImplemented as NotImplementedNode
from vtgrad.ops.composites.support.undifferentiable import without_derivative
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import TAKE_ALONG_DIM
from vtgrad.ops.kernels.indexing.parse_index import warn_of_uint8_mask
from vtgrad.storage.argument_types import AnyBool as bool
from vtgrad.storage.argument_types import AnyInt as int
from vtgrad.storage.argument_types import AnyStr as str
from vtgrad.storage.argument_types import AnyTensor as Tensor
from vtgrad.storage.argument_types import T
from vtgrad.storage.arrays import Number
from vtgrad.storage.geometry import broadcast_shapes, normalize_dim
from vtgrad.storage.key_set import keys
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
    input: T, indices: Sequence[TensorBase], values: Tensor, accumulate: bool = False
) -> T:
    """Return a copy with values stored at, or added to, the elements at index arrays.

    ``x.index_put((i, j), v)`` is a copy of x after ``x[i, j] = v``. If values are stored and
    one element is named several times, the last value stays, and only it has a gradient. If
    values are added, all of them count. The gradient of `input` is zero where values were
    stored, and passes where they were added.

    Parameters
    ----------
    input : Tensor
        The tensor to copy.
    indices : sequence of Tensor
        Index arrays of int64, int32 or bool, one for each of the first dimensions; they
        broadcast. Negative indices count from the end. A mask covers as many dimensions as it
        has; a uint8 array is read as a mask, with a warning.
    values : Tensor
        The values, of the dtype of `input`. They broadcast to the shape of what the indices
        name.
    accumulate : bool, default False
        Whether to add instead of storing.

    Returns
    -------
    Tensor
        A new tensor of the shape and dtype of `input`.

    Raises
    ------
    OutOfRangeError
        If an index is outside of its dimension, there are too many, they do not broadcast, a
        mask does not fit, or an index array is of another dtype.
    ShapeError
        If `values` does not broadcast, or there is no index array.
    DTypeError
        If `values` is of another dtype than `input`.
    ArgumentTypeError
        If `indices` is not a sequence of tensors, `values` not a tensor, or `accumulate` not a
        bool.

    Examples
    --------
    >>> x = vt.zeros(2, 2)
    >>> vt.index_put(x, (vt.tensor([0, 1]), vt.tensor([1, 0])), vt.tensor([5.0, 6.0]))
    tensor([[0., 5.],
            [6., 0.]])
    >>> vt.index_put(x, (vt.tensor([0, 0]),), vt.tensor(1.0), accumulate=True)
    tensor([[2., 2.],
            [0., 0.]])
    >>> vt.index_put(x, (x == 0,), vt.tensor(3.0))
    tensor([[3., 3.],
            [3., 3.]])
    """
    add = check_flag(accumulate, "accumulate")
    return F.index_put_at(input, list(indices), _positions(indices), values, add)


@explained
def index_put_(
    input: T, indices: Sequence[TensorBase], values: Tensor, accumulate: bool = False
) -> T:
    """`index_put` into the tensor itself."""
    add = check_flag(accumulate, "accumulate")
    return F.index_put_at_(input, list(indices), _positions(indices), values, add)


def _positions(indices: Sequence[object]) -> tuple[int, ...]:
    """Where each index array stands in the brackets."""
    if not indices:
        raise ShapeError("index_put needs at least one index array")
    for x in indices:
        if isinstance(x, TensorBase) and x._impl.dtype == np.uint8:
            warn_of_uint8_mask()
    return tuple(range(len(indices)))


@explained
def take_along_dim(input: T, indices: Tensor, dim: int | None = None, *, out: T | None = None) -> T:
    """Return the elements at an index along one dimension, with broadcasting.

    As `gather`, but the other dimensions of both tensors broadcast. It takes what `argsort` and
    the like return for one dimension. The gradient of an element that is taken several times is
    the sum over them.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    indices : Tensor
        Places in the dimension, of int64; negative ones count from the end. Without `dim`,
        row-major positions of int64 or int32, which must not be negative.
    dim : int, optional
        The dimension; without it both tensors are flattened.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new tensor of the dtype of `input`.

    Raises
    ------
    ShapeError
        If the numbers of dimensions differ, or the other dimensions do not broadcast.
    ElementIndexError
        If an index is outside.
    DTypeError
        If `indices` has another dtype.
    DimensionError
        If `input` has no dimension `dim`.
    ResultTypeError
        If `out` does not have the dtype of the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.tensor([[10, 30, 20], [60, 40, 50]])
    >>> vt.take_along_dim(x, vt.argsort(x, 1), 1)
    tensor([[10, 20, 30],
            [40, 50, 60]])
    >>> vt.take_along_dim(x, vt.argmax(x, 1, keepdim=True), 1)
    tensor([[30],
            [60]])
    """
    if keys.active and is_keyed_as_whole(input, indices, out):
        return take_over(TAKE_ALONG_DIM, take_along_dim, input, indices, dim, out=out)
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


def _from_the_start(indices: Tensor, length: int) -> Tensor:
    """A copy of indices into a dimension, those that count from its end rewritten.

    An index outside stays as it is, so that the error names it.
    """
    array = indices._impl.array
    if array.dtype.kind != "i":
        return indices
    if is_batched(indices):
        from_end = F.logical_and(F.lt_Scalar(indices, 0), F.ge_Scalar(indices, -length))
        return F.where_self(from_end, F.add(indices, length), indices)
    if keys.modes:
        read_value(indices)
    return wrap_like(indices, np.where((array < 0) & (array >= -length), array + length, array))


def scatter(
    input: T,
    dim: int,
    index: Tensor,
    src: Tensor | Number | None = None,
    *,
    value: Number | None = None,
    reduce: str | None = None,
    out: T | None = None,
) -> T:
    """Return a copy with values stored at the elements that an index names along one dimension.

    For two dimensions and `dim=0`, `result[index[i, j], j] = src[i, j]`; for `dim=1`,
    `result[i, index[i, j]] = src[i, j]`. Where several values meet in one element, the last one
    in row-major order of `index` stays, and only that one has a gradient. Elements that are
    overwritten have gradient 0.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    dim : int
        The dimension that the index is about.
    index : Tensor
        Places in that dimension, of int64 or int32, from 0 on. It has as many dimensions as
        `input`; its sizes must not exceed those of `input`, except in `dim`, nor those of
        `src`.
    src : Tensor or number, optional
        What is stored; a tensor has the dtype of `input`.
    value : number, optional
        A number as `src`, by keyword.
    reduce : str, optional
        `"add"` or `"multiply"`: what is done with the old element instead of replacing it.
        Backward through it raises `NoDerivativeError`; `scatter_reduce` has a derivative.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new tensor of the shape and dtype of `input`.

    Raises
    ------
    ElementIndexError
        If an index is outside the dimension.
    ShapeError
        If the shapes do not fit, or `reduce` is something else.
    DTypeError
        If `index` or `src` has another dtype.
    ArgumentTypeError
        If neither `src` nor `value` is given, or both are.
    DimensionError
        If `input` has no dimension `dim`.
    ResultTypeError
        If the dtype cannot hold the number, or `out` does not have the dtype of the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> index = vt.tensor([[0], [2]])
    >>> vt.scatter(vt.zeros(2, 3), 1, index, vt.tensor([[1.0], [2.0]]))
    tensor([[1., 0., 0.],
            [0., 0., 2.]])
    >>> vt.scatter(vt.ones(2, 3), 1, index, 5.0, reduce="add")
    tensor([[6., 1., 1.],
            [1., 1., 6.]])
    """
    if keys.active and is_overridden(input, index, src, out):
        return call_override(scatter, input, dim, index, src, value=value, reduce=reduce, out=out)
    src = _one_of(input, src, value, "scatter")
    if reduce is not None:
        result = F.scatter_reduced(input, dim, index, src, reduce, out=out)
        return without_derivative(result, input, src)
    if isinstance(src, TensorBase):
        return F.scatter_src(input, dim, index, src, out=out)
    return F.scatter_value(input, dim, index, src, out=out)


def scatter_(
    input: T,
    dim: int,
    index: Tensor,
    src: Tensor | Number | None = None,
    *,
    value: Number | None = None,
    reduce: str | None = None,
) -> T:
    """`scatter` into the tensor itself."""
    src = _one_of(input, src, value, "scatter_")
    # By way of a variable of no type: a native function would refuse another kind by itself.
    how: object = reduce
    if how is not None:
        if is_array(index):
            index = constant(index, input)
        if keys.active and is_keyed(input, index, src):
            # Its kernel looks at it.
            result = F.scatter_reduced(input, dim, index, src, cast("str", how))
            return F.copy_(input, without_derivative(result, input, src))
        array_of(index, "index")
        record, writer = NotImplementedNode.record, _scatter_reduced_writer
        try:
            return write(
                input, record, writer, dim, index, src, how, distinct=True, operator="scatter_"
            )
        except Exception as error:
            wanted = "input dim:int index src:Tensor|Number reduce:str"
            explain(error, wanted, input, dim, index, src, how)
            raise
    if isinstance(src, TensorBase):
        return F.scatter_src_(input, dim, index, src)
    return F.scatter_value_(input, dim, index, src)


_scatter_reduced_writer = store_without_warnings(k.scatter_reduced_)


def _one_of(
    input: TensorBase, src: Tensor | Number | None, value: Number | None, name: str
) -> TensorBase | Number:
    given = src if value is None else number_of(value, "value")
    if given is None or (src is not None and value is not None):
        raise ArgumentTypeError(f"{name} needs either src or value", argument="src")
    if isinstance(given, TensorBase):
        return given
    return constant(given, input) if is_array(given) else given
