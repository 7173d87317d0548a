"""The ufuncs, with their options, for all dtypes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import DTYPES, array, compare, values
from vtgrad.numpy import ufuncs
from vtgrad.numpy.ufunc import Ufunc

UFUNCS: dict[str, Any] = {
    name: getattr(ufuncs, name)
    for name in ufuncs.__all__
    if isinstance(getattr(ufuncs, name), Ufunc)
}
ONE = [n for n, f in UFUNCS.items() if f.nin == 1]
TWO = [n for n, f in UFUNCS.items() if f.nin == 2 and f.signature is None]


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize("name", ONE)
def test_ufuncs_of_one_operand(name: str, grad: bool) -> None:
    mine, theirs = UFUNCS[name], getattr(np, name)
    for one in DTYPES:
        for shape in ((2, 3), (), (0,)):
            x = values(one, shape)
            if name in ("arccos", "arcsin", "acos", "asin", "arctanh", "atanh"):
                x = np.asarray(x / np.asarray(8, x.dtype)).astype(x.dtype)
            compare(partial(mine, array(x, grad)), partial(theirs, x), f"{one}{shape}")
        for strided in (values(one, (4, 6))[::2, 1::2], values(one, (2, 3)).T):
            compare(partial(mine, array(strided, grad)), partial(theirs, strided), one)


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize("name", TWO)
def test_ufuncs_of_two_operands(name: str, grad: bool) -> None:
    mine, theirs = UFUNCS[name], getattr(np, name)
    # Each dtype with itself and a few others: all pairs are in the tests of operators.
    ordered = name in ("maximum", "minimum", "fmax", "fmin")
    for one in DTYPES:
        if grad and ordered and one in "FD":
            continue  # refused: the order of complex numbers is no function with a derivative
        for two in (one, "b", "f", "d", 2, 1.5):
            for shape in ((2, 3), ()):
                x = values(one, shape, 1)
                y: Any = values(two, (3,), 2) if isinstance(two, str) else two
                made = array(x, grad)
                compare(partial(mine, made, y), partial(theirs, x, y), f"{one}{shape} {two}")
                compare(partial(mine, y, made), partial(theirs, y, x), f"{two} {one}{shape}")


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize(
    "name",
    [x for x in ("matmul", "vecdot", "matvec", "vecmat") if hasattr(np, x)],  # two are of NumPy 2.2
)
def test_ufuncs_of_matrices(name: str, grad: bool) -> None:
    mine, theirs = UFUNCS[name], getattr(np, name)
    for one in ("l", "f", "d", "D"):
        for left, right in (((3, 3), (3, 3)), ((3,), (3,)), ((2, 3, 3), (3, 3)), ((3,), (2, 3))):
            x, y = values(one, left, 1), values(one, right, 2)
            compare(partial(mine, array(x, grad), y), partial(theirs, x, y), str(left))


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_where_and_out(name: str, grad: bool) -> None:
    mine, theirs = UFUNCS[name], getattr(np, name)
    if mine.nout > 1:
        pytest.skip("several results have tests of their own")
    mask = np.array([True, False, True])
    for one in ("d", "f", "l", "?"):
        xs = [values(one, (2, 3), k) for k in range(mine.nin)]
        for out in ("d", "f", "l", "?", "D") if one != "f" else ("f", "l"):

            def right(xs: Any = xs, out: str = out) -> Any:
                target = np.zeros((2, 3), out)
                returned = theirs(*xs, out=target, where=mask)
                assert returned is target
                return target

            def found(xs: Any = xs, out: str = out) -> Any:
                target = array(np.zeros((2, 3), out))
                returned = mine(*[array(x, grad) for x in xs], out=target, where=mask)
                assert returned is target
                return target

            compare(found, right, f"{one} to {out}")


@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_the_dtype_of_the_loop_can_be_chosen(name: str) -> None:
    mine, theirs = UFUNCS[name], getattr(np, name)
    if mine.nout > 1:
        pytest.skip("several results have tests of their own")
    ordered = name in ("maximum", "minimum", "fmax", "fmin")
    for dtype in ("f", "d") if ordered else ("f", "d", "D"):
        xs = [values("f", (2, 3), k) for k in range(mine.nin)]
        for grad in (False, True):
            made = [array(x, grad) for x in xs]
            compare(partial(mine, *made, dtype=dtype), partial(theirs, *xs, dtype=dtype), dtype)


def test_where_hides_the_derivative_of_elements_that_are_not_computed() -> None:
    for f in (ufuncs.log, ufuncs.sqrt, ufuncs.reciprocal, ufuncs.arccosh):
        x = array([0.0, 4.0], grad=True)
        out = vnp.ndarray((2,))
        out[...] = 0
        (f(x, where=x > 1, out=out) * 1).sum().backward()
        assert x.grad is not None
        assert x.grad[0] == 0
        assert np.isfinite(x.grad.tolist()).all()


def test_operands_that_out_overwrites_are_kept_for_backward() -> None:
    for f in (ufuncs.multiply, ufuncs.divide, ufuncs.maximum, ufuncs.hypot, ufuncs.power):
        x, y = array([1.0, 2.0, 3.0], grad=True), array([2.0, 3.0, 1.5], grad=True)
        a, b = x * 1, y * 1
        f(a, b, out=b)
        wanted = vt.autograd.grad(f(x, y).sum(), (x, y))
        found = vt.autograd.grad(b.sum(), (x, y))
        for one, two in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one.tolist(), two.tolist())


def test_a_value_with_a_derivative_is_not_stored_in_an_array_of_numpy() -> None:
    x = array([1.0, 2.0], grad=True)
    exp: Any = ufuncs.exp  # the types say so too
    with pytest.raises(TypeError, match=r"vtgrad\.numpy"):
        exp(x, out=np.zeros(2))
    with vt.no_grad():
        target = np.zeros(2)
        exp(x.detach(), out=target)
    np.testing.assert_array_equal(target, np.exp([1.0, 2.0]))


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_derivatives(name: str) -> None:
    mine = UFUNCS[name]
    if mine.operator is None or mine.signature is not None:
        pytest.skip("no derivative, or of matrices")
    low = 1.3 if name in ("arccosh", "acosh") else 0.3
    xs = [
        array(np.array([[low, low + 0.21, low + 0.43]]) + 0.1 * k, grad=True)
        for k in range(mine.nin)
    ]
    if name == "ldexp":
        xs[1] = array([1, 2, 3])
    try:
        found = mine(*xs)
    except TypeError:
        pytest.skip("not for floats")
    results = found if isinstance(found, tuple) else (found,)
    if not any(x.requires_grad for x in results):
        pytest.skip("integers or bools")

    def f(*xs: Any) -> Any:
        made = mine(*xs)
        return tuple(x for x in made if x.requires_grad) if isinstance(made, tuple) else made

    assert vt.autograd.gradcheck(f, tuple(xs))
    smooth = name not in ("floor", "ceil", "trunc", "rint", "sign", "heaviside", "nextafter")
    if smooth and isinstance(found, vt.Tensor):
        assert vt.autograd.gradgradcheck(f, tuple(xs), fast_mode=True)


def unwritable() -> list[Any]:
    """Arrays in which three numbers cannot be stored."""
    locked = np.zeros(3)
    locked.flags.writeable = False
    leaf = array([1.0, 2.0, 3.0], grad=True)
    return [
        vnp.zeros(2),
        np.zeros(2),
        locked,
        vnp.broadcast_to(vnp.zeros(1), (3,)),
        leaf,
        leaf[:],
    ]


@pytest.mark.parametrize("nr", range(len(unwritable())))
def test_of_two_results_none_is_stored_if_one_cannot_be(nr: int) -> None:
    for name, args in (("divmod", (2.0,)), ("modf", ()), ("frexp", ())):
        for grad in (False, True):
            if grad and name == "frexp":
                continue  # it has no derivative
            x = array([5.5, 6.0, 7.0], grad=grad)
            given = vnp.zeros(3)
            with pytest.raises((TypeError, ValueError, vt.errors.WriteRefusedError)):
                getattr(vnp, name)(x, *args, out=(given, unwritable()[nr]))
            assert (given.tolist(), given._version, given.grad_fn) == ([0, 0, 0], 0, None)


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_sign_of_nan_is_nan_and_constant(dtype: str, grad: bool) -> None:
    values = np.array([np.nan, -2.0, -0.0, np.inf], dtype)
    x = vnp.array(values)
    if grad:
        x.requires_grad_()
    found = vnp.sign(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.detach(), np.sign(values))
    if grad:
        found[1:].sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [0, 0, 0, 0]
