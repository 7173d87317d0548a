"""Gradients of writes to bases with any strides, and that a write costs what it touches."""

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.storage.arrays import Array
from vtgrad.views.copy_slices import CopySlices

STRIDES: dict[str, Callable[[], vt.Tensor]] = {
    "row-major": lambda: vt.zeros(3, 4, dtype=vt.float64),
    "column-major": lambda: vt.zeros(4, 3, dtype=vt.float64).t().detach(),
    "with gaps": lambda: vt.zeros(3, 8, dtype=vt.float64)[:, ::2].detach(),
    "inside a larger storage": lambda: vt.zeros(5, 6, dtype=vt.float64)[1:4, 1:5].detach(),
    "column-major with gaps": lambda: vt.zeros(8, 3, dtype=vt.float64)[::2].t().detach(),
}


def filled(base: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    """Row i is ``w * 2**i``, then column 1 is tripled."""
    base[0] = w
    for i in (1, 2):
        base[i] = base[i - 1] * 2
    base[:, 1].mul_(3)
    return base


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("make", STRIDES.values(), ids=STRIDES)
def test_the_strides_of_a_buffer_do_not_show_in_gradients(
    make: Callable[[], vt.Tensor], create_graph: bool
) -> None:
    w = vt.ones(4, dtype=vt.float64).requires_grad_()
    base = filled(make(), w)
    assert not base._is_view()
    weights = vt.arange(1, 13, dtype=vt.float64).view(3, 4)
    (found,) = vt.autograd.grad((base * weights).sum(), w, create_graph=create_graph)
    # Column j: weights j+1, j+5, j+9 times 1, 2, 4.
    assert found.tolist() == [47.0, 3 * 54.0, 61.0, 68.0]


@pytest.mark.parametrize("make", STRIDES.values(), ids=STRIDES)
def test_an_owned_gradient_with_the_bases_strides_is_replaced_in_place(
    make: Callable[[], vt.Tensor],
) -> None:
    base = make()
    base[1].copy_(vt.ones(4, dtype=vt.float64).requires_grad_())
    slices = base.grad_fn
    assert isinstance(slices, CopySlices)
    grad: Array = make().numpy()
    grad[...] = np.arange(12.0).reshape(3, 4)
    # The gradient of a base that does not need one goes nowhere; let it go somewhere here.
    slices.lead_to((slices.next_edges[1], slices.next_edges[1]))
    assert slices.fn is not None
    slices.fn.lead_like(slices)
    (rest, part), _ = slices.apply_owned(grad, True, False, -1)
    assert rest is grad
    assert grad.tolist() == [[0.0, 1.0, 2.0, 3.0], [0.0] * 4, [8.0, 9.0, 10.0, 11.0]]
    assert isinstance(part, np.ndarray)
    assert part.tolist() == [4.0, 5.0, 6.0, 7.0]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("make", STRIDES.values(), ids=STRIDES)
def test_a_kept_view_that_was_rebuilt_adds_into_its_region_only(
    make: Callable[[], vt.Tensor], create_graph: bool
) -> None:
    w = vt.ones(4, dtype=vt.float64).requires_grad_()
    base = make()
    kept = base[1:]
    base[1] = w
    for _ in range(3):
        kept[1] = kept[0] * 2 + kept[1]  # 2, 4, 6 times w
    node = kept.grad_fn
    assert node is not None
    assert node.name() == "AsStridedBackward0"
    assert node.passes_regions()
    weights = vt.arange(1, 9, dtype=vt.float64).view(2, 4)
    (found,) = vt.autograd.grad((kept * weights).sum(), w, create_graph=create_graph)
    assert found.tolist() == [31.0, 38.0, 45.0, 52.0]
