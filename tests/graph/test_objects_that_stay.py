"""How many objects the garbage collector visits for each recorded step.

The collector visits all that stays again and again, so these numbers are a part of what a long
program costs. They are exact: one that has grown is a regression, and one that has become smaller
is entered here.
"""

import gc
from collections import Counter
from collections.abc import Callable

import pytest

import vtgrad as vt

pytestmark = pytest.mark.skipif(vt.__compiled__, reason="native classes have other objects")

_STEPS = 64


class Program:
    """The tensors of all steps, which are made before the count."""

    def __init__(self) -> None:
        self.a = vt.ones(4, requires_grad=True)
        self.b = vt.ones(4, requires_grad=True)
        self.drive = vt.ones(4)
        self.table = vt.ones(_STEPS + 8, 4, requires_grad=True) * 1
        self.rows = self.table[1:]
        self.level = vt.zeros(_STEPS + 8, 4)
        self.level[0] = self.a


def product(program: Program, step: int) -> object:
    return program.a * program.b


def total(program: Program, step: int) -> object:
    return program.a + program.b


def view(program: Program, step: int) -> object:
    return program.table[step]


def view_of_view(program: Program, step: int) -> object:
    return program.rows[step]


def row_write(program: Program, step: int) -> None:
    program.table[step] = program.b


def augmented_write(program: Program, step: int) -> None:
    program.table[step] += program.b


def recurrence(program: Program, step: int) -> None:
    level = program.level
    level[step + 1] = program.a * level[step] + program.drive


def unrecorded_product(program: Program, step: int) -> object:
    return program.drive * program.drive


def unrecorded_write(program: Program, step: int) -> None:
    with vt.no_grad():
        program.table[step] = program.drive


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (product, {"Tensor": 1, "TensorImpl": 1, "MulBackward0": 1}),
        (total, {"Tensor": 1, "TensorImpl": 1, "AddBackward0": 1}),
        (
            view,
            {"Tensor": 1, "TensorImpl": 1, "DifferentiableViewMeta": 1, "SelectBackward0": 1},
        ),
        (
            view_of_view,
            {"Tensor": 1, "TensorImpl": 1, "DifferentiableViewMeta": 1, "SelectBackward0": 1},
        ),
        (row_write, {"CopySlices": 1, "CopyBackwards": 1}),
        (augmented_write, {"CopySlices": 1, "AddBackward0": 1}),
        (
            recurrence,
            {
                "SelectBackward0": 1,
                "MulBackward0": 1,
                "AddBackward0": 1,
                "CopyBackwards": 1,
                "CopySlices": 1,
                # Of the row that was read: its value, and the tensor, which is dead.
                "SavedVariable": 1,
                "ReferenceType": 1,
            },
        ),
        (unrecorded_product, {"Tensor": 1, "TensorImpl": 1}),
        (unrecorded_write, {}),
    ],
)
def test_a_step_leaves_as_many_objects_as_before(
    statement: Callable[[Program, int], object], expected: dict[str, int]
) -> None:
    program = Program()
    results: list[object] = [None] * (_STEPS + 8)
    for step in range(8):
        # Makes what is made once: nodes of leaves, layouts, logs.
        results[step] = statement(program, step)
    gc.collect()
    gc.disable()
    try:
        known = {id(thing) for thing in gc.get_objects()}
        for step in range(8, _STEPS + 7):
            results[step] = statement(program, step)
        gc.collect()
        left = Counter(type(x).__name__ for x in gc.get_objects() if id(x) not in known)
    finally:
        gc.enable()
    steps = _STEPS - 1
    # What is made rarely, as the records of the last eight writes, is less than one for each step.
    assert {name: n // steps for name, n in left.items() if n >= steps} == expected
    assert sum(n % steps for name, n in left.items() if name in expected) < steps // 2
    assert sum(n for name, n in left.items() if name not in expected) < steps // 2
