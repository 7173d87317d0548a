"""What must be as it was before after a call that failed, and what holds of every tensor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import InterruptedWriteError
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["Snapshot", "assert_inside", "guarded", "tensors_in"]

#: Bytes on both sides of a guarded buffer, and what they hold.
_GUARD, _FENCE = 256, 0xA5


@dataclass(frozen=True)
class Facts:
    """All that can be seen of one tensor without changing it."""

    geometry: tuple[object, ...]
    content: bytes
    version: int
    requires_grad: bool
    producer: int
    output_nr: int
    base: int
    storage: int
    grad: tuple[int, bytes, int] | None


def _facts(x: vt.Tensor) -> Facts:
    node, grad = x.grad_fn, x.grad if x.is_leaf else None
    return Facts(
        (tuple(x.shape), x.stride(), x.storage_offset(), x.dtype),
        x._impl.storage.flat.tobytes(),
        x._version,
        x.requires_grad,
        id(node),
        x.output_nr,
        id(x._base),
        x.untyped_storage().data_ptr(),
        None if grad is None else (id(grad), grad.detach().numpy().tobytes(), grad._version),
    )


class Snapshot:
    """Values, versions, graph and metadata of some tensors at one moment.

    It holds the producers that it has seen, so that no other object can come to have their id.
    """

    def __init__(self, *tensors: vt.Tensor) -> None:
        self.tensors = tensors
        self.kept = [(x.grad_fn, x._base, x.grad if x.is_leaf else None) for x in tensors]
        self.facts = [_facts(x) for x in tensors]

    def assert_unchanged(self) -> None:
        """Everything is as it was."""
        for x, before in zip(self.tensors, self.facts, strict=True):
            assert _facts(x) == before

    def assert_written_only_with_version(self) -> None:
        """Whatever was written, a version says so."""
        for x, before in zip(self.tensors, self.facts, strict=True):
            now = _facts(x)
            assert now.content == before.content or now.version > before.version

    def assert_nothing_unseen(self) -> None:
        """Where no version has moved all is as it was, but for memory that has grown.

        What was written has no gradient, because its write was broken off.
        """
        for x, before in zip(self.tensors, self.facts, strict=True):
            now = _facts(x)
            if now.version == before.version:
                length = len(before.content)
                content = now.content[:length]
                assert replace(now, content=content, storage=before.storage) == before
            elif x.grad_fn is not None and now.content != before.content:
                with pytest.raises(InterruptedWriteError):
                    x.backward(vt.ones_like(x), retain_graph=True)


class Guarded:
    """A tensor in the middle of memory that must stay untouched."""

    def __init__(self, values: Sequence[float], shape: tuple[int, ...], dtype: str) -> None:
        middle = np.array(values, dtype).tobytes()
        memory = np.full(2 * _GUARD + len(middle), _FENCE, np.uint8)
        memory[_GUARD : _GUARD + len(middle)] = np.frombuffer(middle, np.uint8)
        self._memory = memory
        self.tensor = vt.from_numpy(
            memory[_GUARD : _GUARD + len(middle)].view(dtype).reshape(shape)
        )

    def assert_fence_whole(self) -> None:
        """No byte beside the buffer has been written."""
        assert bool((self._memory[:_GUARD] == _FENCE).all())
        assert bool((self._memory[-_GUARD:] == _FENCE).all())


def guarded(values: Sequence[float], shape: tuple[int, ...], dtype: str = "float32") -> Guarded:
    """A tensor whose buffer lies between two fences."""
    return Guarded(values, shape, dtype)


def tensors_in(value: object) -> Iterator[vt.Tensor]:
    """All tensors in what a call has returned."""
    if isinstance(value, vt.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from tensors_in(part)


def assert_inside(tensors: Iterable[TensorBase]) -> None:
    """Every tensor's geometry is made of plain integers, agrees with its array, and is inside."""
    for x in tensors:
        impl = x._impl
        numbers = (*impl.sizes, *impl.strides, impl.storage_offset, impl.byte_offset, impl.version)
        assert all(type(n) is int for n in numbers), numbers
        # Slices with a negative step have negative strides, and start at their last element.
        assert min(*impl.sizes, impl.storage_offset, impl.byte_offset, impl.version) >= 0, numbers
        assert impl.array.shape == impl.sizes
        assert len(impl.strides) == len(impl.sizes)
        if not impl.array.size:
            continue
        item = impl.array.itemsize
        shown = tuple(s // item for s in impl.array.strides)
        assert all(
            a == b for a, b, n in zip(shown, impl.strides, impl.sizes, strict=True) if n > 1
        ), (shown, impl.strides)
        first, last = np.lib.array_utils.byte_bounds(impl.array)
        start = impl.storage.data_ptr()
        assert impl.array.ctypes.data == start + impl.byte_offset
        assert start <= first <= last <= start + impl.storage.nbytes()
