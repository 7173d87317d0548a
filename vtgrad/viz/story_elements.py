"""Elements of a buffer as runs: the first, the end, and the distance of each."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.write_log import Region
from vtgrad.viz.story_records import Runs

__all__ = ["Elements", "elements_of_array", "elements_of_mask", "elements_of_region"]

# A picture has no use for more runs.
_MOST: Final = 64
# Elements of an index are looked up one by one, up to this number.
_INDEXED: Final = 1_000_000


class Elements(NamedTuple):
    """Elements of a buffer.

    Attributes
    ----------
    runs : Runs
        The first runs.
    left_out : int
        The number of elements that they do not show.
    """

    runs: Runs
    left_out: int

    @property
    def number(self) -> int:
        """How many elements there are; those that two runs show count twice."""
        return self.left_out + sum(len(range(*run)) for run in self.runs)


def elements_of_array(array: Array, start: int, item: int) -> Elements:
    """The elements that an array shows.

    Parameters
    ----------
    array : ndarray
        The array, without pending conjugation.
    start : int
        The address of the buffer.
    item : int
        The size of the buffer's elements, in bytes.
    """
    offset = array.__array_interface__["data"][0] - start
    return _strided(offset, array.shape, array.strides, array.itemsize, item)


def _strided(offset: int, shape: Shape, strides: Shape, width: int, item: int) -> Elements:
    """The elements at a geometry in bytes, of elements of `width` bytes."""
    if 0 in shape:
        return Elements([], 0)
    steps = [(n, s) for n, s in zip(shape, strides, strict=True) if n > 1 and s]
    low = offset + sum([(n - 1) * s for n, s in steps if s < 0])
    if width % item or low % item or any(s % item for _, s in steps):
        # Elements of another size than the buffer's, at odd places: all that they touch.
        high = low + sum([(n - 1) * abs(s) for n, s in steps]) + width
        return Elements([[low // item, -(-high // item), 1]], 0)
    dims = sorted([(abs(s) // item, n) for n, s in steps])
    return _product(low // item, [(1, width // item), *dims] if width > item else dims)


def _product(first: int, dims: list[tuple[int, int]]) -> Elements:
    """The elements at a first one and the sums of multiples of steps, smallest step first."""
    joined: list[tuple[int, int]] = []
    for step, n in dims:
        if joined and joined[-1][0] * joined[-1][1] == step:
            joined[-1] = joined[-1][0], joined[-1][1] * n
        else:
            joined.append((step, n))
    step, n = joined[0] if joined else (1, 1)
    length = (n - 1) * step + 1
    rows = 1
    for _, count in joined[1:]:
        rows *= count
    starts = [first]
    # From the largest step to the smallest, so that the first runs come first.
    for stride, count in joined[:0:-1]:
        starts = [at + stride * k for at in starts for k in range(min(count, _MOST))][:_MOST]
    return Elements([[at, at + length, step] for at in starts], (rows - len(starts)) * n)


def elements_of_mask(mask: Array) -> Elements:
    """The elements where a mask is true."""
    changes = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])))).reshape(-1, 2)
    left_out = int((changes[_MOST:, 1] - changes[_MOST:, 0]).sum())
    return Elements([[start, stop, 1] for start, stop in changes[:_MOST].tolist()], left_out)


def elements_of_region(region: Region, item: int) -> Elements:
    """The elements that a write has marked.

    Parameters
    ----------
    region : Region
        The bytes.
    item : int
        The size of the buffer's elements, in bytes.
    """
    start, stop, detail = region
    if start == stop:
        return Elements([], 0)
    if detail is None:
        return Elements([[start // item, -(-stop // item), 1]], 0)
    offset, shape, strides, width, index = detail
    if index is None or stop - start > _INDEXED * item or width % item:
        return _strided(offset, shape, strides, width, item)
    size = -(-stop // item)
    places = np.lib.stride_tricks.as_strided(
        np.arange(size)[offset // item :], shape, [s // item * 8 for s in strides]
    )
    mask = np.zeros(size, np.bool_)
    if isinstance(index, tuple):
        found = places[index]
    elif index.dtype == np.bool_:
        found = places[np.broadcast_to(index, shape)]
    else:
        found = places[np.unravel_index(index, shape)] if shape else places
    for part in range(width // item):
        mask[found.ravel() + part] = True
    return elements_of_mask(mask)
