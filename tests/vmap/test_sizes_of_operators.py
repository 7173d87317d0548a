"""Operators with a size and with sizes: only the sizes say how many dimensions a sample has."""

import pytest

import vtgrad as vt
from vtgrad.ops.rules.batches.by_family import shift


@pytest.mark.parametrize("order", [("size", "input_sizes"), ("input_sizes", "size")])
def test_a_window_at_a_negative_dimension_has_gradients_in_a_batch(
    monkeypatch: pytest.MonkeyPatch, order: tuple[str, str]
) -> None:
    # The names are in a set, whose order differs from process to process.
    monkeypatch.setattr(shift, "SIZES", order)
    x = vt.ones(2, 3, requires_grad=True)
    windows = x.unfold(-1, 2, 1)
    grads = vt.stack([vt.ones(2, 2, 2), 2 * vt.ones(2, 2, 2)])
    (found,) = vt.autograd.grad(windows, x, grads, is_grads_batched=True)
    assert found.tolist() == [[[1, 2, 1]] * 2, [[2, 4, 2]] * 2]
