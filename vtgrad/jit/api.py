"""`trace` and `replay`: functions that are recorded once, and then replayed.

Note [Recorded anew]

`replay` keeps up to `LIMIT` recordings, and takes the first whose guards hold. If those of none do,
the call runs the function itself, which is then recorded for such calls, too. A function that needs
more recordings than that does not repeat itself: there is one warning, with the line at which a
value left the last recording, and the function runs itself from then on.

Note [Compared with the function]

The first calls of a recording run both ways: the replay up to its commit, then the function, which
makes the changes. If they differ in one bit of a result, of memory, of a version or of a ``.grad``,
something went into the recording that no guard sees, as a number of a closure or of NumPy's random
generators. Then there is a warning, and the function runs itself from then on.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Generic, ParamSpec, TypeVar, cast

from vtgrad.errors import NotSupportedError, RecordingError, ReplayGuardError
from vtgrad.jit.call import Computed, Replay
from vtgrad.jit.entry import Mismatch, obstacle, refusal
from vtgrad.jit.explain import Explanation, explain
from vtgrad.jit.graph import ProgramGraph, graph_of
from vtgrad.jit.methods import Methods
from vtgrad.jit.operators import TracedOperator
from vtgrad.jit.record_call import another_thread_records, list_operators_of, record_call
from vtgrad.jit.source import Parameter, export, parameters_of, source_of
from vtgrad.jit.state import thread as recording
from vtgrad.jit.steps import Kind, Program
from vtgrad.jit.structure import Structure, argument_names, leaves_of
from vtgrad.jit.verify import differs
from vtgrad.storage.warn import warn

__all__ = ["LIMIT", "Replayed", "Traced", "replay", "trace"]

P = ParamSpec("P")
R = TypeVar("R")

# How many recordings of one function there are, and how many calls of each run both ways.
LIMIT: Final = 8
_COMPARED: Final = 2


class Traced(Generic[P, R]):
    """A function that `vtgrad.jit.trace` has recorded; a call replays it.

    A call takes the arguments of the function. It changes what the function would change, and
    returns what the function would return: other tensors in each call.
    """

    def __init__(
        self,
        function: Callable[P, R],
        call: Replay,
        structure: Structure,
        names: Sequence[str],
        examples: tuple[tuple[object, ...], dict[str, object]] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._call = call
        self._structure = structure
        # Those of the leaves of the arguments.
        self._names = names
        self._examples = examples
        self._operators: tuple[TracedOperator, ...] | None = None

    @property
    def operators(self) -> tuple[TracedOperator, ...]:
        """The operators that the function calls, in their order.

        The function runs once more on the examples for it, when this is read first, and then all is
        as before. So it must not be read while another thread uses what the function writes.

        Returns
        -------
        tuple of TracedOperator
            Operators, custom Functions and nodes of backward, the outermost only: each has what it
            called in its `inner`.

        Raises
        ------
        ReplayGuardError
            If the examples have other shapes now.
        ProfilerError
            If the thread is being profiled.
        NotSupportedError
            For what `replay` has recorded, which keeps no examples.

        Examples
        --------
        >>> def program(x):
        ...     y = x * 2
        ...     y[0].add_(1)
        ...     return y
        >>> for operator in vt.jit.trace(program, vt.ones(3)).operators:
        ...     print(operator)
        %1 = aten::mul(%0, 2)
        %2 = aten::select(%1, 0)  # view of %1
        %2 = aten::add_(%2, 1)  # writes %2
        """
        if self._operators is None:
            if self._examples is None:
                raise NotSupportedError(
                    "what replay has recorded keeps no arguments, with which the function could "
                    "run once more: trace the function to list its operators"
                )
            args, kwargs = self._examples
            leaves, _ = leaves_of(args, kwargs)
            self._operators = list_operators_of(self._function, args, kwargs, leaves, self._call)
        return self._operators

    @property
    def code(self) -> str:
        """The recorded program as a module of Python that needs NumPy alone.

        Its function takes arrays in place of tensors: the arguments that the program uses, then the
        tensors from outside. It returns the results, then the new ``.grad``.

        Returns
        -------
        str
            The text.

        Raises
        ------
        NotImplementedError
            If the program calls what is not in NumPy.

        Notes
        -----
        It is the program that a call runs: what does not depend on arguments is computed, and what
        nothing needs is left out. A program that draws random numbers takes NumPy's generators
        after the arrays.

        Examples
        --------
        >>> fast = vt.jit.trace(lambda x: (x * 2).sum(), vt.ones(3))
        >>> namespace = {}
        >>> exec(fast.code, namespace)
        >>> namespace["replay"](np.ones(3, np.float32))
        array(6., dtype=float32)
        """
        return source_of(self._program(), parameters=self._parameters())

    @property
    def graph(self) -> ProgramGraph:
        """The steps of a call with the lines of the program that made them, loops rolled up.

        Returns
        -------
        ProgramGraph
            One step for each line of `code`. As text by `print`; notebooks show it as a drawing.

        Examples
        --------
        >>> fast = vt.jit.trace(lambda x: (x * 2).sum(), vt.ones(3))
        >>> [step.name for step in fast.graph.steps]
        ['multiply', 'add.reduce']
        """
        return graph_of(self._program())

    def explain(self) -> Explanation:
        """What was recorded, what is guarded, and what runs as a call of Python.

        Returns
        -------
        Explanation
            As text by `print`; notebooks show it as a drawing.

        Examples
        --------
        >>> fast = vt.jit.trace(lambda x: (x * 2).sum(), vt.ones(3))
        >>> fast.explain().recorded
        2
        """
        self._program()
        return explain(self._call.recording.program, self._call.prepared())

    def export(self, path: str | Path) -> Path:
        """Write the recorded program as a module that needs NumPy alone.

        Its function takes arrays in place of the tensors among the arguments. What tensors from
        outside hold now is a part of the module.

        Parameters
        ----------
        path : str or Path
            The file, which is overwritten.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        NotImplementedError
            As for `code`; then no file is written.
        """
        call = self._call
        return export(
            self._program(),
            path,
            parameters=self._parameters(),
            outside=call.outside_now(),
            title=f"{_name(self._function)}, recorded",
        )

    def _program(self) -> Program:
        """The program that a call runs, in which new gradients have names."""
        program = self._call.prepared().program
        for change in self._call.recording.grads:
            if change.number is not None and isinstance(change.holder, int):
                buffer = program.buffers[program.results[change.number].buffer]
                if buffer.kind is Kind.FRESH and buffer.name is None:
                    buffer.name = f"grad_{self._names[change.holder]}"
        return program

    def _parameters(self) -> list[Parameter]:
        """What the function of `code` takes: arguments by their names, then what is outside."""
        program = self._program()
        others = [
            found
            for found in parameters_of(program)
            if program.buffers[found.place.buffer].kind is Kind.OUTSIDE
        ]
        return [*self._call.parameters(self._names), *others]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Replay the function.

        Parameters
        ----------
        *args, **kwargs : object
            Its arguments: the same kinds, shapes, dtypes and Python values as while recording.

        Returns
        -------
        object
            What the function returns.

        Raises
        ------
        ReplayGuardError
            If a guard fails; then nothing has changed.
        """
        if recording.records_calls:
            return self._function(*args, **kwargs)
        found = obstacle()
        if found is not None:
            raise ReplayGuardError(
                f"{_name(self._function)} cannot be replayed while {found}", guard=found, line=None
            )
        leaves, structure = leaves_of(args, kwargs)
        if structure != self._structure:
            raise _guard_error(self._function, Mismatch("the arguments are nested otherwise"))
        call = self._call
        turn = call.begin()
        if turn is None:
            return self._function(*args, **kwargs)
        try:
            computed = call.run(leaves)
            if isinstance(computed, Mismatch):
                raise _guard_error(self._function, computed)
            if not call.commit(computed, leaves):
                raise _guard_error(self._function, Mismatch(_CHANGED))
            return cast("R", call.result(computed, leaves))
        finally:
            call.end()


_CHANGED: Final = "another thread has changed what the program writes while it ran"


class Replayed(Generic[P, R]):
    """A function that `vtgrad.jit.replay` records and replays.

    A call takes the arguments of the function, changes what it changes and returns what it returns.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        # The newest first.
        self._traces: tuple[Traced[P, R], ...] = ()
        # How often each was compared with the function.
        self._compared: dict[Replay, int] = {}
        self._recordings = 0
        self._gave_up = False
        self._methods: Methods[R, Replayed[..., R]] | None = None

    def __reduce__(self) -> str | tuple[object, ...]:
        """For pickle: by its name if it decorates a function, else as a new one of its function."""
        function = self._function
        found: object = sys.modules.get(function.__module__)
        for part in function.__qualname__.split("."):
            found = getattr(found, part, None)
        return function.__qualname__ if found is self else (replay, (function,))

    def __get__(self, instance: object, owner: type | None = None) -> Replayed[..., R]:
        """The method of an object, which is recorded for this object.

        The object is then like a closure: its numbers are a part of the recording.
        """
        if instance is None:
            return self
        if self._methods is None:
            self._methods = Methods(_replayed, self._function)
        return self._methods.of(instance)

    @property
    def recordings(self) -> int:
        """How often the function was recorded.

        Returns
        -------
        int
            0 before the first call.

        Examples
        --------
        >>> double = vt.jit.replay(lambda x: x * 2)
        >>> for n in (2, 3, 2):
        ...     y = double(vt.ones(n))
        >>> double.recordings
        2
        """
        return self._recordings

    @property
    def traces(self) -> tuple[Traced[P, R], ...]:
        """The recordings, the newest first, to be looked at.

        Returns
        -------
        tuple of Traced
            Empty before the first call, and where the function is not replayed any more.

        Examples
        --------
        >>> double = vt.jit.replay(lambda x: x * 2)
        >>> y = double(vt.ones(3))
        >>> "multiply" in double.traces[0].code
        True
        """
        return self._traces

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, or replay it.

        Parameters
        ----------
        *args, **kwargs : object
            Its arguments.

        Returns
        -------
        object
            What the function returns.

        Raises
        ------
        RecordingError
            If the function does what cannot be recorded; then nothing has changed.
        """
        if self._gave_up or recording.records_calls or obstacle() is not None:
            return self._function(*args, **kwargs)
        leaves, structure = leaves_of(args, kwargs)
        reason = Mismatch("it was not recorded yet")
        for traced in self._traces:
            call = traced._call
            if traced._structure != structure:
                reason = Mismatch("the arguments are nested otherwise")
                continue
            turn = call.begin()
            if turn is None:
                return self._function(*args, **kwargs)
            try:
                computed = call.run(leaves)
                if not isinstance(computed, Mismatch):
                    return self._finish(call, computed, leaves, args, kwargs)
                reason = computed
            finally:
                call.end()
        return self._record(structure, reason, leaves, args, kwargs)

    def _finish(
        self,
        call: Replay,
        computed: Computed,
        leaves: Sequence[object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> R:
        """Commit a run, or compare it with the function."""
        function = cast("Callable[..., R]", self._function)
        compared = self._compared.get(call, 0)
        if compared < _COMPARED:
            self._compared[call] = compared + 1
            return self._compare(call, computed, leaves, args, kwargs)
        if not call.commit(computed, leaves):
            call.undo_draws()
            return function(*args, **kwargs)
        return cast("R", call.result(computed, leaves))

    def _compare(
        self,
        call: Replay,
        computed: Computed,
        leaves: Sequence[object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> R:
        """Run the function after a replay that is not committed; see the note above."""
        call.undo_draws()
        result = cast("Callable[..., R]", self._function)(*args, **kwargs)
        found = differs(call, computed, leaves, result)
        if found is not None:
            self._give_up(
                f"{found} when {_name(self._function)} runs and when it is replayed: something "
                "goes into it that no guard sees, such as a number of a closure"
            )
        return result

    def _record(
        self,
        structure: Structure,
        reason: Mismatch,
        leaves: Sequence[object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> R:
        """Record the function for calls such as this one, and run it."""
        function = cast("Callable[..., R]", self._function)
        if self._recordings >= LIMIT:
            self._give_up(
                f"{_name(function)} was recorded {LIMIT} times, and the recordings do not fit this "
                f"call: {reason}"
            )
            return function(*args, **kwargs)
        check_arguments(function, leaves)
        if another_thread_records():
            return function(*args, **kwargs)
        call = record_call(function, args, kwargs, leaves)
        self._recordings += 1
        self._compared[call] = 0
        names = argument_names(function, args, kwargs)
        self._traces = (Traced(self._function, call, structure, names), *self._traces)
        return function(*args, **kwargs)

    def _give_up(self, text: str) -> None:
        self._gave_up = True
        self._traces = ()
        self._compared.clear()
        warn(f"{text}. It is not replayed any more")


def _replayed(function: Callable[..., R]) -> Replayed[..., R]:
    return Replayed(function)


def trace(function: Callable[P, R], *examples: P.args, **named: P.kwargs) -> Traced[P, R]:
    """Record a function once; calls of the result replay what NumPy was asked to do.

    The function runs several times, on copies: on the examples and on other values, so that a
    recording that is not the function is not accepted. Afterwards memory, versions, ``.grad`` and
    random generators are as before. What the function prints is printed each time. Other threads
    must not use the tensors of the function meanwhile.

    Parameters
    ----------
    function : callable
        It may call operators, write in place, and call backward, optimisers and transforms. Its
        results are new tensors, arrays and Python values, or its arguments.
    *examples, **named : object
        Arguments of the function: tensors, arrays, Python values, and tuples, lists and dicts of
        these. Python values are a part of the recording.

    Returns
    -------
    Traced
        A function with the same arguments.

    Raises
    ------
    RecordingError
        If the function does what cannot be recorded, or a result is connected to a graph, or if
        another thread has changed a tensor that the function uses.

    Examples
    --------
    >>> def loss_and_slope(a, x):
    ...     a = a.detach().requires_grad_()
    ...     state = vt.zeros(4)
    ...     for t in range(3):
    ...         state[t + 1] = a * state[t] + x
    ...     loss = state[-1] ** 2
    ...     loss.backward()
    ...     return loss.detach(), a.grad
    >>> fast = vt.jit.trace(loss_and_slope, vt.tensor(0.5), vt.tensor(1.0))
    >>> fast(vt.tensor(2.0), vt.tensor(1.0))
    (tensor(49.), tensor(70.))
    """
    if recording.records_calls:
        raise _refused("trace was called while another function is being recorded", "nested")
    found = obstacle()
    if found is not None:
        raise _refused(f"{_name(function)} cannot be recorded while {found}", "mode")
    leaves, structure = leaves_of(examples, named)
    check_arguments(function, leaves)
    call = record_call(function, examples, named, leaves)
    names = argument_names(function, examples, named)
    return Traced(function, call, structure, names, (examples, dict(named)))


def replay(function: Callable[P, R]) -> Replayed[P, R]:
    """Record a function at its first call, and replay it in later calls.

    The two calls after a recording run the function as well, and compare each bit. A call that is
    not as a recorded one runs the function, which is recorded anew for such calls, up to eight
    times; then there is one warning, and the function runs as it is. So it does in inference mode,
    in transforms such as `vtgrad.vmap`, in anomaly mode, under hooks of saved tensors, and if it is
    called while a call of it is replayed.

    Parameters
    ----------
    function : callable
        As for `trace`.

    Returns
    -------
    Replayed
        A function with the same arguments.

    Examples
    --------
    >>> w = vt.zeros(2, requires_grad=True)
    >>> @vt.jit.replay
    ... def step(x, y):
    ...     loss = ((x @ w - y) ** 2).sum()
    ...     (slope,) = vt.autograd.grad(loss, w)
    ...     with vt.no_grad():
    ...         w.sub_(slope, alpha=0.1)
    ...     return loss.detach()
    >>> x, y = vt.eye(2), vt.tensor([1.0, 2.0])
    >>> [round(step(x, y).item(), 3) for _ in range(5)]
    [5.0, 3.2, 2.048, 1.311, 0.839]
    >>> step.recordings, w.writes()[-1].operator[:16]
    (1, 'replay of step, ')
    """
    return Replayed(function)


def check_arguments(function: Callable[..., object], leaves: Sequence[object]) -> None:
    """Refuse arguments that no recording can have.

    Raises
    ------
    RecordingError
        For the first one.
    """
    for number, leaf in enumerate(leaves, 1):
        found = refusal(leaf)
        if found is not None:
            raise _refused(f"argument {number} of {_name(function)} {found}", "argument")


def _refused(text: str, reason: str) -> RecordingError:
    return RecordingError(text, reason=reason, library=None, line=None)


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _guard_error(function: Callable[..., object], found: Mismatch) -> ReplayGuardError:
    return ReplayGuardError(
        f"this call of {_name(function)} is not as the recorded one: {found}",
        guard=found.reason,
        line=found.line,
    )
