"""What else a backward must be: linear, and the same each time; and constants constant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.autograd.gradcheck.analytical import Recorded
from vtgrad.autograd.gradcheck.numerical import numerical_jacobians
from vtgrad.autograd.gradcheck.subject import Subject
from vtgrad.errors import GradcheckError
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["check_constant", "check_linear", "check_same_twice"]


def check_constant(subject: Subject, outputs: Sequence[Tensor], eps: float) -> None:
    """Check that outputs, none of which requires grad, do not depend on the inputs.

    Raises
    ------
    GradcheckError
        If one does.
    """
    shapes = [tuple(y.shape) for y in outputs]
    subject = subject.with_dtypes_of(outputs)
    for number, name in enumerate(subject.input_names):
        for nr, jacobian in enumerate(numerical_jacobians(subject, number, shapes, eps)):
            if np.any(jacobian):
                raise GradcheckError(
                    f"no output of the function requires grad, but {subject.output_name(nr)} "
                    f"changes with {name}: it was computed without recording, or detached",
                    check="constant",
                    output=subject.output_name(nr),
                    input=name,
                )


def check_same_twice(
    recorded: Recorded, cotangents: dict[int, Array], found: Sequence[Array | None]
) -> None:
    """Run a backward again, and compare.

    Parameters
    ----------
    recorded : Recorded
        The outputs.
    cotangents : dict of int to ndarray
        Their gradients.
    found : sequence of ndarray or None
        What the first run gave for the inputs.

    Raises
    ------
    GradcheckError
        If a gradient differs by more than `nondet_tol`.
    """
    allowed = recorded.settings.nondet_tol
    again = recorded.gradients(cotangents)
    for name, first, second in zip(recorded.subject.input_names, found, again, strict=True):
        difference = _largest_difference(first, second)
        if difference > allowed:
            raise GradcheckError(
                f"two runs of the same backward give gradients of {name} that differ by "
                f"{difference:.3g}, allowed are {allowed:.3g} (nondet_tol)",
                check="nondeterministic",
                input=name,
                difference=difference,
                tolerance=allowed,
            )


def check_linear(
    recorded: Recorded,
    found: Sequence[Array | None],
    expected: Sequence[Array],
    scales: Sequence[Array],
) -> None:
    """Compare gradients with those that a linear backward would give.

    Parameters
    ----------
    recorded : Recorded
        The outputs.
    found : sequence of ndarray or None
        The gradients of the inputs for some gradients of the outputs.
    expected : sequence of ndarray
        The same, put together of the gradients for others.
    scales : sequence of ndarray
        The sizes of what was summed there.

    Raises
    ------
    GradcheckError
        If they differ.
    """
    settings = recorded.settings
    for name, ours, linear, scale in zip(
        recorded.subject.input_names, found, expected, scales, strict=True
    ):
        with np.errstate(all="ignore"):
            difference = np.abs(linear if ours is None else ours - linear)
            allowed = settings.atol + settings.rtol * scale
            wrong = np.isfinite(scale) & ~(difference <= allowed)
        if np.any(wrong):
            where = np.unravel_index(int(np.argmax(np.where(wrong, difference, -1))), wrong.shape)
            raise GradcheckError(
                f"backward is not linear: gradients of {name} for a sum of gradients of the "
                f"outputs differ by {difference[where]:.3g} from the sum of their gradients, "
                f"allowed are {allowed[where]:.3g}",
                check="linear",
                input=name,
                input_index=tuple(int(k) for k in where),
                difference=float(difference[where]),
                tolerance=float(allowed[where]),
            )


def _largest_difference(first: Array | None, second: Array | None) -> float:
    """How far two gradients are apart; nan is the same as nan."""
    if first is None or second is None:
        present = second if first is None else first
        return 0.0 if present is None else float(np.max(np.abs(present), initial=0.0))
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    with np.errstate(all="ignore"):
        difference = np.where(same, 0.0, np.abs(first - second))
    return float(np.max(np.nan_to_num(difference, nan=np.inf), initial=0.0))
