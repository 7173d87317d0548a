"""Batches of the operators' samples, and what one call for each sample gives."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

import vtgrad as vt
from tests.ops.calls import Case, arguments_of, function_named, results_of
from vtgrad.storage.arrays import Array

__all__ = ["BATCH", "Place", "batch_of", "call_with", "places_of", "stacked_loop", "value_at"]

# Where an array is among the arguments: a position or keyword, and a position in a list.
Place: TypeAlias = tuple[int | str, int | None]

BATCH = 3


def places_of(case: Case) -> list[Place]:
    """Where a sample has arrays, indices and masks too."""
    found: list[Place] = []
    given: list[tuple[int | str, object]] = [
        *enumerate(case.sample.arguments),
        *case.sample.options.items(),
    ]
    for position, value in given:
        if isinstance(value, list):
            found += [(position, nr) for nr, x in enumerate(value) if isinstance(x, np.ndarray)]
        elif isinstance(value, np.ndarray):
            found.append((position, None))
    return found


def value_at(case: Case, place: Place) -> Array:
    """The array at a place."""
    position, nr = place
    value = (
        case.sample.options[position]
        if isinstance(position, str)
        else case.sample.arguments[position]
    )
    array: Array = value if nr is None else value[nr]  # type: ignore[assignment, index]  # arrays, and lists of them
    return array


def batch_of(case: Case, place: Place) -> Array:
    """The array, and others with its elements in another order, which lie in the same domain."""
    array = value_at(case, place)
    samples = [np.roll(array.reshape(-1), nr).reshape(array.shape) for nr in range(BATCH)]
    stacked: Array = np.stack(samples)
    return stacked


def call_with(
    case: Case, name: str, places: Sequence[Place], tensors: Sequence[vt.Tensor]
) -> Sequence[vt.Tensor]:
    """Call the operator with tensors in some places, and the sample's arrays in all others."""
    values, options = arguments_of(case)
    for (position, nr), x in zip(places, tensors, strict=True):
        if isinstance(position, str):
            options[position] = x
        elif nr is None:
            values[position] = x
        else:
            listed = values[position]
            assert isinstance(listed, list)
            listed[nr] = x
    return results_of(function_named(name)(*values, **options))


def stacked_loop(
    apply: Callable[..., Sequence[vt.Tensor]], batches: Sequence[vt.Tensor]
) -> list[vt.Tensor]:
    """The results of one call for each sample, stacked."""
    found = [apply(*[batch[nr].clone() for batch in batches]) for nr in range(BATCH)]
    return [vt.stack(list(parts)) for parts in zip(*found, strict=True)]
