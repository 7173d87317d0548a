"""Gaussian elimination and Cholesky, written with slices of one matrix."""

from collections.abc import Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Body, Real, Toolkit
from benchmarks.results import Result

SECTION = "factorisations with slices"


def elimination(lib: Toolkit, matrix: Array) -> Array:
    """The logarithm of the determinant, by eliminating in place."""
    a = matrix * 1.0
    n = a.shape[0]
    total = 0.0
    for k in range(n):
        # Products with these are saved for backward while `a` is written: they are copies.
        pivots = a[k, k:] * 1.0
        below = a[k + 1 :, k] * 1.0
        total = total + lib.ops.log(pivots[0])
        if k + 1 < n:
            a[k + 1 :, k:] -= (below / pivots[0]).reshape((n - k - 1, 1)) * pivots
    return total


def cholesky(lib: Toolkit, matrix: Array) -> Array:
    """The sum of the factor's entries, which is written column by column."""
    n = matrix.shape[0]
    factor = lib.zeros(n, n)
    for j in range(n):
        column = matrix[j:, j]
        if j:
            left = factor[j:, :j] * 1.0
            column = column - left @ left[0]
        factor[j:, j] = column / lib.ops.sqrt(column[0])
    return factor.sum()


PROGRAMS: dict[str, Body] = {"Gaussian elimination": elimination, "Cholesky": cholesky}


def inputs(n: int) -> list[Real]:
    """A symmetric matrix with a heavy diagonal."""
    mixed = np.random.default_rng(0).uniform(-1.0, 1.0, (n, n))
    return [mixed + mixed.T + 4 * n * np.eye(n)]


def rows(bench: Bench) -> Iterator[Result]:
    """Both passes together."""
    for n in (32,) if bench.quick else (32, 128):
        for name, body in PROGRAMS.items():
            yield bench.compare_body(
                SECTION, f"{name}, n = {n}", body, inputs(n), "both", writes=True
            )
