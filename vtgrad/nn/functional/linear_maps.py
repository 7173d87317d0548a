"""Linear and bilinear maps of the last dimension."""

from __future__ import annotations

import math
from typing import TypeVar, cast

from vtgrad.errors import DTypeError, ShapeError
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["bilinear", "linear"]

T = TypeVar("T", bound=Tensor)


@explained
def linear(input: T, weight: Tensor, bias: Tensor | None = None) -> T:
    """Return ``input @ weight.T + bias``.

    Parameters
    ----------
    input : Tensor
        Of shape ``(..., n)``.
    weight : Tensor
        Of shape ``(m, n)``, or ``(n,)`` for one result without a dimension.
    bias : Tensor, optional
        What is added; it broadcasts to the result. By default nothing.

    Returns
    -------
    Tensor
        A new tensor of shape ``(..., m)``, or ``(...)``.

    Raises
    ------
    ShapeError
        If the shapes do not fit each other.
    DTypeError
        If the tensors have different dtypes.

    Examples
    --------
    >>> x, weight = vt.tensor([1.0, 2.0]), vt.tensor([[1.0, 0.0], [1.0, 1.0]])
    >>> vt.nn.functional.linear(x, weight, vt.tensor([0.5, 0.5]))
    tensor([1.5000, 3.5000])
    """
    refuse_names("linear", input, weight, bias)
    array, matrix = array_of(input, "input"), array_of(weight, "weight")
    if not array.ndim or matrix.ndim not in (1, 2) or array.shape[-1] != matrix.shape[-1]:
        raise ShapeError(
            "linear() takes an input of shape (..., n) and a weight of shape (m, n) or (n,), got "
            f"{list(array.shape)} and {list(matrix.shape)}",
            shapes=(array.shape, matrix.shape),
        )
    turned = weight if matrix.ndim == 1 else F.transpose(weight, 0, 1)
    if bias is None:
        return F.matmul(input, turned)
    added = array_of(bias, "bias")
    if added.dtype != array.dtype:
        raise DTypeError(
            f"linear() takes tensors of one dtype, got input of {array.dtype} and bias of "
            f"{added.dtype}",
            dtypes=(array.dtype, added.dtype),
        )
    if array.ndim == matrix.ndim == 2 and added.ndim <= 2:
        return cast("T", F.addmm(bias, input, turned))
    found = F.matmul(input, turned)
    return F.add(found, F.expand(bias, found._impl.array.shape))


@explained
def bilinear(input1: T, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> T:
    """Return ``input1 @ weight[k] @ input2 + bias[k]`` for each k.

    Parameters
    ----------
    input1, input2 : Tensor
        Of shapes ``(..., n1)`` and ``(..., n2)``, with the same dimensions in front.
    weight : Tensor
        Of shape ``(m, n1, n2)``.
    bias : Tensor, optional
        Of shape ``(m,)``. By default nothing is added.

    Returns
    -------
    Tensor
        A new tensor of shape ``(..., m)``.

    Raises
    ------
    ShapeError
        If the shapes do not fit each other.
    DTypeError
        If the tensors have different dtypes.

    Examples
    --------
    >>> x, y = vt.tensor([1.0, 2.0]), vt.tensor([3.0, 4.0])
    >>> vt.nn.functional.bilinear(x, y, vt.ones(1, 2, 2))
    tensor([21.])
    """
    refuse_names("bilinear", input1, input2, weight, bias)
    one, two = array_of(input1, "input1"), array_of(input2, "input2")
    forms = array_of(weight, "weight")
    fits = one.ndim and two.ndim and forms.ndim == 3 and one.shape[:-1] == two.shape[:-1]
    if not fits or (one.shape[-1], two.shape[-1]) != forms.shape[1:]:
        raise ShapeError(
            "bilinear() takes shapes (..., n1), (..., n2) and a weight of shape (m, n1, n2), got "
            f"{list(one.shape)}, {list(two.shape)} and {list(forms.shape)}",
            shapes=(one.shape, two.shape, forms.shape),
        )
    lead, (count, rows, columns) = one.shape[:-1], forms.shape
    size = math.prod(lead)
    left, right = F.reshape(input1, (size, rows)), F.reshape(input2, (size, columns))
    # One product for all forms, and then one sum for each form and each pair.
    flat = F.reshape(F.permute(weight, (1, 0, 2)), (rows, count * columns))
    halves = F.reshape(F.matmul(left, flat), (size, count, columns))
    found = F.reshape(F.matmul(halves, F.unsqueeze(right, -1)), (*lead, count))
    if bias is not None:
        added = array_of(bias, "bias")
        if added.shape != (count,):
            raise ShapeError(
                f"bilinear() takes a bias of shape [{count}], got {list(added.shape)}",
                shape=added.shape,
            )
        if added.dtype != one.dtype:
            raise DTypeError(
                f"bilinear() takes tensors of one dtype, got input1 of {one.dtype} and bias of "
                f"{added.dtype}",
                dtypes=(one.dtype, added.dtype),
            )
        found = F.add(found, F.expand(bias, found._impl.array.shape))
    return found
