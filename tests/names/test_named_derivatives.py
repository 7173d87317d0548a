"""Derivatives of tensors with names of dimensions have none, whichever function computes them.

What breaks it: a matrix of the rows or columns that is made like the tensor, with its names.
"""

from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad.autograd import forward_ad as fw
from vtgrad.autograd import functional

Function = Callable[[vt.Tensor], vt.Tensor]


def square(x: vt.Tensor) -> vt.Tensor:
    return x * x


def renamed(x: vt.Tensor) -> vt.Tensor:
    return (x * x).rename("other")


JACOBIANS: dict[str, Callable[[Function, vt.Tensor], object]] = {
    "jacrev": lambda f, x: vt.func.jacrev(f)(x),
    "jacrev in chunks": lambda f, x: vt.func.jacrev(f, chunk_size=1)(x),
    "jacfwd": lambda f, x: vt.func.jacfwd(f)(x),
    "jacobian": functional.jacobian,
    "jacobian in a batch": lambda f, x: functional.jacobian(f, x, vectorize=True),
    "jacobian by columns": lambda f, x: functional.jacobian(
        f, x, vectorize=True, strategy="forward-mode"
    ),
}


@pytest.mark.parametrize("name", JACOBIANS)
@pytest.mark.parametrize("function", [square, renamed])
def test_jacobians_have_no_names(name: str, function: Function) -> None:
    for x in (vt.tensor([1.0, 2.0], names=("a",)), vt.tensor([1.0, 2.0])):
        found = JACOBIANS[name](function, x)
        assert isinstance(found, vt.Tensor)
        assert found.names == (None, None)
        assert found.tolist() == [[2, 0], [0, 4]]


def test_constant_results_have_jacobians_of_zeros_without_names() -> None:
    constant = vt.ones(3, names=("c",))
    for name, jacobian in JACOBIANS.items():
        found = jacobian(lambda x: constant, vt.tensor([1.0, 2.0], names=("a",)))
        assert isinstance(found, vt.Tensor), name
        assert found.names == (None, None)
        assert found.tolist() == [[0, 0]] * 3


def test_derivatives_that_are_zero_have_no_names() -> None:
    x, constant = vt.tensor([1.0, 2.0], names=("a",)), vt.ones(3, names=("c",))
    found = [
        vt.func.grad(lambda x: constant.sum())(x),
        vt.func.vjp(lambda x: constant, x)[1](vt.ones(3))[0],
        vt.func.jvp(lambda x: constant, (x,), (vt.ones(2),))[1],
        vt.func.linearize(lambda x: constant, x)[1](vt.ones(2)),
        functional.vjp(lambda x: constant, x, vt.ones(3))[1],
    ]
    for derivative in found:
        assert isinstance(derivative, vt.Tensor)
        assert derivative.names == (None,)
        assert not derivative.any()


def test_a_tangent_leaves_its_names() -> None:
    x, t = vt.tensor([1.0, 2.0], names=("a",)), vt.tensor([3.0, 4.0], names=("b",))
    with fw.dual_level():
        d = fw.make_dual(x, t)
        y = fw.unpack_dual(d * x)
        assert y.primal.names == ("a",)
        assert y.tangent is not None
        assert y.tangent.names == (None,)
        assert y.tangent.tolist() == [3, 8]
