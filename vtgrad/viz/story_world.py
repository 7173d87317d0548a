"""The tensors, buffers, saved values and nodes that a story has seen, as records of their state.

Reading changes nothing: a stale ``grad_fn`` is not rebuilt, a saved value is not unpacked, and
neither a storage nor a version counter is made. See Note [What a story keeps].
"""

from __future__ import annotations

import weakref
from typing import Final, NamedTuple

import numpy as np

from vtgrad.engine.current_graph_task import running
from vtgrad.errors import VtgradError
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.node import Node
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.graph.set_history import meta_of
from vtgrad.profiler.recorder import memory_of
from vtgrad.storage.arrays import Array
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.storage import bytes_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_name import name_of
from vtgrad.storage.version_counter import INFERENCE, VersionCounter
from vtgrad.storage.write_log import SAVED
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta
from vtgrad.viz.saved_values import inner_node, saved_values
from vtgrad.viz.story_elements import Elements, elements_of_array, elements_of_mask
from vtgrad.viz.story_records import (
    NodeRecord,
    Records,
    Runs,
    SavedRecord,
    StorageRecord,
    TensorRecord,
)

__all__ = ["World"]

# What is shown at once; the rest is counted.
_VALUES: Final = 64
_STORAGES: Final = 60
_TENSORS: Final = 200
_NODES: Final = 300
# The most elements of which the marked ones are looked up.
_MARKED: Final = 1_000_000

# A number of the thread and one of the node; for a leaf's node, 0 and the number of its leaf.
_NodeId = tuple[int, int]


class _Known(NamedTuple):
    """An object that was seen.

    Attributes
    ----------
    reference : weak reference
        To the object.
    key : str
        Its key in the story.
    """

    reference: weakref.ref[object]
    key: str


class _Keys:
    """The keys of objects that are alive."""

    __slots__ = ("_known", "_letter", "_next")

    _known: dict[int, _Known]
    _letter: str
    _next: int

    def __init__(self, letter: str) -> None:
        self._known = {}
        self._letter = letter
        self._next = 0

    def find(self, value: object) -> str | None:
        """The key of an object that has one."""
        known = self._known.get(id(value))
        return known.key if known is not None and known.reference() is value else None

    def add(self, value: object) -> str:
        """The key of an object, a new one if it has none."""
        key = self.find(value)
        if key is None:
            key = self.fresh()
            self._known[id(value)] = _Known(weakref.ref(value), key)
        return key

    def fresh(self) -> str:
        """A key that was not used yet."""
        self._next += 1
        return f"{self._letter}{self._next - 1}"

    def drop_dead(self) -> None:
        """Forget the objects that are dead."""
        for number, known in tuple(self._known.items()):
            if known.reference() is None:
                del self._known[number]

    def living(self) -> list[tuple[str, object]]:
        """The living objects, in the order in which they were seen."""
        found = [(known.key, known.reference()) for known in self._known.values()]
        return [(key, value) for key, value in found if value is not None]

    def __len__(self) -> int:
        return len(self._known)


class _Buffer:
    """A buffer while its state is read.

    Attributes
    ----------
    key : str
        Its key.
    root : ndarray
        The array that owns the memory.
    start, item, elements : int
        The address, the size of an element, and their number.
    counters : list of VersionCounter
        What counts its writes.
    oldest : int or None
        The oldest version at which a value of it was saved.
    """

    __slots__ = ("counters", "elements", "item", "key", "oldest", "root", "start")

    key: str
    root: Array
    start: int
    item: int
    elements: int
    counters: list[VersionCounter]
    oldest: int | None

    def __init__(self, key: str, root: Array, flat: Array) -> None:
        self.key = key
        self.root = root
        self.start = flat.__array_interface__["data"][0]
        self.item = root.itemsize
        self.elements = flat.size // self.item
        self.counters = []
        self.oldest = None

    @property
    def counter(self) -> VersionCounter | None:
        """The counter with the most writes."""
        return max(self.counters, key=lambda counter: counter.value, default=None)


class World:
    """What a story has seen of a program.

    Attributes
    ----------
    names : dict of str to str
        The user's name of each tensor that has one, by key.
    made_by : dict of str to str
        A name for each other tensor.
    made_at : dict
        The line that made each node, by its key.
    left_out : dict of str to int
        The number of storages and of elements that are not shown; the largest at one time.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.made_by: dict[str, str] = {}
        self.left_out = {"storages": 0, "elements": 0, "nodes": 0}
        self._tensors = _Keys("t")
        self._storages = _Keys("s")
        self._node_keys: dict[_NodeId, str] = {}
        self._node_states: dict[str, str] = {}
        self._saved_keys: dict[tuple[str, str], str] = {}
        # Of each saved value the version at the save, the state, and the step that overwrote it.
        self._saved: dict[str, tuple[int, str, int | None]] = {}
        self._marks: dict[str, tuple[object, Runs]] = {}
        self._values: dict[str, tuple[bytes, list[str]]] = {}
        self._name_counts: dict[str, int] = {}

    # -- what is seen ----------------------------------------------------------------------

    def see(self, tensor: TensorBase, made_by: str | None = None) -> str:
        """The key of a tensor, which is shown from now on.

        Parameters
        ----------
        made_by : str, optional
            The operator that made it, for its name.
        """
        key = self._tensors.find(tensor)
        if key is None:
            key = self._tensors.add(tensor)
            name = name_of(tensor)
            if name is not None:
                self.name(key, name)
            elif made_by is not None:
                self.made_by[key] = self._numbered(f"{made_by} result")
        return key

    def find(self, tensor: TensorBase) -> str | None:
        """The key of a tensor that was seen."""
        return self._tensors.find(tensor)

    def name(self, key: str, name: str) -> None:
        """Name a tensor, unless it has a name."""
        if key not in self.names:
            self.names[key] = self._numbered(name)

    def _numbered(self, name: str) -> str:
        """A name, with a number if another tensor has it."""
        count = self._name_counts[name] = self._name_counts.get(name, 0) + 1
        return name if count == 1 else f"{name} ({count})"

    def set_node_state(self, key: str, state: str) -> None:
        """Say that a node is running, or ran."""
        self._node_states[key] = state

    def overwritten(self, key: str, step: int) -> None:
        """Say which step overwrote a saved value."""
        version, state, _ = self._saved[key]
        self._saved[key] = version, state, step

    def key_of_node(self, node: Node) -> str:
        """The key of a node."""
        leaf = node.variable if isinstance(node, AccumulateGrad) else None
        if leaf is not None:
            identity = 0, int(self.see(leaf)[1:])
        elif node.is_leaf_node:
            identity = -1, id(node)
        else:
            identity = node.thread_id, node.sequence_nr
        key = self._node_keys.get(identity)
        if key is None:
            key = self._node_keys[identity] = f"n{len(self._node_keys)}"
        return key

    def storage_key(self, array: Array) -> str | None:
        """The key of the buffer of an array; None if it is not shown."""
        return self._storages.find(memory_of(physical(array)))

    # -- the present state -----------------------------------------------------------------

    def records(self) -> Records:
        """The state of all that was seen and lives."""
        return _Reading(self).records()


class _Reading:
    """One look at all that is alive; it holds objects of the program, so it does not last."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._buffers: dict[str, _Buffer] = {}
        self._names: dict[str, tuple[bool, str]] = {}
        self._left_out = 0
        self._hidden: set[int] = set()

    def records(self) -> Records:
        world = self._world
        world._tensors.drop_dead()
        world._storages.drop_dead()
        tensors = self._tensor_records()
        found = self._nodes()
        saved: dict[str, SavedRecord] = {}
        nodes = {key: self._node_record(node, found, key) for key, node in found.items()}
        for key, node in found.items():
            for value in saved_values(node):
                if not value.variable.is_empty:
                    name, record = self._saved_record(key, value.name, value.variable)
                    saved[name] = record
        storages = {key: self._storage_record(buffer) for key, buffer in self._buffers.items()}
        left_out = world.left_out
        left_out["elements"] = max(left_out["elements"], self._left_out)
        left_out["storages"] = max(left_out["storages"], len(self._hidden))
        return {"storages": storages, "tensors": tensors, "saved": saved, "nodes": nodes}

    # -- tensors ---------------------------------------------------------------------------

    def _tensor_records(self) -> dict[str, TensorRecord]:
        world = self._world
        found: dict[str, TensorRecord] = {}
        waiting = world._tensors.living()
        for key, tensor in waiting:
            assert isinstance(tensor, TensorBase)
            if len(found) >= _TENSORS:
                break
            meta = meta_of(tensor) if tensor._impl.extra_meta is None else None
            base = meta.base if isinstance(meta, DifferentiableViewMeta) else None
            grad = None if meta is None or meta.cell is None else meta.cell.grad
            for other, suffix in ((base, "base"), (grad, "grad")):
                if other is not None and world.find(other) is None:
                    other_key = world.see(other)
                    waiting.append((other_key, other))
            record = self._tensor_record(key, tensor, base, grad)
            if record is not None:
                found[key] = record
        return found

    def _tensor_record(
        self, key: str, tensor: TensorBase, base: TensorBase | None, grad: TensorBase | None
    ) -> TensorRecord | None:
        world, impl = self._world, tensor._impl
        counter = impl.version_counter
        buffer = self._buffer(impl.array, counter)
        if buffer is None:
            return None
        meta = meta_of(tensor) if impl.extra_meta is None else None
        version = 0 if counter is None else counter.value
        stale = False
        if isinstance(meta, DifferentiableViewMeta):
            stale = meta.attr_version != version and meta.needs_gradient()
        node = None if meta is None else meta.grad_fn_
        requires = meta is not None and meta.needs_gradient()
        elements = self._elements(impl.array, buffer)
        if key not in world.names and grad is None:
            pass
        if grad is not None:
            grad_key = world.see(grad)
            if key in world.names:
                world.name(grad_key, f"{world.names[key]}.grad")
        view = base is not None
        name = f"\0{key}\0"
        known = self._names.get(buffer.key)
        if known is None or (known[0] and not view):
            self._names[buffer.key] = view, name
        return {
            "name": name,
            "storage": buffer.key,
            "shape": list(impl.array.shape),
            "runs": elements.runs,
            "base": None if base is None else world.see(base),
            "requires_grad": requires,
            "leaf": node is None and not (view and requires and not (meta and meta.requires_grad_)),
            "grad_fn": None if node is None else world.key_of_node(node),
            "stale": stale,
            "grad": None if grad is None else world.see(grad),
            "version": version,
        }

    def _elements(self, array: Array, buffer: _Buffer) -> Elements:
        elements = elements_of_array(physical(array), buffer.start, buffer.item)
        self._left_out += elements.left_out
        return elements

    # -- buffers ---------------------------------------------------------------------------

    def _buffer(self, array: Array, counter: VersionCounter | None) -> _Buffer | None:
        root = memory_of(physical(array))
        storages = self._world._storages
        key = storages.find(root)
        if key is None:
            if len(storages) >= _STORAGES:
                self._hidden.add(id(root))
                return None
            key = storages.add(root)
        buffer = self._buffers.get(key)
        if buffer is None:
            buffer = self._buffers[key] = _Buffer(key, root, bytes_of(root))
            if root.itemsize == 1 and array.itemsize != 1:
                buffer.item = array.itemsize
                buffer.elements = root.nbytes // array.itemsize
        if counter is not None and counter is not INFERENCE:
            if not any(counter is other for other in buffer.counters):
                buffer.counters.append(counter)
        return buffer

    def _storage_record(self, buffer: _Buffer) -> StorageRecord:
        counter = buffer.counter
        self._left_out += max(buffer.elements - _VALUES, 0)
        named = self._names.get(buffer.key)
        return {
            "name": f"\0{buffer.key}\0" if named is None else named[1],
            "dtype": dtype_of(buffer.root.dtype).name,
            "elements": buffer.elements,
            "values": self._values(buffer),
            "version": 0 if counter is None else counter.value,
            "marked": self._marked(buffer, counter),
        }

    def _values(self, buffer: _Buffer) -> list[str]:
        """The first elements, as texts; they are made anew when the bytes have changed."""
        known = self._world._values
        first = bytes_of(buffer.root)[: min(buffer.elements, _VALUES) * buffer.item]
        content = first.tobytes()
        before = known.get(buffer.key)
        if before is not None and before[0] == content:
            return before[1]
        texts = [_short(x) for x in np.frombuffer(content, buffer.root.dtype).tolist()]
        known[buffer.key] = content, texts
        return texts

    def _marked(self, buffer: _Buffer, counter: VersionCounter | None) -> Runs:
        """The elements that were written since the oldest save."""
        log, after = None if counter is None else counter.log, buffer.oldest
        if counter is None or log is None or log is SAVED or after is None:
            return []
        state = id(log), counter.value, after
        known = self._world._marks.get(buffer.key)
        if known is not None and known[0] == state:
            return known[1]
        runs: Runs = []
        if counter.value > after and buffer.elements <= _MARKED:
            item, count = buffer.item, buffer.elements
            region = 0, item * count, (0, (count,), (item,), item, None)
            versions = log.written_versions(region, after)
            if versions is not None:
                elements = elements_of_mask(versions.reshape(count, -1).any(axis=1))
                self._left_out += elements.left_out
                runs = elements.runs
        self._world._marks[buffer.key] = state, runs
        return runs

    # -- the graph -------------------------------------------------------------------------

    def _nodes(self) -> dict[str, Node]:
        """The nodes that lead from living tensors, and from the root of a pass that runs."""
        world = self._world
        roots: list[Node] = []
        for _, tensor in world._tensors.living():
            assert isinstance(tensor, TensorBase)
            meta = meta_of(tensor) if tensor._impl.extra_meta is None else None
            if meta is not None and meta.grad_fn_ is not None:
                roots.append(meta.grad_fn_)
        task = running.task
        if task is not None:
            roots += [edge.function for edge in task.roots]
        found: dict[str, Node] = {}
        waiting = roots[::-1]
        while waiting:
            node = waiting.pop()
            key = world.key_of_node(node)
            if key in found:
                continue
            if len(found) >= _NODES:
                world.left_out["nodes"] = max(world.left_out["nodes"], len(waiting))
                break
            found[key] = node
            inner = inner_node(node)
            if inner is not None:
                found[world.key_of_node(inner)] = inner
            waiting += [edge.function for edge in node.next_edges[::-1] if edge is not None]
        return found

    def _node_record(self, node: Node, found: dict[str, Node], key: str) -> NodeRecord:
        world = self._world
        leaf = node.variable if isinstance(node, AccumulateGrad) else None
        inner = inner_node(node)
        following: list[list[str | int] | None] = []
        for edge in node.next_edges:
            target = None if edge is None else world.key_of_node(edge.function)
            known = edge is not None and target is not None and target in found
            following.append([target, edge.input_nr] if known and edge and target else None)
        return {
            "name": node.name().rpartition("::")[2],
            "next": following,
            "tensor": None if leaf is None else world.find(leaf),
            "state": world._node_states.get(key, "recorded"),
            "inner": None if inner is None else world.key_of_node(inner),
        }

    def _saved_record(
        self, node: str, label: str, variable: SavedVariable
    ) -> tuple[str, SavedRecord]:
        world = self._world
        key = world._saved_keys.get((node, label))
        if key is None:
            key = world._saved_keys[node, label] = f"v{len(world._saved_keys)}"
            world._saved[key] = variable.version, "intact", None
        version, before, write = world._saved[key]
        state = variable.outcome
        if state != before:
            world._saved[key] = version, state, write
        tensor, array = variable.saved_tensor, variable.saved_array
        buffer = None if array is None else self._buffer(array, variable.saved_counter)
        runs: Runs = []
        if buffer is not None and array is not None:
            runs = self._elements(array, buffer).runs
            buffer.oldest = version if buffer.oldest is None else min(buffer.oldest, version)
        return key, {
            "node": node,
            "label": label,
            "tensor": None if tensor is None else world.find(tensor),
            "storage": None if buffer is None else buffer.key,
            "runs": runs,
            "version": version,
            "state": state,
            "write": write,
        }


def _short(value: object) -> str:
    """A number as a short text."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, complex):
        return f"{value:.3g}"
    return str(value)
