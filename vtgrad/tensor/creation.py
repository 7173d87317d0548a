"""Tensors of one value, or of whatever memory holds."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.errors import ArgumentTypeError, MemoryFormatError
from vtgrad.graph.function_modes import in_function_mode
from vtgrad.ops.calling.arguments import numpy_or_none
from vtgrad.ops.calling.from_python import empty_strided_impl, number_of
from vtgrad.ops.calling.take_over import call_override
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage import making
from vtgrad.storage.arrays import Number
from vtgrad.storage.device import Device, lane_of
from vtgrad.storage.dtypes import DType, get_default_dtype
from vtgrad.storage.key_set import keys
from vtgrad.storage.memory_format import MemoryFormat, strides_in_format
from vtgrad.storage.on_device import placed
from vtgrad.storage.promotion import number_dtype
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.fresh_tensor import named, names_for, shape_and_dtype, with_grad, written
from vtgrad.tensor.tensor import Tensor

__all__ = ["empty", "empty_strided", "full", "ones", "zeros"]


def zeros(
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    names: Sequence[str | None] | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of zeros.

    Parameters
    ----------
    *sizes : int, or one sequence of int
        The shape; ``zeros(())`` has no dimension.
    size : sequence of int, optional
        The shape as a keyword, in place of `sizes`.
    names : sequence of (str or None), optional
        A name for each dimension, None for one without; not together with `out`.
    out : Tensor, optional
        The tensor to write; it is resized to the shape.
    dtype : dtype, optional
        By default that of `out`, or the default dtype.
    device : device or str, optional
        The CPU by default, or a lane of it.
    requires_grad : bool, default False
        Whether the new leaf requires grad.

    Returns
    -------
    Tensor
        A new leaf, or `out`.

    Raises
    ------
    ShapeError
        If a size is negative, or the product of the sizes too large.
    NamesError
        If `names` are not one for each dimension, or one is no identifier or is there twice.
    DTypeError
        If `dtype` is not that of `out`.
    RequiresGradError
        If `requires_grad` is set for a dtype that has no gradients.
    OutGradError
        If `out` requires grad.

    Examples
    --------
    >>> vt.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    >>> vt.zeros((2,), dtype=vt.int64)
    tensor([0, 0])
    >>> vt.zeros(2, 2, names=("N", "C"))
    tensor([[0., 0.],
            [0., 0.]], names=('N', 'C'))
    """
    if keys.modes and in_function_mode():
        return call_override(
            zeros,
            *sizes,
            size=size,
            names=names,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
        )
    shape, wanted = shape_and_dtype("zeros", sizes, size, out, dtype)
    lane, given = lane_of(device), names_for(names, len(shape), out)
    return named(written(making.zeros(shape, wanted), out, requires_grad, "zeros", lane), given)


def ones(
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    names: Sequence[str | None] | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of ones.

    Parameters
    ----------
    *sizes, size, names, out, dtype, device, requires_grad
        As in `zeros`.

    Returns
    -------
    Tensor
        A new leaf, or `out`.

    Raises
    ------
    ShapeError, NamesError, DTypeError, RequiresGradError, OutGradError
        As `zeros` does.

    Examples
    --------
    >>> vt.ones(3, requires_grad=True)
    tensor([1., 1., 1.], requires_grad=True)
    """
    if keys.modes and in_function_mode():
        return call_override(
            ones,
            *sizes,
            size=size,
            names=names,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
        )
    shape, wanted = shape_and_dtype("ones", sizes, size, out, dtype)
    lane, given = lane_of(device), names_for(names, len(shape), out)
    return named(written(making.ones(shape, wanted), out, requires_grad, "ones", lane), given)


def empty(
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    names: Sequence[str | None] | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """A tensor of arbitrary values, to be written before it is read.

    Parameters
    ----------
    *sizes, size, names, out, dtype, device, requires_grad
        As in `zeros`.
    memory_format : memory_format, optional
        Row-major by default. Not allowed together with `out`, which has a memory order of its
        own.

    Returns
    -------
    Tensor
        A new leaf, or `out`, whose values stay if it has the shape already.

    Raises
    ------
    MemoryFormatError
        If the format is for another number of dimensions, is `preserve_format`, or `out` is
        given.
    ShapeError, NamesError, DTypeError, RequiresGradError, OutGradError
        As `zeros` does.

    Examples
    --------
    >>> images = vt.empty(8, 3, 4, 5, memory_format=vt.channels_last)
    >>> images.shape, images.stride()
    (vtgrad.Size([8, 3, 4, 5]), (60, 1, 15, 3))
    """
    if keys.modes and in_function_mode():
        return call_override(
            empty,
            *sizes,
            size=size,
            names=names,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
            memory_format=memory_format,
        )
    shape, wanted = shape_and_dtype("empty", sizes, size, out, dtype)
    lane, given = lane_of(device), names_for(names, len(shape), out)
    if memory_format is not None:
        if out is not None:
            raise MemoryFormatError(
                "empty() takes a memory format or a tensor 'out', which has one, but not both",
                memory_format=memory_format,
            )
        strides = strides_in_format(shape, memory_format)
        strided = Tensor._wrap(empty_strided_impl(shape, strides, wanted))
        return named(placed(with_grad(strided, requires_grad), lane), given)
    if out is not None and out.shape == shape:
        # The values of `out` are arbitrary already.
        return with_grad(out, requires_grad)
    return named(written(making.empty(shape, wanted), out, requires_grad, "empty", lane), given)


def full(
    size: Sequence[int],
    fill_value: Number | TensorBase,
    *,
    names: Sequence[str | None] | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of one value.

    Parameters
    ----------
    size : sequence of int
        The shape.
    fill_value : number or 0-d Tensor
        The value; its dtype is the result's unless `dtype` or `out` says another.
    names, out, dtype, device, requires_grad
        As in `zeros`.

    Returns
    -------
    Tensor
        A new leaf, or `out`.

    Raises
    ------
    ArgumentTypeError
        If `size` is not a sequence, or `fill_value` no number.
    ResultTypeError
        If the dtype cannot hold the value.
    ShapeError, NamesError, DTypeError, RequiresGradError, OutGradError
        As `zeros` does.

    Examples
    --------
    >>> vt.full((2,), 7)
    tensor([7, 7])
    >>> vt.full((2,), 7, dtype=vt.float32)
    tensor([7., 7.])
    """
    if keys.modes and in_function_mode():
        return call_override(
            full,
            size,
            fill_value,
            names=names,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
        )
    if not isinstance(size, (tuple, list)):
        raise ArgumentTypeError(
            f"argument 'size' of full must be a sequence of integers, not {type(size).__name__}",
            argument="size",
        )
    value = number_of(fill_value, "fill_value")
    own = fill_value._impl.dtype if isinstance(fill_value, TensorBase) else number_dtype(value)
    shape, wanted = shape_and_dtype("full", (size,), None, out, dtype, own)
    lane, given = lane_of(device), names_for(names, len(shape), out)
    return named(
        written(making.full(shape, as_element(value, wanted)), out, requires_grad, "full", lane),
        given,
    )


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of arbitrary values with given strides.

    Parameters
    ----------
    size : sequence of int
        The shape.
    stride : sequence of int
        For each dimension the distance of neighbours in memory, in elements. Strides may
        overlap, as 0 does, and may leave gaps.
    dtype, device, requires_grad
        As in `zeros`.

    Returns
    -------
    Tensor
        A new leaf, on as much memory as the strides reach.

    Raises
    ------
    ShapeError
        If `size` and `stride` differ in length, or a number is negative.
    RequiresGradError
        If `requires_grad` is set for a dtype that has no gradients.

    Examples
    --------
    >>> column_major = vt.empty_strided((2, 3), (1, 2))
    >>> column_major.stride(), column_major.t().is_contiguous()
    ((1, 2), True)
    """
    if keys.modes and in_function_mode():
        return call_override(
            empty_strided, size, stride, dtype=dtype, device=device, requires_grad=requires_grad
        )
    lane = lane_of(device)
    impl = empty_strided_impl(size, stride, numpy_or_none(dtype) or get_default_dtype().numpy)
    return placed(with_grad(Tensor._wrap(impl), requires_grad), lane)
