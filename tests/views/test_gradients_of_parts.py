"""What the node of a write through a view passes on for the part replaces the part's gradient."""

from __future__ import annotations

from typing import Any

import pytest

import vtgrad as vt


class Doubled(vt.autograd.Function):
    """Writes to its argument, and in backward to the gradient that it gets."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> vt.Tensor:
        grad: vt.Tensor = grads[0]
        return grad.mul_(2)


def test_what_a_users_backward_has_written_to_its_gradient_counts() -> None:
    """Breaks if the array that it was given is taken for the part's unchanged gradient."""
    leaf = vt.ones(2, 3, requires_grad=True)
    x = leaf * 1
    Doubled.apply(x[0])
    x.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [[2, 2, 2], [1, 1, 1]]


@pytest.mark.parametrize("dtype", [vt.float32, vt.complex64], ids=str)
def test_a_sum_in_place_passes_the_gradient_of_the_part_on(dtype: vt.dtype) -> None:
    """The caller's gradient is not written, and the gradient of what was added is another array."""
    leaf = vt.ones(3, 4, dtype=dtype, requires_grad=True)
    added = vt.ones(2, dtype=dtype, requires_grad=True)
    x = leaf * 1
    x[1:, 1:3] += added
    x[1:, 1:3] *= 3
    given = vt.arange(12.0).reshape(3, 4).to(dtype)
    x.backward(given)
    assert leaf.grad is not None
    assert added.grad is not None
    assert leaf.grad.tolist() == [[0, 1, 2, 3], [4, 15, 18, 7], [8, 27, 30, 11]]
    assert added.grad.tolist() == [42, 48]
    assert given.flatten().tolist() == list(range(12))
    leaf.grad.zero_()
    assert added.grad.tolist() == [42, 48]


def test_a_real_part_takes_the_real_part_of_a_complex_gradient() -> None:
    leaf = vt.ones(3, requires_grad=True)
    factor = vt.tensor([2.0 + 1.0j, 3.0], requires_grad=True)
    x = leaf * 1
    x[:2] += (factor * (1 + 1j)).real
    x[1:].copy_(x[1:].clone().double())
    x.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [1, 1, 1]
    assert factor.grad is not None
    assert factor.grad.tolist() == [1 - 1j, 1 - 1j]
