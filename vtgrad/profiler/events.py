"""Events, and averages of events that have one key."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from vtgrad.profiler.units import time_text

__all__ = ["FunctionEvent", "FunctionEventAvg", "Interval", "Measured"]


class Interval(NamedTuple):
    """A time range, in microseconds since the profile began.

    Attributes
    ----------
    start, end : float
        When the function was called, and when it returned.

    Examples
    --------
    >>> with vt.autograd.profiler.profile() as p:
    ...     x = vt.ones(2) * 2
    >>> time = p.function_events[0].time_range
    >>> time.elapsed_us() == time.end - time.start > 0
    True
    """

    start: float
    end: float

    def elapsed_us(self) -> float:
        """The length in microseconds.

        Returns
        -------
        float
            ``end - start``.

        Examples
        --------
        >>> vt.autograd.profiler.Interval(1.0, 3.5).elapsed_us()
        2.5
        """
        return self.end - self.start


class Measured:
    """What events and averages of events have in common.

    Attributes
    ----------
    key : str
        The name by which events are averaged.
    count : int
        The number of calls.
    cpu_time_total, self_cpu_time_total : float
        Microseconds, with and without the events within.
    cpu_memory_usage, self_cpu_memory_usage : int
        Bytes of results on memory of their own, with and without the events within.
    bytes_copied : int
        Bytes that were copied, or overwritten in place.
    flops : int
        Floating-point operations of the products and sums, if they were asked for.
    input_shapes : list of list of int
        The shape of each argument, if they were asked for.
    scope : int
        0 for an operator or a part of the engine, 1 for the function of a node, 7 for a user's
        `record_function`.
    """

    __slots__ = (
        "bytes_copied",
        "count",
        "cpu_memory_usage",
        "cpu_time_total",
        "flops",
        "input_shapes",
        "key",
        "scope",
        "self_cpu_memory_usage",
        "self_cpu_time_total",
    )

    # Whether the event runs beside the one that contains it: never here.
    is_async: ClassVar[bool] = False
    is_remote: ClassVar[bool] = False

    key: str
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    bytes_copied: int
    flops: int
    input_shapes: list[list[int]]
    scope: int

    def __init__(self, key: str, scope: int, input_shapes: list[list[int]]) -> None:
        self.key = key
        self.scope = scope
        self.input_shapes = input_shapes
        self.count = 0
        self.cpu_time_total = 0.0
        self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = 0
        self.self_cpu_memory_usage = 0
        self.bytes_copied = 0
        self.flops = 0

    def _count_in(self, other: Measured) -> None:
        """Add the times, memory and calls of another."""
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.bytes_copied += other.bytes_copied
        self.flops += other.flops

    @property
    def cpu_time(self) -> float:
        """Microseconds for one call, on average.

        Returns
        -------
        float
            ``cpu_time_total / count``; 0 if there was none.
        """
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """`cpu_time` with its unit."""
        return time_text(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """`cpu_time_total` with its unit."""
        return time_text(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """`self_cpu_time_total` with its unit."""
        return time_text(self.self_cpu_time_total)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} key={self.key} count={self.count} "
            f"self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class FunctionEvent(Measured):
    """One call of an operator, of a node's function, or of a user's block.

    Attributes
    ----------
    name : str
        Such as ``aten::mul``, ``MulBackward0``, or what `record_function` was given.
    id : int
        The number of the event in its profile, from 1 on.
    thread, fwd_thread : int
        The thread that ran the function, from 1 on, and the one that made the node; 0 for a leaf's
        node, or none.
    time_range : Interval
        When the function ran.
    sequence_nr : int
        Of an operator, the number of the next node; of a node, its own; else -1.
    next_nr : int
        Of an operator, the number of the next node when it returned: it has made the nodes from
        `sequence_nr` on that are before.
    cpu_parent : FunctionEvent or None
        The innermost event around this one.
    cpu_children : list of FunctionEvent
        The events within, without those within them.
    stack : list of str
        The user's lines, innermost first, if they were asked for.
    trace_name : str
        The name in traces, which tells the steps of a scheduled profile apart.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> with vt.autograd.profiler.profile() as p:
    ...     y = x.matmul(x)
    >>> outer = p.function_events[0]
    >>> outer.name, [event.name for event in outer.cpu_children]
    ('aten::matmul', ['aten::dot'])
    """

    __slots__ = (
        "cpu_children",
        "cpu_parent",
        "fwd_thread",
        "id",
        "name",
        "next_nr",
        "sequence_nr",
        "stack",
        "thread",
        "time_range",
        "trace_name",
    )

    name: str
    id: int
    thread: int
    fwd_thread: int
    time_range: Interval
    sequence_nr: int
    next_nr: int
    cpu_parent: FunctionEvent | None
    cpu_children: list[FunctionEvent]
    stack: list[str]
    trace_name: str

    def __init__(self, name: str, id: int, scope: int, input_shapes: list[list[int]]) -> None:
        super().__init__(name, scope, input_shapes)
        self.name = self.trace_name = name
        self.id = id
        self.count = 1
        self.thread = 1
        self.fwd_thread = 0
        self.time_range = Interval(0.0, 0.0)
        self.sequence_nr = self.next_nr = -1
        self.cpu_parent = None
        self.cpu_children = []
        self.stack = []


class FunctionEventAvg(Measured):
    """The sum over events that have one key.

    Attributes
    ----------
    stack : list of str
        The lines of the first event, if events are grouped by them.
    cpu_parent : None
        Averages stand in no other event.

    Examples
    --------
    >>> with vt.autograd.profiler.profile() as p:
    ...     for _ in range(3):
    ...         x = vt.ones(2) * 2
    >>> [(average.key, average.count) for average in p.key_averages()]
    [('aten::ones', 3), ('aten::mul', 3)]
    """

    __slots__ = ("cpu_children", "cpu_parent", "stack")

    cpu_children: list[FunctionEvent]
    cpu_parent: None
    stack: list[str]

    def __init__(self, key: str, scope: int, input_shapes: list[list[int]]) -> None:
        super().__init__(key, scope, input_shapes)
        self.cpu_children = []
        self.cpu_parent = None
        self.stack = []

    def add(self, other: Measured) -> FunctionEventAvg:
        """Add an event, or another average.

        Parameters
        ----------
        other : Measured
            What to add.

        Returns
        -------
        FunctionEventAvg
            This average.
        """
        self._count_in(other)
        return self
