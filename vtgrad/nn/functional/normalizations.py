"""Values shifted and scaled to mean 0 and variance 1, and relatives of that."""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence

import numpy as np

from vtgrad.errors import ArgumentValueError, OptionValueError, ShapeError
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.later.is_plain import is_plain
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.nn.functional.traced import is_traced
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.from_python import sizes_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Shape
from vtgrad.storage.integers import index_of
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "affine",
    "check_channels",
    "check_count",
    "group_norm",
    "layer_norm",
    "local_response_norm",
    "of_channels",
    "rms_norm",
    "standardized",
    "with_statistics",
]


@explained
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return values with mean 0 and variance 1 over the last dimensions.

    ``(input - mean) / sqrt(variance + eps) * weight + bias``, with the variance that is divided by
    the number of elements.

    Parameters
    ----------
    input : Tensor
        Floating values, whose shape ends with `normalized_shape`.
    normalized_shape : sequence of int
        The sizes of the last dimensions.
    weight, bias : Tensor, optional
        Of the shape `normalized_shape`.
    eps : float, default 1e-05
        What is added to the variance.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.
    ShapeError
        If a shape does not fit, or `normalized_shape` is empty.

    Examples
    --------
    >>> vt.nn.functional.layer_norm(vt.tensor([[1.0, 3.0], [0.0, 20.0]]), (2,))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """
    refuse_names("layer_norm", input, weight, bias)
    check_kind("layer_norm", input)
    axes = _last_axes("layer_norm", input, normalized_shape, weight, bias)
    return affine(standardized(input, axes, real_of(eps, "eps")), weight, bias)


@explained
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Return values divided by the root of the mean of their squares over the last dimensions.

    Parameters
    ----------
    input : Tensor
        Floating or complex values, whose shape ends with `normalized_shape`.
    normalized_shape : sequence of int
        The sizes of the last dimensions.
    weight : Tensor, optional
        What the quotients are multiplied by, of the shape `normalized_shape`.
    eps : float, optional
        What is added to the mean, the ``eps`` of the dtype by default.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    NotSupportedError
        If `input` is neither floating nor complex.
    ShapeError
        If a shape does not fit, or `normalized_shape` is empty.

    Examples
    --------
    >>> vt.nn.functional.rms_norm(vt.tensor([[1.0, 7.0]]), (2,))
    tensor([[0.2000, 1.4000]])
    """
    refuse_names("rms_norm", input, weight)
    dtype = check_kind("rms_norm", input, "fc")
    axes = _last_axes("rms_norm", input, normalized_shape, weight)
    least = float(np.finfo(dtype).eps) if eps is None else real_of(eps, "eps")
    # Squares of numbers beyond 255 are not in the range of float16.
    wide = F.to_dtype(input, np.dtype(np.float32)) if dtype.itemsize == 2 else input
    mean = F.mean_dim(F.mul(wide, wide), axes, True)
    found = F.mul(wide, F.rsqrt(F.add(mean, least)))
    return affine(found if wide is input else F.to_dtype(found, dtype), weight)


@explained
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return values with mean 0 and variance 1 over groups of channels of each sample.

    Parameters
    ----------
    input : Tensor
        Floating values, with dimensions of samples, of channels, and others.
    num_groups : int
        The number of groups, which divides that of channels.
    weight, bias : Tensor, optional
        A factor for each channel, and what is added to it.
    eps : float, default 1e-05
        What is added to the variance.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.
    ShapeError
        If there are fewer than two dimensions, the channels do not fall into groups, or there is
        not a weight for each channel.
    ArgumentValueError
        If there is only one value in each group.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 3.0, 0.0, 20.0]])
    >>> vt.nn.functional.group_norm(x, 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    refuse_names("group_norm", input, weight, bias)
    shape = array_of(input, "input").shape
    count = index_of(num_groups, "num_groups")
    if len(shape) < 2:
        raise ShapeError(f"group_norm() takes two dimensions at least, not {len(shape)}")
    if count <= 0 or shape[1] % count:
        raise ShapeError(f"{shape[1]} channels do not fall into {count} groups", shape=shape)
    check_count(shape[0] * shape[1] // count * math.prod(shape[2:]), shape)
    check_kind("group_norm", input)
    check_channels("group_norm", shape[1], weight=weight, bias=bias)
    if not input._impl.array.size:
        return affine(F.clone(input), *of_channels(shape, weight, bias))
    groups = F.reshape(input, (shape[0], count, input._impl.array.size // (shape[0] * count)))
    found = F.reshape(standardized(groups, (2,), real_of(eps, "eps")), shape)
    return affine(found, *of_channels(shape, weight, bias))


@explained
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Return values divided by powers of means of squares over channels nearby.

    ``input / (k + alpha * mean)**beta``: the mean is that of `size` channels around each one, with
    zeros beside the first and the last.

    Parameters
    ----------
    input : Tensor
        Values with dimensions of samples, of channels, and at least one other.
    size : int
        The number of channels.
    alpha, beta, k : float, default 0.0001, 0.75 and 1.0
        The constants.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`; `input` itself if it has no elements.

    Raises
    ------
    ArgumentValueError
        If there are fewer than three dimensions.
    OptionValueError
        If `size` is not positive.

    Examples
    --------
    >>> x = vt.tensor([[[3.0], [4.0]]])
    >>> vt.nn.functional.local_response_norm(x, 2, alpha=2.0, beta=0.5, k=0.0).flatten()
    tensor([1.0000, 0.8000])
    """
    refuse_names("local_response_norm", input)
    array = array_of(input, "input")
    if array.ndim < 3:
        raise ArgumentValueError(
            f"local_response_norm() takes three dimensions at least, not {array.ndim}"
        )
    if not array.size:
        return input
    width = index_of(size, "size")
    if width <= 0:
        raise OptionValueError(f"local_response_norm() takes a positive size, not {width}")
    margin = (0, 0) * (array.ndim - 2) + (width // 2, (width - 1) // 2)
    padded = F.constant_pad(F.mul(input, input), margin)
    total = F.sum_dim_IntList(F.unfold(padded, 1, width, 1), (-1,))
    mean = F.div(total, width) if array.dtype.kind in "fc" else F.floor_divide(total, width)
    scaled = F.add(F.mul(mean, real_of(alpha, "alpha")), real_of(k, "k"))
    return F.div(input, F.pow_Tensor_Scalar(scaled, real_of(beta, "beta")))


class Statistics(typing.NamedTuple):
    """Values with mean 0 and variance 1, and the mean and the variance that they had.

    The statistics have dimensions of size 1 for those over which they are, and no derivatives.
    """

    values: Tensor
    mean: Tensor
    variance: Tensor


def standardized(input: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Values with mean 0 and variance 1 over some dimensions."""
    return with_statistics(input, axes, eps).values


def with_statistics(input: Tensor, axes: tuple[int, ...], eps: float) -> Statistics:
    """Values with mean 0 and variance 1, and what mean and variance were.

    Of float16 the statistics are float32: squares of numbers beyond 255 are not in its range.
    """
    dtype = input._impl.array.dtype
    if dtype.itemsize == 2:
        found = with_statistics(F.to_dtype(input, np.dtype(np.float32)), axes, eps)
        return found._replace(values=F.to_dtype(found.values, dtype))
    if is_plain(input) or is_traced():
        # A Function hides which element depends on which, and nothing else asks for one.
        values, _, mean, variance = _standardized(input, axes, eps)
        return Statistics(values, F.detach(mean), F.detach(variance))
    values, _, mean, variance = _Standardized.apply(input, axes, eps)
    return Statistics(values, mean, variance)


class _Standardized(Function):
    """The values ``y = (x - mean) * r`` and ``r = 1 / sqrt(variance + eps)``, and the statistics.

    The derivative of ``y`` is its own adjoint, ``t -> r * (t - mean(t) - y * mean(t * y))``, and
    that of ``r`` is ``t -> -r**2 * mean(t * y)``. So backward reads ``y`` and ``r`` only; that of
    the steps one by one would make the differences and their squares again.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(
        input: Tensor, axes: tuple[int, ...], eps: float
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return _standardized(input, axes, eps)

    @staticmethod
    def setup_context(ctx: _Context, inputs: tuple[object, ...], output: object) -> None:
        _, ctx.axes, _ = typing.cast("tuple[Tensor, tuple[int, ...], float]", inputs)
        y, r, mean, variance = typing.cast("tuple[Tensor, Tensor, Tensor, Tensor]", output)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(mean, variance)
        ctx.save_for_backward(y, r)
        ctx.save_for_forward(y, r)

    @staticmethod
    def backward(
        ctx: _Context, of_y: Tensor | None, of_r: Tensor | None, *_: object
    ) -> tuple[Tensor | None, None, None]:
        y, r = ctx.saved_tensors
        found = None if of_y is None else _projected(of_y, y, r, ctx.axes)
        if of_r is not None:
            sizes = [y._impl.array.shape[axis] for axis in ctx.axes]
            part = F.mul(F.div(F.mul(F.mul(r, r), of_r), -math.prod(sizes)), y)
            found = part if found is None else F.add(found, part)
        return found, None, None

    @staticmethod
    def jvp(ctx: _Context, of_input: Tensor, *_: object) -> tuple[Tensor, Tensor, None, None]:
        y, r = ctx.saved_tensors
        by_r = F.mean_dim(F.mul(of_input, y), ctx.axes, True)
        return _projected(of_input, y, r, ctx.axes), F.neg(F.mul(F.mul(r, r), by_r)), None, None


class _Context(FunctionCtx):
    axes: tuple[int, ...]


def _standardized(
    input: Tensor, axes: tuple[int, ...], eps: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    mean = F.mean_dim(input, axes, True)
    centred = F.sub(input, mean)
    variance = F.mean_dim(F.mul(centred, centred), axes, True)
    factors = F.rsqrt(F.add(variance, eps))
    return F.mul(centred, factors), factors, mean, variance


def _projected(t: Tensor, y: Tensor, r: Tensor, axes: tuple[int, ...]) -> Tensor:
    along = F.mul(y, F.mean_dim(F.mul(t, y), axes, True))
    return F.mul(F.sub(F.sub(t, F.mean_dim(t, axes, True)), along), r)


def of_channels(shape: Shape, *weights: Tensor | None) -> list[Tensor | None]:
    """Vectors with an element for each channel, to be used beside values of a shape."""
    sizes = (shape[1], *(1,) * (len(shape) - 2))
    return [None if x is None else F.reshape(x, sizes) for x in weights]


def check_channels(function: str, channels: int, **vectors: Tensor | None) -> None:
    """Raise if a vector has not an element for each channel."""
    for name, vector in vectors.items():
        if vector is not None and array_of(vector, name).shape != (channels,):
            raise ShapeError(
                f"{function}() takes an element of {name} for each of {channels} channels, not "
                f"the shape {list(vector.shape)}"
            )


def check_count(count: int, shape: Shape) -> None:
    """Raise if there is only one value, which has no variance."""
    if count == 1:
        raise ArgumentValueError(
            f"a shape of {list(shape)} gives one value, and a variance needs more", shape=shape
        )


def affine(input: Tensor, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """Values multiplied by weights, with a bias added."""
    if weight is not None:
        input = F.mul(input, weight)
    return input if bias is None else F.add(input, bias)


def _last_axes(
    function: str, input: Tensor, normalized_shape: Sequence[int], *weights: Tensor | None
) -> tuple[int, ...]:
    sizes = sizes_of(function, (), normalized_shape)
    shape = input._impl.array.shape
    if not sizes or len(sizes) > len(shape) or shape[-len(sizes) :] != sizes:
        raise ShapeError(
            f"{function}() takes the last sizes of its input, and {list(sizes)} are not those of "
            f"{list(shape)}"
        )
    for one in weights:
        if one is not None and array_of(one, "weight").shape != sizes:
            raise ShapeError(
                f"{function}() takes weights of shape {list(sizes)}, not {list(one.shape)}"
            )
    return tuple(range(len(shape) - len(sizes), len(shape)))
