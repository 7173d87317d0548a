"""``out=``: whose shape is taken on, and who is told."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

from .support import differs_from_torch, ramp, vt


def test_out_with_elements_that_takes_on_another_shape_is_told() -> None:
    out = ramp(3)
    with pytest.warns(UserWarning, match="shape") as caught:
        result = vt.add(ramp(2), 1, out=out)
    assert caught[0].filename == __file__
    assert result is out
    assert out.tolist() == [2, 3]
    assert out._version == 1


def test_each_of_several_outs_is_told() -> None:
    values, places = ramp(3), vt.zeros(1, dtype=vt.int64)
    with pytest.warns(UserWarning, match="shape") as caught:
        vt.sort(ramp(2), out=(values, places))
    assert len(caught) == 2
    assert values.tolist() == [1, 2]
    assert places.tolist() == [0, 1]


SILENT: dict[str, Callable[[], vt.Tensor]] = {
    "of the result's shape": lambda: vt.add(ramp(2), 1, out=ramp(2)),
    "without elements": lambda: vt.add(ramp(2), 1, out=vt.zeros(0, dtype=vt.float64)),
    "of a factory": lambda: vt.ones(2, out=vt.zeros(3)),
}


@pytest.mark.parametrize("store", SILENT.values(), ids=SILENT)
def test_nothing_is_told_of_an_out(store: Callable[[], vt.Tensor]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store().shape == (2,)


@differs_from_torch("an error leaves everything as it was")
def test_a_warning_that_is_an_error_leaves_everything_as_it_was() -> None:
    out = ramp(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="shape"):
            vt.add(ramp(2), 1, out=out)
    assert out.shape == (3,)
    assert out.tolist() == [1, 2, 3]
    assert out._version == 0
