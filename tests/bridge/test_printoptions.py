"""`set_printoptions`."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.errors import ArgumentTypeError, ArgumentValueError

THIRD = 1 / 3


@pytest.fixture(autouse=True)
def _as_at_first() -> Iterator[None]:
    yield
    vt.set_printoptions(profile="default")


@pytest.mark.parametrize(
    ("options", "data", "text"),
    [
        ({"precision": 2}, [THIRD, -2], "tensor([ 0.33, -2.00])"),
        ({"precision": 0}, [0.6, 2], "tensor([1, 2])"),
        ({"precision": 2}, [1e-5, 1], "tensor([1.00e-05, 1.00e+00])"),
        ({"precision": 1}, [THIRD + 2j], "tensor([0.3+2.j])"),
        ({"precision": 7}, [3, 4], "tensor([3, 4])"),
        ({"sci_mode": True}, [1.5, 2.0], "tensor([1.5000e+00, 2.0000e+00])"),
        ({"sci_mode": True, "precision": 1}, [3.0], "tensor([3.0e+00])"),
        ({"sci_mode": False}, [1e-5, 2000.5], "tensor([   0.0000, 2000.5000])"),
        ({"sci_mode": False}, [1e10, 1.0], "tensor([10000000000.,           1.])"),
        ({"threshold": 3}, [1, 2, 3, 4], "tensor([1, 2, 3, 4])"),
        ({"threshold": 3, "edgeitems": 1}, [1, 2, 3, 44], "tensor([ 1,  ..., 44])"),
        ({"threshold": 3, "edgeitems": 1}, [1, 2, 3], "tensor([1, 2, 3])"),
        ({"threshold": 3, "edgeitems": 0}, [1, 2, 3, 4], "tensor([ ...])"),
        (
            {"threshold": 3, "edgeitems": 1},
            [[1, 2]] * 4,
            "tensor([[1, 2],\n        ...,\n        [1, 2]])",
        ),
        ({"linewidth": 20}, [1, 2, 3, 4, 5], "tensor([1, 2, 3, 4,\n        5])"),
        ({"linewidth": 0}, [1, 2], "tensor([1,\n        2])"),
        ({"profile": "short"}, [THIRD], "tensor([0.33])"),
        ({"profile": "short", "precision": 3}, [THIRD], "tensor([0.333])"),
    ],
)
def test_texts(options: dict[str, Any], data: Any, text: str) -> None:
    plain = repr(vt.tensor(data))
    vt.set_printoptions(**options)
    assert repr(vt.tensor(data)) == text
    vt.set_printoptions(profile="default")
    assert repr(vt.tensor(data)) == plain


def test_profiles() -> None:
    x = vt.arange(2000.0)
    vt.set_printoptions(profile="short")
    assert repr(x) == "tensor([0.00e+00, 1.00e+00,  ..., 2.00e+03, 2.00e+03])"
    vt.set_printoptions(profile="full")
    assert "..." not in repr(x)


def test_facts_go_by_the_width_of_lines() -> None:
    x = vt.ones(3, requires_grad=True)
    vt.set_printoptions(linewidth=30)
    assert repr(x) == "tensor([1., 1., 1.],\n       requires_grad=True)"


def test_what_is_not_given_stays_but_for_sci_mode() -> None:
    vt.set_printoptions(precision=2, sci_mode=True)
    vt.set_printoptions(edgeitems=1)
    assert repr(vt.tensor(THIRD)) == "tensor(0.33)"


def test_tables_for_notebooks_have_the_digits_too() -> None:
    vt.set_printoptions(precision=2)
    table = vt.tensor([THIRD])._repr_html_()
    assert table is not None
    assert "<td>0.33</td>" in table


@needs_global_lock
def test_options_hold_for_all_threads() -> None:
    texts: list[str] = []
    vt.set_printoptions(precision=2)
    thread = threading.Thread(target=lambda: texts.append(repr(vt.tensor(THIRD))))
    thread.start()
    thread.join()
    assert texts == ["tensor(0.33)"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"precision": -1}, ArgumentValueError),
        ({"precision": 1.5}, ArgumentTypeError),
        ({"precision": True}, ArgumentTypeError),
        ({"threshold": -1}, ArgumentValueError),
        ({"threshold": float("nan")}, ArgumentValueError),
        ({"threshold": "3"}, ArgumentTypeError),
        ({"edgeitems": -1}, ArgumentValueError),
        ({"linewidth": "80"}, ArgumentTypeError),
        ({"profile": "long"}, ArgumentValueError),
        ({"profile": "short", "linewidth": -1}, ArgumentValueError),
        ({"sci_mode": 1}, ArgumentTypeError),
    ],
)
def test_wrong_options_change_nothing(options: dict[str, Any], error: type[Exception]) -> None:
    x = vt.arange(2000) / 3
    before = repr(x)
    with pytest.raises(error):
        vt.set_printoptions(**options)
    assert repr(x) == before
