"""One call whose saved values are computed again when backward needs them.

Note [Saved values that are computed again]

While the function of a checkpoint runs, hooks of saved values put a `Slot` in the place of each
saved tensor: a number, and the call that it belongs to. When backward unpacks the first slot, the
function runs once more under other hooks, which take what it saves, in the same order; what it
records is dropped. The values belong to the running backward, each until it is unpacked.

The tensors among the arguments are saved as by an operator, under the hooks that are open around
the call. So an argument of an inner checkpoint is a slot of the outer one and keeps no memory, and
an argument that was overwritten is found before backward runs any node.

What runs again must do the same. Of each saved value the shape, the dtype and a CRC-32 sum of the
elements are kept. A value from outside of the function that requires grad, such as a parameter, is
checked like a value that is saved without a checkpoint: so a write to it is found before any node
has run.

The second run ends with the last value, by an exception that the hook raises. The operator whose
value that is, is not over then: inside of forward mode its tangent is not there yet, and a tracer
has not followed it. So the function goes on while such a mode is open; the first value beyond the
last, or its return, ends the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from vtgrad.engine.current_graph_task import running
from vtgrad.errors import CheckpointError, ViewInvalidError
from vtgrad.graph.node import Node
from vtgrad.graph.packing import HookPair, PackingScope, packing
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.graph.set_history import gradient_edge
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage.arrays import NumpyDType, Shape
from vtgrad.storage.key_set import keys
from vtgrad.storage.mode import mode_of, switched
from vtgrad.storage.recent_writes import CallSite
from vtgrad.storage.record_write import OUTERMOST, caller
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_mode import settle, thread
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.tensor.subclass_methods import brought_to, class_of_saved
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.checkpoint.digest import sum_of
from vtgrad.utils.checkpoint.named import NamesOfCall
from vtgrad.utils.checkpoint.rewound import is_rewound, rewound
from vtgrad.utils.checkpoint.rng import RandomState, kept_random_state

__all__ = ["Frame", "Options"]


class Options(NamedTuple):
    """How a call is computed again; see `checkpoint`."""

    early_stop: bool
    compares_shapes: bool
    compares_values: bool
    debug: bool


class Slot(NamedTuple):
    """The place of one saved value."""

    frame: Frame
    number: int


class Expected(NamedTuple):
    """What is known of a saved value.

    Attributes
    ----------
    shape, dtype
        Those of the tensor.
    total : int or None
        The sum of the elements; None if they are not compared.
    counter : VersionCounter or None
        That of a value from outside, which must be the same tensor again.
    argument : int or None
        The argument that it is, or a view of; it must be that again.
    line : str
        Where it was saved; empty without `Options.debug`.
    """

    shape: Shape
    dtype: NumpyDType
    total: int | None
    counter: VersionCounter | None
    argument: int | None
    line: str


class _Enough(BaseException):
    """All values are there. No `Exception`, so that functions do not catch it by accident."""


class _Arguments(Node):
    """Stands for the call in errors about its arguments."""

    __slots__ = ()

    def name(self) -> str:
        return "checkpoint"


class _Hooks(PackingScope):
    """A block with hooks of the library."""

    __slots__ = ("_pair",)

    _reasons = 1
    _pair: HookPair

    def __init__(self, pair: HookPair) -> None:
        super().__init__()
        self._pair = pair

    def __enter__(self) -> None:
        self.enter(self._pair, packing.disabled)


class Frame:
    """One call of a function.

    Attributes
    ----------
    expected : list of Expected
        The values that it has saved.
    is_complete : bool
        Whether the first run is over. Before, only a backward inside of the function itself needs
        values.
    """

    __slots__ = (
        "_again",
        "_arguments",
        "_classes",
        "_counters",
        "_function",
        "_holder",
        "_keywords",
        "_names",
        "_options",
        "_random",
        "_rewinds",
        "_start",
        "_tensors",
        "expected",
        "is_complete",
    )

    expected: list[Expected]
    is_complete: bool
    _function: Callable[..., object]
    # The arguments, None in the place of a tensor, which is in `_tensors`.
    _arguments: list[object]
    _tensors: dict[int, SavedVariable]
    # Of those that are of a class which states one, see Note [Classes of gradients].
    _classes: dict[int, type[TensorBase]]
    # During the first run: for the counters of the arguments, which these are, and whether they are
    # saved as they are.
    _counters: dict[VersionCounter, tuple[int, bool]]
    _keywords: dict[str, object]
    _names: NamesOfCall
    _options: Options
    _again: AbstractContextManager[object]
    _random: RandomState | None
    _rewinds: bool
    _holder: Node
    _start: int

    def __init__(
        self,
        function: Callable[..., object],
        arguments: Sequence[object],
        keywords: dict[str, object],
        again: AbstractContextManager[object],
        options: Options,
        keeps_random_state: bool,
    ) -> None:
        self.expected = []
        self.is_complete = False
        self._function = function
        self._holder = _Arguments(())
        self._arguments = list(arguments)
        self._tensors = {}
        self._classes = {}
        self._counters = {}
        for nr, x in enumerate(arguments):
            if isinstance(x, TensorBase):
                self._save(nr, x)
        self._keywords = keywords
        self._names = NamesOfCall(arguments)
        self._again = again
        self._options = options
        self._random = RandomState.now() if keeps_random_state else None
        self._rewinds = is_rewound()
        self._start = this_thread.numbering.next_nr

    def _save(self, nr: int, tensor: TensorBase) -> None:
        """Save an argument."""
        try:
            variable = SavedVariable(tensor, gradient_edge(tensor))
        except ViewInvalidError:
            # The function may not use it; if it does, the operator that reads it raises.
            return
        self._tensors[nr] = variable
        cls = class_of_saved(tensor)
        if cls is not None:
            self._classes[nr] = cls
        self._arguments[nr] = None
        self._counters.setdefault(tensor._impl.counter, (nr, variable.packed is None))

    def recording(self) -> _Hooks:
        """The block in which the function runs for the first time."""
        return _Hooks(HookPair(self._pack, _unpack, self._keeps, _check))

    def finish(self) -> None:
        """End the first run."""
        self.is_complete = True
        self._counters = {}

    def _keeps(self, tensor: TensorBase) -> bool:
        """Whether a value that is saved is checked like one that is saved without hooks.

        An argument is kept by this object, or by an outer checkpoint, which makes it again.
        """
        argument = self._counters.get(tensor._impl.counter)
        return self._is_from_outside(tensor) if argument is None else argument[1]

    def _is_from_outside(self, tensor: TensorBase) -> bool:
        """Whether the tensor has a gradient and was there before the call."""
        edge = gradient_edge(tensor)
        if edge is None:
            return False
        node = edge.function
        return (
            node.is_leaf_node
            or node.sequence_nr < self._start
            or node.thread_id != this_thread.numbering.thread_id
        )

    def _pack(self, tensor: TensorBase) -> Slot:
        counter = tensor._impl.counter
        argument = self._counters.get(counter)
        if argument is not None:
            expected = self.shown(tensor, False)._replace(argument=argument[0])
        elif self._is_from_outside(tensor):
            expected = self.shown(tensor, False)._replace(counter=counter)
        else:
            expected = self.shown(tensor, self._options.compares_values)
        self.expected.append(expected)
        return Slot(self, len(self.expected) - 1)

    def shown(self, tensor: TensorBase, compares: bool) -> Expected:
        """What is known of a saved value.

        Parameters
        ----------
        compares : bool
            Whether its elements are compared.
        """
        array = tensor._impl.array
        return Expected(
            array.shape,
            array.dtype,
            sum_of(array) if compares else None,
            None,
            None,
            _line() if self._options.debug else "",
        )

    def check(self) -> None:
        """Raise if an argument cannot be unpacked, as far as that shows now.

        Raises
        ------
        VtgradError, OSError
            As `SavedVariable.check` does.
        """
        # An argument may be a slot of an outer call, and many may be of the same one.
        frames: dict[Frame, None] = {self: None}
        waiting: list[Frame] = [self]
        while waiting:
            frame = waiting.pop()
            for variable in frame._tensors.values():
                packed = variable.packed
                slot = None if packed is None else packed.value
                if not isinstance(slot, Slot):
                    variable.check(frame._holder)
                    continue
                if packed is not None and packed.kept is not None:
                    packed.kept.check(frame._holder)
                if slot.frame not in frames:
                    frames[slot.frame] = None
                    waiting.append(slot.frame)

    def unpack(self, number: int) -> TensorBase:
        """The saved value of a slot."""
        task = running.task
        if task is None:
            # A user looks at the node.
            return self._computed()[number].unpack(self._holder)
        notes = task.own_for_hooks().notes
        found = notes.get(self)
        if not isinstance(found, dict) or number not in found:
            found = notes[self] = dict(enumerate(self._computed()))
        value: SavedVariable = found[number]
        tensor = value.unpack(self._holder)
        del found[number]
        return tensor

    def _computed(self) -> list[SavedVariable]:
        """What the function saves when it runs again."""
        run = _Repetition(self)
        before, ident = thread.mode, thread.ident
        task, unpacked = running.task, this_thread.unpacked
        mode = mode_of(grad=True, inference=False)
        with kept_random_state(self._random is not None):
            try:
                thread.mode = switched.silent[ident] = switched.inference[ident] = mode
                settle(ident)
                arguments = list(self._arguments)
                for nr, variable in self._tensors.items():
                    arguments[nr] = argument = variable.unpack(self._holder)
                    cls = self._classes.get(nr)
                    if cls is not None and type(argument) is Tensor:
                        # Made again, because the tensor itself is dead.
                        arguments[nr] = brought_to(cls, argument)
                if self._random is not None:
                    self._random.enter()
                run.call(self._names.given_to(arguments))
            finally:
                running.task, this_thread.unpacked = task, unpacked
                thread.mode = switched.silent[ident] = switched.inference[ident] = before
                settle(ident)
        return run.values


def _check(slot: object) -> None:
    assert isinstance(slot, Slot)
    slot.frame.check()


def _unpack(slot: object) -> TensorBase:
    assert isinstance(slot, Slot)
    return slot.frame.unpack(slot.number)


class _Repetition:
    """One more run of the function of a frame.

    Attributes
    ----------
    values : list of SavedVariable
        What it has saved so far.
    """

    __slots__ = ("_arguments", "_count", "_found", "_frame", "_stops", "values")

    values: list[SavedVariable]
    _frame: Frame
    _arguments: Sequence[object]
    _found: list[Expected]
    _count: int
    _stops: bool

    def __init__(self, frame: Frame) -> None:
        self.values = []
        self._frame = frame
        self._arguments = ()
        self._found = []
        self._count = len(frame.expected)
        self._stops = frame._options.early_stop or not frame.is_complete

    def call(self, arguments: Sequence[object]) -> None:
        """Run the function.

        Raises
        ------
        CheckpointError
            If it did not save what it saved at first.
        """
        frame = self._frame
        self._arguments = arguments
        pair = HookPair(self._take, self._taken, _not_kept)
        try:
            with rewound(frame._rewinds), frame._again, _Hooks(pair):
                frame._names.run(frame._function, *arguments, **frame._keywords)
        except _Enough:
            pass
        if len(self.values) < self._count or (
            len(self.values) > self._count and frame._options.compares_shapes
        ):
            raise self._error(f"it saved {self._count} values at first and {len(self.values)} now")

    def _take(self, tensor: TensorBase) -> int:
        frame, number = self._frame, len(self.values)
        if self._stops and number == self._count:
            raise _Enough
        before = packing.pair
        try:
            packing.pair = None
            self.values.append(SavedVariable(tensor, None))
        finally:
            packing.pair = before
        if number < self._count:
            expected = frame.expected[number]
            self._found.append(frame.shown(tensor, expected.total is not None))
            self._compare(number, tensor, expected)
        else:
            self._found.append(frame.shown(tensor, False))
        if self._stops and number + 1 == self._count and not keys.modes:
            raise _Enough
        return number

    def _taken(self, number: object) -> TensorBase:
        """A value, for a backward inside of the function itself."""
        assert isinstance(number, int)
        return self.values[number].unpack(self._frame._holder)

    def _compare(self, number: int, tensor: TensorBase, expected: Expected) -> None:
        if not self._frame._options.compares_shapes:
            return
        found = self._found[number]
        if (found.shape, found.dtype) != (expected.shape, expected.dtype):
            raise self._error(
                f"value {number} that it saves was {expected.dtype} of shape "
                f"{list(expected.shape)} at first and is {found.dtype} of shape "
                f"{list(found.shape)} now"
            )
        same: VersionCounter | None = expected.counter
        if expected.argument is not None:
            argument = self._arguments[expected.argument]
            assert isinstance(argument, TensorBase)
            same = argument._impl.counter
        if same is not None and same is not tensor._impl.counter:
            what = "is another tensor"
        elif found.total != expected.total:
            what = "has other elements"
        else:
            return
        raise self._error(
            f"value {number} that it saves, {expected.dtype} of shape {list(expected.shape)}, "
            f"{what} now"
        )

    def _error(self, what: str) -> CheckpointError:
        function = self._frame._function
        name = getattr(function, "__qualname__", type(function).__qualname__)
        text = (
            f"{name}, run again by a checkpoint, did not do the same as at first: {what}. A tensor "
            "or variable that it uses was changed since, or it depends on random numbers of "
            "another generator, or on how often it runs"
        )
        if self._frame._options.debug:
            rows = [_row(x) for x in self._frame.expected], [_row(x) for x in self._found]
            text += "\n  saved at first:" + "".join(rows[0]) + "\n  saved now:" + "".join(rows[1])
        else:
            text += ". With debug=True the error tells what was saved where"
        return CheckpointError(text, function=function)


def _row(value: Expected) -> str:
    return f"\n    {value.dtype} of shape {list(value.shape)} at {value.line}"


def _not_kept(tensor: TensorBase) -> bool:
    return False


def _line() -> str:
    """The line of the user that saves a value."""
    found = CallSite.of(caller(OUTERMOST))
    return "an unknown line" if found is None else f"{found.filename}:{found.lineno}"
