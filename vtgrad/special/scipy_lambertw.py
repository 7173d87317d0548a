"""Lambert's function W, with SciPy's name."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.scipy_function import ScipyFunction, as_complex, scipy_special
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.tensor.tensor import Tensor

__all__ = ["lambertw"]


@explained
def lambertw(z: Tensor, k: Tensor | Number = 0, tol: float = 1e-8) -> Tensor:
    """Return the solution w of ``w * exp(w) == z`` on a branch, Lambert's function.

    The values are those of `scipy.special.lambertw`. There are derivatives by `z` only; they are
    infinite at the branch point ``-1 / e`` of the branches 0 and -1.

    Parameters
    ----------
    z : Tensor
        The argument. Real values are taken as complex ones, and have real gradients.
    k : Tensor or number, default 0
        The branch: an integer.
    tol : float, default 1e-8
        The tolerance of SciPy's iteration.

    Returns
    -------
    Tensor
        A new complex tensor of the shape that `z` and `k` broadcast to.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    NotSupportedError
        If `k` requires grad while recording, or has a tangent.

    Examples
    --------
    >>> vt.special.lambertw(vt.tensor([0.0, 1.0]))
    tensor([0.0000+0.j, 0.5671+0.j])
    """
    return _LAMBERTW(as_complex(z), k, tol)


def _kernel(z: Array, k: Array, tol: Array) -> Array:
    branch = k.astype(np.int64)
    found: Array = making.asarray(scipy_special("lambertw").lambertw(z, branch, tol))
    return found


def _slope(z: Tensor, k: Tensor, tol: Tensor, result: Tensor) -> Tensor:
    """``1 / (z + exp(w))``, as a quotient that neither cancels nor divides by 0."""
    near = F.lt(F.abs(z), 0.25)
    # Of the principal branch only is w small there.
    small = F.logical_and(near, F.lt(F.abs(result), 1))
    w = F.where(small, result, 0.0)
    other = F.where(small, 1.0, result)
    place = F.where(small, 1.0, z)
    return F.where(small, F.exp(-w) / (1 + w), other / (place * (1 + other)))


_LAMBERTW: Final[ScipyFunction] = ScipyFunction(
    "lambertw",
    _kernel,
    real=("k", "tol"),
    takes_complex=True,
    reads_result=True,
    z=_slope,
    k=None,
    tol=None,
)
