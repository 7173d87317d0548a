"""Filling arrays with random numbers.

The writers check their arguments before they draw: an error changes neither the array nor the
generator.
"""

from __future__ import annotations

import math
import operator
from typing import Final

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    NotSupportedError,
    ShapeError,
)
from vtgrad.generator import Generator, source_of
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.prepared_store import Store, copied
from vtgrad.storage.shapes import broadcast_shapes

__all__ = [
    "bernoulli",
    "bernoulli_number_",
    "bernoulli_tensor_",
    "cauchy_",
    "draw_choices",
    "draw_integers",
    "exponential_",
    "geometric_",
    "log_normal_",
    "normal_",
    "normal_tensors",
    "poisson",
    "random_between_",
    "random_below_",
    "random_any_",
    "uniform_",
]


# The dtype represents integers up to this value exactly.
_WHOLE: Final[dict[str, int]] = {"float16": 2**11, "float32": 2**24, "float64": 2**53}


def normal_(
    self: Array, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Store:
    """Fill with normal numbers; complex ones share the variance between both parts."""
    source = source_of(generator)
    _check_kind(self.dtype, "fc", "normal_")
    _check_deviation(std)
    center, scale = _real(mean, "mean"), float(_real(std, "std"))
    drawn = _standard_normal(source, self.shape, self.dtype) * scale + center
    return copied(self, drawn)


def normal_tensors(
    mean: Array | Number, std: Array | Number, *, generator: Generator | None = None
) -> Array:
    """Normal numbers, each with its own mean and deviation.

    Raises
    ------
    NotSupportedError
        If `mean` is not floating or complex, or `std` is complex or an integer.
    ShapeError
        If a deviation is negative.
    """
    source = source_of(generator)
    arrays = [x for x in (mean, std) if isinstance(x, np.ndarray)]
    for x in arrays:
        _check_kind(x.dtype, "fc" if x is mean else "f", "normal")
    _check_deviation(std)
    shape = broadcast_shapes(*[x.shape for x in arrays])
    dtype = arrays[0].dtype
    result: Array = making.asarray(_standard_normal(source, shape, dtype) * std + mean)
    return result.astype(dtype, copy=False)


def _standard_normal(source: np.random.Generator, shape: Shape, dtype: NumpyDType) -> Array:
    """Normal numbers of mean 0 and variance 1, in at least float32."""
    if dtype.kind == "c":
        # In a matrix, because NumPy's number of dimensions is limited.
        parts = source.standard_normal((2, math.prod(shape)))
        values: Array = making.asarray((parts[0] + 1j * parts[1]) * math.sqrt(0.5))
        return values.reshape(shape)
    if dtype == np.float64:
        return making.asarray(source.standard_normal(shape))
    return making.asarray(source.standard_normal(shape, np.float32))


def _check_deviation(std: Array | Number) -> None:
    # A comparison with NaN is false, so NaN is refused too. In arrays only negative values are
    # refused.
    fits = not (std < 0).any() if isinstance(std, np.ndarray) else _real(std, "std") >= 0
    if not fits:
        raise ShapeError("a standard deviation must not be negative", std=std)


def uniform_(
    self: Array, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None
) -> Store:
    """Fill with uniform random numbers from ``[from_, to)``.

    Raises
    ------
    ShapeError
        If `from_` is above `to`, or the dtype cannot hold one of them or their distance.
    """
    source = source_of(generator)
    _check_kind(self.dtype, "fc", "uniform_")
    low, high = _real(from_, "from_"), _real(to, "to")
    part = self.real.dtype
    limit = float(np.finfo(part).max)
    if not (-limit <= low <= limit and -limit <= high <= limit and high - low <= limit):
        raise ShapeError(f"[{low}, {high}) is more than {part.name} can hold", start=low, end=high)
    if low > high:
        raise ShapeError(f"uniform_ needs from_ <= to, not {low} and {high}", start=low, end=high)
    if self.dtype.kind == "c":
        parts = _uniform(source, (2, self.size), part, low, high)
        values: Array = making.empty(self.shape, self.dtype)
        values.real[...] = parts[0].reshape(self.shape)
        values.imag[...] = parts[1].reshape(self.shape)
    else:
        values = _uniform(source, self.shape, part, low, high)
    return copied(self, values)


def _uniform(
    source: np.random.Generator, shape: Shape, dtype: NumpyDType, low: float, high: float
) -> Array:
    """Numbers in ``[low, high)``; rounding must not reach `high`."""
    values = (source.random(shape) * (high - low) + low).astype(dtype)
    if low < high:
        start, end = making.asarray(low, dtype), making.asarray(high, dtype)
        values = np.maximum(np.minimum(values, np.nextafter(end, start)), start)
    result: Array = making.asarray(values)
    return result


def exponential_(self: Array, lambd: float = 1.0, *, generator: Generator | None = None) -> Store:
    """Fill with exponential numbers of rate `lambd`.

    Raises
    ------
    ShapeError
        If the rate is not positive.
    """
    source = source_of(generator)
    if self.dtype.kind != "f":
        raise DTypeError(f"exponential_ fills floating tensors, not {self.dtype.name}")
    rate = _real(lambd, "lambd")
    if not rate > 0:
        raise ShapeError(f"exponential_ needs a rate above 0, not {rate}", lambd=rate)
    return copied(self, making.asarray(source.standard_exponential(self.shape) / rate))


def cauchy_(
    self: Array, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None
) -> Store:
    """Fill with Cauchy random numbers of median `median` and scale `sigma`.

    Raises
    ------
    DTypeError
        If the tensor is not floating.
    ShapeError
        If the scale is not positive.
    """
    source = source_of(generator)
    if self.dtype.kind != "f":
        raise DTypeError(f"cauchy_ fills floating tensors, not {self.dtype.name}")
    center, scale = _real(median, "median"), _real(sigma, "sigma")
    if not scale > 0:
        raise ShapeError(f"cauchy_ needs a scale above 0, not {scale}", sigma=scale)
    return copied(self, making.asarray(source.standard_cauchy(self.shape) * scale + center))


def log_normal_(
    self: Array, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None
) -> Store:
    """Fill with exponentials of normal numbers.

    Raises
    ------
    NotSupportedError
        If the tensor is not floating.
    ShapeError
        If the deviation is not positive.
    """
    source = source_of(generator)
    center, scale = _real(mean, "mean"), _real(std, "std")
    if not scale > 0:
        raise ShapeError(f"log_normal_ needs a deviation above 0, not {scale}", std=scale)
    _check_kind(self.dtype, "f", "log_normal_")
    return copied(self, making.asarray(source.lognormal(center, scale, self.shape)))


# -- integers ---------------------------------------------------------------------------------


def random_between_(
    self: Array, from_: int, to: int, *, generator: Generator | None = None
) -> Store:
    """Fill with random integers from ``[from_, to)``.

    Raises
    ------
    ShapeError
        If the range is empty, or the dtype cannot hold the integers.
    """
    return copied(self, draw_integers(from_, to, self.shape, self.dtype, generator))


def random_below_(self: Array, to: int, *, generator: Generator | None = None) -> Store:
    """Fill with random integers from ``[0, to)``; see `random_between_`."""
    return random_between_(self, 0, to, generator=generator)


def random_any_(self: Array, *, generator: Generator | None = None) -> Store:
    """Fill with random integers from 0 up to the largest that the dtype represents exactly."""
    _check_kind(self.dtype, "biuf", "random_")
    if self.dtype.kind == "f":
        last = _WHOLE[self.dtype.name]
    else:
        last = 1 if self.dtype.kind == "b" else int(np.iinfo(self.dtype).max)
    return random_between_(self, 0, last + 1, generator=generator)


def geometric_(self: Array, p: float, *, generator: Generator | None = None) -> Store:
    """Fill with numbers of trials until the first success, which has probability `p`.

    Raises
    ------
    NotSupportedError
        If the tensor is bool or complex.
    ShapeError
        If the probability is not strictly between 0 and 1.
    """
    source = source_of(generator)
    chance = _real(p, "p")
    if not 0 < chance < 1:
        raise ShapeError(f"geometric_ needs a probability between 0 and 1, not {chance}", p=chance)
    _check_kind(self.dtype, "fiu", "geometric_")
    return copied(self, making.asarray(source.geometric(chance, self.shape)))


def draw_integers(
    low: int, high: int, shape: Shape, dtype: NumpyDType, generator: Generator | None
) -> Array:
    """Random integers from ``[low, high)`` as an array of `dtype`; see `random_between_`."""
    source = source_of(generator)
    _check_kind(dtype, "biuf", "random_")
    try:
        low, high = operator.index(low), operator.index(high)
    except TypeError:
        raise ArgumentTypeError(
            "the bounds of random integers are integers, not "
            f"{type(low).__name__} and {type(high).__name__}"
        ) from None
    if low >= high:
        raise ShapeError(f"there is no integer in [{low}, {high})", start=low, end=high)
    # Integers stay integers: a float does not represent the largest one of 64 bits.
    first: int | float
    last: int | float
    if dtype.kind == "f":
        limit = float(np.finfo(dtype).max)
        first, last = -limit, limit
    elif dtype.kind == "b":
        first, last = 0, 1
    else:
        first, last = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    widest = np.iinfo(np.int64)
    if not (first <= low and high - 1 <= last and widest.min <= low and high - 1 <= widest.max):
        raise ShapeError(f"[{low}, {high}) is more than {dtype.name} can hold", start=low, end=high)
    drawn = source.integers(low, high - 1, shape, np.int64, endpoint=True)
    return making.asarray(drawn).astype(dtype)


# -- Bernoulli numbers --------------------------------------------------------------------------


def bernoulli(self: Array, *, generator: Generator | None = None) -> Array:
    """1 with the probability given by each element, otherwise 0.

    Raises
    ------
    NotSupportedError
        If the probabilities are not floating.
    ShapeError
        If one is not between 0 and 1.
    """
    source = source_of(generator)
    _check_probabilities(self)
    return making.asarray(source.random(self.shape) < self).astype(self.dtype)


def bernoulli_number_(self: Array, p: float = 0.5, *, generator: Generator | None = None) -> Store:
    """Fill with 1 with probability `p`, otherwise 0."""
    source = source_of(generator)
    _check_kind(self.dtype, "biuf", "bernoulli_")
    chance = _real(p, "p")
    if not 0 <= chance <= 1:
        raise ShapeError(f"a probability lies between 0 and 1, {chance} does not", p=chance)
    return copied(self, making.asarray(source.random(self.shape) < chance))


def bernoulli_tensor_(self: Array, p: Array, *, generator: Generator | None = None) -> Store:
    """Fill with 1 with the probabilities `p`, which broadcast, otherwise 0."""
    source = source_of(generator)
    _check_kind(self.dtype, "biuf", "bernoulli_")
    _check_probabilities(p)
    if broadcast_shapes(self.shape, p.shape) != self.shape:
        raise ShapeError(
            f"probabilities of shape {list(p.shape)} do not broadcast to {list(self.shape)}",
            expected=self.shape,
            found=p.shape,
        )
    return copied(self, making.asarray(source.random(self.shape) < p))


def poisson(self: Array, *, generator: Generator | None = None) -> Array:
    """Counts of events that occur at the rate given by each element.

    Raises
    ------
    NotSupportedError
        If the rates are not floating.
    ShapeError
        If one is negative or NaN, or too large to draw.
    """
    source = source_of(generator)
    _check_kind(self.dtype, "f", "poisson")
    self = resolved(self)
    if not ((self >= 0) & (self <= _LARGEST_RATE)).all():
        raise ShapeError(f"a rate lies between 0 and {_LARGEST_RATE:.0e}, and one does not")
    return making.asarray(source.poisson(self)).astype(self.dtype)


# From here on counts would not fit 64 bits.
_LARGEST_RATE: Final = 9e18


def draw_choices(
    self: Array, count: int, replacement: bool, *, generator: Generator | None = None
) -> Array:
    """Numbers of elements along the last dimension, each chosen with a weight.

    Raises
    ------
    NotSupportedError
        If the weights are not floating.
    ShapeError
        If a weight is negative or not finite, or all weights of a row are zero.
    """
    source = source_of(generator)
    _check_kind(self.dtype, "f", "multinomial")
    self = resolved(self)
    if not (np.isfinite(self) & (self >= 0)).all():
        raise ShapeError("weights must be finite and not negative")
    weights = self.astype(np.float64)
    total = np.cumsum(weights, -1)
    if weights.size and not (total[..., -1] > 0).all():
        raise ShapeError("a row of weights has nothing that could be chosen")
    if replacement:
        shape = (*weights.shape[:-1], count)
        found: Array = making.empty(shape, np.int64)
        draws = source.random(shape)
        for index in np.ndindex(shape[:-1]):
            row = total[index]
            # What has no weight is never met: the place behind equal sums is taken.
            found[index] = np.searchsorted(row, draws[index] * row[-1], "right")
        return found
    # The first events of processes with these rates come in the order of such draws.
    waited = source.standard_exponential(weights.shape)
    with np.errstate(divide="ignore"):
        times = waited / weights
    chosen: Array = np.argsort(times, -1, kind="stable")[..., :count]
    return making.ascontiguousarray(chosen, np.int64)


def _check_probabilities(p: Array) -> None:
    _check_kind(p.dtype, "f", "bernoulli")
    # NaN fails both comparisons.
    if not ((p >= 0) & (p <= 1)).all():
        raise ShapeError("a probability lies between 0 and 1, and one does not")


# -- arguments ------------------------------------------------------------------------------------


def _check_kind(dtype: NumpyDType, kinds: str, name: str) -> None:
    if dtype.kind not in kinds:
        raise NotSupportedError(f"{name} is not defined for {dtype.name}", dtype=dtype.name)


def _real(value: object, name: str) -> float:
    if isinstance(value, (int, float, np.integer, np.floating)):
        try:
            return float(value)
        except OverflowError:
            raise ArgumentValueError(
                f"argument {name!r} holds a number that is too large", argument=name
            ) from None
    raise ArgumentTypeError(
        f"argument {name!r} must be a real number, not {type(value).__name__}", argument=name
    )
