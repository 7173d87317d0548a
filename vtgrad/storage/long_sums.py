# Compiled by mypyc.
"""The length from which NumPy's sums lose digits.

Note [Long sums]

NumPy adds pairwise, so that errors grow with the logarithm of the length, only along the
dimension that is dense in memory. Along the others it adds one value after the other: 2**25 ones in
float32 then sum to 2**24, because adding 1 to that changes nothing. PyTorch has no such loss. So
long dimensions of that kind are added in blocks.

A sum of `LONG_SUM` values one after the other is off by at most `LONG_SUM` / 2 units in the last
place, in practice by some dozen: less than what a gradient loses elsewhere. In half precision that
is too much, so half precision is never summed without a wider dtype. For fewer values, blocks cost
more than the sum.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LONG_SUM"]

LONG_SUM: Final = 4096
