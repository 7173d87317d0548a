"""Profiles of some steps of a loop: `vtgrad.profiler.profile`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import ON_TORCH, differs_from_torch, ones_leaf, vt

# PyTorch warns of steps without a warmup, and of cycles whose events are gone.
pytestmark = [pytest.mark.filterwarnings("ignore")] * ON_TORCH

Action = vt.profiler.ProfilerAction


def test_a_schedule_skips_waits_warms_up_records_and_repeats() -> None:
    action = vt.profiler.schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    cycle = ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"]
    assert [action(step).name for step in range(12)] == ["NONE", *cycle, *cycle, *["NONE"] * 3]


def test_without_repeat_a_schedule_goes_on() -> None:
    action = vt.profiler.schedule(wait=0, warmup=0, active=1)
    assert {action(step) for step in range(100)} == {Action.RECORD_AND_SAVE}


def test_the_events_of_recorded_steps_are_handed_over() -> None:
    x = ones_leaf(2)
    found: list[list[str]] = []

    def look(p: vt.profiler.profile) -> None:
        found.append([event.name for event in p.events()])

    with vt.profiler.profile(
        activities=[vt.profiler.ProfilerActivity.CPU],
        schedule=vt.profiler.schedule(wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=look,
    ) as p:
        for _ in range(10):
            x.exp()
            p.step()
    steps = ["ProfilerStep*", "aten::exp", "ProfilerStep*", "aten::exp"]
    assert found == [steps, steps]


def test_steps_contain_their_operators_and_have_their_numbers_in_traces(tmp_path: Path) -> None:
    x = ones_leaf(2)
    with vt.profiler.profile(
        activities=[vt.profiler.ProfilerActivity.CPU],
        schedule=vt.profiler.schedule(wait=1, warmup=0, active=1, repeat=1),
    ) as p:
        for _ in range(3):
            x.exp()
            p.step()
    step, operator = p.events()
    assert operator.cpu_parent is step
    assert step.scope == 7
    path = tmp_path / "trace.json"
    p.export_chrome_trace(str(path))
    names = [event["name"] for event in json.loads(path.read_text("utf-8"))["traceEvents"]]
    assert "ProfilerStep#1" in names


def test_without_a_schedule_the_block_is_recorded() -> None:
    x = ones_leaf(2)
    ready: list[int] = []
    with vt.profiler.profile(
        activities=[vt.profiler.ProfilerActivity.CPU],
        on_trace_ready=lambda p: ready.append(len(p.events())),
    ) as p:
        x.exp()
    assert ready == [1]
    assert [average.key for average in p.key_averages()] == ["aten::exp"]


def test_the_number_and_the_action_of_a_step_can_be_read() -> None:
    seen = []
    with vt.profiler.profile(
        activities=[vt.profiler.ProfilerActivity.CPU],
        schedule=vt.profiler.schedule(wait=1, warmup=0, active=1, repeat=1),
    ) as p:
        for _ in range(3):
            seen.append((p.step_num, p.current_action.name))
            p.step()
    assert seen == [(0, "NONE"), (1, "RECORD_AND_SAVE"), (2, "NONE")]


def test_start_and_stop_take_the_place_of_the_block() -> None:
    x = ones_leaf(2)
    p = vt.profiler.profile(activities=[vt.profiler.ProfilerActivity.CPU])
    p.start()
    x.exp()
    p.stop()
    x.sin()
    assert [event.name for event in p.events()] == ["aten::exp"]


@differs_from_torch("PyTorch asserts, or fails elsewhere")
def test_what_a_scheduled_profile_refuses() -> None:
    with pytest.raises(RuntimeError):
        vt.profiler.schedule(wait=-1, warmup=0, active=1)
    with pytest.raises(RuntimeError):
        vt.profiler.schedule(wait=0, warmup=0, active=0)
    with pytest.raises(RuntimeError):
        vt.profiler.profile().events()
    with pytest.raises(RuntimeError):
        vt.profiler.profile().step()
    with pytest.raises(NotImplementedError):
        vt.profiler.profile(activities=["CUDA"])  # type: ignore[list-item]
    p = vt.profiler.profile()
    with p:
        pass
    with pytest.raises(RuntimeError), p:
        pass


@differs_from_torch("PyTorch records nothing")
def test_a_schedule_gives_actions() -> None:
    with pytest.raises(TypeError, match="ProfilerAction for each step, not True"):
        vt.profiler.profile(schedule=lambda step: step < 3)  # type: ignore[arg-type, return-value]
