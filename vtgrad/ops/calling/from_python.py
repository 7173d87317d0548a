"""Arrays made of what users write: nested lists, NumPy arrays, numbers, sizes.

Note [The dtype of Python data]

Every element has a dtype of its own: that of a tensor or NumPy scalar, and for Python numbers
bool, int64, the default floating dtype or its complex companion. The data's dtype is what all of
them agree on. NumPy's inference is not used: it would make float64 of Python floats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, cast

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    NotSupportedError,
    RequiresGradError,
    ResultTypeError,
    ShapeError,
)
from vtgrad.graph.set_history import own_meta
from vtgrad.graph.tracer import read_value
from vtgrad.ops.calling.lost_gradient import ARGUMENT, ELEMENT, note_number
from vtgrad.ops.kernels.copying.casts import to_dtype
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape
from vtgrad.storage.device import Device, lane_of
from vtgrad.storage.dtypes import dtype_of, get_default_dtype
from vtgrad.storage.integers import size_of
from vtgrad.storage.key_set import keys
from vtgrad.storage.promotion import category, number_dtype, promote
from vtgrad.storage.strides import MAX_DIMS, check_in_bounds, check_sizes, reach
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = [
    "array_from_data",
    "check_array",
    "check_device",
    "check_differentiable",
    "empty_strided_impl",
    "number_of",
    "request_grad",
    "sizes_of",
]


_NUMBERS: Final = frozenset({bool, int, float, complex})


# -- data -----------------------------------------------------------------------------------


def array_from_data(data: object, dtype: NumpyDType | None) -> Array:
    """A freshly allocated array of the data.

    Parameters
    ----------
    data : tensor, ndarray, number, or nested sequence of these
        Tensors and arrays inside sequences: tensors must have one element.
    dtype : numpy.dtype or None
        The dtype wanted; None lets the data decide, see Note [The dtype of Python data].

    Raises
    ------
    ArgumentValueError
        If sequences of one level differ in length, or an integer does not fit int64.
    ArgumentTypeError
        If a sequence stands beside a number, or strings or complex numbers where real ones are
        wanted.
    DTypeError
        If an element is nothing that a tensor can hold.
    ResultTypeError
        If a number is outside the range of an integer dtype.
    """
    if isinstance(data, TensorBase):
        if keys.modes:
            read_value(data)
        own = data._impl.array
        return to_dtype(own, own.dtype if dtype is None else dtype)
    if isinstance(data, np.ndarray):
        check_array(data)
        return to_dtype(data, data.dtype if dtype is None else dtype)
    if isinstance(data, (str, bytes)):
        raise ArgumentTypeError(f"a tensor cannot hold {type(data).__name__}", value=data)
    dtypes: set[NumpyDType] = set()
    shape: list[int] = []
    plain = _plain(data, 0, shape, dtypes)
    found: NumpyDType | None = None
    for x in sorted(dtypes, key=category):
        found = x if found is None else promote(found, x)
    if found is None:
        found = get_default_dtype().numpy
    if dtype is None:
        dtype = found
    if 0 in shape:
        return making.empty(shape, dtype)
    return _stored(plain, found, dtype)


def _plain(data: object, depth: int, shape: list[int], dtypes: set[NumpyDType]) -> object:
    """The data as nested lists of Python numbers; fills in the shape and the dtypes met."""
    if isinstance(data, (list, tuple)):
        items: Sequence[object] = data
    else:
        scalar = _scalar(data, dtypes)
        if scalar is not None:
            if depth < len(shape):
                raise ArgumentTypeError(
                    f"a number stands where other rows have a sequence of length {shape[depth]}"
                )
            return scalar
        items = _as_list(data)
    if depth == len(shape):
        if depth >= MAX_DIMS:
            raise ArgumentValueError(f"more than {MAX_DIMS} levels of nested sequences")
        shape.append(len(items))
    elif len(items) != shape[depth]:
        raise ArgumentValueError(
            f"sequences at level {depth} differ in length: {shape[depth]} and {len(items)}",
            level=depth,
            expected=shape[depth],
            found=len(items),
        )
    types = set(map(type, items))
    if types <= _NUMBERS:
        if depth + 1 < len(shape) and items:
            raise ArgumentTypeError(
                f"a number stands where other rows have a sequence of length {shape[depth + 1]}"
            )
        for kind in types:
            dtypes.add(number_dtype(kind(0)))
        return items
    first_is_number = False
    result: list[object] = []
    for nr, item in enumerate(items):
        if first_is_number and isinstance(item, (str, bytes)):
            raise ArgumentTypeError(f"a tensor cannot hold {type(item).__name__}", value=item)
        deeper = _plain(item, depth + 1, shape, dtypes)
        is_number = not isinstance(deeper, (list, tuple))
        if nr == 0:
            first_is_number = is_number
        elif first_is_number != is_number:
            raise ArgumentTypeError("numbers and sequences stand side by side in the data")
        result.append(deeper)
    return result


def _scalar(data: object, dtypes: set[NumpyDType]) -> Number | None:
    """A single element as a Python number; None if `data` is none."""
    number: Number
    if isinstance(data, np.generic):
        dtypes.add(dtype_of(data.dtype).numpy)
        number = data.item()
        return number
    if isinstance(data, (bool, int, float, complex)):
        dtypes.add(number_dtype(data))
        return data
    array: Array
    if isinstance(data, TensorBase):
        array = data._impl.array
        if array.size != 1:
            raise ArgumentValueError(
                "a tensor inside a sequence must have exactly one element, not shape "
                f"{list(array.shape)}; use stack() or cat()",
                shape=array.shape,
            )
        if keys.modes or data._impl.autograd_meta is not None:
            note_number(data, ELEMENT)
    elif isinstance(data, np.ndarray) and data.ndim == 0:
        array = data
    else:
        return None
    dtypes.add(dtype_of(array.dtype).numpy)
    number = array.item()
    return number


def _as_list(data: object) -> Sequence[object]:
    """A sequence that is neither list nor tuple, as a list."""
    if isinstance(data, (str, bytes)):
        raise ArgumentValueError(f"a tensor cannot hold {type(data).__name__}", value=data)
    if isinstance(data, np.ndarray):
        check_array(data)
        # One NumPy scalar after the other, which keep their dtype.
        return list(data)
    if hasattr(data, "__array__") and hasattr(data, "__len__"):
        # A column of a data frame, say: its elements as Python numbers would lose their dtype.
        array = making.asarray(data)
        if array.dtype != np.object_:
            return _as_list(array)
    if (
        isinstance(data, (dict, set, frozenset))
        or not hasattr(data, "__getitem__")
        or not hasattr(data, "__len__")
    ):
        raise DTypeError(
            f"a tensor cannot hold an element of type {type(data).__name__}", type=type(data)
        )
    return list(cast("Iterable[object]", data))


def _stored(plain: object, found: NumpyDType, dtype: NumpyDType) -> Array:
    """Nested lists of numbers, whose own dtype is `found`, as an array of `dtype`."""
    if found.kind == "c" and dtype.kind in "fiu":
        raise ArgumentTypeError(
            f"complex numbers cannot be elements of a {dtype.name} tensor", dtype=dtype.name
        )
    try:
        if dtype.kind in "fc":
            wide = making.array(plain, np.complex128 if dtype.kind == "c" else np.float64)
            with np.errstate(all="ignore"):
                return wide.astype(dtype, copy=False)
        if dtype.kind == "b":
            return making.array(plain, dtype)
        if found.kind != "f":
            return _narrowed(making.array(plain, np.int64), dtype)
        numbers = making.array(plain, object)
        flat = [_whole(x, dtype) for x in numbers.reshape(-1).tolist()]
        return _narrowed(making.array(flat, np.int64).reshape(numbers.shape), dtype)
    except OverflowError:
        raise ArgumentValueError(
            f"a number in the data is too large for {dtype.name}", dtype=dtype.name
        ) from None


def _whole(number: Number, dtype: NumpyDType) -> int:
    """A real number cut off to an integer; a float must be in the dtype's range before that."""
    if isinstance(number, float):
        info = np.iinfo(dtype)
        # Comparisons of Python's floats and integers are exact, and false for NaN.
        if not int(info.min) <= number <= int(info.max):
            raise ResultTypeError(
                f"{number} cannot be an element of a {dtype.name} tensor",
                value=number,
                dtype=dtype.name,
            )
    assert not isinstance(number, complex)
    return int(number)


def _narrowed(values: Array, dtype: NumpyDType) -> Array:
    """int64 values in a smaller integer dtype; negative ones wrap in uint8, as in PyTorch."""
    info = np.iinfo(dtype)
    lowest = -int(info.max) if dtype.kind == "u" else int(info.min)
    low, high = int(values.min()), int(values.max())
    if low < lowest or high > int(info.max):
        value = low if low < lowest else high
        raise ResultTypeError(
            f"{value} cannot be an element of a {dtype.name} tensor",
            value=value,
            dtype=dtype.name,
        )
    return values.astype(dtype, copy=False)


def check_array(array: Array) -> None:
    """Refuse a NumPy array that no tensor can look at.

    Raises
    ------
    ArgumentTypeError
        If vtgrad has no such dtype.
    ArgumentValueError
        If its bytes are in foreign order, or a stride is no multiple of the element size.
    """
    if not array.dtype.isnative:
        raise ArgumentValueError(
            "the array's bytes are not in this machine's order; use "
            "array.astype(array.dtype.newbyteorder('='))",
            dtype=str(array.dtype),
        )
    dtype_of(array.dtype)
    if array.size:
        for stride in array.strides:
            if stride % array.itemsize:
                raise ArgumentValueError(
                    "a stride of the array is no multiple of its element size; pass array.copy()",
                    strides=array.strides,
                )


# -- sizes ----------------------------------------------------------------------------------


def sizes_of(name: str, sizes: Sequence[object], size: Sequence[object] | None = None) -> Shape:
    """Sizes passed as several integers or as one sequence of them.

    Parameters
    ----------
    name : str
        The function's name, for errors.
    sizes : sequence
        The positional arguments.
    size : sequence, optional
        The keyword of that name.

    Raises
    ------
    ArgumentTypeError
        If they are neither, both or missing.
    ShapeError
        If a size is negative or the whole is larger than memory can be.
    """
    if (size is None) == (not sizes):
        raise ArgumentTypeError(f"{name} needs a size, and only one", argument="size")
    if size is not None:
        if not isinstance(size, (tuple, list)):
            raise ArgumentTypeError(
                f"argument 'size' must be a sequence of integers, not {type(size).__name__}",
                argument="size",
            )
        sizes = size
    elif len(sizes) == 1:
        only = sizes[0]
        if isinstance(only, (tuple, list)):
            sizes = only
        elif isinstance(only, bool):
            raise ArgumentTypeError(f"a size of {name} must be an integer, not bool")
    shape = tuple([n if type(n) is int else size_of(n, "size") for n in sizes])
    check_sizes(shape, 1)
    return shape


def empty_strided_impl(
    size: Sequence[object], stride: Sequence[object], dtype: NumpyDType
) -> TensorImpl:
    """Fresh memory of arbitrary content, looked at through a geometry.

    Raises
    ------
    ShapeError
        If sizes and strides differ in number, or one of them is negative.
    """
    sizes = sizes_of("empty_strided", (), size)
    if not isinstance(stride, (tuple, list)):
        raise ArgumentTypeError(
            f"argument 'stride' must be a sequence of integers, not {type(stride).__name__}",
            argument="stride",
        )
    strides = tuple([size_of(s, "stride") for s in stride])
    if len(sizes) != len(strides):
        raise ShapeError(
            f"{len(sizes)} sizes need as many strides, not {len(strides)}",
            sizes=sizes,
            strides=strides,
        )
    if strides and min(strides) < 0:
        raise ShapeError(f"a stride is negative in {list(strides)}", strides=strides)
    _, highest = reach(sizes, strides)
    check_sizes((highest + 1,), dtype.itemsize)
    check_in_bounds(sizes, strides, 0, highest + 1)
    whole = TensorImpl(making.empty(highest + 1, dtype))
    return whole.alias(whole.storage.strided(dtype, sizes, strides, 0), 0, strides)


# -- other arguments ------------------------------------------------------------------------


def number_of(value: object, name: str) -> Number:
    """A Python number, or the element of a 0-d tensor or NumPy scalar.

    Raises
    ------
    ArgumentTypeError
        If `value` is none of these, or a tensor that requires grad, whose gradient would be lost.
    """
    number: Number
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, np.generic):
        dtype_of(value.dtype)
        number = value.item()
        return number
    if isinstance(value, TensorBase) and value.ndim == 0:
        meta = value._impl.autograd_meta
        if meta is None or not meta.needs_gradient():
            if keys.modes:
                note_number(value, ARGUMENT)
            number = value._impl.array.item()
            return number
    raise ArgumentTypeError(
        f"argument {name!r} must be a number or a 0-d tensor that does not require grad, not "
        f"{type(value).__name__}",
        argument=name,
    )


def check_device(device: Device | str | None) -> None:
    """Refuse every device but the CPU, where memory is made apart from tensors.

    Raises
    ------
    NotSupportedError
        For a lane, and if there is no such device.
    ArgumentTypeError
        If `device` does not name one.
    """
    if device is not None and lane_of(device) is not None:
        raise NotSupportedError(
            f"memory on {device} is made with a tensor: vt.empty(n, device={str(device)!r})",
            device=device,
        )


def check_differentiable(dtype: NumpyDType) -> None:
    """Refuse ``requires_grad=True`` for a dtype that has no gradients.

    Raises
    ------
    RequiresGradError
        If so.
    """
    if dtype.kind not in "fc":
        raise RequiresGradError(
            f"only floating and complex tensors have gradients, not {dtype.name}",
            dtype=dtype_of(dtype),
        )


def request_grad(tensor: TensorBase) -> None:
    """Make a leaf require grad.

    Raises
    ------
    RequiresGradError
        If its dtype has no gradients.
    """
    check_differentiable(tensor._impl.dtype)
    own_meta(tensor).requires_grad_ = True
