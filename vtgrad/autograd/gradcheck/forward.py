"""Derivatives by forward mode, compared with central differences.

The function is run once for each element of each input, with a tangent of one there; in fast mode
once for each input, with a random tangent, and only if this differs for each element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from vtgrad.autograd.gradcheck.analytical import zeros_of
from vtgrad.autograd.gradcheck.batches import check_batched_tangents
from vtgrad.autograd.gradcheck.consistency import check_constant
from vtgrad.autograd.gradcheck.directions import direction_like
from vtgrad.autograd.gradcheck.forward_run import tangents
from vtgrad.autograd.gradcheck.linearity import check_tangents_enter_linearly
from vtgrad.autograd.gradcheck.numerical import along_direction, numerical_jacobians
from vtgrad.autograd.gradcheck.report import Mismatch, compare, mismatch_error
from vtgrad.autograd.gradcheck.settings import Settings
from vtgrad.autograd.gradcheck.subject import Subject
from vtgrad.errors import GradcheckError
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape

__all__ = ["check_forward"]

# The part of the tolerances that is allowed along a direction; see Note [Fast mode].
_SHARE: Final = 0.1


def check_forward(subject: Subject, settings: Settings, *, over_reverse: bool = False) -> None:
    """Compare every entry of every Jacobian; then check that tangents of several inputs add up.

    Only outputs that require grad are compared, as for backward: others are constants.

    Parameters
    ----------
    over_reverse : bool
        Whether the function computes gradients by its inputs: then duals require grad.

    Raises
    ------
    GradcheckError
        If something is wrong.
    NotSupportedError
        If an operator of the function has no forward formula.
    """
    outputs = subject.outputs()
    numbers = [nr for nr, y in enumerate(outputs) if y.requires_grad]
    if not numbers:
        check_constant(subject, outputs, settings.eps)
        return
    recorded = subject.with_outputs(numbers).with_dtypes_of([outputs[nr] for nr in numbers])
    shapes = [tuple(outputs[nr].shape) for nr in numbers]
    if not settings.fast_mode or not _agrees(recorded, settings, shapes, over_reverse):
        mismatches = _mismatches(recorded, settings, shapes, numbers, over_reverse)
        if mismatches:
            mode = "forward mode over backward" if over_reverse else "forward mode"
            raise mismatch_error(subject, mismatches, mode)
    if len(subject.inputs) > 1:
        _check_sums(recorded, settings, over_reverse)
    check_tangents_enter_linearly(recorded, settings, over_reverse=over_reverse)
    if settings.check_batched_forward_grad:
        check_batched_tangents(recorded, settings)


def _mismatches(
    subject: Subject,
    settings: Settings,
    shapes: Sequence[Shape],
    numbers: Sequence[int],
    over_reverse: bool,
) -> list[Mismatch]:
    """Compare every entry.

    Parameters
    ----------
    numbers : sequence of int
        What reports number the outputs by.
    """
    found: list[Mismatch | None] = []
    for number, x in enumerate(subject.inputs):
        analytic = _jacobians(subject, number, shapes, over_reverse)
        numeric = numerical_jacobians(subject, number, shapes, settings.eps)
        found += [
            compare((nr, number), (shape, tuple(x.shape)), ours, theirs, settings)
            for nr, shape, ours, theirs in zip(numbers, shapes, analytic, numeric, strict=True)
        ]
    return [mismatch for mismatch in found if mismatch is not None]


def _agrees(
    subject: Subject, settings: Settings, shapes: Sequence[Shape], over_reverse: bool
) -> bool:
    """Whether the derivatives agree along a random direction of each input."""
    for number, x in enumerate(subject.inputs):
        direction = direction_like(tuple(x.shape), 1000 + number, is_complex=x.is_complex())
        direction = direction / max(1.0, float(np.linalg.norm(direction)))
        changes, taken = along_direction(subject, number, direction, shapes, settings.eps)
        found = tangents(subject, {number: taken}, over_reverse=over_reverse)
        for ours, theirs in zip(found, changes, strict=True):
            with np.errstate(all="ignore"):
                allowed = settings.atol * np.linalg.norm(taken) + settings.rtol * np.abs(theirs)
                if not np.all(np.abs(ours - theirs) <= _SHARE * allowed):
                    return False
    return True


def _check_sums(subject: Subject, settings: Settings, over_reverse: bool) -> None:
    """Check that tangents of several inputs add up, and that a missing one counts as zeros.

    Raises
    ------
    GradcheckError
        If they do not.
    """
    given = {
        number: direction_like(tuple(x.shape), 2000 + number, is_complex=x.is_complex())
        for number, x in enumerate(subject.inputs)
    }
    alone = [
        tangents(subject, {number: t}, over_reverse=over_reverse) for number, t in given.items()
    ]
    sums = [making.asarray(sum(each)) for each in zip(*alone, strict=True)]
    _compare(
        subject,
        settings,
        tangents(subject, given, over_reverse=over_reverse),
        sums,
        "with tangents of all inputs forward mode gives another tangent of {} than the sum for "
        "those of each input alone",
        "linear",
    )
    if not settings.check_undefined_grad:
        return
    for number, expected in enumerate(alone):
        one = {number: given[number]}
        _compare(
            subject,
            settings,
            tangents(subject, one, over_reverse=over_reverse, others_are_zero=False),
            expected,
            f"with a tangent of {subject.input_names[number]} alone forward mode gives another "
            "tangent of {} than with zeros for the other inputs",
            "undefined",
        )


def _compare(
    subject: Subject,
    settings: Settings,
    found: Sequence[Array],
    expected: Sequence[Array],
    text: str,
    check: str,
) -> None:
    for nr, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        if not np.allclose(ours, theirs, settings.rtol, settings.atol, equal_nan=True):
            raise GradcheckError(
                text.format(subject.output_name(nr)), check=check, output=subject.output_name(nr)
            )


def _jacobians(
    subject: Subject, number: int, shapes: Sequence[Shape], over_reverse: bool
) -> list[Array]:
    """The derivatives of each output by one input; see Note [Jacobians of complex numbers]."""
    x = subject.inputs[number]
    dtype = zeros_of(x).dtype
    units = (1.0, 1.0j) if x.is_complex() else (1.0,)
    columns: list[Array | None] = [None] * len(shapes)
    for column, index in enumerate(np.ndindex(tuple(x.shape))):
        for unit in units:
            tangent = zeros_of(x)
            tangent[index] = unit
            found = tangents(subject, {number: tangent}, over_reverse=over_reverse)
            for nr, values in enumerate(found):
                parts = (values.real, values.imag)[: 2 if values.dtype.kind == "c" else 1]
                whole = columns[nr]
                if whole is None:
                    whole = columns[nr] = making.zeros((len(parts), values.size, x.numel()), dtype)
                for part, one in enumerate(parts):
                    whole[part, :, column] += unit * one.reshape(-1)
    return [
        making.zeros((1, int(np.prod(shape)), 0), dtype) if found is None else found
        for shape, found in zip(shapes, columns, strict=True)
    ]
