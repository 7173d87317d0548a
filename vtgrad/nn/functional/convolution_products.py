"""The three products that convolutions, their transposes and their derivatives are made of.

Note [The three products of a convolution]

An input x, a weight w and an output y meet in one sum of products,
``x[n, g, c, s o + d k - p] w[g, m, c, k] y[n, g, m, o]``, over samples n, groups g, channels c and
m, places k in the kernel and o in the output, with stride s, dilation d and padding p. What is left
when one of the three is taken out is a product of the other two: without y it is the convolution,
without x its transpose, without w the gradient of the weight. So the derivative of each product by
one of its operands is another of the three, of the gradient and of the conjugate of the other
operand, and nothing else is needed for derivatives of any order.

Each is made of one matrix product per group. The elements of x under the kernel, at all places, are
the columns of a matrix; they are copied for a few samples at a time, so that the copy is small.
Elements outside of x are zeros; those that no kernel reaches have no part in the sum.

Samples of `vmap` are further samples n where the weight is the same for all of them, and further
groups otherwise.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence
from types import EllipsisType
from typing import Final, Literal, TypeAlias

import numpy as np

from vtgrad.function.batched_apply import VmapInfo
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.later.beside import beside
from vtgrad.nn.functional.shifted_columns import (
    FEW_PLACES,
    are_shifts,
    input_of_shifts,
    output_of_shifts,
    weight_of_shifts,
)
from vtgrad.nn.functional.traced import is_traced
from vtgrad.nn.functional.traced_windows import traced_input, traced_output, traced_weight
from vtgrad.nn.functional.window_geometry import Geometry
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "cut_out",
    "fold_into",
    "part_at",
    "placed_under",
    "product_for",
    "windows_of",
]

Role: TypeAlias = Literal["x", "w", "y"]

# How many bytes of columns are made at a time: few beside a large input, and yet so many that the C
# library keeps memory of that size, which it would return to the system after each pass otherwise.
_BYTES: Final = 6_000_000


class _Context(FunctionCtx):
    geometry: Geometry
    roles: tuple[Role, Role, Role]


def product_for(result: Role, first: Tensor, second: Tensor, geometry: Geometry) -> Tensor:
    """The product for a role, of the other two in the order x, w, y, recorded as one node.

    While a pattern is found it is made of operators: Note [Windows while a pattern is found].
    """
    if not is_traced():
        return _Product.apply(first, second, result, geometry)
    by_operators = {"x": traced_input, "w": traced_weight, "y": traced_output}
    return by_operators[result](first, second, geometry)


class _Product(Function):
    """See Note [The three products of a convolution]."""

    @staticmethod
    def forward(first: Tensor, second: Tensor, result: Role, geometry: Geometry) -> Tensor:
        one, two = resolved(first._impl.array), resolved(second._impl.array)
        dtype = one.dtype
        if dtype == np.float16:
            # Sums of many products lose too much in half precision.
            one, two = one.astype(np.float32), two.astype(np.float32)
        if result == "y":
            found = _output(one, two, geometry)
        elif result == "x":
            found = _input(one, two, geometry)
        else:
            found = _weight(one, two, geometry)
        return beside(first, found.astype(dtype, copy=False))

    @staticmethod
    def setup_context(ctx: _Context, inputs: tuple[object, ...], output: object) -> None:
        first, second, result, geometry = typing.cast(
            "tuple[Tensor, Tensor, Role, Geometry]", inputs
        )
        ctx.geometry = geometry
        ctx.roles = (*_operands(result), result)
        of_first, of_second = ctx.needs_input_grad[:2]
        ctx.save_for_backward(first if of_second else None, second if of_first else None)
        ctx.save_for_forward(first, second)

    @staticmethod
    def backward(ctx: _Context, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        first, second = typing.cast("tuple[Tensor | None, ...]", ctx.saved_tensors)
        one, two, result = ctx.roles
        of_first = of_second = None
        if ctx.needs_input_grad[0]:
            assert second is not None
            of_first = _product(one, {result: grad, two: F.conj(second)}, ctx.geometry)
        if ctx.needs_input_grad[1]:
            assert first is not None
            of_second = _product(two, {result: grad, one: F.conj(first)}, ctx.geometry)
        return of_first, of_second, None, None

    @staticmethod
    def jvp(ctx: _Context, dfirst: Tensor | None, dsecond: Tensor | None, *rest: None) -> Tensor:
        first, second = ctx.saved_tensors
        result = ctx.roles[2]
        parts = []
        if dfirst is not None:
            parts.append(product_for(result, dfirst, second, ctx.geometry))
        if dsecond is not None:
            parts.append(product_for(result, first, dsecond, ctx.geometry))
        return parts[0] if len(parts) == 1 else F.add(parts[0], parts[1])

    @staticmethod
    def vmap(
        info: VmapInfo,
        in_dims: Sequence[int | None],
        first: Tensor,
        second: Tensor,
        result: Role,
        geometry: Geometry,
    ) -> tuple[Tensor, int]:
        roles = _operands(result)
        batched = {
            role: (x, dim) for role, x, dim in zip(roles, (first, second), in_dims, strict=False)
        }
        if result != "w" and batched["w"][1] is None:
            return _more_samples(result, batched, geometry)
        return _more_groups(result, batched, geometry, info.batch_size)


def _operands(result: Role) -> tuple[Role, Role]:
    if result == "x":
        return ("w", "y")
    return ("x", "w") if result == "y" else ("x", "y")


def _product(result: Role, by_role: dict[Role, Tensor], geometry: Geometry) -> Tensor:
    one, two = _operands(result)
    return product_for(result, by_role[one], by_role[two], geometry)


_Batched: TypeAlias = dict[Role, tuple[Tensor, int | None]]


def _more_samples(result: Role, batched: _Batched, geometry: Geometry) -> tuple[Tensor, int]:
    """One product for all, whose samples are those of the batch."""
    operands = {}
    for role, (x, dim) in batched.items():
        if dim is not None:
            x = F.movedim(x, dim, 0)
            count, samples = x.shape[:2]
            x = F.reshape(x, (count * samples, *x.shape[2:]))
        operands[role] = x
    found = _product(result, operands, geometry)
    return F.reshape(found, (count, samples, *found.shape[1:])), 0


def _more_groups(
    result: Role, batched: _Batched, geometry: Geometry, count: int
) -> tuple[Tensor, int]:
    """One product for all, with groups for each sample of the batch."""
    operands = {}
    for role, (x, dim) in batched.items():
        x = F.unsqueeze(x, 0) if dim is None else F.movedim(x, dim, 0)
        x = F.expand(x, (count, *x.shape[1:]))
        if role != "w":
            x = F.transpose(x, 0, 1)
        lead, rest = x.shape[: 0 if role == "w" else 1], x.shape[(2 if role == "w" else 3) :]
        channels = count * x.shape[len(lead) + 1]
        operands[role] = F.reshape(x, (*lead, channels, *rest))
    groups = geometry.groups
    found = _product(result, operands, geometry._replace(groups=groups * count))
    axis = 0 if result == "w" else 1
    shape = found.shape
    parts = (count, shape[axis] // max(count, 1))
    return F.reshape(found, (*shape[:axis], *parts, *shape[axis + 1 :])), axis


def _last(parts: Sequence[slice]) -> tuple[slice | EllipsisType, ...]:
    """An index of the last dimensions."""
    return (..., *parts)


def windows_of(x: Array, geometry: Geometry) -> Array:
    """A view of the places under the kernel, in the shape ``(N, C, *kernel, *out)``.

    Parameters
    ----------
    x : numpy.ndarray
        The input, of shape ``(N, C, *size)``.
    """
    x = placed_under(x, geometry)
    lead, steps = x.strides[:2], x.strides[2:]
    of_kernel = [d * step for d, step in zip(geometry.dilation, steps, strict=True)]
    of_out = [s * step for s, step in zip(geometry.stride, steps, strict=True)]
    shape = (*x.shape[:2], *geometry.kernel, *geometry.out)
    return making.as_strided(x, shape, (*lead, *of_kernel, *of_out), writeable=False)


def placed_under(x: Array, geometry: Geometry) -> Array:
    """The places under the kernel: the elements of the input, and zeros outside of it.

    Parameters
    ----------
    x : numpy.ndarray
        The input, of shape ``(..., *size)``.

    Returns
    -------
    numpy.ndarray
        Of shape ``(..., *reached)``; a view of `x` if all places are in the input.
    """
    reached = geometry.reached()
    inside, outside = _meeting(geometry, reached)
    if all(part == slice(0, whole) for part, whole in zip(outside, reached, strict=True)):
        return x[_last(inside)]
    placed = making.zeros((*x.shape[: x.ndim - len(reached)], *reached), x.dtype)
    placed[_last(outside)] = x[_last(inside)]
    return placed


def _meeting(
    geometry: Geometry, reached: tuple[int, ...]
) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """The part of the input that lies under the kernel, and where it lies there."""
    inside, outside = [], []
    for size, padding, whole in zip(geometry.size, geometry.padding, reached, strict=True):
        start = max(0, -padding)
        stop = max(start, min(size, whole - padding))
        inside.append(slice(start, stop))
        first = min(start + padding, whole)
        outside.append(slice(first, first + stop - start))
    return tuple(inside), tuple(outside)


def fold_into(placed: Array, columns: Array, geometry: Geometry) -> None:
    """Add values at the places under the kernel to those places: the adjoint of `windows_of`.

    Parameters
    ----------
    placed : numpy.ndarray
        What is written, of shape ``(N, C, *reached)``.
    columns : numpy.ndarray
        The values, of shape ``(N, C, *kernel, *out)``.
    """
    ndim = len(geometry.kernel)
    axis = 1 + ndim
    # One dimension after the other, so that most additions are along whole rows of memory.
    for nr, places in enumerate(geometry.reached()):
        target = placed
        if nr < ndim - 1:
            shape = [*columns.shape[:2], *columns.shape[3:]]
            shape[axis] = places
            target = making.zeros(tuple(shape), columns.dtype)
        for k in range(geometry.kernel[nr]):
            part = part_at(target, axis, geometry, nr, k)
            np.add(part, columns[:, :, k], out=part)
        columns = target


def part_at(x: Array, axis: int, geometry: Geometry, nr: int, k: int) -> Array:
    """The elements that are under place k of the kernel, along a dimension of space.

    Parameters
    ----------
    x : numpy.ndarray
        The places under the kernel.
    axis, nr : int
        The dimension, of the array and among those of space.
    """
    start, step, count = k * geometry.dilation[nr], geometry.stride[nr], geometry.out[nr]
    part = slice(start, start + (count - 1) * step + 1 if count else start, step)
    found: Array = x[(slice(None),) * axis + (part,)]
    return found


def _in_groups(x: Array, groups: int) -> Array:
    """The channels as groups of channels, and all places in one dimension."""
    channels = x.shape[1] // groups
    return x.reshape(x.shape[0], groups, channels, math.prod(x.shape[2:]))


def _chunks(count: int, bytes_of_one: int) -> list[slice]:
    """The samples in parts whose columns are small."""
    step = max(1, _BYTES // max(bytes_of_one, 1))
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def _buffer(parts: Sequence[slice], windows: Array) -> Array | None:
    """Memory for the columns of each part in turn; None where the elements are columns."""
    if not parts or math.prod(windows.shape[2 : windows.ndim // 2 + 1]) == 1:
        return None
    return making.empty((parts[0].stop, *windows.shape[1:]), windows.dtype)


def _copied(windows: Array, buffer: Array | None) -> Array:
    if buffer is None:
        return windows
    copied = buffer[: windows.shape[0]]
    copied[...] = windows
    return copied


def _are_small(geometry: Geometry) -> bool:
    """Whether a product for each sample would have too few columns to be fast."""
    return math.prod(geometry.out) < FEW_PLACES


def _columns_beside(windows: Array, geometry: Geometry) -> Array:
    """The columns of samples beside each other, of shape ``(groups, inner, n * places)``."""
    ndim = len(geometry.kernel)
    order = (1, *range(2, 2 + ndim), 0, *range(2 + ndim, 2 + 2 * ndim))
    inner = math.prod(windows.shape[1 : 2 + ndim]) // geometry.groups
    width = windows.shape[0] * math.prod(geometry.out)
    return windows.transpose(order).reshape(geometry.groups, inner, width)


def _outputs_beside(outputs: Array) -> Array:
    """From ``(n, groups, rows, places)`` to ``(groups, rows, n * places)``."""
    count, groups, rows, places = outputs.shape
    return outputs.transpose(1, 2, 0, 3).reshape(groups, rows, count * places)


def _fold_beside(placed: Array, columns: Array, geometry: Geometry) -> None:
    """Add columns of samples beside each other to the places under the kernel."""
    count, channels = placed.shape[:2]
    samples = 1 + len(geometry.kernel)
    shape = (channels, *geometry.kernel, count, *geometry.out)
    fold_into(placed, np.moveaxis(columns.reshape(shape), samples, 0), geometry)


def _output(x: Array, w: Array, geometry: Geometry) -> Array:
    """The convolution: the sum without y."""
    groups, count = geometry.groups, x.shape[0]
    rows, inner = w.shape[0] // groups, math.prod(w.shape[1:])
    places = math.prod(geometry.out)
    matrix = w.reshape(groups, rows, inner)
    shape = (count, w.shape[0], *geometry.out)
    if are_shifts(geometry):
        return output_of_shifts(x, matrix, geometry).reshape(shape)
    windows = windows_of(x, geometry)
    found = making.empty((count, groups, rows, places), x.dtype)
    if _are_small(geometry):
        for part in _chunks(count, groups * inner * places * x.itemsize):
            size = part.stop - part.start
            product = np.matmul(matrix, _columns_beside(windows[part], geometry))
            product = product.reshape(groups, rows, size, places)
            found[part] = product.transpose(2, 0, 1, 3)
        return found.reshape(shape)
    parts = _chunks(count, groups * inner * places * x.itemsize)
    copied = _buffer(parts, windows)
    for part in parts:
        size = part.stop - part.start
        columns = _copied(windows[part], copied).reshape(size, groups, inner, places)
        np.matmul(matrix, columns, out=found[part])
    return found.reshape(shape)


def _input(w: Array, y: Array, geometry: Geometry) -> Array:
    """The transpose: the sum without x."""
    groups, count = geometry.groups, y.shape[0]
    rows, channels, inner = w.shape[0] // groups, w.shape[1], math.prod(w.shape[1:])
    matrix = w.reshape(groups, rows, inner).swapaxes(1, 2)
    outputs = _in_groups(y, groups)
    if are_shifts(geometry):
        return input_of_shifts(matrix, outputs, geometry)
    reached = geometry.reached()
    placed = making.zeros((count, groups * channels, *reached), y.dtype)
    parts = _chunks(count, groups * inner * outputs.shape[3] * y.itemsize)
    if _are_small(geometry):
        for part in parts:
            product = np.matmul(matrix, _outputs_beside(outputs[part]))
            _fold_beside(placed[part], product, geometry)
        return cut_out(placed, geometry)
    columns = making.empty(
        (parts[0].stop if parts else 0, groups, inner, outputs.shape[3]), y.dtype
    )
    shape = (columns.shape[0], groups * channels, *geometry.kernel, *geometry.out)
    for part in parts:
        size = part.stop - part.start
        np.matmul(matrix, outputs[part], out=columns[:size])
        fold_into(placed[part], columns.reshape(shape)[:size], geometry)
    return cut_out(placed, geometry)


def cut_out(placed: Array, geometry: Geometry) -> Array:
    """The input among the places under the kernel, with zeros where it is not: a new array.

    Parameters
    ----------
    placed : numpy.ndarray
        The places under the kernel, of shape ``(..., *reached)``.
    """
    ndim = len(geometry.size)
    inside, outside = _meeting(geometry, placed.shape[-ndim:])
    found = placed[_last(outside)]
    if all(part == slice(0, whole) for part, whole in zip(inside, geometry.size, strict=True)):
        return making.ascontiguousarray(found)
    whole = making.zeros((*placed.shape[:-ndim], *geometry.size), placed.dtype)
    whole[_last(inside)] = found
    return whole


def _weight(x: Array, y: Array, geometry: Geometry) -> Array:
    """The gradient of the weight: the sum without w."""
    groups, count = geometry.groups, x.shape[0]
    outputs = _in_groups(y, groups)
    channels, rows, places = x.shape[1] // groups, outputs.shape[2], outputs.shape[3]
    inner = channels * math.prod(geometry.kernel)
    if are_shifts(geometry):
        found = weight_of_shifts(x, outputs, geometry)
        return found.reshape(groups * rows, channels, *geometry.kernel)
    windows = windows_of(x, geometry)
    found = making.zeros((groups, rows, inner), x.dtype)
    columns = None
    for part in _chunks(count, groups * inner * places * x.itemsize):
        # The memory of the columns before is free for these.
        del columns
        columns = _columns_beside(windows[part], geometry)
        left = _outputs_beside(outputs[part])
        found += np.matmul(left, columns.swapaxes(1, 2))
    return found.reshape(groups * rows, channels, *geometry.kernel)
