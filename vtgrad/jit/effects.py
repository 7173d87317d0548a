"""What a step reads and writes, and which bytes a place covers.

Note [Bytes of a place]

The passes know memory by intervals of bytes. A place covers the interval from its lowest to its
highest byte. It is dense if each byte of the interval belongs to exactly one element; only then a
write to the place leaves nothing of what was there before.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from types import MethodDescriptorType, ModuleType
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from vtgrad.jit.numpy_functions import values_give_shape
from vtgrad.jit.steps import Fixed, Operand, Place, Step, places_in

__all__ = [
    "Effect",
    "Effects",
    "Intervals",
    "Span",
    "copied",
    "effect_of",
    "extent",
    "is_dense",
    "is_elementwise",
    "is_pure",
    "may_raise",
    "span_of",
    "PRODUCTS",
]


# A buffer, the first byte, and the one after the last; see Note [Bytes of a place].
Span: TypeAlias = tuple[int, int, int]


class Effect(NamedTuple):
    """What one step does to memory.

    Attributes
    ----------
    reads : list of Place
        What it reads.
    writes : list of Place
        What it writes, outputs included.
    whole : bool
        Whether it writes each element of each place in `writes`.
    read_spans, write_spans : list of (int, int, int)
        The same as bytes of buffers.
    """

    reads: list[Place]
    writes: list[Place]
    whole: bool
    read_spans: list[Span]
    write_spans: list[Span]


# For how many steps an effect is kept.
_MOST_KEPT: Final = 20_000


class Effects:
    """The effects of steps, each found once, unless there are very many.

    They take a kilobyte for each step, several times as much as the step.
    """

    __slots__ = ("_known",)

    # By the identity of the step, which is held so that the identity stays its own.
    _known: dict[int, tuple[Step, Effect]]

    def __init__(self) -> None:
        self._known = {}

    def of(self, step: Step) -> Effect:
        """What a step reads and writes."""
        found = self._known.get(id(step))
        if found is not None:
            return found[1]
        effect = effect_of(step)
        if len(self._known) < _MOST_KEPT:
            self._known[id(step)] = (step, effect)
        return effect


def span_of(place: Place) -> Span:
    """The buffer of a place, and its bytes there."""
    low = high = place.offset
    shape, strides = place.shape, place.strides
    if not shape:
        return place.buffer, low, low + place.dtype.itemsize
    for i in range(len(shape)):
        size = shape[i]
        if not size:
            return place.buffer, place.offset, place.offset
        step = strides[i] * (size - 1)
        if step < 0:
            low += step
        else:
            high += step
    return place.buffer, low, high + place.dtype.itemsize


def extent(place: Place) -> tuple[int, int]:
    """The first byte and the one after the last; see Note [Bytes of a place]."""
    _, low, high = span_of(place)
    return low, high


def is_dense(place: Place) -> bool:
    """Whether each byte belongs to one element; see Note [Bytes of a place]."""
    expected = place.dtype.itemsize
    shape, strides = place.shape, place.strides
    if len(shape) == 1:
        return shape[0] <= 1 or strides[0] in (expected, -expected)
    # Most are in C order.
    for axis in range(len(shape) - 1, -1, -1):
        if strides[axis] != expected:
            break
        expected *= shape[axis]
    else:
        return True
    expected = place.dtype.itemsize
    for stride, size in sorted(zip(map(abs, strides), shape, strict=True)):
        if size > 1:
            if stride != expected:
                return False
            expected *= size
    return True


# The keys of an assignment to all elements.
_ALL: Final = (..., slice(None), ())


def _is_all(key: Operand) -> bool:
    """Whether an index means the whole array."""
    if not isinstance(key, Fixed):
        return False
    value = key.value
    return value is ... or (isinstance(value, (slice, tuple)) and value in _ALL)


def effect_of(step: Step) -> Effect:
    """What a step reads and writes."""
    reads: list[Place] = []
    for operand in step.inputs:
        if type(operand) is Place:
            reads.append(operand)
        elif type(operand) is not Fixed:
            reads.extend(places_in(operand))
    whole = True
    for name, operand in step.keywords:
        whole = whole and name != "where"
        if type(operand) is not Fixed:
            reads.extend(places_in(operand))
    writes: list[Place] = [*step.outputs, *step.writes]
    if step.writes:
        function = step.function
        # The target is the first place; these functions write it without reading it.
        if function in _ASSIGNMENTS:
            del reads[0]
            if function is operator.setitem:
                whole = _is_all(step.inputs[1])
            elif len(step.inputs) > 3:
                # The fourth argument of `copyto` says where.
                whole = False
        else:
            whole = False
    return Effect(reads, writes, whole, [span_of(x) for x in reads], [span_of(x) for x in writes])


_ASSIGNMENTS: Final = frozenset({operator.setitem, np.ndarray.fill, np.copyto})


def is_pure(function: Callable[..., object]) -> bool:
    """Whether calls with equal arguments do the same, and do nothing but write their results.

    Random draws are not pure, and a function that is not known is not.
    """
    if isinstance(function, np.ufunc) or function in (operator.setitem, operator.getitem):
        return True
    if isinstance(function, MethodDescriptorType):
        return function.__objclass__ is np.ndarray
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return True
    # Functions in C have their module as owner, and methods of generators have the generator.
    if owner is not None and not isinstance(owner, ModuleType):
        return False
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and module.split(".")[0] == "numpy" and "random" not in module


def may_raise(step: Step) -> bool:
    """Whether values may end a run at a step, so that it must run even if it is dead.

    They may give its result another shape. What may raise an error are integers to a power,
    decompositions, and whatever gets integers or bools beside an array, which may be indices or
    counts.
    """
    function = step.function
    if values_give_shape(function, step.inputs):
        return True
    if isinstance(function, np.ufunc):
        if function in (np.power, np.float_power):
            return all(x.dtype.kind in "biu" for x in step.outputs)
        return function.signature is not None and function not in PRODUCTS
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return function.__name__ not in ("reduce", "accumulate", "outer") or owner is np.power
    if "linalg" in (getattr(function, "__module__", None) or ""):
        return True
    beside = list(step.inputs[1:2] if function is operator.setitem else step.inputs[1:])
    beside += [x for name, x in step.keywords if name not in ("out", "where")]
    return any(place.dtype.kind in "biu" for x in beside for place in places_in(x))


# The generalised ufuncs that are products: of matrices, and of vectors in arrays.
PRODUCTS: Final = frozenset(
    getattr(np, name) for name in ("matmul", "vecdot", "matvec", "vecmat") if hasattr(np, name)
)


def is_elementwise(function: Callable[..., object]) -> bool:
    """Whether an element of the results depends on one element of each operand only."""
    return isinstance(function, np.ufunc) and function.signature is None


def copied(step: Step) -> tuple[Place, Place] | None:
    """Target and source of a step that copies an array to a place of the same dtype and shape."""
    function = step.function
    if function is operator.setitem:
        target, key, source = step.inputs
        if not _is_all(key):
            return None
    elif function in _COPIES and step.outputs:
        if len(step.outputs) != 1:
            return None
        target, source = step.outputs[0], step.inputs[0]
    else:
        return None
    if not isinstance(target, Place) or not isinstance(source, Place):
        return None
    if target.dtype != source.dtype or target.shape != source.shape:
        return None
    return target, source


# Their first argument is the array, and no other one changes a value.
_COPIES: Final = frozenset({np.ndarray.copy, np.copy, np.ascontiguousarray})


class Intervals:
    """A set of bytes, as sorted intervals that do not touch."""

    __slots__ = ("_bounds",)

    # Where the set begins and ends, in turns: an odd number of bounds below a byte means that the
    # byte is in the set.
    _bounds: list[int]

    def __init__(self) -> None:
        self._bounds = []

    def __bool__(self) -> bool:
        return bool(self._bounds)

    def add(self, low: int, high: int) -> None:
        """Add an interval."""
        if low < high:
            bounds = self._bounds
            i, j = bisect_left(bounds, low), bisect_right(bounds, high)
            bounds[i:j] = [low][i & 1 :] + [high][j & 1 :]

    def remove(self, low: int, high: int) -> None:
        """Take an interval out."""
        if low < high:
            bounds = self._bounds
            i, j = bisect_left(bounds, low), bisect_right(bounds, high)
            bounds[i:j] = [low][: i & 1] + [high][: j & 1]

    def meets(self, low: int, high: int) -> bool:
        """Whether a byte of an interval is in the set."""
        bounds = self._bounds
        i = bisect_right(bounds, low)
        return low < high and (bool(i & 1) or (i < len(bounds) and bounds[i] < high))

    def covers(self, low: int, high: int) -> bool:
        """Whether each byte of an interval is in the set."""
        bounds = self._bounds
        i = bisect_right(bounds, low)
        return low >= high or (bool(i & 1) and bounds[i] >= high)
