"""Names for the argument types of operators that stand in the tables."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from vtgrad.generator import Generator
from vtgrad.storage.arrays import Shape
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["Dims", "Generator", "Geometry3", "MemoryFormat", "Index"]


# One dimension, several, or all of them.
Dims: TypeAlias = int | Sequence[int] | None

# Sizes, strides and storage offset, in elements.
Geometry3: TypeAlias = tuple[Shape, Shape, int]

# What may stand in the brackets of ``x[...]``.
Index: TypeAlias = (
    int
    | slice
    | EllipsisType
    | TensorBase
    | np.ndarray[tuple[int, ...], np.dtype[np.generic]]
    | Sequence[object]
    | None
)
