"""Index arrays and masks in brackets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, cast

import numpy as np

from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.batched_call import BatchedCall, Operand
from vtgrad.ops.rules.batches.by_family.flat_index import sample_numbers
from vtgrad.ops.rules.batches.by_family.joining import listed
from vtgrad.ops.rules.batches.by_family.loop import loop, refused
from vtgrad.ops.rules.batches.memory_of_samples import are_interleaved, in_order_of
from vtgrad.ops.rules.batches.values import overlaps_itself
from vtgrad.storage.arrays import Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RULES"]


class Placement(NamedTuple):
    """Index arrays for all samples, and where the dimensions of a result are.

    NumPy places the dimensions of index arrays where the first of them stands if they stand side
    by side, and in front otherwise. The samples must be in front in any case.

    Attributes
    ----------
    indices, positions : list of TensorBase, tuple of int
        For the value of the indexed tensor.
    source, destination : tuple of int
        Which dimensions of a result move, and where to.
    ndim : int
        The number of dimensions of one sample of the result.
    """

    indices: list[TensorBase]
    positions: Shape
    source: Shape
    destination: Shape
    ndim: int

    def in_front(self, result: TensorBase) -> TensorBase:
        """A result with the samples in front."""
        return F.movedim(result, self.source, self.destination) if self.source else result

    def as_indexed(self, values: TensorBase) -> TensorBase:
        """The inverse: values that have the samples in front, in the order of a result."""
        return F.movedim(values, self.destination, self.source) if self.source else values


def _placed(call: BatchedCall, indexed: Shape, has_samples: bool) -> Placement:
    """Find out what the operator is called with.

    Parameters
    ----------
    indexed : tuple of int
        The sizes of the indexed tensor, as a sample sees it.
    has_samples : bool
        Whether its value has samples.
    """
    positions = call.arguments["positions"]
    assert isinstance(positions, tuple)
    operands = [call.operand(index) for index in listed(call, "indices")]
    if not any(operand.has_samples for operand in operands):
        return _same_for_all(operands, positions, len(indexed))
    if any(_is_mask(x.tensor) and x.has_samples for x in operands):
        refused(call, "indexing with a mask of the sample")
    pairs = _without_masks(operands, positions)
    places = tuple([place for _, place in pairs])
    k = max(operand.tensor._impl.array.ndim for operand, _ in pairs)
    indices = [call.aligned(operand, k) for operand, _ in pairs]
    together, first = _are_side_by_side(places), places[0]
    source: Shape = ()
    destination: Shape = ()
    if not has_samples:
        if together and first:
            source, destination = (first,), (0,)
    else:
        indices = [sample_numbers(call, k, given=indices[0]), *indices]
        places = (0, *[place + 1 for place in places])
        if together and first and k:
            source = tuple(range(1, k + 1))
            destination = tuple(range(first + 1, first + k + 1))
    return Placement(indices, places, source, destination, len(indexed) - len(pairs) + k)


def _same_for_all(operands: Sequence[Operand], positions: Shape, ndim: int) -> Placement:
    """Indices without samples: each sample of the indexed tensor is indexed in the same way."""
    k, taken = 1, 0
    for operand in operands:
        own = operand.tensor._impl.array.ndim
        masks = _is_mask(operand.tensor)
        k, taken = max(k, 1 if masks else own), taken + (own if masks else 1)
    if all(not x.tensor._impl.array.ndim and not _is_mask(x.tensor) for x in operands):
        k = 0
    source, destination = ((), ()) if _are_side_by_side(positions) else ((k,), (0,))
    return Placement(
        [operand.value for operand in operands],
        tuple([position + 1 for position in positions]),
        source,
        destination,
        ndim - taken + k,
    )


def _are_side_by_side(positions: Shape) -> bool:
    return all(b == a + 1 for a, b in pairwise(positions))


def _without_masks(
    operands: Sequence[Operand], positions: Sequence[int]
) -> Sequence[tuple[Operand, int]]:
    """Indices of one dimension each, and the dimensions."""
    pairs: list[tuple[Operand, int]] = []
    further = 0
    for operand, position in zip(operands, positions, strict=True):
        if not _is_mask(operand.tensor):
            pairs.append((operand, position + further))
            continue
        for nr, index in enumerate(F.nonzero(operand.value, as_tuple=True)):
            pairs.append((Operand(index, index, False), position + further + nr))
        further += operand.tensor._impl.array.ndim - 1
    return pairs


def _is_mask(index: TensorBase) -> bool:
    return index._impl.array.dtype in (np.dtype(np.bool_), np.dtype(np.uint8))


def index_at(call: BatchedCall) -> object:
    """Each sample is indexed; samples of an index choose in the sample of the same number."""
    operand = call.operand(call.tensor("input"))
    place = _placed(call, operand.tensor._impl.array.shape, operand.has_samples)
    found = place.in_front(F.index_at(operand.value, place.indices, place.positions))
    if are_interleaved(found) or (operand.has_samples and are_interleaved(operand.value)):
        one = F.index_at(
            F.detach(call.sample(operand.tensor, 0)),
            [call.sample(index, 0) for index in listed(call, "indices")],
            cast("tuple[int, ...]", call.arguments["positions"]),
        )
        found = in_order_of(found, one._impl.strides)
    return call.finish(found)


def index_spread(call: BatchedCall) -> object:
    """The inverse of `index_at`, which adds up."""
    sizes = call.arguments["sizes"]
    assert isinstance(sizes, Sequence)
    place = _placed(call, tuple(sizes), True)
    value = place.as_indexed(call.value("input"))
    whole = (call.level.size, *sizes)
    return call.finish(F.index_spread(value, whole, place.indices, place.positions))


def index_put(call: BatchedCall) -> object:
    """Each sample is written at the indices."""
    target = call.expanded(call.tensor("input"))
    mask = _mask_of_samples(call)
    if mask is not None:
        return _put_where(call, target, mask)
    place = _placed(call, target.tensor._impl.array.shape, True)
    given = call.operand(call.tensor("values"))
    values = call.aligned(given, place.ndim)
    if values._impl.array.dtype != target.value._impl.array.dtype:
        # One single value may have another dtype, for all true elements of a mask.
        call.as_one_sample()
        values = F.to_dtype(values, target.value._impl.array.dtype)
    if place.source:
        # Values without samples have as many dimensions for the moves.
        lead = place.ndim + 1 - values._impl.array.ndim
        values = F.view_shape(values, (*(1,) * lead, *values._impl.array.shape))
        values = place.as_indexed(values)
    return call.run(
        {
            "input": target.value,
            "indices": place.indices,
            "positions": place.positions,
            "values": values,
        }
    )


def _mask_of_samples(call: BatchedCall) -> Operand | None:
    """The one index, if it is a mask that differs from sample to sample."""
    operands = [call.operand(index) for index in listed(call, "indices")]
    first = operands[0]
    return first if len(operands) == 1 and first.has_samples and _is_mask(first.tensor) else None


def _put_where(call: BatchedCall, target: Operand, mask: Operand) -> object:
    """One value is written where the mask of each sample is true."""
    given = call.operand(call.tensor("values"))
    positions = call.arguments["positions"]
    assert isinstance(positions, tuple)
    sizes = target.tensor._impl.array.shape
    before, own = positions[0], mask.tensor._impl.array.shape
    if given.tensor._impl.array.size != 1:
        refused(call, "writing several values to a mask of the sample")
    if sizes[before : before + len(own)] != own:
        call.refuse()
    if call.operator.writes and overlaps_itself(target.value):
        return loop(call)  # a location has several values in `whole`
    after = len(sizes) - before - len(own)
    lead = mask.value._impl.array.shape[:1]
    where = F.view_shape(
        F.to_dtype(mask.value, np.dtype(np.bool_)), (*lead, *(1,) * before, *own, *(1,) * after)
    )
    number = F.view_shape(given.value, (*lead * given.has_samples, *(1,) * len(sizes)))
    filling = F.to_dtype(number, target.value._impl.array.dtype)
    if call.arguments["accumulate"]:
        filling = F.add(target.value, filling)
    whole = F.where_self(where, filling, target.value)
    return call.finish(F.copy_(target.value, whole) if call.operator.writes else whole)


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "index_at": index_at,
    "index_put": index_put,
    "index_spread": index_spread,
}
