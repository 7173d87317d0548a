"""Checking what users pass for ``dim``, ``keepdim`` and the like."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final, TypeVar, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, NameNotFoundError, ResultTypeError
from vtgrad.ops.calling.arguments import array_of, numpy_or_none
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.types import Dims
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.dtypes import DType
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.check_inplace import check_memory

__all__ = [
    "UNSET",
    "Unset",
    "check_flag",
    "check_optional_flag",
    "check_pair",
    "checked_dim",
    "checked_dims",
    "dim_or_name",
    "dims_and_correction",
    "dims_or_names",
    "dtype_with_out",
    "either",
    "given",
    "pair_of",
]


_INT64: Final = np.dtype(np.int64)


class Unset(enum.Enum):
    """The default of an argument for which None is a value of its own; shown as ``...``."""

    TOKEN = enum.auto()

    def __repr__(self) -> str:
        """What `inspect.signature` and `help` show; stubs spell such defaults so."""
        return "..."


UNSET: Final = Unset.TOKEN

V = TypeVar("V")


def either(value: V, other: V, names: str) -> V:
    """One argument under PyTorch's and NumPy's name.

    Raises
    ------
    ArgumentTypeError
        If both are given.
    """
    if value is not UNSET:
        raise ArgumentTypeError(f"{names} are the same argument: give one of them")
    return other


def given(value: V | Unset, function: str, name: str) -> V:
    """An argument that must be there, under one of its names.

    Raises
    ------
    ArgumentTypeError
        If it is not.
    """
    if isinstance(value, Unset):
        raise ArgumentTypeError(f"{function}() needs the argument {name!r}", argument=name)
    return value


def dims_and_correction(
    dim: Dims | Unset, unbiased: bool | Unset, correction: float | Unset | None
) -> tuple[Dims, float | None]:
    """The dimensions of a variance, and what is subtracted from the number of elements.

    A single bool is `unbiased`, the older way to say that the correction is 1 or 0.

    Raises
    ------
    ArgumentTypeError
        If both `unbiased` and `correction` are given, or one of them is not of its type.
    """
    if dim is True or dim is False:
        dim, unbiased = UNSET, dim
    if unbiased is not UNSET:
        if correction is not UNSET:
            raise ArgumentTypeError("unbiased and correction say the same: give one of them")
        correction = 1 if check_flag(unbiased, "unbiased") else 0
    if correction is UNSET:
        correction = None
    elif correction is not None:
        number = number_of(correction, "correction")
        if isinstance(number, complex):
            raise ArgumentTypeError("correction must be a real number", argument="correction")
        correction = number
    return None if dim is UNSET else dim, correction


def dtype_with_out(dtype: DType | None, out: TensorBase) -> DType:
    """The dtype to compute in: that of ``out=``.

    Raises
    ------
    DTypeError
        If it is given and ``out`` has another.
    """
    found = array_of(out, "out").dtype
    wanted = numpy_or_none(dtype)
    if wanted is not None and wanted != found:
        raise DTypeError(
            f"out= has dtype {found.name}, but {wanted.name} was asked for",
            expected=wanted.name,
            found=found.name,
        )
    return out.dtype


def check_flag(value: object, name: str) -> bool:
    """A bool.

    Raises
    ------
    ArgumentTypeError
        If `value` is anything else, a number included.
    """
    if value is True or value is False:
        return value
    raise ArgumentTypeError(
        f"argument {name!r} must be a bool, not {type(value).__name__}", argument=name
    )


def check_optional_flag(value: object, name: str) -> bool | None:
    """A bool or None.

    Raises
    ------
    ArgumentTypeError
        If `value` is anything else.
    """
    return None if value is None else check_flag(value, name)


def checked_dim(value: object, name: str = "dim") -> int:
    """One dimension number, which may be a 0-d integer tensor.

    Raises
    ------
    ArgumentTypeError
        If `value` is no integer.
    NameNotFoundError
        If it is a name: of a tensor with names, the name has become a number already.
    """
    if type(value) is int:
        return value
    if isinstance(value, TensorBase):
        array = value._impl.array
        if array.ndim == 0 and array.dtype.kind in "iu":
            return int(array)
    elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        raise NameNotFoundError(
            f"there is no dimension {value!r}: the tensor's dimensions have no names", name=value
        )
    raise ArgumentTypeError(
        f"argument {name!r} must be an integer, not {type(value).__name__}", argument=name
    )


def dim_or_name(value: object) -> int:
    """One dimension number; a name is handed on, to the operator that looks it up.

    Raises
    ------
    ArgumentTypeError
        If `value` is neither.
    """
    return cast("int", value) if isinstance(value, str) else checked_dim(value)


def dims_or_names(value: object) -> Dims:
    """Dimension numbers; names among them are handed on, to the operator that looks them up.

    Raises
    ------
    ArgumentTypeError
        If `value` is something else.
    """
    if isinstance(value, Sequence):
        # A text is a sequence too.
        return dim_or_name(value) if isinstance(value, str) else tuple(map(dim_or_name, value))
    return checked_dims(value)


def checked_dims(value: object, name: str = "dim") -> Dims:
    """One dimension number, several, or None.

    Raises
    ------
    ArgumentTypeError
        If `value` is something else.
    """
    if value is None or type(value) is int:
        return value
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple([checked_dim(d, name) for d in value])
    return checked_dim(value, name)


def pair_of(out: Sequence[TensorBase]) -> Sequence[TensorBase]:
    """What was passed as ``out=`` of two results.

    Raises
    ------
    ArgumentTypeError
        If it is no pair, as a single tensor is not.
    """
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise ArgumentTypeError(
            f"argument 'out' must be a pair of tensors, not {type(out).__name__}", argument="out"
        )
    return out


def check_pair(out: Sequence[TensorBase] | None, values: NumpyDType) -> None:
    """Refuse two ``out=`` tensors that cannot both be written, before either is.

    Raises
    ------
    ResultTypeError
        If they do not have the dtype of the values, and int64 for the indices.
    SelfOverlapError
        If one overlaps itself.
    """
    if out is None:
        return
    for tensor, dtype in zip(pair_of(out), (values, _INT64), strict=True):
        found = array_of(tensor, "out").dtype
        if found != dtype:
            raise ResultTypeError(
                f"out= has dtype {found}, but the operator stores {dtype} only",
                result=dtype,
                target=found,
            )
        check_memory(tensor)
