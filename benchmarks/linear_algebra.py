"""Equations, factors and transforms of matrices: value and gradient, beside the same by hand.

**By hand* is the same algorithm with NumPy's and SciPy's functions: the gradient of a Cholesky
factor by two triangular solves, that of equations by the factors of forward, that of a spectrum by
the other transform. Large matrices are judged by the ratio to it, since LAPACK is most of the time.
Of small ones LAPACK takes some microseconds, and the row shows what a library takes beyond those of
what is written by hand.

The gradients of the results are given, so that nothing but the function and its backward is
measured. The values are float64, of which NumPy and PyTorch compute the same.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import scipy.linalg

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Library, NumpyToolkit, Real, Toolkit, load
from benchmarks.measure import interleaved, steady
from benchmarks.results import Bar, Result

SECTION = "linear algebra, value and gradient"
LARGE, SMALL = 512, 16
BAR = Bar(1.3, 1.3, against="numpy")
# Microseconds beyond what is written by hand.
SMALL_BAR = Bar(60, 60, against="")

Function: TypeAlias = Callable[[Toolkit, Array, Array], tuple[Array, ...]]
"""From a matrix and the right side of equations to results."""

ByHand: TypeAlias = Callable[[Real, Real, Sequence[Real]], tuple[tuple[Array, ...], Real]]
"""From a matrix, a right side and the gradients of the results to results and the gradient."""


def solve(lib: Toolkit, x: Array, side: Array) -> tuple[Array, ...]:
    """The solution of equations with one right side."""
    return (lib.ops.linalg.solve(x, side),)


def solve_by_hand(x: Real, side: Real, grads: Sequence[Real]) -> tuple[tuple[Array, ...], Real]:
    """Value and gradient of `solve`."""
    factors = scipy.linalg.lu_factor(x, check_finite=False)
    y = scipy.linalg.lu_solve(factors, side, check_finite=False)
    grad = scipy.linalg.lu_solve(factors, grads[0], trans=1, check_finite=False)
    return (y,), -np.outer(grad, y)


def cholesky(lib: Toolkit, x: Array, side: Array) -> tuple[Array, ...]:
    """The factor of a symmetric matrix."""
    del side
    return (lib.ops.linalg.cholesky(x),)


def cholesky_by_hand(x: Real, side: Real, grads: Sequence[Real]) -> tuple[tuple[Array, ...], Real]:
    """Value and gradient of `cholesky`."""
    del side
    factor = np.linalg.cholesky(x)
    inner = np.tril(factor.T @ grads[0])
    inner.flat[:: inner.shape[0] + 1] *= 0.5
    half = scipy.linalg.solve_triangular(factor, inner, trans=1, lower=True, check_finite=False)
    whole = scipy.linalg.solve_triangular(factor, half.T, trans=1, lower=True, check_finite=False)
    return (factor,), 0.5 * (whole + whole.T)


def inv(lib: Toolkit, x: Array, side: Array) -> tuple[Array, ...]:
    """The inverse."""
    del side
    return (lib.ops.linalg.inv(x),)


def inv_by_hand(x: Real, side: Real, grads: Sequence[Real]) -> tuple[tuple[Array, ...], Real]:
    """Value and gradient of `inv`."""
    del side
    y = np.linalg.inv(x)
    return (y,), -(y.T @ grads[0] @ y.T)


def eigh(lib: Toolkit, x: Array, side: Array) -> tuple[Array, ...]:
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    del side
    values, vectors = lib.ops.linalg.eigh(x)
    return values, vectors


def _inverse_gaps(values: Real) -> Real:
    gaps = values - values[:, np.newaxis]
    gaps.flat[:: len(values) + 1] = np.inf
    return np.reciprocal(gaps)


def eigh_by_hand(x: Real, side: Real, grads: Sequence[Real]) -> tuple[tuple[Array, ...], Real]:
    """Value and gradient of `eigh`."""
    del side
    values, vectors = np.linalg.eigh(x)
    inner = _inverse_gaps(values) * (vectors.T @ grads[1])
    inner.flat[:: len(values) + 1] += grads[0]
    whole = vectors @ inner @ vectors.T
    return (values, vectors), 0.5 * (whole + whole.T)


def svd(lib: Toolkit, x: Array, side: Array) -> tuple[Array, ...]:
    """Singular values and vectors."""
    del side
    u, s, vh = lib.ops.linalg.svd(x, full_matrices=False)
    return u, s, vh


def svd_by_hand(x: Real, side: Real, grads: Sequence[Real]) -> tuple[tuple[Array, ...], Real]:
    """Value and gradient of `svd`."""
    del side
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    gaps = _inverse_gaps(s * s)
    left, right = gaps * (u.T @ grads[0]), gaps * (vh @ grads[2].T)
    inner = (left + left.T) * s + (right + right.T) * s[:, np.newaxis]
    inner.flat[:: len(s) + 1] += grads[1]
    return (u, s, vh), u @ inner @ vh


def fft2(lib: Toolkit, x: Array, side: Array) -> tuple[Array, ...]:
    """The spectrum of real values."""
    del side
    return (lib.ops.fft.fft2(x),)


def fft2_by_hand(x: Real, side: Real, grads: Sequence[Real]) -> tuple[tuple[Array, ...], Real]:
    """Value and gradient of `fft2`."""
    del side
    return (np.fft.fft2(x),), np.fft.ifft2(grads[0], norm="forward").real


@dataclass(frozen=True)
class Pair:
    """A function, and its value and gradient written by hand."""

    function: Function
    by_hand: ByHand


PAIRS = {
    "solve": Pair(solve, solve_by_hand),
    "cholesky": Pair(cholesky, cholesky_by_hand),
    "inv": Pair(inv, inv_by_hand),
    "eigh": Pair(eigh, eigh_by_hand),
    "svd": Pair(svd, svd_by_hand),
    "fft2": Pair(fft2, fft2_by_hand),
}


def inputs(n: int) -> tuple[Real, Real]:
    """A positive definite matrix with eigenvalues that differ, and a right side."""
    rng = np.random.default_rng(0)
    mixed = rng.uniform(-1.0, 1.0, (n, n))
    return mixed + mixed.T + np.diag(np.linspace(2.0 * n, 6.0 * n, n)), rng.normal(size=n)


def gradients(pair: Pair, x: Real, side: Real) -> list[Real]:
    """A gradient for each result."""
    rng = np.random.default_rng(1)
    results = pair.function(NumpyToolkit("float64"), x, side)
    return [rng.normal(size=y.shape).astype(y.dtype) for y in results]


@dataclass(frozen=True)
class Differentiated:
    """A function, to be run forward and backward in one library."""

    library: Library
    pair: Pair
    leaf: Array
    side: Array
    grads: tuple[Array, ...]

    @classmethod
    def of(cls, name: str, pair: Pair, n: int) -> "Differentiated":
        library, (x, side) = load(name, "float64"), inputs(n)
        grads = [library.ops.from_numpy(g) for g in gradients(pair, x, side)]
        return cls(library, pair, library.leaf(x), library.constant(side), tuple(grads))

    def __call__(self) -> tuple[Array, ...]:
        """The results and the gradient of the matrix, which is dropped there."""
        results = self.pair.function(self.library, self.leaf, self.side)
        self.library.ops.autograd.backward(results, self.grads)
        grad, self.leaf.grad = self.leaf.grad, None
        return *results, grad


def _rounds(bench: Bench, pair: Pair, n: int) -> dict[str, list[float]]:
    """The seconds of every library that has the functions, and of what is written by hand."""
    names = [name for name in bench.libraries if name in ("vtgrad", "torch")]
    programs = {name: steady(Differentiated.of(name, pair, n)) for name in names}
    x, side = inputs(n)
    programs["numpy"] = steady(partial(pair.by_hand, x, side, gradients(pair, x, side)))
    return interleaved(programs, bench.rounds)


def rows(bench: Bench) -> Iterator[Result]:
    """Each pair of large matrices, then of small ones."""
    for name, pair in PAIRS.items() if not bench.quick else ():
        yield Result(SECTION, f"{name}, n = {LARGE}", "s", _rounds(bench, pair, LARGE), BAR)
    for name, pair in PAIRS.items():
        found = _rounds(bench, pair, SMALL)
        by_hand = found.pop("numpy")
        beyond = {
            library: [1e6 * (a - b) for a, b in zip(times, by_hand, strict=True)]
            for library, times in found.items()
        }
        yield Result(SECTION, f"{name}, n = {SMALL}, beyond by hand", "us", beyond, SMALL_BAR)
