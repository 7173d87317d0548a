"""Checkpoints of functions that ask for dimensions by name."""

from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad.utils.checkpoint import checkpoint, checkpoint_loop, checkpoint_sequential

CYCLE = pytest.mark.filterwarnings("ignore:backward")


def function(x: vt.Tensor) -> vt.Tensor:
    return (x.softmax("C") * x.exp()).sum("C")


def leaf() -> vt.Tensor:
    return vt.tensor([[0.1, 0.2, 0.4], [0.3, 0.0, 0.5]], names=("N", "C")).requires_grad_()


def gradient_of(result: vt.Tensor, x: vt.Tensor, create_graph: bool = False) -> object:
    assert result.names == ("N",)
    result.sum().backward(create_graph=create_graph)
    assert x.grad is not None
    assert x.grad.names == (None, None)
    return x.grad.tolist()


@CYCLE
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("is_leaf", [False, True])
def test_a_function_that_runs_again_sees_names(
    use_reentrant: bool, create_graph: bool, is_leaf: bool
) -> None:
    x, y = leaf(), leaf()
    result = checkpoint(function, x if is_leaf else x * 1, use_reentrant=use_reentrant)
    found = gradient_of(result, x, create_graph)
    assert found == gradient_of(function(y if is_leaf else y * 1), y)
    assert x.names == ("N", "C")


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_the_names_are_those_of_the_first_run(use_reentrant: bool) -> None:
    x, y = leaf(), leaf()
    result = checkpoint(function, x, use_reentrant=use_reentrant)
    x.rename_("P", "Q")
    assert gradient_of(result, x) == gradient_of(function(y), y)
    assert x.names == ("P", "Q")


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_names_go_from_segment_to_segment(use_reentrant: bool) -> None:
    x, y = leaf(), leaf()
    steps: list[Callable[[vt.Tensor], vt.Tensor]]
    steps = [lambda a: a.softmax("C"), vt.exp, lambda a: a.sum("C")]
    result = checkpoint_sequential(steps, 2, x * 1, use_reentrant=use_reentrant)
    assert isinstance(result, vt.Tensor)
    assert gradient_of(result, x) == gradient_of((y * 1).softmax("C").exp().sum("C"), y)


@pytest.mark.parametrize("writes", [False, True])
def test_a_loop_hands_names_on(writes: bool) -> None:
    pytest.importorskip("checkpoint_schedules")

    def step(u: vt.Tensor) -> vt.Tensor:
        u = u.mul_(0.5) if writes else u * 0.5
        return u.softmax("C")

    x, y = leaf(), leaf()
    result = checkpoint_loop(step, x * 1, 5, snapshots=2)
    assert result.names == ("N", "C")
    plain = y * 1
    for _ in range(5):
        plain = (plain * 0.5).softmax("C")
    assert gradient_of(result.sum("C"), x) == gradient_of(plain.sum("C"), y)
