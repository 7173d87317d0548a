"""Geometry that comes from outside: pickled states that were tampered with, arrays of NumPy's."""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vtgrad as vt
from tests.hostile.state import assert_inside
from tests.hostile.values import ANYTHING, NUMBERS
from vtgrad.errors import ArgumentTypeError, VtgradError
from vtgrad.storage.arrays import Array
from vtgrad.storage.storage import Storage
from vtgrad.storage.version_counter import VersionCounter

_NUMBER = st.one_of(
    st.integers(-3, 8), st.sampled_from((2**31, 2**61, 2**62, 2**63, 2**64, -(2**63)))
)
_TUPLES = st.lists(_NUMBER, max_size=3).map(tuple)
_DTYPES = st.sampled_from(
    (vt.float32, vt.float64, vt.complex128, vt.uint8, vt.bool, vt.int64, vt.complex64)
)
_STATES: Sequence[st.SearchStrategy[object]] = (
    st.just(vt.Tensor),
    st.binary(max_size=40).map(lambda content: Storage(np.frombuffer(content, np.uint8).copy())),
    st.builds(VersionCounter),
    _DTYPES,
    _TUPLES,
    _TUPLES,
    _NUMBER,
    st.booleans(),
)


@st.composite
def states(draw: st.DrawFn) -> tuple[object, ...]:
    """A state of the right types, or with something else in one position."""
    state = [draw(part) for part in _STATES]
    if draw(st.integers(0, 3)) == 0:
        state[draw(st.integers(0, len(state) - 1))] = draw(ANYTHING)
    return tuple(state)


def rebuild(state: Sequence[object]) -> object:
    """What unpickling calls."""
    function, *_ = vt.ones(3).__reduce_ex__(4)
    assert callable(function)
    return function(*state)


@given(state=states())
def test_a_pickled_state_is_refused_or_inside_its_storage(state: tuple[object, ...]) -> None:
    try:
        made = rebuild(state)
    except VtgradError:
        return
    assert isinstance(made, vt.Tensor)
    assert_inside([made])
    made.detach().zero_()
    assert_inside([pickle.loads(pickle.dumps(made))])


@given(number=st.sampled_from((4, 5, 6)), value=NUMBERS)
def test_a_tampered_pickle_is_refused_or_inside(number: int, value: object) -> None:
    """The whole way, through bytes: one part of the state is another number than it was."""

    class Tampered:
        def __reduce__(self) -> tuple[object, tuple[object, ...]]:
            function, facts, *_ = vt.arange(6.0).reshape(2, 3).__reduce_ex__(4)
            state = [*facts]
            state[number] = (value, 1) if number < 6 else value
            return function, tuple(state)

    try:
        written = pickle.dumps(Tampered())
    except (pickle.PicklingError, AttributeError, TypeError):
        return  # not everything can be in a pickle
    try:
        made = pickle.loads(written)
    except VtgradError:
        return
    assert_inside([made])


@pytest.mark.parametrize("content", ["text", None, 3, [1, 2]])
def test_a_storage_of_something_else_than_bytes_is_refused(content: object) -> None:
    reducer = copyreg.dispatch_table[Storage]
    make, _ = reducer(vt.ones(3)._impl.storage)  # type: ignore[misc,str-unpack]  # a pair, no text
    assert callable(make)
    with pytest.raises(ArgumentTypeError):
        make(content)


def _forged(shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    return np.lib.stride_tricks.as_strided(np.zeros(24, np.float32), shape, strides)


ODD_ARRAYS: dict[str, Callable[[], Array]] = {
    "negative stride": lambda: np.arange(4.0)[::-1],
    "stride between elements": lambda: _forged((3,), (6,)),
    "fields": lambda: np.zeros(3, [("a", "f4"), ("b", "i4")])["a"],
    "structured": lambda: np.zeros(3, [("a", "f4")]),
    "objects": lambda: np.array([None, 1], object),
    "text": lambda: np.array(["a", "b"]),
    "times": lambda: np.array(["2020-01-01"], "M8[D]"),
    "foreign bytes": lambda: np.arange(3, dtype=">f8"),
    "long double": lambda: np.zeros(2, np.longdouble),
    "unaligned": lambda: np.zeros(17, np.uint8)[1:].view(np.float64),
    "read only": lambda: np.broadcast_to(np.float32(1), (3,)),
    "of bytes": lambda: np.frombuffer(b"12345678", np.uint8),
}


@pytest.mark.parametrize("name", ODD_ARRAYS)
@pytest.mark.parametrize("make", [vt.from_numpy, vt.as_tensor, vt.tensor])
@pytest.mark.filterwarnings("ignore:.*read-only.*:UserWarning", "ignore:.*writable.*:UserWarning")
def test_an_odd_array_is_refused_or_inside(name: str, make: Callable[[object], vt.Tensor]) -> None:
    array = ODD_ARRAYS[name]()
    before = array.tobytes()
    try:
        made = make(array)
    except VtgradError as error:
        assert str(error)  # noqa: PT017
        return
    assert_inside([made])
    assert made.shape == array.shape
    assert array.tobytes() == before


def test_a_repeated_array_cannot_be_written_through_its_tensor() -> None:
    x = vt.from_numpy(_forged((3, 2), (0, 4)))
    with pytest.raises(VtgradError):
        x.add_(1)
    assert x.tolist() == [[0, 0]] * 3


def test_an_array_shrunk_behind_the_tensors_back_keeps_its_memory() -> None:
    """The tensor holds the memory: it outlives the array that it came from."""
    array = np.arange(6, dtype=np.float32)
    x = vt.from_numpy(array)
    with pytest.raises((ValueError, BufferError)):
        array.resize(2)
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
