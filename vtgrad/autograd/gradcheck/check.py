"""The parts of a check, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from vtgrad.autograd.gradcheck.analytical import Recorded, record
from vtgrad.autograd.gradcheck.batches import check_batched_gradients
from vtgrad.autograd.gradcheck.consistency import check_constant, check_linear, check_same_twice
from vtgrad.autograd.gradcheck.directions import cotangents_of
from vtgrad.autograd.gradcheck.fast import agrees_along_directions
from vtgrad.autograd.gradcheck.linearity import check_gradients_enter_linearly
from vtgrad.autograd.gradcheck.numerical import numerical_jacobians
from vtgrad.autograd.gradcheck.report import Mismatch, compare, mismatch_error
from vtgrad.autograd.gradcheck.settings import Settings
from vtgrad.autograd.gradcheck.subject import Subject
from vtgrad.autograd.gradcheck.undefined import check_undefined
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["check", "check_first_derivatives"]


def check(subject: Subject, settings: Settings) -> None:
    """Check the gradients of a function.

    Parameters
    ----------
    subject : Subject
        The function.
    settings : Settings
        The options.

    Raises
    ------
    GradcheckError
        If something is wrong.
    """
    check_first_derivatives(subject, settings)
    for is_on, check_part in (
        (settings.check_batched_grad, check_batched_gradients),
        (settings.check_undefined_grad, check_undefined),
    ):
        if is_on:
            recorded = record(subject, settings)
            if recorded.numbers:
                check_part(recorded)


def check_first_derivatives(subject: Subject, settings: Settings) -> None:
    """Check all gradients that arrive: in fast mode along random directions, else one by one.

    Raises
    ------
    GradcheckError
        If something is wrong.
    """
    recorded = record(subject, settings)
    if not recorded.numbers:
        check_constant(subject, recorded.outputs, settings.eps)
        return
    if not settings.fast_mode or not agrees_along_directions(recorded):
        _check_jacobians(recorded)
    if settings.check_linear:
        check_gradients_enter_linearly(recorded)


def _check_jacobians(recorded: Recorded) -> None:
    """Compare every entry of every Jacobian; then check that backward is linear, and repeatable.

    Raises
    ------
    GradcheckError
        If something is wrong.
    """
    subject, settings = recorded.subject, recorded.settings
    shapes = [tuple(y.shape) for y in recorded.outputs]
    analytic = {nr: recorded.jacobians(nr) for nr in recorded.numbers}
    found: list[Mismatch | None] = []
    for number, x in enumerate(subject.inputs):
        numeric = numerical_jacobians(subject, number, shapes, settings.eps)
        found += [
            compare(
                (nr, number),
                (shapes[nr], tuple(x.shape)),
                analytic[nr][number],
                numeric[nr],
                settings,
            )
            for nr in recorded.numbers
        ]
    mismatches = [mismatch for mismatch in found if mismatch is not None]
    if mismatches:
        raise mismatch_error(subject, mismatches)
    cotangents = cotangents_of(recorded)
    gradients = recorded.gradients(cotangents)
    expected = [_product(recorded, analytic, cotangents, k) for k in range(len(subject.inputs))]
    sizes = {nr: [None if j is None else np.abs(j) for j in js] for nr, js in analytic.items()}
    weights = {nr: np.abs(w.real) + 1j * np.abs(w.imag) for nr, w in cotangents.items()}
    scales = [np.abs(_product(recorded, sizes, weights, k)) for k in range(len(subject.inputs))]
    check_linear(recorded, gradients, expected, scales)
    check_same_twice(recorded, cotangents, gradients)


def _product(
    recorded: Recorded,
    jacobians: dict[int, list[Array | None]],
    cotangents: dict[int, Array],
    number: int,
) -> Array:
    """The sum of the products of cotangents with the Jacobians by one input."""
    x = recorded.subject.inputs[number]
    total: Array = making.zeros(x.numel())
    for nr, weights in cotangents.items():
        jacobian = jacobians[nr][number]
        if jacobian is None:
            continue
        parts: Sequence[Array] = (weights.real, weights.imag)[: jacobian.shape[0]]
        with np.errstate(all="ignore"):
            for part, rows in zip(parts, jacobian, strict=True):
                total = total + part.reshape(-1) @ rows if prod(rows.shape) else total
    return total.reshape(tuple(x.shape))
