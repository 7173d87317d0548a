"""The classes of several results, with PyTorch's names of their fields."""

from __future__ import annotations

from typing import NamedTuple

from vtgrad.tensor.tensor import Tensor

__all__ = [
    "LUResult",
    "QRResult",
    "SVDResult",
    "CholeskyExResult",
    "EigResult",
    "EighResult",
    "InvExResult",
    "LDLFactorResult",
    "LDLFactorExResult",
    "LUFactorResult",
    "LUFactorExResult",
    "LstSqResult",
    "SlogdetResult",
    "SolveExResult",
]


class CholeskyExResult(NamedTuple):
    """The results of `cholesky_ex`."""

    L: Tensor
    info: Tensor


class EigResult(NamedTuple):
    """The results of `eig`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """The results of `eigh`."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class InvExResult(NamedTuple):
    """The results of `inv_ex`."""

    inverse: Tensor
    info: Tensor


class LDLFactorResult(NamedTuple):
    """The results of `ldl_factor`."""

    LD: Tensor
    pivots: Tensor


class LDLFactorExResult(NamedTuple):
    """The results of `ldl_factor_ex`."""

    LD: Tensor
    pivots: Tensor
    info: Tensor


class LUResult(NamedTuple):
    """The results of `lu` and `lu_unpack`."""

    P: Tensor
    L: Tensor
    U: Tensor


class LUFactorResult(NamedTuple):
    """The results of `lu_factor`."""

    LU: Tensor
    pivots: Tensor


class LUFactorExResult(NamedTuple):
    """The results of `lu_factor_ex`."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


class LstSqResult(NamedTuple):
    """The results of `lstsq`."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


class QRResult(NamedTuple):
    """The results of `qr`."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """The results of `slogdet`."""

    sign: Tensor
    logabsdet: Tensor


class SolveExResult(NamedTuple):
    """The results of `solve_ex`."""

    result: Tensor
    info: Tensor


class SVDResult(NamedTuple):
    """The results of `svd`."""

    U: Tensor
    S: Tensor
    Vh: Tensor
