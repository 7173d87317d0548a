"""Reductions of all elements of a sample, and what is left of their family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.batched_call import BatchedCall, like_parts
from vtgrad.ops.rules.batches.by_family.shift import selected, shift, shifted
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RULES"]


def all_elements(call: BatchedCall) -> object:
    """Another overload reduces all elements of a sample, which lie along one dimension for it."""
    name, *words = call.operator.batch_option.split()
    if name == "extreme" and not call.tensor("input")._impl.array.size:
        model = call.as_one_sample()
        assert isinstance(model, TensorBase)
        return call.finish(F.expand_sizes(model, (call.level.size,)))
    options = {n: x for n, x in call.arguments.items() if n not in ("input", "out")}
    return call.finish(getattr(F, name)(_flat(call), 1, *words, **options))


def shift_or_all(call: BatchedCall) -> object:
    """As `shift`; without a dimension, all elements of a sample lie along one."""
    if call.arguments.get("dim") is not None:
        return shift(call)
    found = call.called({"input": _flat(call), "dim": 1, "keepdim": False})
    if call.arguments.get("keepdim"):
        found = _with_ones(found, call.tensor("input")._impl.array.ndim)
    return call.finish(found)


def _flat(call: BatchedCall) -> TensorBase:
    """The elements of each sample along one dimension."""
    value = call.value("input")
    return F.reshape(value, (value._impl.array.shape[0], call.tensor("input")._impl.array.size))


def _with_ones(found: object, ndim: int) -> object:
    if isinstance(found, TensorBase):
        return F.reshape(found, (found._impl.array.shape[0], *(1,) * ndim))
    assert isinstance(found, tuple)
    return like_parts(found, [_with_ones(part, ndim) for part in found])


def dist(call: BatchedCall) -> object:
    """The norm of the difference of each pair of samples."""
    left, right = call.operand(call.tensor("input")), call.operand(call.tensor("other"))
    ndim = max(left.tensor._impl.array.ndim, right.tensor._impl.array.ndim)
    difference = F.sub(call.aligned(left, ndim), call.aligned(right, ndim))
    sizes = difference._impl.array.shape
    flat = F.reshape(difference, (sizes[0], -1 if difference._impl.array.size else 0))
    p = call.arguments.get("p", 2)
    assert isinstance(p, (int, float))
    return call.finish(F.linalg_vector_norm(flat, p, 1))


def renorm(call: BatchedCall) -> object:
    """Slices of all samples, as those of one tensor."""
    sample = call.tensor("input")._impl.array
    if sample.ndim < 2:
        call.refuse()
    value, dim = call.value("input"), shifted(call.arguments["dim"], sample.ndim)
    assert isinstance(dim, int)
    # A copy, because what is saved would be overwritten.
    moved = F.movedim(F.clone(value) if call.operator.writes else value, dim, 1)
    sizes = moved._impl.array.shape
    rows = F.reshape(moved, (sizes[0] * sizes[1], *sizes[2:]))
    p, maxnorm = call.arguments["p"], call.arguments["maxnorm"]
    assert isinstance(p, (int, float))
    assert isinstance(maxnorm, (int, float))
    found = F.movedim(F.reshape(F.renorm(rows, p, 0, maxnorm), sizes), 1, dim)
    if call.operator.writes:
        return call.finish(F.copy_(value, found))
    return call.finish(F.clone(found, memory_format=MemoryFormat.CONTIGUOUS))


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "all": all_elements,
    "dist": dist,
    "renorm": renorm,
    "selected": selected,
    "shift_or_all": shift_or_all,
}
