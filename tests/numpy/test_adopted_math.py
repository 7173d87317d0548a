"""The module `math` of adopted code."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy
import pytest

import vtgrad as vt
import vtgrad.numpy as np
from tests.numpy.adopting import check

MATH: dict[str, tuple[Any, ...]] = {
    "acos": (0.3,),
    "acosh": (1.3,),
    "asin": (0.3,),
    "asinh": (0.3,),
    "atan": (0.3,),
    "atan2": (0.3, -0.5),
    "atanh": (0.3,),
    "cbrt": (0.3,),
    "copysign": (0.3, -1.0),
    "cos": (0.3,),
    "cosh": (0.3,),
    "degrees": (0.3,),
    "erf": (0.3,),
    "erfc": (0.3,),
    "exp": (0.3,),
    "exp2": (0.3,),
    "expm1": (0.3,),
    "fabs": (-0.3,),
    "fmod": (5.3, 2.0),
    "gamma": (-1.3,),
    "hypot": (0.3, 0.4, 1.5),
    "lgamma": (2.3,),
    "log": (0.3, 3.0),
    "log10": (0.3,),
    "log1p": (0.3,),
    "log2": (0.3,),
    "pow": (0.3, 2.5),
    "radians": (0.3,),
    "remainder": (5.3, 2.0),
    "sin": (0.3,),
    "sinh": (0.3,),
    "sqrt": (0.3,),
    "tan": (0.3,),
    "tanh": (0.3,),
    "nextafter": (0.3, 1.0),
}


@pytest.fixture(scope="module")
def adopted_math() -> Any:
    return np.adopt("colorsys").__builtins__["__import__"]("math")


def test_functions_of_math(adopted_math: Any) -> None:
    for name, args in MATH.items():
        mine, real = getattr(adopted_math, name), getattr(math, name)
        assert mine(*args) == real(*args)
        assert type(mine(*args)) is float
        assert mine(numpy.float64(args[0]), *args[1:]) == real(*args)
        for where in range(len(args)):
            if (name, where) not in (("copysign", 1), ("nextafter", 1)):
                scalars = list(args)
                scalars[where] = np.array(args[where]).requires_grad_()
                check(mine, real, *args, where=where)
    for name in ("log", "gamma"):
        check(getattr(adopted_math, name), getattr(math, name), 2.5)


def test_functions_of_math_of_several_numbers(adopted_math: Any) -> None:
    x = [0.3, 0.4, 0.5]
    y = numpy.array([1.0, 2.0, 3.0])
    m = adopted_math
    check(m.fsum, math.fsum, x)
    check(m.prod, math.prod, x)
    check(lambda a: m.prod(a, start=a[0]), lambda a: math.prod(a, start=a[0]), x)
    check(lambda a: m.dist(a, y), lambda a: math.dist(a, y), x)
    check(lambda a: m.modf(a)[0] + 2 * m.modf(a)[1], lambda a: sum(math.modf(a)) + 3.0, 3.4)
    check(lambda a: m.frexp(a)[0], lambda a: math.frexp(a)[0], 3.4)
    check(lambda a: m.ldexp(a, 3), lambda a: math.ldexp(a, 3), 3.4)
    terms = [np.array(v).requires_grad_() for v in (1e16, 1.0, -1e16)]
    assert m.fsum(terms) == 1.0
    assert m.hypot() == 0.0
    assert m.pi == math.pi
    assert set(dir(math)) <= set(dir(m))


def test_functions_of_math_that_have_no_derivative(adopted_math: Any) -> None:
    m, x = adopted_math, np.array(2.5).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (m.floor(x), m.ceil(x), m.trunc(x)) == (2, 3, 2)
        assert type(m.floor(x)) is int
        assert m.isfinite(x)
        assert not m.isnan(x)
        assert m.isclose(x, 2.5 + 1e-12, rel_tol=np.array(1e-3).requires_grad_())
        assert m.ulp(x) == math.ulp(2.5)
        assert m.comb(5, 2) == 10
        assert m.gcd(12, 18) == 6


def test_errors_of_math(adopted_math: Any) -> None:
    m = adopted_math
    errors: dict[str, tuple[Any, ...]] = {
        "sqrt": (-1.0,),
        "log": (0.0,),
        "acos": (2.0,),
        "exp": (1e5,),
        "fmod": (1.0, 0.0),
        "gamma": (-1.0,),
        "pow": (0.0, -1.0),
        "dist": ([1.0], [1.0, 2.0]),
        "sin": ([1.0, 2.0],),
    }
    for name, args in errors.items():
        with pytest.raises((ValueError, OverflowError, TypeError)) as right:
            getattr(math, name)(*args)
        first = np.array(args[0]).requires_grad_()
        for given in (args[0], first):
            with pytest.raises(right.type):
                getattr(m, name)(given, *args[1:])
    with pytest.raises(TypeError):
        m.sin()
    with pytest.raises(TypeError):
        m.sin("x")


def test_math_outside_of_adopted_code_warns_as_before(adopted_math: Any) -> None:
    x: Any = np.array(0.5).requires_grad_()
    with pytest.warns(vt.errors.GradientLostWarning):
        math.sin(x)
    with pytest.warns(vt.errors.GradientLostWarning):
        float(x)
    assert not isinstance(x * 1, float)
