"""Which steps are loops that C can run without NumPy's dispatch, and how.

Note [Steps in C]

The executor in C runs a step as NumPy's own loop of a ufunc, or as a copy, on addresses in the
arena. A step is given to it only if NumPy would compute each element with the same loop and with
the same operands, or if the order cannot matter, see Note [Order of loops]. All else is a call of
Python there, the same as in the table: functions that are no ufuncs, operands that are cast or not
aligned, results that overlap an operand elsewhere, and dtypes that are no numbers.

The loops of the lists below raise no error and need nothing of Python, so that they can run without
the global lock. Integers to a power raise errors, and are left out.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from vtgrad.jit.effects import PRODUCTS, copied, extent
from vtgrad.jit.memory import EXACT
from vtgrad.jit.nests import Nest, are_apart, is_distinct, nest, one_loop, spread, sum_nest
from vtgrad.jit.steps import Fixed, Place, Step
from vtgrad.storage.arrays import NumpyDType, Shape

__all__ = ["MANY", "NO_UFUNC", "Copy", "Form", "Loop", "Part", "initial_of", "parts_of"]

_ONE_LOOP: Final = (
    frozenset(
        getattr(np, name)
        for name in """
    absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt ceil conjugate copysign cos
    cosh deg2rad exp exp2 expm1 fabs floor fmax fmin heaviside hypot log log10 log1p log2 logaddexp
    logaddexp2 maximum minimum positive rad2deg reciprocal rint sign sin sinh tan tanh trunc
    """.split()
    )
    | EXACT
)
# Their loops over integers raise errors.
_OF_FLOATS: Final = frozenset({np.power, np.float_power, np.reciprocal})
_NUMBERS: Final = "?bBhHiIlLqQefdgFDG"


class Loop(NamedTuple):
    """A loop of a ufunc: `dimensions` and `inner` are what NumPy gives to it."""

    ufunc: np.ufunc
    types: Shape
    sizes: Shape
    steps: tuple[Shape, ...]
    dimensions: Shape
    inner: Shape


class Copy(NamedTuple):
    """Elements of so many bytes, copied from the second operand to the first."""

    item: int
    sizes: Shape
    steps: tuple[Shape, ...]
    length: int
    inner: Shape


Form: TypeAlias = Loop | Copy


class Part(NamedTuple):
    """A form, and which operands it takes: numbers of places, or -1 for an initial value.

    Attributes
    ----------
    form : Loop or Copy
        What is done.
    operands : tuple of int
        Numbers of the places that are given to `parts_of`.
    initial : tuple of (ufunc, dtype) or None
        Whose initial value -1 stands for.
    """

    form: Form
    operands: Shape
    initial: tuple[np.ufunc, NumpyDType] | None = None


# Why a step is a call of Python.
CAST: Final = "an operand is cast"
EMPTY: Final = "an operand is empty, not aligned, of another byte order, or no number"
GAPS: Final = "the operands have gaps, and this function may round otherwise in several loops"
KEYWORDS: Final = "it has keywords"
MANY: Final = "it has a list of arrays, several results, or more than three operands"
NOT_LISTED: Final = "its loops are not known to be independent of Python and of the order"
NO_COPY: Final = "it writes by indices, or converts what it writes"
NO_UFUNC: Final = "it is no ufunc"
ORDER: Final = "the order of its sum depends on more than the strides"
OVERLAP: Final = "its result overlaps an operand, or itself"


def parts_of(step: Step, places: tuple[Place, ...]) -> tuple[Part, ...] | str:
    """How C runs a step; a sentence that says why, if it is a call of Python.

    Parameters
    ----------
    step : Step
        What is run.
    places : tuple of Place
        The places of its inputs and outputs, in this order, with offsets into the arena. It has
        no other operands, but for fixed keywords and the axes of a reduction.
    """
    function = step.function
    owner = getattr(function, "__self__", None)
    is_sum = owner is np.add and function.__name__ == "reduce"
    if step.writes:
        if copied(step) is None and not _is_spread_copy(step):
            return NO_COPY
    elif not isinstance(function, np.ufunc) and not is_sum and copied(step) is None:
        return NO_UFUNC
    if not all(_is_plain(place) for place in places):
        return EMPTY
    if step.writes:
        return _copy(places, (0, 1))
    if not isinstance(function, np.ufunc):
        return _sum(step, places) if is_sum else _copy(places, (1, 0))
    if step.keywords:
        return KEYWORDS
    if len(step.outputs) != 1 or len(places) != function.nargs:
        return MANY
    if function in PRODUCTS:
        return _product(function, places)
    return _elementwise(function, places)


def _is_spread_copy(step: Step) -> bool:
    """Whether a step assigns an array of the same dtype and another shape to all elements."""
    if len(step.inputs) != 3 or not step.writes or step.outputs:
        return False
    target, key, source = step.inputs
    if not isinstance(key, Fixed) or key.value is not ... or not isinstance(source, Place):
        return False
    return isinstance(target, Place) and target.dtype == source.dtype


def _is_plain(place: Place) -> bool:
    """Whether the elements of a place can be given to a loop."""
    dtype = place.dtype
    if dtype.char not in _NUMBERS or not dtype.isnative or 0 in place.shape:
        return False
    if dtype.metadata is not None:
        return False
    alignment = dtype.alignment
    return place.offset % alignment == 0 and not any(s % alignment for s in place.strides)


def _types(ufunc: np.ufunc, places: tuple[Place, ...]) -> Shape | None:
    return _types_of(ufunc, tuple([place.dtype for place in places]))


@cache
def _types_of(ufunc: np.ufunc, dtypes: tuple[NumpyDType, ...]) -> Shape | None:
    """The type numbers of the loop that NumPy takes, if no operand is cast for it."""
    try:
        found = ufunc.resolve_dtypes(dtypes)
    except (TypeError, ValueError):
        return None
    if any(a.num != b.num for a, b in zip(found, dtypes, strict=True)):
        return None
    signature = "".join(x.char for x in dtypes[: ufunc.nin]) + "->" + dtypes[-1].char
    if signature not in ufunc.types:
        return None
    return tuple([x.num for x in found])


def _meets_nothing(out: Place, inputs: list[tuple[Place, Shape]]) -> bool:
    """Whether each operand shares no byte with the result, or lies where it lies."""
    bytes_of_out = extent(out)
    for place, strides in inputs:
        if place.offset == out.offset and place.dtype.itemsize == out.dtype.itemsize:
            large = [i for i, size in enumerate(out.shape) if size > 1]
            if all(strides[i] == out.strides[i] for i in large):
                continue
        if not are_apart(extent(place), bytes_of_out):
            return False
    return True


def _elementwise(ufunc: np.ufunc, places: tuple[Place, ...]) -> tuple[Part, ...] | str:
    out = places[-1]
    if ufunc not in _ONE_LOOP:
        if ufunc not in _OF_FLOATS or places[0].dtype.kind not in "fc":
            return NOT_LISTED
    types = _types(ufunc, places)
    strides = _spread_all(places, out.shape)
    if types is None or strides is None:
        return CAST
    if not is_distinct(out.shape, out.strides, out.dtype.itemsize):
        return OVERLAP
    if not _meets_nothing(out, list(zip(places[:-1], strides[:-1], strict=True))):
        return OVERLAP
    loops: Nest | None
    if ufunc in EXACT and all(place.dtype.kind != "c" for place in places):
        loops = nest(out.shape, strides, len(places) - 1)
    else:
        lone = all(size == 1 for size in out.shape)
        if lone and not all(are_apart(extent(x), extent(out)) for x in places[:-1]):
            return OVERLAP
        loops = one_loop(places)
    if loops is None:
        return GAPS
    return (Part(_loop(ufunc, types, loops), tuple(range(len(places)))),)


def _spread_all(places: tuple[Place, ...], shape: Shape) -> tuple[Shape, ...] | None:
    """The strides of all operands, broadcast to a shape; None if one has another shape."""
    found = [spread(place, shape) for place in places]
    strides = tuple([x for x in found if x is not None])
    return strides if len(strides) == len(places) else None


def _loop(ufunc: np.ufunc, types: Shape, loops: Nest) -> Loop:
    return Loop(ufunc, types, loops.sizes, loops.steps, (loops.length,), loops.inner)


def _copy(places: tuple[Place, ...], operands: Shape) -> tuple[Part, ...] | str:
    target, source = [places[i] for i in operands]
    strides = spread(source, target.shape)
    item = target.dtype.itemsize
    if strides is None:
        return NO_COPY
    if not is_distinct(target.shape, target.strides, item):
        return OVERLAP
    if not are_apart(extent(target), extent(source)):
        return OVERLAP
    loops = nest(target.shape, (target.strides, strides), 0)
    if loops is None:
        return MANY
    return (Part(Copy(item, loops.sizes, loops.steps, loops.length, loops.inner), operands),)


def _core_sizes(
    places: tuple[Place, ...], cores: list[list[str]]
) -> tuple[dict[str, int], list[Shape], list[Shape], list[Shape]] | None:
    """Sizes by name, and for each operand core strides, outer shape and outer strides."""
    sizes: dict[str, int] = {}
    inner: list[Shape] = []
    shapes: list[Shape] = []
    outer: list[Shape] = []
    for place, names in zip(places, cores, strict=True):
        if len(place.shape) < len(names):
            return None
        cut = len(place.shape) - len(names)
        shapes.append(place.shape[:cut])
        outer.append(place.strides[:cut])
        strides: list[int] = []
        for name, size, stride in zip(names, place.shape[cut:], place.strides[cut:], strict=True):
            if sizes.setdefault(name, size) != size:
                return None
            # As NumPy has it, so that a size of 1 could be broadcast.
            strides.append(0 if size == 1 else stride)
        inner.append(tuple(strides))
    return sizes, inner, shapes, outer


@cache
def _signature(ufunc: np.ufunc) -> tuple[list[list[str]], list[str]]:
    """The names of the core dimensions of each operand, and all names in their order."""
    signature = ufunc.signature
    assert signature is not None
    cores = [re.findall(r"\w+", part) for part in re.findall(r"\([^)]*\)", signature)]
    return cores, list(dict.fromkeys(name for core in cores for name in core))


def _product(ufunc: np.ufunc, places: tuple[Place, ...]) -> tuple[Part, ...] | str:
    types = _types(ufunc, places)
    cores, names = _signature(ufunc)
    found = _core_sizes(places, cores)
    if types is None:
        return CAST
    if found is None:
        return NOT_LISTED
    sizes, inner, shapes, outer = found
    out = places[-1]
    around = tuple([_outer(*x) for x in zip(places, shapes, outer, strict=True)])
    strides = _spread_all(around, shapes[-1])
    if strides is None:
        return NOT_LISTED
    if not is_distinct(out.shape, out.strides, out.dtype.itemsize):
        return OVERLAP
    if not all(are_apart(extent(x), extent(out)) for x in places[:-1]):
        return OVERLAP
    loops = nest(shapes[-1], strides, len(places) - 1)
    if loops is None:
        return MANY
    dimensions = (loops.length, *[sizes[name] for name in names])
    steps = tuple([step for core in (loops.inner, *inner) for step in core])
    form = Loop(ufunc, types, loops.sizes, loops.steps, dimensions, steps)
    return (Part(form, tuple(range(len(places)))),)


def _outer(place: Place, shape: Shape, strides: Shape) -> Place:
    return Place(place.buffer, place.dtype, shape, strides, place.offset)


def _sum(step: Step, places: tuple[Place, ...]) -> tuple[Part, ...] | str:
    if len(places) != 2:
        return MANY
    place, out = places
    axes = _axes(step, len(place.shape))
    if axes is None:
        return KEYWORDS
    types = _types(np.add, (place, place, out))
    if types is None or place.dtype.char not in "fdFDlqLQ":
        return CAST
    if not is_distinct(out.shape, out.strides, out.dtype.itemsize):
        return OVERLAP
    if not are_apart(extent(place), extent(out)):
        return OVERLAP
    loops = sum_nest(place, out, axes)
    fill = nest(out.shape, (out.strides, (0,) * len(out.shape)), 0)
    if loops is None or fill is None:
        return ORDER
    copy = Copy(out.dtype.itemsize, fill.sizes, fill.steps, fill.length, fill.inner)
    return (
        Part(copy, (1, -1), (np.add, out.dtype)),
        Part(_loop(np.add, types, loops), (1, 0, 1)),
    )


def _axes(step: Step, dimensions: int) -> frozenset[int] | None:
    """The axes of a reduction; None if it has other arguments that matter."""
    names = ("axis", "dtype", "out", "keepdims")
    given: dict[str, object] = {}
    for name, operand in (*zip(names, step.inputs[1:], strict=False), *step.keywords):
        if not isinstance(operand, Fixed):
            return None
        given[name] = operand.value
    if given.pop("dtype", None) is not None or given.pop("out", None) is not None:
        return None
    given.pop("keepdims", None)
    axis = given.pop("axis", 0)
    if given:
        return None
    if axis is None:
        return frozenset(range(dimensions))
    found = axis if isinstance(axis, tuple) else (axis,)
    if not all(isinstance(x, int) for x in found):
        return None
    return frozenset(x % dimensions for x in found) if dimensions else frozenset()


@cache
def initial_of(ufunc: np.ufunc, dtype: NumpyDType) -> bytes:
    """The bytes that NumPy begins a sum with, which are of -0.0 or of 0.0."""
    lone = np.full(1, -0.0).astype(dtype)
    return np.asarray(ufunc.reduce(lone)).tobytes()
