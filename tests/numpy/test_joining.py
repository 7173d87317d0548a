"""Arrays joined and divided."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_in_layouts import Call, check_calls, compare_calls
from tests.numpy.support import DTYPES, array, compare, values

OTHER = np.array([[1.5, 2.0, -1.0]])

JOINS: dict[str, list[Call]] = {
    "concatenate": [
        lambda f, x: f((x, x)),
        lambda f, x: f([x, x], 1),
        lambda f, x: f([x, x, x], axis=-1),
        lambda f, x: f([x, x], None),
        lambda f, x: f([x, OTHER]),
        lambda f, x: f([x, [[1, 2, 3]]]),
        lambda f, x: f([x, 2.0, 3], axis=None),
        lambda f, x: f([x, x], dtype="D"),
        lambda f, x: f([x, x], dtype="i", casting="safe"),
        lambda f, x: f([x, x], dtype="f", casting="unsafe"),
        lambda f, x: f([x]),
        lambda f, x: f(x),
        lambda f, x: f([]),
        lambda f, x: f([x, 3.0]),
        lambda f, x: f([x, x[:1]], 1),
        lambda f, x: f([x, x[0]], 0),
        lambda f, x: f([x, np.zeros(0)], 0),
        lambda f, x: f([x, x], 2),
        lambda f, x: f([x, x], out=np.zeros((4, 3)), dtype="d"),
        lambda f, x: f(x for _ in range(2)),
        lambda f, x: f(3),
    ],
    "stack": [
        lambda f, x: f([x, x]),
        lambda f, x: f((x, x, OTHER + x), 1),
        lambda f, x: f([x, x], axis=-1),
        lambda f, x: f([x, x], 3),
        lambda f, x: f(x),
        lambda f, x: f(x, axis=1),
        lambda f, x: f([x, x[:1]]),
        lambda f, x: f([x, x], dtype="D"),
        lambda f, x: f([x, 2 * x]),
        lambda f, x: f([]),
        lambda f, x: f(x for _ in range(2)),
    ],
    "vstack": [
        lambda f, x: f([x, x]),
        lambda f, x: f([x, OTHER[0]]),
        lambda f, x: f([x, [1, 2, 3]]),
        lambda f, x: f(x),
        lambda f, x: f([x, x], dtype="f", casting="unsafe"),
        lambda f, x: f([x, [1, 2]]),
    ],
    "row_stack": [lambda f, x: f([x, OTHER])],
    "hstack": [
        lambda f, x: f([x, x]),
        lambda f, x: f([x[0], 1, [2.0, 3.0]]),
        lambda f, x: f(x),
        lambda f, x: f([x, x, x[:, :1]]),
        lambda f, x: f([x, OTHER]),
        lambda f, x: f((x, x), dtype="D"),
    ],
    "dstack": [
        lambda f, x: f([x, x]),
        lambda f, x: f([x[0], [1, 2, 3]]),
        lambda f, x: f(x),
        lambda f, x: f([x, x[0]]),
    ],
    "column_stack": [
        lambda f, x: f([x, x]),
        lambda f, x: f([x[0], x[1], [1, 2, 3]]),
        lambda f, x: f([x, x[:, 0]]),
        lambda f, x: f(x),
        lambda f, x: f([x, x[0]]),
    ],
    "block": [
        lambda f, x: f([[x, x], [x, x]]),
        lambda f, x: f([x, 2.0 * x]),
        lambda f, x: f([[x, np.ones((2, 1))], [OTHER, 7]]),
        lambda f, x: f(x),
        lambda f, x: f([[[x]], [[x]]]),
        lambda f, x: f([x[0], 1, 2.5]),
        lambda f, x: f([[x, x], x]),
        lambda f, x: f([[x, x[:1]]]),
        lambda f, x: f([(x, x)]),
        lambda f, x: f([[x], []]),
    ],
    "append": [
        lambda f, x: f(x, x),
        lambda f, x: f(x, 5),
        lambda f, x: f(x, [[1, 2, 3]], 0),
        lambda f, x: f(OTHER, x, axis=0),
        lambda f, x: f(x, [1, 2], 0),
        lambda f, x: f(x, x, 5),
    ],
    "tile": [
        lambda f, x: f(x, 2),
        lambda f, x: f(x, (2, 1)),
        lambda f, x: f(x, [2, 1, 2]),
        lambda f, x: f(x, 0),
        lambda f, x: f(x, ()),
        lambda f, x: f(x, np.array([1, 2])),
        lambda f, x: f(x, -1),
        lambda f, x: f(x[0], (2, 2)),
    ],
}

SPLITS: dict[str, list[Call]] = {
    "split": [
        lambda f, x: f(x, 2),
        lambda f, x: f(x, 3, 1),
        lambda f, x: f(x, [1], axis=-1),
        lambda f, x: f(x, [1, 2, 7], 1),
        lambda f, x: f(x, [-1], 1),
        lambda f, x: f(x, [2, 1], 1),
        lambda f, x: f(x, np.array([1]), 1),
        lambda f, x: f(x, 4),
        lambda f, x: f(x, 2, 3),
        lambda f, x: f(x, 0),
        lambda f, x: f(x, []),
    ],
    "array_split": [
        lambda f, x: f(x, 2, 1),
        lambda f, x: f(x, 4, axis=-1),
        lambda f, x: f(x, (1, 2), 1),
        lambda f, x: f(x, 0),
        lambda f, x: f(x, -1),
        lambda f, x: f(x, 2, 5),
    ],
    "hsplit": [lambda f, x: f(x, 3), lambda f, x: f(x, [1]), lambda f, x: f(x[0], 3)],
    "vsplit": [lambda f, x: f(x, 2), lambda f, x: f(x, [0]), lambda f, x: f(x[0], 3)],
    "dsplit": [lambda f, x: f(x, 2), lambda f, x: f(x[..., None], 1)],
    "unstack": [
        lambda f, x: f(x),
        lambda f, x: f(x, axis=1),
        lambda f, x: f(x, axis=-2),
        lambda f, x: f(x[0]),
        lambda f, x: f(x, axis=2),
    ],
}

CALLS = {**JOINS, **SPLITS}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    compare_calls(name, CALLS[name], [(2, 3)], DTYPES)
    compare_calls(name, CALLS[name], [(), (0,), (0, 3), (3,), (1, 1)], ["d"])


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name: str) -> None:
    x = np.array([[0.5, 1.25, 3.0], [2.0, 0.875, 1.5]])
    last = {"dsplit": 2}.get(name, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        first = CALLS[name][1:] if name == "dsplit" else CALLS[name][:last]
        calls = [call for call in first if _runs(name, call, x)]
        assert calls
        check_calls(name, calls, x)


def _runs(name: str, call: Call, x: Any) -> bool:
    try:
        call(getattr(np, name), x)
    except (ValueError, TypeError, IndexError):
        return False
    return True


def test_mixed_operands() -> None:
    a, b = array([1.0, 2.0], grad=True), array(np.array([3, 4], "f"), grad=True)
    for found in (
        vnp.concatenate([a, b, [a[0], 5.0], np.array([6])]),
        vnp.hstack([a, b, a[0], 5.0, 6]),
        np.concatenate([a, b, [a[0], 5.0], np.array([6])]),
    ):
        assert found.tolist() == [1, 2, 3, 4, 1, 5, 6]
        assert found.dtype == np.float64
    vnp.concatenate([a, b, [a[0], 5.0], np.array([6])]).sum().backward()
    assert a.grad is not None
    assert b.grad is not None
    assert a.grad.tolist() == [2, 1]
    assert b.grad.tolist() == [1, 1]
    assert b.grad.dtype == np.float32
    rows = vnp.stack([[a[0], a[1]], [0.0, a[0] * a[1]]])
    assert rows.tolist() == [[1, 2], [0, 2]]
    assert rows.requires_grad


@pytest.mark.parametrize("name", ["concatenate", "stack"])
@pytest.mark.parametrize("kind", ["d", "f", "D", "l"])
def test_out(name: str, kind: str) -> None:
    x = values("d", (2,))

    def call(f: Any, given: Any, out: Any) -> Any:
        assert f([given, given], out=out) is out
        return out

    mine, theirs = getattr(vnp, name), getattr(np, name)
    for shape in ((4,), (2, 2), (3,)):
        for grad in (False, True):
            out = np.zeros(shape, kind)
            compare(
                partial(call, mine, array(x, grad), array(out)),
                partial(call, theirs, x, out),
                f"{name} {kind} {shape} {grad}",
            )
    out = array(np.zeros((4,) if name == "concatenate" else (2, 2)))
    a = array(x, grad=True)
    mine([a, a * a], out=out).sum().backward()
    assert a.grad is not None
    np.testing.assert_allclose(a.grad.tolist(), 1 + 2 * x)
    with pytest.raises(TypeError):
        mine([a, a], out=np.zeros(out.shape))


def test_parts_are_views() -> None:
    for grad in (False, True):
        x = array(np.arange(6.0).reshape(2, 3), grad) * 1
        for part in (*vnp.split(x, 3, 1), *vnp.unstack(x), *vnp.array_split(x, 2)):
            part[...] = part + 10
        assert x.tolist() == [[30, 31, 32], [33, 34, 35]]


def test_numbers_are_not_split_into_views() -> None:
    a = array([1.0, 2.0], grad=True)
    one, two = vnp.unstack(a)
    assert type(one) is vnp.scalar
    (one * two).backward()
    assert a.grad is not None
    assert a.grad.tolist() == [2, 1]


def test_dtypes_that_arrays_do_not_have() -> None:
    found: Any = vnp.concatenate([np.array([1], "I"), np.array([2], "H")])
    assert type(found) is np.ndarray
    assert found.dtype == np.dtype("I")


def test_samples_of_integers() -> None:
    rows = array(np.arange(6).reshape(2, 3))
    found = vt.vmap(lambda row: vnp.concatenate([row, [7], row[::-1]]))(rows)
    assert found.tolist() == [[0, 1, 2, 7, 2, 1, 0], [3, 4, 5, 7, 5, 4, 3]]


def test_real_parts_beside_complex_ones() -> None:
    z, x = array([1 + 2j, 3 - 1j], grad=True), array([0.5, 2.0], grad=True)
    for f in (vnp.concatenate, vnp.stack, vnp.hstack, vnp.block):

        def joined(z: Any, x: Any, f: Any = f) -> Any:
            return f([z, x, x * 2])

        assert vt.autograd.gradcheck(joined, (z, x))


def test_what_changes_nothing_is_a_copy() -> None:
    calls: list[Any] = [
        lambda x: vnp.concatenate([x]),
        lambda x: vnp.block(x),
        lambda x: vnp.column_stack([x]),
        lambda x: vnp.tile(x, ()),
        lambda x: vnp.roll(x, 0, 0),
        lambda x: vnp.resize(x, (2, 2)),
        lambda x: vnp.pad(x, 0),
        lambda x: vnp.pad(x, 0, "mean"),
        lambda x: vnp.fft.fftshift(x, ()),
    ]
    for grad in (False, True):
        x = array([[1.0, 2.0], [3.0, 4.0]], grad) * 1
        for call in calls:
            call(x)[...] = 7
        assert x.tolist() == [[1, 2], [3, 4]]
