"""logsumexp and softmax under their public names."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.ops.calling.arguments import array_of, numpy_or_none
from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.ops.generated import functional as F
from vtgrad.storage.dtypes import DType
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["log_softmax", "softmax"]


T = TypeVar("T", bound=TensorBase)


def softmax(input: T, dim: int, dtype: DType | None = None, *, out: T | None = None) -> T:
    """Return exponentials divided by their sum along a dimension.

    `exp(input) / exp(input).sum(dim, keepdim=True)`, computed so that large values do not
    overflow. A slice that holds plus infinity or nan, or nothing but minus infinity, becomes
    nan. Gradient: `result * (grad - (grad * result).sum(dim, keepdim=True))`.

    Parameters
    ----------
    input : Tensor
        Real floating values; integers only with `dtype`.
    dim : int
        The dimension along which the result adds up to 1.
    dtype : DType, optional
        A floating dtype that `input` is cast to first.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    NotSupportedError
        If the values are not real and floating, after the cast.
    DimensionError
        If `input` has no dimension `dim`.
    ResultTypeError
        If `out` does not have the dtype of the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> vt.softmax(vt.tensor([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]]), 1)
    tensor([[0.0900, 0.2447, 0.6652],
            [0.3333, 0.3333, 0.3333]])
    """
    return F.softmax_dim(_converted(input, dtype), checked_dim(dim), out=out)


def log_softmax(input: T, dim: int, dtype: DType | None = None, *, out: T | None = None) -> T:
    """Return the logarithm of the softmax along a dimension.

    ``log_softmax(x) = x - logsumexp(x, dim)`` is computed without leaving the logarithmic
    scale, so that tiny probabilities keep their digits and large values do not overflow. Along
    the dimension, the exponentials of the result sum to 1. The gradient is
    ``g - softmax(x) * sum(g)`` for an incoming gradient g.

    Parameters
    ----------
    input : Tensor
        Floating values, or others with `dtype`.
    dim : int
        The dimension to normalise along.
    dtype : dtype, optional
        Floating dtype that the values are converted to first, and that of the result.
    out : Tensor, optional
        Where the result is stored; of the dtype of the result.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    NotSupportedError
        If the values to compute with are not floating.
    DimensionError
        If the dimension does not exist.
    ArgumentTypeError
        If `dim` is not an integer.
    ResultTypeError
        If `out` has another dtype than the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> vt.log_softmax(vt.tensor([1.0, 2.0, 3.0]), 0)
    tensor([-2.4076, -1.4076, -0.4076])
    >>> vt.log_softmax(vt.tensor([1000, 0]), 0, dtype=vt.float64)
    tensor([    0., -1000.], dtype=vtgrad.float64)
    >>> x = vt.tensor([0.0, 0.0], requires_grad=True)
    >>> vt.log_softmax(x, 0)[0].backward()
    >>> x.grad
    tensor([ 0.5000, -0.5000])
    """
    return F.log_softmax_dim(_converted(input, dtype), checked_dim(dim), out=out)


def _converted(x: T, dtype: DType | None) -> T:
    wanted = numpy_or_none(dtype)
    if wanted is None or wanted == array_of(x, "input").dtype:
        return x
    return F.to_dtype(x, wanted)
