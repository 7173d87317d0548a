"""Events as users see them, from what was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from vtgrad.profiler.events import FunctionEvent, Interval
from vtgrad.profiler.recorder import Recorded

__all__ = ["parsed"]

_STEP = "ProfilerStep#"


def parsed(
    recorded: Sequence[Recorded], began: int, thread: int, *, with_flops: bool, with_shapes: bool
) -> list[FunctionEvent]:
    """The events, in the order in which they began.

    Parameters
    ----------
    recorded : sequence of Recorded
        All events of a profile, closed.
    began : int
        When the profile began, in nanoseconds.
    thread : int
        The thread that was profiled, which becomes number 1.
    with_flops, with_shapes : bool
        Whether operations are counted, and shapes shown.
    """
    numbers = {0: 0, thread: 1}
    events: dict[int, FunctionEvent] = {}
    for number, raw in enumerate(recorded, start=1):
        event = FunctionEvent(raw.name, number, raw.scope, raw.shapes if with_shapes else [])
        if raw.name.startswith(_STEP):
            # Steps are averaged together.
            event.name = event.key = _STEP[:-1] + "*"
        event.thread = numbers.setdefault(raw.thread, len(numbers))
        event.fwd_thread = numbers.setdefault(raw.forward_thread, len(numbers))
        event.sequence_nr, event.next_nr = raw.sequence_nr, raw.next_nr
        event.time_range = Interval((raw.start - began) / 1000, (raw.end - began) / 1000)
        event.stack = [f"{code.co_filename}({line}): {code.co_name}" for code, line in raw.stack]
        if with_flops:
            event.flops = _flops(raw.name, raw.shapes)
        events[id(raw)] = event
        if raw.parent is not None:
            event.cpu_parent = parent = events[id(raw.parent)]
            parent.cpu_children.append(event)
    # From the innermost outwards.
    for raw in reversed(recorded):
        _measure(events[id(raw)], raw)
    return list(events.values())


def _measure(event: FunctionEvent, raw: Recorded) -> None:
    """The sums of an event, whose children have theirs."""
    children = event.cpu_children
    event.cpu_time_total = event.time_range.elapsed_us()
    event.self_cpu_time_total = event.cpu_time_total - sum(e.cpu_time_total for e in children)
    within = sum(child.cpu_memory_usage for child in children)
    event.cpu_memory_usage = within if raw.allocated is None else raw.allocated
    event.self_cpu_memory_usage = event.cpu_memory_usage - within
    event.bytes_copied = max(raw.copied, sum(child.bytes_copied for child in children))


def _flops(name: str, shapes: Sequence[Sequence[int]]) -> int:
    """The number of multiplications and additions of an operator; 0 if it is not known."""
    if name in ("aten::mul", "aten::add") and shapes:
        return _broadcast_size(shapes[:2])
    if name == "aten::addmm" and len(shapes) > 2:
        shapes = shapes[1:]
    elif name not in ("aten::mm", "aten::bmm"):
        return 0
    if len(shapes) < 2 or len(shapes[0]) < 2 or len(shapes[1]) < 2:
        return 0
    return 2 * prod(shapes[0]) * shapes[1][-1]


def _broadcast_size(shapes: Sequence[Sequence[int]]) -> int:
    """The number of elements of the result; 0 if the operator refuses the shapes."""
    try:
        return prod(np.broadcast_shapes(*map(tuple, shapes)))
    except ValueError:
        return 0
