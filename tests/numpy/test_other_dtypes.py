"""Arrays of dtypes that tensors do not have stay NumPy's, and functions take them as NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad.numpy as vnp
from tests.numpy.calls_that_write import check
from tests.numpy.support import array, compare, plain

NAMES = np.array(["b", "a", "b"])
FLOATS = "array([0.5"
MASK = np.array([True, False, True])

# By name, the arguments of calls; in place of `...` stand arrays of several dtypes.
CALLS: dict[str, list[tuple[Any, ...]]] = {
    "where": [(MASK, ..., ...), (...,), (MASK, ..., 1), (MASK, np.array([0.5, 1.0, 2.0]), ...)],
    "select": [([MASK], [...], ...), ([MASK], [np.array([0.5, 1.0, 2.0])], ...)],
    "piecewise": [(..., [MASK], [3])],
    "extract": [(MASK, ...), (..., ...)],
    "take_along_axis": [(..., np.array([1, 0]), 0)],
    "insert": [(..., 1, 7), (np.array([0.5, 1.0]), 1, ...)],
    "delete": [(..., 1)],
    "flatnonzero": [(...,)],
    "nonzero": [(...,)],
    "argwhere": [(...,)],
    "count_nonzero": [(...,), (..., 0)],
    "unique": [(...,), (..., True, True, True)],
    "unique_values": [(...,)],
    "union1d": [(..., ...), (np.array([0.5, 1.0]), ...)],
    "intersect1d": [(..., ...), (np.array([0.5, 1.0]), ...)],
    "setdiff1d": [(..., ...)],
    "setxor1d": [(..., ...)],
    "isin": [(..., ...)],
    "lexsort": [([..., ...],)],
    "sort_complex": [(...,)],
    "bincount": [(...,), (np.array([0, 1, 1]), ...)],
    "digitize": [(..., [1, 2]), (np.array([0.5, 1.0]), ...)],
    "nanargmax": [(...,)],
    "isclose": [(..., ...)],
    "array_equal": [(..., ...)],
    "isreal": [(...,)],
    "iscomplexobj": [(...,)],
    "isposinf": [(...,)],
    "real": [(...,)],
    "imag": [(...,)],
    "angle": [(...,)],
    "real_if_close": [(...,)],
    "nan_to_num": [(...,), (..., False)],
    "sinc": [(...,)],
    "i0": [(...,)],
    "unwrap": [(...,)],
    "fix": [(...,)],
    "around": [(...,)],
    "apply_along_axis": [(len, 0, ...), (lambda v: v[1:], 0, ...), (lambda v: v[0], 0, ...)],
}
WRITES: dict[str, list[tuple[Any, ...]]] = {
    "place": [(..., MASK, ...), (np.zeros(3), MASK, ...)],
    "putmask": [(..., MASK, ...), (np.zeros(3), MASK, ...)],
    "copyto": [(..., ...), (np.zeros(3), ...), (..., [1, 2, 3]), (np.zeros(3, "h"), ...)],
    "put_along_axis": [(..., np.array([0]), 1, 0)],
}
OTHERS = [np.array([1, 2, 1], "H"), np.array([3, 0, 2], "L"), NAMES]


def filled(tree: Any, x: Any) -> Any:
    """Arguments with an array in place of `...`."""
    if tree is ...:
        return x.copy()
    if isinstance(tree, (list, tuple)):
        return type(tree)([filled(part, x) for part in tree])
    return tree


@pytest.mark.parametrize("name", [*CALLS, *WRITES])
def test_other_dtypes(name: str) -> None:
    for x in OTHERS:
        if name in ("place", "putmask", "copyto", "put_along_axis") and x is NAMES:
            continue  # see below
        for args in CALLS.get(name, []):
            if x is NAMES and FLOATS in repr(args):
                continue  # a derivative does not become text
            check(name, *filled(args, x))
        for args in WRITES.get(name, []):
            check(name, *filled(args, x), written=True)


def test_long_floats() -> None:
    x = np.array([1, 2.5, 0], "g")
    found: Any = vnp.where(MASK, x, array([1.0, 2.0, 3.0]))
    assert type(found) is np.ndarray
    assert found.dtype == "g"
    # No tensor could carry the derivative.
    with pytest.raises(NotImplementedError, match="float128"):
        vnp.where(MASK, x, array([1.0, 2.0, 3.0], grad=True))


def test_names_are_written() -> None:
    for name in ("place", "putmask"):
        check(name, NAMES.copy(), MASK, ["c"], written=True)
    check("copyto", NAMES.copy(), "d", written=True)


OBJECTS = np.array([[None, "a"], ["b", 0]], object)
# By name, the arguments after the array.
SHAPED: dict[str, list[tuple[Any, ...]]] = {
    "all": [(), (0,)],
    "any": [(), (1,)],
    "array_split": [(2,)],
    "atleast_1d": [()],
    "atleast_2d": [()],
    "atleast_3d": [()],
    "diag": [(), (1,)],
    "diagflat": [()],
    "diagonal": [()],
    "diag_indices_from": [()],
    "expand_dims": [(0,)],
    "flip": [(), (0,)],
    "fliplr": [()],
    "flipud": [()],
    "hsplit": [(2,)],
    "matrix_transpose": [()],
    "moveaxis": [(0, 1)],
    "ravel": [()],
    "repeat": [(2,), (2, 0)],
    "reshape": [((4,),)],
    "resize": [((3, 2),)],
    "roll": [(1,), (1, 0)],
    "rollaxis": [(1,)],
    "rot90": [()],
    "split": [(2,)],
    "squeeze": [()],
    "swapaxes": [(0, 1)],
    "take": [([1, 0], 0)],
    "transpose": [()],
    "tril": [()],
    "tril_indices_from": [()],
    "triu": [()],
    "triu_indices_from": [()],
    "unstack": [()],
    "vsplit": [(2,)],
}
ORDERED: dict[str, list[tuple[Any, ...]]] = {
    "argmax": [()],
    "argmin": [()],
    "argpartition": [(1,)],
    "argsort": [()],
    "partition": [(1,)],
    "sort": [()],
}


@pytest.mark.parametrize("name", [*SHAPED, *ORDERED])
def test_arrays_of_objects_and_names_are_arranged(name: str) -> None:
    names = np.array([["b", "a"], ["c", "d"]])
    given = [OBJECTS, names] if name in SHAPED else [names, names.ravel()]
    for x in given:
        for args in (SHAPED | ORDERED)[name]:
            found, expected = getattr(vnp, name)(x, *args), getattr(np, name)(x, *args)
            several = isinstance(expected, (tuple, list))
            assert type(found) is type(expected) or not several
            for a, b in zip(
                found if several else [found], expected if several else [expected], strict=True
            ):
                assert np.asarray(a).dtype == np.asarray(b).dtype
                assert np.asarray(a).tolist() == np.asarray(b).tolist()


def test_arrays_of_several_shapes_and_numbers_stand_beside_them() -> None:
    x = np.array([[3, 1], [2, 0]], np.uint16)
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        for others in ((1,), (1.5, [0, 1]), (np.uint32(7),), (np.uint32(7), 1)):
            for given in ((x, *others), others):
                found, expected = getattr(vnp, name)(*given), getattr(np, name)(*given)
                for a, b in zip(found, expected, strict=True):
                    assert np.asarray(a).dtype == np.asarray(b).dtype
                    assert np.asarray(a).tolist() == np.asarray(b).tolist()
    found = vnp.choose(x % 2, (x, np.uint16(9)))
    assert found.tolist() == np.choose(x % 2, (x, np.uint16(9))).tolist()


def ufuncs_and_calls() -> list[tuple[str, str, tuple[Any, ...]]]:
    """Methods of ufuncs, with arguments after the array."""
    found: list[tuple[str, str, tuple[Any, ...]]] = []
    for name in ("add", "multiply", "maximum", "less", "power", "gcd", "divmod", "hypot"):
        found += [
            (name, "reduce", ()),
            (name, "reduce", (0, "d")),
            (name, "accumulate", ()),
            (name, "reduceat", ([0, 1],)),
            (name, "outer", ([1, 2],)),
            (name, "outer", (2.5,)),
            (name, "at", ([0, 0], 1)),
            (name, "at", (slice(2), np.array([2, 3], "H"))),
        ]
    return [*found, ("negative", "at", ([0],)), ("add", "at", ([9], 1))]


@pytest.mark.parametrize(("name", "method", "args"), ufuncs_and_calls())
def test_methods_of_ufuncs(name: str, method: str, args: tuple[Any, ...]) -> None:
    for dtype in ("H", "Q", "O", "l"):
        x = np.array([3, 1, 2], dtype)

        def run(namespace: Any, x: Any = x) -> Any:
            given = x.copy()
            found = getattr(getattr(namespace, name), method)(given, *args)
            return given.tolist() if method == "at" else found

        compare(partial(run, vnp), partial(run, np), f"{name}.{method} of {dtype}")


def test_methods_of_ufuncs_store_in_out() -> None:
    x = np.array([[3, 1], [2, 5]], "H")
    for out in (vnp.zeros(2), np.zeros(2, "Q")):
        found: Any = vnp.add.reduce(x, 1, None, out)
        assert found is out
        assert found.tolist() == [4, 7]
    given: Any = vnp.zeros(2)
    quotient, rest = vnp.divmod(x[0], 2, out=(given, None))
    assert quotient is given
    assert given.tolist() == [1, 0]
    assert np.asarray(rest).dtype == "H"
    assert rest.tolist() == [1, 1]
    values = np.zeros(2)
    with pytest.raises(TypeError, match="derivative"):
        vnp.add.at(values, [0], array(1.0, grad=True))
    assert values.tolist() == [0, 0]
    with pytest.raises(NotImplementedError, match="uint16"):
        vnp.multiply.reduce(x, initial=array(1.0, grad=True))


def test_objects_and_durations_take_no_derivative_from_ufuncs() -> None:
    objects: Any = np.array([1, 2, 3], object)
    durations: Any = np.array([1, 2, 3], "m8[s]")
    zeros: Any = np.zeros(3, object)
    x: Any = array([3.0, 1.0, 2.0], grad=True)
    refused: list[Callable[[], object]] = [
        lambda: x * objects,
        lambda: objects + x,
        lambda: vnp.power(objects, x),
        lambda: vnp.maximum(x, objects),
        lambda: np.subtract(x, objects),
        lambda: x @ objects,
        lambda: vnp.multiply(x, durations),
        lambda: durations / x,
        lambda: durations * x[0],
        lambda: vnp.multiply.outer(x, objects),
        lambda: vnp.multiply(x, 2.0, dtype=object),
        lambda: np.add(objects, x, out=objects),
        lambda: vnp.add(objects, x, out=zeros),
    ]
    for nr, call in enumerate(refused):
        with pytest.raises((NotImplementedError, TypeError)):
            pytest.fail(f"call {nr} gave {call()!r}")
    assert objects.tolist() == [1, 2, 3]
    assert zeros.tolist() == [0, 0, 0]
    # Truth values carry nothing, and without a derivative nothing is lost.
    assert vnp.less(x, objects).tolist() == [False, True, True]
    assert (x.detach() * objects).tolist() == [3.0, 2.0, 6.0]
    assert (durations * x.detach()).tolist() == (durations * np.array([3.0, 1.0, 2.0])).tolist()


PICKED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "take": lambda np, x, i: np.take(x, i),
    "take, list": lambda np, x, i: np.take(x, [i[0], i[2]]),
    "take, axis": lambda np, x, i: x.reshape(3, 1).take(i, axis=0),
    "repeat": lambda np, x, i: np.repeat(x, i),
    "repeat, one": lambda np, x, i: x.repeat(i[1]),
    "choose": lambda np, x, i: np.choose(i, [x, x * 2, x * 3]),
    "take_along_axis": lambda np, x, i: np.take_along_axis(x, i, 0),
    "reduceat": lambda np, x, i: np.add.reduceat(x, i[:2]),
    "partition": lambda np, x, i: np.partition(x, i[1]),
    "argpartition": lambda np, x, i: x[np.argpartition(x, i[1])],
    "compress": lambda np, x, i: np.compress(i, x),
    "searchsorted": lambda np, x, i: x[np.searchsorted(i, x * 0 + 1, sorter=np.argsort(i))],
    "put": lambda np, x, i: np.put(x * 0, i[:2], x),
    "put_along_axis": lambda np, x, i: np.put_along_axis(x * 0, i[:2], x[:2], 0),
}


@pytest.mark.parametrize("name", PICKED)
def test_unsigned_numbers_say_where_beside_derivatives(name: str) -> None:
    call = PICKED[name]
    for dtype in ("H", "I", "Q"):
        if dtype == "Q" and "repeat" in name:
            continue  # NumPy casts these safely only
        index = np.array([0, 2, 1], dtype)
        x, y = (array([3.0, 1.0, 2.0], grad=True) for _ in range(2))
        found, expected = call(vnp, x, index), call(vnp, y, index.astype(np.int64))
        if expected is None:  # what is written is not returned
            continue
        assert found.requires_grad
        assert found.tolist() == expected.tolist()
        (found * found).sum().backward()
        (expected * expected).sum().backward()
        assert x.grad is not None
        assert y.grad is not None
        assert x.grad.tolist() == y.grad.tolist()


def test_objects_beside_derivatives_are_refused() -> None:
    x = array([1.0, 2.0], grad=True)
    with pytest.raises(NotImplementedError, match="object"):
        vnp.atleast_1d(x, OBJECTS)
    values, objects = vnp.atleast_2d(array([1.0]), OBJECTS)
    assert isinstance(values, vnp.ndarray)
    assert objects.tolist() == OBJECTS.tolist()


@pytest.mark.parametrize("dtype", ["g", "G", "O"])
def test_casts_that_would_lose_a_derivative_are_refused(dtype: str) -> None:
    x = array([1.0, 2.0], grad=True)
    casts: list[Any] = [
        lambda x: x.astype(dtype),
        lambda x: x[:1].astype(dtype),
        lambda x: vnp.array(x, dtype=dtype),
        lambda x: vnp.asarray(x, dtype=dtype),
        lambda x: vnp.require(x, dtype),
    ]
    for cast in casts:
        with pytest.raises(NotImplementedError, match="detach"):
            cast(x)
        assert np.asarray(cast(x.detach())).dtype == dtype
    with pytest.raises(NotImplementedError, match="detach"):
        x[0].astype(dtype)
    # Text and integers have no derivative.
    assert x.astype(str).tolist() == ["1.0", "2.0"]
    assert x.astype("H").tolist() == [1, 2]


BESIDE_FLOATS = """
np.concatenate([x, u])
np.stack([x, u])
np.hstack([x, u])
np.column_stack([x, u])
np.dstack([u, x])
np.block([[x, u]])
np.append(x, u)
np.append(u, x, 0)
np.array([x, u])
np.dot(x, u)
np.inner(u, x)
np.outer(x, u)
np.vdot(x, u)
np.tensordot(x, u)
np.kron(x, u)
np.einsum("ij,jk", x, u)
np.convolve(x[0], u[0])
np.correlate(u[0], x[0])
np.diff(x, prepend=u)
np.clip(x, u, 3)
np.linalg.solve(x, u)
np.linalg.multi_dot([x, u, x])
"""


@pytest.mark.parametrize("unsigned", ["uint16", "uint32", "uint64"])
@pytest.mark.parametrize("floating", ["float32", "float64"])
def test_unsigned_arrays_beside_floats_with_a_derivative(unsigned: str, floating: str) -> None:
    u = np.array([[1, 2], [3, 5]], unsigned)
    x = np.array([[0.5, 2.0], [3.0, 1.5]], floating)
    for call in BESIDE_FLOATS.strip().splitlines():
        right = eval(call, {"np": np, "x": x, "u": u})
        leaf = vnp.array(x).requires_grad_()
        found = eval(call, {"np": vnp, "x": leaf, "u": u})
        assert found.requires_grad, call
        assert found.dtype == right.dtype, call
        np.testing.assert_allclose(plain(found), right, rtol=1e-5, err_msg=call)
