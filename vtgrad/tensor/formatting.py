"""The text of a tensor: values, then dtype, gradient state and other facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np

from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved, without_repeats

__all__ = ["element_texts", "plain_values", "tensor_text"]

# One element, as in `tolist`.
Element: TypeAlias = bool | int | float | complex

# Of larger arrays only the first and the last `_EDGE` elements of each dimension are shown.
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
        The parts after the values, such as ``requires_grad=True``.
    """
    if array.size == 0:
        text = f"{_HEAD}[]"
        if array.ndim != 1:
            facts = [f"size={array.shape}", *facts]
    else:
        text = _HEAD + _values_text(plain_values(array))
    # As in PyTorch, two columns stay free beside the values, but not beside facts alone.
    column = len(text.rsplit("\n", 1)[-1]) + 2
    for fact in facts:
        if column + 2 + len(fact) > _LINE:
            text += ",\n" + " " * len(_HEAD) + fact
            column = len(_HEAD) + len(fact)
        else:
            text += ", " + fact
            column += 2 + len(fact)
    return text + ")"


def element_texts(array: Array) -> list[str]:
    """The text of each element, row by row, as in the text of a tensor with these elements."""
    flat = array.reshape(-1)
    write, _ = _element_format(flat)
    return [write(x) for x in flat.tolist()]


def plain_values(array: Array) -> Array:
    """The values as a plain array, of whose repeated elements no copies are made."""
    if type(array) is np.ndarray:
        return array
    return np.broadcast_to(resolved(without_repeats(array)), array.shape)


def _values_text(array: Array) -> str:
    """The elements, in brackets, as many on each line as fit."""
    write, width = _element_format(_shown(array).reshape(-1))
    if array.ndim == 0:
        return write(array.item())
    columns = _LINE - len(_HEAD) - (array.ndim - 1)
    return _block(array, len(_HEAD), write, max(columns // (width + 2), 1), array.size > _THRESHOLD)


def _block(
    array: Array,
    indent: int,
    write: Callable[[Element], str],
    per_line: int,
    abbreviated: bool,
) -> str:
    """An array in brackets, with the first bracket in column `indent`."""

    def texts(part: Array) -> list[str]:
        if array.ndim == 1:
            return [write(x) for x in part.tolist()]
        return [_block(x, indent + 1, write, per_line, abbreviated) for x in part]

    if abbreviated and len(array) > 2 * _EDGE:
        dots = " ..." if array.ndim == 1 else "..."
        items = [*texts(array[:_EDGE]), dots, *texts(array[-_EDGE:])]
    else:
        items = texts(array)
    if array.ndim == 1:
        items = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    gap = "\n" * max(array.ndim - 1, 1) + " " * (indent + 1)
    return "[" + f",{gap}".join(items) + "]"


def _shown(array: Array) -> Array:
    """The elements that an abbreviated text shows."""
    if array.size <= _THRESHOLD:
        return array
    for dim, size in enumerate(array.shape):
        if size > 2 * _EDGE:
            before = (slice(None),) * dim
            ends = array[*before, :_EDGE], array[*before, -_EDGE:]
            array = np.concatenate(ends, dim)
    return array


def _element_format(shown: Array) -> tuple[Callable[[Element], str], int]:
    """The function that formats one element, and the common width."""
    kind = shown.dtype.kind
    if kind == "c":
        real, real_width = _number_format(shown.real)
        imaginary, imaginary_width = _number_format(shown.imag)

        def complex_text(value: Element) -> str:
            part = imaginary(value.imag).lstrip()
            sign = "" if part.startswith("-") else "+"
            return f"{real(value.real)}{sign}{part}j"

        return complex_text, real_width + imaginary_width + 1
    if kind == "f":
        return _number_format(shown)
    return _aligned(str, shown.tolist())


def _aligned(
    write: Callable[[Element], str], values: Sequence[Element]
) -> tuple[Callable[[Element], str], int]:
    """Texts padded with spaces on the left to the width of the widest of `values`."""
    width = max([len(write(x)) for x in values], default=1)
    return lambda value: write(value).rjust(width), width


def _number_format(shown: Array) -> tuple[Callable[[Element], str], int]:
    """Integers as ``3.``, others with four digits, in scientific notation if they differ widely.

    As in PyTorch, zeros, infinities and NaN do not count for the width.
    """
    with np.errstate(invalid="ignore"):  # uninitialised memory may hold signalling NaNs
        numbers = shown.astype(np.float64)
    numbers = numbers[np.isfinite(numbers) & (numbers != 0)]
    sizes = np.abs(numbers)
    whole = bool((sizes == np.floor(sizes)).all())
    largest, smallest = (float(sizes.max()), float(sizes.min())) if sizes.size else (1.0, 1.0)
    powers = largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4

    def text(value: Element) -> str:
        if not np.isfinite(value):
            return str(value)
        if powers:
            return f"{value:.{_DIGITS}e}"
        return f"{value:.0f}." if whole else f"{value:.{_DIGITS}f}"

    return _aligned(text, numbers.tolist())
