"""Windows of images as columns of matrices, and their sums."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Sequence
from typing import TypeVar

from vtgrad.errors import ShapeError
from vtgrad.function.batched_apply import VmapInfo
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.convolution_products import cut_out, fold_into, windows_of
from vtgrad.nn.functional.sizes import is_batch, numbers, refuse_dtypes, spatial
from vtgrad.nn.functional.traced import is_traced
from vtgrad.nn.functional.traced_windows import traced_columns, traced_fold
from vtgrad.nn.functional.window_geometry import Geometry
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.tensor import Tensor

__all__ = ["fold", "unfold"]

T = TypeVar("T", bound=Tensor)


class _Context(FunctionCtx):
    geometry: Geometry


class _Linear(Function):
    """A linear map of samples, of shape ``(N, C, ...)``, that has no other operand."""

    @staticmethod
    def setup_context(ctx: _Context, inputs: tuple[object, ...], output: object) -> None:
        ctx.geometry = typing.cast("Geometry", inputs[1])

    @classmethod
    def vmap(
        cls, info: VmapInfo, in_dims: Sequence[int | None], x: Tensor, geometry: Geometry
    ) -> tuple[Tensor, int]:
        dim = in_dims[0]
        assert dim is not None
        x = F.movedim(x, dim, 0)
        shape = x._impl.array.shape
        call: Callable[..., Tensor] = getattr(cls, "apply")  # noqa: B009  (its type is that of one Function)
        found = call(F.reshape(x, (shape[0] * shape[1], *shape[2:])), geometry)
        return F.reshape(found, (*shape[:2], *found._impl.array.shape[1:])), 0


class _Columns(_Linear):
    """The elements of each window in a column, of shape ``(N, C * kernel, out)``."""

    @staticmethod
    def forward(x: Tensor, geometry: Geometry) -> Tensor:
        windows = windows_of(resolved(x._impl.array), geometry)
        rows = windows.shape[1] * math.prod(geometry.kernel)
        shape = windows.shape[0], rows, math.prod(geometry.out)
        return beside(x, making.array(windows, order="C").reshape(shape))

    @staticmethod
    def backward(ctx: _Context, grad: Tensor) -> tuple[Tensor, None]:
        return _Folded.apply(grad, ctx.geometry), None

    @staticmethod
    def jvp(ctx: _Context, tangent: Tensor, _: None) -> Tensor:
        return _Columns.apply(tangent, ctx.geometry)


class _Folded(_Linear):
    """The sums of what the columns have for each element: the adjoint of `_Columns`."""

    @staticmethod
    def forward(x: Tensor, geometry: Geometry) -> Tensor:
        columns = resolved(x._impl.array)
        count, channels = columns.shape[0], columns.shape[1] // math.prod(geometry.kernel)
        placed = making.zeros((count, channels, *geometry.reached()), columns.dtype)
        shape = count, channels, *geometry.kernel, *geometry.out
        fold_into(placed, columns.reshape(shape), geometry)
        return beside(x, cut_out(placed, geometry))

    @staticmethod
    def backward(ctx: _Context, grad: Tensor) -> tuple[Tensor, None]:
        return _Columns.apply(grad, ctx.geometry), None

    @staticmethod
    def jvp(ctx: _Context, tangent: Tensor, _: None) -> Tensor:
        return _Folded.apply(tangent, ctx.geometry)


@explained
def unfold(
    input: T,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> T:
    """Return the windows of images as columns of a matrix.

    A convolution is the product of its kernels, as rows, with this matrix.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, H, W)``, or ``(C, H, W)`` for one sample.
    kernel_size : int or sequence of int
        The height and the width of a window.
    dilation : int or sequence of int, default 1
        The distance of neighbours in a window.
    padding : int or sequence of int, default 0
        How many zeros stand around the image, at each end.
    stride : int or sequence of int, default 1
        The distance of two windows.

    Returns
    -------
    Tensor
        A new tensor of shape ``(N, C * kH * kW, L)`` for L windows.

    Raises
    ------
    ShapeError
        If a number is too small, or there is no window.
    NotSupportedError
        If the elements are integers.

    Examples
    --------
    >>> x = vt.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
    >>> vt.nn.functional.unfold(x, 2)
    tensor([[1., 2.],
            [2., 3.],
            [4., 5.],
            [5., 6.]])
    """
    refuse_names("unfold", input)
    array = spatial("unfold", input, 2)
    refuse_dtypes("unfold", array, "iu")
    if 0 in array.shape[-3:]:
        raise ShapeError(
            f"unfold() takes images with elements, got shape {list(array.shape)}",
            shape=array.shape,
        )
    geometry = _geometry("unfold", array.shape[-2:], kernel_size, dilation, padding, stride)
    if is_batch(array.shape, 2):
        return typing.cast("T", _columns(input, geometry))
    found = _columns(F.unsqueeze(input, 0), geometry)
    return typing.cast("T", F.squeeze_dim(found, 0))


@explained
def fold(
    input: T,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> T:
    """Return images that are the sums of windows: the adjoint of `unfold`.

    Parameters
    ----------
    input : Tensor
        The windows as columns, of shape ``(N, C * kH * kW, L)``, or without N.
    output_size : int or sequence of int
        The height and the width of the images.
    kernel_size, dilation, padding, stride
        As of `unfold`.

    Returns
    -------
    Tensor
        A new tensor of shape ``(N, C, H, W)``, or ``(C, H, W)``.

    Raises
    ------
    ShapeError
        If a number is too small, or the shape of `input` is not one of such windows.
    NotSupportedError
        If the elements are integers.

    Examples
    --------
    >>> vt.nn.functional.fold(vt.ones(4, 2), (2, 3), 2)
    tensor([[[1., 2., 1.],
             [1., 2., 1.]]])
    """
    refuse_names("fold", input)
    array = array_of(input, "input")
    refuse_dtypes("fold", array, "iu")
    size = numbers("fold", "output_size", output_size, 2, 1)
    geometry = _geometry("fold", size, kernel_size, dilation, padding, stride)
    rows, columns = math.prod(geometry.kernel), math.prod(geometry.out)
    shape = array.shape
    if len(shape) not in (2, 3) or not shape[-2] or shape[-2] % rows or shape[-1] != columns:
        raise ShapeError(
            f"fold() takes columns of shape (N, C * {rows}, {columns}) for these windows, got "
            f"{list(shape)}",
            shape=shape,
        )
    if len(shape) == 3:
        return typing.cast("T", _folded(input, geometry))
    return typing.cast("T", F.squeeze_dim(_folded(F.unsqueeze(input, 0), geometry), 0))


def _columns(x: Tensor, geometry: Geometry) -> Tensor:
    """See Note [Windows while a pattern is found]."""
    if not is_traced():
        return _Columns.apply(x, geometry)
    columns = traced_columns(x, geometry)
    samples, channels, kernel, places = columns._impl.array.shape
    return F.reshape(columns, (samples, channels * kernel, places))


def _folded(x: Tensor, geometry: Geometry) -> Tensor:
    if not is_traced():
        return _Folded.apply(x, geometry)
    samples, rows, places = x._impl.array.shape
    kernel = math.prod(geometry.kernel)
    return traced_fold(F.reshape(x, (samples, rows // kernel, kernel, places)), geometry)


def _geometry(
    name: str,
    size: tuple[int, ...],
    kernel: int | Sequence[int],
    dilation: int | Sequence[int],
    padding: int | Sequence[int],
    stride: int | Sequence[int],
) -> Geometry:
    ndim = len(size)
    kernels = numbers(name, "kernel_size", kernel, ndim, 1)
    spread = numbers(name, "dilation", dilation, ndim, 1)
    before = numbers(name, "padding", padding, ndim, 0)
    steps = numbers(name, "stride", stride, ndim, 1)
    out = tuple(
        [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, p, d, k, s in zip(size, before, spread, kernels, steps, strict=True)
        ]
    )
    if min(out) < 1:
        raise ShapeError(f"{name}() has no window in images of {list(size)}", size=size)
    return Geometry(1, size, kernels, out, steps, spread, before)
