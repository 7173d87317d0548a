"""What the demo claims to show really happens, and its verdicts can be false."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.demo.data import load_nile
from vtgrad.demo.exhibits import IllegalWrite, show_illegal_write, show_stale_grad_fn
from vtgrad.errors import StaleSavedError

FLOWS = load_nile().flows
START = np.log([28638.0, 28638.0])


def test_stale_view_gets_a_rebuilt_grad_fn() -> None:
    shown = show_stale_grad_fn(START, FLOWS)
    assert shown.holds
    assert (shown.name_before, shown.name_after) == ("SelectBackward0", "AsStridedBackward0")
    assert (shown.version_before, shown.version_after) == (398, 399)
    np.testing.assert_array_equal(shown.gradient_after, 0.25 * shown.gradient_before)


def test_stale_exhibit_fails_when_the_write_is_not_seen() -> None:
    shown = show_stale_grad_fn(START, FLOWS)
    assert not replace(shown, gradient_after=shown.gradient_before).holds
    assert not replace(shown, version_after=shown.version_before).holds
    zeros = np.zeros(2)
    assert not replace(shown, gradient_before=zeros, gradient_after=zeros).holds


def test_illegal_write_is_caught_before_any_gradient_changes() -> None:
    shown = show_illegal_write(START, FLOWS)
    assert shown.holds
    assert isinstance(shown.error, StaleSavedError)
    assert shown.gradients_untouched


def test_engine_that_meets_the_stale_value_only_on_its_way_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leaves: list[vt.Tensor] = []
    original = vt.tensor

    def recording(data: Any, **options: Any) -> vt.Tensor:
        made = original(data, **options)
        leaves.append(made)
        return made

    def half_way(self: vt.Tensor) -> None:
        # The weight is the last leaf that the exhibit makes before its backward pass, except
        # for the filter's first level, which needs no gradient.
        weight = [leaf for leaf in leaves if leaf.requires_grad][-1]
        weight.grad = original(1.0, dtype=vt.float64)
        raise StaleSavedError("met on the way")

    monkeypatch.setattr(vt, "tensor", recording)
    monkeypatch.setattr(vt.Tensor, "backward", half_way)
    shown = show_illegal_write(START, FLOWS)
    assert str(shown.error) == "met on the way"
    assert not shown.gradients_untouched
    assert not shown.holds


@pytest.mark.parametrize("untouched", [True, False])
def test_unnoticed_write_does_not_hold(untouched: bool) -> None:
    assert not IllegalWrite(None, untouched).holds


def test_error_after_a_changed_gradient_does_not_hold() -> None:
    shown = show_illegal_write(START, FLOWS)
    assert not IllegalWrite(shown.error, gradients_untouched=False).holds
