"""`apply_`, `map_` and `map2_`: Python functions, element by element."""

from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad.errors import ArgumentTypeError, DTypeError, ShapeError, WriteRefusedError
from vtgrad.storage.arrays import Number


def add(*values: Number) -> Number:
    """The sum of numbers."""
    return sum(values)


def test_elements_are_replaced_and_the_version_moves() -> None:
    x = vt.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.apply_(lambda v: -v) is x
    assert x.tolist() == [[-1.0, -2.0], [-3.0, -4.0]]
    assert x.map_(vt.tensor([10.0, 20.0]), add) is x
    assert x.tolist() == [[9.0, 18.0], [7.0, 16.0]]
    assert x.map2_(vt.ones(2, 1), vt.full((2,), 0.5), add) is x
    assert x.tolist() == [[10.5, 19.5], [8.5, 17.5]]
    assert x._version == 3


def test_functions_see_python_numbers_in_the_order_of_indices() -> None:
    seen: list[Number] = []

    def note(value: Number) -> Number:
        seen.append(value)
        return value

    vt.tensor([[1, 2], [3, 4]]).t().apply_(note)
    vt.tensor([True]).apply_(note)
    assert [(type(v), v) for v in seen] == [(int, 1), (int, 3), (int, 2), (int, 4), (bool, True)]


def test_a_view_writes_its_base() -> None:
    x = vt.zeros(2, 3)
    x[:, 1].apply_(lambda v: v + 1)
    assert x.tolist() == [[0, 1, 0], [0, 1, 0]]
    assert x._version == 1


def test_what_was_saved_is_stale_afterwards() -> None:
    x = vt.ones(2, requires_grad=True)
    factor = vt.ones(2)
    y = x * factor
    factor.apply_(lambda v: 2.0)
    with pytest.raises(RuntimeError, match="version"):
        y.sum().backward()


WRONG: list[tuple[Callable[[vt.Tensor], object], type[Exception]]] = [
    (lambda x: x.apply_(lambda v: 300), DTypeError),
    (lambda x: x.apply_(lambda v: "1"), ArgumentTypeError),  # type: ignore[arg-type, return-value]
    (lambda x: x.apply_(lambda v: {1: 5}[v]), KeyError),  # type: ignore[index]
    (lambda x: x.map_(vt.ones(2), add), ArgumentTypeError),
    (lambda x: x.map_(vt.ones(3, dtype=vt.uint8), add), ShapeError),
    (lambda x: x.map_(vt.ones(2, 2, dtype=vt.uint8), add), ShapeError),
]


@pytest.mark.parametrize(("call", "error"), WRONG)
def test_a_call_that_fails_changes_nothing(
    call: Callable[[vt.Tensor], object], error: type[Exception]
) -> None:
    x = vt.tensor([1, 2], dtype=vt.uint8)
    with pytest.raises(error):
        call(x)
    assert x.tolist() == [1, 2]
    assert x._version == 0


@pytest.mark.parametrize("recording", [True, False])
def test_what_requires_grad_is_refused(recording: bool) -> None:
    x = vt.ones(2, requires_grad=True)
    with vt.set_grad_enabled(recording):
        calls: list[Callable[[], object]] = [
            lambda: x.apply_(add),
            lambda: (x * 1).apply_(add) if recording else x.apply_(add),
            lambda: vt.ones(2).map_(x, add),
            lambda: vt.ones(2).map2_(vt.ones(2), x, add),
        ]
        for call in calls:
            with pytest.raises(WriteRefusedError):
                call()
    assert x._version == 0
