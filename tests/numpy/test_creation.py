"""What makes arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array, assert_same, compare
from vtgrad.numpy import ndarray

VALUES: list[Any] = [
    1,
    2.5,
    True,
    1j,
    [1, 2],
    [1.0, 2],
    [],
    [[1, 2], [3, 4]],
    (1, (2)),
    np.float32(2),
    np.arange(6).reshape(2, 3).T,
    [np.ones(2), [3, 4]],
    [[1], [2, 3]],
    range(3),
    np.ones(2, "i2"),
]


@pytest.mark.parametrize("nr", range(len(VALUES)))
def test_arrays_of_values(nr: int) -> None:
    given = VALUES[nr]
    for name in ("array", "asarray", "asanyarray", "copy", "ascontiguousarray", "asfortranarray"):
        mine, theirs = getattr(vnp, name), getattr(np, name)
        compare(partial(mine, given), partial(theirs, given), name)
        for dtype in ("f", int, np.complex64, bool) if name != "copy" else ():
            compare(partial(mine, given, dtype), partial(theirs, given, dtype), name)
    for options in ({"ndmin": 3}, {"order": "F"}, {"order": "C", "ndmin": 1}, {"copy": None}):
        mine, theirs = vnp.array, np.array
        compare(partial(mine, given, **options), partial(theirs, given, **options), str(options))


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_arrays_of_sizes(name: str) -> None:
    mine, theirs = getattr(vnp, name), getattr(np, name)
    for shape in (2, (2, 3), [3], (), (0, 2), -1, 1.5):
        for dtype in (None, "i4", float, np.uint8, vnp.float32):
            compare(
                lambda s=shape, d=dtype: mine(s, d) * 0,  # type: ignore[misc]  # of any kind
                lambda s=shape, d=dtype: theirs(s, d) * 0,  # type: ignore[misc]  # the same
                f"{shape} {dtype}",
            )


def test_arrays_like_others() -> None:
    for model in (np.ones((2, 3), "f").T, np.ones(2, "i"), np.array(2.0), [1.0, 2.0]):
        given: Any = array(model) if isinstance(model, np.ndarray) else model
        for name in ("zeros_like", "ones_like"):
            mine, theirs = getattr(vnp, name), getattr(np, name)
            for options in ({}, {"dtype": "D"}, {"shape": (2, 2)}, {"order": "C"}):
                compare(
                    partial(mine, given, **options), partial(theirs, model, **options), str(options)
                )
        compare(partial(vnp.full_like, given, 7), partial(np.full_like, model, 7), "full_like")


def test_dtypes_that_tensors_do_not_have_stay_numpys() -> None:
    make: Any = vnp.array
    zeros: Any = vnp.zeros
    for given in (["a", "b"], np.ones(2, "u4"), [None, 1]):
        assert type(make(given)) is np.ndarray
    assert type(zeros(2, "u8")) is np.ndarray


def test_nested_sequences_of_scalars_record() -> None:
    x = array([1.0, 2.0], grad=True)
    made = vnp.array([[x[0], 1.0], [0.0, x[1] * x[0]]])
    assert type(made) is ndarray
    assert made.dtype == np.float64
    (made * [[1.0, 10.0], [100.0, 1000.0]]).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2001, 1000]
    mixed = vnp.array([x, [3, 4], np.ones(2)])
    assert mixed.shape == (3, 2)
    assert mixed.requires_grad
    assert vnp.full((2,), x[1]).requires_grad
    with pytest.raises(ValueError, match="inhomogeneous"):
        vnp.array([x, [1.0, 2.0, 3.0]])


def test_copies_and_what_is_shared() -> None:
    x = array([1.0, 2.0])
    assert vnp.asarray(x) is x
    assert vnp.array(x) is not x
    assert vnp.array(x, copy=None) is x
    with pytest.raises(ValueError, match="copy"):
        vnp.array(x, "f", copy=False)
    plain = np.ones(2)
    with vt.no_grad():
        vnp.asarray(plain)[0] = 5
    assert plain.tolist() == [5, 1]
    # While something may be recorded, NumPy's writes would not be seen.
    leaf = array([1.0, 2.0], grad=True)
    product = leaf * plain
    plain[...] = 100
    product.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [5, 1]


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name: str) -> None:
    for count in (0, 1, 2, 5, 8):
        assert_same(getattr(vnp, name)(count), getattr(np, name)(count))
    assert_same(vnp.kaiser(5, 2.5), np.kaiser(5, 2.5))
    with pytest.raises(NotImplementedError, match="kaiser"):
        vnp.kaiser(5, array(2.5, grad=True))


def test_copies_of_numpys_arrays_lie_in_memory_as_these() -> None:
    cube = np.arange(48.0).reshape(4, 3, 4)
    for x in (cube, cube.T, cube.transpose(1, 2, 0), np.asfortranarray(cube)[::2], cube[:, ::-1]):
        calls: list[Callable[[Any, Any], Any]] = [
            lambda namespace, x: namespace.asarray(x),
            lambda namespace, x: namespace.array(x, copy=None),
            lambda namespace, x: namespace.asarray(x, "f"),
            lambda namespace, x: namespace.negative(x),
            lambda namespace, x: namespace.add(x, 1.0),
            lambda namespace, x: namespace.asanyarray(x),
            lambda namespace, x: namespace.require(x, requirements="W"),
        ]
        for nr, call in enumerate(calls):
            found, expected = call(vnp, x), call(np, x)
            assert isinstance(found, vnp.ndarray)
            assert found.tolist() == expected.tolist()
            # A copy of what is read backward is not read backward.
            order = np.argsort(np.abs(expected.strides)).tolist()
            assert np.argsort(found.strides).tolist() == order, nr
