"""What differs between the repetitions of a loop, as text: sums of loop variables, or tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from vtgrad.jit.listing import Integers
from vtgrad.jit.literals import Imports, literal

__all__ = ["Tables", "affine_text", "kept_axes"]


def affine_text(values: Integers, variables: Sequence[str]) -> str | None:
    """An integer of each repetition as a sum: ``2 * t + 1``; None if it is none.

    Parameters
    ----------
    values : array of int
        With an axis for each loop.
    variables : sequence of str
        The variables of the loops.

    Examples
    --------
    >>> affine_text(np.array([5, 4, 3]), ["t"])
    '5 - t'
    """
    start = int(values[(0,) * values.ndim])
    expected: Integers = np.full((1,) * values.ndim, start)
    terms = []
    for axis, variable in enumerate(variables):
        if values.shape[axis] < 2:
            continue
        place = [0] * values.ndim
        place[axis] = 1
        step = int(values[tuple(place)]) - start
        if step:
            terms.append((step, variable))
        shape = [1] * values.ndim
        shape[axis] = values.shape[axis]
        expected = expected + step * np.arange(values.shape[axis]).reshape(shape)
    if (values != expected).any():
        return None
    return _sum_text(start, terms)


def _sum_text(start: int, terms: list[tuple[int, str]]) -> str:
    """The sum, with what is positive first."""
    signed = [(step, name if abs(step) == 1 else f"{abs(step)} * {name}") for step, name in terms]
    if start or not terms:
        signed.append((start, str(abs(start))))
    signed.sort(key=lambda term: term[0] < 0)
    first, *others = signed
    text = first[1] if first[0] >= 0 else f"-{first[1]}"
    for sign, part in others:
        text += f" - {part}" if sign < 0 else f" + {part}"
    return text


def kept_axes(*columns: Integers) -> list[int]:
    """The loops with which at least one of some columns changes."""
    return [
        axis
        for axis in range(columns[0].ndim)
        if any((column != column.take([0], axis)).any() for column in columns)
    ]


def flat_index(shape: Sequence[int], kept: Sequence[int]) -> Integers:
    """For each repetition, the number of its entry in a list for the loops that are kept."""
    sizes = [count if axis in kept else 1 for axis, count in enumerate(shape)]
    numbers = np.arange(int(np.prod(sizes, dtype=np.int64))).reshape(sizes)
    found: Integers = np.broadcast_to(numbers, tuple(shape))
    return found


class Tables:
    """Lists of numbers that a source needs where an index or a factor follows no rule.

    Attributes
    ----------
    lines : list of str
        The statements that define them.
    """

    __slots__ = ("_imports", "_names", "_new_name", "lines")

    lines: list[str]
    _imports: Imports
    _new_name: Callable[[str], str]
    _names: dict[str, str]

    def __init__(self, imports: Imports, new_name: Callable[[str], str]) -> None:
        self.lines = []
        self._imports = imports
        self._new_name = new_name
        self._names = {}

    def index(self, values: Integers, variables: Sequence[str]) -> str:
        """The text of an integer that changes with the repetitions."""
        found = affine_text(values, variables)
        if found is not None:
            return found
        kept = kept_axes(values)
        entries = _of_kept(values, kept).ravel().tolist()
        return self._entry("order", entries, values.shape, kept, variables)

    def floats(
        self, values: Sequence[float], shape: Sequence[int], variables: Sequence[str]
    ) -> str:
        """The text of a float that may change with the repetitions, which are in C order."""
        numbers: dict[str, int] = {}
        codes = np.array(
            [
                numbers.setdefault(x.hex() if x == x else literal(x, self._imports), len(numbers))
                for x in values
            ]
        ).reshape(tuple(shape))
        kept = kept_axes(codes)
        if not kept:
            return literal(values[0], self._imports)
        places = _of_kept(np.arange(codes.size).reshape(codes.shape), kept).ravel()
        entries = [values[place] for place in places.tolist()]
        return self._entry("factors", entries, shape, kept, variables)

    def _entry(
        self,
        name: str,
        entries: Sequence[int] | Sequence[float],
        shape: Sequence[int],
        kept: Sequence[int],
        variables: Sequence[str],
    ) -> str:
        text = literal(tuple(entries), self._imports)
        if text not in self._names:
            self._names[text] = self._new_name(name)
            self.lines.append(f"{self._names[text]} = {text}")
        index = affine_text(flat_index(shape, kept), variables)
        return f"{self._names[text]}[{index}]"


def _of_kept(values: Integers, kept: Sequence[int]) -> Integers:
    """The entries of the first repetition of each loop that is not kept."""
    return values[tuple([slice(None) if axis in kept else slice(1) for axis in range(values.ndim)])]
