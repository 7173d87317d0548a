"""The text that shows a tensor: values, then whatever is not plain about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from .storage.arrays import Array

__all__ = ["tensor_text"]

# Larger arrays are shown by their corners, so many elements from each end.
_THRESHOLD: Final = 1000
_EDGE: Final = 3
_DIGITS: Final = 4
_LINE: Final = 80
_HEAD: Final = "tensor("


def tensor_text(array: Array, facts: Sequence[str]) -> str:
    """The text of a tensor with these values.

    Parameters
    ----------
    array : ndarray
        The values; large arrays are abbreviated.
    facts : sequence of str
        What to say after the values, such as ``requires_grad=True``.
    """
    if array.size == 0:
        values = "[]"
        if array.ndim != 1:
            facts = [f"size={array.shape}", *facts]
    else:
        one = _element_format(_shown(array).reshape(-1))
        values = np.array2string(
            array,
            max_line_width=_LINE,
            separator=", ",
            prefix=_HEAD,
            suffix=")",
            threshold=_THRESHOLD,
            edgeitems=_EDGE,
            formatter={"all": one},
        )
    text = _HEAD + values
    for fact in facts:
        last_line = text.rsplit("\n", 1)[-1]
        if len(last_line) + 2 + len(fact) + 1 > _LINE:
            text += ",\n" + " " * len(_HEAD) + fact
        else:
            text += ", " + fact
    return text + ")"


def _shown(array: Array) -> Array:
    """The elements that an abbreviated text shows."""
    if array.size <= _THRESHOLD:
        return array
    for dim, size in enumerate(array.shape):
        if size > 2 * _EDGE:
            ends = [*range(_EDGE), *range(size - _EDGE, size)]
            array = np.take(array, ends, dim)
    return array


def _element_format(shown: Array) -> Callable[[object], str]:
    """How to write one element so that all shown ones take the same width."""
    kind = shown.dtype.kind
    if kind == "c":
        real, imaginary = _number_format(shown.real), _number_format(shown.imag)

        def complex_text(value: object) -> str:
            assert isinstance(value, (complex, np.complexfloating))
            sign = "-" if np.signbit(value.imag) else "+"
            return f"{real(value.real)}{sign}{imaginary(abs(value.imag))}j"

        return complex_text
    if kind == "f":
        return _aligned(_number_format(shown), shown)
    return _aligned(str, shown)


def _aligned(write: Callable[[object], str], shown: Array) -> Callable[[object], str]:
    """Texts filled up with spaces on the left."""
    width = max(len(write(x)) for x in shown.tolist()) if shown.ndim else 0
    return lambda value: write(value).rjust(width)


def _number_format(shown: Array) -> Callable[[object], str]:
    """Whole numbers as ``3.``, others with four digits, by powers of ten if they differ widely."""
    with np.errstate(invalid="ignore"):  # uninitialised memory may hold signalling NaNs
        sizes = np.abs(shown.astype(np.float64))
    sizes = sizes[np.isfinite(sizes) & (sizes != 0)]
    whole = bool((sizes == np.floor(sizes)).all())
    largest, smallest = (float(sizes.max()), float(sizes.min())) if sizes.size else (1.0, 1.0)
    powers = largest / smallest > 1000 or largest > 1e8 or (not whole and smallest < 1e-4)

    def text(value: object) -> str:
        number = float(value)  # type: ignore[arg-type]  # NumPy passes its scalars as object
        if not np.isfinite(number):
            return str(number)
        if powers:
            return f"{number:.{_DIGITS}e}"
        return f"{number:.0f}." if whole else f"{number:.{_DIGITS}f}"

    return text
