"""Integrals of samples by trapezoids."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import ArgumentTypeError, DimensionError, DTypeError, ShapeError
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.ops.generated import functional as F
from vtgrad.storage.shapes import normalize_dim
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["cumulative_trapezoid", "trapezoid", "trapz"]


T = TypeVar("T", bound=TensorBase)


@explained
def trapezoid(y: T, x: TensorBase | None = None, *, dx: float | None = None, dim: int = -1) -> T:
    """Return the integral of samples along a dimension by the rule of trapezoids.

    Parameters
    ----------
    y : Tensor
        The samples, of at least one dimension.
    x : Tensor, optional
        Where they are: a vector for all, or a tensor that broadcasts with `y`. The result is
        recorded in it.
    dx : float, optional
        Their distance, 1 by default. Not together with `x`.
    dim : int, default -1
        The dimension.

    Returns
    -------
    Tensor
        A new tensor without the dimension, zeros where it has fewer than two samples.

    Raises
    ------
    DimensionError
        If there is no dimension `dim`.
    ShapeError
        If a vector `x` has not one place for each sample.
    DTypeError
        If a tensor is of bools, or `dx` is complex.
    ArgumentTypeError
        If both `x` and `dx` are given.

    Examples
    --------
    >>> y = vt.tensor([1.0, 2.0, 4.0])
    >>> vt.trapezoid(y)
    tensor(4.5000)
    >>> vt.trapezoid(y, vt.tensor([0.0, 1.0, 3.0]))
    tensor(7.5000)
    """
    axis, step = _arguments("trapezoid", y, x, dx, dim)
    sizes = y._impl.array.shape
    if not sizes[axis]:
        return F.zeros_shaped(y, (*sizes[:axis], *sizes[axis + 1 :]))
    if x is not None:
        widths = _widths("trapezoid", y, x, axis)
        areas = F.mul(F.add(F.slice(y, axis, 0, -1), F.slice(y, axis, 1)), widths)
        return F.div(F.sum_dim_IntList(areas, axis), 2.0)
    ends = F.add(F.select(y, axis, 0), F.select(y, axis, -1))
    return F.mul(F.sub(F.sum_dim_IntList(y, axis), F.mul(ends, 0.5)), step)


@explained
def trapz(y: T, x: TensorBase | None = None, *, dx: float | None = None, dim: int = -1) -> T:
    """Return the integral of samples along a dimension; the same as `trapezoid`.

    Parameters
    ----------
    y, x, dx, dim
        As of `trapezoid`.

    Returns
    -------
    Tensor
        As of `trapezoid`.

    Raises
    ------
    DimensionError, ShapeError, DTypeError, ArgumentTypeError
        As `trapezoid`.

    Examples
    --------
    >>> vt.trapz(vt.tensor([1.0, 2.0, 4.0]), dx=2.0)
    tensor(9.)
    """
    return trapezoid(y, x, dx=dx, dim=dim)


@explained
def cumulative_trapezoid(
    y: T, x: TensorBase | None = None, *, dx: float | None = None, dim: int = -1
) -> T:
    """Return the integrals from the first sample to each other, by the rule of trapezoids.

    Parameters
    ----------
    y, x, dx, dim
        As of `trapezoid`.

    Returns
    -------
    Tensor
        A new tensor, one shorter along the dimension.

    Raises
    ------
    DimensionError, ShapeError, DTypeError, ArgumentTypeError
        As `trapezoid`.

    Examples
    --------
    >>> vt.cumulative_trapezoid(vt.tensor([1.0, 2.0, 4.0]))
    tensor([1.5000, 4.5000])
    """
    axis, step = _arguments("cumulative_trapezoid", y, x, dx, dim)
    pairs = F.add(F.slice(y, axis, 1), F.slice(y, axis, 0, -1))
    if x is None:
        return F.cumsum_dim(F.mul(pairs, step / 2.0), axis)
    widths = _widths("cumulative_trapezoid", y, x, axis)
    return F.div(F.cumsum_dim(F.mul(pairs, widths), axis), 2.0)


def _arguments(
    name: str, y: TensorBase, x: TensorBase | None, dx: float | None, dim: int
) -> tuple[int, float]:
    """The dimension, and the distance of samples."""
    refuse_names(name, y, x)
    if x is not None and dx is not None:
        raise ArgumentTypeError(f"{name}() takes x or dx, not both", argument="dx")
    array = array_of(y, "y")
    axis = normalize_dim(checked_dim(dim), array.ndim)
    for one in (y, x):
        if one is not None and array_of(one, "x").dtype.kind == "b":
            raise DTypeError(f"{name}() has no meaning for bools", dtype=one.dtype)
    if not array.ndim:
        raise DimensionError(f"{name}() needs one dimension at least", dim=dim)
    step = 1.0 if dx is None else number_of(dx, "dx")
    if isinstance(step, complex):
        raise DTypeError(f"{name}() takes a real dx, not {step}")
    return axis, float(step)


def _widths(name: str, y: TensorBase, x: TensorBase, axis: int) -> TensorBase:
    """The distances of samples, in a shape that broadcasts with those of `y`."""
    sizes, own = y._impl.array.shape, x._impl.array.shape
    if len(own) == 1:
        if own[0] != sizes[axis]:
            raise ShapeError(
                f"{name}() takes a place for each of {sizes[axis]} samples, got {own[0]}",
                expected=sizes[axis],
                found=own[0],
            )
        x = F.view_shape(x, [own[0] if d == axis else 1 for d in range(len(sizes))])
    elif len(own) < len(sizes):
        x = F.view_shape(x, (1,) * (len(sizes) - len(own)) + own)
    return F.sub(F.slice(x, axis, 1), F.slice(x, axis, 0, -1))
