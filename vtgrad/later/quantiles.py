"""Quantiles: values below which a given part of the elements lies."""

from __future__ import annotations

from typing import Final, TypeVar, cast

import numpy as np

from vtgrad.errors import DTypeError, OptionValueError, ResultTypeError, ShapeError
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.later.store_result import store_result
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag, checked_dim
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.shapes import normalize_dim
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["nanquantile", "quantile"]


T = TypeVar("T", bound=TensorBase)

_INT64: Final = np.dtype(np.int64)
_WAYS: Final = ("linear", "lower", "higher", "midpoint", "nearest")


@explained
def quantile(
    input: T,
    q: float | TensorBase,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: T | None = None,
) -> T:
    """Return the values below which given parts of the elements lie.

    A quantile lies at the place ``q * (n - 1)`` of the n sorted elements. Between two places it is
    interpolated, and its gradient goes to both elements, and to `q`. If there is a nan, it is the
    result.

    Parameters
    ----------
    input : Tensor
        Values of float32 or float64.
    q : float or Tensor
        The parts, between 0 and 1: one, or a vector in the dtype of `input`.
    dim : int, optional
        The dimension; all elements by default.
    keepdim : bool, default False
        Whether the dimension stays, with size 1.
    interpolation : str, default 'linear'
        What is taken between two elements: ``"linear"``, ``"lower"``, ``"higher"``, ``"nearest"``,
        of two equally near ones that at the even place, or ``"midpoint"``.
    out : Tensor, optional
        Where the result is stored; it must have its dtype.

    Returns
    -------
    Tensor
        A new tensor; of a vector `q` its first dimension are the parts.

    Raises
    ------
    ShapeError
        If `input` has no element, or `q` more than one dimension.
    DTypeError
        If `input` is not of these dtypes, or `q` has another.
    OptionValueError
        If `q` is not between 0 and 1, or there is no such interpolation.
    DimensionError
        If there is no dimension `dim`.
    ResultTypeError
        If `out` does not have the dtype of `input`.

    Examples
    --------
    >>> x = vt.tensor([[0.0, 1.0, 2.0], [4.0, 0.0, 8.0]], requires_grad=True)
    >>> y = vt.quantile(x, vt.tensor([0.25, 1.0]), dim=1)
    >>> y.detach()
    tensor([[0.5000, 2.0000],
            [2.0000, 8.0000]])
    >>> y[0].sum().backward()
    >>> x.grad
    tensor([[0.5000, 0.5000, 0.0000],
            [0.5000, 0.5000, 0.0000]])
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, out)


@explained
def nanquantile(
    input: T,
    q: float | TensorBase,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: T | None = None,
) -> T:
    """Return the values below which given parts of the elements lie that are no nan.

    Parameters
    ----------
    input, q, dim, keepdim, interpolation, out
        As of `quantile`.

    Returns
    -------
    Tensor
        As of `quantile`; nan where there is no number.

    Raises
    ------
    ShapeError, DTypeError, OptionValueError, DimensionError, ResultTypeError
        As `quantile`.

    Examples
    --------
    >>> x = vt.tensor([[0.0, float("nan"), 2.0], [4.0, 0.0, 8.0]])
    >>> vt.nanquantile(x, 0.5, dim=1)
    tensor([1., 4.])
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, out)


def _quantile(
    name: str,
    input: T,
    q: float | TensorBase,
    dim: int | None,
    keepdim: bool,
    interpolation: str,
    out: T | None,
) -> T:
    refuse_names(name, input, q)
    array = array_of(input, "input")
    keepdim = check_flag(keepdim, "keepdim")
    axis = None if dim is None else normalize_dim(checked_dim(dim), array.ndim)
    if not array.size:
        raise ShapeError(f"{name}() needs elements, got shape {list(array.shape)}")
    if array.dtype not in (np.float32, np.float64):
        raise DTypeError(f"{name}() takes float32 or float64, not {input.dtype.name}")
    parts = _parts(name, input, q)
    if interpolation not in _WAYS:
        raise OptionValueError(
            f"interpolation must be one of {', '.join(_WAYS)}, not {interpolation!r}"
        )
    if out is not None and array_of(out, "out").dtype != array.dtype:
        raise ResultTypeError(
            f"out= has dtype {out.dtype.name}, but {name}() stores {input.dtype.name} only",
            result=input.dtype,
            target=out.dtype,
        )
    ordered = _ordered(input, axis, keepdim)
    ranks = _ranks(ordered, parts, skip=name == "nanquantile")
    found = _between(ordered, ranks, interpolation)
    if parts._impl.array.ndim:
        found = F.squeeze_dim_(F.transpose_(F.unsqueeze_(found, 0), 0, -1), -1)
    else:
        found = F.squeeze_dim_(found, -1)
    return store_result(found, out, name, input, q)


def _parts(name: str, input: T, q: float | TensorBase) -> T:
    """What part of the elements is below, as a tensor."""
    kind = input._impl.array.dtype
    if not isinstance(q, TensorBase):
        if not 0 <= q <= 1:
            raise OptionValueError(f"{name}() takes parts between 0 and 1, not {q}", q=q)
        return beside(input, making.asarray(q, kind))
    array = q._impl.array
    if array.ndim > 1:
        raise ShapeError(f"{name}() takes a vector of parts, got shape {list(array.shape)}")
    if array.dtype != kind:
        raise DTypeError(f"{name}() takes parts of dtype {kind}, not {array.dtype}")
    if not q._impl.key_set and not ((array >= 0) & (array <= 1)).all():
        raise OptionValueError(f"{name}() takes parts between 0 and 1")
    return cast("T", q)


def _ordered(input: T, axis: int | None, keepdim: bool) -> T:
    """The sorted elements along a last dimension, behind those of the result."""
    shape = input._impl.array.shape
    if axis is None:
        ordered = F.sort_dim(F.reshape(input, -1))[0]
        kept = (1,) * len(shape) if keepdim else ()
    else:
        rest = [n for d, n in enumerate(shape) if d != axis]
        kept = tuple([1 if d == axis else n for d, n in enumerate(shape)] if keepdim else rest)
        if axis == len(shape) - 1 or not shape:
            ordered = F.sort_dim(input)[0]
        else:
            ordered = F.sort_dim(F.transpose(F.unsqueeze(input, -1), axis, -1))[0]
    count = 1 if not shape else ordered._impl.array.shape[-1]
    return F.view_shape(ordered, (*kept, count))


def _ranks(ordered: T, parts: T, *, skip: bool) -> T:
    """The places of quantiles, of which those at a nan are the last one."""
    nans = F.isnan(ordered)
    if skip:
        count = F.sub(F.sum_dim_IntList(F.logical_not(nans), (-1,), True), 1)
        ranks = F.mul(parts, count)
        return F.masked_fill(ranks, F.lt(ranks, 0), 0)
    last = ordered._impl.array.shape[-1] - 1
    shape = ordered._impl.array.shape[:-1] + (parts._impl.array.size,)
    ranks = F.broadcast_to(F.mul(parts, last), shape)
    return F.masked_fill(ranks, F.any_dim(nans, -1, True), last)


def _between(ordered: T, ranks: T, interpolation: str) -> T:
    last = ordered._impl.array.ndim - 1
    if interpolation in ("lower", "higher", "nearest"):
        rounded = {"lower": F.floor, "higher": F.ceil, "nearest": F.round}[interpolation](ranks)
        return F.gather(ordered, last, F.to_dtype(rounded, _INT64))
    below = F.to_dtype(F.detach(ranks), _INT64)
    above = F.to_dtype(F.ceil(F.detach(ranks)), _INT64)
    weight = F.full_like(ranks, 0.5) if interpolation == "midpoint" else F.sub(ranks, below)
    return F.lerp_Tensor_(F.gather(ordered, last, below), F.gather(ordered, last, above), weight)
