"""`norm`: the vector norm under its public name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, ShapeError
from vtgrad.graph.set_history import requires_grad
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.lost_gradient import ARGUMENT, note_number
from vtgrad.ops.calling.reduction_arguments import check_flag, dims_or_names
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.dtypes import DType
from vtgrad.storage.key_set import keys
from vtgrad.storage.shapes import normalize_dims
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.write_out import check_out, write_out

__all__ = ["norm"]


T = TypeVar("T", bound=TensorBase)


def _norm_order(p: Number | str | TensorBase | None, dims: Dims) -> float:
    if p is None:
        return 2
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
        if requires_grad(p):
            raise ArgumentTypeError(
                "argument 'p' must be a number or a tensor that does not require grad", argument="p"
            )
        array = array_of(p, "p")
        if keys.modes:
            note_number(p, ARGUMENT)
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
    dim: Dims | str | Sequence[str] = None,
    keepdim: bool = False,
    dtype: DType | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the vector norm of all elements, or over dimensions.

    The norm of order `p` is `sum(abs(x) ** p) ** (1 / p)`; of order infinity it is the largest
    absolute value, of minus infinity the smallest, and of order 0 the number of elements that
    are not zero. A matrix counts as the vector of its elements. Where the norm is 0, so is its
    gradient; of the orders infinity and minus infinity, equal extremes share the gradient;
    order 0 has none.

    Parameters
    ----------
    input : Tensor
        Floating or complex values.
    p : float, Tensor, "fro" or None, default "fro"
        The order; a tensor must have one element. `"fro"` and None mean 2.
    dim : int, sequence of int or None, default None
        The dimensions; all of them if it is None or empty.
    keepdim : bool, default False
        Whether the reduced dimensions stay, with size 1.
    dtype : DType, optional
        A wider dtype of the same kind, to compute in.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new tensor, real also for complex values, without the dimensions `dim` or with size 1
        there.

    Raises
    ------
    DTypeError
        If the values are integers or bools, `dtype` is narrower or of another kind, or the
        order is complex.
    ShapeError
        If `p` is another text, `"fro"` stands beside more than two dimensions, or the norm of a
        negative or infinite order is taken of no elements.
    DimensionError
        If `input` has no such dimension.
    ResultTypeError
        If `out` does not have the dtype of the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.tensor([[3.0, 4.0], [6.0, 8.0]])
    >>> vt.norm(x, dim=1)
    tensor([ 5., 10.])
    >>> vt.norm(x, 1), vt.norm(x, float("inf"))
    (tensor(21.), tensor(8.))
    """
    dims, keep = dims_or_names(dim), check_flag(keepdim, "keepdim")
    if p == "nuc":
        return _nuclear_norm(input, dims, keep, dtype, out)
    order = _norm_order(p, dims)
    return F.linalg_vector_norm(input, order, dims, keep, dtype=dtype, out=out)


def _nuclear_norm(x: T, dims: Dims, keep: bool, dtype: DType | None, out: T | None) -> T:
    """The sum of the singular values of matrices in two dimensions."""
    ndim = array_of(x, "input").ndim
    both = tuple(range(ndim)) if dims is None else dims
    if not isinstance(both, (tuple, list)) or len(both) != 2:
        raise ShapeError(f"norm() of order 'nuc' takes two dimensions, not {dims!r} of {ndim}")
    one, two = normalize_dims(both, ndim)
    others = [dim for dim in range(ndim) if dim not in (one, two)]
    if out is not None:
        check_out(out, x)
    wide = x if dtype is None else F.to_dtype(x, dtype.numpy)
    sizes = F.linalg_svd(F.permute_dims(wide, [*others, one, two]), values_only=True)[1]
    found = F.sum_dim_IntList(sizes, (-1,))
    if keep:
        for dim in sorted((one, two)):
            found = F.unsqueeze(found, dim)
    return found if out is None else write_out(out, found._impl.array, "norm", exact=True)
