"""Tensors made from Python data, from NumPy arrays, and from sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    MemoryFormatError,
    NotSupportedError,
    ShapeError,
)
from ..graph.audit import audit, show_to_numpy
from ..ops.calling.arguments import numpy_or_none
from ..ops.calling.from_python import (
    array_from_data,
    check_array,
    check_device,
    empty_strided_impl,
    index_of,
    number_of,
)
from ..ops.generated import functional as F
from ..ops.kernels.support.scalars import as_element
from ..storage.arrays import Array, Number, NumpyDType
from ..storage.device import Device
from ..storage.dtypes import DType, get_default_dtype
from ..storage.memory_format import MemoryFormat, strides_in_format
from ..storage.promotion import number_dtype, promote
from ..storage.strides import check_sizes, reach
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from ..storage.warn import warn
from .fresh_tensor import dtype_for, leaf, shape_and_dtype, with_grad, written
from .tensor import Tensor

__all__ = [
    "arange",
    "as_tensor",
    "empty",
    "empty_strided",
    "eye",
    "from_numpy",
    "full",
    "linspace",
    "ones",
    "tensor",
    "zeros",
]


# -- from data ------------------------------------------------------------------------------


def tensor(
    data: object,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A new tensor that holds a copy of the data.

    Parameters
    ----------
    data : number, nested sequence, ndarray or Tensor
        Sequences of one level have equal lengths; their elements may be numbers and 0-d
        tensors. A tensor is copied without its history, with a warning.
    dtype : dtype, optional
        By default the data's: NumPy arrays and scalars keep theirs, Python floats get the
        default dtype (float32 unless set), integers int64; of several, the dtype that they
        promote to.
    device : device or str, optional
        There is only the CPU.
    requires_grad : bool, default False
        Whether the new leaf requires grad.

    Returns
    -------
    Tensor
        A leaf with memory of its own.

    Raises
    ------
    ArgumentValueError
        If sequences are ragged or hold text, or an integer is too large for int64.
    DTypeError, ArgumentTypeError
        If the data or an element is not a number, or vtgrad does not have an array's dtype.
    ResultTypeError
        If `dtype` cannot hold an integer of the data.
    RequiresGradError
        If `requires_grad` is set for a dtype that has no gradients.
    NotSupportedError
        For another device.

    Examples
    --------
    >>> vt.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> vt.tensor([1.5, 2.0], requires_grad=True)
    tensor([1.5000, 2.0000], requires_grad=True)
    >>> vt.tensor(np.arange(3.0))
    tensor([0., 1., 2.], dtype=vtgrad.float64)
    """
    check_device(device)
    if isinstance(data, TensorBase):
        warn(
            "tensor(x) of a tensor copies its values and leaves its history behind; "
            "x.detach().clone() says so"
        )
    return leaf(array_from_data(data, numpy_or_none(dtype)), requires_grad)


def as_tensor(
    data: object, dtype: DType | None = None, device: Device | str | None = None
) -> Tensor:
    """The data as a tensor, copied only if necessary.

    Parameters
    ----------
    data : number, nested sequence, ndarray or Tensor
        As in `tensor`.
    dtype : dtype, optional
        By default the data's, as in `tensor`.
    device : device or str, optional
        There is only the CPU.

    Returns
    -------
    Tensor
        `data` itself if it is a tensor of the dtype; a recorded cast of a tensor of another
        dtype; a tensor on the memory of a NumPy array, as by `from_numpy`; else a new tensor.

    Raises
    ------
    ArgumentValueError, ArgumentTypeError, DTypeError, NotSupportedError
        As `tensor` and `from_numpy` do.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> t = vt.as_tensor(a)
    >>> t[0] = 5  # the array's memory
    >>> a
    array([5., 0.])
    >>> vt.as_tensor(t) is t
    True
    """
    check_device(device)
    wanted = numpy_or_none(dtype)
    if isinstance(data, Tensor):
        return data if wanted is None or wanted == data._impl.dtype else F.to_dtype(data, wanted)
    if isinstance(data, np.ndarray):
        shared = from_numpy(data)
        return shared if wanted is None or wanted == data.dtype else F.to_dtype(shared, wanted)
    return leaf(array_from_data(data, wanted), False)


def from_numpy(ndarray: Array) -> Tensor:
    """A tensor on the memory of a NumPy array: writes to one change the other.

    Writes to the array move no version, so overwritten saved values are not detected, except
    under `vtgrad.autograd.graph.set_audit`. PyTorch accepts read-only arrays, which are refused
    here, and refuses negative strides, as of ``a[::-1]``, which are accepted here.

    Parameters
    ----------
    ndarray : ndarray
        A writable array of a dtype that vtgrad has.

    Returns
    -------
    Tensor
        A leaf of the array's shape, strides and dtype.

    Raises
    ------
    ArgumentTypeError
        If `ndarray` is not an array, or vtgrad does not have its dtype.
    ArgumentValueError
        If the array is read-only, has a stride that is not a multiple of the element size, or a
        non-native byte order; ``from_numpy(a.copy())`` works for these.

    Examples
    --------
    >>> a = np.zeros(2)
    >>> t = vt.from_numpy(a)
    >>> a[0] = 7
    >>> t
    tensor([7., 0.], dtype=vtgrad.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        raise ArgumentTypeError(
            f"from_numpy takes a NumPy array, not {type(ndarray).__name__}", argument="ndarray"
        )
    check_array(ndarray)
    if not ndarray.flags.writeable:
        raise ArgumentValueError(
            "the array is read-only, and a tensor on its memory could write to it; pass "
            "array.copy()"
        )
    impl = TensorImpl(ndarray.view(np.ndarray))
    # With a negative stride the first element is not the lowest one.
    impl.byte_offset = -reach(ndarray.shape, ndarray.strides)[0]
    impl.storage.exported = True
    if audit.locks:
        show_to_numpy(impl.storage, ndarray)
    return Tensor._wrap(impl)


# -- constants ------------------------------------------------------------------------------


def zeros(
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
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
    out : Tensor, optional
        The tensor to write; it is resized to the shape.
    dtype : dtype, optional
        By default that of `out`, or the default dtype.
    device : device or str, optional
        There is only the CPU.
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
    """
    shape, wanted = shape_and_dtype("zeros", sizes, size, out, dtype, device)
    return written(np.zeros(shape, wanted), out, requires_grad, "zeros")


def ones(
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of ones.

    Parameters
    ----------
    *sizes, size, out, dtype, device, requires_grad
        As in `zeros`.

    Returns
    -------
    Tensor
        A new leaf, or `out`.

    Raises
    ------
    ShapeError, DTypeError, RequiresGradError, OutGradError
        As `zeros` does.

    Examples
    --------
    >>> vt.ones(3, requires_grad=True)
    tensor([1., 1., 1.], requires_grad=True)
    """
    shape, wanted = shape_and_dtype("ones", sizes, size, out, dtype, device)
    return written(np.ones(shape, wanted), out, requires_grad, "ones")


def empty(
    *sizes: int | Sequence[int],
    size: Sequence[int] | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """A tensor of arbitrary values, to be written before it is read.

    Parameters
    ----------
    *sizes, size, out, dtype, device, requires_grad
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
    ShapeError, DTypeError, RequiresGradError, OutGradError
        As `zeros` does.

    Examples
    --------
    >>> images = vt.empty(8, 3, 4, 5, memory_format=vt.channels_last)
    >>> images.shape, images.stride()
    (vtgrad.Size([8, 3, 4, 5]), (60, 1, 15, 3))
    """
    shape, wanted = shape_and_dtype("empty", sizes, size, out, dtype, device)
    if memory_format is not None:
        if out is not None:
            raise MemoryFormatError(
                "empty() takes a memory format or a tensor 'out', which has one, but not both",
                memory_format=memory_format,
            )
        strides = strides_in_format(shape, memory_format)
        return with_grad(Tensor._wrap(empty_strided_impl(shape, strides, wanted)), requires_grad)
    if out is not None and out.shape == shape:
        # The values of `out` are arbitrary already.
        return with_grad(out, requires_grad)
    return written(np.empty(shape, wanted), out, requires_grad, "empty")


def full(
    size: Sequence[int],
    fill_value: Number | TensorBase,
    *,
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
    out, dtype, device, requires_grad
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
    ShapeError, DTypeError, RequiresGradError, OutGradError
        As `zeros` does.

    Examples
    --------
    >>> vt.full((2,), 7)
    tensor([7, 7])
    >>> vt.full((2,), 7, dtype=vt.float32)
    tensor([7., 7.])
    """
    if not isinstance(size, (tuple, list)):
        raise ArgumentTypeError(
            f"argument 'size' of full must be a sequence of integers, not {type(size).__name__}",
            argument="size",
        )
    value = number_of(fill_value, "fill_value")
    own = fill_value._impl.dtype if isinstance(fill_value, TensorBase) else number_dtype(value)
    shape, wanted = shape_and_dtype("full", (size,), None, out, dtype, device, own)
    return written(np.full(shape, as_element(value, wanted)), out, requires_grad, "full")


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
    check_device(device)
    impl = empty_strided_impl(size, stride, numpy_or_none(dtype) or get_default_dtype().numpy)
    return with_grad(Tensor._wrap(impl), requires_grad)


# -- sequences of numbers and the unit matrix -------------------------------------------------


def arange(
    start: Number | TensorBase | None = None,
    end: Number | TensorBase | None = None,
    step: Number | TensorBase = 1,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers from `start` to `end`, excluded, `step` apart.

    There are ``ceil((end - start) / step)`` of them, each computed as ``start + i * step``.

    Parameters
    ----------
    start : number, default 0
        The first number; ``arange(end)`` leaves it out.
    end : number
        The bound, which is excluded.
    step : number, default 1
        The distance; negative to count down.
    out, dtype, device, requires_grad
        As in `zeros`; without `dtype` it is int64 if all three are integers, else the default
        dtype.

    Returns
    -------
    Tensor
        A new leaf of one dimension, or `out`.

    Raises
    ------
    ShapeError
        If `step` is zero or leads away from `end`, or a bound is not finite.
    ArgumentValueError
        If an integer does not fit 64 bits.
    DTypeError
        If a bound is complex, or `dtype` is not that of `out`.
    NotSupportedError
        If the dtype is bool or complex.

    Examples
    --------
    >>> vt.arange(1, 10, 3)
    tensor([1, 4, 7])
    >>> vt.arange(0, 1, 0.25)
    tensor([0.0000, 0.2500, 0.5000, 0.7500])
    """
    check_device(device)
    if end is None:
        if start is None:
            raise ArgumentTypeError("arange needs an end", argument="end")
        start, end = 0, start
    first, last, by = (
        _real(0 if start is None else start, "start"),
        _real(end, "end"),
        _real(step, "step"),
    )
    whole = all(isinstance(x, int) for x in (first, last, by))
    if any(isinstance(x, int) and abs(x) >= 2**63 for x in (first, last, by)):
        raise ArgumentValueError("a bound or the step of arange does not fit 64 bits", step=by)
    wanted = dtype_for(out, dtype, np.dtype(np.int64) if whole else get_default_dtype().numpy)
    _check_orderable(wanted, "arange")
    if not (math.isfinite(first) and math.isfinite(last) and math.isfinite(by)):
        raise ShapeError(
            f"a range from {first} to {last} by {by} does not end", start=first, end=last, step=by
        )
    if by == 0:
        raise ShapeError("arange needs a step other than 0", step=by)
    if (last - first) * (1 if by > 0 else -1) < 0:
        raise ShapeError(
            f"a step of {by} leads away from {last} when it starts at {first}",
            start=first,
            end=last,
            step=by,
        )
    if wanted.kind == "i" and wanted.itemsize == 8:
        # The bounds as passed decide whether the step leads from one to the other.
        first, last, by, whole = int(first), int(last), int(by), True
        if by == 0:
            raise ShapeError("arange of integers needs a step other than 0", step=by)
    count = -((first - last) // by) if whole else (last - first) / by
    if not math.isfinite(count):
        raise ShapeError(
            f"a range from {first} to {last} by {by} has no end in sight",
            start=first,
            end=last,
            step=by,
        )
    count = math.ceil(count)
    if wanted.kind in "iu":
        # The count is computed from integers for int64 only, as in PyTorch.
        first, last, by = int(first), int(last), int(by)
    check_sizes((int(count),), wanted.itemsize)
    if wanted.kind in "iu" and max(abs(first), abs(last), abs(by)) >= 2**63:
        raise ArgumentValueError("a bound or the step of arange does not fit 64 bits", step=by)
    indices: Array = np.arange(int(count), dtype=np.int64 if wanted.kind in "iu" else np.float64)
    with np.errstate(all="ignore"):
        values: Array = (first + indices * by).astype(wanted)
    return written(_shaped_like(values, out), out, requires_grad, "arange")


def _shaped_like(values: Array, out: Tensor | None) -> Array:
    """Values in one dimension, or in the shape of ``out`` if it has as many elements."""
    return values if out is None or out.numel() != values.size else values.reshape(out.shape)


def linspace(
    start: Number | TensorBase,
    end: Number | TensorBase,
    steps: int,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Evenly spaced numbers from `start` to `end`, both included.

    Parameters
    ----------
    start : number
        The first number.
    end : number
        The last number, which is met exactly.
    steps : int
        How many numbers; with 1 the only one is `start`.
    out, dtype, device, requires_grad
        As in `zeros`; complex numbers of the default dtype if a bound is complex.

    Returns
    -------
    Tensor
        A new leaf of one dimension, or `out`.

    Raises
    ------
    ShapeError
        If `steps` is negative.
    ArgumentValueError
        If an integer does not fit 64 bits.
    DTypeError
        If a bound is complex and the dtype is not, or `dtype` is not that of `out`.
    NotSupportedError
        If the dtype is bool.

    Examples
    --------
    >>> vt.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    check_device(device)
    first, last = number_of(start, "start"), number_of(end, "end")
    if any(isinstance(x, int) and abs(x) >= 2**63 for x in (first, last)):
        raise ArgumentValueError("a bound of linspace does not fit 64 bits", start=start, end=end)
    is_complex = isinstance(first, complex) or isinstance(last, complex)
    own = promote(number_dtype(1j if is_complex else 1.0), get_default_dtype().numpy)
    wanted = dtype_for(out, dtype, own)
    if wanted.kind == "b":
        raise NotSupportedError("linspace has no steps between False and True", dtype=wanted.name)
    if is_complex and wanted.kind != "c":
        raise DTypeError(f"linspace of complex bounds cannot be {wanted.name}", dtype=wanted.name)
    count = index_of(steps, "steps")
    check_sizes((max(count, 0),), max(8, wanted.itemsize))
    if count < 0:
        raise ShapeError(
            f"linspace needs a number of steps of at least 0, not {count}", steps=count
        )
    if wanted.kind in "iu":
        first, last = as_element(first, wanted).item(), as_element(last, wanted).item()
    # The second half counts back from the end, so that the last number is exact.
    by = (last - first) / (count - 1) if count > 1 else 0.0
    indices = np.arange(count, dtype=np.float64)
    with np.errstate(all="ignore"):
        values = np.where(
            indices < count // 2, first + by * indices, last - by * (count - 1 - indices)
        )
        if count == 1:
            values = np.array([first])
        values = _shaped_like(values.astype(wanted), out)
        return written(values, out, requires_grad, "linspace")


def eye(
    n: int,
    m: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A matrix with ones on its diagonal and zeros elsewhere.

    Parameters
    ----------
    n : int
        Number of rows.
    m : int, optional
        Number of columns; `n` if omitted.
    out, dtype, device, requires_grad
        As in `zeros`.

    Returns
    -------
    Tensor
        A new leaf of shape ``(n, m)``, or `out`.

    Raises
    ------
    ShapeError
        If a number is negative.
    ArgumentTypeError
        If a number is not an integer.

    Examples
    --------
    >>> vt.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    rows = index_of(n, "n")
    columns = rows if m is None else index_of(m, "m")
    shape, wanted = shape_and_dtype("eye", (rows, columns), None, out, dtype, device)
    return written(np.eye(*shape, dtype=wanted), out, requires_grad, "eye")


def _real(value: Number | TensorBase, name: str) -> int | float:
    """A real number; bool counts as an integer."""
    number = number_of(value, name)
    if isinstance(number, complex):
        raise DTypeError(f"argument {name!r} must be a real number, not {number}", argument=name)
    return int(number) if isinstance(number, bool) else number


def _check_orderable(dtype: NumpyDType, name: str) -> None:
    if dtype.kind in "bc":
        raise NotSupportedError(f"{name} has no {dtype.name} values", dtype=dtype.name)
