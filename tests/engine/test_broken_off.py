"""A backward that breaks off in the middle leaves every ``.grad`` as it was."""

from collections.abc import Sequence

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.graph.node import Node
from vtgrad.graph.region import Gradient
from vtgrad.graph.set_history import gradient_edge, set_history
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase


class _BreakError(Exception):
    pass


class _Breaks(Node):
    """A node that fails when it runs."""

    __slots__ = ()

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Gradient | None]:
        raise _BreakError

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        raise _BreakError


def breaking(x: vt.Tensor) -> vt.Tensor:
    """A copy of `x` whose node fails when it runs."""
    result = x.detach().clone()
    set_history(result, _Breaks((gradient_edge(x),)))
    assert isinstance(result.grad_fn, _Breaks)
    return result


def test_leaves_that_were_reached_before_have_no_gradient() -> None:
    w = vt.ones(3, requires_grad=True)
    x = vt.ones(3, requires_grad=True)
    # The node of the product runs before the one that fails.
    loss = (breaking(x) * w).sum()
    with pytest.raises(_BreakError):
        loss.backward()
    assert w.grad is None
    assert x.grad is None


def test_a_gradient_that_was_there_keeps_its_values_and_version() -> None:
    w = vt.ones(3, requires_grad=True)
    (w * 2).sum().backward()
    before = w.grad
    assert before is not None
    version = before._version
    loss = (breaking(vt.ones(3, requires_grad=True)) * w).sum()
    with pytest.raises(_BreakError):
        loss.backward()
    assert w.grad is before
    assert before.tolist() == [2.0, 2.0, 2.0]
    assert before._version == version


def test_recording_is_on_again_and_the_next_backward_works() -> None:
    x = vt.ones(3, requires_grad=True)
    with pytest.raises(_BreakError):
        breaking(x).sum().backward()
    assert vt.is_grad_enabled()
    (x * 3).sum().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), [3.0, 3.0, 3.0])


def test_a_hook_sees_the_leaves_that_were_filled_before_it() -> None:
    w = vt.ones(2, requires_grad=True)
    x = vt.ones(2, requires_grad=True)
    y = x * 2
    seen: list[object] = []
    y.register_hook(lambda grad: seen.append(None if w.grad is None else w.grad.tolist()))
    (y * w).sum().backward()
    assert seen == [[2.0, 2.0]]
