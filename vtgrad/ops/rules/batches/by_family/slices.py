"""Operators of slices along one dimension, and of elements along one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.batched_call import BatchedCall
from vtgrad.ops.rules.batches.by_family.loop import loop
from vtgrad.ops.rules.batches.by_family.shift import along, along_dims, shifted, with_dimension
from vtgrad.ops.rules.batches.values import overlaps_itself
from vtgrad.storage.arrays import Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RULES"]


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
    if call.operator.writes and overlaps_itself(call.value("input")):
        return loop(call)  # the operator of elements refuses that
    # The operator of elements takes more.
    call.as_one_sample()
    target = call.expanded(call.tensor("input"))
    whole, dim = with_dimension(target), _dim(call)
    places = with_dimension(call.expanded(call.tensor("index")))
    sizes = list(whole._impl.array.shape)
    if value is not None:
        # Only `index_fill` takes indices that count from the end.
        from_end = F.lt_Scalar(places, 0)
        places = F.where_self(from_end, F.add(places, sizes[dim]), places)
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
    function = getattr(F, scatter + "_" * call.operator.writes)
    result = function(whole, dim, at, source, *more, **options)
    if call.operator.writes:
        return call.tensor("input")
    return call.finish(result if target.tensor._impl.array.ndim else F.squeeze_dim(result, 1))


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "along": along,
    "index_add": index_add,
    "index_copy": index_copy,
    "index_fill": index_fill,
    "index_reduce": index_reduce,
    "index_select": index_select,
}
