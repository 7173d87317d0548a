"""Gradients of outputs that never arrive."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.autograd.gradcheck.analytical import Recorded
from vtgrad.autograd.gradcheck.directions import cotangents_of
from vtgrad.errors import GradcheckError
from vtgrad.function import Function, FunctionCtx
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["check_undefined"]


class _Undefined(Function):
    """Returns its argument, and passes no gradient back."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor) -> Tensor:
        """Return a view of the argument."""
        return x.view_as(x)

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> None:
        """Answer None."""


def check_undefined(recorded: Recorded) -> None:
    """Check that missing gradients of outputs count as zeros: of all outputs, and of each alone.

    Parameters
    ----------
    recorded : Recorded
        The outputs, whose graph was not used for anything else.

    Raises
    ------
    GradcheckError
        If a gradient differs from that for zeros, or backward raises.
    """
    numbers = recorded.numbers
    everything = cotangents_of(recorded)
    left_out = [set(numbers)]
    if len(numbers) > 1:
        left_out += [{nr} for nr in numbers]
    # Backward runs the node of an output also if what reaches it is only None.
    ends = {nr: _Undefined.apply(recorded.outputs[nr]) for nr in numbers}
    for missing in left_out:
        outputs = list(recorded.outputs)
        for nr in missing:
            outputs[nr] = ends[nr]
        cut = Recorded(recorded.subject, recorded.settings, outputs, numbers)
        try:
            found = cut.gradients(everything)
        except Exception as error:
            names = _names(recorded, missing)
            raise GradcheckError(
                f"without a gradient of {names} backward, or a hook, raises "
                f"{type(error).__name__}: {error}. It must take None for zeros",
                check="undefined",
                outputs=tuple(sorted(missing)),
            ) from error
        given = {nr: w for nr, w in everything.items() if nr not in missing}
        expected: Sequence[Array | None] = [None] * len(found)
        if given:
            zeros = {nr: making.zeros_like(everything[nr]) for nr in missing}
            expected = recorded.gradients(given | zeros)
        _compare(recorded, missing, found, expected)


def _names(recorded: Recorded, missing: set[int]) -> str:
    return ", ".join(recorded.subject.output_name(nr) for nr in sorted(missing))


def _compare(
    recorded: Recorded,
    missing: set[int],
    found: Sequence[Array | None],
    expected: Sequence[Array | None],
) -> None:
    """Compare the gradients of the inputs with those for zeros."""
    settings, subject = recorded.settings, recorded.subject
    names = _names(recorded, missing)
    for name, ours, zeros in zip(subject.input_names, found, expected, strict=True):
        if ours is None and zeros is None:
            continue
        wanted = making.zeros(()) if zeros is None else zeros
        answer = making.zeros(()) if ours is None else ours
        with np.errstate(all="ignore"):
            difference = np.abs(answer - wanted)
            allowed = settings.rtol * np.abs(wanted)
            wrong = ~((difference <= allowed) | (np.isnan(answer) & np.isnan(wanted)))
        if np.any(wrong & (answer != wanted)):
            raise GradcheckError(
                f"without a gradient of {names} backward gives another gradient of {name} than "
                "with zeros: it must take None for zeros",
                check="undefined",
                input=name,
                outputs=tuple(sorted(missing)),
            )
