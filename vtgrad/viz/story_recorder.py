"""The observer that makes the steps of a story.

Note [Steps of a story]

The recorder is the observer of its thread, as a profile is: see Note [Observers]. When the program
calls an operator, the recorder looks at all that the story has seen, before and after the call.
What is different is what the operator did. A change that is found before a call was made by no
operator: a ``grad_fn`` that was read, a write by NumPy, or gradients of a recorded pass. Operators
that an operator calls in its turn are no steps; those of custom Functions and hooks are, because
the program calls them. The engine calls operators too while a user's node runs: their place is that
of the node.

Which elements an operator writes is stated to the log of the counter, if it has one. So the
recorder gives a log to the counters of what an operator may write. A log only adds to what is
known, and decides nothing about values that are saved later: see Note [Exact staleness].
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
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.recent_writes import CallSite
from vtgrad.storage.record_write import caller, is_inside
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.version_counter import Site
from vtgrad.viz.story_names import name_stored_next, names_in_frames, users_frames
from vtgrad.viz.story_records import (
    Changes,
    NodeRecord,
    SavedRecord,
    StoryRecords,
    StoryWrite,
    changes_between,
    keys_of,
    merged,
    no_records,
    with_former,
    without_unknown,
)
from vtgrad.viz.story_words import (
    argument,
    gradient,
    named,
    result,
    saves,
    sentence_of_error,
    view_of,
)
from vtgrad.viz.story_world import World, array_of
from vtgrad.viz.story_writes import (
    expect_write,
    gradients_stored,
    version_of,
    without_call,
    write_of,
)

__all__ = ["RecordedStep", "StoryRecorder"]

# Kinds of calls that have not ended.
_OPERATOR, _FUNCTION, _NODE, _USERS_NODE, _AROUND = (
    "operator",
    "function",
    "node",
    "user's node",
    "around",
)
# The engine's event around the turn of a node, and its work at the end of a pass.
_ENGINE: Final = "autograd::engine::"
_FILL: Final = "vtgrad::fill_grads"
_REFUSED: Final = "vtgrad::refused_backward"
_SETITEM: Final = "vtgrad::setitem"
# Operators whose result is called as a part of the viewed tensor.
_SELECT: Final = "aten::select"
_PARTS: Final = (_SELECT, "aten::slice", "vtgrad::getitem")
# How deep in lists arguments are looked for: a list may contain itself.
_NESTED: Final = 8


class RecordedStep:
    """A step, as it is recorded.

    Attributes
    ----------
    number : int
        Its number among all steps, also those that are left out.
    kind, text : str
        As in `StoryStep`; the text has keys in place of names.
    place : CallSite or None
        The user's line.
    changes : Changes
        What is different after it.
    writes : list of StoryWrite
        What it writes.
    """

    __slots__ = ("changes", "kind", "number", "place", "text", "writes")

    number: int
    kind: str
    text: str
    place: CallSite | None
    changes: Changes
    writes: list[StoryWrite]

    def __init__(
        self,
        number: int,
        kind: str,
        text: str,
        place: CallSite | None,
        changes: Changes,
        writes: list[StoryWrite],
    ) -> None:
        self.number = number
        self.kind = kind
        self.text = text
        self.place = place
        self.changes = changes
        self.writes = writes


class _Open:
    """A call that has not ended.

    Attributes
    ----------
    name, kind : str
        The event and its kind.
    is_step : bool
        Whether the program has called it, not an operator.
    inputs : sequence of object
        The arguments.
    given : list of tuple
        The tensors among them, with their versions before the call.
    keys : dict of int to str
        The keys of these tensors, by their `id`.
    node : str or None
        The key of the node that runs.
    handled : BaseException or None
        The exception that the program was handling already.
    site : Site or None
        The instruction of the program that called it.
    """

    __slots__ = ("given", "handled", "inputs", "is_step", "keys", "kind", "name", "node", "site")

    def __init__(self, name: str, kind: str, is_step: bool, inputs: Sequence[object]) -> None:
        self.name = name
        self.kind = kind
        self.is_step = is_step
        self.inputs = inputs
        self.given: list[tuple[TensorBase, int]] = []
        self.keys: dict[int, str] = {}
        self.node: str | None = None
        self.handled: BaseException | None = sys.exception()
        self.site: Site | None = caller(0)

    def called(self) -> str:
        """The call as text: ``x[1]``, ``x[1] = y`` or ``name(x, y)``."""
        inputs = self.inputs
        if self.given and self.name in _PARTS and len(inputs) == 2:
            return self._part(inputs[1])
        if self.given and self.name == _SELECT and len(inputs) == 3 and inputs[1] == 0:
            # As a loop over a tensor calls it.
            return self._part(inputs[2])
        if self.given and self.name == _SETITEM and len(inputs) == 3:
            return f"{self._part(inputs[1])} = {argument(inputs[2], self.keys)}"
        if not self.given:
            # Of what makes tensors, `requires_grad` is no part of their names.
            inputs = [value for value in inputs if not isinstance(value, bool)]
        name = self.name.rpartition("::")[2]
        arguments = ", ".join([argument(value, self.keys) for value in inputs])
        return f"{name}{'.apply' if self.kind == _FUNCTION else ''}({arguments})"

    def _part(self, index: object) -> str:
        tensor = self.inputs[0]
        parts = index if isinstance(index, tuple) else (index,)
        inside = ", ".join([argument(part, self.keys) for part in parts])
        return f"{argument(tensor, self.keys)}[{inside}]"


class StoryRecorder:
    """Implements `vtgrad.graph.observer.Observer`; see Note [Steps of a story].

    Attributes
    ----------
    needs_inputs : bool
        True.
    steps : list of RecordedStep
        The steps; when there are more than the limit, those in the middle become one.
    left_out : int
        The number of steps that are not there.
    world : World
        What was seen.
    """

    __slots__ = (
        "_count",
        "_early",
        "_limit",
        "_open",
        "_place",
        "_state",
        "_told",
        "left_out",
        "needs_inputs",
        "steps",
        "world",
    )

    needs_inputs: bool
    steps: list[RecordedStep]
    left_out: int
    world: World
    _limit: int
    _open: list[_Open]
    _count: int
    _state: StoryRecords
    # The keys that the steps before those left out have shown.
    _early: frozenset[str]
    # The line of the last call.
    _place: CallSite | None
    # The `id` of the error that the last step tells of, and its sentence: an error that comes later
    # may have the same `id`, as no reference keeps the first one alive.
    _told: tuple[int, str]

    def __init__(self, limit: int) -> None:
        self.needs_inputs = True
        self.steps = []
        self.left_out = 0
        self.world = World()
        self._limit = limit
        self._open = []
        self._count = 0
        self._early = frozenset()
        self._state = no_records()
        self._place = None
        self._told = 0, ""

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
        kind = _OPERATOR if node is None else _FUNCTION
        if scope == BACKWARD_FUNCTION:
            users = isinstance(node, Node) and node.runs_users_code()
            kind = _USERS_NODE if users else _NODE
        elif scope == USER_SCOPE or name.startswith(_ENGINE):
            kind = _AROUND
        inside = [opened.kind for opened in self._open]
        # The node of a write through a view runs the operator's node in its turn.
        is_step = _OPERATOR not in inside and (kind == _NODE or _NODE not in inside)
        opened = _Open(name, kind, is_step and kind != _AROUND, inputs)
        outer = self._open[-1] if self._open else None
        if outer is not None and outer.kind == _USERS_NODE and opened.site == outer.site:
            # What the engine does for the user's code is no step; the node of a custom Function
            # inside of a write's node is.
            opened.is_step = kind == _USERS_NODE
        if opened.is_step:
            self._told = 0, ""
            self._before(opened, node)
        self._open.append(opened)
        return opened

    def end(self, event: object, outputs: Sequence[object] = ()) -> None:
        """Look at the state after a call; see `Observer.end`."""
        if not isinstance(event, _Open) or event not in self._open:
            return
        while self._open[-1] is not event:
            # An error has left the function of a node.
            self._end(self._open.pop(), ())
        self._end(self._open.pop(), outputs)

    def _end(self, event: _Open, outputs: Sequence[object]) -> None:
        if event.is_step:
            self._look_up(event)
            error = sys.exception()
            if error is None or error is event.handled:
                self._after(event, outputs)
            else:
                self._after_error(event, error)

    def forget(self, event: object) -> None:
        """See `Observer.forget`."""
        if isinstance(event, _Open) and event in self._open:
            while self._open.pop() is not event:
                continue

    # -- the whole -------------------------------------------------------------------------

    def start(self, arguments: Sequence[object], names: Sequence[str]) -> None:
        """The first step: the arguments.

        Parameters
        ----------
        arguments : sequence of object
            What the program is called with.
        names : sequence of str
            The names of its first parameters.
        """
        seen: dict[str, None] = {}
        for number, value in enumerate(arguments):
            for tensor in _tensors((value,)):
                key = self.world.see(tensor)
                if tensor is value and number < len(names):
                    self.world.name(key, names[number])
                seen[key] = None
        what = f" with {', '.join(map(named, seen))}" if seen else ""
        self._emit("start", f"the program begins{what}", self.world.records())

    def finish(self, error: BaseException | None) -> None:
        """The last steps: what is different at the end, and the error that ended the program.

        Parameters
        ----------
        error : BaseException or None
            The error.
        """
        self._open.clear()
        if not self.steps:
            # The story was not begun, as this thread was observed already.
            return
        self._settle()
        if error is not None:
            place = _place_of_error(error)
            if place is not None:
                self._place = place
            self._tell(error)

    # -- before a call ---------------------------------------------------------------------

    def _before(self, opened: _Open, node: Node | type[Node] | None) -> None:
        world = self.world
        for tensor in _tensors(opened.inputs):
            opened.given.append((tensor, version_of(tensor)))
            opened.keys[id(tensor)] = world.see(tensor)
            if opened.name.endswith("_") or opened.name == _SETITEM:
                expect_write(tensor)
        self._take_names()
        upcoming = CallSite.of(opened.site)
        if isinstance(node, Node):
            opened.node = world.key_of_node(node)
            world.set_node_state(opened.node, "running")
            after = world.records()
            self._by_no_operator(after, upcoming)
            self._look_up(opened)
            self._emit("backward", self._of_node(opened, node), after)
            return
        self._settle(upcoming)
        self._look_up(opened)
        if opened.kind == _FUNCTION:
            self._emit("operator", f"{opened.called()} calls its forward", self._state)

    def _look_up(self, opened: _Open) -> None:
        """The line of a call; in a pass on another thread, the line before is still running."""
        place = CallSite.of(opened.site)
        if place is not None:
            self._place = place

    def _of_node(self, opened: _Open, node: Node) -> str:
        """What a node gets."""
        arrived = [x for x in opened.inputs if isinstance(x, (TensorBase, np.ndarray))]
        shown = " and ".join([gradient(x) for x in arrived])
        if node.is_leaf_node:
            leaf = self.world.leaf_of(node)
            if leaf is not None:
                return f"the gradient of {named(leaf)} is complete{': ' if shown else ''}{shown}"
        made_at = self.world.made_at.get(opened.node or "")
        text = opened.name.rpartition("::")[2] + " runs"
        if made_at is not None:
            text += f", which line {made_at.lineno} recorded"
        return f"{text}; its gradient is {shown}" if shown else text

    def _settle(self, upcoming: CallSite | None = None) -> None:
        """Take over what has changed since the last step by no operator.

        Tensors that are seen for the first time were there before: they belong to the last step.
        What has died since is still shown by it, and gone in the next one. All else is a step.

        Parameters
        ----------
        upcoming : CallSite or None
            The line that calls next.
        """
        self._take_names()
        after = self.world.records()
        if not self._by_no_operator(after, upcoming):
            shown = with_former(self._state, after)
            last = self.steps[-1]
            last.changes = merged(last.changes, changes_between(self._state, shown))
            self._state = shown

    def _by_no_operator(self, after: StoryRecords, upcoming: CallSite | None) -> bool:
        """The steps of what no operator has done; whether one of them has taken all over.

        The parameter is as in `_settle`.
        """
        before = self._state
        between = _between(self._place, upcoming)
        self._rebuilds(after, between)
        found = without_call(before, after, between)
        if found is not None:
            self._emit(*found, after)
        return found is not None

    # -- after a call ----------------------------------------------------------------------

    def _after(self, opened: _Open, outputs: Sequence[object]) -> None:
        world = self.world
        if opened.node is not None:
            # The end of a node's turn is no step: the next one shows it.
            world.set_node_state(opened.node, "ran")
        elif opened.name == _FILL:
            self._take_names()
            after = self.world.records()
            told = gradients_stored(self._state, after)
            if told.text:
                self._emit("grad", told.text, after, told.writes)
        elif opened.name == _REFUSED:
            self._settle()
            for error in opened.inputs:
                if isinstance(error, BaseException):
                    self._tell(error, "backward is refused before any node runs: ")
        else:
            self._after_operator(opened, outputs)

    def _after_error(self, opened: _Open, error: BaseException) -> None:
        """A step for an error, unless an inner call has told of it."""
        if opened.node is not None:
            self.world.set_node_state(opened.node, "recorded")
        self._settle()
        what = opened.name.rpartition("::")[2] if opened.node is not None else opened.called()
        self._tell(error, f"{what} raises ")

    def _tell(self, error: BaseException, begin: str = "") -> None:
        sentence = sentence_of_error(error)
        told = id(error), sentence
        if self._told == told and self.steps[-1].kind in ("refusal", "error"):
            return
        kind = "refusal" if isinstance(error, VtgradError) else "error"
        self._emit(kind, begin + sentence, self._state)
        self._told = told

    def _after_operator(self, opened: _Open, outputs: Sequence[object]) -> None:
        results = list(_tensors(outputs))
        if not opened.given and not results:
            # A part of the engine's work, on arrays.
            return
        world = self.world
        made = [tensor for tensor in results if id(tensor) not in opened.keys]
        call = opened.called()
        keys = [world.see(tensor, call) for tensor in made]
        self._name_results(keys)
        written = [(x, version) for x, version in opened.given if version_of(x) != version]
        after = world.records()
        self._rebuilds(after)
        if opened.kind == _FUNCTION:
            call = call.partition("(")[0]
        if written:
            told = write_of(written, opened.keys, self._state, after, self.world)
            self._with_saves("write", f"{call} {told.text}", after, told.writes)
            return
        memories = {id(_memory(tensor)) for tensor, _ in opened.given}
        views = [id(_memory(tensor)) in memories for tensor in made]
        if not made:
            self._with_saves("operator", f"{call} changes no memory", after, [])
        elif all(views):
            text = f"{call} makes {', '.join(map(result, keys))}, {view_of(keys, after)}"
            self._with_saves("view", text, after, [])
        else:
            kinds = [f"{x.dtype.name} {list(x._impl.sizes)}" for x in made]
            parts = [f"{result(key)}, {kind}" for key, kind in zip(keys, kinds, strict=True)]
            self._with_saves("operator", f"{call} makes {' and '.join(parts)}", after, [])

    def _with_saves(
        self, kind: str, text: str, after: StoryRecords, writes: list[StoryWrite]
    ) -> None:
        """The step of an operator, and one for each node that has saved values."""
        before = self._state
        new: dict[str, list[str]] = {}
        for key, saved in after["saved"].items():
            if key not in before["saved"]:
                new.setdefault(saved["node"], []).append(key)
                # As in `x.mul_(x)`.
                self._blame(key, saved, self._count)
        there: dict[str, SavedRecord] = {
            key: saved for key, saved in after["saved"].items() if key in before["saved"]
        }
        self._note_lines(before, after)
        self._emit(kind, text, {**after, "saved": there}, writes)
        for node, keys in new.items():
            there = {**there, **{key: after["saved"][key] for key in keys}}
            self._emit("save", saves(node, keys, after), {**after, "saved": there})

    def _note_lines(self, before: StoryRecords, after: StoryRecords) -> None:
        """Remember the line that made the nodes that are new."""
        if self._place is not None:
            for key in after["nodes"]:
                if key not in before["nodes"]:
                    self.world.made_at.setdefault(key, self._place)

    def _rebuilds(self, after: StoryRecords, between: str = "") -> None:
        """A step for each stale ``grad_fn`` that was rebuilt because it was read."""
        before = self._state
        for key, record in after["tensors"].items():
            old, node = before["tensors"].get(key), record["grad_fn"]
            if old is None or not old["stale"] or record["stale"] or node is None:
                continue
            if old["version"] != record["version"]:
                # It was written itself.
                continue
            state = self._state
            part: StoryRecords = {
                **state,
                "tensors": {**state["tensors"], key: record},
                "nodes": {**state["nodes"], **_new_nodes(node, after, state)},
            }
            made = after["nodes"].get(node)
            self._note_lines(state, part)
            text = f"the grad_fn of {named(key)} was stale: it is rebuilt"
            text = text if made is None else f"{text} as {made['name']}"
            self._emit("rebuild", text + between, part)

    def _emit(
        self, kind: str, text: str, after: StoryRecords, writes: Sequence[StoryWrite] = ()
    ) -> None:
        """Add a step."""
        number = self._count
        for key, saved in after["saved"].items():
            old = self._state["saved"].get(key)
            if old is None or old["state"] == "intact":
                self._blame(key, saved, number)
        changes = changes_between(self._state, after)
        self.steps.append(RecordedStep(number, kind, text, self._place, changes, list(writes)))
        self._count += 1
        self._state = after
        if len(self.steps) > self._limit:
            # The step in the middle becomes a part of the one behind it.
            middle = self._limit // 2
            first, second = self.steps[middle], self.steps[middle + 1]
            second.changes = without_unknown(
                merged(first.changes, second.changes), self._known_before(middle)
            )
            del self.steps[middle]
            self.left_out += 1

    def _known_before(self, step: int) -> frozenset[str]:
        """The keys that the steps before one have shown; they are as they are from then on."""
        if not self._early:
            self._early = frozenset(
                [key for early in self.steps[:step] for key in keys_of(early.changes.set)]
            )
        return self._early

    def _blame(self, key: str, saved: SavedRecord, number: int) -> None:
        """State the step that overwrote a saved value."""
        if saved["state"] != "intact" and saved["write"] is None:
            self.world.overwritten(key, number)
            saved["write"] = number

    # -- names -----------------------------------------------------------------------------

    def _take_names(self) -> None:
        """The names of variables that hold tensors now."""
        for name, tensor in names_in_frames(users_frames()):
            key = self.world.find(tensor)
            if key is not None:
                self.world.name(key, name)

    def _name_results(self, keys: Sequence[str]) -> None:
        """Name the result of a call by the variable that it is about to be stored in."""
        if len(keys) == 1:
            name = name_stored_next()
            if name is not None:
                self.world.name(keys[0], name)


def _place_of_error(error: BaseException) -> CallSite | None:
    """The innermost line of the program that an error came through."""
    found: CallSite | None = None
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_inside(code):
            found = CallSite(code.co_filename, traceback.tb_lineno, code.co_qualname)
        traceback = traceback.tb_next
    return found


def _between(last: CallSite | None, upcoming: CallSite | None) -> str:
    """The lines between which something happened; the line itself is not known."""
    if last is None or upcoming is None or last.filename != upcoming.filename:
        return ""
    first, second = last.lineno, upcoming.lineno
    return f" between lines {first} and {second}" if first < second else ""


def _memory(tensor: TensorBase) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    return memory_of(physical(array_of(tensor)))


def _tensors(values: Sequence[object], depth: int = 0) -> Iterator[TensorBase]:
    """The tensors among values, and in lists and tuples of them."""
    for value in values:
        if isinstance(value, TensorBase):
            yield value
        elif isinstance(value, (list, tuple)) and depth < _NESTED:
            yield from _tensors(value, depth + 1)


def _new_nodes(node: str, after: StoryRecords, known: StoryRecords) -> dict[str, NodeRecord]:
    """The nodes that a node leads to, as far as they are new."""
    found: dict[str, NodeRecord] = {}
    waiting = [node]
    while waiting:
        key = waiting.pop()
        record = after["nodes"].get(key)
        if record is None or key in found or key in known["nodes"]:
            continue
        found[key] = record
        waiting += [edge[0] for edge in record["next"] if edge is not None]
        if record["inner"] is not None:
            waiting.append(record["inner"])
    return found
