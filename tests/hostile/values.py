"""Numbers, sizes and other arguments as no program should pass them, and some ordinary ones."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import vtgrad as vt

__all__ = ["ANYTHING", "HOSTILE_NUMBERS", "INDICES", "NUMBERS", "SEQUENCES"]


class _Liar:
    """Says that it is an integer, and is none."""

    def __index__(self) -> int:
        return "two"  # type: ignore[return-value]  # the lie


class _Integer:
    """An integer that is no int: it has an index."""

    def __index__(self) -> int:
        return 2


_SENSIBLE = (0, 1, 2, 3, -1, -2)
_LIMITS = (2**31, 2**32, 2**61, 2**62, 2**63, 2**64, 10**30, 10**400)
_LARGE = tuple(n + d for n in _LIMITS for d in (-1, 0, 1))

HOSTILE_NUMBERS: tuple[object, ...] = (
    *_LARGE,
    *(-n for n in _LARGE),
    4, 5, 6, 7, 12, 24, 100, -3, -7, -100,
    True, False, 1.0, 1.5, -2.0, float("nan"), float("inf"), 1j, None,
    np.int64(1), np.int64(-1), np.uint8(255), np.int8(-128), np.int64(2**63 - 1),
    np.int64(-(2**63)), np.uint64(2**64 - 1), np.float32(1), np.float64(2.5), np.bool_(True),
    np.str_("1"), _Liar(), _Integer(), "2", b"2", "", object(), int, vt.float32, Ellipsis,
    slice(None), {}, set(), lambda: 1,
)  # fmt: skip

_HOSTILE_TENSORS = (
    lambda: vt.tensor(1),
    lambda: vt.tensor(-1),
    lambda: vt.tensor(2**62),
    lambda: vt.tensor([1]),
    lambda: vt.tensor([0, 2]),
    lambda: vt.tensor([]),
    lambda: vt.tensor(1.0),
    lambda: vt.tensor(True),
    lambda: vt.tensor(1j),
    lambda: vt.tensor([True, False]),
    lambda: np.array(1),
    lambda: np.array([1, 2]),
    lambda: np.array([[1]]),
    lambda: np.array([]),
    lambda: np.array("a"),
    lambda: np.array([None]),
    lambda: range(2),
    lambda: iter((1, 2)),
)

#: A place for an integer: mostly a sensible one, so that the other arguments get their turn.
NUMBERS: st.SearchStrategy[object] = st.one_of(
    st.sampled_from(_SENSIBLE),
    st.sampled_from(_SENSIBLE),
    st.sampled_from(_SENSIBLE),
    st.sampled_from(HOSTILE_NUMBERS),
    st.builds(lambda make: make(), st.sampled_from(_HOSTILE_TENSORS)),
)

_MEMBERS = st.one_of(
    st.sampled_from(_SENSIBLE), st.sampled_from(_SENSIBLE), st.sampled_from(HOSTILE_NUMBERS)
)

#: A place for sizes, strides or dimensions.
SEQUENCES: st.SearchStrategy[object] = st.one_of(
    st.lists(st.sampled_from(_SENSIBLE), max_size=4),
    st.lists(st.sampled_from(_SENSIBLE), max_size=4).map(tuple),
    st.lists(_MEMBERS, max_size=4),
    st.lists(_MEMBERS, max_size=4).map(tuple),
    st.lists(st.sampled_from(_LARGE), max_size=3).map(tuple),
    st.lists(st.just(1), min_size=60, max_size=70).map(tuple),
    st.lists(st.lists(_MEMBERS, max_size=2), max_size=2),
    NUMBERS,
)

#: A place for whatever one likes.
ANYTHING: st.SearchStrategy[object] = st.one_of(NUMBERS, SEQUENCES)

_BOUNDS = st.one_of(
    st.none(), st.sampled_from(_SENSIBLE), st.sampled_from(_LARGE), st.sampled_from(HOSTILE_NUMBERS)
)
_SLICES = st.builds(slice, _BOUNDS, _BOUNDS, _BOUNDS)
_PARTS = st.one_of(
    NUMBERS,
    _SLICES,
    st.none(),
    st.just(Ellipsis),
    SEQUENCES,
    st.lists(st.booleans(), max_size=4),
)

#: What stands between brackets.
INDICES: st.SearchStrategy[object] = st.one_of(_PARTS, st.lists(_PARTS, max_size=5).map(tuple))
