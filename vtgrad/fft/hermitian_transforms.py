"""Transforms of which the result is real, and their inverses, of real elements."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.fft.real_transforms import at_least_one, in_half, to_complex
from vtgrad.fft.transform import (
    check_complex_out,
    check_real_out,
    complex_values,
    in_sizes,
    one_dim,
    real_values,
    scale_of,
)
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.argument_types import T
from vtgrad.storage.integers import index_of

__all__ = ["hfft", "hfft2", "hfftn", "ihfft", "ihfft2", "ihfftn"]


@explained
def hfft(
    input: T,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the Fourier transform of half of a signal, of which the other half is conjugates.

    The transform of the whole is real.

    Parameters
    ----------
    input : Tensor
        Half of values of which those at -t are the conjugates of those at t: from t = 0 on, along
        the last of the dimensions.
    n : int, optional
        How many values the result has along `dim`. By default ``2 * (size - 1)``, an even
        number: for an odd one it must be given.
    dim : int, default -1
        The dimension.
    norm : {"backward", "ortho", "forward"}, optional
        "forward" divides by the number of values, "ortho" by its root, "backward" by nothing,
        which is the default.
    out : Tensor, optional
        Where the result is stored, of a real dtype.

    Returns
    -------
    Tensor
        A new tensor of the real dtype of the parts.

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
    >>> vt.fft.hfft(vt.tensor([1 + 0j, 2 + 1j, 3 + 0j]))
    tensor([ 8.,  0.,  0., -4.])
    """
    return _real_of(input, n, dim, norm, out)


@explained
def ihfft(
    input: T,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the inverse of `hfft`: half of a signal of which the other half is conjugates.

    Without `out` the result is a lazy conjugate, see `conj`.

    Parameters
    ----------
    input : Tensor
        Real values; integers are cast to the default dtype first.
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
        If the dtype is float16, or `input` is complex.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.ihfft(vt.tensor([8.0, 0.0, 0.0, -4.0])).resolve_conj()
    tensor([1.-0.j, 2.+1.j, 3.-0.j])
    """
    found = to_complex("ihfft", input, n, dim, scale_of(norm, True), None)
    check_complex_out("ihfft", out)
    return F.lazy_conj(found) if out is None else F.conj_physical(found, out=out)


@explained
def hfft2(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the transform along two dimensions of half of a signal whose transform is real.

    Parameters
    ----------
    input : Tensor
        Half of values of which those at -t are the conjugates of those at t: from t = 0 on, along
        the last of the dimensions.
    s : int or sequence of int, optional
        How many values the result has along each dimension, as `n` of `hfft`; -1 for what is
        the default there.
    dim : int or sequence of int, default (-2, -1)
        The dimensions.
    norm : {"backward", "ortho", "forward"}, optional
        "forward" divides by the number of values, "ortho" by its root, "backward" by nothing,
        which is the default.
    out : Tensor, optional
        Where the result is stored, of a real dtype.

    Returns
    -------
    Tensor
        A new tensor of the real dtype of the parts.

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
    >>> vt.fft.hfft2(vt.ones(2, 3))
    tensor([[8., 0., 0., 0.],
            [0., 0., 0., 0.]])
    """
    return _reals_of("hfft2", input, s, dim, norm, out)


@explained
def ihfft2(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the inverse of `hfft2`.

    Parameters
    ----------
    input : Tensor
        Real values; integers are cast to the default dtype first.
    s : int or sequence of int, optional
        How many values are transformed along each dimension, as `n` of `ihfft`; -1 for all.
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
        If the dtype is float16, or `input` is complex.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.ihfft2(vt.tensor([[8.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])).real
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
    return _halves_of("ihfft2", input, s, dim, norm, out)


@explained
def hfftn(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the transform along several dimensions of half of a signal whose transform is real.

    Parameters
    ----------
    input : Tensor
        Half of values of which those at -t are the conjugates of those at t: from t = 0 on, along
        the last of the dimensions.
    s : int or sequence of int, optional
        How many values the result has along each dimension, as `n` of `hfft`; -1 for what is
        the default there.
    dim : int or sequence of int, optional
        The dimensions. By default the last ones, as many as there are sizes in `s`, or all.
    norm : {"backward", "ortho", "forward"}, optional
        "forward" divides by the number of values, "ortho" by its root, "backward" by nothing,
        which is the default.
    out : Tensor, optional
        Where the result is stored, of a real dtype.

    Returns
    -------
    Tensor
        A new tensor of the real dtype of the parts.

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
    >>> vt.fft.hfftn(vt.ones(2, 3))
    tensor([[8., 0., 0., 0.],
            [0., 0., 0., 0.]])
    """
    return _reals_of("hfftn", input, s, dim, norm, out)


@explained
def ihfftn(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the inverse of `hfftn`.

    Parameters
    ----------
    input : Tensor
        Real values; integers are cast to the default dtype first.
    s : int or sequence of int, optional
        How many values are transformed along each dimension, as `n` of `ihfft`; -1 for all.
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
        If the dtype is float16, or `input` is complex.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.ihfftn(vt.tensor([[8.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])).real
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
    return _halves_of("ihfftn", input, s, dim, norm, out)


def _real_of(input: T, n: int | None, dim: int, norm: str | None, out: T | None) -> T:
    values = complex_values(input)
    axis = one_dim(input, dim)
    check_real_out("hfft", out)
    size = 2 * (input.shape[axis] - 1) if n is None else index_of(n, "n")
    conjugates = F.lazy_conj(in_half(values, size, axis))
    return F.fft_c2r(conjugates, (axis,), scale_of(norm, False), size, out=out)


def _reals_of(
    name: str,
    input: T,
    s: int | Sequence[int] | None,
    dim: int | Sequence[int] | None,
    norm: str | None,
    out: T | None,
) -> T:
    """The transform along the other dimensions first, then that of conjugates along the last."""
    values = complex_values(input)
    sizes, dims = at_least_one(name, input, s, dim)
    check_real_out(name, out)
    scale = scale_of(norm, False)
    last = 2 * (input.shape[dims[-1]] - 1) if sizes[-1] == -1 else sizes[-1]
    values = in_half(in_sizes(values, sizes[:-1], dims[:-1]), last, dims[-1])
    if len(dims) > 1:
        values = F.fft_c2c(values, tuple(dims[:-1]), scale, False)
    return F.fft_c2r(F.lazy_conj(values), (dims[-1],), scale, last, out=out)


def _halves_of(
    name: str,
    input: T,
    s: int | Sequence[int] | None,
    dim: int | Sequence[int] | None,
    norm: str | None,
    out: T | None,
) -> T:
    """The conjugate along the last dimension first, then the inverse transform along the others."""
    values = real_values(name, input)
    sizes, dims = at_least_one(name, input, s, dim)
    check_complex_out(name, out)
    scale = scale_of(norm, True)
    found = F.fft_r2c(in_sizes(values, sizes, dims), (dims[-1],), scale, True)
    if len(dims) == 1:
        return F.lazy_conj(found) if out is None else F.conj_physical(found, out=out)
    return F.fft_c2c(F.conj_physical(found), tuple(dims[:-1]), scale, True, out=out)
