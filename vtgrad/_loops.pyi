# The module that is made of `_loops.c`, where it was built; `storage/loops.py` imports it.

import numpy as np

from vtgrad.storage.arrays import Array

UFUNCS: tuple[np.ufunc, ...]

def unary(ufunc: np.ufunc, a: object, out: Array | None = None, /) -> Array | None: ...
def binary(
    ufunc: np.ufunc, a: object, b: object, out: Array | None = None, /
) -> Array | None: ...
