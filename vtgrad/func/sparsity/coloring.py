"""Colours of the columns of a sparse matrix, so that those of one colour share no row.

Note [Colours]

The product of a matrix with the sum of some columns' unit vectors has every entry of these columns
in an element of its own, if no row has an entry in two of them (Curtis, Powell and Reid, "On the
estimation of sparse Jacobian matrices", IMA Journal of Applied Mathematics 13, 1974). So a
colouring of the columns, in which columns that share a row differ, gives the matrix in as many
products as there are colours. To find the fewest colours is NP-hard. The greedy algorithm takes the
columns in some order and gives each the first colour that none of its neighbours has; it needs as
many colours as the longest row, at least (Gebremedhin, Manne and Pothen, "What color is your
Jacobian? Graph coloring for computing derivatives", SIAM Review 47, 2005, section 4).

Here neighbours are not listed: each row keeps the colours that its columns have so far as the bits
of one integer, and the first free colour of a column is the lowest bit that none of its rows has.
The time is that of the entries, not of the pairs of columns. Two orders are tried: as the columns
are, which is best for banded matrices, and by falling number of the entries in their rows.
"""

from __future__ import annotations

import numpy as np

from vtgrad.ops.rules.patterns.index_sets import IntArray
from vtgrad.storage import making

__all__ = ["color_count", "column_colors", "transposed"]


def transposed(
    indptr: IntArray, indices: IntArray, columns: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The pattern by columns.

    Parameters
    ----------
    indptr, indices : ndarray
        The pattern by rows: row ``i`` has the columns ``indices[indptr[i] : indptr[i + 1]]``.
    columns : int
        The number of columns.

    Returns
    -------
    tuple of ndarray
        Where each column begins, the rows of the columns, and the order of the entries.
    """
    order = np.argsort(indices, kind="stable")
    rows = np.repeat(making.arange(indptr.size - 1), np.diff(indptr))
    starts = making.zeros(columns + 1, np.int64)
    np.cumsum(np.bincount(indices, minlength=columns), out=starts[1:])
    return starts, rows[order], order


def column_colors(indptr: IntArray, indices: IntArray, columns: int) -> IntArray:
    """The colour of each column, -1 for a column without entries; see Note [Colours]."""
    starts, rows, _ = transposed(indptr, indices, columns)
    lengths = np.diff(indptr)
    used = np.flatnonzero(np.diff(starts))
    least = int(lengths.max(initial=0))
    if least == used.size:
        # A row meets all columns.
        colors = making.full(columns, -1, np.int64)
        colors[used] = making.arange(used.size)
        return colors
    natural = _greedy(starts, rows, used, lengths.size)
    if color_count(natural) == least:
        return natural
    weights = np.add.reduceat(lengths[rows], starts[used])
    largest_first = _greedy(starts, rows, used[np.argsort(-weights, kind="stable")], lengths.size)
    return largest_first if color_count(largest_first) < color_count(natural) else natural


def color_count(colors: IntArray) -> int:
    """How many colours there are."""
    return int(colors.max(initial=-1)) + 1


def _greedy(starts: IntArray, rows: IntArray, order: IntArray, count: int) -> IntArray:
    """The colours that the greedy algorithm gives to the columns in an order."""
    taken = [0] * count
    colors = making.full(starts.size - 1, -1, np.int64)
    begins, of = starts.tolist(), rows.tolist()
    for column in order.tolist():
        own = of[begins[column] : begins[column + 1]]
        met = 0
        for row in own:
            met |= taken[row]
        free = ~met & (met + 1)
        colors[column] = free.bit_length() - 1
        for row in own:
            taken[row] |= free
    return colors
