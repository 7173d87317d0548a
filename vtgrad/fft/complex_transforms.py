"""Fourier transforms of complex elements, and their inverses."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.fft.transform import (
    check_complex_out,
    complex_values,
    in_size,
    in_sizes,
    one_dim,
    real_values,
    scale_of,
    sizes_and_dims,
)
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.argument_types import T
from vtgrad.storage.integers import index_of

__all__ = ["fft", "fft2", "fftn", "ifft", "ifft2", "ifftn"]


@explained
def fft(
    input: T,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the Fourier transform along a dimension.

    Element k is the sum of ``input[j] * exp(-2 pi i j k / n)`` over j. The frequencies are in the
    order of `fftfreq`. Real values are transformed in half the time.

    Parameters
    ----------
    input : Tensor
        Complex or real values, or integers, which are cast to the default dtype first.
    n : int, optional
        How many values are transformed: the first ones, with zeros behind them if there are
        fewer. By default all.
    dim : int, default -1
        The dimension.
    norm : {"backward", "ortho", "forward"}, optional
        "forward" divides by the number of values, "ortho" by its root, "backward" by nothing,
        which is the default.
    out : Tensor, optional
        Where the result is stored, of a complex dtype.

    Returns
    -------
    Tensor
        A new tensor of the complex dtype with as many bits for each part.

    Raises
    ------
    DimensionError
        If there is no such dimension.
    OptionValueError
        If a size is less than 1, or there is no such `norm`.
    DTypeError
        If the dtype is float16.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.fft(vt.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    >>> vt.fft.fft(vt.tensor([1.0, 2.0]), n=4, norm="ortho")
    tensor([ 1.5000+0.j,  0.5000-1.j, -0.5000+0.j,  0.5000+1.j])
    """
    return _along_one("fft", input, n, dim, norm, False, out)


@explained
def ifft(
    input: T,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the inverse of the Fourier transform along a dimension.

    Element j is the sum of ``input[k] * exp(2 pi i j k / n)`` over k, divided by n.

    Parameters
    ----------
    input : Tensor
        Complex or real values, or integers, which are cast to the default dtype first.
    n : int, optional
        How many values are transformed: the first ones, with zeros behind them if there are
        fewer. By default all.
    dim : int, default -1
        The dimension.
    norm : {"backward", "ortho", "forward"}, optional
        "backward" divides by the number of values, which is the default, "ortho" by its root,
        "forward" by nothing.
    out : Tensor, optional
        Where the result is stored, of a complex dtype.

    Returns
    -------
    Tensor
        A new tensor of the complex dtype with as many bits for each part.

    Raises
    ------
    DimensionError
        If there is no such dimension.
    OptionValueError
        If a size is less than 1, or there is no such `norm`.
    DTypeError
        If the dtype is float16.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.ifft(vt.tensor([10 + 0j, -2 + 2j, -2 + 0j, -2 - 2j]))
    tensor([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j])
    """
    return _along_one("ifft", input, n, dim, norm, True, out)


@explained
def fft2(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the Fourier transform along two dimensions.

    Parameters
    ----------
    input : Tensor
        Complex or real values, or integers, which are cast to the default dtype first.
    s : int or sequence of int, optional
        How many values are transformed along each dimension, as `n` of `fft`; -1 for all.
    dim : int or sequence of int, default (-2, -1)
        The dimensions.
    norm : {"backward", "ortho", "forward"}, optional
        "forward" divides by the number of values, "ortho" by its root, "backward" by nothing,
        which is the default.
    out : Tensor, optional
        Where the result is stored, of a complex dtype.

    Returns
    -------
    Tensor
        A new tensor of the complex dtype with as many bits for each part.

    Raises
    ------
    DimensionError
        If there is no such dimension.
    OptionValueError
        If a size is less than 1, or there is no such `norm`; if a dimension stands
        twice, or the numbers of sizes and dimensions differ.
    DTypeError
        If the dtype is float16.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.fft2(vt.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[10.+0.j, -2.+0.j],
            [-4.+0.j,  0.+0.j]])
    """
    return _along_many("fft2", input, s, dim, norm, False, out)


@explained
def ifft2(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the inverse of the Fourier transform along two dimensions.

    Parameters
    ----------
    input : Tensor
        Complex or real values, or integers, which are cast to the default dtype first.
    s : int or sequence of int, optional
        How many values are transformed along each dimension, as `n` of `ifft`; -1 for all.
    dim : int or sequence of int, default (-2, -1)
        The dimensions.
    norm : {"backward", "ortho", "forward"}, optional
        "backward" divides by the number of values, which is the default, "ortho" by its root,
        "forward" by nothing.
    out : Tensor, optional
        Where the result is stored, of a complex dtype.

    Returns
    -------
    Tensor
        A new tensor of the complex dtype with as many bits for each part.

    Raises
    ------
    DimensionError
        If there is no such dimension.
    OptionValueError
        If a size is less than 1, or there is no such `norm`; if a dimension stands
        twice, or the numbers of sizes and dimensions differ.
    DTypeError
        If the dtype is float16.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.ifft2(vt.tensor([[10.0, -2.0], [-4.0, 0.0]]))
    tensor([[1.+0.j, 2.+0.j],
            [3.+0.j, 4.+0.j]])
    """
    return _along_many("ifft2", input, s, dim, norm, True, out)


@explained
def fftn(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the Fourier transform along several dimensions.

    Without dimensions, as of a 0-d tensor, the result is a copy.

    Parameters
    ----------
    input : Tensor
        Complex or real values, or integers, which are cast to the default dtype first.
    s : int or sequence of int, optional
        How many values are transformed along each dimension, as `n` of `fft`; -1 for all.
    dim : int or sequence of int, optional
        The dimensions. By default the last ones, as many as there are sizes in `s`, or all.
    norm : {"backward", "ortho", "forward"}, optional
        "forward" divides by the number of values, "ortho" by its root, "backward" by nothing,
        which is the default.
    out : Tensor, optional
        Where the result is stored, of a complex dtype.

    Returns
    -------
    Tensor
        A new tensor of the complex dtype with as many bits for each part.

    Raises
    ------
    DimensionError
        If there is no such dimension.
    OptionValueError
        If a size is less than 1, or there is no such `norm`; if a dimension stands
        twice, or the numbers of sizes and dimensions differ.
    DTypeError
        If the dtype is float16.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.fftn(vt.ones(2, 2, 2))[0, 0]
    tensor([8.+0.j, 0.+0.j])
    >>> vt.fft.fftn(vt.ones(2, 2), s=(4,))
    tensor([[2.+0.j, 1.-1.j, 0.+0.j, 1.+1.j],
            [2.+0.j, 1.-1.j, 0.+0.j, 1.+1.j]])
    """
    return _along_many("fftn", input, s, dim, norm, False, out)


@explained
def ifftn(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the inverse of the Fourier transform along several dimensions.

    Without dimensions, as of a 0-d tensor, the result is a copy.

    Parameters
    ----------
    input : Tensor
        Complex or real values, or integers, which are cast to the default dtype first.
    s : int or sequence of int, optional
        How many values are transformed along each dimension, as `n` of `ifft`; -1 for all.
    dim : int or sequence of int, optional
        The dimensions. By default the last ones, as many as there are sizes in `s`, or all.
    norm : {"backward", "ortho", "forward"}, optional
        "backward" divides by the number of values, which is the default, "ortho" by its root,
        "forward" by nothing.
    out : Tensor, optional
        Where the result is stored, of a complex dtype.

    Returns
    -------
    Tensor
        A new tensor of the complex dtype with as many bits for each part.

    Raises
    ------
    DimensionError
        If there is no such dimension.
    OptionValueError
        If a size is less than 1, or there is no such `norm`; if a dimension stands
        twice, or the numbers of sizes and dimensions differ.
    DTypeError
        If the dtype is float16.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.ifftn(vt.tensor([[4.0, 0.0], [0.0, 0.0]]))
    tensor([[1.+0.j, 1.+0.j],
            [1.+0.j, 1.+0.j]])
    """
    return _along_many("ifftn", input, s, dim, norm, True, out)


def _along_one(
    name: str,
    input: T,
    n: int | None,
    dim: int,
    norm: str | None,
    inverse: bool,
    out: T | None,
) -> T:
    """One transform, of real elements where they are: no faster way has them as complex ones."""
    array = array_of(input, "input")
    axis = one_dim(input, dim)
    check_complex_out(name, out)
    scale = scale_of(norm, inverse)
    is_complex = array.dtype.kind == "c"
    values = complex_values(input) if is_complex else real_values(name, input)
    values = in_size(values, array.shape[axis] if n is None else index_of(n, "n"), axis)
    if is_complex:
        return F.fft_c2c(values, (axis,), scale, inverse, out=out)
    if not inverse:
        return F.fft_r2c(values, (axis,), scale, False, out=out)
    # Of real values the inverse transform is the conjugate of the transform.
    found = F.fft_r2c(values, (axis,), scale, False)
    return F.lazy_conj(found) if out is None else F.conj_physical(found, out=out)


def _along_many(
    name: str,
    input: T,
    s: int | Sequence[int] | None,
    dim: int | Sequence[int] | None,
    norm: str | None,
    inverse: bool,
    out: T | None,
) -> T:
    sizes, dims = sizes_and_dims(name, input, s, dim)
    check_complex_out(name, out)
    values = in_sizes(complex_values(input), sizes, dims)
    return F.fft_c2c(values, tuple(dims), scale_of(norm, inverse), inverse, out=out)
