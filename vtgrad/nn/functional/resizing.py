"""Signals, images and volumes in another size."""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence
from typing import Final, TypeVar

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, NotSupportedError, ShapeError
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.average_pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)
from vtgrad.nn.functional.resampling import Resampling, resampled
from vtgrad.nn.functional.resizing_tables import antialiased, cubic, linear_between, nearest
from vtgrad.nn.functional.sizes import refuse_dtypes
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.integers import index_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["interpolate"]

T = TypeVar("T", bound=Tensor)

# How many dimensions of space a mode has; 0 for any.
_MODES: Final = {
    "nearest": 0,
    "nearest-exact": 0,
    "area": 0,
    "linear": 1,
    "bilinear": 2,
    "bicubic": 2,
    "trilinear": 3,
}
_AREA: Final = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}


@explained
def interpolate(
    input: T,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> T:
    """Return signals, images or volumes in another size.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, W)``, ``(N, C, H, W)`` or ``(N, C, D, H, W)``.
    size : int or sequence of int, optional
        The new size; one number, or one for each dimension of space.
    scale_factor : float or sequence of float, optional
        The new size by the old one, in place of `size`; the product is rounded down.
    mode : str, default 'nearest'
        ``"nearest"`` and ``"nearest-exact"``, the nearest element to the beginning or the middle of
        each place; ``"linear"``, ``"bilinear"`` and ``"trilinear"``, lines between neighbours, for
        one, two and three dimensions of space; ``"bicubic"``, cubic polynomials, for two;
        ``"area"``, means, as `adaptive_avg_pool2d` has them.
    align_corners : bool, optional
        Whether the first and the last elements stay where they are, as points; by default elements
        are squares, and the outer edges stay. Only for lines and polynomials.
    recompute_scale_factor : bool, optional
        Whether distances follow from the rounded size, not from `scale_factor`.
    antialias : bool, default False
        Whether shrinking takes all elements into account, for ``"bilinear"`` and ``"bicubic"``.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ArgumentValueError
        If both or none of `size` and `scale_factor` are given, they have a wrong length, or an
        option does not go with the mode.
    NotSupportedError
        If there is no such mode for the number of dimensions, or for the dtype.
    ShapeError
        If the input or the result has no elements, but for the number of samples.

    Examples
    --------
    >>> x = vt.tensor([[[1.0, 3.0]]])
    >>> vt.nn.functional.interpolate(x, 4)
    tensor([[[1., 1., 3., 3.]]])
    >>> vt.nn.functional.interpolate(x, 4, mode="linear")
    tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
    """
    refuse_names("interpolate", input)
    array = array_of(input, "input")
    ndim = array.ndim - 2
    _check_mode(mode, ndim, array.shape, align_corners, antialias)
    old = array.shape[2:]
    out, scales = _sizes(old, size, scale_factor, recompute_scale_factor)
    if 0 in array.shape[1:] or min(out) < 1:
        raise ShapeError(
            f"interpolate() takes elements and makes some, got shape {list(array.shape)} and the "
            f"new size {list(out)}",
            shape=array.shape,
        )
    if mode == "area":
        return _AREA[ndim](input, out)
    is_nearest = mode in ("nearest", "nearest-exact")
    refuse_dtypes(f"interpolate({mode!r})", array, "bic" if is_nearest else "biuc")
    corners = bool(align_corners)
    found: Tensor = input
    # The dimensions that shrink first leave less to do for the others.
    for nr in sorted(range(ndim), key=lambda nr: out[nr] / old[nr]):
        table: Resampling
        if is_nearest:
            exact, is_double = mode == "nearest-exact", array.dtype == "float64"
            places = nearest(old[nr], out[nr], scales[nr], exact, is_double)
            found = F.index_select(found, nr + 2, beside(input, places))
            continue
        if antialias:
            table = antialiased(old[nr], out[nr], scales[nr], corners, mode == "bicubic")
        elif mode == "bicubic":
            table = cubic(old[nr], out[nr], scales[nr], corners)
        elif old[nr] == out[nr]:
            # As in PyTorch, whatever the factor is.
            continue
        else:
            table = linear_between(old[nr], out[nr], scales[nr], corners)
        found = resampled(found, nr + 2, table)
    return typing.cast("T", found)


def _check_mode(
    mode: str,
    ndim: int,
    shape: tuple[int, ...],
    align_corners: bool | None,
    antialias: bool,
) -> None:
    """Refuse modes that there are not, and options that do not go with one."""
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ArgumentValueError(
            f"interpolate() takes no align_corners with mode={mode!r}", align_corners=align_corners
        )
    if antialias and not (mode in ("bilinear", "bicubic") and ndim == 2):
        raise ArgumentValueError(
            "interpolate() takes antialias=True with mode='bilinear' or 'bicubic', of images only",
            mode=mode,
        )
    if mode not in _MODES or not 1 <= ndim <= 3 or _MODES[mode] not in (0, ndim):
        raise NotSupportedError(
            f"interpolate() has no mode {mode!r} for an input of shape {list(shape)}; there are "
            f"{', '.join(_MODES)}",
            mode=mode,
        )


def _sizes(
    old: tuple[int, ...],
    size: int | Sequence[int] | None,
    scale_factor: float | Sequence[float] | None,
    recompute: bool | None,
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """The new size, and the factors by which positions are computed, where they are given."""
    if (size is None) == (scale_factor is None):
        raise ArgumentValueError("interpolate() takes either a size or a scale_factor")
    none = (None,) * len(old)
    if size is not None:
        if recompute:
            raise ArgumentValueError(
                "interpolate() with a size has no factor to compute again", size=size
            )
        given = size if isinstance(size, Sequence) else (size,) * len(old)
        return tuple([index_of(n, "size") for n in _of_length("size", given, old)]), none
    assert scale_factor is not None
    several = scale_factor if isinstance(scale_factor, Sequence) else (scale_factor,) * len(old)
    try:
        # The product refuses text, which float() reads.
        factors = tuple([float(s * 1.0) for s in _of_length("scale_factor", several, old)])
        out = tuple([math.floor(n * s) for n, s in zip(old, factors, strict=True)])
    except (TypeError, ValueError, OverflowError):
        raise ArgumentTypeError(
            f"interpolate() takes finite numbers for scale_factor, got {scale_factor!r}"
        ) from None
    return out, none if recompute else factors


N = TypeVar("N", int, float)


def _of_length(name: str, given: Sequence[N], old: tuple[int, ...]) -> Sequence[N]:
    if len(given) != len(old):
        raise ArgumentValueError(
            f"interpolate() takes {len(old)} numbers for {name}, got {list(given)}", argument=name
        )
    return given
