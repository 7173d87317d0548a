"""The windows of pooling: where they are, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.errors import ShapeError
from vtgrad.nn.functional.sizes import numbers
from vtgrad.nn.functional.window_geometry import Geometry
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape

__all__ = ["adaptive_bounds", "adaptive_sizes", "pooling_geometry"]


def pooling_geometry(
    name: str,
    size: Shape,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None,
    padding: int | Sequence[int],
    dilation: int | Sequence[int],
    ceil_mode: bool,
) -> Geometry:
    """The windows over an input.

    Parameters
    ----------
    name : str
        The function, for errors.
    size : tuple of int
        The sizes of the dimensions of space.
    kernel_size, stride, padding, dilation
        As of the function; a stride of None, or an empty one, is the size of the window.
    ceil_mode : bool
        Whether a window may reach beyond the end; it must begin before it.

    Raises
    ------
    ShapeError
        If a number is too small, the padding is more than half of a window, or there is no window.
    """
    ndim = len(size)
    kernel = numbers(name, "kernel_size", kernel_size, ndim, 1)
    given = stride is not None and stride != () and stride != []
    steps = numbers(name, "stride", stride, ndim, 1) if given and stride is not None else kernel
    before = numbers(name, "padding", padding, ndim, 0)
    spread = numbers(name, "dilation", dilation, ndim, 1)
    if any(2 * p > d * (k - 1) + 1 for p, d, k in zip(before, spread, kernel, strict=True)):
        raise ShapeError(
            f"{name}() takes at most half of a window for padding, got {list(before)} for windows "
            f"of {list(kernel)}",
            padding=before,
        )
    out = []
    for n, k, s, p, d in zip(size, kernel, steps, before, spread, strict=True):
        free = n + 2 * p - d * (k - 1) - 1
        if not ceil_mode:
            out.append(free // s + 1)
            continue
        count = -(-free // s) + 1
        out.append(count - 1 if (count - 1) * s >= n + p else count)
    if min(out) < 1:
        raise ShapeError(
            f"{name}() has no window of {list(kernel)} in an input of {list(size)}", size=size
        )
    return Geometry(1, size, kernel, tuple(out), steps, spread, before)


def adaptive_sizes(
    name: str, output_size: int | Sequence[int | None] | None, size: Shape
) -> tuple[int, ...]:
    """How many windows there are in each dimension; None keeps the size.

    Raises
    ------
    ShapeError
        If there are too many or too few numbers, or one is negative.
    """
    given = output_size if isinstance(output_size, Sequence) else (output_size,) * len(size)
    if len(given) != len(size):
        raise ShapeError(
            f"{name}() takes {len(size)} numbers for output_size, got {list(given)}",
            output_size=given,
        )
    filled = tuple([n if m is None else m for m, n in zip(given, size, strict=True)])
    return numbers(name, "output_size", filled, len(size), 0)


def adaptive_bounds(size: int, count: int) -> tuple[Array, Array]:
    """The windows that split a dimension evenly: where each begins, and where it ends."""
    numbers_of_windows = making.arange(count)
    starts = numbers_of_windows * size // max(count, 1)
    ends = -(-(numbers_of_windows + 1) * size // max(count, 1))
    return starts, ends
