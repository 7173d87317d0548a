"""Functions of parts of an array, and Python's functions of numbers for each element."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_that_write import TABLE, check, check_rows, mine_of
from tests.numpy.derivatives import check_derivatives
from tests.numpy.support import DTYPES, array, compare, plain, values
from vtgrad.numpy import ndarray, scalar


def test_apply_along_axis() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3, 4))
        for axis in (0, 1, -1):
            check("apply_along_axis", lambda v: v.sum(), axis, x)
            check("apply_along_axis", lambda v: v[:2] + v[0], axis, x)
            check("apply_along_axis", lambda v, a, b=0: v[:, None] * a + b, axis, x, 2, b=1)
        check("apply_along_axis", lambda v: v, 0, x[0, 0])
        check("apply_along_axis", lambda v: 3, 0, x)
        check("apply_along_axis", lambda v: v.prod(), 0, x[0, 0])
        check("apply_along_axis", sorted, 1, x)
    x = values("d", (2, 3))
    check("apply_along_axis", lambda v: v, 2, x)
    check("apply_along_axis", lambda v: v, 0, np.zeros((2, 0)))
    check("apply_along_axis", lambda v: v, 1, np.zeros((2, 0)))
    check("apply_along_axis", lambda v: v[v > 0.6], 0, x)
    check("apply_along_axis", lambda v: v, 0, 1.0)
    check("apply_along_axis", lambda v: v * 2, 0, [np.array(1.0), 2.0])


def test_apply_over_axes() -> None:
    for dtype in DTYPES:
        x = values(dtype, (2, 3, 4))
        for axes in (0, -1, [0, 2], (1, -1), []):
            check("apply_over_axes", lambda v, axis: v.sum(axis), x, axes)
            check("apply_over_axes", lambda v, axis: v.cumsum(axis), x, axes)
    check("apply_over_axes", lambda v, axis: v[0].sum(0), values("d", (2, 3, 4)), 0)
    check("apply_over_axes", lambda v, axis: v.sum(axis), values("d", (2, 3)), 5)


def called(kind: Any, function: Any, options: Any, args: Any, named: Any) -> Any:
    """What a vectorized function gives."""
    return kind(function, **options)(*args, **named)


def vectorized(function: Callable[..., Any], *args: Any, named: Any = (), **options: Any) -> None:
    """Compare a vectorized function with NumPy's."""
    theirs = partial(called, np.vectorize, function, options, args, dict(named))
    for grad in (False, True):
        given = mine_of((args, dict(named)), grad)
        mine = partial(called, vnp.vectorize, function, options, *given)
        compare(mine, theirs, f"{args}{options} grad={grad}")


def test_vectorize() -> None:
    for dtype in DTYPES:
        x, y = values(dtype, (2, 3)), values(dtype, (3,), 1)
        vectorized(lambda a: a, x)
        vectorized(lambda a: a * 2, x.T)
        vectorized(lambda a, b: a + b, x, y)
        vectorized(lambda a, b: a + b, x, 1.5)
        vectorized(lambda a, b: (a * b, 2 * a), x, [[1], [2]])
        vectorized(lambda a: a == 1, x)
        vectorized(lambda a: a, x[0, 0])
        vectorized(lambda a: a, np.array(x[0, 0]))
        vectorized(lambda a, b: a + b, x, named={"b": y})
        vectorized(lambda a, b: a + len(b), x, [1, 2], excluded={1})
        vectorized(lambda a, b=(): a + len(b), x, named={"b": [1, 2]}, excluded={"b"})
        vectorized(lambda a: a.real, x, otypes="d")
        vectorized(lambda a: (a, a), x, otypes=["D", complex])
    x = values("d", (2, 3))
    vectorized(lambda a: a, x[:0])
    vectorized(lambda a: a, x[:0], otypes=[float])
    vectorized(lambda a: (a, 1), x[:0], otypes="dl")
    vectorized(lambda a, b: a, x, np.zeros(2))
    vectorized(lambda a: 1 if a > 0.6 else 2.5, x)
    vectorized(lambda: 3)
    vectorized(lambda a: a, x, otypes="?!")
    vectorized(lambda a: a, x, otypes=3)
    vectorized(lambda a: "text", x)
    vectorized(lambda a: [a, a], x)
    vectorized(lambda a: len(a), ["one", "three"])
    vectorized(lambda a: a, [np.array(1.0), 2.0])


def test_vectorize_as_a_decorator() -> None:
    @vnp.vectorize
    def one(x: Any) -> Any:
        """Text."""
        return x * 2

    @vnp.vectorize(otypes=[np.float32], doc="Another text.")
    def two(x: Any) -> Any:
        return x * 2

    x = array(TABLE, grad=True)
    assert plain(one(x)).tolist() == (TABLE * 2).tolist()
    assert two(x).dtype == "f"
    assert (one.__doc__, one.__name__) == ("Text.", "one")
    assert two.__doc__ == "Another text."
    assert one.pyfunc is not None
    with pytest.raises(TypeError, match="decorator"):
        vnp.vectorize("text")  # type: ignore[arg-type]  # refused


def test_what_vectorized_functions_get() -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(x)
        return x

    vnp.vectorize(f)(array([1.0, 2.0]))
    assert [type(x) for x in seen] == [np.float64, float, float]
    seen.clear()
    vnp.vectorize(f, otypes="d")(array([1.0, 2.0]))
    assert [type(x) for x in seen] == [float, float]
    seen.clear()
    vnp.vectorize(f, cache=True)(array([1.0, 2.0], grad=True))
    assert [type(x) for x in seen] == [scalar, scalar]


def test_signatures() -> None:
    for dtype in DTYPES:
        x, y = values(dtype, (2, 1, 3)), values(dtype, (4, 3), 1)
        vectorized(lambda a, b: a @ b, x, y, signature="(n),(n)->()")
        vectorized(lambda a, b: a[:, None] * b, x, y, signature="(n), (m) -> (n,m)")
        vectorized(lambda a: (a, a[0]), x, signature="(n)->(n),()")
        vectorized(lambda a: a + a, x, signature="()->()")
        vectorized(lambda a, b: a * b, x, y, signature="(n),()->(n)")
        vectorized(lambda a: a, y, signature="(m,n)->(m,n)", otypes="D")
        vectorized(lambda a: 1, y, signature="(m,n)->()")
    x = values("d", (2, 3))
    vectorized(lambda a: a, x, signature="(n->(n)")
    vectorized(lambda a: a, x, x, signature="(n)->(n)")
    vectorized(lambda a: (a, a), x, signature="(n)->(n)")
    vectorized(lambda a, b: a, x, x[:, :2], signature="(n),(n)->(n)")
    vectorized(lambda a: a, x[0, 0], signature="(n)->(n)")
    vectorized(lambda a: a[:2], x, signature="(n)->(n)")
    vectorized(lambda a: a, x[:0], signature="(n)->(n)")
    vectorized(lambda a: a, x[:0], signature="(n)->(n)", otypes="d")
    vectorized(lambda a: a, x[:0], signature="(n)->(m)", otypes="d")
    vectorized(lambda a, b: a * len(b), x, [1, 2], signature="(n)->(n)", excluded={1})


def test_frompyfunc() -> None:
    x = array(TABLE, grad=True)
    f, theirs = vnp.frompyfunc(lambda a, b: a + b, 2, 1), np.frompyfunc(lambda a, b: a + b, 2, 1)
    found = f(x, [1.0, 2.0, 3.0])
    assert found.dtype == object
    assert found.tolist() == theirs(TABLE, [1.0, 2.0, 3.0]).tolist()
    assert vnp.array(found.tolist()).requires_grad
    assert f(x[0, 0], 1.0).requires_grad
    assert f(1, 2) == 3
    assert f.nin == 2
    assert f.reduce(x, 0).tolist() == theirs.reduce(TABLE.astype(object), 0).tolist()
    assert f.outer(x[0], x[1])[2, 1].requires_grad
    found = f(x.detach(), 2)
    assert type(found) is np.ndarray
    assert found.tolist() == (TABLE + 2).tolist()
    one, two = vnp.frompyfunc(lambda a: (a, a * 2), 1, 2)([x[0, 0], 2.0])
    assert one[0].requires_grad
    assert two.tolist() == [1, 4]
    assert vnp.frompyfunc(lambda a, b: a * b, 2, 1, identity=1).reduce([]) == 1


def branch(a: Any, b: Any = 1.0) -> Any:
    """A function of numbers."""
    return vnp.sin(a) * b if a > 1.4 else a**3


FUNCTIONS: dict[str, Any] = {
    "apply_along_axis": lambda x: vnp.apply_along_axis(lambda v: v * v.sum(), 0, x),
    "apply_along_axis to tables": lambda x: vnp.apply_along_axis(lambda v: v[:, None] * v, 1, x),
    "apply_over_axes": lambda x: vnp.apply_over_axes(vnp.prod, x, (0, 1)),
    "vectorize": lambda x: vnp.vectorize(branch)(x, x[0]),
    "vectorize two": lambda x: sum(vnp.vectorize(lambda a: (a * a, vnp.exp(a)))(x)),
    "vectorize constants": lambda x: vnp.vectorize(lambda a: a * x[0, 0])(np.ones((2, 3))) * x,
    "frompyfunc": lambda x: vnp.array(vnp.frompyfunc(branch, 2, 1)(x, x[0]).tolist()),
}
FUNCTIONS["signature"] = lambda x: vnp.vectorize(
    lambda a, b: a[:, None] * b, signature="(n),(m)->(n,m)"
)(x, x[0])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    check_derivatives(FUNCTIONS[name], TABLE)


SAMPLES: dict[str, Any] = {
    **FUNCTIONS,
    "vectorize": lambda x: vnp.vectorize(lambda a, b: vnp.sin(a) * b)(x, x[0]),
    "frompyfunc": lambda x: vnp.array(vnp.frompyfunc(vnp.exp, 1, 1)(x).tolist()),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name: str) -> None:
    check_rows(SAMPLES[name])


def test_an_integer_dtype_drops_derivatives_as_a_cast_does() -> None:
    x = array([1.5, 2.5], grad=True)
    found: Any = vnp.vectorize(lambda a: a * 2, otypes="l")(x)
    assert type(found) is ndarray
    assert found.tolist() == [3, 5]
    with pytest.raises(NotImplementedError, match="uint16"):
        vnp.vectorize(lambda a: a * 2, otypes="H")(x)
    assert vt.is_tensor(found)
