"""Calls of the functions of `vtgrad.linalg`, as samples for tests of all.

Each is a function of tensors, beside the shapes that these have. What is given up to a sign or a
phase is multiplied out of it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

import vtgrad as vt
from vtgrad import linalg

__all__ = ["CALLS", "Call", "operands_of", "results_of"]

Shapes = Sequence[tuple[int, ...]]
Call = tuple[Callable[..., object], Shapes]


def random(shape: tuple[int, ...], nr: int = 0, *, complex: bool = False) -> vt.Tensor:
    """Normal values; matrices of them have eigenvalues and singular values that differ."""
    generator = np.random.default_rng([nr, len(shape), int(np.prod(shape))])
    found = generator.normal(size=shape)
    return vt.tensor(found + 1j * generator.normal(size=shape) if complex else found)


def hermitian(x: vt.Tensor) -> vt.Tensor:
    """The Hermitian part."""
    return (x + x.mH) / 2


def positive(x: vt.Tensor) -> vt.Tensor:
    """A positive definite matrix made of any."""
    return x @ x.mH + 3 * vt.eye(x.shape[-1], dtype=x.dtype)


def regular(x: vt.Tensor) -> vt.Tensor:
    """A matrix far from a singular one, and with a square root and a logarithm."""
    return x / 4 + 2 * vt.eye(x.shape[-1], dtype=x.dtype)


def without_phase(columns: vt.Tensor) -> vt.Tensor:
    """Squares of absolute values, which no phase changes."""
    return (columns * columns.conj()).real.clone() if columns.is_complex() else columns * columns


def _svd(x: vt.Tensor, full: bool) -> tuple[vt.Tensor, ...]:
    u, s, vh = linalg.svd(x, full)
    count = s.shape[-1]
    return u[..., :count] * s.unsqueeze(-2) @ vh[..., :count, :], s, without_phase(u[..., :count])


def _factors(x: vt.Tensor) -> tuple[vt.Tensor, ...]:
    p, lower, upper = linalg.lu(x)
    return lower.clone(), upper.clone(), p @ lower


def _eig(x: vt.Tensor) -> tuple[vt.Tensor, ...]:
    values, vectors = linalg.eig(x)
    # Each pair of conjugates may come in either order, so sums of functions of them count.
    return (values * values).sum(-1), (
        without_phase(vectors) @ (values * values).real.unsqueeze(-1)
    )


def _eigh(x: vt.Tensor, triangle: str) -> tuple[vt.Tensor, ...]:
    values, vectors = linalg.eigh(hermitian(x), triangle)
    return values, without_phase(vectors)


def _lu_solve(x: vt.Tensor, b: vt.Tensor, *, left: bool, adjoint: bool) -> vt.Tensor:
    return linalg.lu_solve(*linalg.lu_factor(regular(x)), b, left=left, adjoint=adjoint)


def _low_rank(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    return linalg.pinv(x @ y.mT, rtol=1e-9)


CALLS: Final[Mapping[str, Call]] = {
    "block_diag": (linalg.block_diag, [(2, 3), (1, 2)]),
    "chain_matmul": (vt.chain_matmul, [(2, 3), (3, 4), (4, 2)]),
    "cholesky": (lambda x: linalg.cholesky(positive(x)), [(3, 3)]),
    "cholesky upper": (lambda x: linalg.cholesky(positive(x), upper=True), [(2, 3, 3)]),
    "cholesky_ex": (lambda x: linalg.cholesky_ex(positive(x)).L, [(3, 3)]),
    "cholesky_inverse": (lambda x: vt.cholesky_inverse(regular(x)), [(3, 3)]),
    "cholesky_solve": (lambda b, x: vt.cholesky_solve(b, regular(x)), [(3, 2), (3, 3)]),
    "cholesky_solve upper": (
        lambda b, x: vt.cholesky_solve(b, regular(x), True),
        [(2, 3, 1), (3, 3)],
    ),
    "cond": (linalg.cond, [(3, 4)]),
    "cond fro": (lambda x: linalg.cond(x, "fro"), [(2, 3, 3)]),
    "cond nuc": (lambda x: linalg.cond(x, "nuc"), [(3, 3)]),
    "cond 1": (lambda x: linalg.cond(x, 1), [(3, 3)]),
    "cross": (linalg.cross, [(2, 3), (2, 3)]),
    "det": (linalg.det, [(3, 3)]),
    "diagonal": (lambda x: linalg.diagonal(x, offset=1), [(2, 3, 4)]),
    "eig": (_eig, [(3, 3)]),
    "eigh": (lambda x: _eigh(x, "L"), [(3, 3)]),
    "eigh upper": (lambda x: _eigh(x, "U"), [(2, 3, 3)]),
    "eigvals": (lambda x: (linalg.eigvals(x) ** 2).sum(-1), [(2, 3, 3)]),
    "eigvalsh": (lambda x: linalg.eigvalsh(hermitian(x)), [(3, 3)]),
    "expm": (linalg.expm, [(2, 2)]),
    "householder_product": (
        lambda x, t: linalg.householder_product(x, t),
        [(4, 3), (3,)],
    ),
    "householder_product fewer": (linalg.householder_product, [(2, 4, 3), (2, 2)]),
    "ormqr": (vt.ormqr, [(4, 3), (3,), (4, 2)]),
    "ormqr right": (lambda x, t, y: vt.ormqr(x, t, y, left=False), [(2, 4, 3), (2, 2), (2, 2, 4)]),
    "ormqr adjoint": (lambda x, t, y: vt.ormqr(x, t, y, transpose=True), [(4, 3), (3,), (4, 2)]),
    "ormqr both": (lambda x, t, y: vt.ormqr(x, t, y, False, True), [(3, 4), (3,), (2, 3)]),
    "inverse": (lambda x: vt.inverse(regular(x)), [(3, 3)]),
    "inv": (lambda x: linalg.inv(regular(x)), [(3, 3)]),
    "inv_ex": (lambda x: linalg.inv_ex(regular(x)).inverse, [(2, 3, 3)]),
    "logdet": (lambda x: linalg.logdet(positive(x)), [(3, 3)]),
    "logm": (lambda x: linalg.logm(regular(x)), [(2, 2)]),
    "lstsq tall": (lambda x, b: linalg.lstsq(x, b, driver="gelsd")[:2], [(4, 3), (4, 2)]),
    "lstsq wide": (lambda x, b: linalg.lstsq(x, b).solution, [(2, 3), (2,)]),
    "lstsq stacks": (lambda x, b: linalg.lstsq(x, b).solution, [(2, 4, 3), (2, 4)]),
    "lu square": (_factors, [(2, 3, 3)]),
    "lu wide": (_factors, [(3, 5)]),
    "lu tall": (_factors, [(5, 3)]),
    "lu_factor": (lambda x: linalg.lu_factor(x).LU, [(3, 3)]),
    "lu_factor_ex": (lambda x: linalg.lu_factor_ex(x).LU, [(4, 3)]),
    "lu_unpack": (lambda x: tuple(linalg.lu_unpack(*linalg.lu_factor(x)))[1:], [(2, 3, 4)]),
    "lu_solve": (lambda x, b: _lu_solve(x, b, left=True, adjoint=False), [(3, 3), (3, 2)]),
    "lu_solve adjoint": (
        lambda x, b: _lu_solve(x, b, left=True, adjoint=True),
        [(2, 3, 3), (3, 2)],
    ),
    "lu_solve right": (lambda x, b: _lu_solve(x, b, left=False, adjoint=False), [(3, 3), (2, 3)]),
    "lu_solve both": (lambda x, b: _lu_solve(x, b, left=False, adjoint=True), [(3, 3), (2, 3)]),
    "matrix_exp": (linalg.matrix_exp, [(2, 2, 2)]),
    "matrix_norm": (linalg.matrix_norm, [(2, 3, 4)]),
    "matrix_norm nuc": (lambda x: linalg.matrix_norm(x, "nuc", (0, -1), True), [(3, 2, 3)]),
    "matrix_norm 2": (lambda x: linalg.matrix_norm(x, 2), [(3, 4)]),
    "matrix_norm -2": (lambda x: linalg.matrix_norm(x, -2), [(3, 4)]),
    "matrix_norm 1": (lambda x: linalg.matrix_norm(x, 1), [(3, 4)]),
    "matrix_norm -inf": (lambda x: linalg.matrix_norm(x, -float("inf")), [(3, 4)]),
    "matrix_power": (lambda x: linalg.matrix_power(x, 3), [(3, 3)]),
    "matrix_power -2": (lambda x: linalg.matrix_power(regular(x), -2), [(2, 3, 3)]),
    "matrix_power 0": (lambda x: linalg.matrix_power(x, 0) + x, [(3, 3)]),
    "multi_dot": (lambda *x: linalg.multi_dot(x), [(3,), (3, 4), (4, 2), (2,)]),
    "multi_dot matrices": (lambda *x: linalg.multi_dot(x), [(2, 3), (3, 4), (4, 2)]),
    "norm": (linalg.norm, [(3, 4)]),
    "norm 3": (lambda x: linalg.norm(x, 3, 1), [(3, 4)]),
    "orgqr": (vt.orgqr, [(4, 3), (2,)]),
    "pinverse": (vt.pinverse, [(4, 3)]),
    "pinv tall": (linalg.pinv, [(4, 3)]),
    "pinv wide": (linalg.pinv, [(2, 3, 4)]),
    "pinv square": (linalg.pinv, [(3, 3)]),
    "pinv hermitian": (lambda x: linalg.pinv(hermitian(x), hermitian=True), [(3, 3)]),
    "pinv of low rank": (_low_rank, [(4, 2), (3, 2)]),
    "qr": (lambda x: tuple(linalg.qr(x)), [(4, 3)]),
    "qr wide": (lambda x: tuple(linalg.qr(x)), [(2, 3, 4)]),
    "qr r": (lambda x: linalg.qr(x, "r").R, [(3, 3)]),
    "slogdet": (lambda x: tuple(linalg.slogdet(x)), [(2, 3, 3)]),
    "solve": (lambda x, b: linalg.solve(regular(x), b), [(3, 3), (3, 2)]),
    "solve right": (lambda x, b: linalg.solve(regular(x), b, left=False), [(2, 3, 3), (1, 2, 3)]),
    "solve_ex": (lambda x, b: linalg.solve_ex(regular(x), b).result, [(2, 3, 3), (2, 3)]),
    "solve_banded": (
        lambda x, b: linalg.solve_banded((1, 2), x + 4 * (vt.arange(4) == 2).unsqueeze(-1), b),
        [(4, 5), (5,)],
    ),
    "solve_banded columns": (
        lambda x, b: linalg.solve_banded((2, 0), x + 4 * (vt.arange(3) == 0).unsqueeze(-1), b),
        [(2, 3, 4), (2, 4, 2)],
    ),
    "solve_continuous_lyapunov": (
        lambda x, q: linalg.solve_continuous_lyapunov(regular(x), q),
        [(3, 3), (3, 3)],
    ),
    "solve_sylvester": (
        lambda x, y, q: linalg.solve_sylvester(regular(x), regular(y), q),
        [(3, 3), (2, 2), (3, 2)],
    ),
    "solve_toeplitz": (
        lambda c, b: linalg.solve_toeplitz(c + 6 * (vt.arange(4) == 0), b),
        [(4,), (4,)],
    ),
    "solve_toeplitz rows": (
        lambda c, r, b: linalg.solve_toeplitz((c + 6 * (vt.arange(3) == 0), r), b),
        [(2, 3), (2, 3), (2, 3, 2)],
    ),
    "solve_triangular": (
        lambda x, b: linalg.solve_triangular(regular(x), b, upper=True),
        [(3, 3), (3, 2)],
    ),
    "solve_triangular lower": (
        lambda x, b: linalg.solve_triangular(regular(x), b, upper=False, left=False),
        [(2, 3, 3), (2, 3)],
    ),
    "solve_triangular unit": (
        lambda x, b: linalg.solve_triangular(x, b, upper=False, unitriangular=True),
        [(3, 3), (2, 3, 1)],
    ),
    "sqrtm": (lambda x: linalg.sqrtm(regular(x)), [(2, 2)]),
    "svd": (lambda x: _svd(x, False), [(4, 3)]),
    "svd full": (lambda x: _svd(x, True), [(2, 2, 4)]),
    "svdvals": (linalg.svdvals, [(3, 4)]),
    "tensorinv": (lambda x: linalg.tensorinv(x), [(2, 3, 6)]),
    "tensorsolve": (lambda x, b: linalg.tensorsolve(x, b, (0,)), [(6, 2, 3), (2, 3)]),
    "toeplitz": (linalg.toeplitz, [(2, 3), (2, 4)]),
    "toeplitz of columns": (linalg.toeplitz, [(3,)]),
    "triangular_solve": (
        lambda b, x: vt.triangular_solve(b, regular(x)).solution,
        [(3, 2), (3, 3)],
    ),
    "vander": (lambda x: linalg.vander(x, N=4), [(2, 3)]),
    "vander decreasing": (lambda x: vt.vander(x), [(3,)]),
    "vecdot": (linalg.vecdot, [(2, 3), (3,)]),
    "vector_norm": (lambda x: linalg.vector_norm(x, 3, (0, 2)), [(2, 3, 2)]),
}


def operands_of(name: str, *, complex: bool = False) -> list[vt.Tensor]:
    """The tensors of a call."""
    return [random(shape, nr, complex=complex) for nr, shape in enumerate(CALLS[name][1])]


def results_of(found: object) -> tuple[vt.Tensor, ...]:
    """The results of a call that have derivatives."""
    listed = list(found) if isinstance(found, (tuple, list)) else [found]
    return tuple(
        x for x in listed if isinstance(x, vt.Tensor) and (x.is_floating_point() or x.is_complex())
    )
