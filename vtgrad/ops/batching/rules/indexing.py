"""Indices, masks, and the operators that gather and scatter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from vtgrad.ops.batching.batched_call import BatchedCall, Operand
from vtgrad.ops.batching.rules.elementwise import elementwise
from vtgrad.ops.batching.rules.joining import listed
from vtgrad.ops.batching.rules.loop import loop, refused
from vtgrad.ops.batching.rules.shift import along, along_dims, shifted, with_dimension
from vtgrad.ops.batching.values import innermost
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Shape
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.shapes import broadcast_shapes
from vtgrad.storage.tensor_base import TensorBase, handle_like

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
        refused(call)
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
        indices = [_numbers(call, k, given=indices[0]), *indices]
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


def _numbers(call: BatchedCall, ndim: int, *, given: TensorBase) -> TensorBase:
    """The number of each sample, with `ndim` dimensions of size 1 behind."""
    array = np.arange(call.level.size).reshape(call.level.size, *(1,) * ndim)
    return handle_like(given, impl_on(array, innermost(given)._impl.device))


def index_at(call: BatchedCall) -> object:
    """Each sample is indexed; samples of an index choose in the sample of the same number."""
    operand = call.operand(call.tensor("input"))
    place = _placed(call, operand.tensor._impl.array.shape, operand.has_samples)
    found = F.index_at(operand.value, place.indices, place.positions)
    return call.finish(place.in_front(found))


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
    place = _placed(call, target.tensor._impl.array.shape, True)
    given = call.operand(call.tensor("values"))
    values = call.aligned(given, place.ndim)
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


def take(call: BatchedCall) -> object:
    """Elements of each sample by their number."""
    source, index = call.operand(call.tensor("input")), call.operand(call.tensor("index"))
    if not source.has_samples:
        return call.finish(F.take(source.value, index.value))
    flat = F.reshape(source.value, (call.level.size, source.tensor._impl.array.size))
    return call.finish(F.index_at(flat, *_by_number(call, index)))


def take_spread(call: BatchedCall) -> object:
    """The inverse of `take`, which adds up."""
    sizes, index = call.arguments["sizes"], call.operand(call.tensor("index"))
    assert isinstance(sizes, Sequence)
    flat = (call.level.size, int(np.prod(sizes, dtype=np.int64)))
    found = F.index_spread(call.value("input"), flat, *_by_number(call, index))
    return call.finish(F.reshape(found, (call.level.size, *sizes)))


def _by_number(call: BatchedCall, index: Operand) -> tuple[list[TensorBase], Shape]:
    """Indices, and their positions, of samples whose elements lie along one dimension."""
    if not index.has_samples:
        return [index.value], (1,)
    ndim = index.tensor._impl.array.ndim
    return [_numbers(call, ndim, given=index.value), index.value], (0, 1)


def masked_select(call: BatchedCall) -> object:
    """One mask for all samples; with one for each, results would differ in size."""
    mask = call.operand(call.tensor("mask"))
    if mask.has_samples:
        refused(call)
    source = call.operand(call.tensor("input"))
    sizes = broadcast_shapes(source.tensor._impl.array.shape, mask.tensor._impl.array.shape)
    value = F.expand_sizes(call.aligned(source, len(sizes)), (call.level.size, *sizes))
    chosen = F.expand_sizes(mask.value, sizes)
    if not sizes:
        value, chosen = F.unsqueeze(value, 1), F.unsqueeze(chosen, 0)
    return call.finish(F.index_at(value, [chosen], (1,)))


def masked_fill(call: BatchedCall) -> object:
    """`masked_fill` with a 0-d tensor that may have samples."""
    if not call.operand(call.tensor("value")).has_samples:
        return elementwise(call)
    operands = [call.operand(call.tensor(name)) for name in ("mask", "value", "input")]
    ndim = max(x.tensor._impl.array.ndim for x in operands)
    mask, value, source = [call.aligned(x, ndim) for x in operands]
    whole = F.where_self(mask, F.to_dtype(value, source._impl.array.dtype), source)
    return call.finish(F.copy_(call.value("input"), whole) if call.rule.writes else whole)


def masked_spread(call: BatchedCall) -> object:
    """The inverse of `masked_select`."""
    sizes, mask = call.arguments["sizes"], call.operand(call.tensor("mask"))
    assert isinstance(sizes, Sequence)
    if mask.has_samples or mask.tensor._impl.array.shape != tuple(sizes) or not sizes:
        return loop(call)
    whole = (call.level.size, *sizes)
    return call.finish(F.index_spread(call.value("input"), whole, [mask.value], (1,)))


# -- along one dimension -------------------------------------------------------------------------


def index_select(call: BatchedCall) -> object:
    """Slices of each sample; samples of an index choose in the sample of the same number."""
    index = call.operand(call.tensor("index"))
    if not index.has_samples:
        return along_dims(call, {"input": call.expanded(call.tensor("input")), "index": index})
    source = call.expanded(call.tensor("input"))
    dim = _dim(call)
    value = with_dimension(source)
    sizes = list(value._impl.array.shape)
    places = with_dimension(index)
    sizes[dim] = places._impl.array.shape[1]
    found = F.gather(value, dim, _along(places, dim, tuple(sizes)))
    if not source.tensor._impl.array.ndim:
        found = F.squeeze_dim(found, 1)
    return call.finish(found)


def _dim(call: BatchedCall) -> int:
    dim = shifted(call.arguments["dim"], call.tensor("input")._impl.array.ndim)
    assert isinstance(dim, int)
    return dim


def _along(index: TensorBase, dim: int, sizes: Shape) -> TensorBase:
    """Indices of slices, as an index for each element of them."""
    shape = [1] * len(sizes)
    shape[0], shape[dim] = index._impl.array.shape
    return F.expand_sizes(F.view_shape(index, shape), sizes)


def index_add(call: BatchedCall) -> object:
    """Slices of each sample are added to."""
    return _write_slices(call, "scatter_add")


def index_copy(call: BatchedCall) -> object:
    """Slices of each sample are replaced."""
    return _write_slices(call, "scatter_src")


def index_fill(call: BatchedCall) -> object:
    """Slices of each sample are filled."""
    return _write_slices(call, "scatter_value")


def index_reduce(call: BatchedCall) -> object:
    """Slices of each sample are reduced into."""
    return _write_slices(call, "scatter_reduce")


def _write_slices(call: BatchedCall, scatter: str) -> object:
    """An operator of slices; with samples of the index, the same of their elements."""
    index = call.operand(call.tensor("index"))
    value: object = call.arguments.get("value")
    filling = call.operand(value) if isinstance(value, TensorBase) else None
    if not index.has_samples and (filling is None or not filling.has_samples):
        operands = {
            name: index if name == "index" else call.expanded(tensor)
            for name, tensor in call.tensors()
            if name != "value"
        }
        return along_dims(call, operands)
    target = call.expanded(call.tensor("input"))
    whole, dim = with_dimension(target), _dim(call)
    places = with_dimension(call.expanded(call.tensor("index")))
    sizes = list(whole._impl.array.shape)
    sizes[dim] = places._impl.array.shape[1]
    at = _along(places, dim, tuple(sizes))
    source: object = value
    if filling is not None:
        source = F.expand_sizes(call.aligned(filling, len(sizes) - 1), sizes)
        source = F.to_dtype(source, whole._impl.array.dtype)
        scatter = "scatter_src"
    elif value is None:
        source = F.expand_sizes(with_dimension(call.expanded(call.tensor("source"))), sizes)
        alpha = call.arguments.get("alpha", 1)
        assert isinstance(alpha, (int, float, complex))
        source = source if alpha == 1 else F.mul(source, alpha)
    more: tuple[object, ...] = ()
    options: dict[str, object] = {}
    if scatter == "scatter_reduce":
        more = (call.arguments["reduce"],)
        options["include_self"] = call.arguments.get("include_self", True)
    function = getattr(F, scatter + "_" * call.rule.writes)
    result = function(whole, dim, at, source, *more, **options)
    if call.rule.writes:
        return call.tensor("input")
    return call.finish(result if target.tensor._impl.array.ndim else F.squeeze_dim(result, 1))


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "along": along,
    "index_add": index_add,
    "index_at": index_at,
    "index_copy": index_copy,
    "index_fill": index_fill,
    "index_put": index_put,
    "index_reduce": index_reduce,
    "index_select": index_select,
    "index_spread": index_spread,
    "masked_fill": masked_fill,
    "masked_select": masked_select,
    "masked_spread": masked_spread,
    "take": take,
    "take_spread": take_spread,
}
