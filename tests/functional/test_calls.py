"""How functions are called, and which vectors are taken."""

from __future__ import annotations

from typing import Any

import pytest

import vtgrad as vt
from tests.support import ramp

FUNCTIONAL: Any = vt.autograd.functional
hessian, hvp, jacobian = FUNCTIONAL.hessian, FUNCTIONAL.hvp, FUNCTIONAL.jacobian
jvp, vhp, vjp = FUNCTIONAL.jvp, FUNCTIONAL.vhp, FUNCTIONAL.vjp

X = ramp(3)


def test_with_create_graph_the_function_gets_a_view_of_what_requires_grad() -> None:
    seen: list[vt.Tensor] = []

    def f(*inputs: vt.Tensor) -> vt.Tensor:
        seen.extend(inputs)
        return inputs[0] * inputs[1]

    leaf, plain = ramp(3).requires_grad_(), ramp(3)
    jacobian(f, (leaf, plain), create_graph=True)
    view, own = seen
    assert (view._base is leaf, view.is_leaf, view.requires_grad) == (True, False, True)
    assert (own._base, own.is_leaf, own.requires_grad) == (None, True, True)
    assert own.data_ptr() == plain.data_ptr()


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_of_any_shape_needs_no_vector(shape: tuple[int, ...]) -> None:
    assert vjp(lambda x: (x * x).sum().reshape(shape), X)[1].tolist() == [2.0, 4.0, 6.0]
    one = ramp(1).reshape(shape)
    assert jvp(lambda x: x * X, one)[1].sum().item() == 6.0
    for product in (vhp, hvp):
        assert product(lambda x: (x**3).reshape(shape), one)[1].shape == shape


def test_a_bare_vector_is_taken_for_a_tuple_of_one_and_the_other_way_round() -> None:
    for v in (X, (X,)):
        assert vjp(lambda x: x * x, X, v)[1].tolist() == [2.0, 8.0, 18.0]
        assert vjp(lambda x: (x * x,), X, v)[1].tolist() == [2.0, 8.0, 18.0]
        assert jvp(lambda x: x * x, X, v)[1].tolist() == [2.0, 8.0, 18.0]
        assert jvp(lambda x: x * x, (X,), v)[1].tolist() == [2.0, 8.0, 18.0]
        for product in (vhp, hvp):
            assert product(lambda x: (x**3).sum(), X, v)[1].tolist() == [6.0, 24.0, 54.0]


def test_jvp_is_computed_in_reverse_mode() -> None:
    class Square(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
            raise AssertionError

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * g

    assert jvp(Square.apply, X, X)[1].tolist() == [2.0, 8.0, 18.0]


def test_vectors_of_lower_precision_and_integers_are_cast() -> None:
    for v in (X.float(), vt.tensor([1, 2, 3])):
        for found in (vjp(lambda x: x * x, X, v), jvp(lambda x: x * x, X, v)):
            assert (found[1].dtype, found[1].tolist()) == (vt.float64, [2.0, 8.0, 18.0])
        assert hvp(lambda x: (x**3).sum(), X, v)[1].dtype == vt.float64
