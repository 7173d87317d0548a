"""The running product of a vector, in place: each entry is multiplied by the one before it.

Entry i is written when entry i - 1 has its last value. The product saves both factors: entry i - 1,
which is not written again, and entry i, which is about to be overwritten. Of what an in-place
product overwrites itself, the library keeps a copy, so it runs by default.
"""

from __future__ import annotations

import numpy as np
from _check import FloatArray, check

import vtgrad as vt


def total(values: vt.Tensor) -> vt.Tensor:
    """The sum of all running products."""
    x = values.clone()  # the input is the caller's
    for i in range(1, len(x)):
        x[i] *= x[i - 1]
    return x.sum()


def formula(values: FloatArray) -> FloatArray:
    """The products that contain an entry, divided by it."""
    products = np.cumprod(values)
    return products[::-1].cumsum()[::-1] / values


if __name__ == "__main__":
    factors = np.random.default_rng(0).uniform(0.5, 1.5, 10)
    check(total, factors, way="exact", expected=[formula(factors)])
