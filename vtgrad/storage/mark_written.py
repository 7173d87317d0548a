# Compiled by mypyc.
"""Marking elements as written, before the write; see Note [Exact staleness].

Called only if the counter has a log, and before the version moves.

Note [Marked for the next version]

A write marks its elements as written by the version ``counter.value + 1``, then moves the counter,
then stores. A signal handler may run as soon as the call that marks returns. If the handler writes,
it takes that number, and the marks are those of a version that another write made. So the writer
compares the number with the next one after each mark, and marks again if they differ. From the
comparison to the end of the store it makes no call but the one that stores, so no handler runs
there: neither the loop nor the assignment can move into a function.
"""

from __future__ import annotations

from types import EllipsisType
from typing import TypeAlias

from vtgrad.storage.arrays import Array
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.prepared_store import FoundIndex
from vtgrad.storage.rewind import keep_overwritten
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.storage.write_log import SAVED, region_of

__all__ = ["PartIndex", "mark_array", "mark_part", "mark_written"]

# The index of a part: integers and slices, one for each of the first dimensions, and `...`.
PartIndex: TypeAlias = tuple[int | slice | EllipsisType, ...]


def mark_written(
    impl: TensorImpl,
    counter: VersionCounter,
    index: FoundIndex | None = None,
    *,
    already: bool = False,
) -> int:
    """Mark elements of a tensor as written by the version that comes next.

    Parameters
    ----------
    impl : TensorImpl
        The tensor that will be written.
    index : FoundIndex, optional
        The elements; all by default.
    already : bool
        Whether the elements may have been overwritten by other means, so that they cannot be kept.

    Returns
    -------
    int
        That version; see Note [Marked for the next version].
    """
    log = counter.log
    if log is None or log is SAVED:
        log = impl.own_log(counter)
    # The whole array is the commonest.
    written = index() if index is not None and callable(index) else index
    region = region_of(impl.array, impl.byte_offset, written)
    version = log.note(counter, region)
    # Where no element is written, the state that the token stands for goes on.
    if log.token is not None and region[0] != region[1]:
        storage = None if already else impl.storage
        keep_overwritten(log, version, storage, impl.array, impl.byte_offset, written)
    return version


def mark_part(impl: TensorImpl, counter: VersionCounter, index: PartIndex) -> int:
    """Mark a part of a tensor as written by the version that comes next.

    Parameters
    ----------
    index : PartIndex
        With `...` at the end.

    Returns
    -------
    int
        As `mark_written`.
    """
    row, layout = index[0], impl.layout
    if len(index) != 2 or type(row) is not int or layout is None or layout is PECULIAR:
        part = impl.array[index]
        offset = impl.byte_offset + _address(part) - _address(impl.array)
        return mark_array(impl, counter, part, offset)
    log = counter.log
    if log is None or log is SAVED:
        log = impl.own_log(counter)
    if row < 0:
        row += layout.shape[0]
    offset = impl.byte_offset + row * layout.row_bytes
    version = log.note(counter, (offset, offset + layout.row_bytes, None))
    if log.token is not None:
        keep_overwritten(log, version, impl.storage, impl.array[index], offset, None)
    return version


def mark_array(impl: TensorImpl, counter: VersionCounter, part: Array, offset: int) -> int:
    """Mark a part of a tensor as written by the version that comes next.

    Parameters
    ----------
    part : ndarray
        The elements of the part.
    offset : int
        Offset of the first of them in the storage, in bytes.

    Returns
    -------
    int
        As `mark_written`.
    """
    log = counter.log
    if log is None or log is SAVED:
        log = impl.own_log(counter)
    version = log.note(counter, region_of(part, offset))
    if log.token is not None:
        keep_overwritten(log, version, impl.storage, part, offset, None)
    return version


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
