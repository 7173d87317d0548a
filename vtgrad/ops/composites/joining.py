"""Joining tensors by names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.ops.calling.sequences import sequence_of_tensors
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.composites.views.reshaping import at_least
from vtgrad.ops.generated import functional as F
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["column_stack", "concat", "concatenate", "dstack", "hstack", "row_stack", "vstack"]


T = TypeVar("T", bound=TensorBase)


def concat(tensors: Sequence[T], dim: int = 0, *, out: T | None = None) -> T:
    """Another name of `cat`."""
    if keys.active and is_overridden(tensors, out):
        return call_override(concat, tensors, dim, out=out)
    return F.cat(tensors, dim, out=out)


def concatenate(tensors: Sequence[T], dim: int = 0, *, out: T | None = None) -> T:
    """Another name of `cat`."""
    if keys.active and is_overridden(tensors, out):
        return call_override(concatenate, tensors, dim, out=out)
    return F.cat(tensors, dim, out=out)


def hstack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """Return the tensors side by side.

    They are joined along dimension 1, vectors along their only dimension; 0-d tensors count as
    vectors of one element. The dtypes are promoted. Each tensor gets its part of the gradient.

    Parameters
    ----------
    tensors : sequence of Tensor
        At least one tensor. The sizes of the other dimensions agree.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.

    Returns
    -------
    Tensor
        A new tensor of the promoted dtype.

    Raises
    ------
    ShapeError
        If the shapes do not fit, or there is no tensor.
    ArgumentTypeError
        If `tensors` is not a sequence of tensors.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> vt.hstack((vt.tensor([1, 2]), vt.tensor([3.5])))
    tensor([1.0000, 2.0000, 3.5000])
    >>> vt.hstack((vt.zeros(2, 1), vt.ones(2, 2)))
    tensor([[0., 1., 1.],
            [0., 1., 1.]])
    """
    if keys.active and is_overridden(tensors, out):
        return call_override(hstack, tensors, out=out)
    each = _each_at_least(tensors, 1, "hstack")
    return F.cat(each, 0 if each[0].ndim == 1 else 1, out=out)


def vstack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """Join tensors below each other, along dimension 0.

    The dtypes are promoted. The gradient of each tensor is its rows of the gradient.

    Parameters
    ----------
    tensors : sequence of Tensor
        At least one; vectors become rows and 0-d tensors matrices of one element.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new tensor of the promoted dtype.

    Raises
    ------
    ShapeError
        If there are no tensors, or sizes of other dimensions than 0 differ.
    ArgumentTypeError
        If `tensors` is no sequence of tensors.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> vt.vstack((vt.tensor([1, 2]), vt.tensor([[3, 4], [5, 6]])))
    tensor([[1, 2],
            [3, 4],
            [5, 6]])
    """
    if keys.active and is_overridden(tensors, out):
        return call_override(vstack, tensors, out=out)
    return F.cat(_each_at_least(tensors, 2, "vstack"), 0, out=out)


def row_stack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """Join tensors below each other, along dimension 0.

    Another name of `vstack`.

    Parameters
    ----------
    tensors : sequence of Tensor
        At least one; vectors become rows and 0-d tensors matrices of one element.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new tensor of the promoted dtype.

    Raises
    ------
    ShapeError
        If there are no tensors, or sizes of other dimensions than 0 differ.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> vt.row_stack((vt.tensor([1, 2]), vt.tensor([3, 4])))
    tensor([[1, 2],
            [3, 4]])
    """
    if keys.active and is_overridden(tensors, out):
        return call_override(row_stack, tensors, out=out)
    return F.cat(_each_at_least(tensors, 2, "row_stack"), 0, out=out)


def dstack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """Return tensors behind each other along dimension 2.

    Each tensor is given at least 3 dimensions first, as by `atleast_3d`: a vector becomes
    ``(1, n, 1)`` and a matrix ``(n, m, 1)``. Then they are joined, by `cat`. Dtypes promote.

    Parameters
    ----------
    tensors : sequence of Tensor
        The tensors, of the same sizes but for dimension 2.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.

    Returns
    -------
    Tensor
        A new tensor of the promoted dtype.

    Raises
    ------
    ShapeError
        If there are no tensors, or sizes differ.
    ArgumentTypeError
        If `tensors` is not a sequence of tensors.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> vt.dstack([vt.tensor([1, 2]), vt.tensor([3, 4])])
    tensor([[[1, 3],
             [2, 4]]])
    >>> vt.dstack([vt.ones(2, 3), vt.zeros(2, 3)]).shape
    vtgrad.Size([2, 3, 2])
    """
    if keys.active and is_overridden(tensors, out):
        return call_override(dstack, tensors, out=out)
    return F.cat(_each_at_least(tensors, 3, "dstack"), 2, out=out)


def column_stack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """Return tensors side by side along dimension 1, vectors as columns.

    A 0-d tensor counts as a matrix with one element, a vector as a matrix with one column;
    others are joined as they are, by `cat`. Dtypes promote.

    Parameters
    ----------
    tensors : sequence of Tensor
        The tensors, of the same sizes but for dimension 1.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.

    Returns
    -------
    Tensor
        A new tensor of the promoted dtype.

    Raises
    ------
    ShapeError
        If there are no tensors, or sizes differ.
    ArgumentTypeError
        If `tensors` is not a sequence of tensors.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> x = vt.tensor([1, 2])
    >>> vt.column_stack([x, vt.tensor([3, 4])])
    tensor([[1, 3],
            [2, 4]])
    >>> vt.column_stack([x, vt.tensor([[3, 4], [5, 6]])])
    tensor([[1, 3, 4],
            [2, 5, 6]])
    """
    if keys.active and is_overridden(tensors, out):
        return call_override(column_stack, tensors, out=out)
    each = sequence_of_tensors(tensors, "column_stack")
    return F.cat([F.reshape(x, x.numel(), 1) if x.ndim < 2 else x for x in each], 1, out=out)


def _each_at_least(tensors: Sequence[T], ndim: int, name: str) -> list[T]:
    return [at_least(x, ndim) for x in sequence_of_tensors(tensors, name)]
