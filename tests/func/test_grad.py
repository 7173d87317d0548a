"""`func.grad` and `func.grad_and_value`: arguments, results, connections, refusals."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import vtgrad as vt
from tests.support import ramp
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    InferenceModeError,
    LeafWriteError,
    TransformArgumentError,
    TransformError,
)
from vtgrad.graph.thread_levels import thread

# Of any type, as their arguments and results are.
FUNC: Any = vt.func
grad = FUNC.grad
grad_and_value = FUNC.grad_and_value
hessian = FUNC.hessian
jacrev = FUNC.jacrev
linearize = FUNC.linearize
vjp = FUNC.vjp

X = ramp(3)


class Pair(NamedTuple):
    w: vt.Tensor
    b: vt.Tensor


def _total(tree: object) -> object:
    assert isinstance(tree, vt.Tensor)
    return tree.tolist()


@pytest.mark.parametrize(
    ("f", "match"),
    [
        (lambda a: a, r"one of shape \[3\]"),
        (lambda a: a.sum().reshape(1), r"one of shape \[1\]"),
        (lambda a: (a.sum(), a), "type tuple; has_aux=True"),
        (lambda a: 1.0, "type float"),
        (lambda a: a.sum() * 1j, "a complex one"),
    ],
)
def test_the_function_must_return_a_real_number_as_a_tensor(f: object, match: str) -> None:
    assert callable(f)
    with pytest.raises(TransformError, match=match):
        grad(f)(X)


def test_unused_arguments_and_constant_outputs_have_zeros() -> None:
    for f in (lambda a: vt.tensor(1.0), lambda a: vt.tensor(3), lambda a: a.detach().sum()):
        assert _total(grad(f)(X)) == [0.0, 0.0, 0.0]
    found = grad(lambda a, b: b.sum(), argnums=(0, 1))(X, X)
    assert isinstance(found, tuple)
    assert [_total(g) for g in found] == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]


def test_argnums() -> None:
    def f(a: vt.Tensor, b: vt.Tensor, *, scale: float = 1.0) -> vt.Tensor:
        return (a * b * b).sum() * scale

    y = X * 10
    assert _total(grad(f, 1)(X, y)) == [20.0, 80.0, 180.0]
    assert _total(grad(f, -1)(X, y, scale=2.0)) == [40.0, 160.0, 360.0]
    one = grad(f, (0,))(X, y)
    assert isinstance(one, tuple)
    assert len(one) == 1
    for argnums in ((0, 0), (1, -1), 2, -3, (), [0], 1.0, True, ("a",)):
        with pytest.raises(TransformError, match="argnums of grad"):
            grad(f, argnums)(X, y)


def test_arguments_may_be_containers_and_gradients_have_the_same() -> None:
    def f(p: dict[str, object], q: Pair) -> vt.Tensor:
        first, second = p["u"], p["v"]
        assert isinstance(first, vt.Tensor)
        assert isinstance(second, list)
        total = (first * second[0]).sum() + q.w.sum() * q.b
        assert isinstance(total, vt.Tensor)
        return total

    p, q = {"u": X, "v": [X * 2]}, Pair(X, vt.tensor(5.0, dtype=vt.float64))
    found = grad(f, (0, 1))(p, q)
    assert isinstance(found, tuple)
    assert found[0]["u"].tolist() == [2.0, 4.0, 6.0]
    assert found[0]["v"][0].tolist() == [1.0, 2.0, 3.0]
    assert isinstance(found[1], Pair)
    assert (found[1].w.tolist(), found[1].b.item()) == ([5.0, 5.0, 5.0], 6.0)


def test_other_leaves_in_an_argument_are_refused() -> None:
    for leaf in (1.0, None, "a"):
        with pytest.raises(ArgumentValueError, match="argument 0 has an object of type"):
            grad(lambda p: p["x"].sum())({"x": X, "k": leaf})
    with pytest.raises(TransformError, match="dtype int64"):
        grad(lambda p: p[0].sum())([X, vt.tensor([1])])
    # What is not differentiated by may be anything.
    assert _total(grad(lambda a, k: a.sum() * k["n"][0])(X, {"n": [2, None]})) == [2.0, 2.0, 2.0]


def test_what_comes_beside_the_number_is_passed_on() -> None:
    def f(a: vt.Tensor) -> tuple[vt.Tensor, dict[str, object]]:
        return (a * a).sum(), {"twice": a * 2, "name": "f", "a": a}

    found = grad_and_value(f, has_aux=True)(X)
    gradient, (value, aux) = found[0], found[1]
    assert _total(gradient) == [2.0, 4.0, 6.0]
    assert (value.item(), value.requires_grad) == (14.0, False)
    assert (aux["twice"].tolist(), aux["twice"].requires_grad) == ([2.0, 4.0, 6.0], False)
    assert (aux["name"], aux["a"] is X) == ("f", True)
    gradient, aux = grad(f, has_aux=True)(X)
    assert (_total(gradient), aux["twice"].tolist()) == ([2.0, 4.0, 6.0], [2.0, 4.0, 6.0])
    for wrong in (lambda a: a.sum(), lambda a: [a.sum(), a], lambda a: (a.sum(), a, a)):
        with pytest.raises(TransformError, match=r"a pair \(output, aux\)"):
            grad(wrong, has_aux=True)(X)


def test_captured_tensors_stay_connected_and_nothing_is_accumulated() -> None:
    x, w = ramp(3).requires_grad_(), ramp(3).requires_grad_()
    found = grad(lambda a: (a * a * w).sum())(x)
    assert isinstance(found, vt.Tensor)
    by_x, by_w = vt.autograd.grad(found.sum(), (x, w))
    assert (by_x.tolist(), by_w.tolist()) == ([2.0, 4.0, 6.0], [2.0, 4.0, 6.0])
    assert (x.grad, w.grad) == (None, None)
    # Where nothing outside requires grad, results do not either.
    found = grad(lambda a: (a**3).sum())(X)
    assert isinstance(found, vt.Tensor)
    assert not found.requires_grad
    # Each result by itself: the first does not depend on w.
    first, second = grad(lambda a, b: (a**2).sum() + (b * w).sum(), (0, 1))(X, X)
    assert (first.requires_grad, second.requires_grad) == (False, True)


def test_no_grad_outside_stops_recording_outside_only() -> None:
    x = ramp(3).requires_grad_()
    with vt.no_grad():
        found = grad(lambda a: (a**3).sum())(x)
        assert not vt.is_grad_enabled()
    assert isinstance(found, vt.Tensor)
    assert (found.tolist(), found.requires_grad) == ([3.0, 12.0, 27.0], False)

    def frozen(a: vt.Tensor) -> vt.Tensor:
        with vt.no_grad():
            square = a * a
        return (square * a).sum()

    assert _total(grad(frozen)(X)) == [1.0, 4.0, 9.0]


def test_values_may_be_looked_at() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        return (a * a).sum() if bool(a[0] > 0) else a.sum()

    assert _total(grad(f)(X)) == [2.0, 4.0, 6.0]
    assert _total(grad(f)(-X)) == [1.0, 1.0, 1.0]


def test_the_argument_is_a_leaf_that_may_not_be_written() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        assert (a.is_leaf, a.requires_grad, a.grad_fn) == (True, True, None)
        (inner,) = vt.autograd.grad((a**3).sum(), a, create_graph=True)
        return inner.sum()

    assert _total(grad(f)(X)) == [6.0, 12.0, 18.0]
    for transform in (grad, jacrev):
        with pytest.raises(LeafWriteError):
            transform(lambda a: a.mul_(2).sum())(X)
        with pytest.raises(TransformArgumentError, match="argument by which"):
            transform(lambda a: a.mul_(2).sum())(ramp(3).requires_grad_() * 1)
    with pytest.raises(LeafWriteError):
        vjp(lambda a: a.mul_(2), X)
    assert X.tolist() == [1.0, 2.0, 3.0]


def test_tensors_made_inside_may_be_written_in_every_transform() -> None:
    def f(a: vt.Tensor) -> vt.Tensor:
        b = vt.zeros(3, dtype=vt.float64)
        b[0] = a[0] ** 2
        b[1:].copy_(a[:-1] * a[1:])
        return b

    expected = [[2.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]
    assert _total(jacrev(f)(X)) == expected
    one = vt.tensor([0.0, 1.0, 0.0], dtype=vt.float64)
    assert _total(vjp(f, X)[1](one)[0]) == expected[1]
    assert _total(linearize(f, X)[1](one)) == [row[1] for row in expected]
    assert _total(hessian(lambda a: f(a).sum())(X)) == [
        [2.0, 1.0, 0.0],
        [1.0, 0.0, 1.0],
        [0.0, 1.0, 0.0],
    ]


def test_a_captured_buffer_may_be_written_and_derivatives_stay_right() -> None:
    buffer = vt.zeros(3, dtype=vt.float64)

    def f(a: vt.Tensor) -> vt.Tensor:
        buffer[0] = a[0] ** 2
        return (buffer * a).sum()

    for _ in range(3):
        found = grad(f)(X)
        assert isinstance(found, vt.Tensor)
        assert (found.tolist(), found.requires_grad) == ([3.0, 0.0, 0.0], False)

    # The same in a nested transform: what the inner function writes depends on the outer argument.
    def outer(a: vt.Tensor) -> vt.Tensor:
        own = vt.zeros(3, dtype=vt.float64)

        def inner(b: vt.Tensor) -> vt.Tensor:
            own[1:] = b[1:] ** 2
            return (b**3).sum()

        gradient = grad(inner)(a)
        assert isinstance(gradient, vt.Tensor)
        return (own + gradient).sum()

    assert _total(grad(outer)(X)) == [6.0, 16.0, 24.0]


def test_only_functions_are_transformed_and_only_where_something_is_recorded() -> None:
    for transform in (grad, grad_and_value, jacrev, hessian):
        with pytest.raises(ArgumentTypeError, match="takes a function"):
            transform(X)
    with vt.inference_mode(), pytest.raises(InferenceModeError):
        grad(lambda a: a.sum())(X)


def test_levels_are_closed_after_an_error() -> None:
    seen: list[int] = []

    def inner(a: vt.Tensor) -> vt.Tensor:
        seen.append(thread.reverse_level)
        raise KeyError

    def outer(a: vt.Tensor) -> vt.Tensor:
        seen.append(thread.reverse_level)
        with pytest.raises(KeyError):
            grad(inner)(a)
        seen.append(thread.reverse_level)
        return a.sum()

    grad(outer)(X)
    assert 0 < seen[0] < seen[1]
    assert (seen[2], thread.reverse_level, vt.is_grad_enabled()) == (seen[0], 0, True)
