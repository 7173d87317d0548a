"""Linear filters with a recursion: one of any order, and one of sections of the second order."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import TypeAlias, overload

import numpy as np

from vtgrad.errors import ShapeError
from vtgrad.function.batched_apply import VmapInfo
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.signal.on_cpu import refuse_lanes
from vtgrad.signal.operands import coefficients_of, in_one_dtype
from vtgrad.signal.recursion import apply_filter, filtered, gradients_of_filter
from vtgrad.signal.scipy_signal import scipy_signal
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.integers import index_of
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.shapes import normalize_dim
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor

__all__ = ["lfilter", "sosfilt"]

Coefficients: TypeAlias = Tensor | Array | Sequence[float | complex | Tensor]
Sections: TypeAlias = Tensor | Array | Sequence[Sequence[float | Tensor]] | Sequence[Tensor]


@overload
def lfilter(
    b: Coefficients, a: Coefficients, x: Tensor, axis: int = -1, zi: None = None
) -> Tensor: ...
@overload
def lfilter(
    b: Coefficients, a: Coefficients, x: Tensor, axis: int = -1, *, zi: Tensor
) -> tuple[Tensor, Tensor]: ...
@explained
def lfilter(
    b: Coefficients, a: Coefficients, x: Tensor, axis: int = -1, zi: Tensor | None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """Filter values along a dimension, with SciPy's ``scipy.signal.lfilter``.

    ``a[0] y[n] + a[1] y[n - 1] + ... = b[0] x[n] + b[1] x[n - 1] + ...``. The filter is one node of
    the graph, however many values there are; its gradient is that of a filter which runs backwards.
    The result is differentiable by `b`, `a`, `x` and `zi`.

    Parameters
    ----------
    b, a : Tensor, ndarray or sequence of number
        The coefficients of the numerator and of the denominator, in one dimension each.
    x : Tensor
        The values.
    axis : int, default -1
        The dimension of time.
    zi : Tensor, optional
        The state before the first value, as `lfilter` has returned it: ``max(len(a), len(b)) - 1``
        elements along `axis`; other dimensions broadcast to those of `x`. By default zeros.

    Returns
    -------
    Tensor or (Tensor, Tensor)
        The values, in the shape of `x`: a view of a new tensor, which holds the state too. With
        `zi` the state behind the last value as well.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    ShapeError
        If a shape is not possible.
    OptionValueError
        If ``a[0]`` is zero.
    DTypeError
        If the values are float16.

    Examples
    --------
    >>> x = vt.tensor([1.0, 0.0, 0.0, 0.0], requires_grad=True)
    >>> y = vt.signal.lfilter([1.0], [1.0, -0.5], x)
    >>> y
    tensor([1.0000, 0.5000, 0.2500, 0.1250], grad_fn=<SliceBackward0>)
    >>> y.sum().backward()
    >>> x.grad
    tensor([1.8750, 1.7500, 1.5000, 1.0000])
    """
    refuse_names("lfilter", b, a, x, zi)
    refuse_lanes("lfilter", b, a, x, zi)
    dim = _dimension(x, axis)
    numerator, denominator = coefficients_of(b, x), coefficients_of(a, x)
    for name, one in (("b", numerator), ("a", denominator)):
        if one.ndim != 1 or not one.shape[0]:
            raise ShapeError(
                f"the coefficients {name} must be in one dimension, not in shape {list(one.shape)}",
                shape=one.shape,
            )
    count = max(numerator.shape[0], denominator.shape[0])
    states = () if zi is None else (zi,)
    numerator, denominator, x, *states_ = in_one_dtype(numerator, denominator, x, *states)
    numerator, denominator = _in_count(numerator, count), _in_count(denominator, count)
    moved = _time_last(x, dim)
    first = F.select(denominator, 0, 0)
    if zi is None:
        state = from_numpy(making.zeros(count - 1, x._impl.array.dtype))
    else:
        state = _checked_state(states_[0], dim, count - 1, x)
        # SciPy's state is that of coefficients divided by the first one.
        state = F.mul(_time_last(state, dim), first)
    joint = apply_filter(numerator, denominator, moved, state)
    size = moved.shape[-1]
    y = _time_back(F.narrow(joint, -1, 0, size), dim)
    if zi is None:
        return y
    return y, _time_back(F.div(F.narrow(joint, -1, size, count - 1), first), dim)


@overload
def sosfilt(sos: Sections, x: Tensor, axis: int = -1, zi: None = None) -> Tensor: ...
@overload
def sosfilt(sos: Sections, x: Tensor, axis: int = -1, *, zi: Tensor) -> tuple[Tensor, Tensor]: ...
@explained
def sosfilt(
    sos: Sections, x: Tensor, axis: int = -1, zi: Tensor | None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """Filter values by sections of the second order, with SciPy's ``scipy.signal.sosfilt``.

    Each section is the filter of `lfilter` with three coefficients, and takes what the one before
    it has made. All of them are one node of the graph.

    Parameters
    ----------
    sos : Tensor, ndarray or sequence of sequences of number
        A row for each section: three coefficients of the numerator, three of the denominator.
        SciPy wants the fourth to be 1; here each row is divided by it.
    x : Tensor
        The values.
    axis : int, default -1
        The dimension of time.
    zi : Tensor, optional
        The state before the first value: a dimension of sections, then the dimensions of `x`, with
        two elements along `axis`. By default zeros.

    Returns
    -------
    Tensor or (Tensor, Tensor)
        The values, in a new tensor of the shape of `x`; with `zi` the state behind the last one
        too.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    ShapeError
        If a shape is not possible.
    DTypeError
        If the values are float16.

    Examples
    --------
    >>> sections = [[1.0, 0.0, 0.0, 1.0, -0.5, 0.0], [1.0, 1.0, 0.0, 1.0, 0.0, 0.0]]
    >>> vt.signal.sosfilt(sections, vt.tensor([1.0, 0.0, 0.0]))
    tensor([1.0000, 1.5000, 0.7500])
    """
    refuse_names("sosfilt", sos, x, zi)
    refuse_lanes("sosfilt", sos, x, zi)
    dim = _dimension(x, axis)
    sections = coefficients_of(sos, x)
    if sections.ndim != 2 or sections.shape[1] != 6 or not sections.shape[0]:
        raise ShapeError(
            f"sections must be rows of six coefficients, not of shape {list(sections.shape)}",
            shape=sections.shape,
        )
    count = sections.shape[0]
    states = () if zi is None else (zi,)
    sections, x, *states_ = in_one_dtype(sections, x, *states)
    sections = F.div(sections, F.narrow(sections, 1, 3, 1))
    moved = _time_last(x, dim)
    if zi is None:
        state = from_numpy(making.zeros((count, *moved.shape[:-1], 2), x._impl.array.dtype))
    else:
        state = states_[0]
        shape = list(x.shape)
        shape[dim] = 2
        if state.shape != (count, *shape):
            raise ShapeError(
                f"zi must have the shape {[count, *shape]}, not {list(state.shape)}",
                shape=state.shape,
            )
        state = _time_last(state, dim + 1)
    y, after = _Cascade.apply(sections, moved, state)
    y = _time_back(y, dim)
    return y if zi is None else (y, _time_back(after, dim + 1))


class _Cascade(Function):
    """Sections one after the other; see Note [The recursion of a filter].

    Backward makes the values between the sections again.
    """

    @staticmethod
    def forward(sos: Tensor, x: Tensor, zi: Tensor) -> tuple[Tensor, Tensor]:
        sections, values, state = (resolved(t._impl.array) for t in (sos, x, zi))
        if sections.ndim == 2 and values.size:
            y, after = making.call(scipy_signal().sosfilt, sections, values, zi=state)
            return from_numpy(y), from_numpy(after)
        # Each sample of a batch has sections of its own.
        size = values.shape[-1]
        states = []
        for nr in range(sections.shape[-2]):
            row = sections[..., nr, :]
            joint = filtered(row[..., :3], row[..., 3:], values, state[nr])
            values = joint[..., :size]
            states.append(joint[..., size:])
        return from_numpy(making.ascontiguousarray(values)), from_numpy(np.stack(states))

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[object, ...], output: object) -> None:
        sos, x, zi = typing.cast("tuple[Tensor, ...]", inputs)
        ctx.save_for_backward(sos, x, zi)
        ctx.save_for_forward(sos, x, zi)

    @staticmethod
    def backward(ctx: FunctionCtx, of_y: Tensor, of_zf: Tensor) -> tuple[Tensor | None, ...]:
        sos, values, zi = ctx.saved_tensors
        needs_rows = ctx.needs_input_grad[0]
        size = values.shape[-1]
        between = [values]
        rows = _rows(sos)
        for nr, (b, a) in enumerate(rows if needs_rows else ()):
            joint = apply_filter(b, a, between[-1], F.select(zi, 0, nr))
            between.append(F.narrow(joint, -1, 0, size))
        of_rows, of_states = [], []
        grad = of_y
        for nr in reversed(range(len(rows))):
            b, a = rows[nr]
            both = F.cat([grad, F.select(of_zf, 0, nr)], -1)
            x, y = (between[nr], between[nr + 1]) if needs_rows else (None, None)
            of_b, of_a, grad, of_zi = gradients_of_filter(b, a, x, y, both)
            of_states.append(of_zi)
            if of_b is not None and of_a is not None:
                of_row = F.cat([of_b, of_a], -1)
                lead = tuple(range(of_row.ndim - sos.ndim + 1))
                of_rows.append(F.sum_dim_IntList(of_row, lead) if lead else of_row)
        states = F.stack(of_states[::-1], 0)
        return (F.stack(of_rows[::-1], -2) if needs_rows else None, grad, states)

    @staticmethod
    def jvp(ctx: FunctionCtx, dsos: Tensor, dx: Tensor, dzi: Tensor) -> tuple[Tensor, Tensor]:
        sos, x, zi = ctx.saved_tensors
        size = x.shape[-1]
        states = []
        none = from_numpy(making.zeros(2, x._impl.array.dtype))
        for nr, ((b, a), (db, da)) in enumerate(zip(_rows(sos), _rows(dsos), strict=True)):
            y = F.narrow(apply_filter(b, a, x, F.select(zi, 0, nr)), -1, 0, size)
            joint = apply_filter(b, a, dx, F.select(dzi, 0, nr))
            joint = joint + apply_filter(db, a, x, none) - apply_filter(da, a, y, none)
            x, dx = y, F.narrow(joint, -1, 0, size)
            states.append(F.narrow(joint, -1, size, 2))
        return dx, F.stack(states, 0)

    @staticmethod
    def vmap(
        info: VmapInfo, in_dims: Sequence[int | None], sos: Tensor, x: Tensor, zi: Tensor
    ) -> tuple[tuple[Tensor, Tensor], tuple[int, int]]:
        count = info.batch_size
        of_sos, of_x, of_zi = in_dims
        if of_sos is not None:
            sos = F.movedim(sos, of_sos, 0)
            # Dimensions of size 1 stand for those that a sample of `x` has in front of time, and a
            # sample of the sections, which are an inner batch, has not.
            ones = [1] * (x.ndim - (of_x is not None) - 1 - (sos.ndim - 3))
            sos = F.reshape(sos, (count, *ones, *sos.shape[1:]))
        x = F.unsqueeze(x, 0) if of_x is None else F.movedim(x, of_x, 0)
        x = F.expand(x, (count, *x.shape[1:]))
        zi = F.unsqueeze(zi, 1) if of_zi is None else F.movedim(zi, of_zi, 1)
        zi = F.expand(zi, (zi.shape[0], count, *zi.shape[2:]))
        return _Cascade.apply(sos, x, zi), (0, 1)


def _rows(sos: Tensor) -> list[tuple[Tensor, Tensor]]:
    """The coefficients of each section."""
    rows = [F.select(sos, -2, nr) for nr in range(sos.shape[-2])]
    return [(F.narrow(row, -1, 0, 3), F.narrow(row, -1, 3, 3)) for row in rows]


def _dimension(x: Tensor, axis: int) -> int:
    array = array_of(x, "x")
    if not array.ndim:
        raise ShapeError("a filter needs a dimension of time, and x is 0-d", shape=())
    return normalize_dim(index_of(axis, "axis"), array.ndim)


def _time_last(x: Tensor, dim: int) -> Tensor:
    return x if dim == x.ndim - 1 else F.movedim(x, dim, -1)


def _time_back(x: Tensor, dim: int) -> Tensor:
    return x if dim == x.ndim - 1 else F.movedim(x, -1, dim)


def _in_count(coefficients: Tensor, count: int) -> Tensor:
    """The coefficients, with zeros behind them."""
    missing = count - coefficients.shape[0]
    if not missing:
        return coefficients
    return F.cat([coefficients, F.zeros_shaped(coefficients, (missing,))], 0)


def _checked_state(zi: Tensor, dim: int, order: int, x: Tensor) -> Tensor:
    shape = list(x.shape)
    shape[dim] = order
    fits = zi.ndim == x.ndim and all(
        size in (1, wanted) if nr != dim else size == wanted
        for nr, (size, wanted) in enumerate(zip(zi.shape, shape, strict=False))
    )
    if not fits:
        raise ShapeError(
            f"zi must have the shape {shape}, not {list(zi.shape)}", shape=tuple(zi.shape)
        )
    return zi
