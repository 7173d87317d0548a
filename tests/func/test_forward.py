"""`func.jvp` and `func.jacfwd`, alone, nested, and together with reverse mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import vtgrad as vt
from tests.support import ramp
from vtgrad.autograd import forward_ad
from vtgrad.errors import (
    BatchedTensorError,
    ForwardModeError,
    FunctionError,
    IndependentError,
    TransformError,
)
from vtgrad.storage.key_set import keys

FUNC: Any = vt.func
jvp, jacfwd, jacrev, grad, vjp = FUNC.jvp, FUNC.jacfwd, FUNC.jacrev, FUNC.grad, FUNC.vjp
linearize, hessian = FUNC.linearize, FUNC.hessian

X = ramp(3)
V = vt.tensor([1.0, 10.0, 100.0], dtype=vt.float64)


def _cubes(a: vt.Tensor) -> vt.Tensor:
    return (a**3).sum()


def _in_pieces(a: vt.Tensor) -> vt.Tensor:
    """a0**2, a0 a1, a1 a2, written in place."""
    b = vt.zeros(3, dtype=vt.float64)
    b[0] = a[0] ** 2
    b[1:] = a[:-1] * a[1:]
    return b


def _number(value: float) -> vt.Tensor:
    return vt.tensor(value, dtype=vt.float64)


def test_the_product_is_in_the_containers_of_the_outputs() -> None:
    def f(p: dict[str, vt.Tensor], q: vt.Tensor) -> tuple[list[vt.Tensor], vt.Tensor, str]:
        return [p["a"] * q], (p["a"] > 1), "aux"

    out, product, aux = jvp(
        lambda p, q: (f(p, q)[:2], f(p, q)[2]), ({"a": X}, X), ({"a": V}, V), has_aux=True
    )
    assert (out[0][0].tolist(), aux) == ([1.0, 4.0, 9.0], "aux")
    assert product[0][0].tolist() == [2.0, 40.0, 600.0]
    assert (product[1].tolist(), product[1].dtype) == ([False] * 3, vt.bool)


def test_constant_outputs_have_zeros_or_are_refused_with_strict() -> None:
    constant = ramp(2)
    assert jvp(lambda a: constant, (X,), (V,))[1].tolist() == [0.0, 0.0]
    with pytest.raises(IndependentError, match="does not depend on the arguments"):
        jvp(lambda a: constant, (X,), (V,), strict=True)


def test_the_function_may_write_to_its_argument() -> None:
    x, v = ramp(3), V.clone()
    out, product = jvp(lambda a: a.mul_(a.clone()), (x,), (v,))
    assert (out.tolist(), product.tolist()) == ([1.0, 4.0, 9.0], [2.0, 40.0, 600.0])
    assert x.tolist() == [1.0, 4.0, 9.0]


def test_results_have_no_tangent_afterwards_and_the_level_is_closed() -> None:
    def fail(a: vt.Tensor) -> vt.Tensor:
        raise KeyError

    before = dict(keys.modes)
    with pytest.raises(KeyError):
        jvp(fail, (X,), (V,))
    out, product = jvp(lambda a: a * a, (X,), (V,))
    assert keys.modes == before
    assert (out * product).tolist() == [2.0, 160.0, 5400.0]


def test_inference_mode_is_refused_and_other_switches_do_not_matter() -> None:
    with vt.inference_mode(), pytest.raises(ForwardModeError, match="forward mode is off"):
        jvp(_cubes, (X,), (V,))
    for block in (vt.no_grad(), forward_ad.set_fwd_grad_enabled(False)):
        with block:
            assert jvp(_cubes, (X,), (V,))[1].item() == 2823.0


def test_perturbations_are_not_confused() -> None:
    one = _number(1.0)

    def forward(f: Any) -> Any:
        return lambda a: jvp(f, (a,), (vt.ones_like(a),))[1]

    for outer in (forward, grad):
        for inner in (forward, grad):
            assert outer(lambda a, d=inner: a * d(lambda b: a + b)(one))(one).item() == 1.0
            assert outer(lambda a, d=inner: a * d(lambda b: a * b)(a))(_number(3.0)).item() == 6.0


@pytest.mark.parametrize("outer", [jacfwd, jacrev])
@pytest.mark.parametrize("inner", [jacfwd, jacrev])
def test_second_derivatives_in_all_combinations(outer: Any, inner: Any) -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        return (_in_pieces(a) * a).sum() + _cubes(a)

    assert outer(inner(f))(X).tolist() == [[12.0, 4.0, 0.0], [4.0, 14.0, 6.0], [0.0, 6.0, 22.0]]


def test_derivatives_of_any_order() -> None:
    f: Any = lambda a: a**4  # noqa: E731  # it is replaced below
    found = []
    for _ in range(4):
        f = jacfwd(f)
        found.append(f(_number(2.0)).item())
    assert found == [32.0, 48.0, 48.0, 24.0]


def test_forward_mode_over_products_of_reverse_mode() -> None:
    expected = [6.0, 120.0, 1800.0]
    assert jvp(grad(_cubes), (X,), (V,))[1].tolist() == expected
    assert jvp(lambda a: vjp(_cubes, a)[1](_number(1.0))[0], (X,), (V,))[1].tolist() == expected
    assert grad(lambda a: jvp(_cubes, (a,), (V,))[1])(X).tolist() == expected
    # The derivative of 3 a**2 a, along v.
    found = jvp(lambda a: linearize(lambda b: b**3, a)[1](a), (X,), (V,))[1]
    assert found.tolist() == [9.0, 360.0, 8100.0]


def test_results_stay_connected_to_captured_tensors() -> None:
    w = ramp(3).requires_grad_()
    _, product = jvp(lambda a: a * a * w, (X,), (V,))
    assert vt.autograd.grad(product.sum(), w)[0].tolist() == [2.0, 40.0, 600.0]


def test_jacobians_are_those_of_reverse_mode() -> None:
    assert jacfwd(_in_pieces)(X).tolist() == jacrev(_in_pieces)(X).tolist()
    found = jacfwd(lambda p, q: {"o": p["a"] * q, "s": q.sum()}, (0, -1))({"a": X}, X)
    assert found["o"][0]["a"].diagonal().tolist() == [1.0, 2.0, 3.0]
    assert (found["s"][0]["a"].tolist(), found["s"][1].tolist()) == ([0.0] * 3, [1.0] * 3)
    assert list(jacfwd(lambda a: a.sum())(X[:0]).shape) == [0]
    assert list(jacfwd(lambda a: vt.outer(a, a))(X).shape) == [3, 3, 3]
    # In the dtype of the output, and integers have zeros.
    assert jacfwd(lambda a: a.double())(vt.ones(2)).dtype == vt.float64
    assert jacfwd(lambda a: a.argmax())(X).tolist() == [0, 0, 0]


def test_jacobians_of_forward_mode_are_real_and_call_the_function_once() -> None:
    for f, x in ((lambda a: a.abs(), X * 1j), (lambda a: a * 1j, X)):
        with pytest.raises(TransformError, match="real floating"):
            jacfwd(f)(x)
    calls = []

    def square(a: vt.Tensor) -> vt.Tensor:
        calls.append(1)
        return a * a

    assert jacfwd(square)(X).diagonal().tolist() == [2.0, 4.0, 6.0]
    assert calls == [1]


def test_random_numbers_of_a_jacobian_are_drawn_as_asked_for() -> None:
    drawn = []

    def f(a: vt.Tensor) -> vt.Tensor:
        drawn.append(vt.rand(3, dtype=vt.float64))
        return a * drawn[-1]

    with pytest.raises(BatchedTensorError, match="randomness"):
        jacfwd(f)(X)
    found = jacfwd(f, randomness="same")(X)
    assert found.diagonal().tolist() == drawn[-1].tolist()
    # Each column is a product with numbers of its own.
    found = jacfwd(f, randomness="different")(X)
    assert (list(found.shape), vt.count_nonzero(found).item()) == ([3, 3], 3)


def test_tangents_may_have_another_float_dtype() -> None:
    product = jvp(lambda a: a * a, (X,), (V.float(),))[1]
    assert (product.tolist(), product.dtype) == ([2.0, 40.0, 600.0], vt.float64)


def test_jacobians_pass_on_what_comes_beside() -> None:
    found, aux = jacfwd(lambda a: (a * 2, a.sum()), has_aux=True)(X)
    assert found.diagonal().tolist() == [2.0, 2.0, 2.0]
    assert aux.item() == 6.0


class Row(vt.autograd.Function):
    """Returns a view of its argument, or the argument; its jvp one of the tangent, or no view."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, how: str) -> vt.Tensor:
        ctx.how = how
        return x if how == "itself" else x.unsqueeze(0)

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor, _: None) -> vt.Tensor:
        if ctx.how == "itself":
            return t.view_as(t)
        return t.unsqueeze(0) if ctx.how == "view" else (t * 1).unsqueeze(0)


@pytest.mark.parametrize("how", ["view", "itself", "copy"])
def test_a_view_of_an_argument_with_a_batch_of_tangents(how: str) -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        y: vt.Tensor = Row.apply(x * 2, how)
        return y.reshape(2) * x

    x = vt.tensor([1.0, 2.0])
    transforms: list[Callable[[], Any]] = [
        lambda: jacfwd(function)(x),
        lambda: FUNC.vmap(lambda t: jvp(function, (x,), (t,))[1])(vt.eye(2)),
    ]
    for transformed in transforms:
        if how == "copy":
            with pytest.raises(FunctionError, match="view"):
                transformed()
        else:
            assert transformed().tolist() == [[4, 0], [0, 8]]
