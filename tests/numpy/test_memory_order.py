"""The order in memory of what is recorded is that of NumPy's result, as `ravel("K")` shows it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import plain, values
from tests.sweeping import sweep

#: On `x` of 3 x 2 x 4, and `y` of the same shape, which is of rows.
CALLS: Final = """
np.sum(x, 1)
np.sum(x, 0, keepdims=True)
np.sum(x, 2, initial=1.0, where=x > 0.5)
np.prod(x, 0)
np.max(x, 1)
np.min(x, 0)
np.ptp(x, 1)
np.mean(x, 1)
np.mean(x, 0, where=x > -1)
np.var(x, 2)
np.std(x, 0, ddof=1)
np.nansum(x, 1)
np.nanmean(x, 0)
np.nanmax(x, 1)
np.nanvar(x, 1)
np.nanstd(x, 2)
np.add.reduce(x, 1)
np.multiply.reduce(x, 0, keepdims=True)
np.average(x, 1, weights=x)
np.linalg.norm(x, axis=1)
np.linalg.norm(x, 1, axis=0, keepdims=True)
np.trapezoid(x, axis=1)
np.cumsum(x, 1)
np.cumulative_sum(x, axis=1, include_initial=True)
np.pad(x, 1)
np.pad(x, 2, mode="edge")
np.pad(x, 1, mode="mean")
np.pad(x, 1, mode="reflect", reflect_type="odd")
np.gradient(x, axis=1)
np.gradient(x, axis=2, edge_order=2)
np.diff(x, axis=0)
np.diff(x, axis=2, prepend=0)
np.diff(x, axis=1, append=x)
np.roll(x, 1)
np.roll(x, 1, 0)
np.unwrap(x)
np.kron(x, x)
np.cross(x[..., :3], x[..., 1:])
np.polyval([1.0, 2.0, 0.5], x)
np.vecdot(x, x)
np.round(x, 1)
np.where(x > 0.5, x, 0)
np.where(x > 0.5, y, x)
np.partition(x, 1, 1).min(1)
x[[True, False, True]]
x[[0, 2]]
x[:, [1, 0]]
x[..., [[3, 0]]]
x[:, [True, False]]
x.imag
"""

LAYOUTS: Final = [(0, 1, 2), (2, 1, 0), (1, 2, 0), (1, 0, 2), (2, 0, 1), (0, 2, 1)]


def laid_out(x: Any, order: tuple[int, ...]) -> Any:
    """An array of either library with its axes in memory in an order."""
    back = [order.index(dim) for dim in range(3)]
    return np.ascontiguousarray(x.transpose(order)).transpose(back)


@sweep(
    [(call, order) for call in CALLS.strip().splitlines() for order in LAYOUTS],
    row=lambda call, order: call,
)
def test_what_is_recorded_lies_in_memory_as_in_numpy(call: str, order: tuple[int, ...]) -> None:
    x, y = values("d", (3, 2, 4)), values("d", (3, 2, 4), 1)
    right = eval(call, {"np": np, "x": laid_out(x, order), "y": y})
    leaf = vnp.array(laid_out(x, order)).requires_grad_()
    found = eval(call, {"np": vnp, "x": leaf, "y": vnp.array(y)})
    np.testing.assert_allclose(plain(found), right, rtol=1e-12)
    assert isinstance(found, vt.Tensor)
    assert order_of(found.detach().numpy()) == order_of(right)


def order_of(x: Any) -> list[int]:
    """The axes of more than one element, the one of the largest step first."""
    axes = [dim for dim in range(x.ndim) if x.shape[dim] > 1]
    return sorted(axes, key=lambda dim: -abs(x.strides[dim]))
