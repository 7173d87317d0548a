"""The text that a wrong argument gets, and errors that are faults of the library."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    ElementIndexError,
    ShapeError,
)
from vtgrad.ops.calling.explain import explain, explained
from vtgrad.storage.tensor_base import TensorBase


def test_first_argument_that_does_not_fit_is_named() -> None:
    with pytest.raises(ArgumentTypeError, match="argument 'dim' must be an integer, not list") as e:
        vt.ones(2, 3).select([0], 0)  # type: ignore[arg-type]  # the mistake
    assert e.value.argument == "dim"  # type: ignore[attr-defined]  # facts are attributes
    assert isinstance(e.value.__cause__, TypeError)


def test_alternatives_are_listed() -> None:
    with pytest.raises(ArgumentTypeError, match="'other' must be a tensor or a number, not list"):
        vt.ones(2).add([1])  # type: ignore[arg-type]  # the mistake
    with pytest.raises(
        ArgumentTypeError, match="'shape' must be an integer or a sequence of integers"
    ):
        vt.ones(2).reshape([[1], [2]])  # type: ignore[list-item]  # the mistake


def test_errors_of_this_package_are_left_as_they_are() -> None:
    explain(ShapeError("said already"), "dim:int", 2)
    explain(ArgumentTypeError("said already"), "dim:int", "no integer")


def test_wrong_type_comes_before_what_else_is_wrong() -> None:
    with pytest.raises(ArgumentTypeError, match="argument 'dim' must be an integer, not float"):
        vt.ones(2, 3).select(float("nan"), 0)  # type: ignore[arg-type]  # the mistake
    with pytest.raises(ArgumentTypeError, match="argument 'alpha' must be a number, not NoneType"):
        vt.ones(2).add(vt.ones(3), alpha=None)  # type: ignore[arg-type]  # the mistake
    with pytest.raises(ArgumentTypeError, match="argument 'alpha' must be a number, not NoneType"):
        vt.ones(2).add(vt.ones(2), alpha=None)  # type: ignore[arg-type]  # the mistake


def test_error_with_arguments_that_fit_is_ours_and_is_left_as_it_is() -> None:
    explain(ZeroDivisionError("a fault of ours"), "dim:int other", 1, vt.ones(2))

    @explained
    def faulty(input: TensorBase, dim: int) -> int:
        return dim // 0

    with pytest.raises(ZeroDivisionError):
        faulty(vt.ones(2), 1)
    with pytest.raises(ArgumentTypeError, match="argument 'input' must be a tensor, not float"):
        faulty(1.5, 1)  # type: ignore[arg-type]  # the mistake


def test_number_that_does_not_fit_the_computation_is_named() -> None:
    with pytest.raises(ArgumentValueError, match="argument 'size' holds a number that is too"):
        explain(OverflowError("inside"), "dim:int size:Sequence[int]", 1, [1, 2**70])


def test_wrong_number_of_arguments_keeps_pythons_text() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        vt.unflatten(vt.ones(4), 0)  # type: ignore[call-arg]  # the mistake


def test_functions_that_look_at_their_first_argument_say_that_it_is_no_tensor() -> None:
    with pytest.raises(ArgumentTypeError, match="argument 'input' must be a tensor, not NoneType"):
        vt.fill_(None, vt.ones(()))  # type: ignore[type-var]  # the mistake
    with pytest.raises(ArgumentTypeError, match="argument 'input' must be a tensor, not NoneType"):
        vt.positive(None)  # type: ignore[type-var]  # the mistake


# A message names the function that was called, not one that does a part of the work.
NAMED: dict[str, Callable[[], object]] = {
    "tile": lambda: vt.ones(2).tile(2, -1),
    "repeat": lambda: vt.ones(2).repeat(2, -1),
    "renorm": lambda: vt.tensor([[1, 2]]).renorm(2, 0, 1),
    "norm": lambda: vt.tensor([1, 2]).norm(),
    "vdot": lambda: vt.vdot(vt.ones(3), vt.ones(2)),
    "dot": lambda: vt.dot(vt.ones(3), vt.ones(2)),
    "chunk": lambda: vt.chunk(vt.ones(3), 0),
    "unsafe_chunk": lambda: vt.unsafe_chunk(vt.ones(3), 0),
    "vstack": lambda: vt.vstack([]),
    "row_stack": lambda: vt.row_stack([]),
    "nanmean": lambda: vt.nanmean(vt.ones(3) * 1j),
    "vsplit": lambda: vt.vsplit(vt.ones(4, 2), vt.tensor(3)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", NAMED)
def test_the_function_that_was_called_is_named(name: str) -> None:
    with pytest.raises((ShapeError, DTypeError), match=rf"^{name}\b"):
        NAMED[name]()


def test_pieces_that_are_no_views_are_not_said_to_be_those_of_split() -> None:
    for cut in (vt.split, vt.unsafe_split):
        with pytest.raises(ShapeError, match=r"^cannot split a 0-d tensor"):
            cut(vt.tensor(1.0), 1)


def test_what_is_wrong_is_named_and_not_what_follows_from_it() -> None:
    with pytest.raises(ShapeError, match=r"the size -1 among the sizes .* is negative"):
        vt.split(vt.ones(5), [1, -1, 5])
    with pytest.raises(ElementIndexError, match="index -4 is outside dimension 0 of size 3") as e:
        vt.take_along_dim(vt.ones(3), vt.tensor([2, -4]), 0)
    assert e.value.index == -4  # type: ignore[attr-defined]  # facts are attributes
    two, three = vt.ones(2, 3, 4), vt.ones(3, 4, 5)
    for multiply in (
        lambda a, b: vt.bmm(a, b),
        lambda a, b: vt.baddbmm(vt.ones(1), a, b),
        lambda a, b: vt.addbmm(vt.ones(1), a, b),
    ):
        with pytest.raises(ShapeError, match="the batch sizes differ"):
            multiply(two, three)
        with pytest.raises(ShapeError, match="the sizes that are summed over differ"):
            multiply(two, two)


@pytest.mark.parametrize(
    ("name", "rest", "text"),
    [
        ("index_put", (1, vt.ones(3)), "argument 'indices' must be a sequence of tensors"),
        ("index_put_", (1, vt.ones(3)), "argument 'indices' must be a sequence of tensors"),
        ("take_along_dim", (vt.tensor([0]), 1.5), "argument 'dim' must be an integer or None"),
        ("tile", ("a",), "must be a sequence of integers"),
    ],
)
def test_composites_explain_arguments_of_other_types_in_both_builds(
    name: str, rest: tuple[object, ...], text: str
) -> None:
    with pytest.raises(ArgumentTypeError, match=text):
        getattr(vt.ones(3), name)(*rest)


def test_a_dimension_may_be_an_integer_of_numpy_in_both_builds() -> None:
    zero, two = np.int64(0), np.int64(2)
    x: Any = vt.tensor([1.0, 2.0])
    assert x.take_along_dim(vt.tensor([1]), zero).tolist() == [2]
    assert x.tile(two).tolist() == [1, 2, 1, 2]
