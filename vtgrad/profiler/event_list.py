"""Lists of events: averages, tables, traces."""

from __future__ import annotations

from os import PathLike
from typing import TypeVar

from vtgrad.graph.observer import USER_SCOPE
from vtgrad.profiler.events import FunctionEvent, FunctionEventAvg, Measured
from vtgrad.profiler.table import table_text
from vtgrad.profiler.trace import write_trace

__all__ = ["EventList"]

E = TypeVar("E", bound=Measured)


class EventList(list[E]):
    """Events of a profile in the order in which they began, or averages of them.

    Examples
    --------
    >>> with vt.autograd.profiler.profile() as p:
    ...     x = vt.ones(2) * 2 + 1
    >>> len(p.function_events), p.key_averages().total_average().count
    (3, 3)
    """

    __slots__ = ("_with_memory",)

    _with_memory: bool

    def __init__(self, events: list[E], *, with_memory: bool = False) -> None:
        super().__init__(events)
        self._with_memory = with_memory

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the events' own times.

        Returns
        -------
        float
            Microseconds.
        """
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList[FunctionEventAvg]:
        """Sums over the events of one name.

        Parameters
        ----------
        group_by_input_shape : bool, default False
            Whether events with arguments of different shapes are kept apart.
        group_by_stack_n : int, default 0
            The number of the user's lines by which events are kept apart.

        Returns
        -------
        EventList
            One average for each name, in the order of the first events.

        Examples
        --------
        >>> with vt.autograd.profiler.profile(record_shapes=True) as p:
        ...     for size in (2, 3, 3):
        ...         x = vt.ones(size).exp()
        >>> averages = p.key_averages(group_by_input_shape=True)
        >>> [(a.input_shapes, a.count) for a in averages if a.key == "aten::exp"]
        [([[2]], 1), ([[3]], 2)]
        """
        found: dict[object, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shape else []
            stack: list[str] = []
            if isinstance(event, (FunctionEvent, FunctionEventAvg)) and group_by_stack_n > 0:
                stack = event.stack[:group_by_stack_n]
            # As in PyTorch, a user's block is no operator of the same name.
            key = (event.key, event.scope == USER_SCOPE, str(shapes), tuple(stack))
            average = found.get(key)
            if average is None:
                average = found[key] = FunctionEventAvg(event.key, event.scope, shapes)
                average.stack = stack
            average.add(event)
        return EventList(list(found.values()), with_memory=self._with_memory)

    def total_average(self) -> FunctionEventAvg:
        """The sum over all events.

        Returns
        -------
        FunctionEventAvg
            Its key is "Total"; times of nested events are counted in each of them.

        Examples
        --------
        >>> with vt.autograd.profiler.profile() as p:
        ...     x = vt.ones(2).exp()
        >>> p.function_events.total_average().key
        'Total'
        """
        total = FunctionEventAvg("Total", 0, [])
        for event in self:
            total.add(event)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_name_column_width: int = 55,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The events as a table of text.

        Parameters
        ----------
        sort_by : str, optional
            An attribute such as ``"self_cpu_time_total"`` or ``"count"``; the largest come first.
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
            A line for each event, and the sum of the events' own times; empty without events.

        Raises
        ------
        AttributeError
            If events have no attribute `sort_by`.

        Examples
        --------
        >>> with vt.autograd.profiler.profile() as p:
        ...     x = vt.ones(2).exp()
        >>> lines = p.key_averages().table(sort_by="count").splitlines()
        >>> lines[1].split("  ")[-1], lines[3].split()[0], lines[-1].partition(":")[0]
        ('# of Calls', 'aten::ones', 'Self CPU time total')
        """
        return table_text(
            self,
            sort_by,
            row_limit,
            max_name_column_width,
            header,
            top_level_events_only=top_level_events_only,
            with_memory=self._with_memory,
        )

    def export_chrome_trace(self, path: str | PathLike[str]) -> None:
        """Write the events as a trace that Perfetto and ``chrome://tracing`` show.

        Parameters
        ----------
        path : str or path-like
            The file; compressed if the name ends in ``.gz``.

        Raises
        ------
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import json, os, tempfile
        >>> with vt.autograd.profiler.profile() as p:
        ...     x = vt.ones(2).exp()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "trace.json")
        ...     p.export_chrome_trace(path)
        ...     with open(path, "rb") as file:
        ...         sorted({event["ph"] for event in json.load(file)["traceEvents"]})
        ['M', 'X']
        """
        write_trace(path, [event for event in self if isinstance(event, FunctionEvent)])

    def __str__(self) -> str:
        return self.table()
