"""`vtgrad.numpy.fft`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.numpy.calls_in_layouts import Call, check_calls, compare_calls
from tests.numpy.support import DTYPES, array, assert_same, values
from vtgrad.numpy import fft

SHIFTS: list[Call] = [
    lambda f, x: f(x),
    lambda f, x: f(x, 1),
    lambda f, x: f(x, axes=(0, -1)),
    lambda f, x: f(x, ()),
    lambda f, x: f(x, 3),
]


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name: str) -> None:
    compare_calls(f"fft.{name}", SHIFTS, [(2, 3)], DTYPES)
    compare_calls(f"fft.{name}", SHIFTS, [(), (0,), (5,), (4, 0)], ["d"])
    check_calls(f"fft.{name}", SHIFTS[:4], values("d", (2, 3)))


FREQUENCIES: list[Call] = [
    lambda f, x: f(5, x),
    lambda f, x: f(4, d=x),
    lambda f, x: f(1, x),
    lambda f, x: f(0, x),
    lambda f, x: f(2.5, x),
]


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name: str) -> None:
    mine, theirs = getattr(fft, name), getattr(np.fft, name)
    assert_same(mine(6), theirs(6))
    assert_same(mine(5, np.float32(0.5)), theirs(5, np.float32(0.5)))
    compare_calls(f"fft.{name}", FREQUENCIES, [()], ["d", "l", "f"])
    check_calls(f"fft.{name}", FREQUENCIES[:2], np.array(0.75))
    with pytest.raises(ValueError, match="n should be an integer"):
        mine(2.5, array(0.5, grad=True))


TRANSFORMS = [name for name in fft.__all__ if "shift" not in name and "freq" not in name]


ALONG_ONE: list[Call] = [
    lambda f, x: f(x),
    lambda f, x: f(x, norm="ortho"),
    lambda f, x: f(x, norm="forward", axis=0),
    lambda f, x: f(x, 3, norm="backward"),
    lambda f, x: f(x, n=4, axis=0),
    lambda f, x: f(x, 7),
    lambda f, x: f(x, 1),
    lambda f, x: f(x, 0),
    lambda f, x: f(x, -1),
    lambda f, x: f(x, axis=2),
    lambda f, x: f(x, norm="other"),
]
ALONG_MANY: list[Call] = [
    lambda f, x: f(x),
    lambda f, x: f(x, norm="ortho"),
    lambda f, x: f(x, axes=(0,)),
    lambda f, x: f(x, (3, 4), (1, 0), norm="forward"),
    lambda f, x: f(x, (2, -1), axes=(0, 1)),
    lambda f, x: f(x, (2, 3, 4), axes=(0, 1)),
    lambda f, x: f(x, axes=(0, 0)),
    lambda f, x: f(x, norm="other"),
]


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str) -> None:
    calls = ALONG_MANY if name[-1] in "2n" else ALONG_ONE
    compare_calls(f"fft.{name}", calls, [(4, 5)], ["d", "f", "l", "D"])
    compare_calls(f"fft.{name}", calls[:2], [(), (0, 3), (1, 1), (2, 1, 3)], ["d", "F"])
    check_calls(f"fft.{name}", calls[:5], values("d", (2, 3)), mapped=name[-1] not in "2n")
    if name.strip("2n") not in ("rfft", "ihfft"):
        for call in calls[:3]:
            assert vt.autograd.gradcheck(
                partial(call, getattr(fft, name)), (array(values("D", (2, 3)), grad=True),)
            )


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_into_out(name: str) -> None:
    x = values("d", (4, 4))
    mine: Any = getattr(fft, name)
    theirs: Any = getattr(np.fft, name)
    # Some of NumPy's pay no heed to `out`.
    out, right = array(theirs(x) * 0), theirs(x) * 0
    found, wanted = mine(array(x), out=out), theirs(x, out=right)
    assert (found is out) is (wanted is right)
    assert_same(found, wanted)
    assert_same(out, right)
    recorded = array(theirs(x) * 0)
    assert mine(array(x, grad=True), out=recorded) is recorded
    assert recorded.requires_grad
    assert_same(recorded.detach(), theirs(x))


def test_every_name_of_numpy_is_there() -> None:
    assert set(fft.__all__) == set(np.fft.__all__)
