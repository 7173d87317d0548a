"""Functions of NumPy about which a recording must know more than what they return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

__all__ = ["METADATA", "REFUSED", "WRITING"]

# They read shapes, dtypes and addresses, never values.
METADATA: Final[frozenset[Callable[..., object]]] = frozenset(
    {
        np.array_repr,
        np.array_str,
        np.array2string,
        np.can_cast,
        np.common_type,
        np.iscomplexobj,
        np.isrealobj,
        np.may_share_memory,
        np.min_scalar_type,
        np.ndim,
        np.result_type,
        np.shape,
        np.shares_memory,
        np.size,
    }
)

# They write to their first argument.
WRITING: Final[frozenset[Callable[..., object]]] = frozenset(
    {np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask}
)

# They hand memory or values to what no recording sees.
REFUSED: Final[frozenset[Callable[..., object]]] = frozenset(
    {
        np.apply_along_axis,
        np.apply_over_axes,
        np.frombuffer,
        np.fromiter,
        np.load,
        np.piecewise,
        np.save,
        np.savetxt,
        np.savez,
        np.savez_compressed,
    }
)
