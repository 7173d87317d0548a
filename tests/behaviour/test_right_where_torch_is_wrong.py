"""What returns a silently wrong number in PyTorch: right here, or refused.

PyTorch's numbers for these are in tests/oracle. Other behaviours in which it is wrong are beside
their kin: overlapping windows among the refusals, duplicates and aliased gradients in the tests of
who owns a gradient, retained gradients and hooks on stale views among the hooks.
"""

from __future__ import annotations

import cmath
import gc
import itertools
import math
import weakref
from typing import Any

import pytest

from tests.functions import function
from tests.support import ON_TORCH, collector_off, gradients, leaf, ramp, refused, vt

graph: Any = vt.autograd.graph  # which lacks `saved_tensors_hooks`

pytestmark = pytest.mark.skipif(ON_TORCH, reason="differs from torch: it is wrong")

needs_saved_hooks = pytest.mark.skipif(
    not hasattr(graph, "saved_tensors_hooks"), reason="vtgrad has no saved_tensors_hooks yet"
)


def test_sinc_is_curved_at_its_top() -> None:
    x = vt.zeros(1, dtype=vt.float64, requires_grad=True)
    (slope,) = vt.autograd.grad(vt.sinc(x).sum(), [x], create_graph=True)
    (curvature,) = vt.autograd.grad(slope.sum(), [x])
    assert curvature.item() == pytest.approx(-(math.pi**2) / 3)


def test_a_complex_view_that_is_turned_in_place_keeps_each_part_with_its_gradient() -> None:
    a = vt.tensor([1 + 2j, 3 + 4j], dtype=vt.complex128, requires_grad=True)
    b = vt.view_as_real(a.clone())
    b.transpose_(0, 1)
    b += 1
    assert b.tolist() == [[2, 4], [3, 5]]
    # The weights are 1 and 2 for the real parts, 3 and 4 for the imaginary ones.
    assert gradients((b * ramp(2, 2)).sum(), a) == [[1 + 3j, 2 + 4j]]


@pytest.mark.parametrize("function_first", [False, True])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_custom_backward_may_write_to_its_gradient_and_reaches_no_sibling(
    function_first: bool, create_graph: bool
) -> None:
    greedy = function(lambda ctx, x: x * 10, lambda ctx, g: g.mul_(10))
    a, c = leaf(2), leaf(2)
    if function_first:
        y = greedy(a) + c.exp().log()
    else:
        y = c.exp().log() + greedy(a)
    passed = ramp(2)
    of_a, of_c = vt.autograd.grad(y, (a, c), passed, create_graph=create_graph)
    assert of_a.tolist() == [10, 20]
    assert of_c.tolist() == pytest.approx([1, 2])
    assert passed.tolist() == [1, 2]


def test_a_write_in_a_custom_forward_that_is_not_declared_is_reported() -> None:
    def forward(ctx: object, x: vt.Tensor) -> vt.Tensor:
        x.mul_(3)
        return x * 1

    a = leaf(2)
    b = a.clone()

    def apply_and_differentiate() -> None:
        function(forward, lambda ctx, g: g * 3)(b)
        b.sum().backward()

    with pytest.raises(RuntimeError):
        apply_and_differentiate()
    assert a.grad is None


@needs_saved_hooks
def test_saved_tensor_hooks_that_do_nothing_do_not_hide_a_write() -> None:
    x, c = leaf(2), ramp(2)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = (x * c).sum()
    c.mul_(5)
    with refused(RuntimeError, "stale-saved", [x, c]):
        y.backward()
    assert x.grad is None


def test_a_custom_function_that_saves_a_view_of_a_result_dies_with_its_graph() -> None:
    class Mark:
        pass

    alive: list[weakref.ref[Mark]] = []

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark = Mark()
        alive.append(weakref.ref(ctx.mark))
        y = x * 2
        ctx.save_for_backward(y.view(-1))
        return y

    with collector_off():
        function(forward, lambda ctx, g: g * 2)(leaf(2))
        assert alive[0]() is None
    assert gc.isenabled()


def test_complex_functions_on_their_branch_cuts() -> None:
    # The sign of a zero says on which side of the cut a value is; both sides have a derivative.
    step = 1e-6
    values = [complex(x, zero) for x in (2.5, -2.5) for zero in (0.0, -0.0)]
    values += [complex(zero, x) for x in (2.5, -2.5) for zero in (0.0, -0.0)]
    names = ("asin", "acos", "asinh", "acosh", "atanh")
    for name, value in itertools.product(names, values):
        plain: Any = getattr(cmath, name)
        # Along the cut, on the same side.
        moved = [
            complex(value.real + h, value.imag)
            if value.real
            else complex(value.real, value.imag + h)
            for h in (step, -step)
        ]
        slope = (plain(moved[0]) - plain(moved[1])) / (2 * step)
        if not value.real:
            slope /= 1j
        x = vt.tensor(value, dtype=vt.complex128, requires_grad=True)
        y = getattr(vt, name)(x)
        assert y.item() == pytest.approx(plain(value))
        (found,) = vt.autograd.grad(y.real, x)
        assert found.item().conjugate() == pytest.approx(slope, rel=1e-6), (name, value)
