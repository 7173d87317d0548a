"""The threads of the libraries of linear algebra in processes that are started.

Note [One thread a worker]

NumPy's products of matrices take all cores by default. Workers that each do so wait for each other,
and how a product is split over threads changes its rounding. So a worker has one thread, whatever
the number of workers: the same bits for any number of them. The libraries read the number from the
environment when they are loaded, which is too late in a fork; a number that the user's environment
has is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["limited_threads"]

_VARIABLES: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


@contextmanager
def limited_threads(count: int | None) -> Iterator[None]:
    """Have processes that are started in the block use this many threads; None changes nothing."""
    added = [] if count is None else [name for name in _VARIABLES if name not in os.environ]
    try:
        for name in added:
            os.environ[name] = str(count)
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
