"""Lazy arrays: what NumPy reads from them and writes through them."""

from collections.abc import Callable

import numpy as np
import pytest

from vtgrad.storage.arrays import Array
from vtgrad.storage.layout import PECULIAR, layout_of
from vtgrad.storage.lazy_array import (
    LazyArray,
    is_conjugated,
    is_negated,
    like,
    physical,
    resolved,
    with_bits,
)

BITS = pytest.mark.parametrize(
    ("conjugated", "negated"), [(True, False), (False, True), (True, True)]
)


def numbers() -> Array:
    """Memory with six complex numbers."""
    result: Array = (np.arange(6) + 1j * np.arange(6)[::-1] ** 2 - 2).reshape(2, 3)
    return result


def converted(values: Array, conjugated: bool, negated: bool) -> Array:
    """What two bits make of values, or of memory."""
    values = values.conj() if conjugated else values
    return -values if negated else values


def test_without_bits_an_array_is_plain() -> None:
    memory = numbers()
    assert with_bits(memory, False, False) is memory
    assert resolved(memory) is memory
    assert physical(memory) is memory
    assert not is_conjugated(memory)
    assert not is_negated(memory)


@BITS
def test_parts_and_rearrangements_have_the_bits_of_the_whole(
    conjugated: bool, negated: bool
) -> None:
    memory = numbers()
    lazy = with_bits(memory, conjugated, negated)
    values = converted(memory, conjugated, negated)
    for take in (
        lambda x: x[0],
        lambda x: x[:, ::2],
        lambda x: x[1, ...],
        lambda x: x[1, 2, ...],
        lambda x: x.T,
        lambda x: x.reshape(3, 2),
        lambda x: x.swapaxes(0, 1),
        lambda x: np.moveaxis(x, 0, 1),
        lambda x: np.expand_dims(x, 1),
        lambda x: np.diagonal(x),
        lambda x: x.view(),
        lambda x: x[[1, 0]],
    ):
        part = take(lazy)
        assert isinstance(part, LazyArray)
        assert (is_conjugated(part), is_negated(part)) == (conjugated, negated)
        np.testing.assert_array_equal(resolved(part), take(values))


@BITS
def test_readers_get_values(conjugated: bool, negated: bool) -> None:
    memory = numbers()
    lazy = with_bits(memory, conjugated, negated)
    values = converted(memory, conjugated, negated)
    readers: list[Callable[[Array], object]] = [
        lambda x: x + 1,
        lambda x: 2 * x,
        lambda x: np.exp(x),
        lambda x: x @ x.T,
        lambda x: x.dot(x.T),
        lambda x: x.sum(),
        lambda x: x.mean(0),
        lambda x: x.astype(np.complex64),
        lambda x: x.copy(),
        lambda x: x.copy(order="F"),
        lambda x: x.tolist(),
        lambda x: x.take([1, 3]),
        lambda x: x.real.copy(),
        lambda x: x.imag.copy(),
        lambda x: x.view(np.float64),
        lambda x: x[0, 1],
        lambda x: x[0, 0].item(),
        lambda x: list(x[0]),
        lambda x: complex(x[0, 1, ...]),
        lambda x: np.concatenate([x, x]),
        lambda x: np.where(x.real > 0, x, 0),
        lambda x: np.einsum("ij,ij", x, x),
        lambda x: np.array2string(x),
        lambda x: np.broadcast_to(x, (2, 2, 3)).copy(),
        lambda x: x.tobytes(),
        lambda x: x[0, 0] in x,
        lambda x: np.add.reduce(x, 1),
        lambda x: np.multiply.outer(x, x),
        lambda x: np.sort(x, 1),
    ]
    for read in readers:
        found, expected = read(lazy), read(values)
        np.testing.assert_array_equal(found, expected)
        assert type(found) is type(expected)


@BITS
def test_writers_store_what_memory_must_hold(conjugated: bool, negated: bool) -> None:
    other = numbers() * (1 - 2j)
    writers: list[Callable[[Array], object]] = [
        lambda x: np.add(x, other, out=x),
        lambda x: np.multiply(x, 2, x),
        lambda x: np.copyto(x, other),
        lambda x: np.copyto(x, 1j),
        lambda x: np.copyto(x, other, where=other.real > 0),
        lambda x: np.add(x, 1, out=x, where=other.real > 0),
        lambda x: x.__setitem__(0, other[1]),
        lambda x: x.__setitem__((0, 1), 7),
        lambda x: x.__setitem__(other.real > 0, 3j),
        lambda x: x[0].__setitem__(..., 2j),
        lambda x: x.fill(5j),
        lambda x: x.__iadd__(other),
        lambda x: np.add.at(x, ([0, 0], [1, 1]), 2j),
        lambda x: np.put(x, [0, 4], [1j, 2j]),
        lambda x: x.sort(1),
        lambda x: setattr(x, "real", 3),
        lambda x: setattr(x, "imag", other.real),
        lambda x: x.real.__iadd__(1),
        lambda x: np.concatenate([x[:1], other[:1]], out=x),
        lambda x: np.matmul(other, other.T @ other, out=x),
    ]
    for write in writers:
        memory = numbers()
        lazy = with_bits(memory, conjugated, negated)
        values = converted(numbers(), conjugated, negated)
        write(lazy)
        write(values)
        np.testing.assert_allclose(memory, converted(values, conjugated, negated))


def test_a_lazy_source_is_read_by_its_values() -> None:
    memory = numbers()
    target = np.zeros((2, 3), np.complex128)
    np.copyto(target, with_bits(memory, True, False))
    np.testing.assert_array_equal(target, memory.conj())


def test_imaginary_parts_of_conjugates_are_negatives() -> None:
    lazy = with_bits(numbers(), True, False)
    assert is_negated(lazy.imag)
    assert type(lazy.real) is np.ndarray
    assert type(with_bits(numbers(), True, True).imag) is np.ndarray


def test_bits_are_passed_on_by_name() -> None:
    memory = numbers()
    assert is_negated(like(with_bits(memory, False, True), memory))
    assert like(memory, memory) is memory


def test_what_is_shared_is_asked_of_memory() -> None:
    memory = numbers()
    lazy = with_bits(memory, True, False)
    assert np.may_share_memory(lazy, memory)
    assert np.shares_memory(lazy[0], memory[0])
    assert not np.shares_memory(lazy[0], memory[1])
    with pytest.raises(TypeError):
        _ = lazy.flat


def test_no_layout_is_theirs() -> None:
    memory = numbers()
    assert layout_of(memory) is not PECULIAR
    assert layout_of(with_bits(memory, True, False)) is PECULIAR
