"""What functions may be called with, and what callers get: memory, objects, connections."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import vtgrad as vt
from tests.support import ramp
from vtgrad.errors import TransformError

FUNC: Any = vt.func
FUNCTIONAL: Any = vt.autograd.functional
grad, grad_and_value, jacrev = FUNC.grad, FUNC.grad_and_value, FUNC.jacrev
jacfwd, jvp, linearize, vjp = FUNC.jacfwd, FUNC.jvp, FUNC.linearize, FUNC.vjp

X = ramp(3)
V = vt.tensor([1.0, 10.0, 100.0], dtype=vt.float64)


def test_results_are_constants_where_nothing_is_recorded_outside() -> None:
    x, w = ramp(3).requires_grad_(), ramp(3).requires_grad_()

    def f(a: vt.Tensor) -> vt.Tensor:
        return a * a * w

    with vt.no_grad():
        out, pull, aux = vjp(lambda a: (f(a), {"w": w, "f": f(a)}), x, has_aux=True)
        pushed, push = linearize(f, x)
        gradient, (value, beside) = grad_and_value(lambda a: (f(a).sum(), f(a)), has_aux=True)(x)
        found = [out, aux["f"], pull(V)[0], pushed, push(V), gradient, value, beside]
        found += [jacrev(f)(x), jacfwd(f)(x), *jvp(f, (x,), (V,))]
        assert [t.requires_grad for t in found] == [False] * len(found)
    # A tensor of the caller is the same object.
    assert aux["w"] is w
    # What was computed can still be differentiated, here by the captured tensor.
    assert pull(V)[0].requires_grad
    assert vt.autograd.grad(push(V).sum(), w)[0].tolist() == [2.0, 40.0, 600.0]


def test_results_share_memory_as_the_function_says() -> None:
    x, v = ramp(3), V.clone()
    out, pull = vjp(lambda a: a[1:], x)
    out.mul_(2)
    assert x.tolist() == [1.0, 4.0, 6.0]
    assert pull(X[:2])[0].tolist() == [0.0, 1.0, 2.0]
    out, product = jvp(lambda a: a[1:], (x,), (v,))
    assert out._base is x
    assert product._base is v
    assert jvp(lambda a: a, (x,), (v,))[1] is v


def test_one_tensor_may_be_several_arguments() -> None:
    assert [g.tolist() for g in grad(lambda a, b: (a * b * b).sum(), (0, 1))(X, X)] == [
        [1.0, 4.0, 9.0],
        [2.0, 8.0, 18.0],
    ]
    zeros = vt.zeros_like(X)
    assert jvp(lambda a, b: a * b * b, (X, X), (V, zeros))[1].tolist() == [1.0, 40.0, 900.0]
    assert jvp(lambda a: a * a, (X,), (X,))[1].tolist() == [2.0, 8.0, 18.0]


def test_elements_that_share_memory_have_one_tangent_each() -> None:
    x, v = vt.tensor(2.0, dtype=vt.float64).expand(3), V
    assert jvp(lambda a: a * a, (x,), (v,))[1].tolist() == [4.0, 40.0, 400.0]
    assert jacfwd(lambda a: a * a)(x).diagonal().tolist() == [4.0] * 3
    assert jacrev(lambda a: a * a)(x).diagonal().tolist() == [4.0] * 3
    assert grad(lambda a: (a * V).sum())(x).tolist() == V.tolist()
    windows = X.unfold(0, 2, 1)
    found = jvp(lambda a: (a * a)[:, 0], (windows,), (vt.ones_like(windows),))[1]
    assert found.tolist() == [2.0, 4.0]


def test_tensors_of_inference_mode_are_arguments() -> None:
    with vt.inference_mode():
        x = ramp(3)
    assert grad(lambda a: (a * a).sum())(x).tolist() == [2.0, 4.0, 6.0]
    assert linearize(lambda a: a * a, x)[1](V).tolist() == [2.0, 40.0, 600.0]
    assert jvp(lambda a: a * a, (x,), (V,))[1].tolist() == [2.0, 40.0, 600.0]
    assert FUNCTIONAL.jacobian(lambda a: a * a, x).diagonal().tolist() == [2.0, 4.0, 6.0]
    out, pull = vjp(lambda a: a, x)
    assert out is x
    with vt.inference_mode():
        x.zero_()
    assert pull(V)[0].tolist() == V.tolist()


def test_a_complex_vector_does_not_fit_real_tensors() -> None:
    z = V * 1j
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for product in (FUNCTIONAL.vjp, FUNCTIONAL.jvp):
            with pytest.raises(TransformError, match="item 0 of v is complex, the"):
                product(lambda a: a * a, X, z)
        with pytest.raises(TransformError, match="item 0 of v is complex, the"):
            FUNCTIONAL.hvp(lambda a: (a * a).sum(), X, z)
    # A real one fits complex tensors.
    assert FUNCTIONAL.jvp(lambda a: a * a, X * 1j, V)[1].tolist() == [2j, 40j, 600j]
