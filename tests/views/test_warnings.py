"""Warnings name the line that called the library, whichever way the call came in."""

import warnings
from collections.abc import Callable

import pytest

import vtgrad as vt


def _leaf() -> vt.Tensor:
    return vt.ones(2, requires_grad=True)


WARNED: dict[str, Callable[[], object]] = {
    "out= of another shape": lambda: vt.add(vt.ones(3), 1, out=vt.ones(2)),
    "several out= of other shapes": lambda: vt.max(
        vt.ones(2, 2), 0, out=(vt.ones(1), vt.ones(0).long())
    ),
    "meshgrid": lambda: vt.meshgrid(vt.ones(2), vt.ones(3)),
    "adjoint of a number": lambda: vt.ones(()).adjoint(),
    "a complex tensor copied to a real one": lambda: vt.ones(2).copy_(vt.tensor([1j, 2j])),
    "the same through brackets": lambda: vt.ones(2).__setitem__(0, vt.tensor(1j)),
    "a complex tensor cast": lambda: vt.tensor([1j]).float(),
    "a list that is read like a tuple": lambda: vt.ones(2, 2)[[slice(None), slice(1)]],
    "a uint8 index": lambda: vt.ones(2)[vt.tensor([0, 1], dtype=vt.uint8)],
    "grad of a result": lambda: (_leaf() * 2).grad,
    "backward(create_graph=True)": lambda: _leaf().sum().backward(create_graph=True),
    "tensor of a tensor": lambda: vt.tensor(vt.ones(1)),
    "new_tensor of a tensor": lambda: vt.ones(1).new_tensor(vt.ones(1)),
    "T of three dimensions": lambda: vt.ones(1, 2, 3).T,
}


@pytest.mark.parametrize("call", WARNED.values(), ids=WARNED)
def test_a_warning_points_at_the_line_that_called(call: Callable[[], object]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, call.__code__.co_firstlineno)]
