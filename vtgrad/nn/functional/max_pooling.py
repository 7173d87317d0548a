"""The largest elements of windows, and the way back to their places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeVar, overload

from vtgrad.errors import ArgumentValueError, DTypeError, ShapeError
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.largest_in_windows import (
    largest_of_adaptive,
    largest_of_pooling,
)
from vtgrad.nn.functional.pooling_geometry import adaptive_sizes, pooling_geometry
from vtgrad.nn.functional.sizes import numbers, refuse_dtypes, spatial
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

T = TypeVar("T", bound=Tensor)


@overload
def max_pool1d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> T: ...
@overload
def max_pool1d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[T, Tensor]: ...
@explained
def max_pool1d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> T | tuple[T, Tensor]:
    """Return the largest element of each window of signals.

    Of equal elements the first one gets the gradient; a window with a nan gives nan.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, W)``, or ``(C, W)`` for one sample.
    kernel_size : int or sequence of int
        The size of a window; one number, or one for each dimension of space.
    stride : int or sequence of int, optional
        The distance of two windows, by default their size.
    padding : int or sequence of int, default 0
        How far windows reach beyond the input, at each end; at most half of their size.
    dilation : int or sequence of int, default 1
        The distance of neighbours in a window.
    ceil_mode : bool, default False
        Whether there is one more window at the end if elements are left; it must begin inside.
    return_indices : bool, default False
        Whether to return the places too.

    Returns
    -------
    Tensor or (Tensor, Tensor)
        New tensors: the largest elements, and if wanted their places, int64, among all elements of
        a channel of a sample.

    Raises
    ------
    ShapeError
        If a number is too small, the padding too large, or a window has no element.
    NotSupportedError
        If the elements are bools or complex.

    Examples
    --------
    >>> vt.nn.functional.max_pool1d(vt.tensor([[1.0, 3.0, 2.0, 5.0]]), 2)
    tensor([[3., 5.]])
    """
    refuse_names("max_pool1d", input)
    array = _elements("max_pool1d", input, 1)
    geometry = pooling_geometry(
        "max_pool1d", array.shape[-1:], kernel_size, stride, padding, dilation, ceil_mode
    )
    return largest_of_pooling("max_pool1d", input, geometry, return_indices)


@overload
def max_pool2d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> T: ...
@overload
def max_pool2d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[T, Tensor]: ...
@explained
def max_pool2d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> T | tuple[T, Tensor]:
    """Return the largest element of each window of images.

    Of equal elements the first one gets the gradient; a window with a nan gives nan.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, H, W)``, or ``(C, H, W)`` for one sample.
    kernel_size : int or sequence of int
        The size of a window; one number, or one for each dimension of space.
    stride : int or sequence of int, optional
        The distance of two windows, by default their size.
    padding : int or sequence of int, default 0
        How far windows reach beyond the input, at each end; at most half of their size.
    dilation : int or sequence of int, default 1
        The distance of neighbours in a window.
    ceil_mode : bool, default False
        Whether there is one more window at the end if elements are left; it must begin inside.
    return_indices : bool, default False
        Whether to return the places too.

    Returns
    -------
    Tensor or (Tensor, Tensor)
        New tensors: the largest elements, and if wanted their places, int64, among all elements of
        a channel of a sample.

    Raises
    ------
    ShapeError
        If a number is too small, the padding too large, or a window has no element.
    NotSupportedError
        If the elements are bools or complex.

    Examples
    --------
    >>> x = vt.arange(16.0).reshape(1, 4, 4)
    >>> vt.nn.functional.max_pool2d(x, 2)
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """
    refuse_names("max_pool2d", input)
    array = _elements("max_pool2d", input, 2)
    geometry = pooling_geometry(
        "max_pool2d", array.shape[-2:], kernel_size, stride, padding, dilation, ceil_mode
    )
    return largest_of_pooling("max_pool2d", input, geometry, return_indices)


@overload
def max_pool3d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> T: ...
@overload
def max_pool3d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[T, Tensor]: ...
@explained
def max_pool3d(
    input: T,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> T | tuple[T, Tensor]:
    """Return the largest element of each window of volumes.

    Of equal elements the first one gets the gradient; a window with a nan gives nan.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, D, H, W)``, or ``(C, D, H, W)`` for one sample.
    kernel_size : int or sequence of int
        The size of a window; one number, or one for each dimension of space.
    stride : int or sequence of int, optional
        The distance of two windows, by default their size.
    padding : int or sequence of int, default 0
        How far windows reach beyond the input, at each end; at most half of their size.
    dilation : int or sequence of int, default 1
        The distance of neighbours in a window.
    ceil_mode : bool, default False
        Whether there is one more window at the end if elements are left; it must begin inside.
    return_indices : bool, default False
        Whether to return the places too.

    Returns
    -------
    Tensor or (Tensor, Tensor)
        New tensors: the largest elements, and if wanted their places, int64, among all elements of
        a channel of a sample.

    Raises
    ------
    ShapeError
        If a number is too small, the padding too large, or a window has no element.
    NotSupportedError
        If the elements are bools or complex.

    Examples
    --------
    >>> vt.nn.functional.max_pool3d(vt.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[7.]]]])
    """
    refuse_names("max_pool3d", input)
    array = _elements("max_pool3d", input, 3)
    geometry = pooling_geometry(
        "max_pool3d", array.shape[-3:], kernel_size, stride, padding, dilation, ceil_mode
    )
    return largest_of_pooling("max_pool3d", input, geometry, return_indices)


@overload
def adaptive_max_pool1d(
    input: T,
    output_size: int | Sequence[int],
    return_indices: Literal[False] = False,
) -> T: ...
@overload
def adaptive_max_pool1d(
    input: T,
    output_size: int | Sequence[int],
    *,
    return_indices: Literal[True],
) -> tuple[T, Tensor]: ...
@explained
def adaptive_max_pool1d(
    input: T,
    output_size: int | Sequence[int],
    return_indices: bool = False,
) -> T | tuple[T, Tensor]:
    """Return the largest element of each of a given number of windows of signals.

    Window i of n along a dimension of size W begins at ``i W // n`` and ends before
    ``(i + 1) W / n``, rounded up.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, W)``, or ``(C, W)`` for one sample.
    output_size : int or sequence
        How many windows there are, in each dimension; None is as many as elements.
    return_indices : bool, default False
        Whether to return the places too.

    Returns
    -------
    Tensor or (Tensor, Tensor)
        As of `max_pool1d`.

    Raises
    ------
    ShapeError
        If `output_size` has a wrong length or a negative number, or `input` has no elements to
        choose from.
    NotSupportedError
        If the elements are not floating-point.

    Examples
    --------
    >>> vt.nn.functional.adaptive_max_pool1d(vt.tensor([[1.0, 3.0, 2.0, 5.0, 4.0]]), 2)
    tensor([[3., 5.]])
    """
    refuse_names("adaptive_max_pool1d", input)
    array = _elements("adaptive_max_pool1d", input, 1)
    refuse_dtypes("adaptive_max_pool1d", array, "iu")
    size = array.shape[-1:]
    out = adaptive_sizes("adaptive_max_pool1d", output_size, size)
    return largest_of_adaptive(input, size, out, return_indices)


@overload
def adaptive_max_pool2d(
    input: T,
    output_size: int | Sequence[int | None] | None,
    return_indices: Literal[False] = False,
) -> T: ...
@overload
def adaptive_max_pool2d(
    input: T,
    output_size: int | Sequence[int | None] | None,
    *,
    return_indices: Literal[True],
) -> tuple[T, Tensor]: ...
@explained
def adaptive_max_pool2d(
    input: T,
    output_size: int | Sequence[int | None] | None,
    return_indices: bool = False,
) -> T | tuple[T, Tensor]:
    """Return the largest element of each of a given number of windows of images.

    Window i of n along a dimension of size W begins at ``i W // n`` and ends before
    ``(i + 1) W / n``, rounded up.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, H, W)``, or ``(C, H, W)`` for one sample.
    output_size : int or sequence
        How many windows there are, in each dimension; None is as many as elements.
    return_indices : bool, default False
        Whether to return the places too.

    Returns
    -------
    Tensor or (Tensor, Tensor)
        As of `max_pool2d`.

    Raises
    ------
    ShapeError
        If `output_size` has a wrong length or a negative number, or `input` has no elements to
        choose from.
    NotSupportedError
        If the elements are not floating-point.

    Examples
    --------
    >>> vt.nn.functional.adaptive_max_pool2d(vt.arange(12.0).reshape(1, 3, 4), (1, 2))
    tensor([[[ 9., 11.]]])
    """
    refuse_names("adaptive_max_pool2d", input)
    array = _elements("adaptive_max_pool2d", input, 2)
    refuse_dtypes("adaptive_max_pool2d", array, "iu")
    size = array.shape[-2:]
    out = adaptive_sizes("adaptive_max_pool2d", output_size, size)
    return largest_of_adaptive(input, size, out, return_indices)


@overload
def adaptive_max_pool3d(
    input: T,
    output_size: int | Sequence[int | None] | None,
    return_indices: Literal[False] = False,
) -> T: ...
@overload
def adaptive_max_pool3d(
    input: T,
    output_size: int | Sequence[int | None] | None,
    *,
    return_indices: Literal[True],
) -> tuple[T, Tensor]: ...
@explained
def adaptive_max_pool3d(
    input: T,
    output_size: int | Sequence[int | None] | None,
    return_indices: bool = False,
) -> T | tuple[T, Tensor]:
    """Return the largest element of each of a given number of windows of volumes.

    Window i of n along a dimension of size W begins at ``i W // n`` and ends before
    ``(i + 1) W / n``, rounded up.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, D, H, W)``, or ``(C, D, H, W)`` for one sample.
    output_size : int or sequence
        How many windows there are, in each dimension; None is as many as elements.
    return_indices : bool, default False
        Whether to return the places too.

    Returns
    -------
    Tensor or (Tensor, Tensor)
        As of `max_pool3d`.

    Raises
    ------
    ShapeError
        If `output_size` has a wrong length or a negative number, or `input` has no elements to
        choose from.
    NotSupportedError
        If the elements are not floating-point.

    Examples
    --------
    >>> vt.nn.functional.adaptive_max_pool3d(vt.arange(8.0).reshape(1, 2, 2, 2), 1)
    tensor([[[[7.]]]])
    """
    refuse_names("adaptive_max_pool3d", input)
    array = _elements("adaptive_max_pool3d", input, 3)
    refuse_dtypes("adaptive_max_pool3d", array, "iu")
    size = array.shape[-3:]
    out = adaptive_sizes("adaptive_max_pool3d", output_size, size)
    return largest_of_adaptive(input, size, out, return_indices)


@explained
def max_unpool1d(
    input: T,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: Sequence[int] | None = None,
) -> T:
    """Return zeros with elements at the places that `max_pool1d` has returned.

    Parameters
    ----------
    input : Tensor
        The elements, of shape ``(N, C, W)``, or ``(C, W)`` for one sample.
    indices : Tensor
        Their places, int64, in the same shape.
    kernel_size, stride, padding
        As of `max_pool1d`; they say how large the result is.
    output_size : sequence of int, optional
        The size of the result, with or without the dimensions in front of space. It may differ from
        ``(W - 1) stride - 2 padding + kernel_size`` by less than the stride.

    Returns
    -------
    Tensor
        A new tensor. Where two elements have one place, it has one of them.

    Raises
    ------
    ShapeError
        If the shapes differ, or a number is too small.
    ArgumentValueError
        If `output_size` is too small, too large or of a wrong length.
    DTypeError
        If the places are not int64.
    ElementIndexError
        If a place is outside of the result.
    NotSupportedError
        If the elements are not floating-point.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 3.0, 5.0, 2.0]])
    >>> found, indices = vt.nn.functional.max_pool1d(x, 2, return_indices=True)
    >>> vt.nn.functional.max_unpool1d(found, indices, 2)
    tensor([[0., 3., 5., 0.]])
    """
    options = kernel_size, stride, padding
    return _unpooled("max_unpool1d", 1, input, indices, options, output_size)


@explained
def max_unpool2d(
    input: T,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: Sequence[int] | None = None,
) -> T:
    """Return zeros with elements at the places that `max_pool2d` has returned.

    Parameters
    ----------
    input : Tensor
        The elements, of shape ``(N, C, H, W)``, or ``(C, H, W)`` for one sample.
    indices : Tensor
        Their places, int64, in the same shape.
    kernel_size, stride, padding
        As of `max_pool2d`; they say how large the result is.
    output_size : sequence of int, optional
        The size of the result, with or without the dimensions in front of space. It may differ from
        ``(W - 1) stride - 2 padding + kernel_size`` by less than the stride.

    Returns
    -------
    Tensor
        A new tensor. Where two elements have one place, it has one of them.

    Raises
    ------
    ShapeError
        If the shapes differ, or a number is too small.
    ArgumentValueError
        If `output_size` is too small, too large or of a wrong length.
    DTypeError
        If the places are not int64.
    ElementIndexError
        If a place is outside of the result.
    NotSupportedError
        If the elements are not floating-point.

    Examples
    --------
    >>> x = vt.tensor([[[1.0, 3.0], [5.0, 2.0]]])
    >>> found, indices = vt.nn.functional.max_pool2d(x, 2, return_indices=True)
    >>> vt.nn.functional.max_unpool2d(found, indices, 2)
    tensor([[[0., 0.],
             [5., 0.]]])
    """
    options = kernel_size, stride, padding
    return _unpooled("max_unpool2d", 2, input, indices, options, output_size)


@explained
def max_unpool3d(
    input: T,
    indices: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: Sequence[int] | None = None,
) -> T:
    """Return zeros with elements at the places that `max_pool3d` has returned.

    Parameters
    ----------
    input : Tensor
        The elements, of shape ``(N, C, D, H, W)``, or ``(C, D, H, W)`` for one sample.
    indices : Tensor
        Their places, int64, in the same shape.
    kernel_size, stride, padding
        As of `max_pool3d`; they say how large the result is.
    output_size : sequence of int, optional
        The size of the result, with or without the dimensions in front of space. It may differ from
        ``(W - 1) stride - 2 padding + kernel_size`` by less than the stride.

    Returns
    -------
    Tensor
        A new tensor. Where two elements have one place, it has one of them.

    Raises
    ------
    ShapeError
        If the shapes differ, or a number is too small.
    ArgumentValueError
        If `output_size` is too small, too large or of a wrong length.
    DTypeError
        If the places are not int64.
    ElementIndexError
        If a place is outside of the result.
    NotSupportedError
        If the elements are not floating-point.

    Examples
    --------
    >>> x = vt.tensor([[[[1.0, 3.0], [5.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]]])
    >>> found, indices = vt.nn.functional.max_pool3d(x, 2, return_indices=True)
    >>> vt.nn.functional.max_unpool3d(found, indices, 2)
    tensor([[[[0., 0.],
              [5., 0.]],
    <BLANKLINE>
             [[0., 0.],
              [0., 0.]]]])
    """
    options = kernel_size, stride, padding
    return _unpooled("max_unpool3d", 3, input, indices, options, output_size)


def _elements(name: str, input: Tensor, ndim: int) -> Array:
    """The array of a tensor that has a largest element in each channel."""
    array = spatial(name, input, ndim)
    refuse_dtypes(name, array, "bc")
    if 0 in array.shape[-ndim - 1 :]:
        raise ShapeError(
            f"{name}() takes an input with elements, but for the number of samples, got shape "
            f"{list(array.shape)}",
            shape=array.shape,
        )
    return array


def _unpooled(
    name: str,
    ndim: int,
    input: T,
    indices: Tensor,
    options: tuple[int | Sequence[int], int | Sequence[int] | None, int | Sequence[int]],
    output_size: Sequence[int] | None,
) -> T:
    refuse_names(name, input, indices)
    array, places = spatial(name, input, ndim), array_of(indices, "indices")
    refuse_dtypes(name, array, "biuc")
    if places.dtype != "int64":
        raise DTypeError(f"{name}() takes int64 indices, got {places.dtype}", dtype=places.dtype)
    if places.shape != array.shape:
        raise ShapeError(
            f"{name}() takes indices of the shape of input, {list(array.shape)}, got "
            f"{list(places.shape)}",
            shapes=(array.shape, places.shape),
        )
    kernel_size, stride, padding = options
    kernel = numbers(name, "kernel_size", kernel_size, ndim, 1)
    given = stride is not None and stride != () and stride != []
    steps = numbers(name, "stride", stride, ndim, 1) if given and stride is not None else kernel
    around = numbers(name, "padding", padding, ndim, 0)
    lead, inner = array.shape[:-ndim], array.shape[-ndim:]
    sizes = zip(inner, steps, around, kernel, strict=True)
    size = tuple([(n - 1) * s - 2 * p + k for n, s, p, k in sizes])
    if output_size is not None:
        size = _given_size(name, size, steps, output_size)
    count = math.prod(size)
    number = math.prod(inner)
    flat = F.reshape(input, (*lead, number))
    zeros = beside(input, making.zeros((*lead, count), array.dtype))
    found = F.scatter(zeros, -1, F.reshape(indices, (*lead, number)), flat)
    return F.reshape(found, (*lead, *size))


def _given_size(
    name: str, size: tuple[int, ...], stride: tuple[int, ...], given: Sequence[int]
) -> tuple[int, ...]:
    """The size that the caller asks for, which is close to the one that is computed."""
    wanted = tuple(given)
    if len(wanted) == len(size) + 2:
        wanted = wanted[2:]
    near = len(wanted) == len(size) and all(
        n - s < m < n + s for n, m, s in zip(size, wanted, stride, strict=True)
    )
    if not near:
        raise ArgumentValueError(
            f"{name}() takes an output_size that differs from {list(size)} by less than "
            f"{list(stride)}, got {list(given)}",
            output_size=given,
        )
    return wanted
