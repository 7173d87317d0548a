"""Images and volumes at places that are computed."""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence
from itertools import product
from typing import Final, TypeVar

import numpy as np

from vtgrad.errors import (
    ArgumentValueError,
    DTypeError,
    NotSupportedError,
    OptionValueError,
    ShapeError,
)
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.sizes import refuse_dtypes
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.integers import index_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["affine_grid", "grid_sample"]

T = TypeVar("T", bound=Tensor)

_MODES: Final = ("bilinear", "nearest", "bicubic")
_PADDING: Final = ("zeros", "border", "reflection")
# The parameter of the cubic kernel, see `resizing_tables`.
_CUBIC: Final = -0.75
_INDEX: Final = np.dtype(np.int64)


@explained
def grid_sample(
    input: T,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> T:
    """Return images or volumes at the places of a grid.

    The result is differentiable by the elements and, but for the nearest ones, by the places.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, H, W)`` or ``(N, C, D, H, W)``.
    grid : Tensor
        The places, of shape ``(N, oH, oW, 2)`` or ``(N, oD, oH, oW, 3)``: x, y and z, where x goes
        along W. -1 and 1 are the ends of the input.
    mode : str, default 'bilinear'
        ``"bilinear"``, lines between neighbours, in volumes too; ``"nearest"``, the nearest
        element; ``"bicubic"``, cubic polynomials, for images only.
    padding_mode : str, default 'zeros'
        What is outside of the input: ``"zeros"``; ``"border"``, the outermost element;
        ``"reflection"``, the elements seen in mirrors at the ends.
    align_corners : bool, optional
        Whether the ends are the middles of the outermost elements, or, by default, their outer
        edges.

    Returns
    -------
    Tensor
        A new tensor of shape ``(N, C, oH, oW)`` or ``(N, C, oD, oH, oW)``.

    Raises
    ------
    ArgumentValueError
        If there is no such mode.
    OptionValueError
        If the mode is ``"bicubic"``, of volumes.
    ShapeError
        If the shapes do not fit each other, or the input has a dimension of space without elements.
    DTypeError
        If the tensors have different dtypes.
    NotSupportedError
        If the elements are not floating-point.

    Examples
    --------
    >>> x = vt.tensor([[[[1.0, 3.0]]]])
    >>> grid = vt.tensor([[[[0.0, 0.0], [0.5, 0.0]]]])
    >>> vt.nn.functional.grid_sample(x, grid)
    tensor([[[[2., 3.]]]])
    """
    refuse_names("grid_sample", input, grid)
    array, places = array_of(input, "input"), array_of(grid, "grid")
    for name, value, known in (("mode", mode, _MODES), ("padding_mode", padding_mode, _PADDING)):
        if value not in known:
            raise ArgumentValueError(
                f"grid_sample() takes one of {', '.join(known)} for {name}, got {value!r}",
                argument=name,
            )
    ndim = array.ndim - 2
    fits = ndim in (2, 3) and places.ndim == array.ndim and places.shape[-1] == ndim
    if not fits or places.shape[0] != array.shape[0] or 0 in array.shape[2:]:
        raise ShapeError(
            "grid_sample() takes shapes (N, C, H, W) and (N, oH, oW, 2), or (N, C, D, H, W) and "
            f"(N, oD, oH, oW, 3), with elements in space, got {list(array.shape)} and "
            f"{list(places.shape)}",
            shapes=(array.shape, places.shape),
        )
    if array.dtype != places.dtype:
        raise DTypeError(
            f"grid_sample() takes tensors of one dtype, got input of {array.dtype} and grid of "
            f"{places.dtype}",
            dtypes=(array.dtype, places.dtype),
        )
    refuse_dtypes("grid_sample", array, "biuc")
    if mode == "bicubic" and ndim != 2:
        raise OptionValueError("grid_sample() has bicubic polynomials of images only", mode=mode)
    sampler = _Sampler(input, padding_mode, bool(align_corners))
    # x is the last dimension of space, and the first number of a place.
    axes = [F.select(grid, -1, ndim - 1 - nr) for nr in range(ndim)]
    at = [sampler.unnormalized(axis, nr) for nr, axis in enumerate(axes)]
    if mode == "bicubic":
        return typing.cast("T", sampler.cubic(at))
    at = [sampler.inside(axis, nr) for nr, axis in enumerate(at)]
    found = sampler.nearest(at) if mode == "nearest" else sampler.linear(at)
    return typing.cast("T", found)


class _Place(typing.NamedTuple):
    """Indices along a dimension, and which of them are of places in the input."""

    number: Tensor
    is_inside: Tensor


class _Sampler:
    """The elements of an input at places that are given in elements, by dimension of space."""

    def __init__(self, input: Tensor, padding_mode: str, align_corners: bool) -> None:
        shape = input._impl.array.shape
        self.padding_mode = padding_mode
        self.align_corners = align_corners
        self.size = shape[2:]
        # With a zero behind all elements, for places outside.
        flat = F.reshape(input, (*shape[:2], math.prod(self.size)))
        self.flat = F.constant_pad(flat, (0, 1))

    def unnormalized(self, at: Tensor, nr: int) -> Tensor:
        """Places between -1 and 1 as places among the elements."""
        size = self.size[nr]
        if self.align_corners:
            return F.mul(F.add(at, 1), (size - 1) / 2)
        return F.div(F.sub(F.mul(F.add(at, 1), size), 1), 2)

    def inside(self, at: Tensor, nr: int) -> Tensor:
        """Places that are not outside, unless outside are zeros."""
        if self.padding_mode == "zeros":
            return at
        size = self.size[nr]
        if self.padding_mode == "reflection":
            low, high = (0, 2 * (size - 1)) if self.align_corners else (-1, 2 * size - 1)
            at = _reflected(at, low / 2, (high - low) / 2)
        return _clipped(at, size - 1)

    def place(self, axis: Tensor, nr: int) -> _Place:
        """Places along a dimension, which are integers, as indices."""
        is_inside = F.logical_and(F.ge(axis, 0), F.le(axis, self.size[nr] - 1))
        # A place that is no number has an index too, and a weight that is no number.
        return _Place(F.to_dtype(F.where(is_inside, axis, 0.0), _INDEX), is_inside)

    def index(self, places: Sequence[_Place]) -> Tensor:
        """The numbers of elements, and that of the zero behind all for places outside."""
        index, is_inside = places[0]
        for nr, place in enumerate(places[1:], 1):
            index = F.add(F.mul(index, self.size[nr]), place.number)
            is_inside = F.logical_and(is_inside, place.is_inside)
        return F.where(is_inside, index, math.prod(self.size))

    def elements(self, index: Tensor) -> Tensor:
        """The elements with these numbers, of shape ``(N, C, ...)``."""
        shape = index._impl.array.shape
        channels = self.flat._impl.array.shape[1]
        count = math.prod(shape[1:])
        wanted = F.expand(F.reshape(index, (shape[0], 1, count)), (shape[0], channels, count))
        return F.reshape(F.gather(self.flat, -1, wanted), (shape[0], channels, *shape[1:]))

    def taken(self, at: Sequence[Tensor]) -> Tensor:
        """The elements at places that are integers, in the dtype of the input; zeros outside."""
        places = [self.place(axis, nr) for nr, axis in enumerate(at)]
        return self.elements(self.index(places))

    def nearest(self, at: Sequence[Tensor]) -> Tensor:
        rounded = [F.round(axis) for axis in at]
        found = self.taken(rounded)
        for axis in rounded:
            # Zeros, so that the gradient of the places is zeros, not missing.
            found = F.add(found, F.unsqueeze(F.clamp(F.nan_to_num(axis), 0, 0), 1))
        return found

    def linear(self, at: Sequence[Tensor]) -> Tensor:
        """The sum over the corners of the cell that each place is in."""
        lower = [F.floor(F.detach(axis)) for axis in at]
        ends, shares = [], []
        for nr, (axis, low) in enumerate(zip(at, lower, strict=True)):
            part = F.sub(axis, low)
            shares.append((F.rsub(part, 1), part))
            ends.append((self.place(low, nr), self.place(F.add(low, 1), nr)))
        indices, weights = [], []
        for corner in product((0, 1), repeat=len(at)):
            indices.append(self.index([ends[nr][one] for nr, one in enumerate(corner)]))
            weight = shares[0][corner[0]]
            for nr, one in enumerate(corner[1:], 1):
                weight = F.mul(weight, shares[nr][one])
            weights.append(weight)
        # The corners beside each other: one gather has one gradient of the input.
        found = self.elements(F.stack(indices, 1))
        return F.sum_dim_IntList(F.mul(found, F.unsqueeze(F.stack(weights, 1), 1)), (2,))

    def cubic(self, at: Sequence[Tensor]) -> Tensor:
        """The sum over the sixteen neighbours of each place of an image."""
        lower = [F.floor(F.detach(axis)) for axis in at]
        weights = [_cubic_weights(F.sub(x, low)) for x, low in zip(at, lower, strict=True)]
        places = [
            [self.inside(F.add(low, k - 1), nr) for k in range(4)] for nr, low in enumerate(lower)
        ]
        total: Tensor | None = None
        for row in range(4):
            line: Tensor | None = None
            for column in range(4):
                found = self.taken([places[0][row], places[1][column]])
                term = F.mul(found, F.unsqueeze(weights[1][column], 1))
                line = term if line is None else F.add(line, term)
            assert line is not None
            term = F.mul(line, F.unsqueeze(weights[0][row], 1))
            total = term if total is None else F.add(total, term)
        assert total is not None
        return total


def _clipped(at: Tensor, largest: int) -> Tensor:
    """Places between 0 and the largest one; those at the ends have no derivative."""
    return F.where(F.le(at, 0), 0.0, F.where(F.ge(at, largest), float(largest), at))


def _reflected(at: Tensor, low: float, span: float) -> Tensor:
    """Places seen in mirrors at `low` and ``low + span``."""
    if not span:
        return F.mul(at, 0.0)
    away = F.abs(F.sub(at, low))
    turns = F.floor(F.div(F.detach(away), span))
    rest = F.sub(away, F.mul(turns, span))
    is_even = F.eq(F.remainder(turns, 2), 0)
    return F.where(is_even, F.add(rest, low), F.rsub(rest, span + low))


def _cubic_weights(part: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The weights of four neighbours, for places at this distance from the second one."""
    other = F.rsub(part, 1)
    return _far(F.add(part, 1)), _near(part), _near(other), _far(F.add(other, 1))


def _near(x: Tensor) -> Tensor:
    """The cubic kernel at distances up to 1."""
    a = _CUBIC
    return F.add(F.mul(F.mul(F.sub(F.mul(x, a + 2), a + 3), x), x), 1)


def _far(x: Tensor) -> Tensor:
    """The cubic kernel at distances from 1 to 2."""
    a = _CUBIC
    return F.sub(F.mul(F.add(F.mul(F.sub(F.mul(x, a), 5 * a), x), 8 * a), x), 4 * a)


@explained
def affine_grid(theta: T, size: Sequence[int], align_corners: bool | None = None) -> T:
    """Return the places of the elements of images or volumes under affine maps.

    Parameters
    ----------
    theta : Tensor
        The maps, of shape ``(N, 2, 3)`` or ``(N, 3, 4)``: a matrix and, in the last column, a
        shift.
    size : sequence of int
        The shape of the images ``(N, C, H, W)`` or of the volumes ``(N, C, D, H, W)``.
    align_corners : bool, optional
        As of `grid_sample`.

    Returns
    -------
    Tensor
        A new tensor of shape ``(N, H, W, 2)`` or ``(N, D, H, W, 3)``, a grid for `grid_sample`.

    Raises
    ------
    ArgumentValueError
        If `theta` is not floating-point or has another shape, or a size is not positive.
    NotSupportedError
        If `size` has another length.
    ShapeError
        If the numbers of samples differ.

    Examples
    --------
    >>> theta = vt.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> vt.nn.functional.affine_grid(theta, (1, 1, 1, 2))
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    refuse_names("affine_grid", theta)
    array = array_of(theta, "theta")
    if array.dtype.kind != "f":
        raise ArgumentValueError(f"affine_grid() takes floating-point maps, got {array.dtype}")
    shape = tuple([index_of(n, "size") for n in size])
    ndim = len(shape) - 2
    if ndim not in (2, 3):
        raise NotSupportedError(
            f"affine_grid() takes a size of 4 or 5 numbers, got {list(shape)}", size=shape
        )
    if array.ndim != 3 or array.shape[1:] != (ndim, ndim + 1) or min(shape) < 1:
        raise ArgumentValueError(
            f"affine_grid() takes positive sizes and maps of shape (N, {ndim}, {ndim + 1}) for a "
            f"size of {ndim + 2} numbers, got {list(shape)} and {list(array.shape)}",
            shape=array.shape,
        )
    if shape[0] != array.shape[0]:
        raise ShapeError(
            f"affine_grid() takes a map for each of {shape[0]} samples, got {array.shape[0]}",
            shape=array.shape,
        )
    places = making.ones((*shape[2:], ndim + 1), array.dtype)
    for nr, n in enumerate(shape[2:]):
        line = (
            making.linspace(-1, 1, n, dtype=array.dtype) if n > 1 else making.zeros(1, array.dtype)
        )
        if not align_corners:
            line = line * (n - 1) / n
        places[..., ndim - 1 - nr] = line.reshape(-1, *[1] * (ndim - nr - 1))
    base = beside(theta, places.reshape(1, -1, ndim + 1))
    found = F.matmul(base, F.transpose(theta, 1, 2))
    return F.reshape(found, (shape[0], *shape[2:], ndim))
