"""Checkpoints whose function overwrites what it has saved, in a block that allows it.

What breaks them: a function that runs again outside of the block, in which its first run was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.support import grad_list, leaf_of, needs_global_lock, vt

allow_mutation = vt.autograd.graph.allow_mutation_on_saved_tensors
checkpoint, checkpoint_loop = vt.utils.checkpoint.checkpoint, vt.utils.checkpoint.checkpoint_loop


def overwriting(x: vt.Tensor) -> vt.Tensor:
    y = x * x
    z = y * y
    y.mul_(2)
    return z + y * y


WAYS: dict[str, Callable[[vt.Tensor], vt.Tensor]] = {
    "recomputed": lambda x: checkpoint(overwriting, x, use_reentrant=False),
    "reentrant": lambda x: checkpoint(overwriting, x, use_reentrant=True),
    "loop, all kept": lambda x: checkpoint_loop(overwriting, x, 1, snapshots=5),
    "loop, run again": lambda x: checkpoint_loop(overwriting, x, 1, snapshots=1),
}

in_all_ways = pytest.mark.parametrize("call", WAYS.values(), ids=WAYS.keys())


@in_all_ways
def test_what_runs_again_after_the_block_may_overwrite_what_it_saves(
    call: Callable[[vt.Tensor], vt.Tensor],
) -> None:
    x = leaf_of(1.0, 2.0)
    with allow_mutation():
        y = call(x)
    y.sum().backward()
    assert grad_list(x) == [20, 160]


@needs_global_lock
@in_all_ways
def test_the_thread_of_backward_need_not_be_in_a_block(
    call: Callable[[vt.Tensor], vt.Tensor],
) -> None:
    x = leaf_of(1.0, 2.0)
    with allow_mutation():
        y = call(x)
    thread = threading.Thread(target=lambda: y.sum().backward())
    thread.start()
    thread.join()
    assert grad_list(x) == [20, 160]


@in_all_ways
def test_backward_does_not_go_on_in_the_block(call: Callable[[vt.Tensor], vt.Tensor]) -> None:
    x = leaf_of(1.0, 2.0)
    with allow_mutation():
        y = call(x)
    y.sum().backward()
    late = x * x
    saved = late * late
    late.mul_(2)
    with pytest.raises(vt.errors.StaleSavedError):
        saved.sum().backward()


def test_steps_of_a_loop_overwrite_what_they_save() -> None:
    def step(state: vt.Tensor) -> vt.Tensor:
        return overwriting(state) * 0.1

    results = []
    for snapshots in (1, 2, 5):
        x = leaf_of(1.0, 0.5)
        with allow_mutation():
            y = checkpoint_loop(step, x, 5, snapshots=snapshots)
        y.sum().backward()
        results.append(grad_list(x))
    plain = leaf_of(1.0, 0.5)
    with allow_mutation():
        z = plain
        for _ in range(5):
            z = step(z)
    z.sum().backward()
    assert results == [grad_list(plain)] * 3
