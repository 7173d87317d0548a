"""`func.vjp`, `func.linearize`, `func.jacrev` and `func.hessian`; what waits for forward mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

import vtgrad as vt
from tests.support import ramp
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    StaleSavedError,
    TransformError,
)

# Of any type, as their arguments and results are.
FUNC: Any = vt.func
hessian = FUNC.hessian
jacfwd = FUNC.jacfwd
jacrev = FUNC.jacrev
jvp = FUNC.jvp
linearize = FUNC.linearize
vjp = FUNC.vjp

X = ramp(3)
V = vt.tensor([1.0, 10.0, 100.0], dtype=vt.float64)


def _pull(found: tuple[object, ...]) -> Callable[..., tuple[vt.Tensor, ...]]:
    return cast("Callable[..., tuple[vt.Tensor, ...]]", found[1])


def test_vjp_gives_a_tuple_as_often_as_wanted() -> None:
    found = vjp(lambda a, b: a * b, X, X * 2)
    assert len(found) == 2
    pull = _pull(found)
    for _ in range(2):
        assert [g.tolist() for g in pull(V)] == [[2.0, 40.0, 600.0], [1.0, 20.0, 300.0]]
    assert _pull(vjp(lambda a: a.detach(), X))(V)[0].tolist() == [0.0, 0.0, 0.0]
    assert vjp(lambda a: a, X)[0] is X


def test_pull_may_be_called_in_a_batch() -> None:
    pull = _pull(vjp(lambda a: a**2 * a[0], X))
    rows = FUNC.vmap(pull)(vt.eye(3, dtype=vt.float64))[0]
    assert rows.tolist() == [[3.0, 0.0, 0.0], [4.0, 4.0, 0.0], [9.0, 0.0, 6.0]]


def test_vjp_takes_and_returns_containers() -> None:
    found = vjp(lambda p: {"s": p["x"].sum(), "t": [p["x"] * 2]}, {"x": X})
    (gradient,) = _pull(found)({"s": vt.tensor(1.0, dtype=vt.float64), "t": [V]})
    assert cast("dict[str, vt.Tensor]", gradient)["x"].tolist() == [3.0, 21.0, 201.0]
    two = _pull(vjp(lambda a: (a, a.sum()), X))
    one = vt.tensor(1.0, dtype=vt.float64)
    assert two((V, one))[0].tolist() == two(V, one)[0].tolist() == [2.0, 11.0, 101.0]
    for wrong in ([V, one], V, (V,), (V, one, one)):
        with pytest.raises(TransformError, match="containers that the function returned"):
            two(wrong)
    with pytest.raises(TransformError, match=r"cotangent 0 has shape \[2\]"):
        two((V[:2], one))
    with pytest.raises(ArgumentTypeError, match="cotangent 1 must be a tensor"):
        two((V, 1.0))
    # Another float dtype is converted.
    assert two((V.float(), one))[0].dtype == vt.float64


def test_outputs_of_vjp_are_tensors_with_derivatives() -> None:
    for wrong in (lambda a: 1.0, lambda a: vt.tensor(1), lambda a: (a, None)):
        for transform in (vjp, linearize):
            with pytest.raises(TransformError, match="function that returns"):
                transform(wrong, X)
    assert vjp(lambda a: (a, "aux"), X, has_aux=True)[2] == "aux"
    for transform in (vjp, linearize):
        with pytest.raises(ArgumentTypeError, match="an argument to differentiate by"):
            transform(lambda: X)


@pytest.mark.parametrize("overwritten", ["argument", "captured", "result"])
def test_values_that_were_overwritten_since_are_refused(overwritten: str) -> None:
    for transform in (vjp, linearize):
        x, w = ramp(3), ramp(3)
        found = transform(lambda a: (a * a * w).exp(), x)  # noqa: B023  # called at once
        {"argument": x, "captured": w, "result": cast("vt.Tensor", found[0])}[overwritten].mul_(2)
        with pytest.raises(StaleSavedError, match="written by mul_"):
            cast("Callable[[vt.Tensor], object]", found[1])(V)


def test_what_is_not_saved_may_be_overwritten() -> None:
    x = ramp(3)
    found = vjp(lambda a: a * 2, x)
    x.zero_()
    assert _pull(found)(V)[0].tolist() == [2.0, 20.0, 200.0]


def test_linearize_is_the_product_from_the_right() -> None:
    out, push = linearize(lambda a, b: (a * b, {"s": a.sum()}), X, X * 2)
    assert cast("tuple[vt.Tensor]", out)[0].tolist() == [2.0, 8.0, 18.0]
    for _ in range(2):
        first, second = cast("tuple[vt.Tensor, dict[str, vt.Tensor]]", push(V, vt.zeros_like(V)))
        assert (first.tolist(), second["s"].item()) == ([2.0, 40.0, 600.0], 111.0)
        assert not first.requires_grad
    for wrong in ((V,), (V, V[:2]), (V, V.float()), (V, 1.0), ([V], V)):
        with pytest.raises(TransformError):
            push(*wrong)


def test_linearize_is_right_for_functions_that_write_in_place() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        matrix = vt.outer(a, a)
        matrix.diagonal().add_(a)
        return matrix.sum(0)

    # The columns of J are 2 a_i at i, a_j elsewhere, and the sum of all a, and 1.
    _, push = linearize(f, X)
    expected = cast("vt.Tensor", jacrev(f)(X)) @ V
    assert cast("vt.Tensor", push(V)).tolist() == expected.tolist()


def _store(copy: vt.Tensor) -> None:
    copy[0] = 5.0


def _scale(copy: vt.Tensor) -> None:
    copy[1:] *= 4.0


def _twice(copy: vt.Tensor) -> None:
    copy[0] = 5.0
    copy[::2].mul_(3.0)


def _whole(copy: vt.Tensor) -> None:
    copy.mul_(2.0)


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (_store, [0.0, 10.0, 100.0]),
        (_scale, [1.0, 40.0, 400.0]),
        (_twice, [0.0, 10.0, 300.0]),
        (_whole, [2.0, 20.0, 200.0]),
    ],
)
def test_linearize_of_a_write_into_a_copy(
    write: Callable[[vt.Tensor], None], expected: list[float]
) -> None:
    # The argument is used once, so its gradient is the very tensor that backward has written.
    def f(a: vt.Tensor) -> vt.Tensor:
        copy = a.clone()
        write(copy)
        return copy

    _, push = linearize(f, X)
    assert [cast("vt.Tensor", push(V)).tolist() for _ in range(2)] == [expected] * 2
    assert jvp(f, (X,), (V,))[1].tolist() == expected
    assert vt.vmap(push)(vt.eye(3, dtype=vt.float64)).tolist() == jacrev(f)(X).T.tolist()


def test_jacobians_are_in_the_containers_of_outputs_and_then_of_arguments() -> None:
    def f(p: dict[str, vt.Tensor], q: vt.Tensor) -> dict[str, object]:
        return {"o": p["a"] * q, "t": (p["b"].sum(),)}

    found = cast(
        "dict[str, tuple[dict[str, vt.Tensor], vt.Tensor]]", jacrev(f, (0, 1))({"a": X, "b": V}, X)
    )
    assert found["o"][0]["a"].diagonal().tolist() == [1.0, 2.0, 3.0]
    assert not vt.count_nonzero(found["o"][0]["b"])
    assert list(found["o"][1].shape) == [3, 3]
    by = cast("tuple[dict[str, vt.Tensor], vt.Tensor]", cast("tuple[object]", found["t"])[0])
    assert (by[0]["b"].tolist(), by[1].tolist()) == ([1.0, 1.0, 1.0], [0.0, 0.0, 0.0])


def test_jacobians_have_the_dtype_of_the_argument_and_keywords_are_passed() -> None:
    found = jacrev(lambda a, k: a.double() * k)(vt.ones(2), k=3.0)
    assert cast("vt.Tensor", found).dtype == vt.float32
    assert cast("vt.Tensor", found).tolist() == [[3.0, 0.0], [0.0, 3.0]]


def test_the_function_is_called_once_and_negative_argnums_count_from_the_end() -> None:
    calls: list[int] = []

    def f(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
        calls.append(1)
        return a * b**2

    assert cast("vt.Tensor", jacrev(f, -1)(X, X)).diagonal().tolist() == [2.0, 8.0, 18.0]
    assert calls == [1]
    second = cast("vt.Tensor", hessian(f, -1)(X, X))
    assert [second[i, i, i].item() for i in range(3)] == [2.0, 4.0, 6.0]
    assert calls == [1, 1]


def test_jacobians_of_empty_arguments_and_outputs_are_empty() -> None:
    for f, x, shape in (
        (lambda a: a[:0], X, [0, 3]),
        (lambda a: a.sum() * X, X[:0], [3, 0]),
    ):
        assert list(cast("vt.Tensor", jacrev(f)(x)).shape) == shape


def test_jacobians_are_real() -> None:
    z = vt.tensor([1 + 1j])
    for f, x in ((lambda a: a.abs(), z), (lambda a: a * 1j, X), (lambda a: vt.tensor(1), X)):
        with pytest.raises(TransformError, match="real floating"):
            jacrev(f)(x)
    for size in (0, -1, 1.5):
        with pytest.raises(ArgumentValueError, match="chunk_size"):
            jacrev(lambda a: a, chunk_size=size)


def test_the_hessian_takes_outputs_of_any_shape() -> None:
    found = cast("vt.Tensor", hessian(lambda a: vt.stack([(a**3).sum(), a.sum()]))(X))
    assert list(found.shape) == [2, 3, 3]
    assert found[0].diagonal().tolist() == [6.0, 12.0, 18.0]
    assert not vt.count_nonzero(found[1])
    constant = cast("vt.Tensor", hessian(lambda a: vt.tensor(1.0))(X))
    assert constant.tolist() == [[0.0] * 3] * 3


def test_outputs_of_which_one_leads_outside_share_a_graph() -> None:
    w = ramp(3).requires_grad_()

    def f(a: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        shared = a.exp().sin()
        return shared * w, shared * 2

    by_first, by_second = cast("tuple[vt.Tensor, vt.Tensor]", jacrev(f)(X))
    assert (by_first.requires_grad, by_second.requires_grad) == (True, False)
    # The whole graph of the first, down to what both share, can still be run.
    by_first.sum().backward()
    expected = (X.exp().cos() * X.exp()).tolist()
    assert w.grad is not None
    assert w.grad.tolist() == pytest.approx(expected)


def test_jvp_takes_tuples_that_fit() -> None:
    for primals, tangents in (([X], (V,)), ((X,), [V]), (X, V), ((), ())):
        with pytest.raises(ArgumentTypeError, match="must be a tuple"):
            jvp(lambda a: a, primals, tangents)
    with pytest.raises(TransformError, match="containers of the primals"):
        jvp(lambda a: a, (X,), ([V],))
    with pytest.raises(TransformError, match="tangent 0 has shape"):
        jvp(lambda a: a, (X,), (V[:2],))
    with pytest.raises(TransformError, match="dtype int64"):
        jacfwd(lambda a: a)(vt.tensor([1]))
