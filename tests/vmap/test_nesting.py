"""`vmap` of transforms of `vmap` and so on, in all orders, against a loop over the samples.

The functions capture a tensor that requires grad outside; its gradients are compared too.
"""

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import StaleSavedError
from vtgrad.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

Vector = Callable[[vt.Tensor], Any]

_rng = np.random.default_rng(0)


def drawn(*shape: int) -> vt.Tensor:
    return vt.tensor(_rng.standard_normal(shape) * 0.6)


W = drawn(3).requires_grad_()
C, V = drawn(3), drawn(3)
X = drawn(3, 3)
HALVES = vt.tensor([1.0, 0.3], dtype=vt.float64)


# -- functions of a vector -------------------------------------------------------------------------


def plain(x: vt.Tensor) -> vt.Tensor:
    return (x * x.sin() + x.sum() * W).tanh()


def into_a_table(x: vt.Tensor) -> vt.Tensor:
    table = x.new_zeros(4)
    table[1:] = x * C
    table[0] = table[1] * x[2]
    table[2:].add_(x[0] ** 2)
    table[3:].mul_(-2.0)
    return table[1:] * W + table[0]


def in_place(x: vt.Tensor) -> vt.Tensor:
    y = x.clone()
    y[0] = y[1] + y[2] * 2
    y.mul_(x)
    y[1:].add_(W[1:])
    return y.cumsum(0)


def by_index(x: vt.Tensor) -> vt.Tensor:
    order = x.detach().argsort()
    return x[order] * W + x.flip(0) ** 2


def matrix(x: vt.Tensor) -> vt.Tensor:
    a = vt.outer(x, x * W) + vt.eye(3, dtype=vt.float64)
    return a @ x


def reductions(x: vt.Tensor) -> vt.Tensor:
    return vt.stack([x.max() * W[0], x.prod(), (x**2).sum().sqrt()])


def captured_only(x: vt.Tensor) -> vt.Tensor:
    return C * W


FUNCTIONS = [plain, into_a_table, in_place, by_index, matrix, reductions, captured_only]


# -- from functions of a vector to functions of a vector -------------------------------------------


def _linearized(f: Vector) -> Vector:
    def function(x: vt.Tensor) -> Any:
        _, push = linearize(f, x)
        return push(V * 1.0)

    return function


def _pulled(f: Vector) -> Vector:
    def function(x: vt.Tensor) -> Any:
        out, pull, *_ = vjp(f, x)
        assert isinstance(out, vt.Tensor)
        assert callable(pull)
        return pull(V * out.detach() + 1)[0]

    return function


def _number(f: Vector) -> Vector:
    return lambda x: (f(x) * V).sum()


TRANSFORMS: dict[str, Callable[[Vector], Vector]] = {
    "grad": lambda f: grad(_number(f)),
    "vjp": _pulled,
    "jvp": lambda f: lambda x: jvp(f, (x,), (V + x * 0.5,))[1],
    "jacrev": lambda f: lambda x: (jacrev(f)(x) * V).sum(-1),
    "jacfwd": lambda f: lambda x: (jacfwd(f)(x) * V).sum(-1),
    "hessian": lambda f: lambda x: hessian(_number(f))(x).sum(0),
    "linearize": _linearized,
    "vmap": lambda f: lambda x: vmap(f)(vt.stack([x, x * 0.5])).sum(0),
    "vmap of scalars": lambda f: lambda x: vmap(lambda s: f(x * s))(HALVES).sum(0),
    "vmap of columns": lambda f: (
        lambda x: vmap(f, in_dims=1, out_dims=1)(vt.stack([x, x * 0.5], 1)).sum(1)
    ),
}


def gradient_by_w(result: vt.Tensor) -> Any:
    if not result.requires_grad:
        return np.zeros(3)
    (found,) = vt.autograd.grad(result.sum(), W, materialize_grads=True)
    assert found is not None
    return found.numpy()


def check(names: tuple[str, ...], function: Vector) -> None:
    nested = function
    for name in reversed(names):
        nested = TRANSFORMS[name](nested)
    try:
        expected = vt.stack([nested(x) for x in X])
    except StaleSavedError:
        # What a tangent has saved was overwritten: the same for a batch.
        with pytest.raises(StaleSavedError):
            vmap(nested)(X)
        assert function is in_place
        return
    found = vmap(nested)(X)
    assert isinstance(found, vt.Tensor)
    told = f"{names} of {function.__name__}"
    np.testing.assert_allclose(
        found.detach().numpy(), expected.detach().numpy(), 1e-8, 1e-10, err_msg=told
    )
    np.testing.assert_allclose(
        gradient_by_w(found), gradient_by_w(expected), 1e-8, 1e-10, err_msg=told
    )


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_one_transform(name: str, function: Vector) -> None:
    check((name,), function)


@pytest.mark.slow
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_two_transforms(outer: str) -> None:
    for inner in TRANSFORMS:
        for function in FUNCTIONS:
            check((outer, inner), function)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_three_transforms(part: int) -> None:
    rng = random.Random(part)
    orders = list(itertools.product(TRANSFORMS, repeat=3))
    for names in rng.sample(orders, 25):
        check(names, rng.choice(FUNCTIONS))


def test_perturbations_are_not_confused() -> None:
    """d/da (a * d/db (a + b) at 1) is 1, at each sample, whichever transforms are used."""
    derivatives: list[Callable[[Vector], Vector]] = [
        lambda f: grad(f),
        lambda f: lambda a: jvp(f, (a,), (vt.ones_like(a),))[1],
        lambda f: jacrev(f),
        lambda f: jacfwd(f),
    ]
    for outer, inner in itertools.product(derivatives, repeat=2):

        def f(a: vt.Tensor, inner: Any = inner) -> Any:
            return a * inner(lambda b: a + b)(vt.ones((), dtype=vt.float64))

        found = vmap(outer(f))(vt.tensor([1.0, 5.0], dtype=vt.float64))
        assert isinstance(found, vt.Tensor)
        assert found.tolist() == [1, 1]
