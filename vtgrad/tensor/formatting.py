"""The text of a tensor: values, then dtype, gradient state and other facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np

from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.lazy_array import resolved, without_repeats
from vtgrad.tensor.print_options import PrintOptions, printing

__all__ = ["element_texts", "plain_values", "tensor_text"]

# One element, as in `tolist`.
Element: TypeAlias = bool | int | float | complex

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
    options = printing.options
    if array.size == 0:
        text = f"{_HEAD}[]"
        if array.ndim != 1:
            facts = [f"size={array.shape}", *facts]
    else:
        text = _HEAD + _values_text(plain_values(array), options)
    # As in PyTorch, two columns stay free beside the values, but not beside facts alone.
    column = len(text.rsplit("\n", 1)[-1]) + 2
    for fact in facts:
        if column + 2 + len(fact) > options.linewidth:
            text += ",\n" + " " * len(_HEAD) + fact
            column = len(_HEAD) + len(fact)
        else:
            text += ", " + fact
            column += 2 + len(fact)
    return text + ")"


def element_texts(array: Array) -> list[str]:
    """The text of each element, row by row, as in the text of a tensor with these elements."""
    flat = array.reshape(-1)
    write, _ = _element_format(flat, printing.options)
    return [write(x) for x in flat.tolist()]


def plain_values(array: Array) -> Array:
    """The values as a plain array, of whose repeated elements no copies are made."""
    if type(array) in PLAIN:
        return array
    return making.broadcast_to(resolved(without_repeats(array)), array.shape)


def _values_text(array: Array, options: PrintOptions) -> str:
    """The elements, in brackets, as many on each line as fit."""
    # Of larger arrays only the first and the last elements of each dimension are shown.
    edge = options.edgeitems if array.size > options.threshold else None
    write, width = _element_format(_shown(array, edge).reshape(-1), options)
    if array.ndim == 0:
        return write(array.item())
    columns = options.linewidth - len(_HEAD) - (array.ndim - 1)
    return _block(array, len(_HEAD), write, max(columns // (width + 2), 1), edge)


def _block(
    array: Array,
    indent: int,
    write: Callable[[Element], str],
    per_line: int,
    edge: int | None,
) -> str:
    """An array in brackets, with the first bracket in column `indent`."""

    def texts(part: Array) -> list[str]:
        if array.ndim == 1:
            return [write(x) for x in part.tolist()]
        return [_block(x, indent + 1, write, per_line, edge) for x in part]

    if edge is not None and len(array) > 2 * edge:
        dots = " ..." if array.ndim == 1 else "..."
        items = [*texts(array[:edge]), dots, *texts(array[len(array) - edge :])]
    else:
        items = texts(array)
    if array.ndim == 1:
        items = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    gap = "\n" * max(array.ndim - 1, 1) + " " * (indent + 1)
    return "[" + f",{gap}".join(items) + "]"


def _shown(array: Array, edge: int | None) -> Array:
    """The elements that a text shows, which is abbreviated if it has edges."""
    if edge is None:
        return array
    for dim, size in enumerate(array.shape):
        if size > 2 * edge:
            before = (slice(None),) * dim
            ends = array[*before, :edge], array[*before, size - edge :]
            array = np.concatenate(ends, dim)
    return array


def _element_format(shown: Array, options: PrintOptions) -> tuple[Callable[[Element], str], int]:
    """The function that formats one element, and the common width."""
    kind = shown.dtype.kind
    if kind == "c":
        real, real_width = _number_format(shown.real, options)
        imaginary, imaginary_width = _number_format(shown.imag, options)

        def complex_text(value: Element) -> str:
            part = imaginary(value.imag).lstrip()
            sign = "" if part.startswith("-") else "+"
            return f"{real(value.real)}{sign}{part}j"

        return complex_text, real_width + imaginary_width + 1
    if kind == "f":
        return _number_format(shown, options)
    return _aligned(str, shown.tolist())


def _aligned(
    write: Callable[[Element], str], values: Sequence[Element]
) -> tuple[Callable[[Element], str], int]:
    """Texts padded with spaces on the left to the width of the widest of `values`."""
    width = max([len(write(x)) for x in values], default=1)
    return lambda value: write(value).rjust(width), width


def _number_format(shown: Array, options: PrintOptions) -> tuple[Callable[[Element], str], int]:
    """Integers as ``3.``, others with four digits, in scientific notation if they differ widely.

    Options may say otherwise.

    As in PyTorch, zeros, infinities and NaN do not count for the width.
    """
    with np.errstate(invalid="ignore"):  # uninitialised memory may hold signalling NaNs
        numbers = shown.astype(np.float64)
    numbers = numbers[np.isfinite(numbers) & (numbers != 0)]
    sizes = np.abs(numbers)
    whole = bool((sizes == np.floor(sizes)).all())
    largest, smallest = (float(sizes.max()), float(sizes.min())) if sizes.size else (1.0, 1.0)
    powers = options.sci_mode
    if powers is None:
        powers = largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4
    digits = options.precision

    def text(value: Element) -> str:
        if not np.isfinite(value):
            return str(value)
        if powers:
            return f"{value:.{digits}e}"
        return f"{value:.0f}." if whole else f"{value:.{digits}f}"

    return _aligned(text, numbers.tolist())
