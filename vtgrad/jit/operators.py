"""The operators of a program, as they were called: the reference's operator trace.

Note [Operator traces]

The trace is an observer of its thread, as a profile is: see Note [Observers]. So operators, the
`apply` of custom Functions and the engine call it before and after what they run, and nothing is
paid while no thread is observed. Before a call its inputs get numbers, and their versions are read;
after it the outputs get numbers, and what is in place or a view is found from versions and memory,
not from names. The reference did this in ``traced_apply`` for each function, and asked a node
whether it is traceable; a node that is not is user code, of which the trace lists what it called.

A value is a tensor, or an array where the engine moves arrays. It is known by its identity while it
is alive; nothing is kept alive, so that a traced program frees what it frees otherwise.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from threading import get_ident
from typing import Final, NamedTuple, Self, TypeGuard, TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError, ProfilerError
from vtgrad.function.results import version_of
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.node import Node
from vtgrad.graph.observer import BACKWARD_FUNCTION, USER_SCOPE, observers
from vtgrad.profiler.recorder import memory_of
from vtgrad.profiler.tables import adjust_tables
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.dtypes import DType, dtype_of
from vtgrad.storage.recent_writes import CallSite
from vtgrad.storage.record_write import caller
from vtgrad.storage.scope import Scope
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["OperatorTrace", "TracedOperator", "TracedValue", "list_operators"]

R = TypeVar("R")

# The engine's event around the function of a node, its hooks and its checks.
_ENGINE: Final = "autograd::engine::"
_PLAIN: Final = (bool, int, float, complex, str, slice, type(None), type(...), DType, np.dtype)
_OPERATOR, _FUNCTION, _NODE, _BLOCK = "operator", "function", "node", "block"


class TracedValue(NamedTuple):
    """A tensor or a gradient in an operator trace.

    Attributes
    ----------
    number : int
        Its number in the trace, from 0 on; -1 for a gradient that the engine has in parts.
    shape : tuple of int
        Its shape.
    dtype : dtype
        Its dtype.
    """

    number: int
    shape: Shape
    dtype: DType

    def __str__(self) -> str:
        return "%?" if self.number < 0 else f"%{self.number}"


class TracedOperator(NamedTuple):
    """One call in an operator trace; see `vtgrad.jit.Traced.operators`.

    Attributes
    ----------
    name : str
        The operator, as a profile names it, the node, or the custom Function.
    kind : str
        "operator", "function" (the `apply` of a custom Function), "node" (the backward of an
        operator), or "block" (a `vtgrad.profiler.record_function`).
    inputs : tuple of object
        A `TracedValue` for each tensor or gradient, plain Python values as they are, tuples for
        lists and tuples, and the name of the type for all else.
    outputs : tuple of TracedValue
        The tensors that it returned; of a node, the gradients. None of a call that raised.
    writes : tuple of int
        The numbers of inputs whose memory it changed.
    view_of : tuple of int or None
        For each output, the number of the input that it is a view of.
    is_traceable : bool
        Whether all that it does is operators of the library; False for user code.
    place : CallSite or None
        The user's line that called it, or that called backward.
    inner : tuple of TracedOperator
        What it called in its turn.
    """

    name: str
    kind: str
    inputs: tuple[object, ...]
    outputs: tuple[TracedValue, ...]
    writes: tuple[int, ...]
    view_of: tuple[int | None, ...]
    is_traceable: bool
    place: CallSite | None
    inner: tuple[TracedOperator, ...]

    def __str__(self) -> str:
        """One line, as ``%2 = aten::mul(%0, 3)``."""
        results = ", ".join(map(str, self.outputs))
        text = f"{self.name}({', '.join(map(_shown, self.inputs))})"
        notes = [f"writes %{number}" for number in self.writes]
        views = dict.fromkeys(number for number in self.view_of if number is not None)
        notes += [f"view of %{number}" for number in views]
        if self.kind != _BLOCK and not self.is_traceable:
            notes.append("not traceable")
        text = f"{results} = {text}" if results else text
        return f"{text}  # {', '.join(notes)}" if notes else text


def _shown(argument: object) -> str:
    if isinstance(argument, TracedValue):
        return str(argument)
    if type(argument) is tuple:
        return f"[{', '.join(map(_shown, argument))}]"
    return repr(argument)


class _Values:
    """The numbers of values that are alive."""

    __slots__ = ("_known", "_next")

    _known: dict[int, tuple[weakref.ref[object], int]]
    _next: int

    def __init__(self) -> None:
        self._known = {}
        self._next = 0

    def of(self, value: TensorBase | Array) -> TracedValue:
        """The entry of a value; a new number if it has none."""
        array = _array(value)
        known = self._known.get(id(value))
        if known is not None and known[0]() is value:
            number = known[1]
        else:
            number = self._next
            self._next += 1
            self._known[id(value)] = weakref.ref(value), number
        return TracedValue(number, array.shape, dtype_of(array.dtype))


class _Open:
    """A call that has not ended."""

    __slots__ = ("given", "inner", "inputs", "kind", "name", "place", "traceable", "versions")

    def __init__(self, name: str, kind: str, traceable: bool) -> None:
        self.name = name
        self.kind = kind
        self.traceable = traceable
        self.place = CallSite.of(caller(0))
        self.inputs: tuple[object, ...] = ()
        self.given: list[tuple[TensorBase | Array, int]] = []
        self.versions: list[int] = []
        self.inner: list[TracedOperator] = []


class OperatorTrace(Scope):
    """List the operators that run in a ``with`` block on this thread; see Note [Operator traces].

    It implements `vtgrad.graph.observer.Observer`.

    Attributes
    ----------
    needs_inputs : bool
        True.
    operators : list of TracedOperator
        The outermost calls, in the order in which they ended.

    Raises
    ------
    ProfilerError
        When it is entered, if the thread is observed already, as by a profile.
    """

    __slots__ = ("_open", "_values", "needs_inputs", "operators")

    needs_inputs: bool
    operators: list[TracedOperator]
    _open: list[_Open]
    _values: _Values

    def __init__(self) -> None:
        super().__init__()
        self.needs_inputs = True
        self.operators = []
        self._open = []
        self._values = _Values()

    def __enter__(self) -> Self:
        ident = get_ident()
        if ident in observers:
            raise ProfilerError("this thread is observed already, by a profile or a trace")
        observers[ident] = self
        adjust_tables()
        return self

    def restore(self) -> None:
        """End the trace; called again if the call is interrupted."""
        for ident in [key for key, observer in tuple(observers.items()) if observer is self]:
            observers.pop(ident, None)
        self._open.clear()
        adjust_tables()

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
        """The trace before a call; see `Observer.begin`."""
        kind = _OPERATOR if node is None else _FUNCTION
        if scope == BACKWARD_FUNCTION:
            kind = _NODE
        elif scope == USER_SCOPE:
            kind = _BLOCK
        traceable = kind == _OPERATOR if node is None else node.is_traceable
        opened = _Open(name, kind, traceable)
        opened.inputs = tuple([self._argument(value, opened) for value in inputs])
        opened.versions = [_version(value) for value, _ in opened.given]
        self._open.append(opened)
        return opened

    def end(self, event: object, outputs: Sequence[object] = ()) -> None:
        """The trace after a call; see `Observer.end`."""
        if not isinstance(event, _Open) or event not in self._open:
            return
        while self._open[-1] is not event:
            self._open.pop()
        self._open.pop()
        around = self._open[-1].inner if self._open else self.operators
        if event.name.startswith(_ENGINE):
            around += event.inner
        else:
            around.append(self._ended(event, outputs))

    def forget(self, event: object) -> None:
        """See `Observer.forget`."""
        if isinstance(event, _Open) and event in self._open:
            while self._open.pop() is not event:
                continue

    def _argument(self, value: object, opened: _Open) -> object:
        """What stands for an argument."""
        if isinstance(value, TensorBase) or _is_known(value):
            found = self._values.of(value)
            opened.given.append((value, found.number))
            return found
        if isinstance(value, (list, tuple)):
            return tuple([self._argument(part, opened) for part in value])
        if isinstance(value, InputMetadata):
            return TracedValue(-1, value.shape, dtype_of(value.dtype))
        return value if isinstance(value, _PLAIN) else type(value).__name__

    def _ended(self, event: _Open, outputs: Sequence[object]) -> TracedOperator:
        """The entry of a call."""
        writes: list[int] = []
        memories: dict[int, int] = {}
        for (value, number), version in zip(event.given, event.versions, strict=True):
            if _version(value) != version and number not in writes:
                writes.append(number)
            memories.setdefault(id(memory_of(_array(value))), number)
        inputs = {number for _, number in event.given}
        found: list[TracedValue] = []
        views: list[int | None] = []
        for value in _values_in(outputs):
            output = self._values.of(value)
            found.append(output)
            same = output.number in inputs
            views.append(None if same else memories.get(id(memory_of(_array(value)))))
        return TracedOperator(
            event.name,
            event.kind,
            event.inputs,
            tuple(found),
            tuple(writes),
            tuple(views),
            event.traceable,
            event.place,
            tuple(event.inner),
        )


def _array(value: TensorBase | Array) -> Array:
    return value._impl.array if isinstance(value, TensorBase) else value


def _is_known(value: object) -> TypeGuard[Array]:
    """Whether a value is an array of a dtype that tensors have."""
    if not isinstance(value, np.ndarray):
        return False
    try:
        dtype_of(value.dtype)
    except ArgumentTypeError:
        return False
    return True


def _version(value: TensorBase | Array) -> int:
    """The version of a tensor; arrays have none."""
    return version_of(value) if isinstance(value, TensorBase) else 0


def _values_in(outputs: Sequence[object]) -> Iterator[TensorBase | Array]:
    """The tensors and arrays among results, and in lists and tuples of them."""
    for value in outputs:
        if isinstance(value, TensorBase) or _is_known(value):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _values_in(value)


def list_operators(function: Callable[[], R]) -> tuple[tuple[TracedOperator, ...], R]:
    """Call a function, and list the operators that it calls.

    Parameters
    ----------
    function : callable
        What is called, on this thread.

    Returns
    -------
    tuple
        The operators, and the result of the function.

    Raises
    ------
    ProfilerError
        If the thread is observed already.
    """
    with OperatorTrace() as trace:
        result = function()
    return tuple(trace.operators), result
