"""Which containers and shapes results have, and which inputs and outputs are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

import vtgrad as vt
from tests.support import ramp
from vtgrad.errors import ArgumentTypeError, ArgumentValueError, TransformError

# Of any type, as their arguments and results are.
FUNCTIONAL: Any = vt.autograd.functional
hessian = FUNCTIONAL.hessian
hvp = FUNCTIONAL.hvp
jacobian = FUNCTIONAL.jacobian
jvp = FUNCTIONAL.jvp
vhp = FUNCTIONAL.vhp
vjp = FUNCTIONAL.vjp

X, Y = ramp(2), ramp(3)


def _shapes(tree: object) -> object:
    if isinstance(tree, tuple):
        return tuple(_shapes(item) for item in tree)
    assert isinstance(tree, vt.Tensor)
    return list(tree.shape)


def test_a_tuple_on_one_side_gives_a_tuple_and_on_both_a_tuple_of_tuples() -> None:
    assert _shapes(jacobian(lambda x: x * x, X)) == [2, 2]
    assert _shapes(jacobian(lambda x: (x * x,), X)) == ([2, 2],)
    assert _shapes(jacobian(lambda x: x * x, (X,))) == ([2, 2],)
    assert _shapes(jacobian(lambda x: (x * x,), (X,))) == (([2, 2],),)
    found = jacobian(lambda x, y: (vt.outer(x, y), y.sum()), (X, Y))
    assert _shapes(found) == (([2, 3, 2], [2, 3, 3]), ([2], [3]))


def test_hessians_have_the_inputs_shapes_twice() -> None:
    def f(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        return vt.outer(x, y).sum().reshape(1, 1)

    assert _shapes(hessian(lambda x: (x**3).sum(), X)) == [2, 2]
    assert _shapes(hessian(lambda x: (x**3).sum(), (X,))) == (([2, 2],),)
    assert _shapes(hessian(f, (X, Y))) == (([2, 2], [2, 3]), ([3, 2], [3, 3]))


def test_products_mirror_the_inputs_or_the_outputs() -> None:
    def f(x: vt.Tensor) -> tuple[vt.Tensor]:
        return (vt.outer(x, Y),)

    assert _shapes(vjp(f, X, ramp(2, 3))) == (([2, 3],), [2])
    assert _shapes(vjp(f, (X,), (ramp(2, 3),))) == (([2, 3],), ([2],))
    assert _shapes(jvp(f, (X,), X)) == (([2, 3],), ([2, 3],))
    for product in (vhp, hvp):
        assert _shapes(product(lambda x: (x * x).sum(), (X,), X)) == ([], ([2],))


@pytest.mark.parametrize("inputs", [[X], 1.0, None, {"x": X}, (X, (X,)), (X, None)])
def test_inputs_are_a_tensor_or_a_tuple_of_tensors(inputs: object) -> None:
    for compute in (jacobian, vjp, jvp, hessian, vhp, hvp):
        with pytest.raises(ArgumentTypeError, match="must be a tensor or a tuple of tensors"):
            compute(lambda *x: X, cast("vt.Tensor", inputs))


@pytest.mark.parametrize("output", [[X], 1.0, None, {"x": X}, (X, (X,))])
def test_outputs_are_a_tensor_or_a_tuple_of_tensors(output: object) -> None:
    for compute in (jacobian, vjp, jvp):
        with pytest.raises(ArgumentTypeError, match="outputs of the function must be a tensor"):
            compute(lambda x: output, X)


def test_inputs_without_derivatives_are_refused() -> None:
    with pytest.raises(TransformError, match="input 1 is int64"):
        jacobian(lambda x, n: x, (X, vt.tensor([1])))
    with pytest.raises(ArgumentValueError, match="an input to differentiate by"):
        jacobian(lambda: X, ())


def test_jacobians_have_the_dtype_of_the_input() -> None:
    single = vt.ones(2)
    first, second = cast(
        "tuple[vt.Tensor, vt.Tensor]", jacobian(lambda a, b: a.double() * b, (single, X))
    )
    assert (first.dtype, second.dtype) == (vt.float32, vt.float64)


def test_empty_inputs_and_outputs_have_empty_jacobians() -> None:
    assert _shapes(jacobian(lambda x: x[:0], X)) == [0, 2]
    assert _shapes(jacobian(lambda x: X * x.sum(), vt.ones(0, dtype=vt.float64))) == [2, 0]


def test_independent_outputs_and_integers_have_zeros_in_the_inputs_dtype() -> None:
    x = vt.ones(2)
    for f in (lambda x: X, lambda x: vt.tensor([1, 2]), lambda x: x.detach()):
        found = jacobian(cast("Callable[..., vt.Tensor]", f), x)
        assert isinstance(found, vt.Tensor)
        assert (found.tolist(), found.dtype) == ([[0.0, 0.0], [0.0, 0.0]], vt.float32)
    assert vjp(lambda x: X, x, X)[1].tolist() == [0.0, 0.0]
    assert jvp(lambda x: X, x, x)[1].tolist() == [0.0, 0.0]


def test_a_vector_may_be_left_out_for_one_number_only() -> None:
    one = ramp(1, 1)
    assert vjp(lambda x: (x * x).sum(), X)[1].tolist() == [2.0, 4.0]
    assert jvp(lambda x: x * X, one)[1].tolist() == [[1.0, 2.0]]
    for product in (vhp, hvp):
        assert product(lambda x: (x**3).sum(), one)[1].tolist() == [[6.0]]
        with pytest.raises(TransformError, match="v may be left out"):
            product(lambda x: (x**3).sum(), X)
    for compute in (vjp, jvp):
        with pytest.raises(TransformError, match="v may be left out"):
            compute(lambda x: x * x, X)


def test_a_vector_must_fit_but_may_have_another_dtype() -> None:
    with pytest.raises(TransformError, match="v has 2 tensors for 1 output"):
        vjp(lambda x: x, X, (X, X))
    with pytest.raises(TransformError, match=r"item 0 of v has shape \[1\]"):
        jvp(lambda x: x, X, vt.ones(1))
    assert vjp(lambda x: x * x, X, vt.tensor([1, 10]))[1].tolist() == [2.0, 40.0]


def test_hessians_and_their_products_need_one_real_number() -> None:
    z = vt.tensor([1 + 2j])
    for compute in (hessian, vhp, hvp):
        for f in (lambda x: x, lambda x: (x.sum(), x.sum())):
            with pytest.raises(TransformError, match="one tensor with one element"):
                compute(f, X)
        with pytest.raises(TransformError, match="returned a complex one"):
            compute(lambda z: z.sum(), z)
    with pytest.raises(TransformError, match="hessian needs real inputs"):
        hessian(lambda z: z.abs().sum(), z)


def test_complex_numbers_have_the_convention_of_gradients() -> None:
    z = vt.tensor([3 + 4j])
    found = jacobian(lambda z: z.abs(), z)
    assert isinstance(found, vt.Tensor)
    assert found[0, 0].item() == pytest.approx(0.6 + 0.8j)
    with pytest.raises(TransformError, match="output 0 is complex"):
        jacobian(lambda z: z * z, z)
    assert jvp(lambda z: z * z, z, vt.tensor([1 + 2j]))[1].tolist() == [-10 + 20j]
