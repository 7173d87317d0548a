"""Values without samples beside values with samples.

Note [Entering a batch]

An operator of a batched tensor and one that is not batched needs nothing special: the latter
broadcasts. Two cases are different, and there the tensor is *entered* into the batch first, as a
view that is expanded along the samples.

- A transform inside of `vmap` differentiates by it: `vmap(lambda x: grad(f)(w, x))(xs)`. The graph
  is that of all samples at once, so the gradient of `w` would be the sum over them; wanted is one
  for each sample. `EnterBatch` is the node of the entered tensor. As long as the level is open, it
  hands on a gradient that is batched, and the nodes behind it, which know nothing of samples, run
  with tensors that are batched. Once the level is closed it sums. Tensors are not entered where no
  transform inside of the `vmap` could ask for the gradient: that would cost the memory of an
  expanded gradient. On a thread that did not call the `vmap` it is not known whether one could.
- It has a tangent that is batched, as in `vmap(lambda t: jvp(f, (w,), (t,)))(ts)`. The operator's
  formula would take the tangent for one with other samples than the batched operand's. The entered
  tensor has the tangent's value for its tangent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from vtgrad.graph.batch import BatchLevel, batch_of, batched, with_entries
from vtgrad.graph.input_metadata import metadata_of
from vtgrad.graph.next_edges import SAME_INPUTS
from vtgrad.graph.node import SHARED, Node
from vtgrad.graph.recording import is_recording
from vtgrad.graph.region import Gradient
from vtgrad.graph.set_history import gradient_edge, meta_of, own_meta, requires_grad, set_history
from vtgrad.graph.thread_levels import thread
from vtgrad.ops import kernels as k
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import batch_along_first, innermost, is_batched_at, value_at
from vtgrad.storage.argument_types import T
from vtgrad.storage.arrays import Array
from vtgrad.storage.key_set import DUAL, keys
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["entered", "expanded", "may_be_asked"]


class EnterBatch(Node):
    """The node of a tensor that was entered into a batch; see Note [Entering a batch].

    Attributes
    ----------
    level : BatchLevel or None
        The level at which it was entered; None if no transform inside of it asks for the gradient.
    dim : int
        The dimension along which its samples lie.
    """

    __slots__ = ("dim", "level")

    ownership: ClassVar[tuple[int, ...]] = (SHARED,)
    edge_rule: ClassVar[int] = SAME_INPUTS

    level: BatchLevel | None
    dim: int

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Gradient | None]:
        """The sum over the samples."""
        grad = grads[0]
        assert self.level is None or not self.level.is_open, "gradients of samples are tensors"
        return (None if grad is None else k.sum(grad, (self.dim,)),)

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        """The gradient of each sample, or their sum."""
        grad = grads[0]
        if grad is None:
            return (None,)
        if self.level is None or not self.level.is_open:
            return (F.sum_dim_IntList(grad, (self.dim,)),)
        return (batch_along_first(F.movedim(grad, self.dim, 0), self.level),)


def entered(tensor: T, level: BatchLevel) -> T | None:
    """A tensor without samples at a level, entered; None if it may just broadcast.

    See Note [Entering a batch].
    """
    inner = innermost(tensor)
    asked = may_be_asked(level) and is_recording() and requires_grad(inner)
    if not asked and not any(is_batched_at(t, level) for t in _tangents(inner).values()):
        return None
    return _entered(tensor, level, 0, asked)


def may_be_asked(level: BatchLevel) -> bool:
    """Whether a transform inside of a level may ask for gradients of what is computed now."""
    return thread.reverse_level > level.number or level not in thread.batch_levels


def expanded(tensor: T, level: BatchLevel) -> T:
    """A tensor with samples along its first dimension, equal ones if it has none at the level."""
    value = value_at(tensor, level)
    if value is None:
        value = entered(tensor, level)
    if value is None:
        value = F.expand_sizes(tensor, (level.size, *tensor._impl.array.shape))
    return value


def _entered(tensor: T, level: BatchLevel, dim: int, asked: bool) -> T:
    batch = batch_of(tensor)
    if batch is not None:
        # A value has the class of its tensor.
        value = cast("T", batch.value)
        return batched(_entered(value, level, dim + 1, asked), batch.level)
    sizes = tensor._impl.array.shape
    along = (*sizes[:dim], level.size, *sizes[dim:])
    tangents = _tangents(tensor)
    # Detached, so that the expanded tensor is no view: its producer is the node below.
    result = F.detach(F.expand_sizes(F.unsqueeze(tensor, dim), along))
    if tangents:
        # A tangent has the strides of its tensor.
        result = F.clone(result, memory_format=MemoryFormat.CONTIGUOUS)
    if is_recording() and requires_grad(tensor):
        node = EnterBatch((gradient_edge(tensor),))
        node.level, node.dim = level if asked else None, dim
        if asked:
            with_entries.add(level)
            if not level.is_open:
                # Closed by another thread, maybe just now: it does not look again.
                with_entries.discard(level)
        node.input_metadata = metadata_of(result._impl)
        set_history(result, node)
    for number, tangent in tangents.items():
        along_dim = F.movedim(expanded(tangent, level), 0, dim)
        laid_out = F.clone(along_dim, memory_format=MemoryFormat.CONTIGUOUS)
        own_meta(result).set_fw_grad(laid_out, result, number, False)
    return result


def _tangents(tensor: TensorBase) -> dict[int, TensorBase]:
    """The tangents of a tensor that the operators of this thread see."""
    found: dict[int, TensorBase] = {}
    meta = meta_of(tensor) if keys.modes else None
    if meta is None or thread.excluded_keys & DUAL or thread.mode.inference:
        return found
    limit = thread.forward_limit
    while (limit := meta.fw_level(limit)) != 0:
        tangent = meta.fw_grad(limit, tensor)
        if tangent is not None:
            found[limit] = tangent
    return found
