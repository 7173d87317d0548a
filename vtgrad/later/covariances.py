"""Covariances and correlations of variables that are rows of samples."""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np

from vtgrad.errors import DTypeError, OptionValueError, ShapeError
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.integers import integer
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.warn import warn

__all__ = ["correlations", "corrcoef", "cov", "covariances"]


T = TypeVar("T", bound=TensorBase)

_FLOAT64: Final = np.dtype(np.float64)


@explained
def cov(
    input: T,
    *,
    correction: int = 1,
    fweights: TensorBase | None = None,
    aweights: TensorBase | None = None,
) -> T:
    """Return the covariances of variables.

    Each row of `input` is a variable and each column a sample. Weights say how often a sample was
    seen, and how much it counts. The result is recorded in `input` and `aweights`.

    Parameters
    ----------
    input : Tensor
        A matrix; a vector, or a 0-d tensor, is the samples of one variable.
    correction : int, default 1
        What is subtracted from the number of samples before the sums are divided by it.
    fweights : Tensor, optional
        How often each sample was seen: a vector of integers that are not negative.
    aweights : Tensor, optional
        How much each sample counts: a vector of floats that are not negative.

    Returns
    -------
    Tensor
        A new matrix; of one variable a 0-d tensor. Those of integers are in the default dtype.

    Raises
    ------
    ShapeError
        If `input` has more than two dimensions.
    DTypeError
        If `input` is of bools.
    OptionValueError
        If weights are not as described, or all are zero.

    Warns
    -----
    UserWarning
        If there are not more samples than `correction`: the result is divided by zero.

    Examples
    --------
    >>> x = vt.tensor([[0.0, 2.0], [1.0, 0.0]])
    >>> vt.cov(x)
    tensor([[ 2.0000, -1.0000],
            [-1.0000,  0.5000]])
    >>> vt.cov(x[0], correction=0)
    tensor(1.)
    >>> vt.cov(x, fweights=vt.tensor([1, 3])).diagonal()
    tensor([1.0000, 0.2500])
    """
    refuse_names("cov", input, fweights, aweights)
    array = array_of(input, "input")
    if array.ndim > 2:
        raise ShapeError(f"cov() takes a matrix, got shape {list(array.shape)}", shape=array.shape)
    if array.dtype.kind == "b":
        raise DTypeError("cov() has no meaning for bools", dtype=input.dtype)
    rows = input if array.ndim == 2 else F.view_shape(input, (1, -1))
    samples: int = rows._impl.array.shape[1]
    correction = integer(correction)
    weights: TensorBase | None = None
    if fweights is not None:
        _check_weights(fweights, "fweights", "iu", "integers", samples)
        weights = fweights
    if aweights is not None:
        _check_weights(aweights, "aweights", "f", "floats", samples)
        weights = aweights if weights is None else F.mul(weights, aweights)
    if weights is not None and not weights._impl.key_set:
        if samples and not bool(F.any(weights)):
            raise OptionValueError("cov() needs a weight that is not zero")
    sums, number = covariances(rows, correction, weights, aweights)
    if isinstance(number, (int, float)):
        if number <= 0:
            warn("cov() has as many samples as the correction or fewer: it divides by zero")
            number = 0
    elif not number._impl.key_set and float(number._impl.array) <= 0:
        warn("cov() has as many samples as the correction or fewer: it divides by zero")
        number = F.zeros_like(number)
    return F.squeeze(F.true_divide(sums, number))


def _check_weights(weights: TensorBase, name: str, kinds: str, what: str, samples: int) -> None:
    array = array_of(weights, name)
    if array.ndim > 1:
        raise OptionValueError(f"cov() takes a vector for {name}, got {list(array.shape)}")
    if array.dtype.kind not in kinds:
        raise OptionValueError(f"cov() takes {what} for {name}, not {weights.dtype.name}")
    if array.size != samples:
        raise OptionValueError(
            f"cov() got {array.size} {name} for {samples} samples", found=array.size
        )
    if not weights._impl.key_set and array.size and array.min() < 0:
        raise OptionValueError(f"cov() takes no negative {name}")


def covariances(
    rows: T,
    correction: int,
    weights: TensorBase | None,
    aweights: TensorBase | None,
) -> tuple[T, TensorBase | float]:
    """The sums of products of deviations, and by what they are divided.

    Parameters
    ----------
    rows : Tensor
        The variables, as rows.
    correction : int
        What is subtracted from the number of samples.
    weights : Tensor or None
        How much each sample counts in all.
    aweights : Tensor or None
        The factor of `weights` that says nothing of the number of samples.
    """
    kind = rows._impl.array.dtype
    number: TensorBase | float = float(rows._impl.array.shape[1] - correction)
    if weights is None:
        total = F.sum_dim_IntList(rows, (1,), True)
        deviation = F.sub(rows, F.true_divide(total, rows._impl.array.shape[1]))
        weighted = deviation
    else:
        whole = F.sum(weights)
        weighted_rows = F.mul(rows, weights)
        deviation = F.sub(rows, F.true_divide(F.sum_dim_IntList(weighted_rows, (1,), True), whole))
        weighted = F.mul(deviation, weights)
        number = F.sub(whole, correction)
        if aweights is not None and correction:
            squares = F.sum(F.mul(weights, aweights))
            number = F.sub(whole, F.true_divide(F.mul(squares, correction), whole))
    turned = F.t(weighted)
    if kind.kind == "c":
        turned = F.conj(turned)
    if turned._impl.array.dtype != deviation._impl.array.dtype:
        deviation = F.to_dtype(deviation, turned._impl.array.dtype)
    return F.matmul(deviation, turned), number


@explained
def corrcoef(input: T) -> T:
    """Return the correlations of variables: their covariances by the standard deviations.

    Parameters
    ----------
    input : Tensor
        A matrix, in which each row is a variable and each column a sample; a vector, or a 0-d
        tensor, is the samples of one variable.

    Returns
    -------
    Tensor
        A new matrix of values between -1 and 1; of one variable a 0-d tensor.

    Raises
    ------
    ShapeError
        If `input` has more than two dimensions.
    DTypeError
        If `input` is of bools.

    Examples
    --------
    >>> vt.corrcoef(vt.tensor([[0.0, 2.0], [1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    refuse_names("corrcoef", input)
    array = array_of(input, "input")
    if array.ndim > 2:
        raise ShapeError(
            f"corrcoef() takes a matrix, got shape {list(array.shape)}", shape=array.shape
        )
    return correlations(cov(input))


def correlations(found: T) -> T:
    """Covariances divided by the standard deviations of both variables."""
    if not found._impl.array.ndim:
        return F.true_divide(found, found)
    kind = found._impl.array.dtype
    variance = F.diagonal(found)
    spread = F.sqrt(F.real(variance) if kind.kind == "c" else variance)
    found = F.true_divide(
        F.true_divide(found, F.view_shape(spread, (-1, 1))), F.view_shape(spread, (1, -1))
    )
    if kind.kind == "c":
        parts = [F.clamp(part, -1, 1) for part in (F.real(found), F.imag(found))]
        return F.complex(*parts)
    return F.clamp(found, -1, 1)
