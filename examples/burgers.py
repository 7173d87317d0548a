"""Implicit steps of Burgers' equation: Newton's method with sparse Jacobians.

The residual of a step is written into one array, cell by cell of the flux, through slices. Its
pattern is found once, and serves for every iteration of every step: the Jacobian of any number of
cells takes as many passes as it has diagonals.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.sparse.linalg import spsolve

import vtgrad as vt
from vtgrad.func import sparse_jacobian, sparsity_pattern

CELLS, STEPS, DT, DX, VISCOSITY = 400, 5, 0.01, 1 / 400, 0.005


def residual(new: vt.Tensor, old: vt.Tensor) -> vt.Tensor:
    """What an implicit step leaves over; both ends of the interval stay at zero."""
    flux = new * new * 0.5
    flux[1:] -= VISCOSITY / DX * (new[1:] - new[:-1])
    r = new - old
    r[1:-1] += DT / DX * (flux[2:] - flux[1:-1])
    r[0] = new[0]
    r[-1] = new[-1]
    return r


def by_hand(
    u: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The Jacobian of the residual, by a formula."""
    ratio, d = DT / DX, VISCOSITY / DX
    rows = np.arange(1, u.size - 1)
    jacobian = np.eye(u.size)
    jacobian[rows, rows + 1] = ratio * (u[2:] - d)
    jacobian[rows, rows] = 1 + ratio * (d - (u[1:-1] - d))
    jacobian[rows, rows - 1] = -ratio * d
    return jacobian


def main() -> None:
    """Take some steps, and compare the last Jacobian with the formula."""
    u = vt.sin(vt.linspace(0.0, np.pi, CELLS, dtype=vt.float64))
    u[-1] = 0.0
    pattern = sparsity_pattern(residual, u, u)
    for _ in range(STEPS):
        old, step = u, np.ones(CELLS)
        while np.abs(step).max() > 1e-12:
            remaining = partial(residual, old=old)
            matrix = sparse_jacobian(remaining, u, pattern=pattern)
            step = spsolve(matrix.tocsc(), remaining(u).numpy())
            u = u - vt.from_numpy(step)
    matrix = sparse_jacobian(partial(residual, old=old), u, pattern=pattern)
    wanted = by_hand(u.numpy())
    error = np.abs(matrix.toarray() - wanted).max() / np.abs(wanted).max()
    told = (
        f"burgers: sparse, {pattern.nnz} of {CELLS**2} entries in {pattern.passes('forward')} "
        f"passes, differs from the formula by {error:.0e}"
    )
    if not error <= 1e-12:
        raise AssertionError(told)
    print(told)


if __name__ == "__main__":
    main()
