"""Reading tangents, and bringing new ones into the form that a tensor keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from vtgrad.graph.operators import operators
from vtgrad.graph.set_history import meta_of, own_meta
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.storage.key_set import BATCHED
from vtgrad.storage.lazy_array import has_bits_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.differentiable_view_meta import view_meta_of

__all__ = [
    "as_tangent",
    "forward_base_of",
    "highest_level",
    "share_memory",
    "tangent_of",
    "tensors_of",
    "write_tangent",
    "zero_tangent",
    "zeros_for",
]


def tangent_of(tensor: TensorBase, level: int) -> TensorBase | None:
    """The tangent of a tensor at an open level, None if it has none."""
    meta = meta_of(tensor)
    return None if meta is None else meta.fw_grad(level, tensor)


def forward_base_of(tensor: TensorBase) -> TensorBase:
    """The tensor whose tangent contains that of a view; the tensor itself if it is no view."""
    meta = view_meta_of(tensor)
    info = None if meta is None else meta.forward_info
    return tensor if info is None else info.base


def tensors_of(values: Iterable[object]) -> Iterator[TensorBase]:
    """The tensors among the values, and in sequences among them."""
    for value in values:
        if isinstance(value, TensorBase):
            yield value
        elif isinstance(value, Sequence) and not isinstance(value, str):
            for part in value:
                if isinstance(part, TensorBase):
                    yield part


def highest_level(values: Iterable[object], limit: int) -> int:
    """The highest open level below a limit at which a tensor has a tangent; 0 for none."""
    found = 0
    for tensor in tensors_of(values):
        meta = tensor._impl.autograd_meta
        if meta is not None:
            found = max(found, meta.fw_level(limit))
    return found


def zero_tangent(result: TensorBase) -> TensorBase | None:
    """Zeros for a floating or complex result; None for others, which have no tangents."""
    return F.zeros_like(result) if result._impl.array.dtype.kind in "fc" else None


def as_tangent(
    tangent: TensorBase,
    tensor: TensorBase,
    given: Mapping[str, object] | None = None,
    *,
    in_place: bool = False,
) -> TensorBase:
    """A computed tangent with the shape, dtype and strides of its tensor, in memory of its own.

    Parameters
    ----------
    given : mapping of str to object
        The tangents of arguments, which it may not share memory with.
    in_place : bool
        Whether it will be copied, so that strides and memory do not matter.
    """
    impl = tensor._impl
    dtype, sizes = impl.array.dtype, impl.array.shape
    if tangent._impl.array.dtype != dtype:
        if tangent._impl.array.dtype.kind == "c" and dtype.kind != "c":
            tangent = F.real(tangent)
        tangent = F.to_dtype(tangent, dtype)
    if tangent._impl.array.shape != sizes:
        tangent = F.expand(tangent, sizes)
    if in_place:
        return tangent
    if given is not None and any(tangent is t for t in tensors_of(given.values())):
        tangent = F.clone(tangent)
    if _owns_memory(tangent) and _strides_agree(tangent, tensor):
        return tangent
    own = operators().zeros_as_memory(tensor, tangent)
    return F.copy_(own, tangent)


def share_memory(first: TensorBase, second: TensorBase) -> bool:
    """Whether a write to one of two tensors may be seen in the other."""
    a, b = innermost(first), innermost(second)
    storage = a._impl._storage
    return a is b or (storage is not None and storage is b._impl._storage)


def write_tangent(
    target: TensorBase, tangent: TensorBase, level: int, given: Mapping[str, object]
) -> None:
    """Give a tensor that was written the tangent of its new value.

    Parameters
    ----------
    given : mapping of str to object
        The tangents of arguments, which it may not share memory with.
    """
    copied = tangent_of(target, level) is not None or forward_base_of(target) is not target
    fitted = as_tangent(tangent, target, given, in_place=copied)
    own_meta(target).set_fw_grad(fitted, target, level, True)


def zeros_for(target: TensorBase, level: int, like: TensorBase) -> TensorBase:
    """The tangent zero of a tensor that has none and is written; its base gets zeros too.

    Parameters
    ----------
    like : TensorBase
        What will be written; the zeros have the samples that it has.
    """
    base = forward_base_of(target)
    own_meta(base).set_fw_grad(operators().zeros_as_memory(base, like), base, level, False)
    found = tangent_of(target, level)
    assert found is not None
    return found


def _owns_memory(tangent: TensorBase) -> bool:
    """Whether no other tensor shares the memory; see Note [The array is the geometry]."""
    impl = tangent._impl
    return not impl.key_set & BATCHED and impl._storage is None


def _strides_agree(tangent: TensorBase, tensor: TensorBase) -> bool:
    """Whether both are lazy or not, with equal strides but for dimensions of size 1."""
    own, other = tangent._impl, tensor._impl
    if not has_bits_of(own.array, other.array):
        return False
    if own.layout is not None and own.layout is other.layout and own.is_contiguous:
        return True
    if other.byte_offset:
        return False
    # Quick: both have this dtype, and the strides of empty arrays mean nothing.
    if own.array.size and own.array.strides == other.array.strides:
        return True
    return all(
        a == b or n == 1 for n, a, b in zip(own.sizes, own.strides, other.strides, strict=True)
    )
