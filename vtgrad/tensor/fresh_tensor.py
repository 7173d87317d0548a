"""Helpers of the functions that make tensors: arguments, ``out=``, new leaves."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.errors import ArgumentTypeError, DeviceError, DTypeError
from vtgrad.graph.batch import note_made
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.calling.from_python import check_differentiable, sizes_of
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import DType, get_default_dtype, numpy_dtype
from vtgrad.storage.extra_meta import Names
from vtgrad.storage.key_set import keys
from vtgrad.storage.names import checked_names
from vtgrad.storage.on_device import placed
from vtgrad.storage.strides import check_sizes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.tensor import Tensor
from vtgrad.views.write_out import check_out, write_out

__all__ = ["dtype_for", "leaf", "named", "names_for", "shape_and_dtype", "with_grad", "written"]


def shape_and_dtype(
    name: str,
    sizes: Sequence[object],
    size: Sequence[int] | None,
    out: Tensor | None,
    dtype: DType | None,
    default: NumpyDType | None = None,
) -> tuple[Shape, NumpyDType]:
    """The shape and dtype from the arguments of a function, checked.

    Parameters
    ----------
    name : str
        The function's name, for errors.
    sizes, size
        The sizes as positional arguments, or as the keyword.
    out, dtype
        The arguments of these names.
    default : numpy.dtype, optional
        The dtype if neither `dtype` nor `out` is given; by default the default dtype.
    """
    shape = sizes_of(name, sizes, size)
    wanted = dtype_for(out, dtype, default or get_default_dtype().numpy)
    check_sizes(shape, wanted.itemsize)
    return shape, wanted


def dtype_for(out: Tensor | None, dtype: DType | None, default: NumpyDType) -> NumpyDType:
    """The dtype of a result, which is that of ``out`` if there is one.

    Raises
    ------
    DTypeError
        If `dtype` differs from that of ``out``.
    OutGradError
        If ``out`` requires grad.
    """
    if out is None:
        return default if dtype is None else numpy_dtype(dtype)
    given: object = out
    if not isinstance(given, Tensor):
        raise ArgumentTypeError(
            f"argument 'out' must be a tensor, not {type(given).__name__}", argument="out"
        )
    if dtype is not None and numpy_dtype(dtype) != out._impl.dtype:
        raise DTypeError(
            f"dtype {numpy_dtype(dtype).name} is not that of out, {out.dtype.name}",
            dtype=dtype,
            out=out.dtype,
        )
    extra = thread.extra_of_new
    if extra is not None and extra.device != out._impl.device:
        raise DeviceError(
            f"out is on {out._impl.device}, and the result is asked for on {extra.device}",
            expected=extra.device,
            found=out._impl.device,
        )
    check_out(out, ())
    return out._impl.dtype


def leaf(array: Array, requires_grad: bool, lane: Device | None = None) -> Tensor:
    """A new tensor on a fresh array, which is memory of a lane or of the CPU."""
    if requires_grad is not False:
        check_differentiable(array.dtype)
    tensor = with_grad(placed(Tensor._wrap(TensorImpl(array)), lane), requires_grad)
    if keys.active and thread.batch_levels:
        note_made(tensor, thread.batch_levels)
    return tensor


def written(
    array: Array,
    out: Tensor | None,
    requires_grad: bool,
    function: str,
    lane: Device | None = None,
) -> Tensor:
    """A new tensor on a fresh array, or ``out`` with its values, of the function of this name.

    Raises
    ------
    DeviceError
        If `lane` is given, and ``out`` is somewhere else.
    """
    if out is None:
        return leaf(array, requires_grad, lane)
    if lane is not None and out._impl.device != lane:
        raise DeviceError(
            f"{function} is to make a tensor on {lane}, but out is on {out._impl.device}",
            operator=function,
            devices=(lane, out._impl.device),
        )
    if requires_grad:
        check_differentiable(out._impl.dtype)
    return with_grad(write_out(out, array, function, reshapes=True), requires_grad)


def names_for(
    names: Sequence[str | None] | None, ndim: int, out: TensorBase | None = None
) -> Names | None:
    """The names of a new tensor's dimensions.

    Raises
    ------
    ArgumentTypeError
        If they are not a sequence, or ``out`` is given too, which has names of its own.
    NamesError
        If they do not fit the dimensions.
    """
    if names is None:
        return None
    if out is not None:
        raise ArgumentTypeError("names= is for a new tensor: rename the tensor 'out' instead")
    return checked_names(names, ndim)


def named(tensor: Tensor, names: Names | None) -> Tensor:
    """The tensor, whose dimensions have these names."""
    if names is not None:
        tensor._impl.set_names(names)
    return tensor


def with_grad(tensor: Tensor, requires_grad: bool) -> Tensor:
    """The tensor, which requires grad from now on if `requires_grad` is set."""
    return tensor if requires_grad is False else tensor.requires_grad_(requires_grad)
