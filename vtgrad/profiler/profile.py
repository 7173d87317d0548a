"""The profile of a block of a program, and blocks that a profile shows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from os import PathLike
from threading import get_ident
from time import perf_counter_ns
from typing import ParamSpec, Self, TypeVar

from vtgrad.errors import NotSupportedError, ProfilerDisabledError, ProfilerError
from vtgrad.graph.observer import NO_SEQUENCE_NR, USER_SCOPE, observer_of_thread, observers
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.profiler.event_list import EventList
from vtgrad.profiler.events import FunctionEvent, FunctionEventAvg
from vtgrad.profiler.parse import parsed
from vtgrad.profiler.recorder import Recorder
from vtgrad.profiler.tables import adjust_tables
from vtgrad.storage.scope import Scope

__all__ = ["profile", "record_function"]

P = ParamSpec("P")
R = TypeVar("R")


class profile(Scope):  # PyTorch's name
    """Measure the operators and nodes that run in a ``with`` block.

    Only the thread that enters the block is measured, with the helper threads that its backward
    uses. The events can be read after the block, also after an error. While no block is open,
    operators take no longer than without this module.

    Parameters
    ----------
    enabled : bool, default True
        False makes a block in which nothing is measured.
    record_shapes : bool, default False
        Whether events have the shapes of arguments.
    with_flops : bool, default False
        Whether events of products and sums have the number of operations.
    profile_memory : bool, default False
        Whether events have the bytes that they allocate and copy.
    with_stack : bool, default False
        Whether events have the lines that called them.
    use_device : str, optional
        "cpu" or None: there is no other device.
    with_modules : bool, default False
        Not supported: there are no modules.

    Raises
    ------
    NotSupportedError
        If `use_device` is another device, or `with_modules` is True.
    ProfilerError
        When it is entered, if it was entered before, or the thread is being profiled.

    Notes
    -----
    Memory is that of results. What a kernel uses while it runs, and what nodes save beside inputs
    and results, is not counted. Bytes are copied by writes in place, by ``x[...] = v``, and by
    operators that copy where they cannot give a view, such as `reshape`.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> with vt.autograd.profiler.profile() as p:
    ...     (x * x).sum().backward()
    >>> [event.name for event in p.function_events if event.cpu_parent is None][:3]
    ['aten::mul', 'aten::sum', 'aten::ones_like']
    >>> [event.name for event in p.function_events if event.scope == 1][:2]
    ['SumBackward0', 'MulBackward0']
    """

    __slots__ = (
        "_began",
        "_events",
        "_memory",
        "_over",
        "_recorder",
        "_shapes",
        "_thread",
        "enabled",
        "with_flops",
    )

    enabled: bool
    with_flops: bool
    _began: int
    _memory: bool
    _shapes: bool
    _events: EventList[FunctionEvent] | None
    _over: bool
    _recorder: Recorder
    # The number of the profiled thread; None before the block.
    _thread: int | None

    def __init__(
        self,
        enabled: bool = True,
        *,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        use_device: str | None = None,
        with_modules: bool = False,
    ) -> None:
        super().__init__()
        if use_device not in (None, "cpu"):
            raise NotSupportedError(f"there is no device {use_device!r}", argument="use_device")
        if with_modules:
            raise NotSupportedError("there are no modules to show", argument="with_modules")
        self.enabled = bool(enabled)
        self.with_flops = bool(with_flops)
        self._shapes = bool(record_shapes)
        self._memory = bool(profile_memory)
        self._recorder = Recorder(
            shapes=self._shapes or self.with_flops, memory=self._memory, stack=bool(with_stack)
        )
        self._began = 0
        self._events = None
        self._thread = None
        self._over = False

    def __enter__(self) -> Self:
        if not self.enabled:
            return self
        if self._thread is not None:
            raise ProfilerError("a profile is of one block; make another object for another block")
        ident = get_ident()
        if ident in observers:
            raise ProfilerError("this thread is being profiled already")
        self._thread = this_thread.numbering.thread_id
        observers[ident] = self._recorder
        adjust_tables()
        self._began = perf_counter_ns()
        return self

    def restore(self) -> None:
        """End the measurement; called again if the call is interrupted."""
        if self._thread is None or self._over:
            return
        recorder = self._recorder
        # Also a helper thread whose pass was abandoned.
        for observed in [key for key, observer in tuple(observers.items()) if observer is recorder]:
            observers.pop(observed, None)
        recorder.close()
        adjust_tables()
        self._over = True

    @property
    def function_events(self) -> EventList[FunctionEvent]:
        """The events, in the order in which they began.

        Returns
        -------
        EventList
            Empty before the end of the block.

        Raises
        ------
        ProfilerDisabledError
            If the profile was made with ``enabled=False``.
        """
        if not self.enabled:
            raise ProfilerDisabledError("a profile with enabled=False has no events")
        if not self._over:
            return EventList([], with_memory=self._memory)
        events = self._events
        if events is None:
            assert self._thread is not None
            found = parsed(
                self._recorder.events,
                self._began,
                self._thread,
                with_flops=self.with_flops,
                with_shapes=self._shapes,
            )
            events = self._events = EventList(found, with_memory=self._memory)
        return events

    @property
    def self_cpu_time_total(self) -> float:
        """The time that was spent in events.

        Returns
        -------
        float
            Microseconds.

        Raises
        ------
        ProfilerDisabledError
            If the profile was made with ``enabled=False``.
        """
        return self.function_events.self_cpu_time_total

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList[FunctionEventAvg]:
        """Sums over the events of one name; see `EventList.key_averages`.

        Parameters
        ----------
        group_by_input_shape : bool, default False
            Whether events with arguments of different shapes are kept apart.
        group_by_stack_n : int, default 0
            The number of the user's lines by which events are kept apart.

        Returns
        -------
        EventList
            One average for each name; empty before the end of the block.

        Raises
        ------
        ProfilerDisabledError
            If the profile was made with ``enabled=False``.
        """
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """The sum over all events; see `EventList.total_average`.

        Returns
        -------
        FunctionEventAvg
            Its key is "Total".

        Raises
        ------
        ProfilerDisabledError
            If the profile was made with ``enabled=False``.
        """
        return self.function_events.total_average()

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_name_column_width: int = 55,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The events as a table; see `EventList.table` for the parameters.

        Parameters
        ----------
        sort_by : str, optional
            The attribute whose largest values come first.
        row_limit : int, default 100
            The number of rows; -1 for all.
        max_name_column_width : int, default 55
            Longer names end in three dots.
        header : str, optional
            A line above the table.
        top_level_events_only : bool, default False
            Whether events within others are left out.

        Returns
        -------
        str
            Empty before the end of the block.

        Raises
        ------
        ProfilerDisabledError
            If the profile was made with ``enabled=False``.
        AttributeError
            If events have no attribute `sort_by`.
        """
        return self.function_events.table(
            sort_by, row_limit, max_name_column_width, header, top_level_events_only
        )

    def export_chrome_trace(self, path: str | PathLike[str]) -> None:
        """Write a trace that Perfetto and ``chrome://tracing`` show.

        Parameters
        ----------
        path : str or path-like
            The file; compressed if the name ends in ``.gz``.

        Raises
        ------
        ProfilerError
            Before the end of the block.
        ProfilerDisabledError
            If the profile was made with ``enabled=False``.
        OSError
            If the file cannot be written.
        """
        events = self.function_events
        if not self._over:
            raise ProfilerError("the trace of a profile can be written after its block")
        events.export_chrome_trace(path)

    def __str__(self) -> str:
        return self.table() if self._over else f"<unfinished {type(self).__name__}>"


class record_function:  # PyTorch's name
    """Show a block, or the calls of a function, as an event in the profile around it.

    Parameters
    ----------
    name : str
        The name of the event.
    args : str, optional
        A remark, which counts as an argument.

    Raises
    ------
    ProfilerError
        If `name` is not a string, or a block is left that was not entered.

    Notes
    -----
    A block that another thread leaves, as one in a generator may be, ends with what is around it.

    Examples
    --------
    >>> @vt.autograd.profiler.record_function("step")
    ... def step(x):
    ...     return x * 2
    >>> with vt.autograd.profiler.profile() as p:
    ...     with vt.autograd.profiler.record_function("both"):
    ...         x = step(step(vt.ones(2)))
    >>> [event.name for event in p.function_events if event.scope == 7]
    ['both', 'step', 'step']
    """

    __slots__ = ("__weakref__", "_open", "args", "name")

    name: str
    args: str | None
    # The events of the open blocks of each thread, innermost last.
    _open: dict[int, list[object]]

    def __init__(self, name: str, args: str | None = None) -> None:
        given: object = name
        if not isinstance(given, str):
            raise ProfilerError(f"the name of an event is a str, not {type(given).__name__}")
        self.name = name
        self.args = args
        self._open = {}

    def __enter__(self) -> Self:
        observer = observer_of_thread()
        event: object = None
        if observer is not None:
            remark = () if self.args is None else (self.args,)
            event = observer.begin(self.name, USER_SCOPE, NO_SEQUENCE_NR, 0, remark)
        self._open.setdefault(get_ident(), []).append(event)
        return self

    def __exit__(self, *_: object) -> None:
        own = get_ident()
        # A generator may be entered on one thread and left on another.
        ident = own if own in self._open else next(iter(self._open), None)
        if ident is None:
            raise ProfilerError(f"no block of record_function({self.name!r}) is open")
        blocks = self._open[ident]
        event = blocks.pop()
        if not blocks:
            del self._open[ident]
        observer = observer_of_thread() if ident == own else None
        if observer is not None and event is not None:
            observer.end(event)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate a function, each call of which becomes an event.

        Parameters
        ----------
        function : callable
            The function.

        Returns
        -------
        callable
            A function of the same signature.
        """

        @functools.wraps(function)
        def recorded(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return recorded
