"""Tensors and integers that come as a sequence, or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard, TypeVar, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, ShapeError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.constants import each_as_tensor
from vtgrad.storage.arrays import Shape
from vtgrad.storage.dtypes import DType
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["given_integers", "given_tensors", "sequence_of_tensors"]


T = TypeVar("T", bound=TensorBase)


def sequence_of_tensors(tensors: Sequence[T], name: str) -> Sequence[T]:
    """The tensors, of which there must be one.

    Raises
    ------
    ArgumentTypeError
        If they do not come as a sequence of tensors.
    ShapeError
        If there are none.
    """
    if isinstance(tensors, TensorBase) or not isinstance(tensors, Sequence):
        raise ArgumentTypeError(
            f"{name} takes a sequence of tensors, not {type(tensors).__name__}", argument="tensors"
        )
    if not tensors:
        raise ShapeError(f"{name} needs at least one tensor")
    return _as_tensors(tensors)


def given_tensors(tensors: tuple[T | Sequence[T], ...]) -> Sequence[T]:
    """Tensors that were passed one by one or as one sequence."""
    each: list[T] = []
    for given in tensors:
        if isinstance(given, Sequence) and len(tensors) == 1:
            each.extend(given)
        else:
            each.append(cast("T", given))
    return _as_tensors(each)


def _as_tensors(values: Sequence[T]) -> Sequence[T]:
    """The values with tensors for arrays and numbers, see Note [Numbers as operands]."""
    if not all(isinstance(x, TensorBase) for x in values):
        values = cast("Sequence[T]", each_as_tensor(values))
        for x in values:
            array_of(x, "tensors")
    return values


def given_integers(
    given: Sequence[int | Sequence[int] | DType],
    keyword: Sequence[int] | int | None,
    name: str,
    *,
    single: bool = False,
    named: bool = False,
) -> Shape:
    """Integers that were passed one by one, as one sequence, or as one keyword argument.

    Parameters
    ----------
    single : bool
        Whether the keyword argument may be one integer.
    named : bool
        Whether these are dimensions, which may have names; those are handed on.

    Raises
    ------
    ArgumentTypeError
        If there are none, they came in two ways, or one is no integer.
    """
    if keyword is None and given and _are_integers(given):
        return given
    if named:
        names: tuple[object, ...] = (*given, keyword)
        if any(isinstance(name, str) for name in names):
            return cast("Shape", tuple([name for name in names if name is not None]))
    if (keyword is None) is not bool(given):
        raise ArgumentTypeError(f"{name} needs its integers, once", given=given)
    if keyword is not None:
        if not single and not isinstance(keyword, Sequence):
            raise _no_integers(keyword, name, "a sequence of integers by keyword")
        given = (keyword,)
    if len(given) == 1 and (type(given[0]) is tuple or isinstance(given[0], Sequence)):
        numbers = tuple(given[0])
        if numbers and (numbers[0] is True or numbers[0] is False):
            raise _no_integers(numbers[0], name)
        return numbers
    # A bool in a later position is an integer, as in PyTorch.
    if given[0] is True or given[0] is False:
        raise _no_integers(given[0], name)
    result: list[int] = []
    for number in given:
        if isinstance(number, (type, DType, np.ndarray, Sequence)) or not hasattr(
            number, "__index__"
        ):
            raise _no_integers(number, name)
        result.append(number.__index__())
    return tuple(result)


def _are_integers(given: Sequence[object]) -> TypeGuard[Shape]:
    """Whether all are Python's own integers, one by one."""
    for number in given:
        if type(number) is not int:
            return False
    return type(given) is tuple


def _no_integers(
    value: object, name: str, wanted: str = "integers or one sequence of them"
) -> ArgumentTypeError:
    return ArgumentTypeError(f"{name} takes {wanted}, not {type(value).__name__}", value=value)
