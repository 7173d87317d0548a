"""Events as a table of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vtgrad.profiler.events import FunctionEvent, Measured
from vtgrad.profiler.units import share_text, size_text, time_text

__all__ = ["table_text"]

_WIDTH = 12
_MOST_SHAPES = 80


def table_text(
    events: Sequence[Measured],
    sort_by: str | None,
    row_limit: int,
    max_name_width: int,
    header: str | None,
    *,
    top_level_events_only: bool,
    with_memory: bool,
) -> str:
    """The table of `EventList.table`."""
    if not events:
        return ""
    total = sum(event.self_cpu_time_total for event in events)
    if sort_by is not None:
        wanted = sort_by
        events = sorted(events, key=lambda event: _number(event, wanted), reverse=True)
    if top_level_events_only:
        events = [
            event
            for event in events
            if not isinstance(event, FunctionEvent) or event.cpu_parent is None
        ]
    if row_limit >= 0:
        events = events[:row_limit]
    columns = _columns(events, total, max_name_width, with_memory=with_memory)
    widths = [max(len(text) for text in column) for column in columns]
    widths[1:] = [max(width, _WIDTH) for width in widths[1:]]
    rows = [
        "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
        for row in zip(*columns, strict=True)
    ]
    rule = "  ".join("-" * width for width in widths)
    above = [] if header is None else ["=" * len(rule), header]
    lines = [*above, rule, rows[0], rule, *rows[1:], rule]
    return "\n".join([*lines, f"Self CPU time total: {time_text(total)}", ""])


def _number(event: Measured, name: str) -> float:
    """The attribute by which events are sorted."""
    value: float = getattr(event, name)
    return value


def _columns(
    events: Sequence[Measured], total: float, max_name_width: int, *, with_memory: bool
) -> list[list[str]]:
    """The columns, each with its title first."""
    tellers: dict[str, Callable[[Measured], str]] = {
        "Name": lambda e: _cut(e.key, max_name_width),
        "Self CPU %": lambda e: share_text(e.self_cpu_time_total, total),
        "Self CPU": lambda e: time_text(e.self_cpu_time_total),
        "CPU total %": lambda e: share_text(e.cpu_time_total, total),
        "CPU total": lambda e: time_text(e.cpu_time_total),
        "CPU time avg": lambda e: time_text(e.cpu_time),
    }
    if with_memory:
        tellers["CPU Mem"] = lambda e: size_text(e.cpu_memory_usage)
        tellers["Self CPU Mem"] = lambda e: size_text(e.self_cpu_memory_usage)
        tellers["Copied"] = lambda e: size_text(e.bytes_copied)
    tellers["# of Calls"] = lambda e: str(e.count)
    if any(event.input_shapes for event in events):
        tellers["Input Shapes"] = lambda e: _cut(str(e.input_shapes), _MOST_SHAPES)
    if any(event.flops for event in events):
        tellers["FLOPs"] = lambda e: str(e.flops) if e.flops else "--"
    return [[title, *[tell(event) for event in events]] for title, tell in tellers.items()]


def _cut(text: str, width: int) -> str:
    """A text that is not longer than `width`, unless that is less than three dots take."""
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."
