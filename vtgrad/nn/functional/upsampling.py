"""Older names of resizing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.nn.functional.resizing import interpolate
from vtgrad.ops.calling.explain import explained
from vtgrad.storage.warn import warn
from vtgrad.tensor.tensor import Tensor

__all__ = ["upsample", "upsample_bilinear", "upsample_nearest"]

T = TypeVar("T", bound=Tensor)


@explained
def upsample(
    input: T,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> T:
    """Return signals, images or volumes in another size: the older name of `interpolate`.

    It warns that it is one.

    Parameters
    ----------
    input, size, scale_factor, mode, align_corners
        As of `interpolate`.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ArgumentValueError, NotSupportedError, ShapeError
        As `interpolate`.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     vt.nn.functional.upsample(vt.tensor([[[1.0, 3.0]]]), 4)
    tensor([[[1., 1., 3., 3.]]])
    """
    warn("upsample() is the older name of interpolate()")
    return interpolate(input, size, scale_factor, mode, align_corners)


@explained
def upsample_nearest(
    input: T,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> T:
    """Return `interpolate` to the nearest element, by its older name.

    It warns that it is one.

    Parameters
    ----------
    input, size, scale_factor
        As of `interpolate`.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ArgumentValueError, NotSupportedError, ShapeError
        As `interpolate`.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     vt.nn.functional.upsample_nearest(vt.tensor([[[1.0, 3.0]]]), 4)
    tensor([[[1., 1., 3., 3.]]])
    """
    warn('upsample_nearest() is the older name of interpolate(mode="nearest")')
    return interpolate(input, size, scale_factor, "nearest")


@explained
def upsample_bilinear(
    input: T,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> T:
    """Return `interpolate` of images by lines between corners that stay, by its older name.

    It warns that it is one.

    Parameters
    ----------
    input, size, scale_factor
        As of `interpolate`.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ArgumentValueError, NotSupportedError, ShapeError
        As `interpolate`.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     vt.nn.functional.upsample_bilinear(vt.tensor([[[[1.0, 3.0]]]]), (1, 3))
    tensor([[[[1., 2., 3.]]]])
    """
    warn(
        'upsample_bilinear() is the older name of interpolate(mode="bilinear", align_corners=True)'
    )
    return interpolate(input, size, scale_factor, "bilinear", True)
