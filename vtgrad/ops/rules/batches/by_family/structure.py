"""Operators that repeat, rotate and place elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.batched_call import BatchedCall
from vtgrad.ops.rules.batches.by_family.joining import listed
from vtgrad.ops.rules.batches.by_family.shift import shifted
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RULES"]


def matrix(call: BatchedCall) -> object:
    """Operators of the last two dimensions, which a sample must have."""
    if call.tensor("input")._impl.array.ndim < 2:
        # With one dimension more the value would pass for a matrix.
        call.refuse()
    return call.run({"input": call.value("input")})


def diag_embed(call: BatchedCall) -> object:
    """The dimensions are those of the result, which has one more."""
    ndim = call.tensor("input")._impl.array.ndim
    if not ndim:
        call.refuse()
    return call.run(
        {
            "input": call.value("input"),
            "dim1": shifted(call.arguments.get("dim1", -2), ndim + 1, "dim1"),
            "dim2": shifted(call.arguments.get("dim2", -1), ndim + 1, "dim2"),
        }
    )


def repeat(call: BatchedCall) -> object:
    """Samples are repeated along their own dimensions, of which they may get more in front."""
    counts = call.arguments["repeats"]
    assert isinstance(counts, Sequence)
    value = call.aligned(call.operand(call.tensor("input")), len(counts))
    if len(counts) < call.tensor("input")._impl.array.ndim:
        call.refuse()
    return call.run({"input": value, "repeats": (1, *counts)})


def roll(call: BatchedCall) -> object:
    """Along dimensions one further on; without any, along all elements of a sample."""
    value, sample = call.value("input"), call.tensor("input")
    dims = call.arguments.get("dims", ())
    if dims is None or (isinstance(dims, Sequence) and not dims):
        sizes = value._impl.array.shape
        flat = F.reshape(value, (sizes[0], sample._impl.array.size))
        shifts = call.arguments["shifts"]
        dim = (1,) if isinstance(shifts, Sequence) else 1
        rolled = call.called({"input": flat, "dims": dim})
        assert isinstance(rolled, TensorBase)
        return call.finish(F.reshape(rolled, sizes))
    return call.run({"input": value, "dims": shifted(dims, sample._impl.array.ndim, "dims")})


def block_diagonal(call: BatchedCall) -> object:
    """The matrices of each sample, with zeros beside them."""
    tensors = listed(call, "tensors")
    model = call.as_one_sample()
    assert isinstance(model, TensorBase)
    blocks = [call.aligned(call.expanded(x), 2) for x in tensors]
    columns = model._impl.array.shape[1]
    rows: list[TensorBase] = []
    left = 0
    for block in blocks:
        size, height, width = block._impl.array.shape
        before = F.zeros_shaped(innermost(model), (size, height, left))
        left += width
        after = F.zeros_shaped(innermost(model), (size, height, columns - left))
        rows.append(F.cat([before, block, after], 2))
    return call.finish(F.cat(rows, 1))


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "block_diagonal": block_diagonal,
    "diag_embed": diag_embed,
    "matrix": matrix,
    "repeat": repeat,
    "roll": roll,
}
