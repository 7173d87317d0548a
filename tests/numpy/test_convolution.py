"""Convolution and correlation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad.numpy as vnp
from tests.numpy.calls_with_options import check
from tests.numpy.derivatives import check_derivatives, check_samples
from tests.numpy.support import DTYPES, values

A = np.array([1.0, -2.0, 0.5, 3.0, 4.0])
MODES: list[Any] = ["valid", "same", "full"]


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_values(name: str) -> None:
    arrays: list[Any] = [A, A[:1], A[:2], A[1:4], A[:4], A[::-1], A[::2], np.arange(8.0)[::2]]
    arrays += [[1, 2, 3], 2.0, np.array(1.5), A[:0], A.reshape(1, 5), np.array([0, 1j, 2])]
    arrays += [[np.array(1.0), 2.0], np.array([0.0, np.nan, np.inf])]
    for a in arrays:
        for v in arrays:
            for mode in MODES:
                check(name, (a, v, mode), {})
    for dtype in DTYPES:
        for other in "?ifdD":
            check(name, (values(dtype, (4,)), values(other, (3,), 1)), {})
    for mode in ("no", None, 1.5, 7, 0, 1, 2):
        check(name, (A, A[:2], mode), {})


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_derivatives(name: str) -> None:
    function: Any = getattr(vnp, name)
    for mode in MODES:
        check_derivatives(lambda a, v, m=mode: function(a, v, m), A, A[:2] + 1)
        check_derivatives(lambda a, v, m=mode: function(a, v, m), A[:2], A[1:4])
    check_derivatives(lambda a, v: function(a, v, "same"), A[:4] * (1 + 2j), A[:3] * 1j)
    check_derivatives(lambda a, v: function(a, v, "full").real, A[:2] * (1 + 2j), A[:3])


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_samples(name: str) -> None:
    function: Any = getattr(vnp, name)
    for mode in MODES:
        check_samples(function, np.stack([A, A[::-1]]), v=[1.0, 2.0], mode=mode)
        check_samples(lambda row, m=mode: function([1.0, 2.0], row, m), np.stack([A, A[::-1]]))
        check_samples(lambda row, m=mode: function(row, row[:3], m), np.stack([A, A[::-1]]))
