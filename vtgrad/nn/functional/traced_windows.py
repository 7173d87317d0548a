"""Windows by operators, for the pattern of a Jacobian.

Note [Windows while a pattern is found]

A custom Function is dense to a tracer of patterns, so the Functions that windows are made of would
hide that each result depends on a few elements. While a tracer is on, the elements under the kernel
are selected by an operator, and added to their places by another one: both say which element goes
where. The values are those of the Functions to rounding.
"""

from __future__ import annotations

import math

from vtgrad.later.beside import beside
from vtgrad.nn.functional.window_geometry import Geometry
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.tensor.tensor import Tensor

__all__ = ["traced_columns", "traced_fold", "traced_input", "traced_output", "traced_weight"]


def traced_columns(x: Tensor, geometry: Geometry, outside: float = 0.0) -> Tensor:
    """The elements of each window in a column, of shape ``(..., kernel, out)``.

    Parameters
    ----------
    x : Tensor
        Of shape ``(..., *size)``.
    outside : float, default 0.0
        What stands for the elements outside.
    """
    lead = _lead(x, geometry)
    flat = F.reshape(x, (*lead, math.prod(geometry.size)))
    whole = F.constant_pad(flat, (0, 1), outside)
    chosen = F.index_select(whole, -1, _index(x, geometry))
    return F.reshape(chosen, (*lead, math.prod(geometry.kernel), math.prod(geometry.out)))


def traced_fold(columns: Tensor, geometry: Geometry) -> Tensor:
    """The sums of what the columns have for each element: the adjoint of `traced_columns`.

    Parameters
    ----------
    columns : Tensor
        Of shape ``(..., kernel, out)``.
    """
    lead = columns._impl.array.shape[:-2]
    count = math.prod(geometry.size)
    flat = F.reshape(columns, (*lead, math.prod(columns._impl.array.shape[-2:])))
    zeros = F.zeros_shaped(F.detach(columns), (*lead, count + 1))
    found = F.narrow(F.index_add(zeros, -1, _index(columns, geometry), flat), -1, 0, count)
    return F.reshape(found, (*lead, *geometry.size))


def traced_output(x: Tensor, w: Tensor, geometry: Geometry) -> Tensor:
    """The convolution, see Note [The three products of a convolution]."""
    found = F.matmul(_matrix(w, geometry), _in_groups(x, geometry))
    samples, channels = x._impl.array.shape[0], w._impl.array.shape[0]
    return F.reshape(found, (samples, channels, *geometry.out))


def traced_input(w: Tensor, y: Tensor, geometry: Geometry) -> Tensor:
    """Its transpose."""
    columns = F.matmul(F.transpose(_matrix(w, geometry), 1, 2), _outputs(y, geometry))
    channels = w._impl.array.shape[1] * geometry.groups
    shape = (y._impl.array.shape[0], channels, math.prod(geometry.kernel), math.prod(geometry.out))
    return traced_fold(F.reshape(columns, shape), geometry)


def traced_weight(x: Tensor, y: Tensor, geometry: Geometry) -> Tensor:
    """The gradient of the weight."""
    turned = F.transpose(_in_groups(x, geometry), 2, 3)
    found = F.sum_dim_IntList(F.matmul(_outputs(y, geometry), turned), (0,))
    rows, channels = y._impl.array.shape[1], x._impl.array.shape[1] // geometry.groups
    return F.reshape(found, (rows, channels, *geometry.kernel))


def _lead(x: Tensor, geometry: Geometry) -> Shape:
    shape: Shape = x._impl.array.shape
    return shape[: len(shape) - len(geometry.size)]


def _matrix(w: Tensor, geometry: Geometry) -> Tensor:
    """The weight, of shape ``(groups, rows, channels * kernel)``."""
    shape = w._impl.array.shape
    return F.reshape(w, (geometry.groups, shape[0] // geometry.groups, math.prod(shape[1:])))


def _in_groups(x: Tensor, geometry: Geometry) -> Tensor:
    """The columns, of shape ``(N, groups, channels * kernel, out)``."""
    samples, channels = x._impl.array.shape[:2]
    inner = channels // geometry.groups * math.prod(geometry.kernel)
    shape = (samples, geometry.groups, inner, math.prod(geometry.out))
    return F.reshape(traced_columns(x, geometry), shape)


def _outputs(y: Tensor, geometry: Geometry) -> Tensor:
    samples, rows = y._impl.array.shape[:2]
    places = math.prod(geometry.out)
    return F.reshape(y, (samples, geometry.groups, rows // geometry.groups, places))


def _index(like: Tensor, geometry: Geometry) -> Tensor:
    """By place in the kernel and window, the number of the element; that behind all if outside."""
    ndim = len(geometry.size)
    number = making.zeros((1,) * (2 * ndim), "int64")
    is_outside = making.zeros((1,) * (2 * ndim), "bool")
    for nr in range(ndim):
        at: Array = making.arange(geometry.kernel[nr])[:, None] * geometry.dilation[nr]
        at = at + making.arange(geometry.out[nr]) * geometry.stride[nr] - geometry.padding[nr]
        shape = [1] * (2 * ndim)
        shape[nr], shape[ndim + nr] = at.shape
        at = at.reshape(shape)
        is_outside = is_outside | (at < 0) | (at >= geometry.size[nr])
        number = number * geometry.size[nr] + at
    number[is_outside] = math.prod(geometry.size)
    return beside(like, number.reshape(-1))
