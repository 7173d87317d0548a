"""The factors of each element that `scatter_reduce` multiplies, in tables.

Note [Tables of factors]

The gradient of a product needs the products of all factors but one. `products_of_others` computes
those along the rows of a table, beside zeros and where products over- or underflow too. The factors
of each element are such a row. A row ends with ones, and rows of about the same length share a
table: so all tables have less than twice as many entries as there are factors, whatever the counts
are, and no element has a part in the product of another one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["FactorTables"]


class FactorTables(NamedTuple):
    """Where the factors of elements are; see Note [Tables of factors].

    Factors are numbered: 0 is a one, then follow the elements themselves, and then the values that
    are merged into them.

    Attributes
    ----------
    rows : list of array
        Tables of the numbers of factors.
    elements : list of array
        The element of each row of a table.
    of_elements, of_values : array
        Where each factor is in all tables, laid out one behind the other. Elements that are no
        factors are at the end.
    """

    rows: list[Array]
    elements: list[Array]
    of_elements: Array
    of_values: Array

    @classmethod
    def of(cls, positions: Array, replaced: Array) -> FactorTables:
        """The tables.

        Parameters
        ----------
        positions : array
            The element of each value.
        replaced : array
            For each element, whether it is no factor itself.
        """
        count = replaced.size
        kept = np.flatnonzero(~replaced)
        numbers = np.concatenate([1 + kept, 1 + count + making.arange(positions.size)])
        owners = np.concatenate([kept, positions])
        order = np.argsort(owners, kind="stable")
        numbers, owners = numbers[order], owners[order]
        lengths = np.bincount(owners, minlength=count)
        columns = making.arange(owners.size) - (np.cumsum(lengths) - lengths)[owners]
        # The width of a table is two to the power of this.
        bits = np.frexp(lengths - 1.0)[1]
        row_of, places = (
            making.zeros(count, np.int64),
            making.zeros(1 + count + positions.size, np.int64),
        )
        rows, elements, end = [], [], 0
        for exponent in np.unique(bits[owners]).tolist():
            of_table = np.flatnonzero((bits == exponent) & (lengths > 0))
            row_of[of_table] = making.arange(of_table.size)
            here = bits[owners] == exponent
            at = (row_of[owners[here]] << exponent) + columns[here]
            table = making.zeros(of_table.size << exponent, np.int64)
            table[at] = numbers[here]
            places[numbers[here]] = end + at
            end += table.size
            rows.append(table.reshape(-1, 1 << exponent))
            elements.append(of_table)
        places[1 + np.flatnonzero(replaced)] = end
        return cls(rows, elements, places[1 : 1 + count], places[1 + count :])
