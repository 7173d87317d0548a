"""The recursion of a linear filter, as one node of the graph, and its adjoint.

Note [The recursion of a filter]

A filter with coefficients b and a, of K elements each, makes y from x by ::

    a[0] y[n] + a[1] y[n - 1] + ... = b[0] x[n] + b[1] x[n - 1] + ... + zi[n]

for n from 0 to N - 1, where `zi` is what the values before the first one contribute: it has K - 1
elements. What these values contribute to the ones behind the last is `zf`, with K - 1 elements as
well. With polynomials, of which the coefficients are these sequences, that is one equation,
``a y + z^N zf = b x + zi``. The result is y and zf in one tensor.

Its derivative solves the same equation with other right sides, ``db x + b dx + dzi - da y``. The
adjoint has u, of N + K - 1 elements, which ends with the gradient of zf, and before that is ::

    conj(a[0]) u[n] + conj(a[1]) u[n + 1] + ... = gradient of y[n]

the same recursion backwards in time. With it the gradient of zi is the first K - 1 elements of u;
that of b[k] is the sum of ``conj(x[n]) u[n + k]``, that of a[k] the negative sum with y, and that
of x[n] the sum of ``conj(b[k]) u[n + k]``. So derivatives of every order are made of two functions:
the filter, and sums of products at some distances. A gradient that is not differentiated itself is
computed with arrays, in a third of the time for a thousand values.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence

import numpy as np

from vtgrad.errors import OptionValueError
from vtgrad.function.batched_apply import VmapInfo
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.later.is_plain import is_plain
from vtgrad.ops.generated import functional as F
from vtgrad.signal.scipy_signal import scipy_signal
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor

__all__ = ["apply_filter", "filtered", "gradients_of_filter"]


def apply_filter(b: Tensor, a: Tensor, x: Tensor, zi: Tensor) -> Tensor:
    """`filtered` of tensors, recorded as one node."""
    return _Filter.apply(b, a, x, zi)


class _Filter(Function):
    """`filtered` with derivatives, see Note [The recursion of a filter]."""

    @staticmethod
    def forward(b: Tensor, a: Tensor, x: Tensor, zi: Tensor) -> Tensor:
        return from_numpy(filtered(*[resolved(t._impl.array) for t in (b, a, x, zi)]))

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[object, ...], output: object) -> None:
        b, a, x, _ = typing.cast("tuple[Tensor, ...]", inputs)
        joint = typing.cast("Tensor", output)
        of_b, of_a, _, _ = ctx.needs_input_grad
        # Where the coefficients are constants, the values may be overwritten.
        ctx.save_for_backward(b, a, x if of_b else None, joint if of_a else None)
        ctx.save_for_forward(b, a, x, joint)

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        b, a, x, joint = typing.cast("tuple[Tensor | None, ...]", ctx.saved_tensors)
        assert b is not None
        assert a is not None
        size = grad.shape[-1] - b.shape[-1] + 1
        y = None if joint is None else F.narrow(joint, -1, 0, size)
        return gradients_of_filter(b, a, x, y, grad)

    @staticmethod
    def jvp(ctx: FunctionCtx, db: Tensor, da: Tensor, dx: Tensor, dzi: Tensor) -> Tensor:
        b, a, x, joint = ctx.saved_tensors
        y = F.narrow(joint, -1, 0, x.shape[-1])
        none = _zeros(b, b.shape[-1] - 1)
        by_values = apply_filter(b, a, dx, dzi)
        by_coefficients = apply_filter(db, a, x, none) - apply_filter(da, a, y, none)
        return by_values + by_coefficients

    @staticmethod
    def vmap(
        info: VmapInfo, in_dims: Sequence[int | None], *operands: Tensor
    ) -> tuple[Tensor, int]:
        b, a, x, zi = _samples_first(in_dims, operands)
        return apply_filter(b, a, x, zi), 0


class _Lags(Function):
    """The sums of ``conj(x[n]) u[n + k]`` over n, for every k at which u has enough elements."""

    @staticmethod
    def forward(x: Tensor, u: Tensor) -> Tensor:
        return from_numpy(_lags(resolved(x._impl.array), resolved(u._impl.array)))

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[object, ...], output: object) -> None:
        x, u = typing.cast("tuple[Tensor, Tensor]", inputs)
        ctx.save_for_backward(x, u)
        ctx.save_for_forward(x, u)

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, u = ctx.saved_tensors
        of_x, of_u = ctx.needs_input_grad
        none = _zeros(x, grad.shape[-1] - 1)
        return (
            _against_time(grad, _turned(u)) if of_x else None,
            apply_filter(grad, _first(grad), x, none) if of_u else None,
        )

    @staticmethod
    def jvp(ctx: FunctionCtx, dx: Tensor, du: Tensor) -> Tensor:
        x, u = ctx.saved_tensors
        return _Lags.apply(dx, u) + _Lags.apply(x, du)

    @staticmethod
    def vmap(
        info: VmapInfo, in_dims: Sequence[int | None], *operands: Tensor
    ) -> tuple[Tensor, int]:
        x, u = _samples_first(in_dims, operands)
        return _Lags.apply(x, u), 0


def _lags(x: Array, u: Array) -> Array:
    """The sums of `_Lags`."""
    right = making.ascontiguousarray(u)
    size = x.shape[-1]
    count = right.shape[-1] - size + 1
    lead = np.broadcast_shapes(x.shape[:-1], right.shape[:-1])
    found = making.empty((*lead, count), x.dtype)
    for k in range(count):
        np.vecdot(x, right[..., k : k + size], out=found[..., k])
    return found


def gradients_of_filter(
    b: Tensor, a: Tensor, x: Tensor | None, y: Tensor | None, grad: Tensor
) -> tuple[Tensor | None, Tensor | None, Tensor, Tensor]:
    """The gradients of b, a, x and zi by that of the result, in all dimensions that it has.

    Without x there is none of b, and without y none of a.
    """
    if is_plain(b, a, x, y, grad):
        return _gradients_by_arrays(b, a, x, y, grad)
    size, order = grad.shape[-1] - b.shape[-1] + 1, b.shape[-1] - 1
    turned = _turned_adjoint(a, grad, size)
    u = _turned(turned)
    return (
        None if x is None else _Lags.apply(x, u),
        None if y is None else F.neg(_Lags.apply(y, u)),
        _against_time(b, turned),
        F.flip(F.narrow(turned, -1, size, order), (-1,)),
    )


def _gradients_by_arrays(
    b: Tensor, a: Tensor, x: Tensor | None, y: Tensor | None, grad: Tensor
) -> tuple[Tensor | None, Tensor | None, Tensor, Tensor]:
    """`gradients_of_filter` where nothing follows the computation."""
    given, numerator = resolved(grad._impl.array), resolved(b._impl.array).conj()
    denominator = resolved(a._impl.array).conj()
    order = numerator.shape[-1] - 1
    size = given.shape[-1] - order
    of_y, of_zf = given[..., :size], given[..., size:]
    one = making.zeros(order + 1, given.dtype)
    one[0] = 1
    state = of_zf
    if order:
        later = making.zeros((*denominator.shape[:-1], 2 * order - 1), given.dtype)
        later[..., :order] = denominator[..., 1:]
        state = -_lags(of_zf.conj(), later)
    found = filtered(one, denominator, of_y[..., ::-1], state)
    turned = np.concatenate([of_zf[..., ::-1], found[..., :size]], -1)
    u = turned[..., ::-1]
    of_x = filtered(numerator, one, turned, making.zeros(order, given.dtype))
    return (
        None if x is None else from_numpy(_lags(resolved(x._impl.array), u)),
        None if y is None else from_numpy(-_lags(resolved(y._impl.array), u)),
        from_numpy(of_x[..., order : order + size][..., ::-1].copy()),
        from_numpy(u[..., :order].copy()),
    )


def _turned_adjoint(a: Tensor, grad: Tensor, size: int) -> Tensor:
    """The sequence u of Note [The recursion of a filter], from its end on."""
    order = a.shape[-1] - 1
    coefficients = F.conj(a)
    of_y, of_zf = F.narrow(grad, -1, 0, size), F.narrow(grad, -1, size, order)
    if order:
        # What the last elements of u contribute to those before them.
        later = F.narrow(coefficients, -1, 1, order)
        padded = F.constant_pad(later, (0, order - 1), 0)
        state = F.neg(_Lags.apply(F.conj(of_zf), padded))
    else:
        state = of_zf
    found = apply_filter(_first(a), coefficients, _turned(of_y), state)
    return F.cat([_turned(of_zf), F.narrow(found, -1, 0, size)], -1)


def _against_time(b: Tensor, turned: Tensor) -> Tensor:
    """The sums of ``conj(b[k]) u[n + k]`` over k, for every n at which u has enough elements.

    The elements of u are given from its end on.
    """
    order = b.shape[-1] - 1
    found = apply_filter(F.conj(b), _first(b), turned, _zeros(b, order))
    return F.flip(F.narrow(found, -1, order, turned.shape[-1] - order), (-1,))


def _turned(x: Tensor) -> Tensor:
    """The elements from the last one on: a view."""
    found: Tensor = x[..., ::-1]
    return found


def _zeros(like: Tensor, *sizes: int) -> Tensor:
    return from_numpy(making.zeros(sizes, like._impl.array.dtype))


def _first(like: Tensor) -> Tensor:
    """Coefficients of the filter that changes nothing, as many as a tensor has."""
    found = making.zeros(like.shape[-1], like._impl.array.dtype)
    found[0] = 1
    return from_numpy(found)


def _samples_first(in_dims: Sequence[int | None], operands: Sequence[Tensor]) -> list[Tensor]:
    """The operands with samples in front of as many dimensions as the largest of them has."""
    pairs = list(zip(operands, in_dims, strict=True))
    largest = max(x.ndim - (dim is not None) for x, dim in pairs)
    found = []
    for x, dim in pairs:
        if dim is not None:
            x = F.movedim(x, dim, 0)
            ones = [1] * (largest - x.ndim + 1)
            x = F.reshape(x, (x.shape[0], *ones, *x.shape[1:]))
        found.append(x)
    return found


def filtered(b: Array, a: Array, x: Array, zi: Array) -> Array:
    """The result of Note [The recursion of a filter], along the last dimension.

    Other dimensions broadcast. Each set of coefficients is one call of SciPy.

    Raises
    ------
    OptionValueError
        If ``a[0]`` is zero.
    """
    if (a[..., 0] == 0).any():
        raise OptionValueError("the first coefficient of the denominator must not be zero")
    order, size = b.shape[-1] - 1, x.shape[-1]
    sets = np.broadcast_shapes(b.shape[:-1], a.shape[:-1])
    lead = np.broadcast_shapes(sets, x.shape[:-1], zi.shape[:-1])
    joint = making.empty((*lead, size + order), x.dtype)
    x, zi = making.broadcast_to(x, (*lead, size)), making.broadcast_to(zi, (*lead, order))
    if math.prod(sets) == 1:
        _filter_one(b.reshape(-1), a.reshape(-1), x, zi, joint)
        return joint
    b, a = (making.broadcast_to(z, (*lead, order + 1)) for z in (b, a))
    for index in np.ndindex(lead):
        _filter_one(b[index], a[index], x[index], zi[index], joint[index])
    return joint


def _filter_one(b: Array, a: Array, x: Array, zi: Array, joint: Array) -> None:
    """`filtered` with one set of coefficients, into an array."""
    size, order = x.shape[-1], len(b) - 1
    if not x.size:
        # There are no values in time, or no signals at all.
        joint[..., :order] = zi
    elif not order:
        np.multiply(x, b[0] / a[0], out=joint)
    else:
        # Without a recursion SciPy calls a convolution.
        denominator = a if a[1:].any() else a[:1]
        y, zf = making.call(scipy_signal().lfilter, b, denominator, x, zi=zi / a[0])
        joint[..., :size] = y
        joint[..., size:] = zf * a[0]
