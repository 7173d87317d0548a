"""Sparse Jacobians whose kind follows from the options."""

from typing import Literal

from scipy.sparse import coo_array, csr_array

import vtgrad as vt
from vtgrad.func import SparsityPattern, sparse_jacobian, sparsity_pattern


def residual(u: vt.Tensor, rate: float) -> vt.Tensor:
    return u * rate


def with_aux(u: vt.Tensor) -> tuple[vt.Tensor, str]:
    return u, "beside"


def use(u: vt.Tensor, mode: Literal["forward", "reverse"]) -> int:
    pattern: SparsityPattern = sparsity_pattern(residual, u, 2.0)
    rows: csr_array = sparse_jacobian(residual, u, 2.0, pattern=pattern, mode=mode)
    entries: coo_array = sparse_jacobian(residual, u, 2.0, format="coo", check=True)
    matrix, aux = sparse_jacobian(with_aux, u, has_aux=True)
    kept: tuple[csr_array, object] = (matrix, aux)
    both: tuple[coo_array, object] = sparse_jacobian(with_aux, u, has_aux=True, format="coo")
    return rows.nnz + entries.nnz + kept[0].nnz + both[0].nnz + pattern.nnz
