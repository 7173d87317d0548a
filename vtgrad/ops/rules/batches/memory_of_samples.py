"""How the samples of new tensors lie in memory.

Note [Samples one behind the other]

Where the samples of an argument are interleaved in memory, as columns are, NumPy would give the
result of an operator the same order. One sample of it would then have gaps, and for `reshape`,
`contiguous` and `view` it matters whether a tensor has gaps: these would copy, or refuse, where a
tensor of its own would not. So the samples of new memory lie one behind the other, each in the
order that it would have alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from vtgrad.graph.batch import value_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.argument_types import T
from vtgrad.storage.arrays import Shape
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["are_interleaved", "in_order_of", "samples_first"]


def are_interleaved(value: TensorBase) -> bool:
    """Whether the first dimension of a value is not the outermost one in memory."""
    impl = value._impl
    step, size = impl.strides[0], impl.array.shape[0]
    return size > 1 and any(
        s > step and n > 1 for n, s in zip(impl.array.shape[1:], impl.strides[1:], strict=True)
    )


def samples_first(value: T, operands: Iterable[TensorBase], rule: str) -> T:
    """A result with its samples one behind the other, if its memory is new.

    See Note [Samples one behind the other].

    Parameters
    ----------
    operands : iterable of TensorBase
        What the operator was called with.
    rule : str
        The name of its rule.
    """
    strides = value._impl.array.strides
    if strides[0] >= max(strides) or not are_interleaved(value):
        return value
    storage = value_of(value)._impl._storage
    if storage is not None and any(value_of(x)._impl._storage is storage for x in operands):
        return value
    if rule in ("elementwise", "lerp"):
        # Of several operands the first one says the order, as for one sample.
        shape = value._impl.array.shape[1:]
        for operand in operands:
            if operand._impl.array.shape == shape:
                return in_order_of(value, operand._impl.strides)
    return in_order_of(value, value._impl.strides[1:])


def in_order_of(value: T, strides: Shape) -> T:
    """A copy whose samples lie one behind the other.

    Parameters
    ----------
    strides : tuple of int
        Those of a sample whose order in memory the samples get.
    """
    order = [0, *sorted(range(1, len(strides) + 1), key=lambda d: -strides[d - 1])]
    if order == sorted(order):
        return F.clone(value, memory_format=MemoryFormat.CONTIGUOUS)
    dense = F.clone(F.permute_dims(value, order), memory_format=MemoryFormat.CONTIGUOUS)
    return F.permute_dims(dense, sorted(range(len(order)), key=order.__getitem__))
