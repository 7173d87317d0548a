"""Storing the result of a kernel in one of its operands; see Note [Large gradients]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from vtgrad.ops import kernels as k
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number

__all__ = ["into", "product", "reuse"]


_BOOL: Final = np.dtype(np.bool_)


def reuse(free: int, kernel: Callable[..., Array], *operands: Array | Number) -> Array:
    """The result of `kernel`, stored in one of the operands if that can hold it.

    The result, strides included, does not depend on where it is stored. If each operand is one
    value, expanded, such as the gradient of a sum, the result is expanded too: it cannot be
    written, and counts as shared.

    Parameters
    ----------
    free : int
        Bit ``i`` is set if only the caller holds operand ``i``, and drops it.
    kernel : callable
        An elementwise kernel in the promoted dtype of the operands, with an ``out`` that may be an
        operand.
    *operands : ndarray or number
        Its arguments.
    """
    if kernel is k.mul and free & 2 and _is_kept_by_ones(*operands):
        lone = operands[1]
        assert isinstance(lone, np.ndarray)
        return lone
    shape = _shape_of_one_value(operands)
    if shape is not None:
        first = (slice(0, 1),) * len(shape)
        values = [x[first] if isinstance(x, np.ndarray) else x for x in operands]
        return making.broadcast_to(kernel(*values), shape)
    for i, operand in enumerate(operands):
        if free >> i & 1 and isinstance(operand, np.ndarray) and _holds(operand, operands):
            return kernel(*operands, out=operand)
    return kernel(*operands)


def into(place: int, free: int, kernel: Callable[..., Array], *operands: Array | Number) -> Array:
    """The result of `kernel`, stored in one operand if that can hold it, whatever its strides.

    Parameters
    ----------
    place : int
        The operand, counted from 1; 0 for none, then it is `reuse`.
    free : int
        As for `reuse`.
    """
    if place:
        target = operands[place - 1]
        if isinstance(target, np.ndarray) and all(
            not isinstance(x, np.ndarray)
            or ((x.dtype == target.dtype or x.dtype == _BOOL) and _spreads(x.shape, target.shape))
            for x in operands
        ):
            return kernel(*operands, out=target)
    return reuse(free, kernel, *operands)


def _shape_of_one_value(operands: tuple[Array | Number, ...]) -> tuple[int, ...] | None:
    """The shape of operands that are one value each, expanded to it; None if they are not."""
    shape: tuple[int, ...] | None = None
    for x in operands:
        if isinstance(x, np.ndarray):
            if any(x.strides) or x.size <= 1 or shape not in (None, x.shape):
                return None
            shape = x.shape
    return shape


def product(may_share: bool, free: int, grad: Array, factor: Array | Number) -> Array:
    """``grad * factor`` by `reuse`, or `factor` itself.

    The gradient of a sum is one everywhere, and the product with it a copy. With `may_share` no
    copy is made: the caller allows `factor` itself to be returned, as an array that is not owned.
    """
    if may_share and _is_kept_by_ones(grad, factor):
        assert isinstance(factor, np.ndarray)
        return factor
    return reuse(free, k.mul, grad, factor)


def _is_kept_by_ones(grad: Array | Number, factor: Array | Number) -> bool:
    """Whether ``grad * factor`` equals `factor`, in value and in strides."""
    return (
        isinstance(grad, np.ndarray)
        and isinstance(factor, np.ndarray)
        and not any(grad.strides)
        and grad.shape == factor.shape
        and grad.size > 1
        and bool(grad[(0,) * grad.ndim] == 1)
        and _holds(factor, (grad, factor))
    )


def _holds(target: Array, operands: tuple[Array | Number, ...]) -> bool:
    """Whether the result has the dtype, shape and strides of `target`."""
    dtype, shape = target.dtype, target.shape
    if 1 in shape or not target.ndim or not target.flags.c_contiguous or dtype.kind not in "fc":
        return False
    for x in operands:
        if isinstance(x, np.ndarray):
            # Of dimensions and bools nothing but the values enters the result; the strides of
            # one value, expanded, do not count either.
            if x.dtype != dtype and x.dtype != _BOOL:
                return False
            if x.shape != shape and not _spreads(x.shape, shape):
                return False
            if not x.flags.c_contiguous and any(x.strides):
                return False
        elif isinstance(x, complex) and dtype.kind == "f":
            return False
    return True


def _spreads(small: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether an array of the first shape is broadcast to the second."""
    lead = len(shape) - len(small)
    return lead >= 0 and all(a == b or a == 1 for a, b in zip(small, shape[lead:], strict=True))
