"""Fourier transforms of real elements, of which one half is enough, and their inverses."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.errors import OptionValueError
from vtgrad.fft.transform import (
    check_complex_out,
    check_real_out,
    complex_values,
    in_size,
    in_sizes,
    one_dim,
    real_values,
    scale_of,
    sizes_and_dims,
)
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.argument_types import T
from vtgrad.storage.integers import index_of
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "at_least_one",
    "in_half",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftn",
    "to_complex",
    "to_complexes",
    "to_real",
    "to_reals",
]


@explained
def rfft(
    input: T,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the Fourier transform of real values: the half of it that is not negative.

    The other half is conjugates of this one, in reverse order. The result has ``n // 2 + 1``
    elements along `dim`.

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
        If the dtype is float16, or `input` is complex.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.rfft(vt.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return to_complex("rfft", input, n, dim, scale_of(norm, False), out)


@explained
def irfft(
    input: T,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the inverse of `rfft`.

    The imaginary part at frequency zero is not looked at, nor that of the last element if the
    result has an even number.

    Parameters
    ----------
    input : Tensor
        The first half of a transform along the last of the dimensions, as `rfft` returns it.
    n : int, optional
        How many values the result has along `dim`. By default ``2 * (size - 1)``, an even
        number: for an odd one it must be given.
    dim : int, default -1
        The dimension.
    norm : {"backward", "ortho", "forward"}, optional
        "backward" divides by the number of values, which is the default, "ortho" by its root,
        "forward" by nothing.
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
    >>> vt.fft.irfft(vt.tensor([10 + 0j, -2 + 2j, -2 + 0j]))
    tensor([1., 2., 3., 4.])
    >>> vt.fft.irfft(vt.tensor([6 + 0j, 0j]), n=3)
    tensor([2., 2., 2.])
    """
    return to_real("irfft", input, n, dim, scale_of(norm, True), out)


@explained
def rfft2(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the Fourier transform of real values along two dimensions.

    Along the last of them the result has only the half that is not negative, as that of `rfft`.

    Parameters
    ----------
    input : Tensor
        Real values; integers are cast to the default dtype first.
    s : int or sequence of int, optional
        How many values are transformed along each dimension, as `n` of `rfft`; -1 for all.
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
        If the dtype is float16, or `input` is complex.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.rfft2(vt.ones(2, 4))
    tensor([[8.+0.j, 0.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j, 0.+0.j]])
    """
    return to_complexes("rfft2", input, s, dim, scale_of(norm, False), out)


@explained
def irfft2(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the inverse of `rfft2`.

    Parameters
    ----------
    input : Tensor
        The first half of a transform along the last of the dimensions, as `rfft2` returns it.
    s : int or sequence of int, optional
        How many values the result has along each dimension, as `n` of `irfft`; -1 for what is
        the default there.
    dim : int or sequence of int, default (-2, -1)
        The dimensions.
    norm : {"backward", "ortho", "forward"}, optional
        "backward" divides by the number of values, which is the default, "ortho" by its root,
        "forward" by nothing.
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
    >>> vt.fft.irfft2(vt.tensor([[8.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    tensor([[1., 1., 1., 1.],
            [1., 1., 1., 1.]])
    """
    return to_reals("irfft2", input, s, dim, scale_of(norm, True), out)


@explained
def rfftn(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the Fourier transform of real values along several dimensions.

    Along the last of them the result has only the half that is not negative, as that of `rfft`.

    Parameters
    ----------
    input : Tensor
        Real values; integers are cast to the default dtype first.
    s : int or sequence of int, optional
        How many values are transformed along each dimension, as `n` of `rfft`; -1 for all.
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
        If the dtype is float16, or `input` is complex.
    ResultTypeError
        If the dtype of `out` cannot hold the result.

    Examples
    --------
    >>> vt.fft.rfftn(vt.ones(2, 4))
    tensor([[8.+0.j, 0.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j, 0.+0.j]])
    """
    return to_complexes("rfftn", input, s, dim, scale_of(norm, False), out)


@explained
def irfftn(
    input: T,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: T | None = None,
) -> T:
    """Return the inverse of `rfftn`.

    Parameters
    ----------
    input : Tensor
        The first half of a transform along the last of the dimensions, as `rfftn` returns it.
    s : int or sequence of int, optional
        How many values the result has along each dimension, as `n` of `irfft`; -1 for what is
        the default there.
    dim : int or sequence of int, optional
        The dimensions. By default the last ones, as many as there are sizes in `s`, or all.
    norm : {"backward", "ortho", "forward"}, optional
        "backward" divides by the number of values, which is the default, "ortho" by its root,
        "forward" by nothing.
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
    >>> vt.fft.irfftn(vt.tensor([[8.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    tensor([[1., 1., 1., 1.],
            [1., 1., 1., 1.]])
    """
    return to_reals("irfftn", input, s, dim, scale_of(norm, True), out)


def to_complex(name: str, input: T, n: int | None, dim: int, scale: str, out: T | None = None) -> T:
    """Half of the transform of real values along a dimension."""
    values = real_values(name, input)
    axis = one_dim(input, dim)
    check_complex_out(name, out)
    values = in_size(values, input.shape[axis] if n is None else index_of(n, "n"), axis)
    return F.fft_r2c(values, (axis,), scale, True, out=out)


def to_real(name: str, input: T, n: int | None, dim: int, scale: str, out: T | None = None) -> T:
    """Real values from half of their transform."""
    values = complex_values(input)
    axis = one_dim(input, dim)
    check_real_out(name, out)
    size = 2 * (input.shape[axis] - 1) if n is None else index_of(n, "n")
    return F.fft_c2r(in_half(values, size, axis), (axis,), scale, size, out=out)


def to_complexes(
    name: str,
    input: T,
    s: int | Sequence[int] | None,
    dim: int | Sequence[int] | None,
    scale: str,
    out: T | None = None,
) -> T:
    """Half of the transform of real values along several dimensions."""
    values = real_values(name, input)
    sizes, dims = at_least_one(name, input, s, dim)
    check_complex_out(name, out)
    return F.fft_r2c(in_sizes(values, sizes, dims), tuple(dims), scale, True, out=out)


def to_reals(
    name: str,
    input: T,
    s: int | Sequence[int] | None,
    dim: int | Sequence[int] | None,
    scale: str,
    out: T | None = None,
) -> T:
    """Real values from half of their transform along several dimensions."""
    values = complex_values(input)
    sizes, dims = at_least_one(name, input, s, dim)
    check_real_out(name, out)
    last = 2 * (input.shape[dims[-1]] - 1) if sizes[-1] == -1 else sizes[-1]
    values = in_half(in_sizes(values, sizes[:-1], dims[:-1]), last, dims[-1])
    return F.fft_c2r(values, tuple(dims), scale, last, out=out)


def in_half(input: T, size: int, dim: int) -> T:
    """As many elements as the transform of `size` real values has in its half.

    Raises
    ------
    OptionValueError
        If the size is less than 1.
    """
    if size < 1:
        raise OptionValueError(f"a Fourier transform needs at least one value, not {size}", n=size)
    return in_size(input, size // 2 + 1, dim)


def at_least_one(
    name: str, input: TensorBase, s: int | Sequence[int] | None, dim: int | Sequence[int] | None
) -> tuple[list[int], list[int]]:
    """The sizes and the dimensions, of which there must be one; see `sizes_and_dims`.

    Raises
    ------
    OptionValueError
        If there is none.
    """
    sizes, dims = sizes_and_dims(name, input, s, dim)
    if not dims:
        raise OptionValueError(f"{name}() needs at least one dimension", dim=dim)
    return sizes, dims
