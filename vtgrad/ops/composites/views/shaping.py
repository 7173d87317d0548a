"""Reshaping and rearranging: views where strides allow it, copies elsewhere.

The methods take sizes and dimensions as separate integers or as one sequence, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.errors import ArgumentTypeError, MemoryFormatError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explain, explained
from vtgrad.ops.calling.sequences import given_integers, given_tensors
from vtgrad.ops.generated import functional as F
from vtgrad.ops.view_impls.views import view_dtype
from vtgrad.storage.dtypes import DType
from vtgrad.storage.geometry import (
    broadcast_shapes,
    flatten_sizes,
    infer_size,
    movedim_order,
    unflatten_sizes,
    view_strides,
)
from vtgrad.storage.integers import integer
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_tensors",
    "broadcast_to",
    "contiguous",
    "detach",
    "expand",
    "expand_as",
    "flatten",
    "moveaxis",
    "movedim",
    "permute",
    "ravel",
    "reshape",
    "reshape_as",
    "swapaxes",
    "swapaxes_",
    "swapdims",
    "swapdims_",
    "unflatten",
    "view",
    "view_as",
]


T = TypeVar("T", bound=TensorBase)


# -- another shape --------------------------------------------------------------------------


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
    try:
        impl = input._impl
        wanted = given_integers(sizes, shape, "reshape")
        if impl.is_contiguous:
            return F.view_shape(input, wanted)
        wanted = infer_size(wanted, impl.numel)
    except Exception as error:
        given = sizes[0] if len(sizes) == 1 else sizes if shape is None else shape
        # What `view_shape` says of its arguments is not in the words of this one's caller. No name
        # for it: an error that a frame on its own traceback knows is in a cycle.
        explain(
            error.__cause__ if isinstance(error.__cause__, Exception) else error,
            "input: Tensor, shape: int | Sequence[int]",
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
    return reshape(input, array_of(other, "other").shape)


def flatten(input: T, start_dim: int = 0, end_dim: int = -1) -> T:
    """Return the tensor with a range of dimensions merged into one.

    The elements keep their row-major order. Memory is shared wherever the strides allow it. A
    0-d tensor becomes a vector of one element.

    Parameters
    ----------
    input : Tensor
        Tensor of any shape.
    start_dim : int, default 0
        First dimension to merge.
    end_dim : int, default -1
        Last dimension to merge; it is included.

    Returns
    -------
    Tensor
        `input` itself if there is nothing to merge, a view of it if its strides allow one, else
        a copy.

    Raises
    ------
    ShapeError
        If `start_dim` comes after `end_dim`.
    DimensionError
        If a dimension does not exist.
    ArgumentTypeError
        If a dimension is not an integer.

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
    try:
        sizes = flatten_sizes(input.shape, start_dim, end_dim)
    except Exception as error:
        explain(error, "input: Tensor, start_dim: int, end_dim: int", input, start_dim, end_dim)
        raise
    return input if len(sizes) == input.ndim else reshape(input, sizes)


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
def unflatten(input: T, dim: int, sizes: Sequence[int]) -> T:
    """Split one dimension into several, as a view.

    The opposite of `flatten` of some dimensions.

    Parameters
    ----------
    input : Tensor
        At least one dimension.
    dim : int
        The dimension; negative numbers count from the last one.
    sizes : sequence of int
        The new sizes, whose product is the size of the dimension. One may be -1: it follows
        from the others.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If the product differs, several sizes are -1, there is no size, or `input` is 0-d.
    DimensionError
        If `input` has no dimension `dim`.

    Examples
    --------
    >>> vt.unflatten(vt.arange(6), 0, (2, -1))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    >>> vt.unflatten(vt.zeros(2, 12), 1, (3, 4)).shape
    vtgrad.Size([2, 3, 4])
    """
    return F.view_shape(input, unflatten_sizes(input.shape, dim, sizes))


def expand(
    input: T,
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    implicit: bool = False,
) -> T:
    """Return a view in which dimensions of size 1 are repeated.

    No memory is copied: a repeated dimension has stride 0, so all its places are one memory
    location. New dimensions may come in front. Most writes to a view that repeats elements are
    refused; `fill_` with a number is not. The gradient is summed over the repeated dimensions.

    Parameters
    ----------
    input : Tensor
        Tensor whose shape broadcasts to the sizes.
    *sizes : int or sequence of int
        The sizes, one by one or as one sequence. -1 keeps a dimension as it is.
    size : sequence of int, optional
        The same by keyword.
    implicit : bool, default False
        Has no effect.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If a dimension of another size than 1 would change, or there are fewer sizes than
        dimensions.
    ArgumentTypeError
        If the sizes are missing, are given twice or are no integers.

    Examples
    --------
    >>> x = vt.tensor([[1.0], [2.0]])
    >>> y = vt.expand(x, -1, 3)
    >>> y, y.stride()
    (tensor([[1., 1., 1.],
            [2., 2., 2.]]), (1, 0))
    >>> y[0, 0] = 7.0
    >>> x
    tensor([[7.],
            [2.]])
    >>> w = vt.ones(1, requires_grad=True)
    >>> w.expand(5).sum().backward()
    >>> w.grad
    tensor([5.])
    """
    return F.expand_sizes(input, given_integers(sizes, size, "expand"), implicit=implicit)


def expand_as(input: T, other: TensorBase) -> T:
    """Return a view with the shape of another tensor, in which dimensions of size 1 are repeated.

    ``expand_as(input, other)`` is ``expand(input, other.shape)``. Of `other` only the shape
    matters.

    Parameters
    ----------
    input : Tensor
        Tensor whose shape broadcasts to that of `other`.
    other : Tensor
        Tensor of the wanted shape.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If the shape of `input` does not broadcast to that of `other`.
    ArgumentTypeError
        If `other` is not a tensor.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0])
    >>> y = vt.expand_as(x, vt.zeros(2, 2))
    >>> y
    tensor([[1., 2.],
            [1., 2.]])
    >>> y[0, 0] = 7.0
    >>> x
    tensor([7., 2.])
    """
    return F.expand_sizes(input, array_of(other, "other").shape)


@explained
def broadcast_to(input: T, *sizes: int | Sequence[int], size: Sequence[int] | None = None) -> T:
    """Return a tensor expanded to a shape.

    Dimensions of size 1 are repeated and new ones added in front, without a copy, as by the
    method `expand`. Repeated elements add their gradients up, and the view cannot be written in
    place as a whole then.

    Parameters
    ----------
    input : Tensor
        The tensor, of any dtype.
    *sizes : int or sequence of int
        The shape, as separate sizes or as one sequence; -1 keeps the size of a dimension.
    size : sequence of int, optional
        The same, by keyword.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If a size other than 1 would have to change, or a dimension is missing.
    ArgumentTypeError
        If the shape is missing, given twice, or holds no integers.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
    >>> y = vt.broadcast_to(x, (3, 2))
    >>> y.stride()
    (0, 1)
    >>> y.sum().backward()
    >>> x.grad
    tensor([3., 3.])
    """
    return F.expand_sizes(input, given_integers(sizes, size, "broadcast_to"))


@explained
def broadcast_tensors(*tensors: T | Sequence[T]) -> tuple[T, ...]:
    """Return tensors expanded to the shape that they have in common.

    Shapes are aligned at their last dimensions; a size of 1 is repeated and a missing dimension
    added, as elementwise operators do it. Nothing is copied. Repeated elements add their
    gradients up.

    Parameters
    ----------
    *tensors : Tensor or sequence of Tensor
        The tensors, one by one or as sequences.

    Returns
    -------
    tuple of Tensor
        Views that share memory with the tensors; a tensor that has the common shape is returned
        itself. Views with repeated elements cannot be written as a whole.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    ArgumentTypeError
        If an argument is neither a tensor nor a sequence of tensors.

    Examples
    --------
    >>> a, b = vt.broadcast_tensors(vt.tensor([[1], [2]]), vt.tensor([3, 4, 5]))
    >>> a
    tensor([[1, 1, 1],
            [2, 2, 2]])
    >>> b.stride()
    (0, 1)
    """
    each: list[T] = []
    for given in tensors:
        if isinstance(given, TensorBase):
            each.append(given)
        else:
            each.extend(given)
    shape = broadcast_shapes(*[x.shape for x in each])
    return tuple([x if x.shape == shape else F.expand_sizes(x, shape) for x in each])


def contiguous(input: T, *, memory_format: MemoryFormat = MemoryFormat.CONTIGUOUS) -> T:
    """Return a tensor that lies in memory without gaps, in a given order.

    A tensor that does so already is returned itself; any other one is copied. So the result may
    or may not share memory with `input`.

    Parameters
    ----------
    input : Tensor
        The tensor, of any dtype.
    memory_format : MemoryFormat, default contiguous_format
        The order in memory; row-major by default.

    Returns
    -------
    Tensor
        The tensor itself, or a new one with the same values.

    Raises
    ------
    MemoryFormatError
        If a copy is needed, and the format is for another number of dimensions or is
        `preserve_format`.
    ArgumentTypeError
        If `memory_format` is not a memory format.

    Examples
    --------
    >>> x = vt.ones(2, 3)
    >>> vt.contiguous(x) is x
    True
    >>> vt.contiguous(x.t()).stride()
    (2, 1)
    >>> images = vt.zeros(2, 3, 4, 5)
    >>> vt.contiguous(images, memory_format=vt.channels_last).stride()
    (60, 1, 15, 3)
    """
    array_of(input, "input")
    if memory_format is MemoryFormat.CONTIGUOUS:
        if input._impl.is_contiguous:
            return input
    elif input.is_contiguous(memory_format=memory_format):
        return input
    elif memory_format is MemoryFormat.PRESERVE:
        raise MemoryFormatError(
            "contiguous() cannot preserve the format of a tensor with gaps or in another order; "
            "clone() can",
            memory_format=memory_format,
        )
    return F.clone(input, memory_format=memory_format)


@explained
def detach(input: T) -> T:
    """Return a tensor on the same memory that is not part of any graph.

    It does not require grad and has no producer, and autograd does not treat it as a view of
    `input`: no gradient passes, whatever is done to it. A write to it changes `input`, and
    counts as a change of what a graph has saved of that: versions are shared.

    Parameters
    ----------
    input : Tensor
        The tensor, of any dtype.

    Returns
    -------
    Tensor
        A new leaf that shares memory and version with `input`.

    Raises
    ------
    ArgumentTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
    >>> d = vt.detach(x)
    >>> d.requires_grad, d.is_leaf
    (False, True)
    >>> d[0] = 5.0
    >>> x
    tensor([5., 2.], requires_grad=True)
    """
    impl = input._impl
    alias = impl.alias(impl.array, impl.byte_offset, impl._strides)
    alias.allow_tensor_metadata_change = False
    return input._wrap(alias)


# -- another order --------------------------------------------------------------------------


def permute(input: T, *order: int | Sequence[int], dims: Sequence[int] | None = None) -> T:
    """Return a view with the dimensions in another order.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    *order : int or sequence of int
        Every dimension once, in the new order; negative numbers count from the last one. Given
        one by one or as one sequence.
    dims : sequence of int, optional
        The same, by keyword.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If a dimension is missing, or given twice.
    DimensionError
        If `input` has no such dimension.
    ArgumentTypeError
        If no order is given, or in two ways.

    Examples
    --------
    >>> x = vt.zeros(2, 3, 4)
    >>> vt.permute(x, 2, 0, 1).shape
    vtgrad.Size([4, 2, 3])
    >>> x.permute((2, 0, 1))[3, 1, 2] = 7.0
    >>> x[1, 2, 3]
    tensor(7.)
    """
    return F.permute_dims(input, given_integers(order, dims, "permute"))


@explained
def movedim(input: T, source: int | Sequence[int], destination: int | Sequence[int]) -> T:
    """Return a view with dimensions moved to other places.

    The dimensions that are not named keep their order and fill the places that are left. The
    gradient is moved back.

    Parameters
    ----------
    input : Tensor
        Tensor of any dtype.
    source : int or sequence of int
        The dimensions to move.
    destination : int or sequence of int
        Where each of them goes in the result.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If a dimension or a place is named twice, or there are not as many places as dimensions.
    DimensionError
        If a dimension or a place does not exist.
    ArgumentTypeError
        If an argument holds something else than integers.

    Examples
    --------
    >>> x = vt.zeros(2, 3, 4)
    >>> vt.movedim(x, 0, 2).shape
    vtgrad.Size([3, 4, 2])
    >>> vt.movedim(x, (0, 1), (2, 0)).shape
    vtgrad.Size([3, 4, 2])
    >>> vt.movedim(x, 0, 2)[1, 2, 0] = 5.0
    >>> x[0, 1, 2]
    tensor(5.)
    """
    sources = tuple(source) if isinstance(source, Sequence) else (integer(source),)
    places = tuple(destination) if isinstance(destination, Sequence) else (integer(destination),)
    if input.ndim == 0:
        movedim_order(1, sources, places)
        return F.alias(input)
    return F.permute_dims(input, movedim_order(input.ndim, sources, places))


def moveaxis(input: T, source: int | Sequence[int], destination: int | Sequence[int]) -> T:
    """Another name of `movedim`."""
    return movedim(input, source, destination)


def swapaxes(input: T, axis0: int, axis1: int) -> T:
    """Exchange two dimensions, as a view.

    `transpose` under NumPy's name.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    axis0 : int
        One dimension; negative numbers count from the last one.
    axis1 : int
        The other.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    DimensionError
        If `input` has no such dimension.

    Examples
    --------
    >>> vt.swapaxes(vt.zeros(2, 3, 4), 0, -1).shape
    vtgrad.Size([4, 3, 2])
    """
    return F.transpose(input, axis0, axis1)


def swapdims(input: T, dim0: int, dim1: int) -> T:
    """Exchange two dimensions, as a view.

    Another name of `transpose`.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    dim0 : int
        One dimension; negative numbers count from the last one.
    dim1 : int
        The other.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    DimensionError
        If `input` has no such dimension.

    Examples
    --------
    >>> vt.swapdims(vt.zeros(2, 3, 4), 0, -1).shape
    vtgrad.Size([4, 3, 2])
    """
    return F.transpose(input, dim0, dim1)


def swapaxes_(input: T, axis0: int, axis1: int) -> T:
    """Exchange two dimensions of the tensor itself."""
    return F.transpose_(input, axis0, axis1)


def swapdims_(input: T, dim0: int, dim1: int) -> T:
    """Exchange two dimensions of the tensor itself."""
    return F.transpose_(input, dim0, dim1)


# -- more dimensions ------------------------------------------------------------------------


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
    return _all_at_least(tensors, 1)


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
    return _all_at_least(tensors, 2)


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
    return _all_at_least(tensors, 3)


def _all_at_least(tensors: tuple[T | Sequence[T], ...], ndim: int) -> T | tuple[T, ...]:
    each = tuple([at_least(x, ndim) for x in given_tensors(tensors)])
    return each[0] if len(tensors) == 1 and isinstance(tensors[0], TensorBase) else each


def at_least(x: T, ndim: int) -> T:
    if x.ndim >= ndim:
        return x
    if x.ndim == 0:
        return F.reshape(x, (1,) * ndim)
    if x.ndim == 1:
        row = F.unsqueeze(x, 0)
        return row if ndim == 2 else F.unsqueeze(row, -1)
    return F.unsqueeze(x, -1)
