"""Traces of profiles, against the trace event format of Chromium."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TypedDict, cast

import pytest

from tests.support import ON_TORCH, differs_from_torch, ones_leaf, vt

profile = vt.autograd.profiler.profile


class TraceEvent(TypedDict, total=False):
    """An event of a trace; which fields it has depends on `ph`."""

    ph: str
    name: str
    cat: str
    pid: int
    tid: int
    ts: float
    dur: float
    id: int
    bp: str
    args: dict[str, object]


REQUIRED = {
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "M": {"name", "pid", "tid", "args"},
    "s": {"name", "cat", "pid", "tid", "ts", "id"},
    "f": {"name", "cat", "pid", "tid", "ts", "id", "bp"},
}


def program() -> None:
    """A program with nested operators, a block of the user, views, writes and a backward."""
    x, w = ones_leaf(3, 4), ones_leaf(4, 2)
    with vt.autograd.profiler.record_function("forward"):
        y = x.matmul(w).sin()
        z = y.clone()
        z[1:].mul_(2.0)
    (z * 2.0).sum().backward()


@pytest.fixture
def trace(tmp_path: Path) -> list[TraceEvent]:
    """The events of the trace of the program."""
    with profile(record_shapes=True) as p:
        program()
    path = tmp_path / "trace.json"
    p.export_chrome_trace(str(path))
    whole = json.loads(path.read_text("utf-8"))
    assert isinstance(whole, dict)
    return cast("list[TraceEvent]", whole["traceEvents"])


def calls(trace: list[TraceEvent]) -> list[TraceEvent]:
    """The operators, nodes and blocks."""
    wanted = ("cpu_op", "user_annotation")
    return [event for event in trace if event["ph"] == "X" and event["cat"] in wanted]


def call(trace: list[TraceEvent], name: str) -> TraceEvent:
    """The first call of a name."""
    return next(event for event in calls(trace) if event["name"] == name)


@differs_from_torch("PyTorch's traces have events of other phases too")
def test_events_have_the_fields_that_the_format_asks_for(trace: list[TraceEvent]) -> None:
    assert {event["ph"] for event in trace} == set(REQUIRED)
    for event in trace:
        assert REQUIRED[event["ph"]] <= set(event)
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        assert isinstance(event.get("ts", 0.0), (int, float))
        assert event.get("ts", 0.0) >= 0


def test_calls_have_times_and_categories(trace: list[TraceEvent]) -> None:
    found = calls(trace)
    assert all(event["dur"] >= 0 for event in found)
    assert call(trace, "forward")["cat"] == "user_annotation"
    assert call(trace, "aten::matmul")["cat"] == "cpu_op"
    assert call(trace, "aten::matmul")["args"]["Input Dims"] == [[3, 4], [4, 2]]


def test_calls_of_a_thread_are_nested(trace: list[TraceEvent]) -> None:
    open_until: list[float] = []
    for event in sorted(calls(trace), key=lambda event: (event["ts"], -event["dur"])):
        end = event["ts"] + event["dur"]
        while open_until and open_until[-1] <= event["ts"]:
            open_until.pop()
        assert not open_until or end <= open_until[-1] + 1e-3
        open_until.append(end)


def test_names_of_process_and_threads_are_metadata(trace: list[TraceEvent]) -> None:
    found = {event["name"]: event["args"] for event in trace if event["ph"] == "M"}
    assert {"process_name", "thread_name"} <= found.keys()
    assert ON_TORCH or found["thread_name"] == {"name": "profiled thread"}


def test_arrows_lead_from_operators_to_their_nodes(trace: list[TraceEvent]) -> None:
    begins = {event["id"]: event for event in trace if event["ph"] == "s"}
    ends = {event["id"]: event for event in trace if event["ph"] == "f"}
    assert begins.keys() == ends.keys()
    assert all(event["cat"] == "fwdbwd" for event in begins.values())
    assert all(event["bp"] == "e" for event in ends.values())
    joined = {}
    for number, begin in begins.items():
        assert begin["ts"] <= ends[number]["ts"]
        joined[innermost_at(trace, begin["ts"])] = innermost_at(trace, ends[number]["ts"])
    assert joined["aten::sin"].endswith("SinBackward0")
    assert joined["aten::sum"].endswith("SumBackward0")
    assert joined["aten::clone"].endswith("CloneBackward0")


@differs_from_torch("PyTorch has an arrow to one of the nodes of an operator")
def test_each_node_that_an_operator_makes_has_an_arrow(tmp_path: Path) -> None:
    x = ones_leaf(3)
    with profile() as p:
        y = x.clone()
        row = y[1:]
        row.mul_(3.0)  # this node, and that which puts it into the base
        y[:2].mul_(2.0)
        row.sum().backward()  # the producer of `row` is built anew
    path = tmp_path / "trace.json"
    p.export_chrome_trace(path)
    trace = json.loads(path.read_text("utf-8"))["traceEvents"]
    ends = {event["id"]: event for event in trace if event["ph"] == "f"}
    joined = [
        (innermost_at(trace, event["ts"]), innermost_at(trace, ends[event["id"]]["ts"]))
        for event in trace
        if event["ph"] == "s"
    ]
    assert joined == [
        ("aten::sum", "SumBackward0"),
        ("aten::sum", "AsStridedBackward0"),
        ("aten::mul_", "torch::autograd::CopySlices"),
        ("aten::mul_", "MulBackward0"),
        ("aten::mul_", "torch::autograd::CopySlices"),
        ("aten::mul_", "MulBackward0"),
        ("aten::clone", "CloneBackward0"),
    ]


@differs_from_torch("PyTorch writes other digits")
def test_times_are_whole_nanoseconds(trace: list[TraceEvent]) -> None:
    times = [time for event in calls(trace) for time in (event["ts"], event["dur"])]
    assert times == [round(time, 3) for time in times]


def innermost_at(trace: list[TraceEvent], time: float) -> str:
    """The name of the innermost call that is running at a time."""
    running = [e for e in calls(trace) if e["ts"] <= time <= e["ts"] + e["dur"]]
    return max(running, key=lambda event: event["ts"])["name"]


def test_a_trace_may_be_compressed(tmp_path: Path) -> None:
    with profile() as p:
        program()
    path = tmp_path / "trace.json.gz"
    p.export_chrome_trace(str(path))
    if ON_TORCH:
        return
    assert json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]


@differs_from_torch("PyTorch raises AttributeError")
def test_a_trace_is_written_after_the_block(tmp_path: Path) -> None:
    with profile() as p, pytest.raises(RuntimeError, match="after"):
        p.export_chrome_trace(str(tmp_path / "trace.json"))
    with pytest.raises(FileNotFoundError):
        p.export_chrome_trace(str(tmp_path / "missing" / "trace.json"))
