"""Loops, plain and with checkpoints, and comparing their gradients to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.support import vt

__all__ = ["Counted", "Step", "assert_as_plain", "bits", "forget", "moved_grad", "plain_loop"]

Step = Callable[[Any], Any]


class Counted:
    """A step that counts its calls."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.calls = 0

    def __call__(self, state: Any) -> Any:
        self.calls += 1
        return self.step(state)


def plain_loop(step: Step, state: Any, steps: int) -> Any:
    """Apply a step many times, and keep every graph."""
    for _ in range(steps):
        state = step(state)
    return state


def bits(x: vt.Tensor | None) -> tuple[object, ...]:
    """Give all that can differ between two arrays."""
    assert x is not None
    array = x.detach().numpy()
    return array.dtype.str, array.shape, array.tobytes()


def forget(leaves: Sequence[vt.Tensor]) -> None:
    """Remove the gradients of leaves."""
    for x in leaves:
        x.grad = None


def assert_as_plain(
    run: Callable[[], vt.Tensor], plain: Callable[[], vt.Tensor], leaves: Sequence[vt.Tensor]
) -> None:
    """Compare two scalars and their gradients, bit by bit."""
    found: list[list[object]] = []
    for compute in (run, plain):
        forget(leaves)
        loss = compute()
        loss.backward()
        found.append([bits(loss)] + [None if x.grad is None else bits(x.grad) for x in leaves])
    assert found[0] == found[1]


def moved_grad(x: vt.Tensor) -> vt.Tensor | None:
    """Give the gradient of a leaf, and remove it."""
    grad, x.grad = x.grad, None
    return grad
