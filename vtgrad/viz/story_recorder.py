"""The observer that makes the steps of a story.

Note [Steps of a story]

The recorder is the observer of its thread, as a profile is: see Note [Observers]. When the program
calls an operator, it looks at all that the story has seen, before and after the call: what is
different is what the operator did. A change that is found before a call was made by no operator: a
``grad_fn`` that was read, a write by NumPy, or gradients of a pass that was recorded. Operators that
an operator calls in its turn are no steps; those of custom Functions and hooks are, because the
program calls them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from vtgrad.errors import VtgradError
from vtgrad.graph.node import Node
from vtgrad.graph.observer import BACKWARD_FUNCTION, USER_SCOPE
from vtgrad.profiler.recorder import memory_of
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.recent_writes import CallSite
from vtgrad.storage.record_write import caller
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.storage.write_log import SAVED
from vtgrad.viz.story_elements import Elements, elements_of_mask, elements_of_region
from vtgrad.viz.story_names import name_stored_next, names_in_frames, users_frames
from vtgrad.viz.story_records import Changes, Records, WrittenElements, changes_between, merged
from vtgrad.viz.story_world import World

__all__ = ["RecordedStep", "StoryRecorder", "sentence_of_error"]

_ENGINE: Final = "autograd::engine::"
_FILL: Final = "vtgrad::fill_grads"
_REFUSED: Final = "vtgrad::refused_backward"
_SETITEM: Final = "vtgrad::setitem"
# Longer texts of arguments are cut, and gradients of more elements are not shown.
_LONGEST: Final = 40
_FEW: Final = 4


class RecordedStep:
    """A step, as it is recorded.

    Attributes
    ----------
    number : int
        Its number among all steps, also those that are left out.
    kind, text : str
        As in the data of a story; names of tensors are keys between zero bytes.
    place : CallSite or None
        The user's line.
    changes : Changes
        What is different after it.
    write : WrittenElements or None
        What it writes.
    """

    __slots__ = ("changes", "kind", "number", "place", "text", "write")

    def __init__(
        self,
        number: int,
        kind: str,
        text: str,
        place: CallSite | None,
        changes: Changes,
        write: WrittenElements | None,
    ) -> None:
        self.number = number
        self.kind = kind
        self.text = text
        self.place = place
        self.changes = changes
        self.write = write


class _Open:
    """A call that has not ended.

    Attributes
    ----------
    name, kind : str
        The event, and "operator", "function", "node", "block" or "engine".
    is_step : bool
        Whether the program has called it, not an operator.
    """

    __slots__ = ("error", "inputs", "is_step", "key", "kind", "name", "versions")

    name: str
    kind: str
    is_step: bool
    inputs: Sequence[object]
    versions: list[tuple[TensorBase, int]]
    key: str | None
    error: BaseException | None

    def __init__(self, name: str, kind: str, is_step: bool, inputs: Sequence[object]) -> None:
        self.name = name
        self.kind = kind
        self.is_step = is_step
        self.inputs = inputs
        self.versions = []
        self.key = None
        self.error = sys.exception()


class StoryRecorder:
    """Implements `vtgrad.graph.observer.Observer`; see Note [Steps of a story].

    Attributes
    ----------
    needs_inputs : bool
        True.
    steps : list of RecordedStep
        The steps; when there are more than `limit`, those in the middle become one.
    left_out : int
        The number of steps that are not there.
    world : World
        What was seen.
    told : BaseException or None
        The last error that a step tells of.
    """

    def __init__(self, limit: int) -> None:
        self.needs_inputs = True
        self.steps: list[RecordedStep] = []
        self.left_out = 0
        self.world = World()
        self.told: int = 0
        self._limit = limit
        self._open: list[_Open] = []
        self._count = 0
        self._state: Records = {"storages": {}, "tensors": {}, "saved": {}, "nodes": {}}

    # -- the observer ----------------------------------------------------------------------

    def runs(self, operator: str) -> bool:
        """See `Observer.runs`."""
        return bool(self._open) and self._open[-1].name == operator

    def begin(
        self,
        name: str,
        scope: int,
        sequence_nr: int,
        forward_thread: int,
        inputs: Sequence[object],
        node: Node | type[Node] | None = None,
    ) -> object:
        """Look at the state before a call; see `Observer.begin`."""
        is_step = all([opened.kind not in ("operator", "node") for opened in self._open])
        kind = "operator" if node is None else "function"
        if scope == BACKWARD_FUNCTION:
            kind = "node"
            # A user's backward calls operators as the program does.
            if is_step or self._open[-1].kind == "node":
                is_step = True
        elif scope == USER_SCOPE:
            kind = "block"
        elif name.startswith(_ENGINE):
            kind = "engine"
        opened = _Open(name, kind, is_step and kind not in ("block", "engine"), inputs)
        if opened.is_step:
            self._before(opened, node)
            if kind == "node" and isinstance(node, Node) and node.runs_users_code():
                opened.kind = "function node"
        self._open.append(opened)
        return opened

    def end(self, event: object, outputs: Sequence[object] = ()) -> None:
        """Look at the state after a call; see `Observer.end`."""
        if not isinstance(event, _Open) or event not in self._open:
            return
        while self._open.pop() is not event:
            continue
        if event.is_step:
            error = sys.exception()
            self._after(event, outputs, None if error is event.error else error)

    def forget(self, event: object) -> None:
        """See `Observer.forget`."""
        if isinstance(event, _Open) and event in self._open:
            while self._open.pop() is not event:
                continue

    # -- steps -----------------------------------------------------------------------------

    def start(self, arguments: Sequence[object], names: Sequence[str]) -> None:
        """The first step: the arguments."""
        seen: list[str] = []
        for number, value in enumerate(arguments):
            for tensor in _tensors((value,)):
                key = self.world.see(tensor)
                if isinstance(value, TensorBase) and number < len(names):
                    self.world.name(key, names[number])
                if key not in seen:
                    seen.append(key)
        text = f"the program begins with {_listed(seen)}" if seen else "the program begins"
        self._emit("start", text, None, self.world.records())

    def finish(self, error: BaseException | None) -> None:
        """The last step: what is different at the end, and the error."""
        self._open.clear()
        self._settle(None)
        if error is not None and id(error) != self.told:
            kind = "refusal" if isinstance(error, VtgradError) else "error"
            self._emit(kind, sentence_of_error(error), place_of_error(error), self._state)

    def _before(self, opened: _Open, node: Node | type[Node] | None) -> None:
        world = self.world
        given = list(_tensors(opened.inputs))
        opened.versions = [(tensor, _version(tensor)) for tensor in given]
        for tensor in given:
            world.see(tensor)
        if opened.kind == "node" and isinstance(node, Node):
            opened.key = world.key_of_node(node)
        self._settle(caller(0) and self._place())
        if opened.key is not None:
            world.set_node_state(opened.key, "running")
            text = self._node_text(opened, node)
            self._emit("backward", text, self._place(), world.records())
        elif opened.kind == "function":
            text = f"{opened.name}.apply({_arguments(opened.inputs, world)}) calls its forward"
            self._emit("operator", text, self._place(), world.records())

    def _settle(self, place: CallSite | None) -> None:
        """Take over what has changed since the last step by no operator.

        Names become known, temporaries die, and tensors are seen for the first time: this belongs to
        the step before. All else is a step.
        """
        self._take_names()
        before, after = self._state, self.world.records()
        changes = changes_between(before, after)
        if not changes:
            return
        if self._rebuilds(before, after, place):
            changes = changes_between(self._state, after)
        filled = [
            key
            for key, record in after["tensors"].items()
            if key in before["tensors"]
            and record["grad"] is not None
            and record["grad"] != before["tensors"][key]["grad"]
        ]
        written = [
            key
            for key, record in after["storages"].items()
            if key in before["storages"]
            and (record["values"], record["version"])
            != (before["storages"][key]["values"], before["storages"][key]["version"])
        ]
        if filled:
            self._emit("grad", f"{_grads(filled)} stored", place, after)
        elif written:
            names = ", ".join([_named(key) for key in written])
            self._emit("write", f"the memory of {names} changed by no operator", place, after)
        elif self.steps:
            last = self.steps[-1]
            last.changes = merged(last.changes, changes)
            self._state = after

    def _rebuilds(self, before: Records, after: Records, place: CallSite | None) -> bool:
        """A step for each stale ``grad_fn`` that was rebuilt; returns whether there was one."""
        found = False
        for key, record in after["tensors"].items():
            old = before["tensors"].get(key)
            if old is None or not old["stale"] or record["stale"] or not record["grad_fn"]:
                continue
            if old["version"] != record["version"]:
                continue
            found = True
            state = self._state
            nodes = {**state["nodes"], **_reached(record["grad_fn"], after, state)}
            part: Records = {
                "storages": state["storages"],
                "tensors": {**state["tensors"], key: record},
                "saved": state["saved"],
                "nodes": nodes,
            }
            made = after["nodes"].get(record["grad_fn"])
            name = "" if made is None else f" as {made['name']}"
            text = f"grad_fn of {_named(key)} was stale and is rebuilt{name}"
            self._emit("rebuild", text, place, part)
        return found

    def _after(
        self, opened: _Open, outputs: Sequence[object], error: BaseException | None
    ) -> None:
        world = self.world
        place = self._place()
        results = list(_tensors(outputs))
        if opened.key is not None:
            world.set_node_state(opened.key, "recorded" if error is not None else "ran")
            if error is None and self.steps:
                # The end of a node's turn is no step.
                self._settle(place)
            return
        name = opened.name.rpartition("::")[2]
        if opened.name == _FILL:
            self._fill(place)
            return
        if opened.name == _REFUSED:
            self._refuse(opened, place)
            return
        if error is not None:
            self._settle(place)
            kind = "refusal" if isinstance(error, VtgradError) else "error"
            text = f"{name}({_arguments(opened.inputs, world)}) raises {sentence_of_error(error)}"
            if id(error) != self.told:
                self._emit(kind, text, place, self._state)
                self.told = id(error)
            return
        given = {id(tensor) for tensor, _ in opened.versions}
        if not opened.versions and not results:
            # A part of the engine's work, on arrays.
            return
        made = [tensor for tensor in results if id(tensor) not in given]
        keys = [world.see(tensor, name) for tensor in made]
        self._name_results(made)
        writes = [
            (tensor, version)
            for tensor, version in opened.versions
            if _version(tensor) != version
        ]
        before, after = self._state, world.records()
        self._rebuilds(before, after, place)
        roots = {id(memory_of(physical(t._impl.array))) for t, _ in opened.versions}
        is_view = bool(made) and all(
            [id(memory_of(physical(t._impl.array))) in roots for t in made]
        )
        called = f"{name}({_arguments(opened.inputs, world)})"
        if opened.kind == "function":
            called = f"{name}.apply"
        if writes:
            self._write(called, opened, writes, after, place)
            return
        if not made:
            text = f"{called} changes no memory"
        elif is_view:
            text = f"{called} makes {_listed(keys)}, {_view_of(keys, after)}"
        else:
            text = f"{called} makes {_described(keys, made)}"
        self._with_saves("view" if is_view else "operator", text, place, after, None)

    def _write(
        self,
        called: str,
        opened: _Open,
        writes: Sequence[tuple[TensorBase, int]],
        after: Records,
        place: CallSite | None,
    ) -> None:
        """The step of an operator that wrote."""
        found: dict[str, WrittenElements] = {}
        parts: list[str] = []
        for tensor, version in writes:
            key, record = self.world.find(tensor), None
            record = None if key is None else after["tensors"].get(key)
            if key is None or record is None or record["storage"] in found:
                continue
            storage = after["storages"][record["storage"]]
            elements = _written(opened, tensor, version, record["storage"], storage["elements"])
            found[record["storage"]] = {"storage": record["storage"], "runs": elements.runs}
            count = elements.count
            through = "" if record["base"] is None else f" through {_named(key)}"
            parts.append(
                f"{count} element{'' if count == 1 else 's'} of {storage['name']}{through} "
                f"(version {version} to {storage['version']})"
            )
        text = f"{called} writes {' and '.join(parts)}" if parts else f"{called} writes"
        text += self._consequences(after)
        write = next(iter(found.values()), None)
        self._with_saves("write", text, place, after, write)

    def _consequences(self, after: Records) -> str:
        """What became stale, in words."""
        before = self._state
        stale = [
            _named(key)
            for key, record in after["tensors"].items()
            if record["stale"] and key in before["tensors"] and not before["tensors"][key]["stale"]
        ]
        text = f"; grad_fn of {', '.join(stale)} is stale now" if stale else ""
        for key, saved in after["saved"].items():
            old = before["saved"].get(key)
            if old is None or old["state"] == saved["state"]:
                continue
            node = after["nodes"][saved["node"]]["name"]
            if saved["state"] == "kept":
                text += f"; rewind keeps what {node} saved as {saved['label']}"
            else:
                text += f"; this overwrites what {node} saved as {saved['label']}"
        return text

    def _with_saves(
        self,
        kind: str,
        text: str,
        place: CallSite | None,
        after: Records,
        write: WrittenElements | None,
    ) -> None:
        """The step of an operator, and a step for each node that saved values."""
        new: dict[str, list[str]] = {}
        for key, saved in after["saved"].items():
            if key not in self._state["saved"]:
                new.setdefault(saved["node"], []).append(key)
        held = {key for keys in new.values() for key in keys}
        others = {key: saved for key, saved in after["saved"].items() if key not in held}
        marks = {
            key: {**record, "marked": self._state["storages"][key]["marked"]}
            if held and write is None and key in self._state["storages"]
            else record
            for key, record in after["storages"].items()
        }
        if not held:
            self._emit(kind, text, place, after, write)
            return
        first: Records = {**after, "saved": others, "storages": marks}  # type: ignore[typeddict-item]
        self._emit(kind, text, place, first, write)
        for node, keys in new.items():
            others = {**others, **{key: after["saved"][key] for key in keys}}
            state: Records = {**after, "saved": others}
            self._emit("save", _saves(node, keys, after), place, state)
        self._state = after

    def _fill(self, place: CallSite | None) -> None:
        """The step in which gradients are stored."""
        self._take_names()
        before, after = self._state, self.world.records()
        stored, added = [], []
        write: WrittenElements | None = None
        for key, record in after["tensors"].items():
            old, grad = before["tensors"].get(key), record["grad"]
            if grad is None:
                continue
            if old is None or old["grad"] != grad:
                stored.append(key)
            elif grad in before["tensors"] and before["tensors"][grad] != after["tensors"][grad]:
                added.append(key)
                part = after["tensors"][grad]
                write = write or {"storage": part["storage"], "runs": part["runs"]}
        parts = [f"{_grads(stored)} stored"] if stored else []
        parts += [f"the gradients are added to {_list_of_grads(added)}"] if added else []
        if parts:
            self._emit("grad", "; ".join(parts), place, after, write)

    def _refuse(self, opened: _Open, place: CallSite | None) -> None:
        error = next((x for x in opened.inputs if isinstance(x, BaseException)), None)
        self._settle(place)
        if error is not None:
            text = f"backward is refused before any node runs: {sentence_of_error(error)}"
            self._emit("refusal", text, place, self._state)
            self.told = id(error)

    def _node_text(self, opened: _Open, node: Node | type[Node] | None) -> str:
        name = opened.name.rpartition("::")[2]
        arrays = [x for x in opened.inputs if isinstance(x, (TensorBase, np.ndarray))]
        shown = ", ".join([_gradient(x) for x in arrays])
        with_gradient = f" with the gradient {shown}" if shown else ""
        if isinstance(node, Node) and node.is_leaf_node:
            key = opened.key
            record = None if key is None else self.world.records()["nodes"].get(key)
            leaf = None if record is None else record["tensor"]
            if leaf is not None:
                return f"the gradient of {_named(leaf)} is complete{': ' + shown if shown else ''}"
        return f"{name} runs{with_gradient}"

    def _emit(
        self,
        kind: str,
        text: str,
        place: CallSite | None,
        after: Records,
        write: WrittenElements | None = None,
    ) -> None:
        """Add a step."""
        number = self._count
        for key, saved in after["saved"].items():
            old = self._state["saved"].get(key)
            if saved["state"] != "intact" and saved["write"] is None:
                if old is None or old["state"] == "intact":
                    self.world.overwritten(key, number)
                    saved["write"] = number
        changes = changes_between(self._state, after)
        self.steps.append(RecordedStep(number, kind, text, place, changes, write))
        self._count += 1
        self._state = after
        if len(self.steps) > self._limit:
            self._leave_out()

    def _leave_out(self) -> None:
        """Merge the step in the middle into the one behind it."""
        middle = max(self._limit // 2, 1)
        gone, behind = self.steps[middle], self.steps[middle + 1]
        behind.changes = merged(gone.changes, behind.changes)
        del self.steps[middle]
        self.left_out += 1

    # -- names and lines -------------------------------------------------------------------

    def _take_names(self) -> None:
        frames = users_frames()
        for name, tensor in names_in_frames(frames):
            key = self.world.find(tensor)
            if key is not None:
                self.world.name(key, name)

    def _name_results(self, made: Sequence[TensorBase]) -> None:
        """Name the result of a call by the variable that it is about to be stored in."""
        if len(made) != 1:
            return
        frames = users_frames()
        name = name_stored_next(frames[0]) if frames else None
        key = self.world.find(made[0])
        if name is not None and key is not None:
            self.world.name(key, name)

    def _place(self) -> CallSite | None:
        return CallSite.of(caller(0))


def sentence_of_error(error: BaseException) -> str:
    """The name of an error and the first sentence of its text."""
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def place_of_error(error: BaseException) -> CallSite | None:
    """The innermost line of the program that an error came through."""
    from vtgrad.storage.record_write import is_inside

    found: CallSite | None = None
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_inside(code):
            found = CallSite(code.co_filename, traceback.tb_lineno, code.co_qualname)
        traceback = traceback.tb_next
    return found


def _written(
    opened: _Open, tensor: TensorBase, version: int, storage: str, elements: int
) -> Elements:
    """The elements that an operator wrote: what it marked, else by its index, else all it shows."""
    array = physical(tensor._impl.array)
    root = memory_of(array)
    start, item = root.__array_interface__["data"][0], root.itemsize
    counter = tensor._impl.version_counter
    log = None if counter is None else counter.log
    if counter is not None and log is not None and log is not SAVED:
        entries = [entry for entry in log.recent if entry is not None and entry[0] > version]
        if len(entries) == counter.value - version == 1:
            return elements_of_region(entries[0][1:], item)
    part: Array = array
    if opened.name == _SETITEM and len(opened.inputs) > 1:
        return _by_index(array, opened.inputs[1], start, item, elements)
    from vtgrad.viz.story_elements import elements_of_array

    return elements_of_array(part, start, item)


def _by_index(array: Array, index: object, start: int, item: int, elements: int) -> Elements:
    """The elements of ``x[index] = value``."""
    from vtgrad.viz.story_elements import elements_of_array

    offset = (array.__array_interface__["data"][0] - start) // item
    places = np.lib.stride_tricks.as_strided(
        np.arange(elements)[offset:], array.shape, [s // item * 8 for s in array.strides]
    )
    try:
        found = places[_plain(index)]
    except (IndexError, TypeError, ValueError):
        return elements_of_array(array, start, item)
    mask = np.zeros(elements, np.bool_)
    mask[found] = True
    return elements_of_mask(mask)


def _plain(index: object) -> object:
    """An index as NumPy takes it."""
    if isinstance(index, tuple):
        return tuple([_plain(part) for part in index])
    return physical(index._impl.array) if isinstance(index, TensorBase) else index


def _tensors(values: Sequence[object]) -> Iterator[TensorBase]:
    """The tensors among values, and in lists and tuples of them."""
    for value in values:
        if isinstance(value, TensorBase):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _version(tensor: TensorBase) -> int:
    counter: VersionCounter | None = tensor._impl.version_counter
    return 0 if counter is None else counter.value


def _arguments(values: Sequence[object], world: World) -> str:
    return ", ".join([_argument(value, world) for value in values])


def _argument(value: object, world: World) -> str:
    if isinstance(value, TensorBase):
        return _named(world.see(value))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join([_argument(part, world) for part in value])}]"
    if isinstance(value, slice):
        ends = [value.start, value.stop, value.step][: 2 if value.step is None else 3]
        return ":".join(["" if end is None else str(end) for end in ends])
    if value is ...:
        return "..."
    if isinstance(value, (bool, int, float, complex, str, type(None))):
        text = repr(value)
        return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
    return type(value).__name__


def _gradient(value: TensorBase | Array) -> str:
    array: Array = value._impl.array if isinstance(value, TensorBase) else value
    if array.size <= _FEW:
        return np.array2string(physical(array), precision=4, separator=", ").replace("\n", "")
    return f"of shape {list(array.shape)}"


def _named(key: str) -> str:
    return f"\0{key}\0"


def _listed(keys: Sequence[str]) -> str:
    return ", ".join([_named(key) for key in keys])


def _described(keys: Sequence[str], tensors: Sequence[TensorBase]) -> str:
    return ", ".join(
        [
            f"{_named(key)}, {tensor.dtype.name} {list(tensor._impl.array.shape)}"
            for key, tensor in zip(keys, tensors, strict=True)
        ]
    )


def _view_of(keys: Sequence[str], after: Records) -> str:
    record = after["tensors"].get(keys[0])
    if record is None:
        return "a view"
    storage = after["storages"][record["storage"]]["name"]
    count = sum(len(range(*run)) for run in record["runs"])
    what = "a view" if len(keys) == 1 else "views"
    if len(keys) > 1:
        return f"{what} of {storage}"
    return f"{what} of {count} element{'' if count == 1 else 's'} of {storage}"


def _saves(node: str, keys: Sequence[str], after: Records) -> str:
    parts = []
    for key in keys:
        saved = after["saved"][key]
        storage = None if saved["storage"] is None else after["storages"].get(saved["storage"])
        if storage is None:
            parts.append(f"{saved['label']}, which hooks have packed")
        else:
            count = sum(len(range(*run)) for run in saved["runs"])
            parts.append(
                f"{saved['label']} ({count} element{'' if count == 1 else 's'} of "
                f"{storage['name']} at version {saved['version']})"
            )
    return f"{after['nodes'][node]['name']} saves {' and '.join(parts)}"


def _list_of_grads(keys: Sequence[str]) -> str:
    return ", ".join([f"{_named(key)}.grad" for key in keys])


def _grads(keys: Sequence[str]) -> str:
    return f"{_list_of_grads(keys)} {'is' if len(keys) == 1 else 'are'}"


def _reached(node: str, after: Records, known: Records) -> dict[str, object]:
    """The new nodes that a node leads to."""
    found: dict[str, object] = {}
    waiting = [node]
    while waiting:
        key = waiting.pop()
        record = after["nodes"].get(key)
        if record is None or key in found or key in known["nodes"]:
            continue
        found[key] = record
        waiting += [str(edge[0]) for edge in record["next"] if edge is not None]
        if record["inner"] is not None:
            waiting.append(record["inner"])
    return found
