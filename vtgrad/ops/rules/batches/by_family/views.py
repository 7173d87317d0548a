"""Views, and the operators that place gradients through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, cast

import numpy as np

from vtgrad.errors import OutOfBoundsError
from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.batched_call import BatchedCall
from vtgrad.ops.rules.batches.by_family.shift import shifted
from vtgrad.ops.rules.batches.values import innermost, levels_of
from vtgrad.storage import making
from vtgrad.storage.geometry import Geometry, reach
from vtgrad.storage.shapes import infer_size, normalize_dim
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RULES"]


def t(call: BatchedCall) -> object:
    """The two dimensions of a sample change places; fewer stay."""
    value, ndim = call.value("input"), call.tensor("input")._impl.array.ndim
    if ndim > 2:
        call.refuse()
    if call.operator.spoken == "t_":
        return call.finish(F.transpose_(value, 1, 2) if ndim == 2 else value)
    if call.operator.spoken == "t_copy":
        return call.finish(F.transpose_copy(value, 1, 2) if ndim == 2 else F.alias_copy(value))
    return call.finish(F.transpose(value, 1, 2) if ndim == 2 else F.alias(value))


def permute(call: BatchedCall) -> object:
    """The samples stay in front."""
    dims, sample = call.arguments["dims"], call.tensor("input")
    assert isinstance(dims, Sequence)
    if len(dims) != sample._impl.array.ndim:
        call.refuse()
    places = shifted(dims, sample._impl.array.ndim, "dims") if dims else ()
    assert isinstance(places, tuple)
    return call.run({"input": call.value("input"), "dims": (0, *places)})


def view(call: BatchedCall) -> object:
    """Each sample has the new sizes."""
    size = call.arguments["size"]
    assert isinstance(size, Sequence)
    known = infer_size(size, call.tensor("input")._impl.array.size)
    return call.run({"input": call.value("input"), "size": (call.level.size, *known)})


def reshape_alias(call: BatchedCall) -> object:
    """Each sample has the new sizes and strides."""
    size, stride = call.arguments["size"], call.arguments["stride"]
    assert isinstance(size, Sequence)
    assert isinstance(stride, Sequence)
    value = call.value("input")
    step = value._impl.strides[0]
    return call.run({"input": value, "size": (call.level.size, *size), "stride": (step, *stride)})


def expand(call: BatchedCall) -> object:
    """Samples are expanded; new dimensions stand behind that of the samples."""
    size, operand = call.arguments["size"], call.operand(call.tensor("input"))
    assert isinstance(size, Sequence)
    if len(size) < operand.tensor._impl.array.ndim:
        call.refuse()
    lead = len(size) - operand.tensor._impl.array.ndim
    if any(n == -1 for n in size[:lead]):
        call.refuse()
    value = call.aligned(operand, len(size))
    return call.run({"input": value, "size": (call.level.size, *size)})


def expand_to(call: BatchedCall) -> object:
    """As `expand`, where the size is complete."""
    size = call.arguments["size"]
    assert isinstance(size, Sequence)
    value = call.aligned(call.operand(call.tensor("input")), len(size))
    return call.run({"input": value, "size": (call.level.size, *size)})


def sum_to_size(call: BatchedCall) -> object:
    """Dimensions in front that a sample loses have size 1 for the operator."""
    size, value = call.arguments["size"], call.value("input")
    assert isinstance(size, Sequence)
    lead = call.tensor("input")._impl.array.ndim - len(size)
    if lead < 0:
        call.refuse()
    found = call.called({"input": value, "size": (call.level.size, *(1,) * lead, *size)})
    assert isinstance(found, TensorBase)
    return call.finish(F.view_shape(found, (call.level.size, *size)) if lead else found)


def squeeze(call: BatchedCall) -> object:
    """Dimensions of size 1 of a sample, never that of the samples."""
    sample = call.tensor("input")._impl.array
    given = call.arguments.get("dim")
    if given is None:
        dims = tuple([nr + 1 for nr, n in enumerate(sample.shape) if n == 1])
    else:
        places = shifted(given, sample.ndim) if given != () else ()
        moved = places if isinstance(places, tuple) else (places,)
        # A sample without dimensions has none to lose.
        dims = tuple([d for d in moved if d <= sample.ndim])
    value = call.value("input")
    if call.operator.spoken == "squeeze_":
        return call.finish(F.squeeze_dims_(value, dims))
    if call.operator.spoken == "squeeze_copy":
        return call.finish(F.squeeze_copy_dims(value, dims))
    return call.finish(F.squeeze_dims(value, dims))


def unsqueeze(call: BatchedCall) -> object:
    """The new dimension is one further on."""
    ndim = call.tensor("input")._impl.array.ndim
    dim = normalize_dim(checked_dim(call.arguments["dim"]), ndim + 1) + 1
    return call.run({"input": call.value("input"), "dim": dim})


def as_strided(call: BatchedCall) -> object:
    """The geometry of one sample, in the memory of each.

    Raises
    ------
    OutOfBoundsError
        If it reaches into the memory of other samples.
    """
    size, stride = call.arguments["size"], call.arguments["stride"]
    offset = call.arguments.get("storage_offset")
    assert isinstance(size, Sequence)
    assert isinstance(stride, Sequence)
    value = call.value("input")
    impl = value._impl
    start = impl.storage_offset if offset is None else checked_dim(offset, "storage_offset")
    sizes, strides = tuple(size), tuple(stride)
    if call.level.size > 1 and 0 not in sizes and len(sizes) == len(strides):
        _check_own_memory(value, (sizes, strides, start))
    # The functions of users: the value may be a view, whose base is looked at as well.
    function = {
        "as_strided_": F.as_strided_,
        "as_strided": F.as_strided,
        "_as_strided_copy": F.as_strided_copy,
    }[call.operator.spoken]
    geometry = ((call.level.size, *size), (impl.strides[0], *stride), start)
    return call.finish(function(value, *geometry))


def _check_own_memory(value: TensorBase, reached: Geometry) -> None:
    """Raise if a geometry of the first sample reaches into the memory of others.

    Where samples are interleaved, the memory of a sample is its elements. Where they lie apart, it
    is what lies between its first and last element; and if the samples fill a buffer, of which the
    value may be a part, it is a piece of the buffer.

    Raises
    ------
    OutOfBoundsError
        If it does.
    """
    sizes, strides, offset = value._impl.geometry
    low, high = reach(*reached)
    own = (sizes[1:], strides[1:], offset)
    first, last = reach(*own)
    step = strides[0]
    if step and step <= last - first:
        fits = _elements(reached) <= _elements(own)
    else:
        if _fills_buffer(value):
            first = offset // step * step
            last = first + step - 1
        fits = first <= low and high <= last
    if not fits:
        sizes, strides, offset = reached
        raise OutOfBoundsError(
            f"sizes {list(sizes)} and strides {list(strides)} at offset {offset} reach into other "
            "samples of the batch",
            sizes=sizes,
            strides=strides,
            offset=offset,
        )


def _fills_buffer(value: TensorBase) -> bool:
    """Whether the samples of all levels lie one behind the other, from end to end of a buffer."""
    whole = innermost(value)._impl
    lead = len(levels_of(value)) + 1
    end = whole.storage.nbytes() // whole.array.itemsize
    for n, s in zip(whole.sizes[:lead], whole.strides[:lead], strict=True):
        if not s or n * s != end:
            return False
        end = s
    return True


def _elements(geometry: Geometry) -> set[int]:
    """The places in memory that a geometry has."""
    sizes, strides, offset = geometry
    found = making.array([offset])
    for n, s in zip(sizes, strides, strict=True):
        if s:
            found = np.unique(np.add.outer(found, making.arange(n) * s))
    return set(found.tolist())


def between_geometries(call: BatchedCall) -> object:
    """Operators of two geometries on one memory; each sample has a memory of its own."""
    names = ("input_geometry", "output_geometry")
    given = {name: cast("Geometry", call.arguments[name]) for name in names}
    limits = [reach(*geometry) for geometry in given.values()]
    span = max(high for _, high in limits) - min(low for low, _ in limits) + 1
    changes: dict[str, object] = {
        name: _of_all(geometry, call.level.size, span) for name, geometry in given.items()
    }
    for name, tensor in call.tensors():
        changes[name] = call.expanded(tensor).value
    return call.run(changes)


def _of_all(geometry: Geometry, count: int, span: int) -> Geometry:
    sizes, strides, offset = geometry
    return (count, *sizes), (span, *strides), offset


def view_dtype(call: BatchedCall) -> object:
    """As another dtype, which may change the last dimension of a sample."""
    if not call.tensor("input")._impl.array.ndim:
        # Which is refused, where it has another size.
        call.as_one_sample()
    return call.run({"input": call.value("input")})


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "as_strided": as_strided,
    "between_geometries": between_geometries,
    "expand": expand,
    "expand_to": expand_to,
    "permute": permute,
    "reshape_alias": reshape_alias,
    "squeeze": squeeze,
    "sum_to_size": sum_to_size,
    "t": t,
    "unsqueeze": unsqueeze,
    "view": view,
    "view_dtype": view_dtype,
}
