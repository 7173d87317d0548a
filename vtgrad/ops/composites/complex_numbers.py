"""Conjugates, real and imaginary parts: views, and copies on request."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import DTypeError, ShapeError
from vtgrad.graph.batch import value_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.take_over import is_keyed_as_whole, take_over
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.operators import IMAG, REAL
from vtgrad.storage.key_set import keys
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
    """Return the complex conjugates without copying anything.

    The conjugation is lazy: the result looks at the memory of `input` and conjugates what is
    read from it and what is written to it. `is_conj` tells whether a tensor does that,
    `resolve_conj` copies the values to memory of their own. The gradient is conjugated.

    Parameters
    ----------
    input : Tensor
        The values, of any shape.

    Returns
    -------
    Tensor
        A view of a complex `input`: writing to it writes to `input`. A real tensor is returned
        itself.

    Raises
    ------
    ArgumentTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> z = vt.tensor([1 + 2j, 3 - 4j])
    >>> c = vt.conj(z)
    >>> c
    tensor([1.-2.j, 3.+4.j])
    >>> c[0] = 5j
    >>> z
    tensor([0.-5.j, 3.-4.j])
    >>> c.is_conj()
    True
    """
    return F.conj_view(input) if input.is_complex() else input


@explained
def conj_physical(input: T, *, out: T | None = None) -> T:
    """Return the complex conjugates in memory of their own.

    Unlike the view that `conj` makes, the result holds the conjugates as they are. Real values
    are their own conjugates: without `out` a real tensor is returned itself, not a copy. The
    gradient is conjugated.

    Parameters
    ----------
    input : Tensor
        The values, of any shape.
    out : Tensor, optional
        Where the result is stored; it must have the result's dtype.

    Returns
    -------
    Tensor
        A new tensor of the shape and dtype of a complex `input`; a real tensor itself.

    Raises
    ------
    ResultTypeError
        If `out` has another dtype than the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> z = vt.tensor([1 + 2j])
    >>> c = vt.conj_physical(z)
    >>> c, c.is_conj()
    (tensor([1.-2.j]), False)
    >>> x = vt.tensor([1.0])
    >>> vt.conj_physical(x) is x
    True
    """
    if out is None and not input.is_complex():
        return input
    return F._conj_physical(input, out=out)


@explained
def resolve_conj(input: T) -> T:
    """Return a tensor whose memory holds its values, not their conjugates.

    `conj` makes views that conjugate what they read; this makes a copy of such a view.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.

    Returns
    -------
    Tensor
        A copy if `input` is a lazy conjugate, else `input` itself.

    Examples
    --------
    >>> z = vt.tensor([1 + 2j]).conj()
    >>> z.is_conj(), vt.resolve_conj(z).is_conj()
    (True, False)
    >>> vt.resolve_conj(z)
    tensor([1.-2.j])
    """
    return F.clone(input) if is_conjugated(value_of(input)._impl.array) else input


@explained
def resolve_neg(input: T) -> T:
    """Return a tensor whose memory holds its values, not their negatives.

    The imaginary part of a lazy conjugate is such a view, which negates what it reads; this
    makes a copy of it.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.

    Returns
    -------
    Tensor
        A copy if `input` is a lazy negative, else `input` itself.

    Examples
    --------
    >>> x = vt.tensor([1 + 2j]).conj().imag
    >>> x.is_neg(), vt.resolve_neg(x).is_neg()
    (True, False)
    >>> vt.resolve_neg(x)
    tensor([-2.])
    """
    return F.clone(input) if is_negated(value_of(input)._impl.array) else input


@explained
def is_conj(input: TensorBase) -> bool:
    """Return whether the memory of a tensor holds the conjugates of its values.

    ``conj()`` of a complex tensor returns a view that conjugates lazily: it is marked, and the
    memory stays as it is. `resolve_conj` makes a copy that holds the values. A real tensor is
    never marked.

    Parameters
    ----------
    input : Tensor
        Tensor of any dtype and shape.

    Returns
    -------
    bool
        Whether the values are lazy conjugates.

    Raises
    ------
    ArgumentTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> z = vt.tensor([1 + 2j])
    >>> vt.is_conj(z), vt.is_conj(z.conj())
    (False, True)
    >>> vt.is_conj(z.conj().conj())
    False
    >>> vt.is_conj(z.conj().resolve_conj())
    False
    """
    return is_conjugated(value_of(input)._impl.array)


@explained
def is_neg(input: TensorBase) -> bool:
    """Return whether the memory of a tensor holds the negatives of its values.

    The imaginary part of a lazy conjugate is such a view: it shares memory with the complex
    tensor, whose imaginary parts have the other sign. `resolve_neg` makes a copy that holds the
    values. `neg` computes new values, and its result is not marked.

    Parameters
    ----------
    input : Tensor
        Tensor of any dtype and shape.

    Returns
    -------
    bool
        Whether the values are lazy negatives.

    Raises
    ------
    ArgumentTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> z = vt.tensor([1 + 2j])
    >>> vt.is_neg(z.conj().imag), vt.is_neg(z.imag)
    (True, False)
    >>> z.conj().imag
    tensor([-2.])
    >>> vt.is_neg(-z.imag)
    False
    """
    return is_negated(value_of(input)._impl.array)


@explained
def real(input: T) -> T:
    """Return the real parts of complex numbers, as a view.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.

    Returns
    -------
    Tensor
        A view of the real parts, in a floating dtype: writing to it writes to `input`. A tensor
        that is not complex is returned itself.

    Examples
    --------
    >>> z = vt.tensor([1 + 2j, 3 - 4j])
    >>> vt.real(z).mul_(10)
    tensor([10., 30.])
    >>> z
    tensor([10.+2.j, 30.-4.j])
    >>> x = vt.tensor([1.0])
    >>> vt.real(x) is x
    True
    """
    if keys.active and is_keyed_as_whole(input):
        return take_over(REAL, real, input)
    if not input.is_complex():
        return input
    return F.select(F.view_as_real(_unconjugated(input)), -1, 0)


@explained
def imag(input: T) -> T:
    """Return the imaginary parts of a complex tensor as a view.

    The result is real and shares memory with `input`. Of a lazy conjugate it is a lazy
    negative, see `is_neg`. The gradient reaches the imaginary parts only.

    Parameters
    ----------
    input : Tensor
        Complex tensor.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`. It is of float32 for complex64, and
        of float64 for complex128.

    Raises
    ------
    DTypeError
        If `input` is not complex.
    ArgumentTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> z = vt.tensor([1 + 2j, 3 - 4j])
    >>> vt.imag(z)
    tensor([ 2., -4.])
    >>> vt.imag(z).fill_(9)
    tensor([9., 9.])
    >>> z
    tensor([1.+9.j, 3.+9.j])
    >>> w = vt.tensor([1 + 2j], requires_grad=True)
    >>> vt.imag(w).sum().backward()
    >>> w.grad
    tensor([0.+1.j])
    """
    if keys.active and is_keyed_as_whole(input):
        return take_over(IMAG, imag, input)
    if not input.is_complex():
        raise DTypeError(
            f"only complex tensors have imaginary parts, not one of {input.dtype.name}",
            dtype=input.dtype,
        )
    pairs = F.view_as_real(_unconjugated(input))
    if is_conjugated(value_of(input)._impl.array):
        pairs = F._neg_view(pairs)
    return F.select(pairs, -1, 1)


def _unconjugated(input: T) -> T:
    return F.conj_view(input) if is_conjugated(value_of(input)._impl.array) else input


@explained
def adjoint(input: T) -> T:
    """Return matrices transposed, with complex values conjugated.

    The last two dimensions are exchanged; any in front of them are a batch. The conjugation is
    lazy: nothing is copied. A tensor of 0 dimensions is conjugated, with a warning that this is
    deprecated.

    Parameters
    ----------
    input : Tensor
        A matrix, or a batch of them.

    Returns
    -------
    Tensor
        A view of `input`: writing to it writes to `input`.

    Raises
    ------
    ShapeError
        If `input` has 1 dimension.

    Examples
    --------
    >>> z = vt.tensor([[1 + 1j, 2 + 0j], [3 + 0j, 4 + 2j]])
    >>> a = vt.adjoint(z)
    >>> a
    tensor([[1.-1.j, 3.-0.j],
            [2.-0.j, 4.-2.j]])
    >>> a[0, 1] = 5 + 7j
    >>> z[1, 0]
    tensor(5.-7.j)
    """
    if input.ndim == 1:
        raise ShapeError(
            "adjoint needs a matrix or a batch of them, got 1 dimension", shape=input.shape
        )
    if not input.ndim:
        warn("adjoint of a tensor with 0 dimensions is deprecated: use conj()")
        return lazy_conj(input)
    return lazy_conj(F.transpose(input, -2, -1))
