"""Polynomials as arrays of coefficients, the highest power first."""

from __future__ import annotations

import typing
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, SupportsIndex, TypeVar

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.numpy import ufuncs
from vtgrad.numpy.calculus import joined
from vtgrad.numpy.convolution import convolve
from vtgrad.numpy.eigenvalues import eigvals
from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, all_of, as_array, cast, fresh, of, of_numbers, value_of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "PolyBase",
    "horner",
    "poly",
    "polyadd",
    "polyder",
    "polydiv",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "roots",
]

P = ParamSpec("P")
R = TypeVar("R")


class PolyBase:
    """What `poly1d` is below its own file: an object that has coefficients.

    Attributes
    ----------
    whole : ndarray
        The coefficients with zeros in front, which have gradients.
    """

    __slots__ = ("whole",)

    whole: ndarray

    def __init__(self, coefficients: ArrayLike) -> None:
        self.whole = _coefficients(coefficients)


def _takes_objects(text: Callable[P, R]) -> Callable[P, R]:
    """Let a function take objects of the class `poly1d`, and return them if one was given."""

    @wraps(text)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        values: tuple[object, ...] = (*args, *kwargs.values())
        made = next((type(x) for x in values if isinstance(x, PolyBase)), None)
        if made is None:
            return text(*args, **kwargs)
        plain: Any = [x.whole if isinstance(x, PolyBase) else x for x in args]
        named: Any = {key: x.whole if isinstance(x, PolyBase) else x for key, x in kwargs.items()}
        found: Any = text(*plain, **named)
        if isinstance(found, tuple):
            return typing.cast("R", tuple([made(x) for x in found]))
        return typing.cast("R", made(found))

    return called


def _given(value: object) -> object:
    """The coefficients of a polynomial, or what stands for some."""
    if isinstance(value, np.poly1d):
        return value.coeffs
    return value.whole if isinstance(value, PolyBase) else value


def _vector(x: ndarray) -> ndarray:
    return x if x._impl.array.ndim else as_array(F.reshape(x, 1))


def _coefficients(value: object) -> ndarray:
    """Coefficients as an array with one axis at least."""
    return _vector(of_numbers(_given(value)))


def _both(a1: object, a2: object) -> list[ndarray]:
    """The coefficients of two polynomials that meet."""
    return [_vector(x) for x in all_of([_given(a1), _given(a2)])]


def _descending(count: int) -> ndarray:
    """The numbers from a count down to 1."""
    return fresh(making.arange(count, 0, -1))


def horner(coefficients: ndarray, x: ndarray) -> ndarray:
    """The value of a polynomial, in the dtype that NumPy's operators give it."""
    found: Any = as_array(F.zeros_like(x))
    for nr in range(coefficients.shape[0]):
        found = ufuncs.add(ufuncs.multiply(found, x), as_array(F.select(coefficients, 0, nr)))
    return typing.cast("ndarray", found)


@function
def polyval(p: ArrayLike, x: ArrayLike) -> ndarray:
    """The value of a polynomial at points.

    Parameters
    ----------
    p : array_like
        The coefficients, the highest power first.
    x : array_like
        The points.

    Returns
    -------
    ndarray
        Of the shape of `x`, or a scalar.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.polyval([1.0, 0.0, 2.0], np.array([1.0, 3.0]))
    array([ 3., 11.])
    """
    given: list[object] = [p, x]
    if isinstance(given[0], PolyBase):
        p = given[0].whole
    if isinstance(given[1], PolyBase):
        # A polynomial of a polynomial, with the operators of the class.
        inner: Any = given[1]
        outer: Any = type(inner)(making.zeros(1, np.int_))
        for coefficient in _coefficients(p):
            outer = outer * inner + coefficient
        return typing.cast("ndarray", outer)
    if not any_differentiated(p, x):
        return on_values(np.polyval, p, x)
    if isinstance(given[1], np.poly1d):
        raise NotSupportedError(
            "vtgrad.numpy cannot put a polynomial into one with a derivative; put in arrays"
        )
    if isinstance(given[0], np.poly1d):
        p = given[0].coeffs
    coefficients, points = all_of([p, x])
    if not coefficients._impl.array.ndim:
        raise TypeError("iteration over a 0-d array")
    return horner(coefficients, points)


def _same_length(a1: ArrayLike, a2: ArrayLike) -> tuple[ndarray, ndarray]:
    """Coefficients with zeros in front of the shorter ones."""
    pair = _both(a1, a2)
    size = max([x.shape[0] for x in pair])
    padded = []
    for x in pair:
        missing = size - x.shape[0]
        padded.append(joined([fresh(making.zeros(missing, x.dtype)), x], 0) if missing else x)
    return padded[0], padded[1]


@function
@_takes_objects
def polyadd(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The sum of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like
        The coefficients, the highest power first.

    Returns
    -------
    ndarray
        The coefficients.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.polyadd(np.array([1.0, 2.0]), [3.0])
    array([1., 5.])
    """
    if not any_differentiated(a1, a2):
        return on_values(np.polyadd, a1, a2)
    return ufuncs.add(*_same_length(a1, a2))


@function
@_takes_objects
def polysub(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The difference of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like
        The coefficients, the highest power first.

    Returns
    -------
    ndarray
        The coefficients.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.polysub(np.array([1.0, 2.0]), [3.0])
    array([ 1., -1.])
    """
    if not any_differentiated(a1, a2):
        return on_values(np.polysub, a1, a2)
    return ufuncs.subtract(*_same_length(a1, a2))


def _leading_zeros(x: ndarray) -> int:
    """How many of the first coefficients are zero; inside of `vmap` none."""
    if x._impl.array.ndim != 1:
        raise ValueError("Polynomial must be 1d only.")
    if x._impl.key_set:
        return 0
    places = np.flatnonzero(value_of(x))
    return int(places[0]) if places.size else max(x.shape[0] - 1, 0)


@function
@_takes_objects
def polymul(a1: ArrayLike, a2: ArrayLike) -> ndarray:
    """The product of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like
        The coefficients, the highest power first.

    Returns
    -------
    ndarray
        The coefficients, without those of leading zeros of the factors. Inside of `vmap`, where no
        values are read, these stay.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.polymul(np.array([1.0, 2.0]), [1.0, 3.0])
    array([1., 5., 6.])
    """
    if not any_differentiated(a1, a2):
        return on_values(np.polymul, a1, a2)
    zero = fresh(making.zeros(1))
    pair = [x if x.shape[0] else zero for x in _both(a1, a2)]
    count = _leading_zeros(pair[0]) + _leading_zeros(pair[1])
    found = convolve(pair[0], pair[1])
    # The leading zeros take part: their gradient is not zero.
    return as_array(F.slice(found, 0, count, None)) if count else found


@function
@_takes_objects
def polyder(p: ArrayLike, m: SupportsIndex = 1) -> ndarray:
    """The derivative of a polynomial.

    Parameters
    ----------
    p : array_like
        The coefficients, the highest power first.
    m : int
        Its order.

    Returns
    -------
    ndarray
        The coefficients.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.polyder(np.array([1.0, 2.0, 3.0]))
    array([2., 2.])
    """
    if not any_differentiated(p):
        return on_values(np.polyder, p, m)
    order = int(m)
    if order < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    found = of(p)
    if found._impl.array.ndim > 1:
        raise ValueError("Polynomial must be 1d only.")
    len(found)
    for _ in range(order):
        count = max(found.shape[0] - 1, 0)
        found = ufuncs.multiply(as_array(F.slice(found, 0, 0, count)), _descending(count))
    return found


@function
@_takes_objects
def polyint(p: ArrayLike, m: SupportsIndex = 1, k: ArrayLike | None = None) -> ndarray:
    """The integral of a polynomial.

    Parameters
    ----------
    p : array_like
        The coefficients, the highest power first.
    m : int
        Its order.
    k : array_like, optional
        The constants, of the first integration first; one stands for all.

    Returns
    -------
    ndarray
        The coefficients.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.polyint(np.array([2.0, 2.0]))
    array([1., 2., 0.])
    """
    if not any_differentiated(p, k):
        return on_values(np.polyint, p, m, k)
    order = int(m)
    if order < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = fresh(making.zeros(order)) if k is None else _coefficients(k)
    if order > 1 and constants.shape[0] == 1:
        constants = as_array(F.broadcast_to(cast(constants, constants.dtype), (order,)))
    if constants.shape[0] < order:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    found = of_numbers(p)
    for nr in range(order):
        part = ufuncs.divide(found, _descending(found.shape[0]))
        found = joined([part, as_array(F.slice(constants, 0, nr, nr + 1))], 0)
    return found


@function
@_takes_objects
def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[ndarray, ndarray]:
    """The quotient and the remainder of two polynomials.

    Parameters
    ----------
    u, v : array_like
        The coefficients of dividend and divisor, the highest power first.

    Returns
    -------
    tuple of ndarray
        The coefficients of the quotient, and of the remainder without leading zeros. Inside of
        `vmap`, where no values are read, these stay.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.polydiv(np.array([1.0, 5.0, 7.0]), [1.0, 2.0])
    (array([1., 3.]), array([1.]))
    """
    if not any_differentiated(u, v):
        return typing.cast("tuple[ndarray, ndarray]", on_values(np.polydiv, u, v))
    top = ufuncs.add(_coefficients(u), 0.0)
    base = ufuncs.add(_coefficients(v), 0.0)
    if not top.shape[0] or not base.shape[0]:
        raise IndexError("a polynomial of a division has no coefficients")
    kind = np.result_type(top.dtype, base.dtype)
    rest: TensorBase = cast(top, kind)
    divisor = cast(base, kind)
    scale = F.to_dtype(F.reciprocal(F.select(base, 0, 0)), kind)
    m, n = top.shape[0] - 1, base.shape[0] - 1
    parts: list[TensorBase] = []
    for nr in range(m - n + 1):
        part = F.mul(scale, F.select(rest, 0, nr))
        parts.append(part)
        taken: list[TensorBase] = [F.mul(divisor, part)]
        if nr:
            taken.insert(0, fresh(making.zeros(nr, kind)))
        if m - n - nr:
            taken.append(fresh(making.zeros(m - n - nr, kind)))
        rest = F.sub(rest, F.cat(taken, 0))
    quotient = as_array(F.stack(parts)) if parts else fresh(making.zeros(1, kind))
    if not rest._impl.key_set:
        values = value_of(rest)
        count = 0
        while count < m and np.allclose(values[count], 0, rtol=1e-14):
            count += 1
        rest = F.slice(rest, 0, count, None)
    return quotient, as_array(rest)


@function
def poly(seq_of_zeros: ArrayLike) -> ndarray:
    """The polynomial that has given roots and the leading coefficient 1.

    Parameters
    ----------
    seq_of_zeros : array_like
        The roots. A square matrix stands for its eigenvalues.

    Returns
    -------
    ndarray
        The coefficients, the highest power first; real if the roots are pairs of conjugates.

    Raises
    ------
    LinAlgError
        If a matrix has a derivative, and its eigenvalues have none: see `linalg.eigvals`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.poly(np.array([1.0, 2.0]))
    array([ 1., -3.,  2.])
    """
    if not any_differentiated(seq_of_zeros):
        return on_values(np.poly, seq_of_zeros)
    zeros = _coefficients(seq_of_zeros)
    shape = zeros.shape
    if len(shape) == 2 and shape[0] == shape[1] and shape[0]:
        zeros = eigvals(zeros)
    elif len(shape) != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if not shape[0]:
        return typing.cast("ndarray", 1.0)
    kind: NumpyDType = np.dtype(np.mintypecode(zeros.dtype.char))
    zeros = cast(zeros, kind)
    end = fresh(making.zeros(1, kind))
    found: TensorBase = fresh(making.ones(1, kind))
    for nr in range(shape[0]):
        longer = F.mul(F.cat([end, found], 0), F.select(zeros, 0, nr))
        found = F.sub(F.cat([found, end], 0), longer)
    if kind.kind == "c" and not zeros._impl.key_set:
        values = value_of(zeros)
        if np.all(np.sort(values) == np.sort(values.conj())):
            found = F.real(found)
    return as_array(found)


@function
def roots(p: ArrayLike) -> ndarray:
    """The roots of a polynomial.

    Their derivatives, of any order, are those of the implicit function.

    Parameters
    ----------
    p : array_like
        The coefficients, the highest power first.

    Returns
    -------
    ndarray
        The roots, complex if one of them is.

    Raises
    ------
    NotSupportedError
        If `p` has a derivative, and two roots are so near to each other that they have none.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.roots(np.array([1.0, -3.0, 2.0]))
    array([2., 1.])
    """
    if not any_differentiated(p):
        return on_values(np.roots, _given(p))
    given = _coefficients(p)
    values = value_of(given)
    places = np.roots(values)
    if not places.size:
        return fresh(places)
    powers = making.arange(values.size - 1, 0, -1)
    slopes = np.abs(np.polyval(values[:-1] * powers, places))
    sizes = np.polyval(np.abs(values[:-1]) * powers, np.abs(places))
    # The square root of the precision is how near two roots of one double root are found.
    least = 4 * np.sqrt(np.finfo(places.dtype).eps)
    if (slopes <= least * sizes).any():
        raise NotSupportedError(
            f"the roots {places[slopes <= least * sizes]} are multiple, or too near to another "
            "root to tell: they have no derivative. Pass p.detach() where no gradient is wanted"
        )
    return as_array(_Roots.apply(cast(given, places.dtype), fresh(places)))


class _Roots(Function):
    """Simple roots as a function of the coefficients: at p(r) = 0, dr = -(r**k dp_k) / p'(r).

    The roots are saved as results, so that the derivative of this is recorded by the roots too.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(coefficients: Tensor, places: Tensor) -> Tensor:
        return places.clone()

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[object, ...], output: object) -> None:
        coefficients, _ = typing.cast("tuple[Tensor, Tensor]", inputs)
        found = typing.cast("Tensor", output)
        ctx.save_for_backward(coefficients, found)
        ctx.save_for_forward(coefficients, found)

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor, None]:
        shares = _shares_of_coefficients(*ctx.saved_tensors)
        return -F.matmul(F.conj(shares), grad), None

    @staticmethod
    def jvp(ctx: FunctionCtx, tangent: Tensor, _: Tensor | None) -> Tensor:
        return -F.matmul(tangent, _shares_of_coefficients(*ctx.saved_tensors))


def _shares_of_coefficients(coefficients: TensorBase, found: TensorBase) -> ndarray:
    """r**k / p'(r) for each root, in columns; the highest power first."""
    degree = coefficients._impl.array.shape[0] - 1
    factors = fresh(making.arange(degree, 0, -1).astype(coefficients._impl.array.dtype))
    derivative = F.mul(F.slice(coefficients, 0, 0, degree), factors)
    slopes = horner(as_array(derivative), as_array(found))
    powers = [F.ones_like(found)]
    for _ in range(degree):
        powers.append(F.mul(powers[-1], found))
    return as_array(F.true_divide(F.stack(powers[::-1]), slopes))
