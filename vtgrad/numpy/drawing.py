"""Random arrays of NumPy as arrays of the namespace, with derivatives by location and scale.

Note [Derivatives of random numbers]

A number of the normal distribution is the mean plus the deviation times a number of the standard
one, and so on for the distributions in `_STANDARD`: by these parameters samples have derivatives,
and are what NumPy draws. Where there is no such form, as for the binomial distribution, a parameter
that carries a derivative is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.index import getitem
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import as_array, fresh, is_differentiated, is_keyed, of, result
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.write import store
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["choice", "draw", "permutation", "permuted", "shuffle"]

# NumPy's generators, the old and the new.
Source: TypeAlias = Any

_Transform: TypeAlias = Callable[[TensorBase, Sequence[TensorBase]], TensorBase]


def _located(sample: TensorBase, parameters: Sequence[TensorBase]) -> TensorBase:
    location, scale = parameters
    return F.add(location, F.mul(scale, sample))


def _between(sample: TensorBase, parameters: Sequence[TensorBase]) -> TensorBase:
    low, high = parameters
    return F.add(low, F.mul(F.sub(high, low), sample))


def _scaled(sample: TensorBase, parameters: Sequence[TensorBase]) -> TensorBase:
    return F.mul(parameters[0], sample)


def _exponentiated(sample: TensorBase, parameters: Sequence[TensorBase]) -> TensorBase:
    return F.exp(_located(sample, parameters))


# For each distribution its parameters with their defaults, the standard one that is drawn, and what
# becomes of its sample.
_STANDARD: Final[dict[str, tuple[dict[str, float], str, _Transform]]] = {
    "normal": ({"loc": 0.0, "scale": 1.0}, "normal", _located),
    "laplace": ({"loc": 0.0, "scale": 1.0}, "laplace", _located),
    "logistic": ({"loc": 0.0, "scale": 1.0}, "logistic", _located),
    "gumbel": ({"loc": 0.0, "scale": 1.0}, "gumbel", _located),
    "lognormal": ({"mean": 0.0, "sigma": 1.0}, "normal", _exponentiated),
    "uniform": ({"low": 0.0, "high": 1.0}, "uniform", _between),
    "exponential": ({"scale": 1.0}, "exponential", _scaled),
    "rayleigh": ({"scale": 1.0}, "rayleigh", _scaled),
}


def draw(source: Source, name: str, args: Sequence[object], options: Mapping[str, object]) -> Any:
    """What a method of a generator of NumPy's draws, as an array of the namespace.

    Parameters
    ----------
    source : numpy.random.Generator or numpy.random.RandomState
        What draws, or an object with functions of these names.
    name : str
        The method.
    args, options
        Its arguments.

    Raises
    ------
    NotSupportedError
        If samples have no derivative by a parameter that carries one.
    """
    given = dict(options)
    out = given.pop("out", None)
    if any_differentiated(list(args), given):
        return _with_derivative(source, name, args, given)
    if isinstance(out, TensorBase):
        # NumPy draws into an array of its own.
        own = making.empty_like(out._impl.array)
        on_values(getattr(source, name), *args, out=own, **given)
        return store(out, fresh(own))
    if out is not None:
        on_values(getattr(source, name), *args, out=out, **given)
        return out
    return on_values(getattr(source, name), *args, **given)


@cache
def _probe(is_new: bool) -> Source:
    """A generator of numbers that are not used."""
    return np.random.default_rng(0) if is_new else np.random.RandomState(0)


def _with_derivative(
    source: Source, name: str, args: Sequence[object], options: Mapping[str, object]
) -> ndarray:
    if name not in _STANDARD:
        raise NotSupportedError(
            f"numbers of random.{name} have no derivative by its parameters; pass x.detach()"
        )
    defaults, standard, transform = _STANDARD[name]
    names = (*defaults, "size")
    given = {**defaults, "size": None, **dict(zip(names, args, strict=False)), **options}
    size: Any = given.pop("size")
    parameters = [of(given[key], np.dtype(np.float64)) for key in defaults]
    if not any(is_keyed(x) for x in parameters):
        # NumPy says what is wrong with the parameters.
        on_values(getattr(_probe(isinstance(source, np.random.Generator)), name), *parameters, size)
    shape = np.broadcast_shapes(*[x._impl.array.shape for x in parameters])
    sample = getattr(source, standard)(size=shape if size is None else size)
    found = transform(of(making.asarray(sample)), parameters)
    if size is not None and found._impl.array.shape != np.shape(sample):
        raise ValueError(f"Output size {size} is not compatible with the shape {shape}")
    return result(found)


def permutation(source: Source, x: object, axis: int = 0) -> ndarray:
    """The parts of an array along an axis in a random order; the numbers below an integer."""
    more = () if axis == 0 else (axis,)
    array = of(x) if isinstance(x, (list, tuple)) else x
    if not isinstance(array, TensorBase) or not is_differentiated(array):
        return on_values(source.permutation, array, *more)
    count = array._impl.array.shape[axis]
    return as_array(F.index_select(array, axis, fresh(source.permutation(count))))


def shuffle(source: Source, x: Any, axis: int = 0) -> None:
    """Put the parts of an array along an axis in a random order, in place; recorded."""
    more = () if axis == 0 else (axis,)
    if not isinstance(x, TensorBase):
        source.shuffle(x, *more)
        return
    shape = x._impl.array.shape
    # NumPy puts the number of each part in order.
    if not shape:
        raise TypeError("an array without axes has no parts to put in order")
    count = shape[axis]
    placed = np.moveaxis(making.empty(shape, np.intp), axis, -1)
    placed[...] = making.arange(count)
    placed = np.moveaxis(placed, -1, axis)
    source.shuffle(placed, *more)
    if not placed.size:
        return
    order = np.moveaxis(placed, axis, 0).reshape(count, -1)[:, 0]
    store(x, as_array(F.index_select(F.clone(x), axis, fresh(order.copy()))))


def permuted(source: Source, x: Any, axis: int | None = None, out: Any = None) -> ndarray:
    """The elements along an axis in random orders, one for each line; of all if there is none."""
    array = of(x)
    positions = making.arange(array._impl.array.size).reshape(array._impl.array.shape)
    moved = source.permuted(positions, axis=axis)
    flat = F.reshape(array, -1)
    found = as_array(F.reshape(F.index_select(flat, 0, fresh(moved.ravel())), moved.shape))
    if isinstance(out, (TensorBase, np.ndarray)):
        return store(out, found)
    return found


def choice(source: Source, a: object, *args: object, **options: object) -> Any:
    """Random parts of an array along an axis; of the numbers below an integer."""
    if any_differentiated(list(args), options):
        raise NotSupportedError("random.choice has no derivative by the probabilities")
    array = of(a) if isinstance(a, (list, tuple)) and any_differentiated(a) else a
    if not isinstance(array, TensorBase) or not is_differentiated(array):
        return on_values(source.choice, array, *args, **options)
    names = ("size", "replace", "p", "axis", "shuffle")
    given = {**dict(zip(names, args, strict=False)), **options}
    axis: Any = given.pop("axis", 0)
    if not array._impl.array.ndim:
        raise ValueError("a cannot be empty unless no samples are taken")
    places: Any = on_values(source.choice, array._impl.array.shape[axis], **given)
    index = (*(slice(None),) * (axis % array._impl.array.ndim), places)
    return getitem(array, index if isinstance(places, TensorBase) else (*index[:-1], int(places)))
