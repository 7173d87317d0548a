"""The largest elements of windows at random distances.

Note [Windows at random distances]

After Graham, "Fractional max-pooling", 2014, with overlapping windows. Along a dimension of n
places m windows of k begin at ``trunc((i + u) * a) - trunc(u * a)`` for ``i < m - 1``, with ``a =
(n - k) / (m - 1)`` and a number u between 0 and 1, drawn for each channel of each sample and each
dimension. The last one ends where the dimension ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, TypeVar, overload

import numpy as np

from vtgrad.errors import ArgumentValueError, DTypeError, ShapeError
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.nn.functional.sizes import is_batch, numbers, spatial
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.drawing import target_of_draw
from vtgrad.storage import making
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
]

T = TypeVar("T", bound=Tensor)

_BYTE: Final = np.dtype(np.uint8)


@overload
def fractional_max_pool2d(
    input: T,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: Literal[False] = False,
    _random_samples: Tensor | None = None,
) -> T: ...
@overload
def fractional_max_pool2d(
    input: T,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    *,
    return_indices: Literal[True],
    _random_samples: Tensor | None = None,
) -> tuple[T, Tensor]: ...
@explained
def fractional_max_pool2d(
    input: T,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> T | tuple[T, Tensor]:
    """Return the largest element of each window of images, at distances that are drawn.

    See B. Graham, "Fractional max-pooling", 2014. What is drawn comes from the default generator,
    and is not what PyTorch draws from the same seed.

    Parameters
    ----------
    input : Tensor
        Floating values of shape ``(N, C, H, W)``, or ``(C, H, W)`` for one sample.
    kernel_size : int or sequence of int
        The size of a window; one number, or one for each dimension of space.
    output_size : int or sequence of int, optional
        How many windows there are, in each dimension.
    output_ratio : float or sequence of float, optional
        Their number by that of elements, in place of `output_size`; the product is rounded down.
    return_indices : bool, default False
        Whether to return the places too.
    _random_samples : Tensor, optional
        Numbers between 0 and 1 in place of drawn ones, of shape ``(N, C, 2)``: the first of a
        channel is for W, the second for H.

    Returns
    -------
    Tensor or (Tensor, Tensor)
        New tensors: the largest elements, and if wanted their places, int64, among all elements of
        a channel of a sample.

    Raises
    ------
    ArgumentValueError
        If neither a size nor a ratio is given.
    ShapeError
        If there are more windows than places for them, or a shape does not fit.
    NotSupportedError
        If `input` is not floating.
    DTypeError
        If the numbers are not of its dtype.

    Examples
    --------
    >>> x = vt.arange(16.0).reshape(1, 4, 4)
    >>> vt.nn.functional.fractional_max_pool2d(x, 2, (1, 1))
    tensor([[[15.]]])
    """
    found = _pooled(
        "fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, _random_samples
    )
    return found if return_indices else found[0]


@explained
def fractional_max_pool2d_with_indices(
    input: T,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[T, Tensor]:
    """Return what `fractional_max_pool2d` returns with ``return_indices=True``.

    Parameters
    ----------
    input, kernel_size, output_size, output_ratio, _random_samples
        As of `fractional_max_pool2d`.
    return_indices : bool, default False
        Not used: the places are always returned.

    Returns
    -------
    (Tensor, Tensor)
        The largest elements, and their places.

    Raises
    ------
    ArgumentValueError, ShapeError, NotSupportedError, DTypeError
        As `fractional_max_pool2d`.

    Examples
    --------
    >>> x = vt.arange(16.0).reshape(1, 4, 4)
    >>> vt.nn.functional.fractional_max_pool2d_with_indices(x, 2, (1, 1))
    (tensor([[[15.]]]), tensor([[[15]]]))
    """
    name = "fractional_max_pool2d_with_indices"
    return _pooled(name, 2, input, kernel_size, output_size, output_ratio, _random_samples)


@overload
def fractional_max_pool3d(
    input: T,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: Literal[False] = False,
    _random_samples: Tensor | None = None,
) -> T: ...
@overload
def fractional_max_pool3d(
    input: T,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    *,
    return_indices: Literal[True],
    _random_samples: Tensor | None = None,
) -> tuple[T, Tensor]: ...
@explained
def fractional_max_pool3d(
    input: T,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> T | tuple[T, Tensor]:
    """Return the largest element of each window of volumes, at distances that are drawn.

    See B. Graham, "Fractional max-pooling", 2014. What is drawn comes from the default generator,
    and is not what PyTorch draws from the same seed.

    Parameters
    ----------
    input : Tensor
        Floating values of shape ``(N, C, D, H, W)``, or ``(C, D, H, W)`` for one sample.
    kernel_size : int or sequence of int
        The size of a window; one number, or one for each dimension of space.
    output_size : int or sequence of int, optional
        How many windows there are, in each dimension.
    output_ratio : float or sequence of float, optional
        Their number by that of elements, in place of `output_size`; the product is rounded down.
    return_indices : bool, default False
        Whether to return the places too.
    _random_samples : Tensor, optional
        Numbers between 0 and 1 in place of drawn ones, of shape ``(N, C, 3)``: the first of a
        channel is for D, the second for H, the third for W.

    Returns
    -------
    Tensor or (Tensor, Tensor)
        New tensors: the largest elements, and if wanted their places, int64, among all elements of
        a channel of a sample.

    Raises
    ------
    ArgumentValueError
        If neither a size nor a ratio is given.
    ShapeError
        If there are more windows than places for them, or a shape does not fit.
    NotSupportedError
        If `input` is not floating.
    DTypeError
        If the numbers are not of its dtype.

    Examples
    --------
    >>> x = vt.arange(8.0).reshape(1, 2, 2, 2)
    >>> vt.nn.functional.fractional_max_pool3d(x, 2, 1)
    tensor([[[[7.]]]])
    """
    found = _pooled(
        "fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, _random_samples
    )
    return found if return_indices else found[0]


@explained
def fractional_max_pool3d_with_indices(
    input: T,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[T, Tensor]:
    """Return what `fractional_max_pool3d` returns with ``return_indices=True``.

    Parameters
    ----------
    input, kernel_size, output_size, output_ratio, _random_samples
        As of `fractional_max_pool3d`.
    return_indices : bool, default False
        Not used: the places are always returned.

    Returns
    -------
    (Tensor, Tensor)
        The largest elements, and their places.

    Raises
    ------
    ArgumentValueError, ShapeError, NotSupportedError, DTypeError
        As `fractional_max_pool3d`.

    Examples
    --------
    >>> x = vt.arange(8.0).reshape(1, 2, 2, 2)
    >>> vt.nn.functional.fractional_max_pool3d_with_indices(x, 2, 1)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    name = "fractional_max_pool3d_with_indices"
    return _pooled(name, 3, input, kernel_size, output_size, output_ratio, _random_samples)


def _pooled(
    name: str,
    ndim: int,
    input: T,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None,
    output_ratio: float | Sequence[float] | None,
    samples: Tensor | None,
) -> tuple[T, Tensor]:
    refuse_names(name, input)
    shape = spatial(name, input, ndim).shape
    dtype = check_kind(name, input)
    size = shape[-ndim:]
    kernel = numbers(name, "kernel_size", kernel_size, ndim, 1)
    out = _sizes(name, size, output_size, output_ratio)
    if 0 in shape[-ndim - 1 :] or any(
        k + m - 1 > n for n, k, m in zip(size, kernel, out, strict=True)
    ):
        raise ShapeError(
            f"{name}() has no {list(out)} windows of {list(kernel)} in an input of {list(shape)}",
            size=size,
        )
    planes = (shape[0] if is_batch(shape, ndim) else 1, shape[-ndim - 1])
    if samples is None:
        samples = F.uniform_(target_of_draw(F.zeros_shaped(F.detach(input), (*planes, ndim))))
    elif array_of(samples, "_random_samples").shape != (*planes, ndim):
        raise ShapeError(
            f"{name}() takes {[*planes, ndim]} random numbers, not {list(samples.shape)}"
        )
    elif samples._impl.array.dtype != dtype:
        raise DTypeError(
            f"{name}() takes random numbers of {dtype.name}, not {samples.dtype.name}",
            dtype=samples.dtype,
        )
    places = _places(F.detach(samples), size, kernel, out)
    flat = F.reshape(input, (*planes, math.prod(size)))
    indices = _largest(F.detach(flat), places, math.prod(out))
    lead = shape[:-ndim]
    found = F.reshape(F.gather(flat, -1, indices), (*lead, *out))
    return found, F.reshape(indices, (*lead, *out))


def _sizes(
    name: str,
    size: tuple[int, ...],
    output_size: int | Sequence[int] | None,
    output_ratio: float | Sequence[float] | None,
) -> tuple[int, ...]:
    if output_size is not None:
        return numbers(name, "output_size", output_size, len(size), 1)
    if output_ratio is None:
        raise ArgumentValueError(f"{name}() takes an output_size or an output_ratio")
    several = output_ratio if isinstance(output_ratio, Sequence) else (output_ratio,) * len(size)
    if len(several) != len(size):
        raise ArgumentValueError(
            f"{name}() takes {len(size)} numbers for output_ratio, got {list(several)}"
        )
    ratios = [real_of(ratio, "output_ratio") for ratio in several]
    out = [int(n * ratio) for n, ratio in zip(size, ratios, strict=True)]
    return numbers(name, "output_size", out, len(size), 1)


def _places(
    samples: Tensor, size: tuple[int, ...], kernel: tuple[int, ...], out: tuple[int, ...]
) -> Tensor:
    """The places of the elements of all windows, of shape ``(N, C, windows * kernel)``."""
    ndim = len(size)
    planes = samples._impl.array.shape[:2]
    places: Tensor | None = None
    for nr in range(ndim):
        # Of images the first number is that of the last dimension.
        number = F.narrow(samples, 2, ndim - 1 - nr if ndim == 2 else nr, 1)
        starts = _starts(number, size[nr], kernel[nr], out[nr])
        # Windows and places in a window have a dimension each for each one of space.
        shape = [1] * (2 * ndim)
        shape[nr] = out[nr]
        place = F.reshape(starts, (*planes, *shape))
        shape = [1] * (2 * ndim)
        shape[ndim + nr] = kernel[nr]
        place = F.add(place, beside(samples, making.arange(kernel[nr]).reshape(shape)))
        places = place if places is None else F.add(F.mul(places, size[nr]), place)
    assert places is not None
    return F.reshape(places, (*planes, math.prod(out) * math.prod(kernel)))


def _starts(number: Tensor, size: int, kernel: int, count: int) -> Tensor:
    """See Note [Windows at random distances]; `number` has a last dimension of size 1."""
    dtype = number._impl.array.dtype
    last = F.full_like(number, size - kernel)
    if count > 1:
        # In the precision of the numbers, so that windows are those of PyTorch.
        distance = float(dtype.type(size - kernel) / dtype.type(count - 1))
        each = beside(number, making.arange(count - 1).astype(dtype))
        first = F.trunc(F.mul(number, distance))
        starts = F.sub(F.trunc(F.mul(F.add(number, each), distance)), first)
        last = F.cat((starts, last), 2)
    return F.to_dtype(last, np.dtype(np.int64))


def _largest(values: Tensor, places: Tensor, windows: int) -> Tensor:
    """The place of the largest element of each window."""
    planes = values._impl.array.shape[:2]
    count = places._impl.array.shape[2] // windows
    shape = (*planes, windows, count)
    candidates = F.reshape(F.gather(values, -1, places), shape)
    # The first of equal elements, and the last nan: Note [The largest of a window].
    missing = F.isnan(candidates)
    last = F.rsub(F.argmax_default(F.to_dtype(F.flip(missing, (3,)), _BYTE), 3, True), count - 1)
    at = F.where(F.any_dim(missing, 3, True), last, F.argmax_default(candidates, 3, True))
    return F.squeeze_dim(F.gather(F.reshape(places, shape), 3, at), 3)
