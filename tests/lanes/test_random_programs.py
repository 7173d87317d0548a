"""Random programs that are spread over two lanes have the bits of one thread.

What breaks it: a gradient that is added when it comes rather than in its turn, memory that two
threads take for their own, user code beside other nodes.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence

import pytest

import vtgrad as vt
from tests.lanes.graphs import run_graph
from tests.lanes.programs import counted_passes, program, run
from vtgrad.engine.input_buffer import buffer_of
from vtgrad.graph.node import Node
from vtgrad.graph.region import Gradient
from vtgrad.lanes.device_threads import lanes_lock
from vtgrad.lanes.lane_run import _NEVER, LaneRun, _Arrivals

#: Half of them are programs of the menu, half wide graphs. `make lanes` runs 1,000 of each.
PROGRAMS = int(os.environ.get("VTGRAD_LANE_PROGRAMS", "40"))
BLOCKS = 10
SOME = [0, 1, *[pytest.param(nr, marks=pytest.mark.slow) for nr in range(2, BLOCKS)]]


@pytest.fixture
def delays(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let nodes take their time, at random, so that they end in another order than they begin."""
    rng = random.Random()
    run_plain = LaneRun._run_plain

    def delayed(self: LaneRun, *args: object) -> None:
        if rng.random() < 0.3:
            time.sleep(rng.random() * 0.002)
        run_plain(self, *args)  # type: ignore[arg-type]  # the arguments are passed on

    monkeypatch.setattr(LaneRun, "_run_plain", delayed)
    return rng.seed


def seeds(block: int) -> range:
    count = PROGRAMS // 2
    return range(block * count // BLOCKS, (block + 1) * count // BLOCKS)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_programs_of_the_menu(
    block: int, monkeypatch: pytest.MonkeyPatch, delays: Callable[[int], None]
) -> None:
    with counted_passes(monkeypatch) as counts:
        for seed in seeds(block):
            delays(seed)
            steps = program(seed)
            spread = run(steps, seed, monkeypatch, threads=True)
            assert spread == run(steps, seed, monkeypatch, threads=False), f"program {seed}"
    assert vt.__compiled__ or counts or len(seeds(block)) < 10


@pytest.mark.parametrize("block", SOME)
def test_wide_graphs(
    block: int, monkeypatch: pytest.MonkeyPatch, delays: Callable[[int], None]
) -> None:
    with counted_passes(monkeypatch) as counts:
        for seed in seeds(block):
            delays(seed)
            spread = run_graph(seed, threads=True)
            assert spread == run_graph(seed, threads=False), f"graph {seed}"
    assert vt.__compiled__ or len(counts) == 2 * len(seeds(block))


def add_what_comes(
    self: LaneRun, node: Node, turn: int, nr: int, parts: Sequence[tuple[Gradient, bool]]
) -> None:
    """Add a gradient at once, whichever turn it has."""
    waiting = self.task.not_ready
    with lanes_lock:
        arrivals = self._arrivals.setdefault(node, _Arrivals(self.task.dependencies[node]))
        buffer = waiting.setdefault(node, buffer_of(node))
        for part, owned in parts:
            buffer.at(nr).add(part, owned, node.input_metadata[nr])
        arrivals.next_turn += 1
        if arrivals.next_turn < arrivals.total:
            return
    del waiting[node], self._arrivals[node]
    self._schedule(buffer)


def let_nothing_wait(self: LaneRun, after: int) -> None:
    """Run user code beside other nodes."""
    self._newest_hook, self._barriers, self._barrier = 0, [], _NEVER


@pytest.mark.parametrize(
    ("method", "fault"), [("_deliver", add_what_comes), ("_find_barriers", let_nothing_wait)]
)
@pytest.mark.skipif(vt.__compiled__, reason="native methods stay as they are")
def test_a_planted_fault_shows(
    method: str,
    fault: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    delays: Callable[[int], None],
) -> None:
    monkeypatch.setattr(LaneRun, method, fault)
    delays(0)
    assert any(
        run_graph(seed, threads=True) != run_graph(seed, threads=False) for seed in range(30)
    )
