"""Names for the types of arguments, as signatures show them: for annotations of a user's functions.

``Int`` and the others accept what the functions of `vtgrad` accept when they run: NumPy's scalars
beside Python's numbers. A function that hands its argument on can be annotated with the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Protocol, SupportsIndex, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .tensor.tensor import Tensor

__all__ = [
    "Data",
    "Dim",
    "Dims",
    "Index",
    "IndexItem",
    "Int",
    "Nested",
    "NestedSequence",
    "Number",
    "Real",
]

Item_co = TypeVar("Item_co", covariant=True)


class NestedSequence(Protocol[Item_co]):
    """A sequence of items, of such sequences, and so on; text is none.

    Lists, tuples and ranges are. A ``str`` would be a sequence of itself; it is none here, because
    only text can be looked for in it.

    Examples
    --------
    >>> def depth(nested: vt.types.NestedSequence[float] | float) -> int:
    ...     return 0 if isinstance(nested, float) else 1 + depth(nested[0])
    >>> depth([[1.0, 2.0], [3.0, 4.0]])
    2
    """

    def __len__(self) -> int:
        """Number of entries."""

    def __getitem__(self, index: int, /) -> Item_co | NestedSequence[Item_co]:
        """One entry."""

    def __contains__(self, item: object, /) -> bool:
        """Whether an object is among the entries."""


# Integers, and numbers that need not be whole.
Int: TypeAlias = int | np.integer[Any]
Real: TypeAlias = float | np.floating[Any] | np.integer[Any] | np.bool
Number: TypeAlias = int | float | complex | np.number[Any] | np.bool

# A dimension by its position or its name, and several of them.
Dim: TypeAlias = Int | str
Dims: TypeAlias = Dim | Sequence[Dim]

# The values of a new tensor.
Data: TypeAlias = Number | Tensor | NDArray[Any] | NestedSequence[Number | Tensor | NDArray[Any]]

# The result of `Tensor.tolist`.
Nested: TypeAlias = "int | float | complex | list[Nested]"

# What may stand in the brackets of ``x[...]``, alone or in a tuple.
IndexItem: TypeAlias = SupportsIndex | slice | EllipsisType | Tensor | NDArray[Any] | None
Index: TypeAlias = IndexItem | NestedSequence[IndexItem]
