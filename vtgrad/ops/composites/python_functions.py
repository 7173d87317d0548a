"""Python functions called for each element of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError, ShapeError, WriteRefusedError
from vtgrad.graph.set_history import requires_grad
from vtgrad.ops import kernels as k
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.take_over import is_keyed, take_over
from vtgrad.ops.generated.operators import APPLY_, MAP2_, MAP_
from vtgrad.ops.kernels.support.elementwise import checked_number
from vtgrad.storage import making
from vtgrad.storage.arrays import Number
from vtgrad.storage.key_set import keys
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.promotion import python_number
from vtgrad.storage.shapes import broadcast_shapes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.write import write

__all__ = ["apply_", "map2_", "map_"]


T = TypeVar("T", bound=TensorBase)


def apply_(input: T, callable: Callable[[Number], Number]) -> T:
    """Replace each element by what a Python function makes of it.

    The function is called with Python numbers, in row-major order, and its results are cast to
    the dtype of the tensor; for integers fractions are cut off. All results are there before
    anything is written: if the function raises, the tensor is as it was. What Python computes
    has no derivative.

    Parameters
    ----------
    input : Tensor
        The tensor that is written, of any dtype.
    callable : callable
        The function, from one number to one number.

    Returns
    -------
    Tensor
        The tensor itself.

    Raises
    ------
    WriteRefusedError
        If the tensor requires grad.
    ArgumentTypeError
        If the function returns something else than a number.
    DTypeError
        If it returns a number that the dtype cannot hold.
    SelfOverlapError
        If elements of the tensor share memory.

    Examples
    --------
    >>> x = vt.tensor([1, 2, 3])
    >>> x.apply_(lambda n: n * n)
    tensor([1, 4, 9])
    >>> x
    tensor([1, 4, 9])
    """
    if keys.active and is_keyed(input):
        return take_over(APPLY_, apply_, input, callable)
    return _filled("apply_", input, callable)


def map_(input: T, other: TensorBase, callable: Callable[[Number, Number], Number]) -> T:
    """Replace each element by a Python function of it and of an element of another tensor.

    The function is called with Python numbers, in the order of the indices, and for all
    elements before anything is written: if it raises, the tensor is unchanged. The results are
    cast to the dtype of the tensor; a float is cut off to an integer. Nothing can be recorded,
    because a Python function has no derivative.

    Parameters
    ----------
    input : Tensor
        The tensor to write.
    other : Tensor
        Second argument of the function. It has the dtype of `input` and broadcasts to its
        shape.
    callable : callable
        Function of two numbers that returns a number.

    Returns
    -------
    Tensor
        `input` itself.

    Raises
    ------
    WriteRefusedError
        If a tensor requires grad, also under `no_grad`.
    ShapeError
        If another tensor does not broadcast to the shape of `input`.
    ArgumentTypeError
        If the dtypes differ, or `callable` returns something else than a number.
    DTypeError
        If `callable` returns a number that the dtype cannot hold.

    Examples
    --------
    >>> x = vt.tensor([1, 2, 3])
    >>> x.map_(vt.tensor([10, 20, 30]), lambda a, b: a + b)
    tensor([11, 22, 33])
    >>> x.map_(vt.tensor(7), max)
    tensor([11, 22, 33])
    """
    if keys.active and is_keyed(input, other):
        return take_over(MAP_, map_, input, other, callable)
    return _filled("map_", input, callable, other)


def map2_(
    input: T, x: TensorBase, y: TensorBase, callable: Callable[[Number, Number, Number], Number]
) -> T:
    """Replace each element by a Python function of it and of elements of two other tensors.

    The function is called with Python numbers, in the order of the indices, and for all
    elements before anything is written: if it raises, the tensor is unchanged. The results are
    cast to the dtype of the tensor; a float is cut off to an integer. Nothing can be recorded,
    because a Python function has no derivative.

    Parameters
    ----------
    input : Tensor
        The tensor to write.
    x : Tensor
        Second argument of the function. It has the dtype of `input` and broadcasts to its
        shape.
    y : Tensor
        Third argument of the function, with the same dtype and under the same rule.
    callable : callable
        Function of three numbers that returns a number.

    Returns
    -------
    Tensor
        `input` itself.

    Raises
    ------
    WriteRefusedError
        If a tensor requires grad, also under `no_grad`.
    ShapeError
        If another tensor does not broadcast to the shape of `input`.
    ArgumentTypeError
        If the dtypes differ, or `callable` returns something else than a number.
    DTypeError
        If `callable` returns a number that the dtype cannot hold.

    Examples
    --------
    >>> t = vt.tensor([1, 2, 3])
    >>> t.map2_(vt.tensor([10, 20, 30]), vt.tensor(2), lambda a, b, c: a + b * c)
    tensor([21, 42, 63])
    >>> t.map2_(vt.tensor(0), vt.tensor(30), lambda a, b, c: min(max(a, b), c))
    tensor([21, 30, 30])
    """
    if keys.active and is_keyed(input, x, y):
        return take_over(MAP2_, map2_, input, x, y, callable)
    return _filled("map2_", input, callable, x, y)


def _filled(name: str, input: T, function: Callable[..., object], *others: TensorBase) -> T:
    target = array_of(input, "input")
    columns = [target.reshape(-1).tolist()]
    for x in others:
        array = array_of(x, "other")
        if array.dtype != target.dtype:
            raise ArgumentTypeError(
                f"{name} needs tensors of one dtype, not {input.dtype}, {x.dtype}"
            )
        if broadcast_shapes(target.shape, array.shape) != target.shape:
            raise ShapeError(
                f"{name} cannot broadcast shape {list(x.shape)} to {list(input.shape)}"
            )
        columns.append(making.broadcast_to(array, target.shape).reshape(-1).tolist())
    if requires_grad(input, *others):
        raise WriteRefusedError(
            f"{name} of a tensor that requires grad: a Python function has no derivative. Call it"
            " on a detached tensor"
        )
    made = [_number(name, function(*values)) for values in zip(*columns, strict=True)]
    found = making.empty(len(made), target.dtype)
    for index, value in enumerate(made):
        found[index] = run_without_warnings(checked_number, value, target.dtype)
    result = input._wrap(TensorImpl(found.reshape(target.shape)))
    return write(input, None, k.copy_, result, operator=name)


def _number(name: str, value: object) -> Number:
    if isinstance(value, np.generic):
        value = python_number(value)
    if isinstance(value, (bool, int, float, complex)):
        return value
    raise ArgumentTypeError(f"{name} stores numbers, and its function gave {type(value).__name__}")
