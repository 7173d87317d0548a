"""Random tensors made from sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import overload

import numpy as np

from vtgrad.errors import ArgumentTypeError, NotSupportedError, ResultTypeError
from vtgrad.generator import Generator, source_of
from vtgrad.graph.function_modes import in_function_mode
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.calling.from_python import sizes_of
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.random import draw_integers, normal_, uniform_
from vtgrad.ops.rules.batches.drawing import drawn_in_batch
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.device import Device, lane_of
from vtgrad.storage.dtypes import DType
from vtgrad.storage.integers import index_of
from vtgrad.storage.key_set import keys
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.prepared_store import Store, carry_out
from vtgrad.storage.strides import check_sizes
from vtgrad.tensor.fresh_tensor import dtype_for, leaf, named, names_for, shape_and_dtype, written
from vtgrad.tensor.tensor import Tensor

__all__ = ["normal", "rand", "randint", "randn", "randperm"]


def rand(
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    generator: Generator | None = None,
    names: Sequence[str | None] | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random numbers, uniform over ``[0, 1)``.

    Parameters
    ----------
    *sizes : int, or one sequence of int
        The shape.
    size : sequence of int, optional
        The shape as a keyword, in place of `sizes`.
    generator : Generator, optional
        The source of the numbers; the default generator if omitted.
    names, out, dtype, device, requires_grad
        As in `zeros`. Of a complex dtype both parts are drawn.

    Returns
    -------
    Tensor
        A new leaf, or `out`.

    Raises
    ------
    NotSupportedError
        If the dtype is neither floating nor complex.
    ArgumentTypeError
        If `generator` is not a generator.
    ShapeError, DTypeError, OutGradError
        As `zeros` does.

    Examples
    --------
    >>> x = vt.rand(2, 3)
    >>> bool(((x >= 0) & (x < 1)).all())
    True
    """
    if keys.modes and in_function_mode():
        return call_override(
            rand,
            *sizes,
            size=size,
            generator=generator,
            names=names,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
        )
    shape, wanted = shape_and_dtype("rand", sizes, size, out, dtype)
    lane, given = lane_of(device), names_for(names, len(shape), out)

    def draw(sizes: Shape) -> Array:
        return _filled(sizes, wanted, uniform_, generator=generator)

    return named(_drawn(draw, shape, out, requires_grad, "rand", lane), given)


def randn(
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    generator: Generator | None = None,
    names: Sequence[str | None] | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random numbers of the standard normal distribution: mean 0, variance 1.

    Parameters
    ----------
    *sizes, size, generator, names, out, dtype, device, requires_grad
        As in `rand`. Complex numbers have variance 1 in both parts together.

    Returns
    -------
    Tensor
        A new leaf, or `out`.

    Raises
    ------
    NotSupportedError, ArgumentTypeError, ShapeError, DTypeError, OutGradError
        As `rand` does.

    Examples
    --------
    >>> g = vt.Generator().manual_seed(0)
    >>> x = vt.randn(10_000, generator=g)
    >>> abs(x.mean().item()) < 0.05, abs(x.std().item() - 1) < 0.05
    (True, True)
    """
    if keys.modes and in_function_mode():
        return call_override(
            randn,
            *sizes,
            size=size,
            generator=generator,
            names=names,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
        )
    shape, wanted = shape_and_dtype("randn", sizes, size, out, dtype)
    lane, given = lane_of(device), names_for(names, len(shape), out)

    def draw(sizes: Shape) -> Array:
        return _filled(sizes, wanted, normal_, generator=generator)

    return named(_drawn(draw, shape, out, requires_grad, "randn", lane), given)


@overload
def randint(
    high: int,
    size: Sequence[int],
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor: ...
@overload
def randint(
    low: int,
    high: int,
    size: Sequence[int],
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor: ...
def randint(  # pyright: ignore[reportInconsistentOverload]  # the places of *args depend on their number
    *args: int | Sequence[int],
    low: int | None = None,
    high: int | None = None,
    size: Sequence[int] | None = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random integers, uniform over ``[low, high)``.

    Called as ``randint(high, size)`` or ``randint(low, high, size)``.

    Parameters
    ----------
    low : int, default 0
        The smallest integer.
    high : int
        One more than the largest integer.
    size : sequence of int
        The shape.
    generator, out
        As in `rand`.
    dtype : dtype, optional
        By default that of `out`, or int64; a floating one holds the integers as well.
    device, requires_grad
        As in `rand`.

    Returns
    -------
    Tensor
        A new leaf, or `out`.

    Raises
    ------
    ShapeError
        If there is no such integer, the dtype cannot hold them, or a size is negative.
    ArgumentTypeError
        If `size` is not a sequence, a bound is not an integer, or one of the three is missing.

    Examples
    --------
    >>> x = vt.randint(3, 5, (100,))
    >>> int(x.min()), int(x.max())
    (3, 4)
    """
    if keys.modes and in_function_mode():
        return call_override(
            randint,
            *args,
            low=low,
            high=high,
            size=size,
            generator=generator,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
        )
    rest = list(args)
    if size is None and rest:
        size = _sequence(rest.pop())
    if high is None and rest:
        high = index_of(rest.pop(), "high")
    if low is None and rest:
        low = index_of(rest.pop(), "low")
    if rest or size is None or high is None:
        raise ArgumentTypeError("randint takes low (or not), high and size")
    start, end = 0 if low is None else index_of(low, "low"), index_of(high, "high")
    lane = lane_of(device)
    shape = sizes_of("randint", (), _sequence(size))
    wanted = dtype_for(out, dtype, np.dtype(np.int64))
    check_sizes(shape, wanted.itemsize)

    def draw(sizes: Shape) -> Array:
        return draw_integers(start, end, sizes, wanted, generator)

    return _drawn(draw, shape, out, requires_grad, "randint", lane)


def _filled(
    sizes: Shape,
    dtype: NumpyDType,
    fill: Callable[..., Store],
    *args: float,
    generator: Generator | None,
) -> Array:
    """A new array that was filled by a kernel."""
    array: Array = making.empty(sizes, dtype)
    run_without_warnings(carry_out, run_without_warnings(fill, array, *args, generator=generator))
    return array


def _drawn(
    draw: Callable[[Shape], Array],
    shape: Shape,
    out: Tensor | None,
    requires_grad: bool,
    name: str,
    lane: Device | None,
) -> Tensor:
    """A new tensor with numbers that are drawn; see Note [Random numbers in a batch].

    Raises
    ------
    NotSupportedError
        With ``out``, inside of `vmap`.
    """
    if not (keys.active and thread.batch_levels):
        return written(draw(shape), out, requires_grad, name, lane)
    if out is not None:
        raise NotSupportedError(f"{name} takes no out= inside of vmap", operator=name)
    return drawn_in_batch(lambda sizes: leaf(draw(sizes), requires_grad, lane), shape, name)


def _sequence(size: object) -> Sequence[int]:
    if isinstance(size, (tuple, list)):
        return size
    raise ArgumentTypeError(
        f"argument 'size' must be a sequence of integers, not {type(size).__name__}",
        argument="size",
    )


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The integers from 0 to ``n - 1`` in a random order.

    Parameters
    ----------
    n : int
        How many.
    generator, out
        As in `rand`.
    dtype : dtype, optional
        By default that of `out`, or int64.
    device, requires_grad
        As in `rand`.

    Returns
    -------
    Tensor
        A new leaf of one dimension, or `out`.

    Raises
    ------
    ShapeError
        If `n` is negative.
    ResultTypeError
        If the dtype cannot hold the integers.

    Examples
    --------
    >>> rows = vt.arange(8).view(4, 2)
    >>> shuffled = rows[vt.randperm(4)]
    >>> shuffled.sort(dim=0).values.equal(rows)
    True
    """
    if keys.modes and in_function_mode():
        return call_override(
            randperm,
            n,
            generator=generator,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
        )
    lane = lane_of(device)
    source = source_of(generator)
    shape = sizes_of("randperm", (), (index_of(n, "n"),))
    wanted = dtype_for(out, dtype, np.dtype(np.int64))
    check_sizes(shape, 8)
    count = shape[0]
    if count and not (making.arange(count).astype(wanted) == making.arange(count)).all():
        raise ResultTypeError(f"{wanted.name} cannot hold {count} integers", dtype=wanted.name)

    def draw(sizes: Shape) -> Array:
        # One order for each row, which there are several of inside of vmap.
        rows = making.empty((math.prod(sizes[:-1]), count), wanted)
        for row in rows:
            row[...] = source.permutation(count)
        return rows.reshape(sizes)

    return _drawn(draw, shape, out, requires_grad, "randperm", lane)


@overload
def normal(
    mean: Tensor,
    std: Tensor | float = 1.0,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def normal(
    mean: float,
    std: Tensor,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def normal(
    mean: float,
    std: float,
    size: Sequence[int],
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor: ...
def normal(
    mean: Tensor | float,
    std: Tensor | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random numbers of normal distributions with given means and standard deviations.

    Called with two numbers and a size, or with at least one tensor.

    Parameters
    ----------
    mean : Tensor or float
        The means. A tensor of means or deviations that requires grad gets zeros as its
        gradient.
    std : Tensor or float, default 1.0
        The standard deviations; its shape broadcasts with that of `mean`.
    size : sequence of int, optional
        The shape, if `mean` and `std` are numbers.
    generator, out, dtype, device, requires_grad
        As in `rand`; the last three only together with `size`.

    Returns
    -------
    Tensor
        A new tensor, or `out`.

    Raises
    ------
    ShapeError
        If a standard deviation is negative, or the shapes do not broadcast.
    ArgumentTypeError
        If `size` is missing for numbers, or given for tensors.
    NotSupportedError
        If the dtype is an integer one.

    Examples
    --------
    >>> x = vt.normal(vt.tensor([0.0, 100.0]), vt.tensor([1.0, 0.0]))
    >>> x[1]
    tensor(100.)
    >>> vt.normal(0.0, 2.0, (2, 3)).shape
    vtgrad.Size([2, 3])
    """
    if keys.active and is_overridden(mean, std, out):
        return call_override(
            normal,
            mean,
            std,
            size,
            generator=generator,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
        )
    if size is not None and not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        lane = lane_of(device)
        shape, wanted = shape_and_dtype("normal", (), _sequence(size), out, dtype)
        center, scale = mean, std

        def draw(sizes: Shape) -> Array:
            return _filled(sizes, wanted, normal_, center, scale, generator=generator)

        return _drawn(draw, shape, out, requires_grad, "normal", lane)
    if size is not None or dtype is not None or device is not None or requires_grad:
        raise ArgumentTypeError("normal of tensors takes no size, dtype, device or requires_grad")
    if isinstance(mean, Tensor):
        if isinstance(std, Tensor):
            return F.normal_Tensor_Tensor(mean, std, generator=generator, out=out)
        return F.normal_Tensor_float(mean, std, generator=generator, out=out)
    if isinstance(std, Tensor):
        return F.normal_float_Tensor(mean, std, generator=generator, out=out)
    raise ArgumentTypeError("normal of two numbers needs a size", argument="size")
