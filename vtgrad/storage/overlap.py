# Compiled by mypyc.
"""Which elements share memory: within one geometry, and between two of one storage.

Both are checked before a write. A geometry that names one memory location twice has no defined
result of a write; two operands that share *some* locations cannot be read and written element by
element.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from math import gcd
from typing import Final, TypeAlias

import numpy as np

from vtgrad.storage.arrays import Shape
from vtgrad.storage.strides import is_non_overlapping_and_dense, reach

__all__ = ["Geometry", "Overlap", "covers", "every_byte", "has_self_overlap", "meets", "overlap"]

Geometry: TypeAlias = tuple[Shape, Shape, int]
"""Sizes, strides and storage offset, in elements."""

# A recording replaces NumPy's attributes, to see the user's calls. Positions are no part of a
# program, and compiled code has no frames that would tell it from the user's.
_arange: Final = np.arange
_full: Final = np.full


class Overlap(Enum):
    """How two geometries of one storage share memory.

    NONE: not at all. FULL: two dense blocks, element by element the same locations. PARTIAL: two
    dense blocks that share locations otherwise. UNDECIDED: their ranges of memory intersect, but at
    least one has gaps or repetitions; such operands may be used together if inputs are read before
    writing.
    """

    NONE = "none"
    FULL = "full"
    PARTIAL = "partial"
    UNDECIDED = "undecided"


def overlap(a: Geometry, b: Geometry) -> Overlap:
    """How two geometries of one storage (and one element size) share memory."""
    if 0 in a[0] or 0 in b[0]:
        return Overlap.NONE
    a_low, a_high = reach(*a)
    b_low, b_high = reach(*b)
    if a_high < b_low or b_high < a_low:
        return Overlap.NONE
    if not (is_non_overlapping_and_dense(a[0], a[1]) and is_non_overlapping_and_dense(b[0], b[1])):
        return Overlap.UNDECIDED
    if a_low == b_low and a_high == b_high and a[1] == b[1]:
        return Overlap.FULL
    return Overlap.PARTIAL


def meets(a: Geometry, b: Geometry) -> bool:
    """Whether two geometries in one unit share memory. Exact.

    Elements are compared one by one only where `overlap` cannot decide.

    >>> meets(((2,), (2,), 0), ((2,), (2,), 1))
    False
    >>> meets(((2,), (2,), 0), ((2,), (1,), 2))
    True
    """
    found = overlap(a, b)
    if found is Overlap.UNDECIDED:
        return bool(np.isin(_positions(a), _positions(b)).any())
    return found is not Overlap.NONE


def every_byte(sizes: Shape, strides: Shape, offset: int, item: int) -> Geometry:
    """The geometry of the bytes of elements, whose strides and offset are in bytes.

    In this unit elements of different sizes can be compared.

    >>> every_byte((3,), (8,), 16, 4)
    ((3, 4), (8, 1), 16)
    """
    return (*sizes, item), (*strides, 1), offset


def covers(whole: Geometry, part: Geometry) -> bool:
    """Whether every element of `part` is an element of `whole`. Exact.

    `whole` must not overlap itself. The elements of `part` are tested one by one only if `whole`
    has gaps.

    >>> covers(((3,), (2,), 0), ((2,), (4,), 0))
    True
    >>> covers(((3,), (2,), 0), ((5,), (1,), 0))
    False
    """
    if 0 in part[0]:
        return True
    if 0 in whole[0]:
        return False
    # Each argument by itself: compiled, a call with a star is one by way of Python.
    low, high = reach(whole[0], whole[1], whole[2])
    part_low, part_high = reach(part[0], part[1], part[2])
    if part_low < low or part_high > high:
        return False
    if is_non_overlapping_and_dense(whole[0], whole[1]):
        return True
    # Counted from the lowest element, every stride is positive.
    rest = _positions(part) - low
    terms = sorted([(abs(s), n) for n, s in zip(*whole[:2], strict=True) if n != 1], reverse=True)
    inner = [sum(s * (n - 1) for s, n in terms[k + 1 :]) for k in range(len(terms))]
    if any(stride <= below for (stride, _), below in zip(terms, inner, strict=True)):
        # Dimensions interlock, so an element's index cannot be computed dimension by dimension.
        return bool(np.isin(rest, _positions((*whole[:2], whole[2] - low))).all())
    for stride, size in terms:
        index = np.minimum(rest // stride, size - 1)
        rest = rest - index * stride
    return not rest.any()


def _positions(geometry: Geometry) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The position of each element in the storage."""
    sizes, strides, offset = geometry
    positions = _full(1, offset, np.int64)
    for size, stride in zip(sizes, strides, strict=True):
        positions = np.add.outer(positions, _arange(size) * stride).reshape(-1)
    return positions


@lru_cache(maxsize=1024)
def has_self_overlap(sizes: Shape, strides: Shape) -> bool:
    """Whether two different index tuples name one memory location. Exact.

    Note [Exact self-overlap]
    Two index tuples name one location if and only if their difference ``d`` satisfies
    ``sum(stride[k] * d[k]) == 0`` with ``|d[k]| <= size[k] - 1`` and not all zero. That is a
    bounded linear Diophantine equation. Ordinary geometries never get past the cheap tests:
    a dimension whose stride exceeds the reach of all smaller ones together forces ``d[k] == 0``
    and drops out. What survives is decided without enumerating elements:

    1. more elements than reachable locations: overlap (pigeonhole);
    2. ``stride[k] * d[k]`` must be a multiple of the gcd of the *other* strides, so ``d[k]``
       runs over multiples only, or drops out;
    3. two dimensions left: closed form;
    4. else: the set of partial sums, dimension by dimension from the largest stride, each sum
       kept only while the remaining dimensions can still bring it back to zero. The sets are
       bounded by the reach, so the work is never exponential in the number of dimensions.

    Programs write into few geometries again and again, so the answers are remembered.
    """
    terms = [
        (abs(stride), size - 1) for size, stride in zip(sizes, strides, strict=True) if size != 1
    ]
    if not terms or 0 in sizes:
        return False
    terms.sort()
    if terms[0][0] == 0:
        return True
    return _solve(terms)


def _drop_outer(terms: list[tuple[int, int]]) -> int:
    """Drop terms, largest stride first, while the rest cannot reach that stride."""
    rest = sum(s * n for s, n in terms)
    while terms:
        stride, bound = terms[-1]
        rest -= stride * bound
        if stride <= rest:
            break
        terms.pop()
    return len(terms)


def _more_elements_than_locations(terms: list[tuple[int, int]]) -> bool:
    """Pigeonhole: the terms make more index tuples than there are locations to name."""
    common = gcd(*(s for s, _ in terms))
    tuples = 1
    for _, bound in terms:
        tuples *= bound + 1
    return tuples > 1 + sum(s * n for s, n in terms) // common


def _solve(terms: list[tuple[int, int]]) -> bool:
    """Whether ``sum(s * d) == 0`` has a solution with ``|d| <= n``, not all zero."""
    while True:
        if _drop_outer(terms) <= 1:
            return False
        if _more_elements_than_locations(terms):
            return True
        if not _thin_out(terms):
            break
    if len(terms) == 2:
        (s, n), (t, m) = terms
        common = gcd(s, t)
        return t // common <= n and s // common <= m
    return _search(terms)


def _thin_out(terms: list[tuple[int, int]]) -> bool:
    """Restrict each coefficient to the multiples that the other strides allow."""
    for k, (stride, bound) in enumerate(terms):
        others = gcd(*(s for j, (s, _) in enumerate(terms) if j != k))
        step = others // gcd(others, stride)
        if step > 1:
            if bound < step:
                del terms[k]
            else:
                terms[k] = (stride * step, bound // step)
                terms.sort()
            return True
    return False


def _search(terms: list[tuple[int, int]]) -> bool:
    """Follow the partial sums that can still return to zero, largest stride first."""
    rest = sum(s * n for s, n in terms)
    # A solution and its negation come together, so only the sums' absolute values are kept.
    # Zero stands for "all coefficients zero so far": another way to zero is a solution.
    sums = {0}
    for stride, bound in reversed(terms[1:]):
        rest -= stride * bound
        following = {0}
        for partial in sums:
            first = 1 if partial == 0 else max(-bound, -((partial + rest) // stride))
            last = min(bound, (rest - partial) // stride)
            for coefficient in range(first, last + 1):
                total = abs(partial + stride * coefficient)
                if total == 0:
                    return True
                following.add(total)
        sums = following
    stride, bound = terms[0]
    sums.discard(0)
    return any(total % stride == 0 and total // stride <= bound for total in sums)
