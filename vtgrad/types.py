"""Names for the types of arguments, as signatures show them: for annotations of a user's functions.

``Int`` and the others accept what the functions of `vtgrad` accept when they run: NumPy's scalars
beside Python's numbers. A function that hands its argument on can be annotated with the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vtgrad.storage.dtypes import DType
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "DTypeLike",
    "DTypeName",
    "Data",
    "Dim",
    "Dims",
    "Index",
    "IndexItem",
    "Int",
    "Nested",
    "NestedData",
    "NestedIndex",
    "Number",
    "NumberClass",
    "Real",
]

# Integers, and numbers that need not be whole.
Int: TypeAlias = int | np.integer[Any]
Real: TypeAlias = float | np.floating[Any] | np.integer[Any] | np.bool
Number: TypeAlias = int | float | complex | np.number[Any] | np.bool

# A dimension by its position or its name, and several of them.
Dim: TypeAlias = Int | str
Dims: TypeAlias = Dim | Sequence[Dim]


class NestedData(Protocol):
    """A sequence of numbers, tensors and arrays, or of such sequences; text is none.

    Lists, tuples and ranges are. A ``str`` would be a sequence of itself; it is none here, because
    only text can be looked for in it.

    Examples
    --------
    >>> def column(values: vt.types.NestedData) -> vt.Tensor:
    ...     return vt.tensor(values).reshape(-1, 1)
    >>> column(range(2))
    tensor([[0],
            [1]])
    """

    def __len__(self) -> int:
        """Number of entries."""
        ...

    # Before `__getitem__`: pyright stops there, where a str has items like itself.
    def __contains__(self, item: object, /) -> bool:
        """Whether an object is among the entries."""
        ...

    def __getitem__(self, index: int, /) -> Number | Tensor | NDArray[Any] | NestedData:
        """One entry."""
        ...


class NestedIndex(Protocol):
    """A sequence of what may stand in brackets, or of such sequences; text is none.

    Examples
    --------
    >>> def rows(x: vt.Tensor, which: vt.types.NestedIndex) -> vt.Tensor:
    ...     return x[which]
    >>> rows(vt.eye(3), [2, 0])
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """

    def __len__(self) -> int:
        """Number of entries."""
        ...

    def __contains__(self, item: object, /) -> bool:
        """Whether an object is among the entries."""
        ...

    def __getitem__(self, index: int, /) -> IndexItem | NestedIndex:
        """One entry."""
        ...


# A dtype, its name, or a class of Python's or NumPy's numbers that stands for one.
DTypeName: TypeAlias = Literal[
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
NumberClass: TypeAlias = (
    type[int] | type[float] | type[complex] | type[np.number[Any]] | type[np.bool]
)
DTypeLike: TypeAlias = DType | DTypeName | NumberClass | np.dtype[Any]

# The values of a new tensor.
Data: TypeAlias = Number | Tensor | NDArray[Any] | NestedData

# The result of `Tensor.tolist`.
Nested: TypeAlias = "int | float | complex | list[Nested]"

# What may stand in the brackets of ``x[...]``, alone or in a tuple.
IndexItem: TypeAlias = SupportsIndex | slice | EllipsisType | Tensor | NDArray[Any] | None
Index: TypeAlias = IndexItem | NestedIndex
