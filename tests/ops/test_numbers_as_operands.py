"""A Python number as an operand, also as the first one."""

import inspect
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import ArgumentTypeError, ArgumentValueError, DTypeError


def test_an_integer_out_of_range_wraps_around_when_it_is_divided() -> None:
    assert (-1 // vt.tensor([1, 2, 3], dtype=vt.uint8)).tolist() == [255, 127, 85]
    assert (2**40 // vt.tensor([7], dtype=vt.int32)).tolist() == [0]


def test_a_number_may_be_the_first_operand() -> None:
    x = vt.tensor([1.0, 2.0], requires_grad=True)
    y = vt.mul(3, x)
    y.sum().backward()
    assert y.tolist() == [3.0, 6.0]
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 3.0]
    small = vt.tensor([1, 200], dtype=vt.uint8)
    assert vt.add(100, small).tolist() == [101, 44]
    assert vt.div(-1, small[:1]).tolist() == [-1.0]
    assert vt.add(True, small).dtype is vt.uint8
    with pytest.raises(DTypeError):
        vt.sub(True, x)
    for call in (vt.div, vt.floor_divide):
        with pytest.raises(ArgumentValueError):
            call(2**70, small)
    with pytest.raises(ArgumentTypeError, match="'input' must be a tensor"):
        vt.add("1", x)  # type: ignore[call-overload]  # what is refused


@pytest.mark.parametrize(
    "function", [vt.add, vt.sub, vt.mul, vt.div, vt.floor_divide, vt.bitwise_left_shift, vt.pow]
)
def test_two_numbers_are_told_that_one_must_be_a_tensor(function: Callable[..., object]) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        function(2, np.float64(3))
    assert str(caught.value) == f"at least one operand of {function.__name__} must be a tensor"
    # What was raised inside is not shown.
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_an_error_behind_a_number_shows_no_first_attempt() -> None:
    with pytest.raises(DTypeError) as caught:
        3 // vt.tensor([0])
    assert caught.value.__context__ is None
    with pytest.raises(ArgumentTypeError, match="argument 'alpha' must be a number") as other:
        vt.add(1, vt.ones(2), alpha="s")  # type: ignore[call-overload]  # the mistake
    error: BaseException | None = other.value
    while error is not None:
        assert not isinstance(error, AttributeError)
        error = error.__context__


NUMBERS = ("Number", "float", "float | None")


def _writers_with_numbers() -> list[tuple[str, str]]:
    """Every in-place method and one of its parameters that is a number."""
    return [
        (name, parameter)
        for name in dir(vt.Tensor)
        if name.endswith("_") and not name.endswith("__")
        for parameter, found in inspect.signature(getattr(vt.Tensor, name)).parameters.items()
        if found.annotation in NUMBERS
    ]


@pytest.mark.parametrize(("name", "parameter"), _writers_with_numbers())
def test_no_writer_takes_a_tensor_for_an_operand_where_it_has_a_number(
    name: str, parameter: str
) -> None:
    made = {"Tensor": vt.ones(2, 2), "int": 0, "float": 1.0, "Number": 1.0}
    made["Tensor | Number"] = 1.0
    given: dict[str, object] = {}
    for other, found in list(inspect.signature(getattr(vt.Tensor, name)).parameters.items())[1:]:
        if other == parameter or found.default is not inspect.Parameter.empty:
            continue
        given[other] = made[found.annotation]
    y = vt.full((2, 2), 0.5, requires_grad=True) * 1
    with pytest.raises(vt.errors.ArgumentTypeError):
        getattr(y, name)(**given, **{parameter: vt.tensor([0.25])})
    assert (y.tolist(), y._version) == ([[0.5, 0.5]] * 2, 0)
