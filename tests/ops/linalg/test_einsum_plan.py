"""Reading einsum equations."""

import pytest

from vtgrad.errors import ShapeError
from vtgrad.ops.kernels.linalg.einsum_plan import plan_einsum

Shape = tuple[int, ...]


@pytest.mark.parametrize(
    ("equation", "shapes", "operands", "outputs", "labels"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)], ((0, 2), (2, 1)), 2, 3),
        ("ij,jk", [(2, 3), (3, 4)], ((0, 2), (2, 1)), 2, 3),
        ("ii", [(3, 3)], ((0, 0),), 0, 1),
        ("ii->i", [(3, 3)], ((0, 0),), 1, 1),
        ("ba", [(2, 3)], ((1, 0),), 2, 2),
        ("bA", [(2, 3)], ((1, 0),), 2, 2),
        ("", [()], ((),), 0, 0),
        (" i , -> i", [(3,), ()], ((0,), ()), 1, 1),
    ],
)
def test_result_labels_come_first(
    equation: str,
    shapes: list[Shape],
    operands: tuple[Shape, ...],
    outputs: int,
    labels: int,
) -> None:
    assert plan_einsum(equation, shapes) == (operands, outputs, labels)


def test_ellipses_line_up_from_the_right() -> None:
    plan = plan_einsum("...i,...i->...", [(5, 4, 3), (4, 3)])
    assert plan == (((0, 1, 2), (1, 2)), 2, 3)


def test_an_implicit_result_starts_with_the_ellipsis() -> None:
    assert plan_einsum("i...,j", [(2, 3), (4,)]) == (((1, 0), (2,)), 3, 3)


def test_an_ellipsis_that_the_result_leaves_out_is_summed() -> None:
    assert plan_einsum("...i->i", [(2, 3, 4)]) == (((1, 2, 0),), 1, 3)


def test_a_size_of_one_broadcasts_between_operands() -> None:
    assert plan_einsum("ij,ij->j", [(1, 3), (2, 3)]) == (((1, 0), (1, 0)), 1, 2)


@pytest.mark.parametrize(
    ("equation", "shapes", "why"),
    [
        ("i->ii", [(2,)], "'i' more than once"),
        ("ij->k", [(2, 2)], "no operand has 'k'"),
        ("i1", [(2, 2)], "'1'"),
        ("ij->ij->i", [(2, 2)], "'-'"),
        ("..i", [(2, 2)], "'.'"),
        ("...i...", [(2, 2)], "more than one ellipsis"),
        ("ij", [(2,)], "1 dimensions"),
        ("i", [(2, 2)], "2 dimensions"),
        ("...ij", [(2,)], "1 dimensions"),
        ("ij", [(2, 2), (2, 2)], "1 operands, 2 tensors"),
        ("i,j", [(2,)], "2 operands, 1 tensors"),
        ("ij,j", [(2, 3), (4,)], "size 4 in operand 1 and 3 before"),
        ("ii", [(1, 3)], "sizes 1 and 3 within operand 0"),
    ],
)
def test_an_equation_that_does_not_fit_is_refused_with_the_reason(
    equation: str, shapes: list[Shape], why: str
) -> None:
    with pytest.raises(ShapeError) as caught:
        plan_einsum(equation, shapes)
    assert why in str(caught.value)
    assert caught.value.facts["equation"] == equation
