"""Index expressions read into view steps and one advanced step."""

import numpy as np
import pytest

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, IndexTypeError, OutOfRangeError
from vtgrad.ops.kernels.indexing.parse_index import (
    Alias,
    IndexPlan,
    Select,
    Slice,
    Unsqueeze,
    ViewStep,
    parse_index,
)
from vtgrad.storage.arrays import Array

SIZES = (2, 3, 4)


class Boxed:
    """Stands for a tensor: something that only the caller can look into."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __index__(self) -> int:
        return int(self.array.item())


def unbox(part: object) -> Array | None:
    return part.array if isinstance(part, Boxed) else None


class Ask:
    """``Ask()[...]`` reads as the expressions of the tests are written."""

    def __init__(self, sizes: tuple[int, ...] = SIZES) -> None:
        self.sizes = sizes

    def __getitem__(self, expression: object) -> IndexPlan:
        return parse_index(expression, self.sizes, unbox)


def fields(steps: list[ViewStep]) -> list[tuple[object, ...]]:
    """What two lists of steps must have in common to mean the same."""
    found: list[tuple[object, ...]] = []
    for step in steps:
        match step:
            case Alias():
                found.append(("alias",))
            case Select():
                found.append(("select", step.dim, step.index))
            case Slice():
                found.append(("slice", step.dim, step.start, step.stop, step.step))
            case Unsqueeze():
                found.append(("unsqueeze", step.dim))
    return found


x = Ask()
i1 = Boxed(np.array(1))
EXPECTED: list[tuple[IndexPlan, list[ViewStep]]] = [
    (x[0], [Select(0, 0)]),
    (x[-1], [Select(0, -1)]),
    (x[np.int64(1)], [Select(0, 1)]),
    (x[np.array(1)], [Select(0, 1)]),
    (x[i1], [Select(0, 1)]),
    (x[...], [Alias()]),
    (x[()], [Alias()]),
    (x[:], [Slice(0, None, None, 1)]),
    (x[:, :], [Alias()]),
    (x[0:2, ...], [Alias()]),
    (x[0:9, :], [Alias()]),
    (x[-2:, :], [Slice(0, -2, None, 1)]),
    (x[None], [Unsqueeze(0)]),
    (x[0, 1:], [Select(0, 0), Slice(0, 1, None, 1)]),
    (x[:, 0], [Select(1, 0)]),
    (x[..., None, 0], [Unsqueeze(2), Select(3, 0)]),
    (x[1, 1:, ::2], [Select(0, 1), Slice(0, 1, None, 1), Slice(1, None, None, 2)]),
    (x[:, 1:2, None, ..., 0], [Slice(1, 1, 2, 1), Unsqueeze(2), Select(3, 0)]),
    (x[..., 0, ...], [Select(2, 0)]),
    (x[i1:], [Slice(0, 1, None, 1)]),
    (x[3 : 2**70], [Slice(0, 3, 2**63 - 1, 1)]),
]


@pytest.mark.parametrize(("plan", "steps"), EXPECTED)
def test_basic_parts_become_view_steps(plan: IndexPlan, steps: list[ViewStep]) -> None:
    assert fields(plan.steps) == fields(steps)
    assert plan.indices == []


def arrays(plan: IndexPlan) -> list[object]:
    return [None if a is None else a.tolist() for a in plan.indices]


@pytest.mark.parametrize(
    ("plan", "steps", "indices"),
    [
        (x[[0, 1]], [], [[0, 1]]),
        (x[[]], [], [[]]),
        (x[range(2)], [], [[0, 1]]),
        (x[:, [0, 1], 0], [Select(2, 0)], [None, [0, 1]]),
        (x[0, :, [0, 1]], [Select(0, 0)], [None, [0, 1]]),
        (x[None, [0, 1]], [Unsqueeze(0)], [None, [0, 1]]),
        (x[..., [0, 1]], [], [None, None, [0, 1]]),
        (x[[0, 1], None, [0, 1]], [Unsqueeze(1)], [[0, 1], None, [0, 1]]),
        (x[[True, False]], [], [[True, False]]),
        (x[[0, 1], [[0], [1]]], [], [[0, 1], [[0], [1]]]),
        (x[True], [Unsqueeze(0)], [[0]]),
        (x[False], [Unsqueeze(0)], [[]]),
        (x[0, True], [Select(0, 0), Unsqueeze(0)], [[0]]),
        (x[Boxed(np.array(True))], [Unsqueeze(0)], [[0]]),
        (x[np.array([1], np.int8)], [], [[1]]),
    ],
)
def test_lists_arrays_and_bools_become_an_advanced_step(
    plan: IndexPlan, steps: list[ViewStep], indices: list[object]
) -> None:
    assert fields(plan.steps) == fields(steps)
    assert arrays(plan) == indices


def test_a_mask_covers_as_many_dimensions_as_it_has() -> None:
    mask = np.zeros((2, 3), np.bool_)
    plan = x[mask, 0]
    assert fields(plan.steps) == fields([Select(2, 0)])
    assert len(plan.indices) == 1
    assert fields(x[mask, None].steps) == fields([Unsqueeze(2)])
    assert len(x[np.zeros(2, np.bool_), :, [0]].indices) == 3


def test_an_index_that_came_as_a_tensor_stays_that_tensor() -> None:
    boxed = Boxed(np.array([0, 1]))
    plan = x[:, boxed]
    assert plan.sources == [None, boxed]
    assert plan.indices[1] is boxed.array


def test_an_index_that_came_as_an_array_is_copied() -> None:
    numbers = np.array([0, 1])
    plan = x[numbers]
    numbers[0] = 1
    assert arrays(plan) == [[0, 1]]
    assert plan.sources == [None]


def test_a_list_of_sequences_is_read_as_a_tuple_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="read like a tuple"):
        plan = x[[[0, 1], [1, 0]]]
    assert arrays(plan) == [[0, 1], [1, 0]]
    with pytest.warns(UserWarning, match="read like a tuple"):
        assert fields(x[[slice(0, 1), 0]].steps) == fields([Slice(0, 0, 1, 1), Select(1, 0)])


def test_a_uint8_array_is_a_mask_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="mask"):
        plan = x[np.array([1, 0], np.uint8)]
    assert arrays(plan) == [[True, False]]


def test_writing_at_a_lone_bool() -> None:
    assert fields(parse_index(True, SIZES, unbox, write=True).steps) == fields([Unsqueeze(0)])
    assert parse_index(True, SIZES, unbox, write=True).indices == []
    assert parse_index(False, SIZES, unbox, write=True).nothing
    assert not parse_index(True, SIZES, unbox, write=True).nothing
    assert not parse_index(0, SIZES, unbox, write=True).nothing


@pytest.mark.parametrize(
    "expression",
    [
        2,
        -3,
        (0, 5),
        (0, 0, 0, 0),
        (slice(None),) * 4,
        (..., ..., 0),
        1.0,
        np.float64(1),
        np.bool_(True),
        np.array([0.5]),
        [0.5],
        {},
        object(),
        2**70,
        (np.zeros((2, 3, 4), np.bool_), 0),
        Boxed(np.array([1], np.int16)),
        Boxed(np.array(1.0)),
    ],
)
def test_what_cannot_index_is_an_index_error(expression: object) -> None:
    # The type of an index is no matter of range.
    of_no_index = isinstance(expression, (float, np.bool_, dict)) or type(expression) is object
    with pytest.raises(IndexTypeError if of_no_index else OutOfRangeError):
        parse_index(expression, SIZES, unbox)


def test_an_index_error_names_index_dimension_and_size() -> None:
    with pytest.raises(OutOfRangeError) as caught:
        x[:, 5]
    assert caught.value.facts == {"index": 5, "dim": 1, "size": 3}
    with pytest.raises(OutOfRangeError) as caught:
        x[0, 5]
    assert caught.value.facts["dim"] == 1


def test_steps_must_not_be_zero() -> None:
    expression = slice(None, None, 0)
    with pytest.raises(ArgumentValueError):
        parse_index(expression, SIZES, unbox)
    with pytest.raises(ArgumentValueError):
        parse_index((0, expression), SIZES, unbox)


@pytest.mark.parametrize("expression", ["a", ("a", 0), slice(1.0, 2), slice("a", None)])
def test_wrong_types_are_type_errors(expression: object) -> None:
    with pytest.raises(ArgumentTypeError):
        parse_index(expression, SIZES, unbox)


def test_ragged_lists_are_value_errors() -> None:
    with pytest.raises(ArgumentValueError):
        x[[[0, 1], [1]], 0]


def test_a_0d_tensor_takes_only_what_adds_dimensions() -> None:
    scalar = Ask(())
    assert fields(scalar[...].steps) == fields([Alias()])
    assert fields(scalar[None].steps) == fields([Unsqueeze(0)])
    assert arrays(scalar[True]) == [[0]]
    for wrong in (0, slice(None), [0], Boxed(np.array(0))):
        with pytest.raises(OutOfRangeError):
            scalar[wrong]
