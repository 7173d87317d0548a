"""The sums of the elements of each window, as one node of the graph.

Note [Sums one dimension at a time]

A window is a product of intervals, so its sum is made one dimension at a time: first over the
interval of the first dimension, then of what that gave over the second, with as many additions as
the sides of the window have, not its area. The adjoint, which gives each element the sum of the
values of the windows that it is in, goes the same way back.
"""

from __future__ import annotations

import typing
from collections.abc import Sequence

import numpy as np

from vtgrad.function.batched_apply import VmapInfo
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.later.beside import beside
from vtgrad.nn.functional.convolution_products import cut_out, part_at, placed_under
from vtgrad.nn.functional.traced import is_traced
from vtgrad.nn.functional.traced_windows import traced_columns
from vtgrad.nn.functional.window_geometry import Geometry
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.tensor import Tensor

__all__ = ["window_sums"]


def window_sums(x: Tensor, geometry: Geometry) -> Tensor:
    """The sum of each window, in the dtype of `x`; outside of `x` there are zeros.

    Parameters
    ----------
    x : Tensor
        Of shape ``(..., *size)``.
    """
    if is_traced():
        sums = F.sum_dim_IntList(traced_columns(x, geometry), (-2,))
        return F.reshape(sums, (*sums._impl.array.shape[:-1], *geometry.out))
    return _Sums.apply(x, geometry)


class _Context(FunctionCtx):
    geometry: Geometry


class _Sums(Function):
    """See Note [Sums one dimension at a time]."""

    @staticmethod
    def forward(x: Tensor, geometry: Geometry) -> Tensor:
        array = resolved(x._impl.array)
        return beside(x, _summed(_wide(array), geometry).astype(array.dtype, copy=False))

    @staticmethod
    def setup_context(ctx: _Context, inputs: tuple[object, ...], output: object) -> None:
        ctx.geometry = typing.cast("Geometry", inputs[1])

    @staticmethod
    def backward(ctx: _Context, grad: Tensor) -> tuple[Tensor, None]:
        return _Spread.apply(grad, ctx.geometry), None

    @staticmethod
    def jvp(ctx: _Context, tangent: Tensor, _: None) -> Tensor:
        return _Sums.apply(tangent, ctx.geometry)

    @staticmethod
    def vmap(
        info: VmapInfo, in_dims: Sequence[int | None], x: Tensor, geometry: Geometry
    ) -> tuple[Tensor, int]:
        assert in_dims[0] is not None
        return _Sums.apply(F.movedim(x, in_dims[0], 0), geometry), 0


class _Spread(Function):
    """The adjoint of `_Sums`."""

    @staticmethod
    def forward(x: Tensor, geometry: Geometry) -> Tensor:
        array = resolved(x._impl.array)
        return beside(x, _spread(_wide(array), geometry).astype(array.dtype, copy=False))

    @staticmethod
    def setup_context(ctx: _Context, inputs: tuple[object, ...], output: object) -> None:
        ctx.geometry = typing.cast("Geometry", inputs[1])

    @staticmethod
    def backward(ctx: _Context, grad: Tensor) -> tuple[Tensor, None]:
        return _Sums.apply(grad, ctx.geometry), None

    @staticmethod
    def jvp(ctx: _Context, tangent: Tensor, _: None) -> Tensor:
        return _Spread.apply(tangent, ctx.geometry)

    @staticmethod
    def vmap(
        info: VmapInfo, in_dims: Sequence[int | None], x: Tensor, geometry: Geometry
    ) -> tuple[Tensor, int]:
        assert in_dims[0] is not None
        return _Spread.apply(F.movedim(x, in_dims[0], 0), geometry), 0


def _wide(x: Array) -> Array:
    """The elements in a dtype in which sums are precise enough."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def _summed(x: Array, geometry: Geometry) -> Array:
    lead = x.ndim - len(geometry.kernel)
    x = placed_under(x, geometry)
    for nr, size in enumerate(geometry.kernel):
        axis = lead + nr
        total = making.array(part_at(x, axis, geometry, nr, 0), order="C")
        for k in range(1, size):
            np.add(total, part_at(x, axis, geometry, nr, k), out=total)
        x = total
    return x


def _spread(x: Array, geometry: Geometry) -> Array:
    lead = x.ndim - len(geometry.kernel)
    reached = geometry.reached()
    for nr in reversed(range(len(geometry.kernel))):
        axis = lead + nr
        whole = making.zeros((*x.shape[:axis], reached[nr], *x.shape[axis + 1 :]), x.dtype)
        for k in range(geometry.kernel[nr]):
            target = part_at(whole, axis, geometry, nr, k)
            np.add(target, x, out=target)
        x = whole
    return cut_out(x, geometry)
