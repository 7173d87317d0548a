"""Derivatives for a batch of gradients or tangents, compared with those for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from vtgrad.autograd.differentiate import grad
from vtgrad.autograd.gradcheck.analytical import Recorded
from vtgrad.autograd.gradcheck.directions import direction_like
from vtgrad.autograd.gradcheck.forward_run import batched_tangents, tangents
from vtgrad.autograd.gradcheck.settings import Settings
from vtgrad.autograd.gradcheck.subject import Subject, double_values
from vtgrad.errors import GradcheckError, VtgradError
from vtgrad.storage.arrays import Array
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor

__all__ = ["check_batched_gradients", "check_batched_tangents"]

_COUNT: Final = 2


def check_batched_gradients(recorded: Recorded) -> None:
    """Compare ``grad(is_grads_batched=True)`` of each output with a backward for each gradient.

    Raises
    ------
    GradcheckError
        If a gradient differs, or cannot be computed in a batch.
    """
    subject = recorded.subject
    for number in recorded.numbers:
        output, name = recorded.outputs[number], subject.output_name(number)
        rows = _rows_like(output, 3000 + number)
        alone = [recorded.gradients({number: row}) for row in rows]
        try:
            together = grad(
                output,
                subject.inputs,
                from_numpy(rows.astype(output._impl.dtype)).to(output.device),
                retain_graph=True,
                allow_unused=True,
                is_grads_batched=True,
            )
        except VtgradError as error:
            raise _refused("batched-gradient", f"gradients of {name}", error) from error
        found = [None if g is None else double_values(g) for g in together]
        for nr, ours in enumerate(found):
            expected = [gradients[nr] for gradients in alone]
            if not _same(ours, expected, recorded.settings):
                raise GradcheckError(
                    f"for a batch of gradients of {name} backward gives other gradients of "
                    f"{subject.input_names[nr]} than for each of them",
                    check="batched-gradient",
                    output=name,
                    input=subject.input_names[nr],
                )


def check_batched_tangents(subject: Subject, settings: Settings) -> None:
    """Compare forward mode for a batch of tangents of each input with that for each of them.

    Raises
    ------
    GradcheckError
        If a tangent differs, or cannot be computed in a batch.
    """
    for number, x in enumerate(subject.inputs):
        name = subject.input_names[number]
        rows = _rows_like(x, 4000 + number)
        alone = [tangents(subject, {number: row}) for row in rows]
        try:
            together = batched_tangents(subject, number, rows)
        except VtgradError as error:
            raise _refused("batched-tangent", f"tangents of {name}", error) from error
        for nr, ours in enumerate(together):
            if not _same(ours, [found[nr] for found in alone], settings):
                raise GradcheckError(
                    f"for a batch of tangents of {name} forward mode gives other tangents of "
                    f"{subject.output_name(nr)} than for each of them",
                    check="batched-tangent",
                    output=subject.output_name(nr),
                    input=name,
                )


def _rows_like(tensor: Tensor, nr: int) -> Array:
    """Random gradients or tangents of a tensor."""
    return direction_like((_COUNT, *tensor.shape), nr, is_complex=tensor.is_complex())


def _refused(check: str, what: str, error: VtgradError) -> GradcheckError:
    """For what raises in a batch, and did not for each of its members."""
    return GradcheckError(f"{what} cannot be computed in a batch: {error}", check=check)


def _same(ours: Array | None, expected: Sequence[Array | None], settings: Settings) -> bool:
    """Whether a batch is equal to its members within the tolerances; None is zeros."""
    if ours is None:
        return not any(one is not None and np.any(one) for one in expected)
    # What does not depend on the members has no batch dimension.
    return all(
        np.allclose(
            ours[nr] if one is not None and ours.ndim > one.ndim else ours,
            0.0 if one is None else one,
            settings.rtol,
            settings.atol,
            equal_nan=True,
        )
        for nr, one in enumerate(expected)
    )
