"""`norm`: the vector norm under its public name."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from vtgrad.errors import DTypeError, NotSupportedError, ShapeError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag, checked_dims
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.dtypes import DType
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["norm"]


T = TypeVar("T", bound=TensorBase)


def _norm_order(p: Number | str | TensorBase | None, dims: Dims) -> float:
    if p is None:
        return 2
    if p == "nuc":
        raise NotSupportedError("the nuclear norm is not implemented", ord=p)
    if isinstance(p, str):
        if p == "fro" and not (isinstance(dims, tuple) and len(dims) > 2):
            return 2
        raise ShapeError(
            "norm() knows the orders 'fro' (of at most two dimensions) and numbers, "
            f"not {p!r} of dim={dims}",
            ord=p,
        )
    order: object = p
    if isinstance(p, TensorBase):
        array = array_of(p, "p")
        order = array.item() if array.size == 1 else array.shape
    elif isinstance(p, np.generic):
        order = p.item()
    if isinstance(order, (int, float)):
        return order
    raise DTypeError(f"the order of a norm must be a real number, not {order!r}", ord=order)


@explained
def norm(
    input: T,
    p: Number | str | TensorBase | None = "fro",
    dim: Dims = None,
    keepdim: bool = False,
    dtype: DType | None = None,
    *,
    out: T | None = None,
) -> T:
    """Vector norm of all elements, or over dimensions.

    Parameters
    ----------
    input : Tensor
        Floating or complex values.
    p : float or "fro", default "fro"
        The order: any number, infinities included; 0 counts what is not zero. ``"fro"`` and
        None mean 2.
    dim : int, sequence of int or None, optional
        The dimensions; all if not given.
    keepdim : bool, default False
        Whether the dimensions stay, with size 1.
    dtype : DType, optional
        A wider dtype to compute in.
    out : Tensor, optional
        Where to store the result.

    Raises
    ------
    NotSupportedError
        For the nuclear norm.
    """
    dims, keep = checked_dims(dim), check_flag(keepdim, "keepdim")
    order = _norm_order(p, dims)
    return F.linalg_vector_norm(input, order, dims, keep, dtype=dtype, out=out)
