"""Sets of column numbers, which are found by numbers of their own.

Note [Index sets]

While a function is traced, each element of a tensor has the set of those inputs that it depends on.
A set is never changed. It has a number, and what is kept for a tensor is an array of such numbers.
So an operator that only moves elements copies numbers, a write to a part stores the numbers of that
part, and the elements of a dense result share one set. Two numbers have a fixed meaning:

    EMPTY   the element does not depend on the inputs
    VALUE   it does, but its derivative is zero everywhere, as that of a comparison

In the order EMPTY, VALUE, others the larger absorbs the smaller in every union. The full set
absorbs all.

The members of all sets are in one array, each set sorted. Unions are computed for all elements of
an operator at once: members are tagged with the number of the union that they belong to, and
sorted. A union that is one of its operands gets that operand's number.

Sets that no tensor refers to any more stay in the array until `compact` is called. If the array
would exceed a bound, `SetsTooLargeError` is raised; the pattern is then found by smaller blocks of
columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, TypeVar, cast

import numpy as np

from vtgrad.storage import making

__all__ = ["EMPTY", "VALUE", "IndexSets", "IntArray", "SetsTooLargeError"]

IntArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

A = TypeVar("A", bound=np.ndarray[tuple[int, ...], np.dtype[np.integer]])

EMPTY: Final = 0
VALUE: Final = 1

# The number of members that are sorted at once, which bounds the memory of a union.
_AT_ONCE: Final = 2**20


class SetsTooLargeError(BaseException):
    """The index sets need more memory than allowed.

    It ends the run of a function, which must not catch it as an error of its own: so it is no
    `Exception`.
    """


class IndexSets:
    """The sets of one run; see Note [Index sets].

    Parameters
    ----------
    columns : int
        Members are from 0 to one less than this.
    bound : int
        The largest number of members of all sets.

    Attributes
    ----------
    count : int
        The number of sets so far, the two fixed ones included.
    used : int
        The number of members of all sets.
    """

    __slots__ = ("_bound", "_columns", "_full", "_lengths", "_members", "_starts", "count", "used")

    count: int
    used: int
    _bound: int
    _columns: int
    _full: int
    _lengths: IntArray
    _members: np.ndarray[tuple[int, ...], np.dtype[np.int64 | np.int32]]
    _starts: IntArray

    def __init__(self, columns: int, bound: int) -> None:
        self._columns = columns
        self._bound = bound
        # The number of the set of all columns; -1 if there is none yet.
        self._full = -1
        self._starts = making.zeros(64, np.int64)
        self._lengths = making.zeros(64, np.int64)
        self._members = making.zeros(64, np.int32 if columns < 2**31 else np.int64)
        self.count = 2
        self.used = 0

    def singletons(self, first: int, last: int) -> IntArray:
        """The sets of one column each, of those from `first` to before `last`."""
        count = last - first
        return self._append(making.arange(first, last), making.ones(count, np.int64))

    def members(self, ids: IntArray) -> tuple[IntArray, IntArray]:
        """The members of some sets, one set after the other, and the length of each."""
        lengths = self._lengths[ids]
        return self._expanded(ids, lengths), lengths

    def unite(self, a: IntArray, b: IntArray) -> IntArray:
        """The unions of the sets at the same index; the arrays broadcast."""
        low, high = making.asarray(np.minimum(a, b)), making.asarray(np.maximum(a, b))
        if self._full >= 0:
            full = (low == self._full) | (high == self._full)
            low, high = np.where(full, self._full, low), np.where(full, self._full, high)
        real = (low > VALUE) & (low != high)
        if not real.any():
            return high
        key = low[real] * self.count + high[real]
        pairs, inverse = np.unique(key, return_inverse=True)
        first, second = np.divmod(pairs, self.count)
        owner = np.repeat(making.arange(pairs.size), 2)
        united = self._join(owner, np.stack([first, second], 1).reshape(-1), pairs.size)
        high[real] = united[inverse]
        return high

    def unite_groups(self, ids: IntArray, groups: IntArray, count: int) -> IntArray:
        """The union of the sets of each group.

        Parameters
        ----------
        ids, groups : ndarray
            Sets, and the group that each belongs to, in one dimension.
        count : int
            The number of groups.
        """
        result = making.zeros(count, np.int64)
        present = ids != EMPTY
        if not present.any():
            return result
        ids, groups = ids[present], groups[present]
        result[groups] = VALUE
        present = ids > VALUE
        group, member = np.divmod(
            np.unique(groups[present] * self.count + ids[present]), self.count
        )
        if self._full >= 0 and (member == self._full).any():
            result[group[member == self._full]] = self._full
            rest = result[group] != self._full
            group, member = group[rest], member[rest]
        numbers = np.bincount(group, minlength=count)
        alone = numbers[group] == 1
        result[group[alone]] = member[alone]
        several = ~alone
        if several.any():
            found, owner = np.unique(group[several], return_inverse=True)
            result[found] = self._join(owner, member[several], found.size)
        return result

    def unite_rows(self, ids: IntArray) -> IntArray:
        """The union of each row of a matrix."""
        rows, length = ids.shape
        if length == 1:
            return ids[:, 0]
        if rows and length and (ids == ids[:, :1]).all():
            return ids[:, 0].copy()
        groups = np.repeat(making.arange(rows), length)
        return self.unite_groups(ids.reshape(-1), groups, rows)

    def without_members(self, ids: IntArray) -> IntArray:
        """What depends on the values of elements, but has no derivative by them."""
        return np.minimum(ids, VALUE)

    def is_half_full(self) -> bool:
        """Whether half of what the bound allows is used."""
        return self.used > self._bound // 2

    def compact(self, arrays: Sequence[IntArray]) -> None:
        """Forget the sets that are in none of the arrays, and renumber the others in them."""
        live = np.unique(
            np.concatenate([np.unique(ids) for ids in arrays] or [making.zeros(0, int)])
        )
        live = live[live > VALUE]
        members, lengths = self.members(live)
        renumbered = making.arange(self.count)
        renumbered[live] = making.arange(2, 2 + live.size)
        if self._full >= 0:
            self._full = int(renumbered[self._full]) if self._full in live else -1
        self._members[: members.size] = members
        self._lengths[2 : 2 + live.size] = lengths
        self._starts[2 : 2 + live.size] = np.cumsum(lengths) - lengths
        self.count, self.used = 2 + live.size, members.size
        for ids in arrays:
            ids[...] = renumbered[ids]

    def _join(self, owner: IntArray, ids: IntArray, count: int) -> IntArray:
        """The union of the sets of each owner; owners are sorted, and each has two sets or more."""
        lengths = self._lengths[ids]
        ends = np.cumsum(lengths)
        if count > 1 and ends[-1] > _AT_ONCE:
            middle = count // 2
            cut = int(np.searchsorted(owner, middle))
            return np.concatenate(
                [
                    self._join(owner[:cut], ids[:cut], middle),
                    self._join(owner[cut:] - middle, ids[cut:], count - middle),
                ]
            )
        columns = self._columns
        key = np.repeat(owner, lengths) * columns + self._expanded(ids, lengths)
        key.sort()
        distinct = making.empty(key.size, np.bool_)
        distinct[:1] = True
        np.not_equal(key[1:], key[:-1], out=distinct[1:])
        of, members = np.divmod(key[distinct], columns)
        found = np.bincount(of, minlength=count)
        result = making.full(count, -1, np.int64)
        # An operand of the same length is the union itself.
        same = lengths == found[owner]
        result[owner[same]] = ids[same]
        new = result < 0
        if new.any():
            full = new & (found == columns)
            if full.any():
                result[full] = self._full_set()
                new &= ~full
            result[new] = self._append(members[new[of]], found[new])
        return result

    def _full_set(self) -> int:
        if self._full < 0:
            columns = self._columns
            self._full = int(self._append(making.arange(columns), making.array([columns]))[0])
        return self._full

    def _expanded(self, ids: IntArray, lengths: IntArray) -> IntArray:
        """The members of some sets, one set after the other."""
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if ends.size else 0
        # The distance between the member's index here and in `_members`.
        shift = self._starts[ids] - ends + lengths
        members = self._members[making.arange(total) + np.repeat(shift, lengths)]
        return members.astype(np.int64, copy=False)

    def _append(self, members: IntArray, lengths: IntArray) -> IntArray:
        """Make new sets, of members that follow each other; the numbers of the sets."""
        count, used = self.count + lengths.size, self.used + members.size
        if used > self._bound:
            raise SetsTooLargeError
        self._members = _grown(self._members, used)
        self._starts = _grown(self._starts, count)
        self._lengths = _grown(self._lengths, count)
        self._members[self.used : used] = members
        self._lengths[self.count : count] = lengths
        self._starts[self.count : count] = self.used + np.cumsum(lengths) - lengths
        ids = making.arange(self.count, count)
        self.count, self.used = count, used
        return ids


def _grown(array: A, size: int) -> A:
    """The array with room for so many elements, at least doubled if it has not."""
    if size <= array.size:
        return array
    larger = making.zeros(max(size, 2 * array.size), array.dtype)
    larger[: array.size] = array
    return cast("A", larger)
