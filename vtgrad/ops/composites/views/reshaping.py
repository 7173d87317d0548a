"""Other shapes of the same elements: views where strides allow it, copies elsewhere.

The methods take sizes as separate integers or as one sequence, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast, overload

from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.arguments import array_of, is_array
from vtgrad.ops.calling.constants import constant
from vtgrad.ops.calling.explain import explain, explained
from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.ops.calling.sequences import given_integers, given_tensors
from vtgrad.ops.calling.take_over import (
    call_override,
    is_keyed_on_memory,
    is_named,
    is_overridden,
    take_over,
)
from vtgrad.ops.composites.views.same_elements import contiguous
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import VIEW
from vtgrad.ops.rules.names.flattening import flattened, has_names, unflattened
from vtgrad.ops.view_impls.views import view_dtype
from vtgrad.storage.dtypes import DType
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.geometry import (
    flatten_sizes,
    infer_size,
    unflatten_sizes,
    view_strides,
)
from vtgrad.storage.key_set import NAMED, keys
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "flatten",
    "ravel",
    "reshape",
    "reshape_as",
    "unflatten",
    "view",
    "view_as",
]


T = TypeVar("T", bound=TensorBase)


def view(
    input: T,
    *shape: int | Sequence[int] | DType,
    size: Sequence[int] | None = None,
    dtype: DType | None = None,
) -> T:
    """Return the same elements in another shape, or the same bytes in another dtype, as a view.

    Nothing is copied; `reshape` copies where the strides allow no view. With a dtype of another
    size, the last dimension has more or fewer elements. What a named dtype gives is a tensor of
    its own on the same memory and version, and no gradient passes, even if the dtype is that of
    `input`.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    *shape : int, sequence of int or DType
        The new sizes, one by one or as one sequence, or one dtype. One size may be -1: it
        follows from the others.
    size : sequence of int, optional
        The sizes, by keyword.
    dtype : DType, optional
        The dtype, by keyword.

    Returns
    -------
    Tensor
        A view of `input`, or a tensor on its memory: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If the number of elements differs, the strides or sizes allow no such view, or several
        sizes are -1.
    DTypeError
        If a lazy conjugate or negative is to be viewed in another dtype.
    ArgumentTypeError
        If neither sizes nor a dtype are given, or both are.

    Examples
    --------
    >>> x = vt.zeros(4)
    >>> x.view(2, -1)[1, 0] = 5.0
    >>> x
    tensor([0., 0., 5., 0.])
    >>> vt.tensor([1.0, -0.0]).view(vt.int32)
    tensor([ 1065353216, -2147483648], dtype=vtgrad.int32)
    """
    if dtype is not None or (shape and isinstance(shape[0], DType)):
        given = [x for x in (*shape, size, dtype) if x is not None]
        if len(given) != 1 or not isinstance(given[0], DType):
            raise ArgumentTypeError("view takes a shape or one dtype", given=given)
        if keys.active and is_keyed_on_memory(input):
            return take_over(VIEW, view, input, *shape, size=size, dtype=dtype)
        array_of(input, "input")
        return input._wrap(view_dtype(input._impl, given[0].numpy))
    return F.view_shape(input, given_integers(shape, size, "view"))


def view_as(input: T, other: TensorBase) -> T:
    """Return the same elements in the shape of another tensor, as a view.

    `view` to `other.shape`; `reshape_as` copies where the strides allow no view.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    other : Tensor
        Whose shape is taken; it has as many elements.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If the number of elements differs, or the strides allow no such view.

    Examples
    --------
    >>> vt.view_as(vt.arange(6), vt.zeros(2, 3))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    if keys.active and is_overridden(input, other):
        return call_override(view_as, input, other)
    return F.view_shape(input, array_of(other, "other").shape)


def reshape(input: T, *sizes: int | Sequence[int], shape: Sequence[int] | None = None) -> T:
    """Return the same elements in another shape.

    The elements keep their row-major order. See `view`, which never copies.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    *sizes : int or sequence of int
        The new sizes, one by one or as one sequence. One of them may be -1: it follows from the
        others.
    shape : sequence of int, optional
        The same, by keyword.

    Returns
    -------
    Tensor
        A view of `input` if its strides allow that: writing to it writes to `input`. Else a
        copy.

    Raises
    ------
    ShapeError
        If the number of elements differs, several sizes are -1, or one -1 could be any size.
    ArgumentTypeError
        If no sizes are given, or in two ways, or one is no integer.

    Examples
    --------
    >>> x = vt.arange(6)
    >>> y = vt.reshape(x, 2, -1)
    >>> y[0, 0] = 7
    >>> x
    tensor([7, 1, 2, 3, 4, 5])
    >>> vt.reshape(y.t(), 6)
    tensor([7, 3, 1, 4, 2, 5])
    """
    if keys.active and is_overridden(input):
        return call_override(reshape, input, *sizes, shape=shape)
    try:
        impl = input._impl
        wanted = given_integers(sizes, shape, "reshape")
        # A view of other dimensions refuses names.
        if impl.is_contiguous or (keys.active and is_named(input)):
            return F.view_shape(input, wanted)
        wanted = infer_size(wanted, impl.numel)
    except Exception as error:
        if is_array(input):
            return cast("T", reshape(constant(input), *sizes, shape=shape))
        given = sizes[0] if len(sizes) == 1 else sizes if shape is None else shape
        # What `view_shape` says of its arguments is not in the words of this one's caller. No name
        # for it: an error that a frame on its own traceback knows is in a cycle.
        explain(
            error.__cause__ if isinstance(error.__cause__, Exception) else error,
            "input shape:int|Sequence[int]",
            input,
            given,
        )
        raise
    strides = view_strides(impl.sizes, impl.strides, wanted)
    if strides is None:
        return F._unsafe_view(F.clone(input, memory_format=MemoryFormat.CONTIGUOUS), wanted)
    return F._reshape_alias(input, wanted, strides)


def reshape_as(input: T, other: TensorBase) -> T:
    """Return the same elements in the shape of another tensor.

    `reshape` to `other.shape`.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    other : Tensor
        Whose shape is taken; it has as many elements.

    Returns
    -------
    Tensor
        A view of `input` if its strides allow that: writing to it writes to `input`. Else a
        copy.

    Raises
    ------
    ShapeError
        If the number of elements differs.

    Examples
    --------
    >>> vt.reshape_as(vt.arange(6), vt.zeros(2, 3))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    if keys.active and is_overridden(input, other):
        return call_override(reshape_as, input, other)
    return reshape(input, array_of(other, "other").shape)


def flatten(
    input: T,
    start_dim: int | str | Sequence[str] = 0,
    end_dim: int | str = -1,
    out_dim: str | None = None,
    *,
    dims: Sequence[str] | None = None,
) -> T:
    """Return the tensor with a range of dimensions merged into one.

    The elements keep their row-major order. Memory is shared wherever the strides allow it. A
    0-d tensor becomes a vector of one element.

    Parameters
    ----------
    input : Tensor
        Tensor of any shape.
    start_dim : int or str, default 0
        First dimension to merge, or its name; or a sequence of names, as `dims`.
    end_dim : int or str, default -1
        Last dimension to merge; it is included. After a sequence of names, it is `out_dim`.
    out_dim : str, optional
        The name of the merged dimension, which a tensor with names needs.
    dims : sequence of str, optional
        The names of the dimensions to merge, which are neighbours, in place of the first and the
        last one.

    Returns
    -------
    Tensor
        `input` itself if there is nothing to merge or to name, a view of it if its strides allow
        one, else a copy.

    Raises
    ------
    ShapeError
        If `start_dim` comes after `end_dim`.
    DimensionError
        If a dimension does not exist.
    ArgumentTypeError
        If a dimension is neither an integer nor a name.
    NameNotFoundError
        If no dimension has the name.
    NamesError
        If the dimensions are not neighbours, or a name would be there twice.
    NamesNotSupportedError
        If the tensor has names, and the merged dimension would have none.

    Examples
    --------
    >>> x = vt.arange(6).reshape(1, 2, 3)
    >>> vt.flatten(x)
    tensor([0, 1, 2, 3, 4, 5])
    >>> vt.flatten(x, 0, 1).shape
    vtgrad.Size([2, 3])
    >>> vt.flatten(x)[0] = 9
    >>> x
    tensor([[[9, 1, 2],
             [3, 4, 5]]])
    """
    if keys.active and is_overridden(input):
        return call_override(flatten, input, start_dim, end_dim, out_dim, dims=dims)
    if (
        out_dim is not None
        or dims is not None
        # A test for an abstract class is slow.
        or (type(start_dim) is not int and isinstance(start_dim, Sequence))
        or isinstance(end_dim, str)
        or (keys.active and is_named(input))
    ):
        return _flatten_named(input, start_dim, end_dim, out_dim, dims)
    return _flatten(input, start_dim, end_dim)


def _flatten(input: T, start_dim: int, end_dim: int) -> T:
    """The same by numbers."""
    if is_array(input):  # which has a shape too
        return cast("T", _flatten(constant(input), start_dim, end_dim))
    try:
        sizes = flatten_sizes(input.shape, start_dim, end_dim)
    except Exception as error:
        explain(error, "input start_dim:int end_dim:int", input, start_dim, end_dim)
        raise
    return input if len(sizes) == input.ndim else reshape(input, sizes)


def _flatten_named(input: T, *given: object) -> T:
    """The same with names of dimensions, in or out."""
    array_of(input, "input")
    start, end, names = flattened(input._impl.names, *given)
    if names is None:
        return _flatten(input, start, end)
    result: T = run_excluding(NAMED, _flatten, input, start, end)
    if result is input:
        result = run_excluding(NAMED, lambda: F.alias(input))
    result._impl.set_names(names)
    return result


@explained
def ravel(input: T) -> T:
    """Merge all dimensions into one.

    The elements come in row-major order.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.

    Returns
    -------
    Tensor
        A vector. If `input` is contiguous, it is a view of `input`: writing to it writes to
        `input`. Else it is a view of a copy.

    Examples
    --------
    >>> x = vt.arange(6).reshape(2, 3)
    >>> vt.ravel(x)[0] = 9
    >>> x
    tensor([[9, 1, 2],
            [3, 4, 5]])
    >>> vt.ravel(x.t())
    tensor([9, 3, 1, 4, 2, 5])
    """
    return F.view_shape(contiguous(input), (-1,)) if input.numel() else reshape(input, (0,))


@explained
def unflatten(
    input: T, dim: int | str, sizes: Sequence[int | tuple[str | None, int]] | Mapping[str, int]
) -> T:
    """Split one dimension into several, as a view.

    The opposite of `flatten` of some dimensions.

    Parameters
    ----------
    input : Tensor
        At least one dimension.
    dim : int or str
        The dimension, or its name; negative numbers count from the last one.
    sizes : sequence of int, or of (str, int)
        The new sizes, whose product is the size of the dimension. One may be -1: it follows
        from the others. A tensor with names needs pairs of a name and a size.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If the product differs, several sizes are -1, there is no size, or `input` is 0-d.
    DimensionError, NameNotFoundError
        If `input` has no dimension `dim`.
    NamesNotSupportedError
        If the tensor has names, and `sizes` has none.
    NamesError
        If a name would be there twice.

    Examples
    --------
    >>> vt.unflatten(vt.arange(6), 0, (2, -1))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    >>> vt.unflatten(vt.zeros(2, 12), 1, (3, 4)).shape
    vtgrad.Size([2, 3, 4])
    """
    if is_array(input):
        return cast("T", unflatten(constant(input), cast("int", dim), cast("Sequence[int]", sizes)))
    if has_names(sizes) or (keys.active and is_named(input)):
        axis, into, names = unflattened(input._impl.names, dim, sizes)
        view: T = run_excluding(NAMED, unflatten, input, axis, into)
        view._impl.set_names(names)
        return view
    try:
        wanted = unflatten_sizes(input.shape, checked_dim(dim), cast("Sequence[int]", sizes))
        return F.view_shape(input, wanted)
    except Exception as error:
        explain(error, "input dim:int sizes:Sequence[int]", input, dim, sizes)
        raise


@overload
def atleast_1d(tensor: T, /) -> T: ...
@overload
def atleast_1d(tensors: Sequence[T], /) -> tuple[T, ...]: ...
@overload
def atleast_1d(first: T, second: T, /, *others: T) -> tuple[T, ...]: ...
def atleast_1d(*tensors: T | Sequence[T]) -> T | tuple[T, ...]:
    """Return tensors with at least 1 dimension.

    A 0-d tensor becomes a view of shape ``(1,)``; any other is returned itself. The gradient
    passes to the tensors that were given.

    Parameters
    ----------
    *tensors : Tensor or sequence of Tensor
        The tensors, one by one or as one sequence.

    Returns
    -------
    Tensor or tuple of Tensor
        For one tensor itself or a view of it, for several, or a sequence, a tuple of these:
        writing to a view writes to the tensor.

    Raises
    ------
    ArgumentTypeError
        If an argument is neither a tensor nor the only sequence of tensors.

    Examples
    --------
    >>> vt.atleast_1d(vt.tensor(5))
    tensor([5])
    >>> x = vt.tensor([1, 2])
    >>> vt.atleast_1d(x) is x
    True
    >>> vt.atleast_1d(vt.tensor(3), x)
    (tensor([3]), tensor([1, 2]))
    """
    if keys.active and is_overridden(*tensors):
        return call_override(atleast_1d, *tensors)
    return _all_at_least(tensors, 1)


@overload
def atleast_2d(tensor: T, /) -> T: ...
@overload
def atleast_2d(tensors: Sequence[T], /) -> tuple[T, ...]: ...
@overload
def atleast_2d(first: T, second: T, /, *others: T) -> tuple[T, ...]: ...
def atleast_2d(*tensors: T | Sequence[T]) -> T | tuple[T, ...]:
    """Return tensors with at least 2 dimensions.

    A 0-d tensor becomes a view of shape ``(1, 1)`` and a vector one with a single row; any
    other is returned itself. The gradient passes to the tensors that were given.

    Parameters
    ----------
    *tensors : Tensor or sequence of Tensor
        The tensors, one by one or as one sequence.

    Returns
    -------
    Tensor or tuple of Tensor
        For one tensor itself or a view of it, for several, or a sequence, a tuple of these:
        writing to a view writes to the tensor.

    Raises
    ------
    ArgumentTypeError
        If an argument is neither a tensor nor the only sequence of tensors.

    Examples
    --------
    >>> x = vt.tensor([1, 2])
    >>> row = vt.atleast_2d(x)
    >>> row
    tensor([[1, 2]])
    >>> row[0, 1] = 9
    >>> x
    tensor([1, 9])
    >>> vt.atleast_2d(vt.tensor(3), x)
    (tensor([[3]]), tensor([[1, 9]]))
    """
    if keys.active and is_overridden(*tensors):
        return call_override(atleast_2d, *tensors)
    return _all_at_least(tensors, 2)


@overload
def atleast_3d(tensor: T, /) -> T: ...
@overload
def atleast_3d(tensors: Sequence[T], /) -> tuple[T, ...]: ...
@overload
def atleast_3d(first: T, second: T, /, *others: T) -> tuple[T, ...]: ...
def atleast_3d(*tensors: T | Sequence[T]) -> T | tuple[T, ...]:
    """Return tensors with at least 3 dimensions.

    The views that are made have shape ``(1, 1, 1)`` for a 0-d tensor, ``(1, n, 1)`` for a
    vector and ``(n, m, 1)`` for a matrix; any other tensor is returned itself. The gradient
    passes to the tensors that were given.

    Parameters
    ----------
    *tensors : Tensor or sequence of Tensor
        The tensors, one by one or as one sequence.

    Returns
    -------
    Tensor or tuple of Tensor
        For one tensor itself or a view of it, for several, or a sequence, a tuple of these:
        writing to a view writes to the tensor.

    Raises
    ------
    ArgumentTypeError
        If an argument is neither a tensor nor the only sequence of tensors.

    Examples
    --------
    >>> vt.atleast_3d(vt.tensor(5))
    tensor([[[5]]])
    >>> vt.atleast_3d(vt.ones(4)).shape
    vtgrad.Size([1, 4, 1])
    >>> x, y = vt.atleast_3d(vt.ones(2, 3), vt.ones(2, 3, 4))
    >>> x.shape, y.shape
    (vtgrad.Size([2, 3, 1]), vtgrad.Size([2, 3, 4]))
    """
    if keys.active and is_overridden(*tensors):
        return call_override(atleast_3d, *tensors)
    return _all_at_least(tensors, 3)


def _all_at_least(tensors: tuple[T | Sequence[T], ...], ndim: int) -> T | tuple[T, ...]:
    each = tuple([at_least(x, ndim) for x in given_tensors(tensors)])
    first = tensors[0] if len(tensors) == 1 else None
    return each[0] if isinstance(first, TensorBase) or is_array(first) else each


def at_least(x: T, ndim: int) -> T:
    if x.ndim >= ndim:
        return x
    if x.ndim == 0:
        return F.reshape(x, (1,) * ndim)
    if x.ndim == 1:
        row = F.unsqueeze(x, 0)
        return row if ndim == 2 else F.unsqueeze(row, -1)
    return F.unsqueeze(x, -1)
