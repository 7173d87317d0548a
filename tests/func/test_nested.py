"""Transforms inside transforms: every level has its own argument."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

import vtgrad as vt
from tests.support import needs_global_lock, ramp

# Of any type, as their arguments and results are.
FUNC: Any = vt.func
FUNC_AT: Any = vt.autograd.functional
grad = FUNC.grad
hessian = FUNC.hessian
jacrev = FUNC.jacrev
linearize = FUNC.linearize
vjp = FUNC.vjp

# Of any type, as their arguments and results are.
FUNCTIONAL: Any = vt.autograd.functional


X = ramp(3)
Function = Callable[[vt.Tensor], vt.Tensor]


def _grad(f: Function) -> Function:
    return cast("Function", grad(f))


def _number(value: float) -> vt.Tensor:
    return vt.tensor(value, dtype=vt.float64)


def test_perturbations_are_not_confused() -> None:
    # d/da a (d/db (a + b)) is 1; with one level for both it would be 2.
    assert _grad(lambda a: a * _grad(lambda b: a + b)(_number(1.0)))(_number(1.0)).item() == 1.0
    # The inner function gets a itself: x * d/dy (x y) at y = x is x**2.
    assert _grad(lambda x: x * _grad(lambda y: x * y)(x))(_number(3.0)).item() == 6.0
    # d/dx x d/dy (x y**2) at y = 5: x 2 x 5.
    assert _grad(lambda x: x * _grad(lambda y: x * y * y)(_number(5.0)))(_number(3.0)).item() == 60


@pytest.mark.parametrize(
    ("order", "expected"), [(1, 32.0), (2, 48.0), (3, 48.0), (4, 24.0), (5, 0)]
)
def test_derivatives_of_any_order(order: int, expected: float) -> None:
    f: Function = lambda a: a**4  # noqa: E731  # it is replaced below
    for _ in range(order):
        f = _grad(f)
    assert f(_number(2.0)).item() == expected


def test_writes_at_each_level_stay_at_their_level() -> None:
    def cube(b: vt.Tensor) -> vt.Tensor:
        own = vt.zeros(3, dtype=vt.float64)
        own[:] = b
        own[1:] *= b[1:]
        own.mul_(b)
        return own.sum()

    def outer(a: vt.Tensor) -> vt.Tensor:
        own = a.clone()
        own += _grad(cube)(a)
        own[0] = own[0].clone() * own[2].clone()
        return own.sum()

    # cube = b0**2 + b1**3 + b2**3, and own = a + (2 a0, 3 a1**2, 3 a2**2).
    # outer = 3 a0 (a2 + 3 a2**2) + a1 + 3 a1**2 + a2 + 3 a2**2
    a0, a1, a2 = 1.0, 2.0, 3.0
    expected = [3 * (a2 + 3 * a2**2), 1 + 6 * a1, 3 * a0 * (1 + 6 * a2) + 1 + 6 * a2]
    assert _grad(outer)(X).tolist() == expected


def test_transforms_of_all_kinds_go_into_each_other() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        return (a**3).sum()

    hessian_of_f = [[6.0, 0.0, 0.0], [0.0, 12.0, 0.0], [0.0, 0.0, 18.0]]
    v = vt.tensor([1.0, 10.0, 100.0], dtype=vt.float64)

    def pulled(a: vt.Tensor) -> vt.Tensor:
        _, pull = vjp(_grad(f), a)
        return cast("Callable[..., tuple[vt.Tensor]]", pull)(v)[0]

    def pushed(a: vt.Tensor) -> vt.Tensor:
        return cast("vt.Tensor", linearize(_grad(f), a)[1](v))

    for twice in (jacrev(jacrev(f)), jacrev(grad(f)), hessian(f)):
        assert cast("vt.Tensor", twice(X)).tolist() == hessian_of_f
    for product in (pulled, pushed):
        assert product(X).tolist() == [6.0, 120.0, 1800.0]
        # 6 a v, whose derivative by a is 6 v.
        assert cast("vt.Tensor", jacrev(product)(X)).diagonal().tolist() == [6.0, 60.0, 600.0]
    # In a function of autograd.functional, and the other way round.
    inside = FUNC_AT.hessian(lambda a: (a * _grad(f)(a)).sum(), X)
    assert cast("vt.Tensor", inside).diagonal().tolist() == [18.0, 36.0, 54.0]
    around = _grad(lambda a: cast("vt.Tensor", FUNC_AT.hessian(f, a, create_graph=True)).sum())
    assert around(X).tolist() == [6.0, 6.0, 6.0]


def test_the_gradient_inside_is_constant_where_recording_is_off() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        with vt.no_grad():
            inner = _grad(lambda b: (b**3).sum())(a)
        return (inner * a).sum()

    assert _grad(f)(X).tolist() == [3.0, 12.0, 27.0]


def test_a_result_that_is_shown_outside_can_be_differentiated_there() -> None:
    x = ramp(3).requires_grad_()
    out, pull = vjp(lambda a: a**3, x)
    (first,) = cast("Callable[..., tuple[vt.Tensor]]", pull)(X)
    assert vt.autograd.grad(first.sum(), x, retain_graph=True)[0].tolist() == [6.0, 24.0, 54.0]
    assert vt.autograd.grad(cast("vt.Tensor", out).sum(), x)[0].tolist() == [3.0, 12.0, 27.0]


@needs_global_lock
def test_threads_do_not_see_each_others_transforms() -> None:
    barrier, found = threading.Barrier(2), {}

    def body(name: str, power: int) -> None:
        def f(a: vt.Tensor) -> vt.Tensor:
            barrier.wait()
            out = (a**power).sum()
            barrier.wait()
            return out

        found[name] = _grad(_grad(lambda a: f(a.reshape(1))))(_number(2.0)).item()

    threads = [threading.Thread(target=body, args=(str(p), p)) for p in (3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"3": 12.0, "4": 48.0}


def _slope_of_slope(x: vt.Tensor, kind: str) -> vt.Tensor:
    """6 x, by a transform inside of another one."""
    one = vt.ones_like(x)
    inner = {
        "vjp": lambda y: vjp(lambda z: z**3, y)[1](one)[0],
        "grad": grad(lambda z: (z**3).sum()),
        "linearize": lambda y: linearize(lambda z: z**3, y)[1](one),
    }[kind]
    return cast("vt.Tensor", vjp(inner, x)[1](one)[0])


class _Cubed(vt.autograd.Function):
    """x, with 6 x as its derivative, which backward computes by nested transforms."""

    kind = "vjp"

    @staticmethod
    def forward(x: vt.Tensor) -> vt.Tensor:
        return x * 1

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[vt.Tensor], output: vt.Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return grad * _slope_of_slope(x, _Cubed.kind)


@pytest.mark.parametrize("kind", ["vjp", "grad", "linearize"])
def test_transforms_inside_a_backward_are_not_taken_for_constants(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The value that backward sees leads to the leaf of a transform that has returned.
    monkeypatch.setattr(_Cubed, "kind", kind)
    x = vt.tensor([1.0, 2.0])
    assert grad(lambda x: _Cubed.apply(x).sum())(x).tolist() == [6.0, 12.0]
    assert jacrev(_Cubed.apply)(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    assert vjp(_Cubed.apply, x)[1](vt.ones(2))[0].tolist() == [6.0, 12.0]
    # Beside a leaf outside, to which the pass is recorded.
    c = vt.tensor(2.0, requires_grad=True)
    slope = grad(lambda x: (_Cubed.apply(x) * c).sum())(x)
    assert slope.tolist() == [12.0, 24.0]
    slope.sum().backward()
    assert c.grad is not None
    assert c.grad.item() == 18.0
    assert grad(lambda x: grad(lambda x: _Cubed.apply(x).sum())(x).sum())(x).tolist() == [6.0, 6.0]
