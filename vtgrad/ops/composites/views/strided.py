"""Views at any geometry inside a storage: `as_strided` and what is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, TypeVar

from vtgrad.errors import NotSupportedError
from vtgrad.graph.batch import value_of
from vtgrad.graph.node import Node
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import requires_grad
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.take_over import (
    call_override,
    is_keyed_on_memory,
    is_overridden,
    keys_of,
    take_over,
)
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import AS_STRIDED_
from vtgrad.ops.generated.views_nodes import AsStridedBeyondBackward0
from vtgrad.ops.view_impls import views as view_impls
from vtgrad.storage.geometry import (
    check_in_bounds,
    covers,
)
from vtgrad.storage.integers import integer
from vtgrad.storage.key_set import DUAL, keys
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.creation_meta import CreationMeta
from vtgrad.views.differentiable_view_meta import view_meta_of
from vtgrad.views.write import write_geometry

__all__ = ["as_strided", "as_strided_", "as_strided_copy", "as_strided_scatter"]


T = TypeVar("T", bound=TensorBase)


@explained
def as_strided(
    input: T,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> T:
    """Return a view of any geometry inside the storage of a tensor.

    Sizes, strides and offset are those of the memory, not of `input`: the view may show
    elements that `input` does not. Elements may appear several times; their gradients are added
    up, and a view that shows one twice cannot be written in place. If `input` is a view itself,
    the gradients of what lies beyond it go to its base.

    Parameters
    ----------
    input : Tensor
        Whose memory is shown.
    size : sequence of int
        The sizes of the result.
    stride : sequence of int
        For each dimension the step in memory, in elements.
    storage_offset : int or None, default None
        The place of the first element in the storage, in elements; that of `input` if None.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    OutOfBoundsError
        If the geometry leaves the storage, a number is negative, or there are not as many
        strides as sizes.
    ArgumentTypeError
        If `size` or `stride` is not a sequence of integers, or the offset is not an integer.

    Examples
    --------
    >>> x = vt.arange(4.0, requires_grad=True)
    >>> windows = vt.as_strided(x, (3, 2), (1, 1))
    >>> windows.detach()
    tensor([[0., 1.],
            [1., 2.],
            [2., 3.]])
    >>> windows.sum().backward()
    >>> x.grad
    tensor([1., 2., 2., 1.])
    """
    result = F.as_strided_part(input, size, stride, storage_offset)
    base = _base_beyond(input, result._impl)
    if base is None:
        return result
    return F.as_strided_beyond(input, base, size, stride, storage_offset)


@explained
def as_strided_(
    input: T,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> T:
    """Let the tensor itself look at any geometry inside its storage; see `as_strided`."""
    if keys.active and is_keyed_on_memory(input):
        return take_over(AS_STRIDED_, as_strided_, input, size, stride, storage_offset)
    base = None
    if view_meta_of(input) is not None:
        base = _base_beyond(input, view_impls.as_strided(input._impl, size, stride, storage_offset))
    if base is None:
        return F.as_strided_part_(input, size, stride, storage_offset)
    if keys_of(input) & DUAL:
        raise NotSupportedError(
            "as_strided_ of a view that requires grad reaches beyond it, and the view has a "
            "tangent; use as_strided",
            operator="as_strided_",
        )

    def record(target: TensorBase, *geometry: Any, inplace: bool) -> Node:
        return AsStridedBeyondBackward0.record(target, base, *geometry)

    view = view_impls.as_strided
    return write_geometry(input, record, view, size, stride, storage_offset, operator="as_strided_")


def as_strided_copy(
    input: T,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return a copy of any geometry inside the storage of a tensor.

    The values are those that `as_strided` shows, in memory of their own and in row-major order.
    Elements that appear several times add their gradients up.

    Parameters
    ----------
    input : Tensor
        Whose memory is copied from.
    size : sequence of int
        The sizes of the result.
    stride : sequence of int
        For each dimension the step in memory, in elements.
    storage_offset : int or None, default None
        The place of the first element in the storage, in elements; that of `input` if None.
    out : Tensor, optional
        Where the result is stored; it must have the result's dtype.

    Returns
    -------
    Tensor
        A new tensor of the sizes `size`.

    Raises
    ------
    OutOfBoundsError
        If the geometry leaves the storage, a number is negative, or there are not as many
        strides as sizes.
    ArgumentTypeError
        If `size` or `stride` is not a sequence of integers, or the offset is not an integer.
    ResultTypeError
        If `out` has another dtype than the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> x = vt.arange(4)
    >>> y = vt.as_strided_copy(x, (2, 2), (1, 1), 1)
    >>> y
    tensor([[1, 2],
            [2, 3]])
    >>> y.fill_(0)
    tensor([[0, 0],
            [0, 0]])
    >>> x
    tensor([0, 1, 2, 3])
    """
    if keys.active and is_overridden(input, out):
        return call_override(as_strided_copy, input, size, stride, storage_offset, out=out)
    result = F._as_strided_copy(input, size, stride, storage_offset, out=out)
    if out is None and requires_grad(result) and view_meta_of(input) is not None:
        shown = as_strided(input, size, stride, storage_offset)
        if _base_beyond(input, shown._impl) is not None:
            return F.clone(shown, memory_format=MemoryFormat.CONTIGUOUS)
    return result


def _base_beyond(input: TensorBase, shown: TensorImpl) -> TensorBase | None:
    """The base of a view, if its memory is shown beyond the view's and this must be recorded."""
    meta = view_meta_of(input)
    if meta is None or not is_recording() or not requires_grad(meta.base):
        return None
    own, base = input._impl, meta.base._impl
    if meta.view_fn is not None or meta.creation_meta is not CreationMeta.DEFAULT:
        return None
    if own._storage is not base._storage or covers(own.geometry, shown.geometry):
        return None
    return meta.base


@explained
def as_strided_scatter(
    input: T,
    src: TensorBase,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> T:
    """Return a copy of a tensor with other values at a geometry of its storage.

    `src` stands where `as_strided` with the same arguments would look; what of it lies outside
    of `input` is left out. `src` is cast to the dtype of `input`. The gradient of `input` is 0
    where values were replaced; that of `src` is the gradient there.

    Parameters
    ----------
    input : Tensor
        What is copied.
    src : Tensor
        The values to store, of the shape `size`.
    size : sequence of int
        The sizes of the result.
    stride : sequence of int
        For each dimension the step in memory, in elements.
    storage_offset : int or None, default None
        The place of the first element in the storage, in elements; that of `input` if None.

    Returns
    -------
    Tensor
        A new tensor of the shape and dtype of `input`.

    Raises
    ------
    ShapeError
        If `src` has another shape than `size`.
    OutOfBoundsError
        If the geometry leaves the storage.
    SelfOverlapError
        If the geometry names an element twice.
    ArgumentTypeError
        If `src` is not a tensor.

    Warns
    -----
    UserWarning
        If `input` is real and `src` complex: the imaginary parts are dropped.

    Examples
    --------
    >>> x = vt.zeros(6)
    >>> vt.as_strided_scatter(x, vt.tensor([1.0, 2.0]), (2,), (3,), 1)
    tensor([0., 1., 0., 0., 2., 0.])
    >>> x
    tensor([0., 0., 0., 0., 0., 0.])
    """
    impl = input._impl
    offset = impl.storage_offset if storage_offset is None else integer(storage_offset)
    target = (tuple(map(index, size)), tuple(map(index, stride)), offset)
    memory = value_of(input)._impl.storage
    check_in_bounds(*target, memory.nbytes() // impl.array.itemsize)
    return F.as_strided_scatter_at(input, src, impl.geometry, target)
