"""The elements of a saved value that were overwritten, and the versions; for messages.

Note [Which writes are named]

An error names the first and the last write of the needed elements, and no write of others. The log
has two sources for them, see Note [Exact staleness]. For each element it has the version of the
*last* write, however long ago. For the last few writes it has their regions, which also show a
write whose elements were all written again:

    y = x * w     # saves w
    w.mul_(2)     # version 1
    w.add_(1)     # version 2: the last write of every element

The first write is therefore the first remembered one. Earlier ones may have been forgotten.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vtgrad.storage.arrays import Array
from vtgrad.storage.strides import reach
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.storage.write_log import SAVED, Region, WriteLog

__all__ = ["WrittenElements", "written_elements"]


class WrittenElements(NamedTuple):
    """The elements of a saved value that were overwritten, as `StaleSavedError` reports them.

    Attributes
    ----------
    count : int
        The number of overwritten elements.
    size : int
        The number of elements of the value.
    slices : tuple of slice
        For each dimension of the value, from the first overwritten index to one past the last.

    Examples
    --------
    >>> x = vt.ones(4, requires_grad=True).clone()
    >>> y = (x * x).sum()
    >>> x[1:3] = 0
    >>> try:
    ...     y.backward()
    ... except vt.errors.StaleSavedError as error:
    ...     print(error.elements)
    2 of its 4 elements were overwritten, in [1:3]
    """

    count: int  # type: ignore[assignment]  # hides `tuple.count`, which has no use here
    size: int
    slices: tuple[slice, ...]

    def __str__(self) -> str:
        if self.count == self.size:
            return (
                "its element was overwritten"
                if self.size == 1
                else f"all its {self.size} elements were overwritten"
            )
        verb = "was" if self.count == 1 else "were"
        index = ", ".join([_told(part) for part in self.slices])
        return f"{self.count} of its {self.size} elements {verb} overwritten, in [{index}]"


def written_elements(
    counter: VersionCounter, array: Array, offset: int, after: int
) -> tuple[WrittenElements, list[int]] | None:
    """The overwritten elements of a saved value; see Note [Which writes are named].

    Parameters
    ----------
    counter : VersionCounter
        The counter of the value.
    array : ndarray
        The value.
    offset : int
        Offset of its first element in the storage, in bytes.
    after : int
        The last version at which the value was intact.

    Returns
    -------
    tuple of WrittenElements and list of int, or None
        The elements, and in order the known versions that wrote one of them. None if no element was
        written, or if the log cannot tell.
    """
    log = counter.log
    if log is None or log is SAVED or not array.size:
        return None
    # The elements that a dimension of stride 0 repeats are compared once.
    shape = tuple([n if s else 1 for n, s in zip(array.shape, array.strides, strict=True)])
    low, high = reach(shape, array.strides, offset)
    item = array.itemsize
    region = low, high + item, (offset, shape, array.strides, item, None)
    granules = log.written_versions(region, after)
    if granules is None:
        return None
    versions = granules.max(axis=-1)
    written = versions > 0
    looked_at = int(np.count_nonzero(written))
    if not looked_at:
        return None
    elements = WrittenElements(
        looked_at * (array.size // versions.size), array.size, _bounds(written, array.shape)
    )
    known = set(np.unique(versions[written]).tolist())
    return elements, sorted(known.union(_recent(log, region, after)))


def _bounds(written: Array, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """The smallest slices that contain a mask's elements; a repeated dimension is whole."""
    found: list[slice] = []
    for dim, size in enumerate(shape):
        if written.shape[dim] != size:
            found.append(slice(0, size))
            continue
        others = tuple([other for other in range(written.ndim) if other != dim])
        (indices,) = np.nonzero(written.any(axis=others))
        if indices.size == size > 1:
            found.append(slice(0, size))
        else:
            found.append(slice(int(indices[0]), int(indices[-1]) + 1))
    return tuple(found)


def _recent(log: WriteLog, region: Region, after: int) -> list[int]:
    """The versions among the last writes that wrote an element of a region."""
    found: list[int] = []
    for entry in log.recent:
        if entry is not None and entry[0] > after:
            alone = WriteLog(0, log.nbytes)
            alone.entries.append((1, *entry[1:]))
            if alone.is_written(region, 0):
                found.append(entry[0])
    return found


def _told(part: slice) -> str:
    start, stop = part.start, part.stop
    return str(start) if stop - start == 1 else f"{start}:{stop}"
