"""Events as a trace, in the trace event format of Chromium.

Note [From forward to backward]

An operator's event has the number of the thread's next node when it began and when it ended, so the
numbers of the nodes that the operator made: none, one, or several, as a write through a view makes
the node of the write and a `CopySlices`. The event of a node has its own number and the thread that
made it. So the last operator event on that thread whose numbers contain it is that of the operator
that made the node: of a nested call (``matmul`` calls ``mm``) the innermost. An arrow (two flow
events, ``s`` and ``f``) leads from it to the event of the node.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from vtgrad.graph.observer import BACKWARD_FUNCTION, FUNCTION, USER_SCOPE
from vtgrad.profiler.events import FunctionEvent

__all__ = ["trace_events", "write_trace"]

Json: TypeAlias = "str | int | float | list[Json] | dict[str, Json]"


def write_trace(path: str | os.PathLike[str], events: Sequence[FunctionEvent]) -> None:
    """Write a trace of events."""
    path = os.fspath(path)
    trace: dict[str, Json] = {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "traceName": path,
        "traceEvents": [*trace_events(events)],
    }
    data = json.dumps(trace, separators=(",", ":")).encode()
    Path(path).write_bytes(gzip.compress(data) if path.endswith(".gz") else data)


def trace_events(events: Sequence[FunctionEvent]) -> Iterable[dict[str, Json]]:
    """The events of a trace: names of process and threads, calls, and arrows."""
    pid = os.getpid()
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    yield _metadata("process_name", pid, 0, program)
    for thread in sorted({event.thread for event in events}):
        name = "profiled thread" if thread == 1 else "engine's helper thread"
        yield _metadata("thread_name", pid, thread, name)
    for event in events:
        yield {
            "ph": "X",
            "cat": "user_annotation" if event.scope == USER_SCOPE else "cpu_op",
            "name": event.trace_name,
            "pid": pid,
            "tid": event.thread,
            "ts": event.time_range.start,
            # Whole nanoseconds, as measured: the difference of two floats has more digits.
            "dur": round(event.time_range.elapsed_us(), 3),
            "args": _arguments(event),
        }
    for number, (forward, backward) in enumerate(_arrows(events), start=1):
        for phase, event in (("s", forward), ("f", backward)):
            arrow: dict[str, Json] = {
                "ph": phase,
                "cat": "fwdbwd",
                "name": "fwdbwd",
                "id": number,
                "pid": pid,
                "tid": event.thread,
                "ts": event.time_range.start,
            }
            # Bound to the event that encloses the time, not to the next one.
            yield arrow | {"bp": "e"} if phase == "f" else arrow


def _metadata(name: str, pid: int, tid: int, value: str) -> dict[str, Json]:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "ts": 0, "args": {"name": value}}


def _arguments(event: FunctionEvent) -> dict[str, Json]:
    """The facts that a viewer shows for an event."""
    shown: dict[str, Json] = {"External id": event.id}
    if event.sequence_nr >= 0:
        shown["Sequence number"] = event.sequence_nr
    if event.fwd_thread:
        shown["Fwd thread id"] = event.fwd_thread
    if event.input_shapes:
        shown["Input Dims"] = [[*shape] for shape in event.input_shapes]
    if event.cpu_memory_usage:
        shown["Bytes"] = event.cpu_memory_usage
    if event.bytes_copied:
        shown["Bytes copied"] = event.bytes_copied
    if event.stack:
        shown["Call stack"] = ";".join(event.stack)
    return shown


def _arrows(events: Sequence[FunctionEvent]) -> Iterable[tuple[FunctionEvent, FunctionEvent]]:
    """The operator and the node of each arrow; see Note [From forward to backward]."""
    last: dict[tuple[int, int], FunctionEvent] = {}
    for event in events:
        if event.sequence_nr < 0:
            continue
        if event.scope == BACKWARD_FUNCTION:
            forward = last.get((event.fwd_thread, event.sequence_nr))
            if forward is not None:
                yield forward, event
        elif event.scope == FUNCTION and not event.name.startswith("autograd::engine::"):
            for number in range(event.sequence_nr, event.next_nr):
                last[event.thread, number] = event
