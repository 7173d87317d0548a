"""Comparing Jacobians, and telling which entry differs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from vtgrad.autograd.gradcheck.settings import Settings
from vtgrad.autograd.gradcheck.subject import Subject
from vtgrad.errors import GradcheckError
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.lazy_array import physical
from vtgrad.tensor.tensor import Tensor

__all__ = ["Mismatch", "compare", "mismatch_error"]

_PARTS = ("real", "imaginary")


class Mismatch(NamedTuple):
    """The entries of one Jacobian that differ, by the worst of them.

    Attributes
    ----------
    output, input : int
        The numbers of the output, and of the input among those that require grad.
    output_index, input_index : tuple of int
        Where the entry is.
    output_part, input_part : str or None
        ``"real"`` or ``"imaginary"`` if the entry is of one part of complex numbers.
    analytic, numeric : float or complex
        The entry by backward and by central differences.
    tolerance : float
        The allowed difference.
    wrong, entries : int
        How many entries differ, and how many there are.
    missing : bool
        Whether backward gave no gradient at all for the input.
    """

    output: int
    input: int
    output_index: tuple[int, ...]
    input_index: tuple[int, ...]
    output_part: str | None
    input_part: str | None
    analytic: float | complex
    numeric: float | complex
    tolerance: float
    wrong: int
    entries: int
    missing: bool

    @property
    def difference(self) -> float:
        """The distance of the two values."""
        return abs(self.analytic - self.numeric)

    @property
    def excess(self) -> float:
        """How many times the allowed difference it is; infinite for nan."""
        if not np.isfinite(self.difference) or not self.tolerance:
            return float("inf")
        return self.difference / self.tolerance


def compare(
    pair: tuple[int, int],
    shapes: tuple[Shape, Shape],
    analytic: Array | None,
    numeric: Array,
    settings: Settings,
) -> Mismatch | None:
    """Compare the Jacobian of an output by an input with its estimate.

    Parameters
    ----------
    pair : tuple of int
        The numbers of the output and the input.
    shapes : tuple of tuple of int
        Their shapes.
    analytic : ndarray or None
        By backward; None counts as zeros.
    numeric : ndarray
        By central differences.
    settings : Settings
        The tolerances.

    Returns
    -------
    Mismatch or None
        None if all entries are near enough.
    """
    found = making.zeros_like(numeric) if analytic is None else analytic
    with np.errstate(all="ignore"):
        difference = np.abs(found - numeric)
        allowed = settings.atol + settings.rtol * np.abs(numeric)
        close = (found == numeric) | (np.isfinite(numeric) & (difference <= allowed))
        if np.all(close):
            return None
        # Where nan is, nothing is worse.
        excess = np.nan_to_num(np.where(close, -1, difference / allowed), nan=np.inf)
    worst = np.unravel_index(int(np.argmax(excess)), numeric.shape)
    part, row, column = (int(k) for k in worst)
    ours, theirs = found[worst].item(), numeric[worst].item()
    return Mismatch(
        output=pair[0],
        input=pair[1],
        output_index=_index(row, shapes[0]),
        input_index=_index(column, shapes[1]),
        output_part=_PARTS[part] if numeric.shape[0] == 2 else None,
        input_part=_differing_part(ours, theirs, float(allowed[worst])),
        analytic=ours,
        numeric=theirs,
        tolerance=float(allowed[worst]),
        wrong=int(numeric.size - np.count_nonzero(close)),
        entries=numeric.size,
        missing=analytic is None,
    )


def mismatch_error(
    subject: Subject, mismatches: Sequence[Mismatch], mode: str = "backward"
) -> GradcheckError:
    """The error that reports all Jacobians that differ by one mode, and the worst entry."""
    worst = max(mismatches, key=lambda m: m.excess)
    output, source = subject.output_name(worst.output), subject.input_names[worst.input]
    others = [m for m in mismatches if m is not worst]
    text = _about_entry(worst, output, source, mode) + _about_others(subject, others)
    return GradcheckError(
        text + _about_shared_memory(subject, worst.input),
        check="jacobian",
        output=output,
        input=source,
        output_index=worst.output_index,
        input_index=worst.input_index,
        output_part=worst.output_part,
        input_part=worst.input_part,
        analytic=worst.analytic,
        numeric=worst.numeric,
        difference=worst.difference,
        tolerance=worst.tolerance,
        wrong=sum(m.wrong for m in mismatches),
        mismatches=tuple(mismatches),
    )


def _index(flat: int, shape: Shape) -> tuple[int, ...]:
    """The index of an element by its number."""
    return tuple(int(k) for k in np.unravel_index(flat, shape)) if prod(shape) else ()


def _differing_part(
    analytic: float | complex, numeric: float | complex, allowed: float
) -> str | None:
    """Which part of a complex entry differs, if it is one of them."""
    if not isinstance(numeric, complex):
        return None
    real = abs(analytic.real - numeric.real) <= allowed
    imaginary = abs(analytic.imag - numeric.imag) <= allowed
    return None if real == imaginary else _PARTS[1 if real else 0]


def _about_entry(worst: Mismatch, output: str, source: str, mode: str) -> str:
    """The entry that differs most, and how many of the same Jacobian do."""
    missing = ". Backward gives no gradient at all for it" if worst.missing else ""
    return (
        f"the derivative of {_element(output, worst.output_index, worst.output_part)} by "
        f"{_element(source, worst.input_index, worst.input_part)} is {worst.numeric:.10g} by "
        f"central differences, but {worst.analytic:.10g} by {mode}: the difference is "
        f"{worst.difference:.3g}, allowed are {worst.tolerance:.3g}{missing}. Of the derivatives "
        f"of {output} by {source} {worst.wrong} of {worst.entries} differ"
    )


def _about_others(subject: Subject, others: Sequence[Mismatch]) -> str:
    """The other Jacobians that differ, if there are any."""
    if not others:
        return ""
    listed = "; ".join(
        f"{m.wrong} of {m.entries} of {subject.output_name(m.output)} by "
        f"{subject.input_names[m.input]}"
        for m in others
    )
    return f". So do others: {listed}"


def _about_shared_memory(subject: Subject, number: int) -> str:
    """A hint, if an input cannot be changed without another argument."""
    x = subject.inputs[number]
    for nr, y in enumerate(subject.arguments):
        if isinstance(y, Tensor) and y is not x and np.may_share_memory(_memory(x), _memory(y)):
            return (
                f". {subject.input_names[number].capitalize()} and argument {nr} share memory, so "
                "that one cannot be changed without the other: pass a clone"
            )
    return ""


def _memory(x: Tensor) -> Array:
    return physical(x._impl.array)


def _element(name: str, index: tuple[int, ...], part: str | None) -> str:
    """An element of a tensor, or a part of it, in words."""
    where = f"{name}{list(index)}" if index else name
    return where if part is None else f"the {part} part of {where}"
