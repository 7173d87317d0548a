"""Gradients of duals, and tangents that are differentiated."""

from typing import Any

import pytest

import vtgrad as vt
from tests.forward.support import dual, has_none, tangent, tensor
from vtgrad.autograd import forward_ad as fw


def test_a_gradient_by_the_dual_has_a_tangent_too() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, tensor(1, 10))
        (g,) = vt.autograd.grad((d**3).sum(), d)
        assert g.tolist() == [3, 12]
        assert tangent(g).tolist() == [6, 120]
        assert not g.requires_grad


def test_grad_has_no_tangent_unless_the_backward_is_recorded() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        for times in (1, 2):
            (fw.make_dual(x, tensor(1, 10)) ** 2).sum().backward()
            assert x.grad is not None
            assert has_none(x.grad)
            assert x.grad.tolist() == [2 * times, 4 * times]
        y = tensor(1, 2).requires_grad_()
        with pytest.warns(UserWarning, match="cycle"):
            (fw.make_dual(y, tensor(1, 10)) ** 2).sum().backward(create_graph=True)
        assert y.grad is not None
        assert tangent(y.grad).tolist() == [2, 20]
        y.grad = None  # ends the cycle with the graph


def test_writes_and_views_have_exact_tangents_of_gradients() -> None:
    x = tensor(1, 2, 3).requires_grad_()
    with fw.dual_level():
        b = vt.zeros(3, dtype=vt.float64)
        d = fw.make_dual(x, tensor(1, 10, 100))
        b[1:] = d[:-1] ** 2
        (g,) = vt.autograd.grad((b**2).sum(), x)
        assert g.tolist() == [4, 32, 0]
        assert tangent(g).tolist() == [12, 480, 0]


def test_hooks_and_saved_tensors_have_tangents() -> None:
    seen: list[Any] = []

    class Square(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
            return t * 0

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> Any:
            (x,) = ctx.saved_tensors
            seen.append((vt.is_grad_enabled(), tangent(x).tolist()))
            return g * 2 * x

    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, tensor(1, 10))
        e = d.clone()
        e.register_hook(lambda g: seen.append(tangent(g).tolist()))
        vt.autograd.grad(Square.apply(e).sum(), x)
    assert seen == [(False, [1, 10]), [2, 20]]


def test_a_dual_gradient_passes_its_tangent_on() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        (g,) = vt.autograd.grad(x * 3, x, dual(5, 6))
        assert tangent(g).tolist() == [15, 18]


def test_tangent_arithmetic_checks_what_it_has_saved() -> None:
    w = tensor(3, 4).requires_grad_()
    with fw.dual_level():
        v = w * 1
        t = tangent(fw.make_dual(tensor(1, 2), tensor(1, 1)) * v * v)
        v.mul_(2)
        with pytest.raises(RuntimeError, match="overwritten"):
            vt.autograd.grad(t.sum(), w)


def test_a_tangent_that_requires_grad_does_not_make_the_dual_require_grad() -> None:
    t = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        y = fw.make_dual(tensor(3, 4), t) * 2
        assert not y.requires_grad
        found = tangent(y)
    assert vt.autograd.grad(found.sum(), t)[0].tolist() == [2, 2]
