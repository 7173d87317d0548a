"""Conjugates, real and imaginary parts: views, resolved where somebody asks for that."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import DTypeError, ShapeError
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.lazy_array import is_conjugated, is_negated
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.warn import warn

__all__ = [
    "adjoint",
    "conj_physical",
    "imag",
    "is_conj",
    "is_neg",
    "lazy_conj",
    "real",
    "resolve_conj",
    "resolve_neg",
]


T = TypeVar("T", bound=TensorBase)


@explained
def lazy_conj(input: T) -> T:
    """The conjugates, as a view of the same memory; a real tensor itself.

    Examples
    --------
    >>> import vtgrad as vt
    >>> z = vt.tensor([1 + 2j, 3 - 4j])
    >>> c = z.conj()
    >>> c[0] = 5j
    >>> z
    tensor([0.-5.j, 3.-4.j])
    """
    return F.conj_view(input) if input.is_complex() else input


@explained
def conj_physical(input: T, *, out: T | None = None) -> T:
    """The conjugates, as a copy; a real tensor itself."""
    if out is None and not input.is_complex():
        return input
    return F._conj_physical(input, out=out)


@explained
def resolve_conj(input: T) -> T:
    """A copy whose memory holds the values, if the tensor is a lazy conjugate, else itself."""
    return F.clone(input) if is_conjugated(input._impl.array) else input


@explained
def resolve_neg(input: T) -> T:
    """A copy whose memory holds the values, if the tensor is a lazy negative, else itself."""
    return F.clone(input) if is_negated(input._impl.array) else input


@explained
def is_conj(input: TensorBase) -> bool:
    """Whether the memory holds the conjugates of the values."""
    return is_conjugated(input._impl.array)


@explained
def is_neg(input: TensorBase) -> bool:
    """Whether the memory holds the negatives of the values."""
    return is_negated(input._impl.array)


@explained
def real(input: T) -> T:
    """The real parts, as a view of the same memory; a real tensor itself.

    Examples
    --------
    >>> import vtgrad as vt
    >>> z = vt.tensor([1 + 2j, 3 - 4j])
    >>> vt.real(z).mul_(10)
    tensor([10., 30.])
    >>> z
    tensor([10.+2.j, 30.-4.j])
    """
    if not input.is_complex():
        return input
    return F.select(F.view_as_real(_unconjugated(input)), -1, 0)


@explained
def imag(input: T) -> T:
    """The imaginary parts, as a view of the same memory; of lazy conjugates a lazy negative.

    Raises
    ------
    DTypeError
        If the tensor is not complex.
    """
    if not input.is_complex():
        raise DTypeError(
            f"only complex tensors have imaginary parts, not one of {input.dtype.name}",
            dtype=input.dtype,
        )
    pairs = F.view_as_real(_unconjugated(input))
    if is_conjugated(input._impl.array):
        pairs = F._neg_view(pairs)
    return F.select(pairs, -1, 1)


def _unconjugated(input: T) -> T:
    return F.conj_view(input) if is_conjugated(input._impl.array) else input


@explained
def adjoint(input: T) -> T:
    """The last two dimensions exchanged, complex values conjugated; a view.

    Raises
    ------
    ShapeError
        If there is 1 dimension.
    """
    if input.ndim == 1:
        raise ShapeError(
            "adjoint needs a matrix or a batch of them, got 1 dimension", shape=input.shape
        )
    if not input.ndim:
        warn("adjoint of a tensor with 0 dimensions is deprecated: use conj()")
        return lazy_conj(input)
    return lazy_conj(F.transpose(input, -2, -1))
