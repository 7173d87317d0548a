"""Where the sets of an operand's elements go in a result, by the rules of the tables.

The function of a rule gets the sets of an operand, and returns an array that broadcasts to the
result: the sets that the operand contributes to each of its elements.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Final, SupportsIndex, cast

import numpy as np

from vtgrad.ops.rules.patterns.index_sets import EMPTY, IndexSets, IntArray
from vtgrad.storage import making
from vtgrad.storage.geometry import Geometry, normalize_dim

__all__ = ["contribution"]

Rule = Callable[[IndexSets, IntArray, Mapping[str, object], int], IntArray]


def contribution(
    sets: IndexSets,
    rule: str,
    number: int,
    ids: IntArray,
    arguments: Mapping[str, object],
    ndim: int,
) -> IntArray:
    """What an operand contributes to the elements of a result.

    Parameters
    ----------
    rule : str
        As in `Pattern`.
    number : int
        Which of the operands with a derivative it is; -1 for one without.
    ids : ndarray
        The sets of its elements.
    arguments : mapping of str to object
        The arguments of the operator by name.
    ndim : int
        The number of dimensions of the result.
    """
    if rule.startswith("memory "):
        source, target = rule.removeprefix("memory ").split(" -> ")
        return _through_memory(sets, ids, arguments[source], arguments[target])
    if "->" in rule:
        if number < 0:
            return _dense(sets, ids, arguments, ndim)
        operands, result = rule.split("->")
        return _lettered(sets, ids, operands.split(",")[number].strip(), result.strip())
    return _RULES[rule](sets, ids, arguments, ndim)


def _united_over(sets: IndexSets, ids: IntArray, axes: Sequence[int]) -> IntArray:
    """The unions along some dimensions, which stay with size 1."""
    kept = [dim for dim in range(ids.ndim) if dim not in axes]
    rows = ids.transpose([*kept, *axes])
    count = int(np.prod([ids.shape[dim] for dim in kept], dtype=np.int64))
    length = int(np.prod([ids.shape[dim] for dim in axes], dtype=np.int64))
    united = sets.unite_rows(rows.reshape(count, length))
    return united.reshape([1 if dim in axes else n for dim, n in enumerate(ids.shape)])


def _elementwise(
    sets: IndexSets, ids: IntArray, arguments: Mapping[str, object], ndim: int
) -> IntArray:
    return ids


def _dense(sets: IndexSets, ids: IntArray, arguments: Mapping[str, object], ndim: int) -> IntArray:
    return _united_over(sets, ids, range(ids.ndim)).reshape(())


def _reduction(
    sets: IndexSets, ids: IntArray, arguments: Mapping[str, object], ndim: int
) -> IntArray:
    dim = arguments.get("dim")
    given = dim if isinstance(dim, Sequence) else () if dim is None else (dim,)
    axes = [normalize_dim(_integer(one), ids.ndim) for one in given] if ids.ndim else []
    axes = axes or list(range(ids.ndim))
    united = _united_over(sets, ids, axes)
    return united if ndim == ids.ndim else united.squeeze(tuple(axes))


def _integer(value: object) -> int:
    assert isinstance(value, SupportsIndex)
    return operator.index(value)


def _axis(ids: IntArray, arguments: Mapping[str, object], ndim: int) -> int | None:
    """The dimension of the operand that is named, None if it has none or broadcasts along it."""
    dim = normalize_dim(_integer(arguments.get("dim", -1)), ndim) if ndim else 0
    axis = dim - ndim + ids.ndim
    return axis if axis >= 0 and ids.ndim else None


def _along_dim(
    sets: IndexSets, ids: IntArray, arguments: Mapping[str, object], ndim: int
) -> IntArray:
    dim = arguments.get("dim")
    if isinstance(dim, Sequence):
        return _united_over(sets, ids, [normalize_dim(_integer(one), ids.ndim) for one in dim])
    axis = _axis(ids, arguments, ndim)
    return ids if axis is None else _united_over(sets, ids, [axis])


def _cumulative(
    sets: IndexSets, ids: IntArray, arguments: Mapping[str, object], ndim: int
) -> IntArray:
    axis = _axis(ids, arguments, ndim)
    if axis is None:
        return ids
    result = ids.copy()
    steps = np.moveaxis(result, axis, 0)
    for nr in range(1, len(steps)):
        steps[nr] = sets.unite(steps[nr - 1], steps[nr])
    return result


def _across_dim(
    sets: IndexSets, ids: IntArray, arguments: Mapping[str, object], ndim: int
) -> IntArray:
    axis = _axis(ids, arguments, ndim)
    return _united_over(sets, ids, [dim for dim in range(ids.ndim) if dim != axis])


def _lettered(sets: IndexSets, ids: IntArray, own: str, result: str) -> IntArray:
    """The unions along the letters that the result does not have, in the result's order."""
    if len(own) == 2 and own[0] == own[1]:
        ids, own = ids.diagonal(), own[:1]
    # An operand that broadcasts may have fewer dimensions.
    own = own[len(own) - ids.ndim :]
    gone = [dim for dim, letter in enumerate(own) if letter not in result]
    ids = _united_over(sets, ids, gone).squeeze(tuple(gone))
    kept = [letter for letter in own if letter in result]
    ids = ids.transpose([kept.index(letter) for letter in result if letter in kept])
    return ids[tuple([slice(None) if letter in kept else None for letter in result])]


def _through_memory(sets: IndexSets, ids: IntArray, source: object, target: object) -> IntArray:
    """The unions of the operand's elements that are at one position of memory with the result's."""
    given, shown = _positions(source), _positions(target)
    if not given.size:
        return making.zeros(shown.shape, np.int64)
    memory, groups = np.unique(given, return_inverse=True)
    united = sets.unite_groups(ids.reshape(-1), groups.reshape(-1), memory.size)
    at = np.searchsorted(memory, shown)
    found = (at < memory.size) & (memory[np.minimum(at, memory.size - 1)] == shown)
    return np.where(found, united[np.where(found, at, 0)], EMPTY)


def _positions(geometry: object) -> IntArray:
    """The position in memory of each element of a geometry."""
    sizes, strides, offset = cast("Geometry", geometry)
    positions = making.full(sizes, offset, np.int64)
    for dim, stride in enumerate(strides):
        steps = making.arange(sizes[dim]) * stride
        positions += steps.reshape([-1 if d == dim else 1 for d in range(len(sizes))])
    return positions


_RULES: Final[Mapping[str, Rule]] = {
    "across dim": _across_dim,
    "along dim": _along_dim,
    "cumulative": _cumulative,
    "dense": _dense,
    "elementwise": _elementwise,
    "reads": _dense,
    "reduction": _reduction,
}
