"""Functions of each element that NumPy has beside its ufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_that_write import check, check_rows
from tests.numpy.derivatives import check_derivatives
from tests.numpy.support import DTYPES, array, plain, values
from vtgrad.numpy import scalar

ODD = np.array([[0.0, -0.0, np.nan], [np.inf, -np.inf, -1.0]])
PAIRS = ODD.astype("D")
PAIRS.imag = ODD[::-1]


@pytest.mark.parametrize(
    "name", ["real", "imag", "angle", "real_if_close", "nan_to_num", "sinc", "i0", "fix", "around"]
)
def test_functions_of_elements(name: str) -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        check(name, x)
        check(name, x.T[::2])
        check(name, x[:0])
        check(name, x[0, 0])
        if name not in ("real", "imag"):
            check(name, np.array(x[0, 0]))
    for kind in "efd":
        check(name, ODD.astype(kind))
    check(name, -2)
    check(name, 2.5)
    check(name, [1.0, np.array(-2.5)])
    if name != "i0":
        check(name, ODD + 1j)
        for kind in "FD" if name != "sinc" else "":
            check(name, PAIRS.astype(kind))
        check(name, 1.5 - 2j)


def test_options() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3))
        check("angle", x, True)
        check("around", x, -1)
        check("around", x, 1)
        check("real_if_close", x * (1 + 1e-9j), 1e8)
    check("real_if_close", np.array([1 + 1e-16j, 2]))
    check("real_if_close", np.array([1 + 1e-16j, 2]), 0.5)
    check("angle", np.array([0j, -1 - 0.0j, complex(-0.0, -0.0), 2j, -3 + 1e-20j]))
    check("angle", ODD, deg=True)
    for given in (ODD, ODD.astype("f"), ODD.astype("e"), PAIRS):
        check("nan_to_num", given)
        check("nan_to_num", given, nan=1.5, posinf=7, neginf=np.array([[1.0], [2.0]]))
        check("nan_to_num", given, nan=np.array([1.0, 2.0, 3.0]))
    check("nan_to_num", ODD, nan=np.zeros(2))
    check("nan_to_num", ODD[0], nan=np.zeros((2, 1)))


def test_out() -> None:
    for name in ("fix", "around"):
        for kind in "fd":
            mine, theirs = array(np.zeros(3, kind)), np.zeros(3, kind)
            assert getattr(vnp, name)(array([1.5, -1.5, 0.5], grad=True), out=mine) is mine
            getattr(np, name)(np.array([1.5, -1.5, 0.5]), out=theirs)
            assert mine.tolist() == theirs.tolist()


def test_unwrap() -> None:
    for dtype in DTYPES:
        x = values(dtype, (3, 4)) * 2
        check("unwrap", x)
        check("unwrap", x, axis=0)
        check("unwrap", x, 4.0, -2)
        check("unwrap", x, period=3.5)
        check("unwrap", x, period=4)
        check("unwrap", x, period=5)
    x = np.array([0.0, np.pi, 2 * np.pi, -np.pi, 9.0, 10.0, -20.0])
    for given in (x, -x, x[::2], x[:1], x[:0], list(x[:2]), x[None, :], np.array(1.0)):
        check("unwrap", given)
    check("unwrap", x, axis=2)
    check("unwrap", np.array([0.0, 3, np.nan, 5]))


def test_nan_to_num_writes() -> None:
    for given in (ODD, ODD + 1j, np.array([1, 2])):
        x = array(given)
        assert vnp.nan_to_num(x, copy=False) is x
        np.testing.assert_array_equal(x.numpy(), np.nan_to_num(given))
        leaf = array(given, grad=True)
        y = vnp.copy(leaf)
        assert vnp.nan_to_num(y, copy=False, nan=4.0) is y
        np.testing.assert_array_equal(y.detach().numpy(), np.nan_to_num(given, nan=4.0))
    table = ODD * 1
    assert np.isfinite(np.asarray(vnp.nan_to_num(table, copy=False))).all()


def test_numpys_arrays_are_written_without_derivatives() -> None:
    table = ODD * 1
    assert vnp.nan_to_num(table, copy=False, nan=array(4.0)).tolist() == table.tolist()
    assert table[0].tolist() == [0, 0, 4]
    with pytest.raises(TypeError, match=r"vtgrad\.numpy"):
        vnp.nan_to_num(table, copy=False, nan=array(4.0, grad=True))


def test_parts_of_numbers_are_numbers() -> None:
    z = array([1 + 2j, 3 - 1j], grad=True)
    for part in (z[0].real, z[0].imag, vnp.real(z[0]), vnp.imag(z[0]), z[0].real.real):
        assert type(part) is scalar
    assert type(z[0].real.imag) is np.float64
    assert vt.autograd.gradcheck(lambda z: z[0].real ** 2 * z[1].imag, (z,))
    with pytest.raises(AttributeError):
        z[0].real = 3.0


def test_parts_are_views() -> None:
    z = array([1 + 2j, 3 - 1j], grad=True) * 1
    vnp.real(z)[0] = 5.0
    vnp.imag(z)[...] *= 2
    assert z.tolist() == [5 + 4j, 3 - 2j]
    assert type(vnp.real(z[0])) is scalar
    x = array([1.0])
    assert vnp.real(x) is x


FUNCTIONS: dict[str, Any] = {
    "real": lambda x: vnp.real((x + 1j * x) ** 2) + vnp.real(x),
    "imag": lambda x: vnp.imag((x + 1j) ** 2) * x,
    "angle": lambda x: vnp.angle(x + 1j * x**2, deg=True) * x,
    "angle of reals": lambda x: vnp.angle(x - 1) * x,
    "real_if_close": lambda x: vnp.real_if_close(x * (1 + 0j)) ** 2,
    "nan_to_num": lambda x: vnp.nan_to_num(x, nan=x[0]) ** 2,
    "sinc": lambda x: vnp.sinc(x),
    "i0": lambda x: vnp.i0(x),
    "unwrap": lambda x: vnp.unwrap(4 * x**2, axis=0) * vnp.unwrap(x * 4),
    "fix": lambda x: vnp.fix(x) * x,
    "around": lambda x: vnp.around(x, 1) * x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    check_derivatives(FUNCTIONS[name], np.array([[0.53, 1.27, 3.12], [2.06, 0.87, 1.56]]))


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"real_if_close"}))
def test_samples(name: str) -> None:
    check_rows(FUNCTIONS[name])


def test_gradients_at_odd_places() -> None:
    for name, x, wanted in (
        ("nan_to_num", ODD[0].tolist(), [1, 1, 0]),
        ("nan_to_num", [np.inf, -np.inf, -1.0], [0, 0, 1]),
        ("sinc", [0.0, -0.0], [0, 0]),
        ("i0", [0.0], [0]),
        ("angle", [0.0, -0.0, -3.0, 2.0], [0, 0, 0, 0]),
        ("fix", [0.0, 1.0, 1.5], [0, 0, 0]),
    ):
        leaf = array(x, grad=True)
        getattr(vnp, name)(leaf).sum().backward()
        assert leaf.grad is not None
        assert leaf.grad.tolist() == wanted, name
    leaf = array([0j, 0j], grad=True)
    vnp.angle(leaf).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [0, 0]


def test_the_period_of_phases_is_differentiated() -> None:
    x = array([0.5, 4.0, 9.0, 2.0])

    def f(period: Any) -> Any:
        return vnp.unwrap(x, period=period) ** 2

    assert vt.autograd.gradcheck(f, (array(3.3, grad=True),))
    np.testing.assert_allclose(
        vnp.unwrap(x, period=array(3.3, grad=True)).tolist(), np.unwrap(x.numpy(), period=3.3)
    )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [0.5, -0.5, np.float64(0.5), np.float32(-0.5), 2, -1, 0.25])
def test_powers_of_zeros_and_infinities_with_signs(dtype: str, exponent: Any) -> None:
    base = np.array([-0.0, 0.0, -np.inf, np.inf, np.nan, -2.0, 4.0], dtype)
    calls: list[Any] = [
        lambda np, x: np.power(x, exponent),
        lambda np, x: x**exponent,
        lambda np, x: np.float_power(x, exponent),
        lambda np, x: np.power(x, np.full(7, exponent, dtype)),
    ]
    with np.errstate(all="ignore"):
        for nr, call in enumerate(calls):
            right = call(np, base)
            for grad in (False, True):
                found = plain(call(vnp, array(base, grad)))
                assert found.dtype == right.dtype, nr
                np.testing.assert_array_equal(found, right, err_msg=str(nr))
                signs = np.signbit(found) == np.signbit(right)
                assert (signs | np.isnan(right)).all(), (nr, found, right)
