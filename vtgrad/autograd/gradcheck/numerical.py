"""Derivatives by central differences.

The very inputs of the caller are changed in memory while the function runs: so a function may read
them from outside of its arguments, and non-tensor state that it keeps about them stays valid.

Note [Moved inputs move back]

An element's old value is read before ``try``, the new one is stored inside it, and one store
without a call brings the old value back. So the input is as it was also after an error, or a
signal whose handler raises, at any place. No version moves: no graph that is alive has saved the
value in between, because outputs are copied and let go before the input moves back.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from vtgrad.autograd.gradcheck.subject import Subject, double_values, require_finite_step
from vtgrad.errors import DTypeError, ShapeError
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.lazy_array import physical, resolved

__all__ = ["along_direction", "numerical_jacobians"]

Where: TypeAlias = tuple[int, ...] | EllipsisType


def numerical_jacobians(
    subject: Subject, number: int, shapes: Sequence[Shape], eps: float
) -> list[Array]:
    """The derivatives of each output by every element of one input.

    Parameters
    ----------
    subject : Subject
        The function.
    number : int
        Which of `subject.inputs`.
    shapes : sequence of tuple of int
        The shapes of the outputs.
    eps : float
        The step.

    Returns
    -------
    list of ndarray
        One for each output, see Note [Jacobians of complex numbers].
    """
    x = subject.inputs[number]
    array = x._impl.array
    units = (1.0, 1.0j) if array.dtype.kind == "c" else (1.0,)
    columns: list[list[Array]] = [[] for _ in shapes]
    for index in np.ndindex(array.shape):
        by_unit = [
            _central(subject, number, index, making.asarray(unit * eps), shapes) for unit in units
        ]
        for column, *changes in zip(columns, *by_unit, strict=True):
            column.append(_entries(changes))
    return [_stacked(column, shape) for column, shape in zip(columns, shapes, strict=True)]


def along_direction(
    subject: Subject, number: int, direction: Array, shapes: Sequence[Shape], eps: float
) -> tuple[list[Array], Array]:
    """The derivatives of each output along a direction of one input.

    Parameters
    ----------
    subject : Subject
        The function.
    number : int
        Which of `subject.inputs`.
    direction : ndarray
        Of the input's shape.
    shapes : sequence of tuple of int
        The shapes of the outputs.
    eps : float
        The step, in units of `direction`.

    Returns
    -------
    tuple of list of ndarray and ndarray
        The derivatives, and the direction that was taken, which rounding has changed a little.
    """
    array = subject.inputs[number]._impl.array
    high, low = _both_sides(array, direction * eps)
    taken = _taken(array, high, low, 2 * eps * direction) / (2 * eps)
    require_finite_step(taken, subject.input_names[number], eps)
    ups = _outputs_at(subject, number, ..., high, shapes)
    downs = _outputs_at(subject, number, ..., low, shapes)
    with np.errstate(all="ignore"):
        return [(up - down) / (2 * eps) for up, down in zip(ups, downs, strict=True)], taken


def _central(
    subject: Subject, number: int, index: tuple[int, ...], step: Array, shapes: Sequence[Shape]
) -> list[Array]:
    """The difference quotient of each output, for a step of one element."""
    start = subject.inputs[number]._impl.array[index]
    high, low = _both_sides(start, step)
    taken = _taken(start, high, low, 2 * step)
    distance = making.asarray(taken.imag if step.dtype.kind == "c" else taken.real)
    require_finite_step(distance, subject.input_names[number], abs(complex(step)))
    ups = _outputs_at(subject, number, index, high, shapes)
    downs = _outputs_at(subject, number, index, low, shapes)
    with np.errstate(all="ignore"):
        return [(up - down) / distance for up, down in zip(ups, downs, strict=True)]


def _both_sides(values: object, step: Array) -> tuple[Array, Array]:
    """Values with a step added and subtracted, in their dtype."""
    start = making.asarray(resolved(values))
    with np.errstate(all="ignore"):
        return (start + step).astype(start.dtype), (start - step).astype(start.dtype)


def _taken(start: object, high: Array, low: Array, asked: Array) -> Array:
    """The step that was taken, in double precision: what was asked for, changed by rounding.

    Infinity and nan stay what they are. There an output has a derivative only if it does not
    depend on them, and whatever the step is, that derivative is zero.
    """
    dtype = np.complex128 if high.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(resolved(start)), high.astype(dtype) - low.astype(dtype), asked)


def _outputs_at(
    subject: Subject, number: int, where: Where, value: Array, shapes: Sequence[Shape]
) -> list[Array]:
    """The outputs while some elements of an input have other values.

    See Note [Moved inputs move back].
    """
    array = subject.inputs[number]._impl.array
    memory = physical(array)
    before = memory[where].copy()
    try:
        array[where] = value
        outputs = _copied(subject, shapes)
    finally:
        memory[where] = before
    return outputs


def _copied(subject: Subject, shapes: Sequence[Shape]) -> list[Array]:
    """The values of the outputs.

    Raises
    ------
    ShapeError
        If there are more or fewer outputs, or others shapes, than at first.
    DTypeError
        If an output has another dtype than at first.
    """
    outputs = subject.outputs()
    found = [tuple(y.shape) for y in outputs]
    if found != list(shapes):
        raise ShapeError(
            f"the outputs of the function had shapes {[list(s) for s in shapes]} at first, and "
            f"{[list(s) for s in found]} when an input was changed a little",
            expected=tuple(shapes),
            found=tuple(found),
        )
    expected, dtypes = subject.output_dtypes, tuple([y.dtype for y in outputs])
    if expected and dtypes != expected:
        raise DTypeError(
            f"the outputs of the function had dtypes {list(expected)} at first, and "
            f"{list(dtypes)} when an input was changed a little",
            expected=expected,
            found=dtypes,
        )
    return [double_values(y) for y in outputs]


def _entries(changes: Sequence[Array]) -> Array:
    """The entries of a Jacobian that belong to one element of the input.

    Parameters
    ----------
    changes : sequence of ndarray
        The derivatives of an output by the element; for a complex one, by its real and by its
        imaginary part.

    Returns
    -------
    ndarray
        Of shape ``(parts, elements)`` of the output.
    """
    flat: list[Array] = [np.ravel(change) for change in changes]
    if flat[0].dtype.kind == "c":
        parts = [np.stack([change.real, change.imag]) for change in flat]
    else:
        parts = [change[np.newaxis] for change in flat]
    return parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]


def _stacked(column: Sequence[Array], shape: Shape) -> Array:
    """The entries of all elements of an input as one array."""
    if not column:
        return making.zeros((1, int(np.prod(shape)), 0))
    return np.stack(column, axis=-1)
