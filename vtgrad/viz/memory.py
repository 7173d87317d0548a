"""The buffers that tensors and graphs touch, and what looks at which of their bytes."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from vtgrad.errors import VtgradError
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import meta_of
from vtgrad.storage.arrays import Array
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.recent_writes import Write, recent_writes
from vtgrad.storage.storage import bytes_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_name import name_of
from vtgrad.storage.version_counter import INFERENCE, VersionCounter
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta
from vtgrad.viz.saved_values import SavedValue, nodes_of, saved_values

__all__ = ["Mask", "Memory", "Part", "State", "memories_of"]

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]


class State(enum.Enum):
    """What will become of a part of a buffer."""

    GOOD = enum.auto()
    # The producer is made again when it is read.
    STALE = enum.auto()
    # Backward through the node that saved the value raises.
    REFUSED = enum.auto()


@dataclass
class Part:
    """Something that looks at a part of a buffer: a tensor, or a saved value.

    Attributes
    ----------
    name : str
        The tensor's name, or the field of the node that saved it.
    about : str
        What it is, in a line.
    array : ndarray
        Its elements.
    state : State
        Whether its producer will be rebuilt when it is read, or backward would refuse it.
    """

    name: str
    about: str
    array: Array
    state: State


@dataclass
class Memory:
    """One buffer.

    Attributes
    ----------
    start, stop : int
        Addresses of its first byte, and of the one behind its last.
    version : int or None
        The number of writes; None if they are not counted.
    parts : list of Part
        What looks at it.
    writes : tuple of Write
        The last writes, newest last.
    counters : list of VersionCounter
        What counts its writes.
    """

    start: int
    stop: int
    version: int | None
    parts: list[Part] = field(default_factory=list)
    writes: tuple[Write, ...] = ()
    counters: list[VersionCounter] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.stop - self.start

    @property
    def item(self) -> int:
        """The bytes of the smallest element that anything here has."""
        return min((part.array.itemsize for part in self.parts), default=1)

    def covered(self, part: Part) -> Mask:
        """Which elements of the buffer a part shows, in elements of `item` bytes."""
        mask = np.zeros(self.nbytes, np.bool_)
        array = part.array
        if array.size:
            first = array.ctypes.data - self.start
            shown = np.lib.stride_tricks.as_strided(
                mask[first:], (*array.shape, array.itemsize), (*array.strides, 1)
            )
            shown[...] = True
        whole = self.nbytes // self.item * self.item
        return cast("Mask", mask[:whole].reshape(-1, self.item).any(axis=1))


def memories_of(
    tensors: Sequence[tuple[str | None, TensorBase]], roots: Iterable[Node]
) -> list[Memory]:
    """The buffers of tensors, of the leaves of a graph, and of what its nodes have saved."""
    memories: list[Memory] = []
    seen: set[int] = set()
    names: dict[int, str] = {}
    for number, (name, tensor) in enumerate(tensors):
        names[id(tensor)] = _on_one_line(name) or _known(tensor, names) or f"tensor {number}"
    for _, tensor in tensors:
        _add_tensor(memories, tensor, names, seen)
    nodes = nodes_of(roots)
    for node in nodes:
        leaf = node.variable if isinstance(node, AccumulateGrad) else None
        if leaf is not None:
            _add_tensor(memories, leaf, names, seen)
    for node in nodes:
        for value in saved_values(node):
            _add_saved(memories, node, value, names)
    return memories


def _add_tensor(
    memories: list[Memory], tensor: TensorBase, names: dict[int, str], seen: set[int]
) -> None:
    if id(tensor) in seen:
        return
    seen.add(id(tensor))
    impl = tensor._impl
    flat = impl.storage.flat
    memory = _memory_at(memories, flat, impl.version_counter)
    about, state = _about(tensor, names)
    name = _known(tensor, names) or "(unnamed)"
    memory.parts.append(Part(name, about, physical(impl.array), state))


def _add_saved(
    memories: list[Memory], node: Node, value: SavedValue, names: dict[int, str]
) -> None:
    array = value.array
    if array is None:
        return
    array = physical(array)
    storage = value.variable.saved_storage
    flat = bytes_of(array) if storage is None else storage.flat
    memory = _memory_at(memories, flat, value.variable.saved_counter)
    problem = value.problem(node)
    tensor = value.tensor
    known = None if tensor is None else _known(tensor, names)
    about = f"saved by {node.name()}{'' if known is None else f', is {known}'}"
    about += f", at version {value.variable.version}"
    if problem is not None:
        about += f": {problem}"
    state = State.GOOD if problem is None else State.REFUSED
    memory.parts.append(Part(f"saved {value.name}", about, array, state))


def _known(tensor: TensorBase, names: dict[int, str]) -> str | None:
    """The name of a tensor in this map, or else its own; None if it has none."""
    return names.get(id(tensor)) or _on_one_line(name_of(tensor))


def _on_one_line(name: str | None) -> str | None:
    """A name with newlines and the like as escapes: a map has one line for each part."""
    if name is None or name.isprintable():
        return name
    return "".join([c if c.isprintable() else c.encode("unicode_escape").decode() for c in name])


def _memory_at(memories: list[Memory], flat: Array, counter: VersionCounter | None) -> Memory:
    """The buffer with these bytes, which may be a part of a known one."""
    start = flat.ctypes.data
    stop = start + flat.size
    counted = None if counter is INFERENCE else counter
    for memory in memories:
        # Without a byte there is no address to compare: views have the counter of their base.
        if (
            memory.start <= start and stop <= memory.stop
            if flat.size
            else any(counted is other for other in memory.counters)
        ):
            break
    else:
        memory = Memory(start, stop, None if counter is INFERENCE else 0)
        memories.append(memory)
    if counted is not None:
        _count(memory, counted)
    return memory


def _count(memory: Memory, counter: VersionCounter) -> None:
    """Take over versions and writes of the counter with the most writes."""
    if not any(counter is other for other in memory.counters):
        memory.counters.append(counter)
    if memory.version is not None and counter.value > memory.version:
        memory.version = counter.value
        memory.writes = recent_writes(counter)


def _about(tensor: TensorBase, names: dict[int, str]) -> tuple[str, State]:
    """What a tensor is, and whether its producer is stale; the producer is not read."""
    impl = tensor._impl
    text = f"{dtype_of(impl.dtype).name} {list(impl.sizes)}"
    meta = meta_of(tensor)
    if meta is None:
        return text, State.GOOD
    if isinstance(meta, DifferentiableViewMeta):
        base = _known(meta.base, names) or "its base"
        text += f", view of {base} at offset {impl.storage_offset}"
        try:
            version = impl.version
        except VtgradError:
            return text, State.GOOD
        if meta.attr_version != version and meta.needs_gradient():
            text += f"; grad_fn is stale, of version {meta.attr_version}"
            return text, State.STALE
        if meta.written_by is not None:
            return text + "; written, grad_fn is made on reading", State.GOOD
    if meta.requires_grad_:
        return text + ", leaf", State.GOOD
    node = meta.grad_fn_
    return text + ("" if node is None else f", of {node.name().rpartition('::')[2]}"), State.GOOD
