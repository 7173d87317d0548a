"""`checkpoint_loop`: schedules, states on disk, and the memory that a loop takes."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.autograd.loops import Counted, assert_as_plain, bits, moved_grad, plain_loop
from tests.support import collector_off, leaf, vt

checkpoint_loop = vt.utils.checkpoint.checkpoint_loop
schedules = pytest.importorskip("checkpoint_schedules")

RAM = schedules.StorageType.RAM

MAKERS: dict[str, Callable[[int], Any]] = {
    "multistage": lambda n: schedules.MultistageCheckpointSchedule(n, 2, 2),
    "disk only": lambda n: schedules.MultistageCheckpointSchedule(n, 0, 3),
    "revolve": lambda n: schedules.Revolve(n, 3),
    "disk revolve": lambda n: schedules.DiskRevolve(n, 2),
    "periodic disk revolve": lambda n: schedules.PeriodicDiskRevolve(n, 2),
    "h-revolve": lambda n: schedules.HRevolve(n, 2, 2),
    "two levels": lambda n: schedules.TwoLevelCheckpointSchedule(5, 2),
    "two levels in memory": lambda n: schedules.TwoLevelCheckpointSchedule(
        4, 2, binomial_storage=RAM
    ),
    "mixed": lambda n: schedules.MixedCheckpointSchedule(n, 3, storage=RAM),
    "everything": lambda n: schedules.SingleMemoryStorageSchedule(),
}


@pytest.mark.filterwarnings("ignore:Numba not available")
@pytest.mark.parametrize("steps", [1, 2, 13])
@pytest.mark.parametrize("name", MAKERS)
def test_every_schedule_of_the_package(name: str, steps: int, tmp_path: Path) -> None:
    if steps == 1 and name in ("disk revolve", "periodic disk revolve", "h-revolve", "revolve"):
        pytest.skip("the package makes no such schedule of one step")
    x, w = leaf(4), leaf(4)

    def step(s: Any) -> Any:
        u, flipped = s
        u += w
        return (u * 0.2).sin(), flipped * u.flip(0)

    def start() -> Any:
        # Strides that a file does not keep.
        return x * 1, (x * 2)[:, None].expand(4, 2).clone().t()[0]

    def loss(s: Any) -> vt.Tensor:
        total: vt.Tensor = (s[0] * s[1]).sum()
        return total

    def checkpointed() -> vt.Tensor:
        return loss(checkpoint_loop(step, start(), steps, schedule=MAKERS[name], folder=tmp_path))

    with collector_off():
        assert_as_plain(checkpointed, lambda: loss(plain_loop(step, start(), steps)), (x, w))
        gc.collect()
        assert list(tmp_path.iterdir()) == []


def test_files_go_with_the_graph(tmp_path: Path) -> None:
    x = leaf(4)
    y = checkpoint_loop(
        lambda u: u.sin(), x, 13, schedule=MAKERS["disk only"], folder=tmp_path
    ).sum()
    (folder,) = tmp_path.iterdir()
    assert len(list(folder.iterdir())) == 3
    del y
    assert list(tmp_path.iterdir()) == []


def test_a_kept_graph_makes_a_new_schedule(tmp_path: Path) -> None:
    made: list[int] = []

    def schedule(steps: int) -> Any:
        made.append(steps)
        return schedules.MultistageCheckpointSchedule(steps, 2, 1)

    x = leaf(4)
    y = checkpoint_loop(lambda u: u.sin(), x, 9, schedule=schedule, folder=tmp_path).sum()
    found = [bits(vt.autograd.grad(y, x, retain_graph=True)[0]) for _ in range(2)]
    assert found[0] == found[1]
    assert made == [9, 9]


def test_an_interrupted_backward_can_be_run_again() -> None:
    x = leaf(4)
    stops = [False]

    def body(u: Any) -> Any:
        if stops[0]:
            raise KeyboardInterrupt
        return (u * x).sin()

    step = Counted(body)
    y = checkpoint_loop(step, x, 9, snapshots=3).sum()
    stops[0] = True
    state: Any = vt.get_rng_state()
    with pytest.raises(KeyboardInterrupt):
        y.backward()
    assert x.grad is None
    assert vt.is_grad_enabled()
    assert state.equal(vt.get_rng_state())
    stops[0] = False
    y.backward()
    found = moved_grad(x)
    plain_loop(body, x, 9).sum().backward()
    assert bits(found) == bits(x.grad)


@pytest.mark.slow
def test_memory_of_a_few_states() -> None:
    size, steps, snapshots = 20_000, 300, 5
    state = 8 * size
    x = vt.zeros(size, dtype=vt.float64).requires_grad_()

    def step(u: Any) -> Any:
        return u.sin() * u

    def peak(loop: Callable[[], vt.Tensor]) -> int:
        x.grad = None
        gc.collect()
        tracemalloc.start()
        loop().sum().backward()
        high = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return high

    few = peak(lambda: checkpoint_loop(step, x, steps, snapshots=snapshots))
    # The snapshots and the copy of the first state, and the graph and gradients of one step.
    assert few < (snapshots + 1 + 10) * state
    assert peak(lambda: plain_loop(step, x, steps)) > 2 * steps * state


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (lambda n: schedules.NoneCheckpointSchedule(), "ended backward before step 3"),
        (lambda n: schedules.MultistageCheckpointSchedule(3, 1, 0), "ended forward before"),
        (lambda n: schedules.MultistageCheckpointSchedule(5, 1, 0), "cannot follow|before step"),
        (lambda n: schedules.MixedCheckpointSchedule(n, 2), "graphs only in memory"),
        (lambda n: schedules.SingleDiskStorageSchedule(), "graphs only in memory"),
    ],
)
@pytest.mark.filterwarnings("ignore:Numba not available")
def test_schedules_that_do_not_fit(
    schedule: Callable[[int], Any], words: str, tmp_path: Path
) -> None:
    x = leaf(2)
    with pytest.raises(NotImplementedError, match=words):
        checkpoint_loop(
            lambda u: u.sin(), x, 4, schedule=schedule, folder=tmp_path
        ).sum().backward()
    assert x.grad is None


def test_states_on_disk_need_a_folder() -> None:
    with pytest.raises(ValueError, match="folder"):
        checkpoint_loop(lambda u: u.sin(), leaf(2), 9, schedule=MAKERS["disk only"])
