"""The meaning of steps, on programs that are written by hand."""

import operator

import numpy as np
import pytest

from vtgrad.jit.interpret import GuardFailed, interpret, same_value
from vtgrad.jit.steps import Buffer, Fixed, Group, Guard, Kind, Place, Program, Step

F8 = np.dtype(np.float64)


def row(buffer: int, number: int) -> Place:
    return Place(buffer, F8, (2,), (8,), 16 * number)


def written() -> Program:
    """`y[0] = a; y[1] = y[0] * 3; a[0] = sum(y)`, and `y` with `a` behind it."""
    whole = Place(1, F8, (2, 2), (16, 8), 0)
    return Program(
        [Buffer(Kind.ARGUMENT, 16, 0), Buffer(Kind.FRESH, 32), Buffer(Kind.FRESH, 48)],
        [
            Step(operator.setitem, (row(1, 0), Fixed(...), row(0, 0)), writes=(row(1, 0),)),
            Step(np.multiply, (row(1, 0), Fixed(3.0)), outputs=(row(1, 1),)),
            Step(
                np.add.reduce,
                (whole,),
                (("axis", Fixed(None)),),
                (Place(0, F8, (), (), 0),),
            ),
            Step(
                np.concatenate,
                (Group(list, (whole, Place(0, F8, (1, 2), (16, 8), 0))),),
                outputs=(Place(2, F8, (3, 2), (16, 8), 0),),
            ),
        ],
        [Guard(1, np.ndarray.item, (Place(1, F8, (), (), 8),), 2.0)],
        [Place(2, F8, (3, 2), (16, 8), 0)],
    )


def test_steps_read_and_write_places() -> None:
    a = np.array([5.0, 2.0])
    (found,) = interpret(written(), [a.view(np.uint8)])
    np.testing.assert_array_equal(found, [[5, 2], [15, 6], [28, 2]])
    np.testing.assert_array_equal(a, [28, 2])


def test_a_guard_is_checked_before_its_step() -> None:
    with pytest.raises(GuardFailed) as caught:
        interpret(written(), [np.array([5.0, 7.0]).view(np.uint8)])
    assert caught.value.number == 0


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1, True, False),
        (1, 1.0, False),
        (0.0, -0.0, False),
        (float("nan"), float("nan"), True),
        ((1, 2.0), (1, 2.0), True),
        ((1, 2.0), [1, 2.0], False),
        (np.float32(1), np.float64(1), False),
        ("a", "a", True),
    ],
)
def test_values_are_compared_by_type_and_bits(a: object, b: object, same: bool) -> None:
    assert same_value(a, b) is same
