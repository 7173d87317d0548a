"""Vectors of length 1."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.later.store_result import store_result
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import checked_dims
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["normalize"]


@explained
def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int | Sequence[int] = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """Return vectors divided by their norms.

    Parameters
    ----------
    input : Tensor
        Floating or complex values: vectors along the dimensions.
    p : float, default 2.0
        The order of the norm.
    dim : int or sequence of int, default 1
        The dimension, or several, whose elements are one vector; with none it is all of them.
    eps : float, default 1e-12
        The least number by which is divided.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`, or `out`.

    Raises
    ------
    NotSupportedError
        If `input` is neither floating nor complex.
    DimensionError
        If there is no such dimension.

    Examples
    --------
    >>> vt.nn.functional.normalize(vt.tensor([[3.0, 4.0], [0.0, 0.0]]))
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    check_kind("normalize", input, "fc")
    norms = F.linalg_vector_norm(input, real_of(p, "p"), checked_dims(dim), True)
    found = F.div(input, F.clamp_min_default(norms, real_of(eps, "eps")))
    return store_result(found, out, "normalize", input)
