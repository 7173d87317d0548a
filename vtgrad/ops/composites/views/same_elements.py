"""The elements unchanged: contiguous copies, and views cut off the graph."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import MemoryFormatError
from vtgrad.graph.tracer import detach_traced
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.take_over import call_override, is_keyed_on_memory, is_overridden, take_over
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import DETACH
from vtgrad.storage.key_set import keys
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["contiguous", "detach"]


T = TypeVar("T", bound=TensorBase)


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
    if keys.active and is_overridden(input):
        return call_override(contiguous, input, memory_format=memory_format)
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
    if keys.active and is_keyed_on_memory(input):
        return take_over(DETACH, detach, input)
    impl = input._impl
    result = input._wrap(impl.alias(impl.array, impl.byte_offset, impl._strides))
    if keys.modes:
        detach_traced(result)
    return result
