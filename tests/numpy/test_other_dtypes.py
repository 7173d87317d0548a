"""Arrays of dtypes that tensors do not have stay NumPy's, and functions take them as NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad.numpy as vnp
from tests.numpy.calls_that_write import check
from tests.numpy.support import array

NAMES = np.array(["b", "a", "b"])
FLOATS = "array([0.5"
MASK = np.array([True, False, True])

# By name, the arguments of calls; in place of `...` stand arrays of several dtypes.
CALLS: dict[str, list[tuple[Any, ...]]] = {
    "where": [(MASK, ..., ...), (...,), (MASK, ..., 1), (MASK, np.array([0.5, 1.0, 2.0]), ...)],
    "select": [([MASK], [...], ...), ([MASK], [np.array([0.5, 1.0, 2.0])], ...)],
    "piecewise": [(..., [MASK], [3])],
    "extract": [(MASK, ...), (..., ...)],
    "take_along_axis": [(..., np.array([1, 0]), 0)],
    "insert": [(..., 1, 7), (np.array([0.5, 1.0]), 1, ...)],
    "delete": [(..., 1)],
    "flatnonzero": [(...,)],
    "nonzero": [(...,)],
    "argwhere": [(...,)],
    "count_nonzero": [(...,), (..., 0)],
    "unique": [(...,), (..., True, True, True)],
    "unique_values": [(...,)],
    "union1d": [(..., ...), (np.array([0.5, 1.0]), ...)],
    "intersect1d": [(..., ...), (np.array([0.5, 1.0]), ...)],
    "setdiff1d": [(..., ...)],
    "setxor1d": [(..., ...)],
    "isin": [(..., ...)],
    "lexsort": [([..., ...],)],
    "sort_complex": [(...,)],
    "bincount": [(...,), (np.array([0, 1, 1]), ...)],
    "digitize": [(..., [1, 2]), (np.array([0.5, 1.0]), ...)],
    "nanargmax": [(...,)],
    "isclose": [(..., ...)],
    "array_equal": [(..., ...)],
    "isreal": [(...,)],
    "iscomplexobj": [(...,)],
    "isposinf": [(...,)],
    "real": [(...,)],
    "imag": [(...,)],
    "angle": [(...,)],
    "real_if_close": [(...,)],
    "nan_to_num": [(...,), (..., False)],
    "sinc": [(...,)],
    "i0": [(...,)],
    "unwrap": [(...,)],
    "fix": [(...,)],
    "around": [(...,)],
    "apply_along_axis": [(len, 0, ...), (lambda v: v[1:], 0, ...), (lambda v: v[0], 0, ...)],
}
WRITES: dict[str, list[tuple[Any, ...]]] = {
    "place": [(..., MASK, ...), (np.zeros(3), MASK, ...)],
    "putmask": [(..., MASK, ...), (np.zeros(3), MASK, ...)],
    "copyto": [(..., ...), (np.zeros(3), ...), (..., [1, 2, 3]), (np.zeros(3, "h"), ...)],
    "put_along_axis": [(..., np.array([0]), 1, 0)],
}
OTHERS = [np.array([1, 2, 1], "H"), np.array([3, 0, 2], "L"), NAMES]


def filled(tree: Any, x: Any) -> Any:
    """Arguments with an array in place of `...`."""
    if tree is ...:
        return x.copy()
    if isinstance(tree, (list, tuple)):
        return type(tree)([filled(part, x) for part in tree])
    return tree


@pytest.mark.parametrize("name", [*CALLS, *WRITES])
def test_other_dtypes(name: str) -> None:
    for x in OTHERS:
        if name in ("place", "putmask", "copyto", "put_along_axis") and x is NAMES:
            continue  # see below
        for args in CALLS.get(name, []):
            if x is NAMES and FLOATS in repr(args):
                continue  # a derivative does not become text
            check(name, *filled(args, x))
        for args in WRITES.get(name, []):
            check(name, *filled(args, x), written=True)


def test_long_floats() -> None:
    x = np.array([1, 2.5, 0], "g")
    found: Any = vnp.where(MASK, x, array([1.0, 2.0, 3.0]))
    assert type(found) is np.ndarray
    assert found.dtype == "g"
    # No tensor could carry the derivative.
    with pytest.raises(NotImplementedError, match="float128"):
        vnp.where(MASK, x, array([1.0, 2.0, 3.0], grad=True))


def test_names_are_written() -> None:
    for name in ("place", "putmask"):
        check(name, NAMES.copy(), MASK, ["c"], written=True)
    check("copyto", NAMES.copy(), "d", written=True)
