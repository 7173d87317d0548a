"""Unsigned integers of more than 8 bits beside arrays with a derivative: tensors have none."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad.numpy as np_

DTYPES: Final = ("uint16", "uint32", "uint64")
KINDS: Final = ("float64", "float32")

# Of the module, an unsigned array u and floats x that ascend.
CALLS: Final[dict[str, Callable[[Any, Any, Any], Any]]] = {
    "interp points": lambda m, u, x: m.interp(x, u, x),
    "interp values": lambda m, u, x: m.interp(x, x, u),
    "interp places": lambda m, u, x: m.interp(u, x, x),
    "interp period": lambda m, u, x: m.interp(x, u, x, period=u[3]),
    "polyval at": lambda m, u, x: m.polyval(x, u),
    "polyval of": lambda m, u, x: m.polyval(u, x),
    "polyfit at": lambda m, u, x: m.polyfit(u, x, 2),
    "polyfit of": lambda m, u, x: m.polyfit(x, u, 1),
    "polyfit weights": lambda m, u, x: m.polyfit(x, x * x, 1, w=u),
    "polyadd": lambda m, u, x: m.polyadd(u, x[:2]),
    "polysub": lambda m, u, x: m.polysub(x, u),
    "polymul": lambda m, u, x: m.polymul(u, x),
    "polydiv": lambda m, u, x: m.polydiv(u, x[:2])[0],
    "polyint": lambda m, u, x: m.polyint(x, 2, u[:2]),
    "average of": lambda m, u, x: m.average(u, weights=x),
    "average weights": lambda m, u, x: m.average(x, weights=u),
    "trapezoid of": lambda m, u, x: m.trapezoid(u, x),
    "trapezoid at": lambda m, u, x: m.trapezoid(x, u),
    "trapezoid rows": lambda m, u, x: m.trapezoid(m.stack([x, x * x]), u[:2], axis=0),
    "trapezoid width": lambda m, u, x: m.trapezoid(x, dx=u[1]),
    "gradient at": lambda m, u, x: m.gradient(x, u),
    "gradient of": lambda m, u, x: m.gradient(u, x),
    "gradient width": lambda m, u, x: m.gradient(x, u[1]),
    "pad": lambda m, u, x: m.pad(x, 2, constant_values=u[2]),
    "pad ends": lambda m, u, x: m.pad(x, 2, mode="linear_ramp", end_values=(u[0], u[1])),
    "cov": lambda m, u, x: m.cov(u, x),
    "cov counts": lambda m, u, x: m.cov(x, fweights=u),
    "cov weights": lambda m, u, x: m.cov(x, aweights=u),
    "corrcoef": lambda m, u, x: m.corrcoef(x, u),
    "histogram of": lambda m, u, x: m.histogram(u, 3, weights=x)[0],
    "histogram weights": lambda m, u, x: m.histogram(x, 3, weights=u, density=True)[0],
    "histogram edges": lambda m, u, x: m.histogram(x, u, weights=x)[0],
    "histogram2d": lambda m, u, x: m.histogram2d(u, x, 2, weights=x)[0],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_the_result_is_numpys_and_keeps_its_derivative(name: str, dtype: str, kind: str) -> None:
    u, values = np.array([1, 2, 4, 7], dtype), np.array([0.5, 2.0, 3.0, 5.0], kind)
    expected = np.asarray(CALLS[name](np, u, values))
    x = np_.array(values)
    x.requires_grad_()
    found = CALLS[name](np_, u, x)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.detach(), expected, rtol=1e-6 if kind == "float32" else 1e-12)
    if name.startswith(("histogram edges", "histogram weights")):
        return  # where the elements lie moves nothing
    assert found.requires_grad
    if kind == "float64":
        given = [u.astype(np.float64) if "counts" not in name else u]
        wanted = CALLS[name](np_, given[0], x)
        for one in (found, wanted):
            x.grad = None
            one.sum().backward()
            if one is found:
                first = np.array(x.grad)
        np.testing.assert_allclose(first, np.asarray(x.grad), rtol=1e-9, atol=1e-12)


def test_sums_and_differences_of_trapezoids_wrap_as_numpys_do() -> None:
    high = np.array([60000, 60000, 1], "uint16")
    x = np_.array([0.0, 1.0, 2.0])
    x.requires_grad_()
    assert np_.trapezoid(high, x).item() == np.trapezoid(high, np.array([0.0, 1.0, 2.0]))
    assert np_.trapezoid(x, high).item() == np.trapezoid(np.array([0.0, 1.0, 2.0]), high)


def test_roots_of_unsigned_coefficients() -> None:
    for dtype in DTYPES:
        given = np.array([1, 5, 6], dtype)
        np.testing.assert_allclose(np_.roots(given), np.roots(given))
