"""Transforms inside of levels of forward mode and levels inside of transforms; modes; lifetimes."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import vtgrad as vt
from tests.support import collector_off, ramp
from vtgrad.autograd import forward_ad as fw
from vtgrad.errors import GradRequiredError, LeafWriteError, MultiOutputViewError

FUNC: Any = vt.func
FUNCTIONAL: Any = vt.autograd.functional
grad, hessian, jacrev = FUNC.grad, FUNC.hessian, FUNC.jacrev
jacfwd, jvp, linearize, vjp = FUNC.jacfwd, FUNC.jvp, FUNC.linearize, FUNC.vjp

X = ramp(3)
V = vt.tensor([1.0, 10.0, 100.0], dtype=vt.float64)


def cubes(a: vt.Tensor) -> vt.Tensor:
    return (a**3).sum()


def tangent(x: object) -> Any:
    assert isinstance(x, vt.Tensor)
    found = fw.unpack_dual(x).tangent
    assert found is not None
    return found.tolist()


def test_results_for_duals_have_tangents() -> None:
    expected = [6.0, 120.0, 1800.0]
    with fw.dual_level():
        dual = fw.make_dual(X, V)
        assert tangent(grad(cubes)(dual)) == expected
        assert tangent(jacrev(cubes)(dual)) == expected
        assert tangent(vjp(cubes, dual)[1](vt.ones((), dtype=vt.float64))[0]) == expected
        assert tangent(vjp(lambda a: a**3, dual)[0]) == [3.0, 120.0, 2700.0]
        assert tangent(linearize(lambda a: a**2, dual)[1](X)) == [2.0, 40.0, 600.0]
        # Here PyTorch refuses to nest: a level is open.
        assert tangent(jvp(cubes, (dual,), (X,))[1]) == 6 + 240 + 5400
        assert tangent(jacfwd(cubes)(dual)) == expected
        assert vt.tensor(tangent(hessian(cubes)(dual))).diagonal().tolist() == [6.0, 60.0, 600.0]


def test_results_of_functional_for_duals_have_tangents_too() -> None:
    expected = [6.0, 120.0, 1800.0]
    with fw.dual_level():
        dual = fw.make_dual(X, V)
        for create_graph in (False, True):
            options = {"create_graph": create_graph}
            assert tangent(FUNCTIONAL.jacobian(cubes, dual, **options)) == expected
            assert tangent(FUNCTIONAL.vjp(cubes, dual, **options)[1]) == expected
            assert tangent(FUNCTIONAL.jvp(cubes, dual, X, **options)[1]) == 6 + 240 + 5400
            assert tangent(FUNCTIONAL.hvp(cubes, dual, X, **options)[1]) == [6.0, 120.0, 1800.0]
            found = FUNCTIONAL.hessian(cubes, dual, **options)
            assert vt.tensor(tangent(found)).diagonal().tolist() == [6.0, 60.0, 600.0]


def test_a_level_may_be_opened_in_a_transform() -> None:
    def slope(a: vt.Tensor) -> Any:
        with fw.dual_level():
            return fw.unpack_dual(fw.make_dual(a, V) ** 3).tangent

    # 3 a**2 v, by a: 6 a v.
    assert grad(lambda a: slope(a).sum())(X).tolist() == [6.0, 120.0, 1800.0]
    assert jvp(slope, (X,), (V,))[1].tolist() == [6.0, 1200.0, 180000.0]
    assert linearize(slope, X)[1](V).tolist() == [6.0, 1200.0, 180000.0]


def test_no_grad_inside_makes_constants_for_reverse_mode_only() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        with vt.no_grad():
            square = a * a
        return square * a

    # a**2 * a with a constant square, and in forward mode a**3.
    assert jacrev(f)(X).diagonal().tolist() == [1.0, 4.0, 9.0]
    assert jvp(f, (X,), (V,))[1].tolist() == [3.0, 120.0, 2700.0]
    assert jvp(lambda a: a.detach() * a, (X,), (V,))[1].tolist() == [1.0, 20.0, 300.0]


@pytest.mark.parametrize("make", [vt.func.vjp, vt.func.linearize])
def test_a_product_that_is_recorded_depends_on_where_it_was_made_under_no_grad(make: Any) -> None:
    def product(x: vt.Tensor) -> Any:
        with vt.no_grad():
            out, times = make(lambda a: a**3, x)
            constant = times(vt.ones_like(x))
        assert not out.requires_grad
        found, constant = (
            (each[0] if make is vt.func.vjp else each)
            for each in (times(vt.ones_like(x)), constant)
        )
        return (found + constant * x + out).sum()

    x = ramp(2)
    expected = 6 * x + 3 * x * x
    assert vt.equal(vt.func.grad(product)(x), expected)
    leaf = x.clone().requires_grad_()
    product(leaf).backward()
    assert leaf.grad is not None
    assert vt.equal(leaf.grad, expected)


def test_backward_and_requires_grad_inside_act_as_in_any_program() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        (a * a).sum().backward()
        assert a.grad is not None
        own = ramp(3).requires_grad_()
        (own * a).sum().backward(inputs=[own])
        assert own.grad is not None
        assert own.grad.tolist() == X.tolist()
        assert vt.ones(2, requires_grad=True).is_leaf
        return (a.grad * a).sum()

    assert grad(f)(X).tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(GradRequiredError):
        grad(lambda a: vt.autograd.grad(a.sum(), X)[0].sum())(X)
    with pytest.raises(RuntimeError):
        grad(lambda a: a.numpy().sum())(X)


def test_pieces_of_an_unbind_may_be_written_in_forward_mode_only() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        b = a.clone()
        first, _, third = b.unbind()
        third.mul_(first)
        return b

    assert jvp(f, (X,), (V,))[1].tolist() == [1.0, 10.0, 103.0]
    for reverse in (jacrev(f), lambda x: vjp(f, x)):
        with pytest.raises(MultiOutputViewError):
            reverse(X)


def test_a_write_to_the_argument_of_jvp_writes_the_callers_tensors() -> None:
    x, v = ramp(3), V.clone()
    out, product = jvp(lambda a: a.mul_(2), (x,), (v,))
    assert out._base is x
    assert product is v
    assert (x.tolist(), v.tolist()) == ([2.0, 4.0, 6.0], [2.0, 20.0, 200.0])
    leaf = ramp(3).requires_grad_()
    with pytest.raises(RuntimeError):
        jvp(lambda a: a.mul_(2), (leaf,), (V,))
    # The tangent is the caller's: a leaf is not overwritten, and not before the value is.
    x, leaf = ramp(3), ramp(3).requires_grad_()
    with pytest.raises(LeafWriteError):
        jvp(lambda a: a.mul_(2), (x,), (leaf,))
    assert x.tolist() == X.tolist()
    assert jvp(lambda a: a.clone().mul_(2), (x,), (leaf,))[1].tolist() == [2.0, 4.0, 6.0]


def test_old_style_functions_work_in_transforms() -> None:
    class Cube(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    assert grad(lambda a: Cube.apply(a).sum())(X).tolist() == [3.0, 12.0, 27.0]
    assert hessian(lambda a: Cube.apply(a).sum())(X).diagonal().tolist() == [6.0, 12.0, 18.0]
    # Its captured tensor needs no jvp.
    assert jvp(lambda a: Cube.apply(X) * a, (X,), (V,))[1].tolist() == [1.0, 80.0, 2700.0]


def test_a_function_with_setup_context_may_write_its_argument() -> None:
    class Double(vt.autograd.Function):
        @staticmethod
        def forward(x: vt.Tensor) -> vt.Tensor:
            return x.mul_(2)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: vt.Tensor) -> None:
            ctx.mark_dirty(*inputs)

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> Any:
            return g * 2

    def f(a: vt.Tensor) -> vt.Tensor:
        b = a.clone()
        assert Double.apply(b) is b
        return (b**2).sum()

    assert grad(f)(X).tolist() == [8.0, 16.0, 24.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda f: grad(f)(X),
        lambda f: grad(lambda a: grad(f)(a).sum())(X),
        lambda f: jvp(f, (X,), (V,)),
        lambda f: jvp(grad(f), (X,), (V,)),
        lambda f: grad(lambda a: jvp(f, (a,), (V,))[1])(X),
        lambda f: vjp(f, X)[1](vt.ones((), dtype=vt.float64)),
        lambda f: linearize(f, X)[1](V),
        lambda f: hessian(f)(X),
        lambda f: FUNCTIONAL.hvp(f, X, V),
        lambda f: FUNCTIONAL.jvp(f, X, V),
    ],
)
def test_nothing_that_a_transform_has_made_outlives_it(call: Callable[[Any], object]) -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        b = a.clone()
        b[1:] *= a[:-1]
        return (b.clone() * a.exp()).sum()

    with collector_off():
        call(f)
        # No cycle is left for the collector.
        assert gc.collect() == 0
