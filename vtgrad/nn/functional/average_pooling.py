"""The means and the norms of windows."""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence
from typing import TypeVar

from vtgrad.errors import OptionValueError, ShapeError
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.pooling_geometry import adaptive_sizes, pooling_geometry
from vtgrad.nn.functional.resampling import even_windows, resampled
from vtgrad.nn.functional.sizes import numbers, refuse_dtypes, spatial
from vtgrad.nn.functional.window_geometry import Geometry
from vtgrad.nn.functional.window_sums import window_sums
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.integers import index_of
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
]

T = TypeVar("T", bound=Tensor)


@explained
def avg_pool1d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> T:
    """Return the mean of each window of signals.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, W)``, or ``(C, W)`` for one sample.
    kernel_size : int or sequence of int
        The size of a window; one number, or one for each dimension of space.
    stride : int or sequence of int, optional
        The distance of two windows, by default their size.
    padding : int or sequence of int, default 0
        How many zeros stand around the input, at each end; at most half of a window.
    ceil_mode : bool, default False
        Whether there is one more window at the end if elements are left; it must begin inside.
    count_include_pad : bool, default True
        Whether these zeros count in the means.

    Returns
    -------
    Tensor
        A new tensor. Of integers, int64 only, the means are rounded towards 0.

    Raises
    ------
    ShapeError
        If a number is too small, the padding too large, or there is no window.
    NotSupportedError
        If the elements are bools, complex, or integers that are not int64.

    Examples
    --------
    >>> vt.nn.functional.avg_pool1d(vt.tensor([[1.0, 3.0, 2.0, 6.0]]), 2)
    tensor([[2., 4.]])
    """
    flags = ceil_mode, count_include_pad
    return _means("avg_pool1d", 1, input, (kernel_size, stride, padding), flags, None)


@explained
def avg_pool2d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> T:
    """Return the mean of each window of images.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, H, W)``, or ``(C, H, W)`` for one sample.
    kernel_size : int or sequence of int
        The size of a window; one number, or one for each dimension of space.
    stride : int or sequence of int, optional
        The distance of two windows, by default their size.
    padding : int or sequence of int, default 0
        How many zeros stand around the input, at each end; at most half of a window.
    ceil_mode : bool, default False
        Whether there is one more window at the end if elements are left; it must begin inside.
    count_include_pad : bool, default True
        Whether these zeros count in the means.
    divisor_override : int, optional
        What the sums are divided by, in place of the number of elements.

    Returns
    -------
    Tensor
        A new tensor. Of integers, int64 only, the means are rounded towards 0.

    Raises
    ------
    ShapeError
        If a number is too small, the padding too large, or there is no window.
    OptionValueError
        If the divisor is 0.
    NotSupportedError
        If the elements are bools, complex, or integers that are not int64.

    Examples
    --------
    >>> vt.nn.functional.avg_pool2d(vt.arange(8.0).reshape(1, 2, 4), 2)
    tensor([[[2.5000, 4.5000]]])
    """
    flags = ceil_mode, count_include_pad
    return _means("avg_pool2d", 2, input, (kernel_size, stride, padding), flags, divisor_override)


@explained
def avg_pool3d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> T:
    """Return the mean of each window of volumes.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, D, H, W)``, or ``(C, D, H, W)`` for one sample.
    kernel_size : int or sequence of int
        The size of a window; one number, or one for each dimension of space.
    stride : int or sequence of int, optional
        The distance of two windows, by default their size.
    padding : int or sequence of int, default 0
        How many zeros stand around the input, at each end; at most half of a window.
    ceil_mode : bool, default False
        Whether there is one more window at the end if elements are left; it must begin inside.
    count_include_pad : bool, default True
        Whether these zeros count in the means.
    divisor_override : int, optional
        What the sums are divided by, in place of the number of elements.

    Returns
    -------
    Tensor
        A new tensor. Of integers, int64 only, the means are rounded towards 0.

    Raises
    ------
    ShapeError
        If a number is too small, the padding too large, or there is no window.
    OptionValueError
        If the divisor is 0.
    NotSupportedError
        If the elements are bools, complex, or integers that are not int64.

    Examples
    --------
    >>> vt.nn.functional.avg_pool3d(vt.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[3.5000]]]])
    """
    flags = ceil_mode, count_include_pad
    return _means("avg_pool3d", 3, input, (kernel_size, stride, padding), flags, divisor_override)


@explained
def adaptive_avg_pool1d(input: T, output_size: int | Sequence[int]) -> T:
    """Return the mean of each of a given number of windows of signals.

    The windows are those of `adaptive_max_pool1d`.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, W)``, or ``(C, W)`` for one sample.
    output_size : int or sequence
        How many windows there are, in each dimension; None is as many as elements.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        If `output_size` has a wrong length or a negative number, or `input` has a dimension without
        elements.
    NotSupportedError
        If the elements are not floating-point.

    Examples
    --------
    >>> vt.nn.functional.adaptive_avg_pool1d(vt.tensor([[1.0, 3.0, 2.0, 6.0, 4.0]]), 2)
    tensor([[2., 4.]])
    """
    return _adaptive("adaptive_avg_pool1d", 1, input, output_size)


@explained
def adaptive_avg_pool2d(input: T, output_size: int | Sequence[int | None] | None) -> T:
    """Return the mean of each of a given number of windows of images.

    The windows are those of `adaptive_max_pool2d`.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, H, W)``, or ``(C, H, W)`` for one sample.
    output_size : int or sequence
        How many windows there are, in each dimension; None is as many as elements.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        If `output_size` has a wrong length or a negative number, or `input` has a dimension without
        elements.
    NotSupportedError
        If the elements are not floating-point.

    Examples
    --------
    >>> vt.nn.functional.adaptive_avg_pool2d(vt.arange(8.0).reshape(1, 2, 4), (1, 2))
    tensor([[[2.5000, 4.5000]]])
    """
    return _adaptive("adaptive_avg_pool2d", 2, input, output_size)


@explained
def adaptive_avg_pool3d(input: T, output_size: int | Sequence[int | None] | None) -> T:
    """Return the mean of each of a given number of windows of volumes.

    The windows are those of `adaptive_max_pool3d`.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, D, H, W)``, or ``(C, D, H, W)`` for one sample.
    output_size : int or sequence
        How many windows there are, in each dimension; None is as many as elements.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        If `output_size` has a wrong length or a negative number, or `input` has a dimension without
        elements.
    NotSupportedError
        If the elements are not floating-point.

    Examples
    --------
    >>> vt.nn.functional.adaptive_avg_pool3d(vt.arange(8.0).reshape(1, 2, 2, 2), 1)
    tensor([[[[3.5000]]]])
    """
    return _adaptive("adaptive_avg_pool3d", 3, input, output_size)


@explained
def lp_pool1d(
    input: T,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> T:
    """Return the root of the sum of powers of each window of signals.

    ``(sum of x ** p) ** (1 / p)`` for the number p.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, W)``, or ``(C, W)`` for one sample.
    norm_type : float
        The number p.
    kernel_size : int or sequence of int
        The size of a window; one number, or one for each dimension of space.
    stride : int or sequence of int, optional
        The distance of two windows, by default their size.
    ceil_mode : bool, default False
        Whether there is one more window at the end if elements are left. Its mean is taken for that
        of a whole window.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        As `avg_pool1d`.
    NotSupportedError
        As `avg_pool1d`.

    Examples
    --------
    >>> vt.nn.functional.lp_pool1d(vt.full((1, 4), 2.0), 2, 4)
    tensor([[4.]])
    """
    refuse_names("lp_pool1d", input)
    spatial("lp_pool1d", input, 1)
    kernel = numbers("lp_pool1d", "kernel_size", kernel_size, 1, 1)
    means = avg_pool1d(F.pow(input, norm_type), kernel, stride, 0, ceil_mode)
    sums = F.mul(F.mul(F.sign(means), F.relu(F.abs(means))), math.prod(kernel))
    return F.pow(sums, 1.0 / norm_type)


@explained
def lp_pool2d(
    input: T,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> T:
    """Return the root of the sum of powers of each window of images.

    ``(sum of x ** p) ** (1 / p)`` for the number p.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, H, W)``, or ``(C, H, W)`` for one sample.
    norm_type : float
        The number p.
    kernel_size : int or sequence of int
        The size of a window; one number, or one for each dimension of space.
    stride : int or sequence of int, optional
        The distance of two windows, by default their size.
    ceil_mode : bool, default False
        Whether there is one more window at the end if elements are left. Its mean is taken for that
        of a whole window.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        As `avg_pool2d`.
    NotSupportedError
        As `avg_pool2d`.

    Examples
    --------
    >>> vt.nn.functional.lp_pool2d(vt.full((1, 2, 2), 2.0), 2, 2)
    tensor([[[4.]]])
    """
    refuse_names("lp_pool2d", input)
    spatial("lp_pool2d", input, 2)
    kernel = numbers("lp_pool2d", "kernel_size", kernel_size, 2, 1)
    means = avg_pool2d(F.pow(input, norm_type), kernel, stride, 0, ceil_mode)
    sums = F.mul(F.mul(F.sign(means), F.relu(F.abs(means))), math.prod(kernel))
    return F.pow(sums, 1.0 / norm_type)


@explained
def lp_pool3d(
    input: T,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> T:
    """Return the root of the sum of powers of each window of volumes.

    ``(sum of x ** p) ** (1 / p)`` for the number p.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, D, H, W)``, or ``(C, D, H, W)`` for one sample.
    norm_type : float
        The number p.
    kernel_size : int or sequence of int
        The size of a window; one number, or one for each dimension of space.
    stride : int or sequence of int, optional
        The distance of two windows, by default their size.
    ceil_mode : bool, default False
        Whether there is one more window at the end if elements are left. Its mean is taken for that
        of a whole window.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        As `avg_pool3d`.
    NotSupportedError
        As `avg_pool3d`.

    Examples
    --------
    >>> vt.nn.functional.lp_pool3d(vt.full((1, 1, 2, 2), 2.0), 2, (1, 2, 2))
    tensor([[[[4.]]]])
    """
    refuse_names("lp_pool3d", input)
    spatial("lp_pool3d", input, 3)
    kernel = numbers("lp_pool3d", "kernel_size", kernel_size, 3, 1)
    means = avg_pool3d(F.pow(input, norm_type), kernel, stride, 0, ceil_mode)
    sums = F.mul(F.mul(F.sign(means), F.relu(F.abs(means))), math.prod(kernel))
    return F.pow(sums, 1.0 / norm_type)


def _means(
    name: str,
    ndim: int,
    input: T,
    windows: tuple[int | Sequence[int], int | Sequence[int] | None, int | Sequence[int]],
    flags: tuple[bool, bool],
    divisor: int | None,
) -> T:
    refuse_names(name, input)
    array = spatial(name, input, ndim)
    refuse_dtypes(name, array, "bc" if array.dtype == "int64" else "biuc")
    kernel_size, stride, padding = windows
    ceil_mode, with_zeros = flags
    size = array.shape[-ndim:]
    geometry = pooling_geometry(name, size, kernel_size, stride, padding, 1, ceil_mode)
    if 0 in array.shape[-ndim - 1 :]:
        raise ShapeError(
            f"{name}() takes an input with elements, but for the number of samples, got shape "
            f"{list(array.shape)}",
            shape=array.shape,
        )
    sums = window_sums(input, geometry)
    if divisor is not None:
        number = index_of(divisor, "divisor_override")
        if not number:
            raise OptionValueError(f"{name}() cannot divide by 0", divisor_override=divisor)
        return typing.cast("T", _quotient(sums, number))
    counts = [_counts(geometry, nr, with_zeros) for nr in range(ndim)]
    if all(len(set(row)) == 1 for row in counts):
        return typing.cast("T", _quotient(sums, math.prod([row[0] for row in counts])))
    whole = making.ones((1,) * ndim, array.dtype)
    for nr, row in enumerate(counts):
        whole = whole * making.array(row, array.dtype).reshape(-1, *[1] * (ndim - nr - 1))
    return typing.cast("T", _quotient(sums, beside(input, whole)))


def _quotient(sums: Tensor, divisor: Tensor | int) -> Tensor:
    if sums._impl.array.dtype.kind == "i":
        return F.div(sums, divisor, rounding_mode="trunc")
    return F.div(sums, divisor)


def _counts(geometry: Geometry, nr: int, with_zeros: bool) -> list[int]:
    """How many elements of each window count, along a dimension."""
    size, padding = geometry.size[nr], geometry.padding[nr]
    found = []
    for o in range(geometry.out[nr]):
        start = o * geometry.stride[nr] - padding
        end = min(start + geometry.kernel[nr], size + padding)
        found.append(end - start if with_zeros else min(end, size) - max(start, 0))
    return found


def _adaptive(name: str, ndim: int, input: T, output_size: int | Sequence[int | None] | None) -> T:
    refuse_names(name, input)
    array = spatial(name, input, ndim)
    refuse_dtypes(name, array, "biuc")
    size = array.shape[-ndim:]
    if 0 in size:
        raise ShapeError(
            f"{name}() takes an input with elements in each channel, got shape {list(array.shape)}",
            shape=array.shape,
        )
    out = adaptive_sizes(name, output_size, size)
    found: Tensor = input
    for nr, (n, count) in enumerate(zip(size, out, strict=True)):
        table, counts = even_windows(n, count)
        found = resampled(found, array.ndim - ndim + nr, table)
        if count != n:
            row = counts.astype(array.dtype).reshape(-1, *[1] * (ndim - nr - 1))
            found = F.div(found, beside(input, row))
    return typing.cast("T", found)
