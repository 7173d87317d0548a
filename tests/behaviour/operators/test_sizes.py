"""What `shape` and `size()` are: tuples that know that they are sizes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from tests.support import ramp, vt


def test_shape_and_size_are_sizes() -> None:
    x = ramp(2, 3)
    assert isinstance(x.shape, vt.Size)
    assert isinstance(x.size(), vt.Size)
    assert x.shape.numel() == 6
    assert x.shape == x.size() == (2, 3)
    assert hash(x.shape) == hash((2, 3))
    assert repr(x.shape).endswith("Size([2, 3])")


def test_an_array_multiplies_each_size() -> None:
    shape = ramp(2, 3).shape
    product: object = shape * np.array([1, 2])
    assert isinstance(product, np.ndarray)
    assert product.tolist() == [2, 6]
    assert (np.array([1, 2]) * shape).tolist() == [2, 6]


def test_slices_sums_and_multiples_of_sizes_are_sizes() -> None:
    shape = ramp(2, 3, 4).shape
    for sizes, expected in (
        (shape[1:], (3, 4)),
        (shape[::-1], (4, 3, 2)),
        (shape + (5,), (2, 3, 4, 5)),
        ((5,) + shape, (5, 2, 3, 4)),
        (shape + shape[:1], (2, 3, 4, 2)),
        (shape[:1] * 2, (2, 2)),
        (2 * shape[:1], (2, 2)),
    ):
        assert type(sizes) is vt.Size
        assert sizes == expected
    assert type(shape[0]) is int
    with pytest.raises(TypeError):
        shape + [5]
    with pytest.raises(TypeError):
        [5] + shape


def test_sizes_are_made_of_whatever_is_an_index() -> None:
    assert vt.Size() == ()
    assert vt.Size(range(2)) == (0, 1)
    assert vt.Size(vt.tensor([2, 3])) == (2, 3)
    assert [type(n) for n in vt.Size([vt.tensor(2), 3])] == [int, int]
    with pytest.raises(TypeError):
        vt.Size([1.5])  # type: ignore[list-item]  # that is the test
    with pytest.raises(TypeError):
        vt.Size(["2"])  # type: ignore[list-item]  # that is the test


def test_copies_of_sizes_are_sizes() -> None:
    shape = ramp(2, 3).shape
    for other in (copy.copy(shape), copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):
        assert type(other) is vt.Size
        assert other == (2, 3)


def test_negative_sizes_do_not_broadcast() -> None:
    with pytest.raises(ValueError, match="negative"):
        vt.broadcast_shapes((2, -1))
    with pytest.raises(TypeError):
        vt.broadcast_shapes("a")  # type: ignore[arg-type]  # that is the test
