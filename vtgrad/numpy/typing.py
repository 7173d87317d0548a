"""NumPy's types for annotations, as in ``numpy.typing``."""

from __future__ import annotations

from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import DTypeLike as DTypeLike
from numpy.typing import NDArray as NDArray

__all__ = ["ArrayLike", "DTypeLike", "NDArray"]
