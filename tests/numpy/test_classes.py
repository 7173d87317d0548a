"""The class of arrays survives what makes tensors of tensors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array
from vtgrad.autograd import functional as F
from vtgrad.errors import GradientError
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
    "vjp of one operator": lambda x: vt.func.vjp(vnp.sin, x)[1](array([1.0, 1, 1]))[0],
    "linearize": lambda x: vt.func.linearize(vnp.sin, x)[1](array([1.0, 0, 0])),
    "vmap to sums": lambda x: vt.vmap(lambda row: row.sum())(x.reshape(1, 3)),
    "vmap of gradients": lambda x: vt.vmap(vt.func.grad(lambda s: vnp.sin(s) * s))(x),
    "functional.vjp": lambda x: F.vjp(vnp.sin, x, array([1.0, 1, 1]))[1],
    "functional.jvp": lambda x: F.jvp(vnp.sin, x, array([1.0, 0, 0]))[1],
    "functional.vhp": lambda x: F.vhp(cube, x, array([1.0, 0, 0]))[1],
    "functional.hvp": lambda x: F.hvp(cube, x, array([1.0, 0, 0]))[1],
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


@pytest.mark.parametrize("name", [name for name in CALLS if name[:4] not in ("grad", "stac")])
def test_results_of_constants_are_arrays(name: str) -> None:
    # Nothing is recorded outside of the transforms, whose formulas compute on arrays alone.
    found = CALLS[name](array([1.0, 2.0, 3.0]))
    assert type(found) is ndarray


def test_gradients_of_leaves_are_arrays() -> None:
    x = array([1.0, 2.0], grad=True)
    cube(x).backward()
    assert type(x.grad) is ndarray
    assert x.grad is x.grad
    plain = vt.ones(2, requires_grad=True)
    plain.sum().backward()
    assert type(plain.grad) is vt.Tensor


def test_backward_takes_what_numpy_takes_for_an_array() -> None:
    x = array([1.0, 2.0], grad=True)
    for gradient in (np.array([1.0, 10.0]), [1.0, 10.0], array([1.0, 10.0])):
        x.grad = None
        (x * x).backward(gradient)
        assert type(x.grad) is ndarray
        assert x.grad.tolist() == [2, 40]
    for number in (np.float64(3), 3.0, np.array(3.0)):
        x.grad = None
        x[1].backward(number)
        assert x.grad is not None
        assert x.grad.tolist() == [0, 3]
    with pytest.raises(GradientError):
        (x * x).backward(np.ones(3))


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


class Seen(vt.autograd.Function):
    """Twice its argument and the argument itself, which notes the classes that backward gets."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        ctx.save_for_backward(a, None)
        return a * 2, a * 1

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        a, missing = ctx.saved_tensors
        assert missing is None
        seen_classes.append([type(x) for x in (a, *grads)])
        return 2 * grads[0] + grads[1]


seen_classes: list[list[type]] = []


def test_backward_of_a_function_gets_arrays() -> None:
    seen_classes.clear()
    x = array([1.0, 2.0], grad=True)
    # The argument is dead when backward runs.
    (Seen.apply(x * 1)[0] * x).sum().backward()
    vt.autograd.grad((Seen.apply(x * 1)[0] * x).sum(), x, create_graph=True)
    vt.vmap(lambda row: Seen.apply(row * 1)[0])(x.reshape(1, 2)).sum().backward()
    assert seen_classes == [[ndarray] * 3] * 3
    Seen.apply(x[0])[1].backward()
    assert seen_classes[3:] == [[scalar, ndarray, ndarray]]
    assert x.grad is not None
    assert x.grad.tolist() == [4 + 2 + 1, 8 + 2]
    plain = vt.ones(2, requires_grad=True)
    Seen.apply(plain * 1)[0].sum().backward()
    assert seen_classes[4:] == [[vt.Tensor] * 3]


def test_backward_of_a_function_has_the_meanings_of_numpy() -> None:
    class Standardized(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            return (a - a.mean()) / a.std()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (a,) = ctx.saved_tensors
            y = (a - a.mean()) / a.std()
            return (grad - grad.mean() - y * (grad * y).mean()) / a.std()

    x = array([1.0, 4.0, 2.0], grad=True)
    assert vt.autograd.gradcheck(lambda x: Standardized.apply(x * 1), (x,))
    assert vt.autograd.gradgradcheck(lambda x: Standardized.apply(x * 1), (x,))


def test_hooks_get_arrays() -> None:
    seen: list[type] = []
    x = array([1.0, 2.0], grad=True)
    y, s = x * 2, x[1]

    def note(grad: Any) -> None:
        seen.append(type(grad))

    for tensor in (x, y, s):
        tensor.register_hook(note)
    vt.autograd.graph.register_multi_grad_hook(
        [x, s], lambda grads: seen.extend([type(g) for g in grads])
    )
    (y.sum() + s).backward()
    assert seen == [ndarray] * 5
    plain = vt.ones(2, requires_grad=True)
    plain.register_hook(note)
    plain.sum().backward()
    assert seen[5:] == [vt.Tensor]


def test_hooks_may_write_and_replace_gradients() -> None:
    x = array([1.0, 2.0], grad=True)
    y, s = x * 2, x[1]

    def double(grad: Any) -> None:
        grad *= 2

    y.register_hook(double)
    # Of a 0-d array arithmetic gives a number of NumPy.
    s.register_hook(lambda grad: grad * 10)
    ((y * array([1.0, 3.0])).sum() + s).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4, 12 + 10]


def test_checkpoints_compute_scalars() -> None:
    x = array([1.0, 3.0], grad=True)
    for reentrant in (True, False):
        x.grad = None
        found = vt.utils.checkpoint.checkpoint(cube, x, use_reentrant=reentrant)
        found.backward()
        assert x.grad is not None
        assert x.grad.tolist() == [3, 27]


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints_give_arrays_and_scalars_again(reentrant: bool) -> None:
    seen: list[type] = []

    def f(x: Any) -> Any:
        seen.append(type(x))
        return vnp.sum(2 * x * x)

    x = array([1.0, 3.0], grad=True)
    makers: list[Callable[[], Any]] = [lambda: x * 1, lambda: x[1] * 1]
    for make in makers:
        # The argument is dead when the function runs again.
        vt.utils.checkpoint.checkpoint(f, make(), use_reentrant=reentrant).backward()
    assert seen == [ndarray, ndarray, scalar, scalar]
    assert x.grad is not None
    assert x.grad.tolist() == [4, 24]


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


class Spread(ndarray):
    """A class as others write them: its elements are in another array."""

    values: Any

    def __new__(cls, values: Any) -> Any:
        values = vnp.array(values, dtype=float)
        made = super().__new__(cls, values.shape, float, values)
        made.values = values
        return made


def test_users_classes_on_the_memory_of_arrays() -> None:
    x = array([1.0, 2.0], grad=True)
    y = Spread(x * 3)
    assert type(y) is Spread
    assert type(y.values) is ndarray
    y[0] = 5.0
    assert y.values.tolist() == [5.0, 6.0]
    (y * y).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 36.0]


def test_arrays_on_the_memory_of_arrays() -> None:
    base = np.arange(6.0)
    for options in (
        {"shape": 6},
        {"shape": (2, 3)},
        {"shape": (2, 3), "order": "F"},
        {"shape": (2, 2), "offset": 8},
        {"shape": 2, "strides": (16,), "offset": 16},
    ):
        given: Any = {"dtype": float, **options}
        for grad in (False, True):
            x = array(base, grad=grad) * 1
            made = ndarray(buffer=x, **given)
            expected = np.ndarray(buffer=base, **given)
            assert made.detach().tolist() == expected.tolist()
            assert made.strides == expected.strides
            made[...] = made * 2
            assert x.detach().sum().item() == base.sum() + expected.sum()
    for grad in (False, True):
        # The memory of what lies in it by columns.
        x = array(base.reshape(2, 3), grad=grad) * 1
        for shape in (6, (3, 2), (2, 3)):
            assert ndarray(shape, float, x.T).tolist() == base.reshape(shape).tolist()
        made = ndarray(6, float, x.T)
        made[1] = made[1] * 5
        assert x[0, 1] == 5
    x = array(base.reshape(2, 3), grad=True)
    (ndarray(6, float, x.T) * base).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == base.reshape(2, 3).tolist()
    for grad in (False, True):
        x = array(base, grad=grad) * 1
        with pytest.raises(TypeError, match="too small"):
            ndarray((7,), float, x)
        with pytest.raises(ValueError, match="contiguous"):
            ndarray((3,), float, x[::2])
    assert ndarray(48, "u1", array([1.0] * 6)).sum() == np.ones(6).view("u1").sum()
    with pytest.raises(TypeError, match="detach"):
        ndarray(48, "u1", array([1.0] * 6, grad=True))


def test_arrays_of_users_classes_as_arrays_of_the_class_itself() -> None:
    for grad in (False, True):
        x = array([1.0, 2.0], grad=grad).view(Spread)
        assert type(x) is Spread
        for make in (vnp.array, vnp.asarray, vnp.ascontiguousarray, vnp.copy):
            assert type(make(x)) is ndarray
        assert type(x.view(ndarray)) is type(x.view(np.ndarray)) is ndarray
        assert vnp.asarray(x).tolist() == [1.0, 2.0]
        assert vnp.asanyarray(x) is x
        assert type(vnp.array(x, subok=True)) is type(vnp.copy(x, subok=True)) is Spread


def test_scalars_are_no_sequences() -> None:
    s = array([1.0], grad=True)[0]
    assert not isinstance(s, Iterable)
    with pytest.raises(TypeError, match="not iterable"):
        iter(s)
    with pytest.raises(TypeError, match="no len"):
        len(s)


def test_a_scalar_indexed_by_a_truth_value() -> None:
    plain: Any = np.float64(2.0)
    s = array([2.0], grad=True)[0]
    index: Any
    for index in (True, False, np.True_, np.array(True), (True,), (None, np.False_), (..., True)):
        expected = plain[index]
        found = s[index]
        assert type(found) is ndarray
        assert found.shape == expected.shape
        assert found.detach().tolist() == expected.tolist()
    assert s[vnp.array(True)].shape == (1,)
    s[True].sum().backward()
    refused: list[Any] = [0, (0,), [True], np.array([True])]
    for index in refused:
        with pytest.raises(IndexError):
            plain[index]
        with pytest.raises(IndexError):
            s[index]


def test_the_package_does_not_load_the_namespace() -> None:
    program = "import sys, vtgrad; print([m for m in sys.modules if m.startswith('vtgrad.numpy')])"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_methods_of_tensors_that_take_the_dtype_of_an_array() -> None:
    x: Any = array([1.5, -2.0])
    moved = x.to("lane:0")
    assert (type(moved), str(moved.device), moved.tolist()) == (ndarray, "lane:0", [1.5, -2.0])
    assert moved.cpu().tolist() == moved.to("cpu").tolist() == [1.5, -2.0]
    assert x.to("cpu") is x
    assert x.to("cpu", copy=True).dtype == np.float64
    assert x.type() == vt.tensor([1.0], dtype=vt.float64).type()
    assert x.storage().tolist() == [1.5, -2.0]
    assert x.new([1]).dtype == vt.float64
    y: Any = array([1.5, -2.0], grad=True)
    (y.to("lane:0") * 2.0).sum().backward()
    assert y.grad.tolist() == [2.0, 2.0]
