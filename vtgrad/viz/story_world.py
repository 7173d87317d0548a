"""The tensors, buffers, saved values and nodes that a story has seen, as records of their state.

Reading changes nothing: a stale ``grad_fn`` is not rebuilt, a saved value is not unpacked, and
neither a storage nor a version counter is made. See Note [What a story keeps].
"""

from __future__ import annotations

import weakref
from collections.abc import Collection
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from vtgrad.engine.current_graph_task import running
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.batch import value_of
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import meta_of
from vtgrad.profiler.recorder import memory_of
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.key_set import BATCHED
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.recent_writes import CallSite
from vtgrad.storage.storage import bytes_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.tensor_name import name_of
from vtgrad.storage.version_counter import INFERENCE, VersionCounter
from vtgrad.storage.write_log import SAVED
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta
from vtgrad.viz.saved_values import SavedValue, inner_node, saved_values
from vtgrad.viz.story_elements import Elements, elements_of_array, elements_of_mask
from vtgrad.viz.story_records import (
    NodeRecord,
    Runs,
    SavedRecord,
    StorageRecord,
    StoryRecords,
    TensorRecord,
)
from vtgrad.viz.story_words import named, printable

__all__ = ["World", "array_of", "impl_of"]

# What is shown at once; the rest is counted.
_VALUES: Final = 64
_STORAGES: Final = 60
_TENSORS: Final = 200
_NODES: Final = 300
# The most nodes that are counted.
_COUNTED: Final = 2000
# The most elements of which the marked ones are looked up.
_MARKED: Final = 1_000_000

# What a buffer is named by, best first.
_OWNER, _VIEW, _BASE, _NOT_NAMED = range(4)

# A number of the thread and one of the node; for a leaf's node, 0 and the number of its leaf.
_NodeId: TypeAlias = tuple[int, int]


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
    flat : ndarray
        Its bytes.
    dtype : dtype
        The dtype of the array that owns it, or of the first array that is seen if it owns bytes.
    start, item, elements : int
        The address, the size of an element, and their number.
    counters : list of VersionCounter
        What counts its writes.
    oldest : int or None
        The oldest version at which a value of it was saved.
    """

    __slots__ = ("counters", "dtype", "elements", "flat", "item", "key", "oldest", "start")

    key: str
    flat: Array
    dtype: NumpyDType
    start: int
    item: int
    elements: int
    counters: list[VersionCounter]
    oldest: int | None

    def __init__(self, key: str, root: Array, array: Array) -> None:
        self.key = key
        self.flat = bytes_of(root)
        self.dtype = array.dtype if root.dtype == np.uint8 else root.dtype
        self.start = self.flat.__array_interface__["data"][0]
        self.item = self.dtype.itemsize
        self.elements = self.flat.size // self.item
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
        The name that the program has given to a tensor, by key.
    made_by : dict of str to str
        The call that made a tensor or a buffer, to name it by if it has no name.
    made_at : dict of str to CallSite
        The line that made a node.
    left_out : dict of str to int
        The number of storages, elements and nodes that are not shown: the largest at one time.
    """

    __slots__ = (
        "_bases",
        "_counts",
        "_marks",
        "_node_keys",
        "_node_states",
        "_own_names",
        "_places",
        "_ranks",
        "_saved",
        "_saved_keys",
        "_storages",
        "_tensors",
        "_values",
        "left_out",
        "made_at",
        "made_by",
        "names",
    )

    names: dict[str, str]
    made_by: dict[str, str]
    made_at: dict[str, CallSite]
    left_out: dict[str, int]
    _tensors: _Keys
    _storages: _Keys
    _node_keys: dict[_NodeId, str]
    _node_states: dict[str, str]
    _saved_keys: dict[tuple[str, str], str]
    # Of each saved value the version at the save, and the step that overwrote it.
    _saved: dict[str, tuple[int, int | None]]
    # Of each buffer the address and the size of an element, what is marked, and the bytes and the
    # texts of its first elements.
    _places: dict[str, tuple[int, int]]
    _marks: dict[str, tuple[object, Elements]]
    _values: dict[str, tuple[bytes, list[str]]]
    # By what a buffer is named, and the tensors that were seen because others are views of them.
    _ranks: dict[str, int]
    _bases: set[str]
    # How many tensors had a name.
    _counts: dict[str, int]
    # Tensors that are named by their `name`.
    _own_names: set[str]

    def __init__(self) -> None:
        self.names = {}
        self.made_by = {}
        self.made_at = {}
        self.left_out = {"storages": 0, "elements": 0, "nodes": 0}
        self._tensors = _Keys("t")
        self._storages = _Keys("s")
        self._node_keys = {}
        self._node_states = {}
        self._saved_keys = {}
        self._saved = {}
        self._places = {}
        self._ranks = {}
        self._bases = set()
        self._marks = {}
        self._values = {}
        self._counts = {}
        self._own_names = set()

    # -- what is seen ----------------------------------------------------------------------

    def see(self, tensor: TensorBase, made_by: str | None = None) -> str:
        """The key of a tensor, which is shown from now on.

        Parameters
        ----------
        made_by : str, optional
            The call that made it.
        """
        key = self._tensors.find(tensor)
        if key is None:
            key = self._tensors.add(tensor)
            if made_by is not None:
                self.made_by[key] = made_by
        self._bases.discard(key)
        return key

    def find(self, tensor: TensorBase) -> str | None:
        """The key of a tensor that was seen."""
        return self._tensors.find(tensor)

    def name(self, key: str, name: str, *, own: bool = False) -> None:
        """Name a tensor, unless it has a name; a second tensor of one name gets a number.

        Parameters
        ----------
        key, name : str
            The tensor and its name.
        own : bool
            Whether it is the tensor's ``.name``, which is put in place of that of a variable.
        """
        if key not in self.names or (own and key not in self._own_names):
            if own:
                self._own_names.add(key)
            name = printable(name)
            count = self._counts[name] = self._counts.get(name, 0) + 1
            self.names[key] = name if count == 1 else f"{name} ({count})"

    def key_of_node(self, node: Node) -> str:
        """The key of a node."""
        leaf = node.variable if isinstance(node, AccumulateGrad) else None
        if leaf is not None:
            identity = 0, int(self.see(leaf)[1:])
        elif node.is_leaf_node:
            # The leaf is dead, and its node is known by nothing else.
            identity = -1, id(node)
        else:
            identity = node.thread_id, node.sequence_nr
        key = self._node_keys.get(identity)
        if key is None:
            key = self._node_keys[identity] = f"n{len(self._node_keys)}"
        return key

    def leaf_of(self, node: Node) -> str | None:
        """The key of the leaf that a node fills."""
        leaf = node.variable if isinstance(node, AccumulateGrad) else None
        return None if leaf is None else self.find(leaf)

    def set_node_state(self, key: str, state: str) -> None:
        """Say that a node is running, or ran."""
        self._node_states[key] = state

    def overwritten(self, key: str, step: int) -> None:
        """Say which step overwrote a saved value."""
        self._saved[key] = self._saved[key][0], step

    def place_of(self, storage: str) -> tuple[int, int]:
        """The address of a buffer, and the size of its elements."""
        return self._places[storage]

    # -- the present state -----------------------------------------------------------------

    def records(self) -> StoryRecords:
        """The state of all that was seen and lives."""
        return _Reading(self).records()


class _Reading:
    """One look at all that is alive; it holds objects of the program, so it does not last."""

    __slots__ = ("_buffers", "_hidden", "_left_out", "_world")

    _world: World
    _buffers: dict[str, _Buffer]
    # Buffers that are not shown, and the number of elements.
    _hidden: set[int]
    _left_out: int

    def __init__(self, world: World) -> None:
        self._world = world
        self._buffers = {}
        self._hidden = set()
        self._left_out = 0

    def records(self) -> StoryRecords:
        """The records."""
        world = self._world
        world._tensors.drop_dead()
        world._storages.drop_dead()
        tensors, roots = self._tensors()
        found = self._nodes(roots)
        saved: dict[str, SavedRecord] = {}
        for node_key, node in found.items():
            for value in saved_values(node):
                if not value.variable.is_empty:
                    key = self._saved_key(node_key, value)
                    saved[key] = self._saved_record(key, node_key, value, tensors)
        nodes = {key: self._node_record(key, node, found, tensors) for key, node in found.items()}
        for record in tensors.values():
            # What is not shown is not referred to.
            record["base"] = _shown(record["base"], tensors)
            record["grad"] = _shown(record["grad"], tensors)
            record["grad_fn"] = _shown(record["grad_fn"], nodes)
        storages = {key: self._storage_record(buffer) for key, buffer in self._buffers.items()}
        left_out = world.left_out
        left_out["elements"] = max(left_out["elements"], self._left_out)
        left_out["storages"] = max(left_out["storages"], len(self._hidden))
        return {"storages": storages, "tensors": tensors, "saved": saved, "nodes": nodes}

    # -- tensors ---------------------------------------------------------------------------

    def _tensors(self) -> tuple[dict[str, TensorRecord], list[Node]]:
        """The records of living tensors, with bases and gradients, and their nodes."""
        world = self._world
        found: dict[str, TensorRecord] = {}
        roots: list[Node] = []
        waiting = world._tensors.living()
        for key, tensor in waiting:
            if not isinstance(tensor, TensorBase) or key in found:
                continue
            buffer = self._buffer(array_of(tensor), impl_of(tensor).version_counter)
            if buffer is None or len(found) >= _TENSORS:
                continue
            name = name_of(tensor)
            if name is not None:
                world.name(key, name, own=True)
            # What stands for a sample of a batch has no history of its own.
            meta = None if tensor._impl.key_set & BATCHED else meta_of(tensor)
            if meta is not None and meta.grad_fn_ is not None:
                roots.append(meta.grad_fn_)
            base = meta.base if isinstance(meta, DifferentiableViewMeta) else None
            grad = None if meta is None or meta.cell is None else meta.cell.grad
            if base is not None and world.find(base) is None:
                base_key = world.see(base, f"base of {named(key)}")
                world._bases.add(base_key)
                waiting.append((base_key, base))
            if grad is not None and world.find(grad) is None:
                waiting.append((world.see(grad, f"{named(key)}.grad"), grad))
            if grad is not None:
                world.names.setdefault(world.see(grad), f"{named(key)}.grad")
            found[key] = self._tensor_record(key, tensor, meta, buffer)
        return found, roots

    def _tensor_record(
        self, key: str, tensor: TensorBase, meta: AutogradMeta | None, buffer: _Buffer
    ) -> TensorRecord:
        world, impl = self._world, impl_of(tensor)
        counter = impl.version_counter
        version = 0 if counter is None else counter.value
        base: TensorBase | None = None
        stale = False
        if isinstance(meta, DifferentiableViewMeta):
            base = meta.base
            stale = meta.attr_version != version and meta.needs_gradient()
        rank = _OWNER if base is None else _VIEW
        self._own(buffer, key, _BASE if key in world._bases else rank)
        node = None if meta is None else meta.grad_fn_
        grad = None if meta is None or meta.cell is None else meta.cell.grad
        requires_grad = meta is not None and meta.needs_gradient()
        shown = self._elements(impl.array, buffer)
        is_leaf = not requires_grad or (meta is not None and meta.requires_grad_)
        return {
            "name": named(key),
            "storage": buffer.key,
            "shape": list(tensor._impl.sizes),
            "runs": shown.runs,
            "count": shown.number,
            "base": None if base is None else world.find(base),
            "requires_grad": requires_grad,
            "leaf": is_leaf and node is None,
            "grad_fn": None if node is None else world.key_of_node(node),
            "stale": stale,
            "grad": None if grad is None else world.find(grad),
            "version": version,
        }

    def _own(self, buffer: _Buffer, key: str, rank: int) -> None:
        """Name a buffer by a tensor, if possible by one that is no view and has a name itself."""
        world = self._world
        known = world._ranks.get(buffer.key, _NOT_NAMED)
        if rank < known and (known > _VIEW or key in world.names):
            world._ranks[buffer.key] = rank
            world.names[buffer.key] = named(key)

    def _elements(self, array: Array, buffer: _Buffer) -> Elements:
        elements = elements_of_array(physical(array), buffer.start, buffer.item)
        self._left_out += elements.left_out
        return elements

    # -- buffers ---------------------------------------------------------------------------

    def _buffer(self, array: Array, counter: VersionCounter | None) -> _Buffer | None:
        """The buffer of an array; None if there are too many."""
        world, root = self._world, memory_of(physical(array))
        key = world._storages.find(root)
        if key is None:
            if len(world._storages) >= _STORAGES:
                self._hidden.add(id(root))
                return None
            key = world._storages.add(root)
        buffer = self._buffers.get(key)
        if buffer is None:
            buffer = self._buffers[key] = _Buffer(key, root, array)
            world._places[key] = buffer.start, buffer.item
        if counter is not None and counter is not INFERENCE:
            if not any(counter is other for other in buffer.counters):
                buffer.counters.append(counter)
        return buffer

    def _storage_record(self, buffer: _Buffer) -> StorageRecord:
        counter = buffer.counter
        self._left_out += max(buffer.elements - _VALUES, 0)
        return {
            "name": named(buffer.key),
            "dtype": dtype_of(buffer.dtype).name,
            "elements": buffer.elements,
            "values": self._values(buffer),
            "version": 0 if counter is None else counter.value,
            "marked": self._marked(buffer, counter),
        }

    def _values(self, buffer: _Buffer) -> list[str]:
        """The first elements, as texts; they are made anew when the bytes have changed."""
        known = self._world._values
        content = buffer.flat[: min(buffer.elements, _VALUES) * buffer.item].tobytes()
        before = known.get(buffer.key)
        if before is not None and before[0] == content:
            return before[1]
        texts = [_short(x) for x in np.frombuffer(content, buffer.dtype).tolist()]
        known[buffer.key] = content, texts
        return texts

    def _marked(self, buffer: _Buffer, counter: VersionCounter | None) -> Runs:
        """The elements that were written since the oldest save of a value that lives."""
        log, after = None if counter is None else counter.log, buffer.oldest
        if counter is None or log is None or log is SAVED or after is None:
            return []
        state = id(log), counter.value, after
        marks = self._world._marks
        known = marks.get(buffer.key)
        if known is None or known[0] != state:
            elements = Elements([], 0)
            item, count = buffer.item, buffer.elements
            if counter.value > after and 0 < count <= _MARKED:
                region = 0, item * count, (0, (count,), (item,), item, None)
                versions = log.written_versions(region, after)
                if versions is not None:
                    elements = elements_of_mask(versions.reshape(count, -1).max(axis=1) > 0)
            elif counter.value > after:
                elements = Elements([], count)
            known = marks[buffer.key] = state, elements
        self._left_out += known[1].left_out
        return known[1].runs

    # -- the graph -------------------------------------------------------------------------

    def _nodes(self, roots: list[Node]) -> dict[str, Node]:
        """The nodes that lead from living tensors, and from the root of a pass that runs."""
        world = self._world
        task = running.task
        if task is not None:
            roots = [*roots, *[edge.function for edge in task.roots]]
        found: dict[str, Node] = {}
        seen: set[int] = set()
        waiting = roots[::-1]
        while waiting and len(seen) < _COUNTED:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            waiting += [edge.function for edge in node.next_edges[::-1] if edge is not None]
            # Others are counted only.
            if len(found) < _NODES:
                found[world.key_of_node(node)] = node
                inner = inner_node(node)
                if inner is not None:
                    found[world.key_of_node(inner)] = inner
        left_out = world.left_out
        left_out["nodes"] = max(left_out["nodes"], len(seen) - len(found))
        return found

    def _node_record(
        self, key: str, node: Node, found: dict[str, Node], tensors: dict[str, TensorRecord]
    ) -> NodeRecord:
        world = self._world
        inner = inner_node(node)
        following: list[tuple[str, int] | None] = []
        for edge in node.next_edges:
            target = None if edge is None else _shown(world.key_of_node(edge.function), found)
            following.append(None if edge is None or target is None else (target, edge.input_nr))
        return {
            "name": node.name().rpartition("::")[2],
            "next": following,
            "tensor": _shown(world.leaf_of(node), tensors),
            "state": world._node_states.get(key, "recorded"),
            "inner": None if inner is None else world.key_of_node(inner),
        }

    def _saved_key(self, node: str, value: SavedValue) -> str:
        world = self._world
        key = world._saved_keys.get((node, value.name))
        if key is None:
            key = world._saved_keys[node, value.name] = f"v{len(world._saved_keys)}"
            world._saved[key] = value.variable.version, None
        return key

    def _saved_record(
        self, key: str, node: str, value: SavedValue, tensors: dict[str, TensorRecord]
    ) -> SavedRecord:
        world = self._world
        version, write = world._saved[key]
        state = value.variable.outcome
        tensor, array = value.tensor, value.array
        buffer = None if array is None else self._buffer(array, value.variable.saved_counter)
        shown = Elements([], 0)
        if buffer is not None and array is not None:
            shown = self._elements(array, buffer)
            buffer.oldest = version if buffer.oldest is None else min(buffer.oldest, version)
            world.made_by.setdefault(buffer.key, f"memory that was saved as {value.name}")
        return {
            "node": node,
            "label": f"saved_{value.name}" if value.name.startswith("tensors[") else value.name,
            "tensor": None if tensor is None else _shown(world.find(tensor), tensors),
            "storage": None if buffer is None else buffer.key,
            "runs": shown.runs,
            "count": shown.number,
            "version": version,
            "state": state,
            # Hooks may have packed a value that was restored.
            "write": None if state == "intact" else write,
        }


def impl_of(tensor: TensorBase) -> TensorImpl:
    """What has the memory of a tensor: of one that stands for a sample, the whole batch."""
    return value_of(tensor)._impl if tensor._impl.key_set & BATCHED else tensor._impl


def array_of(tensor: TensorBase) -> Array:
    """The array with the memory of a tensor; of an empty view, whose array may have none, the base.

    The memory of an array is found by its ``base``, which those of no elements need not have.
    """
    array = impl_of(tensor).array
    meta = None if array.size or tensor._impl.key_set & BATCHED else meta_of(tensor)
    return impl_of(meta.base).array if isinstance(meta, DifferentiableViewMeta) else array


def _shown(key: str | None, records: Collection[str]) -> str | None:
    """A key, if there is a record of it."""
    return key if key in records else None


def _short(value: object) -> str:
    """A number as a short text."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:.3g}" if isinstance(value, complex) else str(value)
