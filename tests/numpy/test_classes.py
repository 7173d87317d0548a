"""The class of arrays survives what makes tensors of tensors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array
from vtgrad.numpy import ndarray, scalar
from vtgrad.numpy.ufuncs import exp


def cube(x: Any) -> Any:
    return (x * x * x).sum()


def mixed(x: Any) -> Any:
    return exp(x) * x[0]


CALLS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda x: vt.autograd.grad(cube(x), x)[0],
    "grad, recorded": lambda x: vt.autograd.grad(cube(x), x, create_graph=True)[0],
    "func.grad": lambda x: vt.func.grad(cube)(x),
    "jacrev": lambda x: vt.func.jacrev(mixed)(x),
    "jacfwd": lambda x: vt.func.jacfwd(mixed)(x),
    "hessian": lambda x: vt.func.hessian(cube)(x),
    "jvp": lambda x: vt.func.jvp(mixed, (x,), (array([1.0, 0, 0]),))[1],
    "jvp of one operator": lambda x: vt.func.jvp(vnp.sin, (x,), (array([1.0, 0, 0]),))[1],
    "vjp": lambda x: vt.func.vjp(mixed, x)[1](array([1.0, 1, 1]))[0],
    "vmap": lambda x: vt.vmap(lambda row: row * row[0])(x.reshape(1, 3)),
    "vmap to scalars": lambda x: vt.vmap(lambda row: row[0] + row.sum())(x.reshape(1, 3)),
    "jacobian": lambda x: vt.autograd.functional.jacobian(mixed, x),
    "functional.hessian": lambda x: vt.autograd.functional.hessian(cube, x),
    "cat": lambda x: vt.cat([vt.ones(2, dtype=vt.float64), x]),
    "stack": lambda x: vt.stack([x[0], x[1]]),
    "where": lambda x: vt.where(x > 1, x, vt.zeros(3, dtype=vt.float64)),
    "einsum": lambda x: vt.einsum("i,j->ij", x, x),
    "split": lambda x: x.split(2)[0],
    "detach": lambda x: x.detach(),
    "clone": lambda x: x.clone(),
    "tensor times array": lambda x: vt.ones(3, dtype=vt.float64) * x,
    "NumPy's array times array": lambda x: np.ones(3) * x,
    "NumPy's ufunc": lambda x: np.exp(x),
    "NumPy's function": lambda x: np.cumsum(x),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_arrays(name: str) -> None:
    found = CALLS[name](array([1.0, 2.0, 3.0], grad=True))
    assert type(found) is ndarray


def test_gradients_of_leaves_are_arrays() -> None:
    x = array([1.0, 2.0], grad=True)
    cube(x).backward()
    assert type(x.grad) is ndarray
    assert x.grad is x.grad
    plain = vt.ones(2, requires_grad=True)
    plain.sum().backward()
    assert type(plain.grad) is vt.Tensor


def test_forward_of_a_function_may_compute_numbers() -> None:
    class Square(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (a,) = ctx.saved_tensors
            return 2 * a * grad

    x = array([1.0, 3.0], grad=True)
    found = Square.apply(x[1])
    assert type(found) is scalar
    found.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 6]


def test_checkpoints_compute_scalars() -> None:
    x = array([1.0, 3.0], grad=True)
    for reentrant in (True, False):
        x.grad = None
        found = vt.utils.checkpoint.checkpoint(cube, x, use_reentrant=reentrant)
        found.backward()
        assert x.grad is not None
        assert x.grad.tolist() == [3, 27]


def test_gradcheck_takes_arrays() -> None:
    x = array([1.0, 2.0], grad=True)
    assert vt.autograd.gradcheck(mixed, (x,))
    assert vt.autograd.gradgradcheck(mixed, (x,))


def test_plain_tensors_keep_pytorchs_meanings() -> None:
    x = vt.tensor([1.0, 2.0], requires_grad=True)
    assert type(x.sum()) is type(x[0]) is vt.Tensor
    assert type((x * 2).shape) is vt.Size
    assert type(vt.stack([x, x])) is vt.Tensor


def test_users_classes_are_made_without_their_constructor() -> None:
    class Named(ndarray):
        def __new__(cls, values: Any, name: str) -> Any:
            made = array(values).view(cls)
            made.name = name
            return made

        def __array_finalize__(self, source: Any) -> None:
            self.name = getattr(source, "name", None)

    x = Named([1.0, 2.0], "x")
    assert type(x) is Named
    assert x.name == "x"
    assert (x * 2).tolist() == [2, 4]
    assert type(x[1:]) is Named


def test_the_package_does_not_load_the_namespace() -> None:
    program = "import sys, vtgrad; print([m for m in sys.modules if m.startswith('vtgrad.numpy')])"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
