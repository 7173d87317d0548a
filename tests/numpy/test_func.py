"""The transforms of the namespace, which take numbers and arrays of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array, assert_same
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    StaleSavedError,
    TransformError,
)
from vtgrad.numpy import func, scalar

A: Final = np.array([[1.0, 2.0], [3.0, 5.0]])


def counted(x: Any) -> Any:
    """``(x + 1) ** 3``, which gives the name of its argument another number."""
    assert isinstance(x, vnp.floating)
    x += 1
    return x**3


#: By name, a computation with the transforms, and what it gives; derivatives of `counted` at 1.
NUMBERS: Final[dict[str, tuple[Callable[[Any], Any], Any]]] = {
    "grad": (lambda x: func.grad(counted)(x), 12.0),
    "nested": (lambda x: func.grad(func.grad(counted))(x), 12.0),
    "grad_and_value": (lambda x: func.grad_and_value(counted)(x), (12.0, 8.0)),
    "jacrev": (lambda x: func.jacrev(counted)(x), 12.0),
    "jacfwd": (lambda x: func.jacfwd(counted)(x), 12.0),
    "hessian": (lambda x: func.hessian(counted)(x), 12.0),
    "jvp": (lambda x: func.jvp(counted, (x,), (x * 2,)), (8.0, 24.0)),
    "jvp of grad": (lambda x: func.jvp(func.grad(counted), (x,), (x,)), (12.0, 12.0)),
    "grad of jvp": (lambda x: func.grad(lambda x: func.jvp(counted, (x,), (x,))[1])(x), 24.0),
    "vjp": (lambda x: func.vjp(counted, x)[1](x * 2), (24.0,)),
    "outputs of vjp": (lambda x: func.vjp(counted, x)[0], 8.0),
    "linearize": (lambda x: func.linearize(counted, x)[1](x * 2), 24.0),
    "outputs of linearize": (lambda x: func.linearize(counted, x)[0], 8.0),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str) -> None:
    call, wanted = NUMBERS[name]
    numbers = tuple(map(np.float64, wanted)) if isinstance(wanted, tuple) else np.float64(wanted)
    for x in (1.0, np.float64(1.0)):
        assert_same(call(x), numbers)
    with vt.no_grad():
        assert_same(call(1.0), numbers)
    # A number that carries a derivative gives one.
    x = array([1.0], grad=True)
    found = call(x[0] * 1)
    for one in found if isinstance(found, tuple) else (found,):
        assert type(one) is scalar
        assert vt.autograd.grad(one, x, retain_graph=True)[0].numel() == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_dtypes_stay(dtype: Any) -> None:
    def square(x: Any) -> Any:
        return vnp.sum(x * vnp.conj(x)).real

    for x in (A.astype(dtype), A.astype(dtype)[0, 1]):
        assert_same(func.grad(square)(x), 2 * x)


def test_arrays_of_numpy_are_copied() -> None:
    def double(x: Any) -> Any:
        assert type(x) is vnp.ndarray
        x *= 2
        return x

    x = A.copy()
    value, tangent = func.jvp(double, (x,), (A,))
    assert value.tolist() == tangent.tolist() == (2 * A).tolist()
    assert x.tolist() == A.tolist()
    jacobian = func.jacrev(lambda x: vnp.linalg.inv(x))(x)
    assert type(jacobian) is vnp.ndarray
    inverse = np.linalg.inv(A)
    wanted = -np.einsum("ij,kl->iljk", inverse, inverse)
    np.testing.assert_allclose(jacobian.numpy(), wanted, atol=1e-12)


def test_containers() -> None:
    def f(p: Any, power: float) -> Any:
        assert type(power) is float
        return vnp.sum(p["a"] * p["b"][0] ** power)

    found: Any = func.grad(f)({"a": 3.0, "b": [A, np.float32(2)]}, 2.0)
    assert_same(found["a"], np.sum(A**2))
    assert_same(found["b"][0], 6 * A)
    assert_same(found["b"][1], np.float32(0))
    both: Any = func.grad(lambda x, y: x * y, (-1, 0))(2.0, np.float64(3.0))
    assert_same(both, (np.float64(2), np.float64(3)))


def test_what_is_returned_beside() -> None:
    def f(x: Any) -> Any:
        return x * x, "aux"

    two = np.float64(2)
    assert func.grad(f, has_aux=True)(1.0) == (two, "aux")
    assert func.grad_and_value(f, has_aux=True)(1.0) == (two, (1, "aux"))
    assert func.jacrev(f, has_aux=True)(1.0) == (two, "aux")
    assert func.jacfwd(f, has_aux=True)(1.0) == (two, "aux")
    assert func.jvp(f, (1.0,), (1.0,), has_aux=True) == (1, two, "aux")
    out, pull, aux = func.vjp(f, 1.0, has_aux=True)
    assert (out, pull(1.0), aux) == (1, (two,), "aux")


def test_numbers_of_numpy_are_constants() -> None:
    def step(x: Any) -> Any:
        return x**2 if x > 0 else np.float64(7)

    assert_same(func.grad(step)(3.0), np.float64(6))
    assert_same(func.grad(step)(-3.0), np.float64(0))
    assert_same(func.jvp(step, (-3.0,), (1.0,)), (np.float64(7), np.float64(0)))
    with pytest.raises(TransformError, match="float"):
        func.grad(lambda x: x.item())(1.0)


def test_samples_of_no_dimension_are_numbers() -> None:
    rows = np.arange(3.0)
    assert_same(func.vmap(func.grad(counted))(rows), 3 * (rows + 1) ** 2)
    assert_same(func.vmap(counted)(rows), (rows + 1) ** 3)
    assert_same(func.vmap(lambda x: np.float64(2))(rows), np.full(3, 2.0))
    assert_same(func.vmap(lambda x, y: x * y, (0, None))(rows, 2.0), rows * 2)
    assert rows.tolist() == [0, 1, 2]


def test_refusals() -> None:
    def f(*args: Any) -> Any:
        return args[0]

    transform: Any
    for transform in (func.grad, func.jacrev, func.hessian, func.vmap):
        with pytest.raises(ArgumentTypeError, match="takes a function"):
            transform(1.0)
    for transform in (func.vjp, func.linearize):
        with pytest.raises(ArgumentTypeError, match="takes a function"):
            transform(1.0, 1.0)
    with pytest.raises(ArgumentValueError, match="int"):
        func.grad(f)(1)
    with pytest.raises(TransformError, match="int64"):
        func.grad(f)(np.int64(1))
    with pytest.raises(TransformError, match="argnums"):
        func.grad(f, 3)(1.0)
    with pytest.raises(ArgumentTypeError, match="masked"):
        func.grad(f)(np.ma.array([1.0], mask=[True]))
    wrong: Any = 1.0
    with pytest.raises(ArgumentTypeError, match="primals of jvp must be a tuple"):
        func.jvp(f, wrong, (1.0,))
    # An array of NumPy says nothing about the meanings of operators to transforms of tensors.
    with pytest.raises(ArgumentValueError, match="float64"):
        vt.func.grad(f)(np.float64(1.0))


def softmax_in_place(x: Any) -> Any:
    """Overwrites twice what its derivatives need."""
    k = np.exp(x)
    k /= np.sum(k)
    k *= k
    return k


def softmax_of_copies(x: Any) -> Any:
    k = np.exp(x)
    return (k / np.sum(k)) ** 2


#: Each is made of a function before, and differentiates after, the function has run.
_DERIVED: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "grad": lambda f, x: func.grad(lambda x: f(x)[1])(x),
    "grad of grad": lambda f, x: func.grad(lambda x: func.grad(lambda x: f(x)[1])(x)[0])(x),
    "jacrev": lambda f, x: func.jacrev(f)(x),
    "jacfwd": lambda f, x: func.jacfwd(f)(x),
    "hessian": lambda f, x: func.hessian(lambda x: f(x)[1])(x),
    "vjp": lambda f, x: func.vjp(f, x)[1](x)[0],
    "jvp": lambda f, x: func.jvp(f, (x,), (x,))[1],
    "linearize": lambda f, x: func.linearize(f, x)[1](x),
    "vmap of grad": lambda f, x: func.vmap(func.grad(lambda x: f(x)[1]))(np.stack([x, x * 2])),
}


@pytest.mark.parametrize("name", _DERIVED)
def test_functions_may_overwrite_what_derivatives_need(name: str) -> None:
    x = np.array([0.5, 1.0, -0.25])
    derive = _DERIVED[name]
    found, wanted = derive(softmax_in_place, x), derive(softmax_of_copies, x)
    np.testing.assert_allclose(found.tolist(), wanted.tolist(), rtol=1e-12)


def test_what_is_overwritten_after_the_function_is_refused() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept.append(np.exp(x))
        return kept[0] * kept[0]

    _, pull = func.vjp(f, np.array([0.5, 1.0]))
    kept[0] *= 2
    with pytest.raises(StaleSavedError):
        pull(np.ones(2))


def test_results_can_be_written() -> None:
    x, matrix = np.ones(2), np.ones((2, 2))

    def total(x: Any, *others: Any) -> Any:
        return vnp.sum(x) + sum(vnp.mean(y) for y in others)

    _, pull = func.vjp(total, x)
    _, push = func.linearize(lambda x: vnp.broadcast_to(x, (3, 2)), x)
    results: list[Any] = [
        func.grad(total)(x),
        func.grad(total, (0, 1))(x, matrix)[1],
        func.grad(lambda given: total(*given.values()))({"a": x, "b": matrix})["b"],
        func.grad_and_value(total)(x)[0],
        func.jacrev(lambda x: vnp.stack([total(x), total(x)]))(x),
        func.jacfwd(lambda x: vnp.broadcast_to(x, (3, 2)))(x),
        pull(1.0)[0],
        push(x),
        func.vjp(lambda x: vnp.broadcast_to(x, (3, 2)), x)[0],
        func.jvp(lambda x: vnp.broadcast_to(x, (3, 2)), (x,), (x,))[1],
        func.vmap(lambda x: vnp.ones(2))(x),
    ]
    for nr, found in enumerate(results):
        before = found.tolist()
        found += 1
        found[0] *= 2
        expected = np.array(before) + 1
        expected[0] *= 2
        assert found.tolist() == expected.tolist(), nr

    def step(x: Any) -> Any:
        gradient: Any = func.grad(lambda y: vnp.sum(y) * vnp.sum(x))(x)
        gradient *= 2
        return vnp.sum(gradient * x)

    assert func.grad(step)(x).tolist() == [8.0, 8.0]
