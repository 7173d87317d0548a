# Compiled by mypyc.
"""Reading an index expression ``x[...]`` into steps.

An expression is converted to a *plan*: view steps first (select, slice, unsqueeze, alias), one for
each part that is an integer, a slice, None or a bool, then at most one advanced step with the index
arrays and masks. The caller applies the steps with the operators of the same names.

This module uses only the expression and the sizes; the caller passes a function that recognises
tensors, so the module is independent of the class. A 0-d integer tensor selects like an int.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Final, SupportsIndex, TypeAlias

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    IndexTypeError,
    OutOfRangeError,
)
from vtgrad.graph.sample_array import SampleArray
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Shape
from vtgrad.storage.warn import warn

__all__ = [
    "Alias",
    "IndexPlan",
    "Select",
    "Slice",
    "TUPLE_LIMIT",
    "Unsqueeze",
    "ViewStep",
    "parse_index",
    "warn_of_uint8_mask",
]


class Alias:
    """The whole tensor as a view: the meaning of ``x[...]``."""

    __slots__ = ()


class Select:
    """One index of a dimension, which disappears; `index` may be negative."""

    __slots__ = ("dim", "index")

    dim: int
    index: int

    def __init__(self, dim: int, index: int) -> None:
        self.dim = dim
        self.index = index


class Slice:
    """A range of a dimension. Bounds are as written, None if omitted."""

    __slots__ = ("dim", "start", "step", "stop")

    dim: int
    start: int | None
    stop: int | None
    step: int

    def __init__(self, dim: int, start: int | None, stop: int | None, step: int) -> None:
        self.dim = dim
        self.start = start
        self.stop = stop
        self.step = step


class Unsqueeze:
    """A new dimension of size 1."""

    __slots__ = ("dim",)

    dim: int

    def __init__(self, dim: int) -> None:
        self.dim = dim


ViewStep: TypeAlias = Alias | Select | Slice | Unsqueeze

AsArray: TypeAlias = Callable[[object], Array | None]
"""Gives a tensor's array, and None for anything that is not a tensor."""


class IndexPlan:
    """The steps of an index expression.

    Attributes
    ----------
    steps : list of ViewStep
        Applied in order; not empty if `indices` is.
    indices : list of (ndarray or None)
        The advanced step: one entry per dimension of the view, None for a whole dimension, trailing
        Nones left out. A mask is one entry for all the dimensions it covers.
    sources : list of object
        For each entry of `indices`, the tensor that it was passed as, or None.
    nothing : bool
        A write that writes nothing and does not count as one.
    """

    __slots__ = ("indices", "nothing", "sources", "steps")

    steps: list[ViewStep]
    indices: list[Array | None]
    sources: list[object]
    nothing: bool

    def __init__(
        self,
        steps: list[ViewStep],
        indices: list[Array | None],
        sources: list[object],
        nothing: bool = False,
    ) -> None:
        self.steps = steps
        self.indices = indices
        self.sources = sources
        self.nothing = nothing


# PyTorch treats a list with sequences or slices as a tuple if it is shorter than this.
TUPLE_LIMIT: Final = 32
_INT64: Final = np.dtype(np.int64)
_INT64_MAX: Final = 2**63 - 1
_ALIAS: Final = Alias()


def parse_index(
    expression: object, sizes: Shape, as_array: AsArray, write: bool = False
) -> IndexPlan:
    """The plan of ``x[expression]`` for a tensor of shape `sizes`.

    With `write`, the plan of ``x[expression] = value``: there a lone ``True`` is the whole tensor
    with a new dimension and a lone ``False`` writes nothing, while reading with either makes a
    copy.

    Raises
    ------
    OutOfRangeError
        If an integer is outside its dimension, there are more indices than dimensions, an index
        array is not of an integer type or bool, or the type of a part cannot index.
    ArgumentValueError
        If a slice's step is zero, or a nested list is ragged.
    ArgumentTypeError
        If a slice's bound is not an integer, or a part is a string.
    DTypeError
        If an item of a list is not a number.
    """
    if isinstance(expression, slice):
        # A full slice alone is a step too: ``x[:]`` is a slice, but ``x[:, :]`` is an alias.
        if not sizes:
            raise OutOfRangeError("a 0-d tensor has no dimension to slice", ndim=0)
        return IndexPlan([_slice_step(expression, 0)], [], [])
    if write and isinstance(expression, bool):
        return IndexPlan([Unsqueeze(0)], [], [], nothing=not expression)
    if type(expression) is tuple:
        plan = _plan_of_arrays(expression, sizes, as_array)
        return _Parser(sizes, expression, as_array).run() if plan is None else plan
    if type(expression) is list and sizes:
        listed = _array_of_integers(expression)
        if listed is not None:
            return IndexPlan([], [listed], [None])
    whole = as_array(expression)
    if whole is not None and whole.dtype == _INT64 and whole.ndim and sizes:
        return IndexPlan([], [whole], [expression])
    if whole is not None and whole.dtype == np.bool_ and 0 < whole.ndim <= len(sizes):
        return IndexPlan([], [whole], [expression])
    return _Parser(sizes, _parts(expression, as_array), as_array).run()


def _plan_of_arrays(parts: tuple[object, ...], sizes: Shape, as_array: AsArray) -> IndexPlan | None:
    """The plan of index arrays and whole dimensions; None for anything else among the parts."""
    if len(parts) > len(sizes):
        return None
    indices: list[Array | None] = []
    sources: list[object] = []
    count = 0
    for part in parts:
        if type(part) is slice:
            if not (part.start is None and part.stop is None and part.step is None):
                return None
            indices.append(None)
            sources.append(None)
            continue
        array = None if type(part) is int else as_array(part)
        if array is None or type(array) not in PLAIN:
            return None
        if array.dtype is not _INT64 or not array.ndim:
            return None
        indices.append(array)
        sources.append(part)
        count = len(indices)
    return IndexPlan([], indices[:count], sources[:count]) if count else None


def _array_of_integers(items: list[object]) -> Array | None:
    """The index array of a list of Python's integers; None for other lists."""
    for item in items:
        if type(item) is not int:
            return None
    array: Array = making.array(items)
    return array if array.dtype is _INT64 else None


def _parts(expression: object, as_array: AsArray) -> tuple[object, ...]:
    """The expression as a tuple of its parts."""
    if isinstance(expression, tuple):
        return expression
    if isinstance(expression, list) and len(expression) < TUPLE_LIMIT:
        for item in expression:
            if (
                item is None
                or item is Ellipsis
                or isinstance(item, slice | str | bytes | np.ndarray | Sequence)
                or as_array(item) is not None
            ):
                warn(
                    "a list that holds sequences, slices or tensors is read like a tuple when "
                    "it is an index; write x[tuple(parts)], or x[vt.tensor(parts)] if one index "
                    "array is meant"
                )
                return tuple(expression)
    return (expression,)


class _Parser:
    """Reads the parts in order; `dim` is the next dimension of the view built so far."""

    __slots__ = ("as_array", "dim", "found", "parts", "sizes", "skipped", "steps")

    sizes: list[int]
    parts: tuple[object, ...]
    as_array: AsArray
    steps: list[ViewStep]
    found: dict[int, tuple[Array, object]]
    dim: int
    skipped: int

    def __init__(self, sizes: Shape, parts: tuple[object, ...], as_array: AsArray) -> None:
        self.sizes = list(sizes)
        self.as_array = as_array
        self.steps = []
        self.found = {}
        self.dim = 0
        prepared: list[object] = []
        for part in parts:
            prepared.append(self._prepare(part))
        self.parts = tuple(prepared)
        named = sum(self._covers(part) for part in self.parts)
        self.skipped = len(sizes) - named
        if self.skipped < 0:
            raise OutOfRangeError(
                f"{named} indices are too many for a tensor with {len(sizes)} dimension(s)",
                ndim=len(sizes),
                count=named,
            )

    def run(self) -> IndexPlan:
        for position, part in enumerate(self.parts):
            self._take(part, position)
        indices: list[Array | None] = []
        sources: list[object] = []
        dim = 0
        last = max(self.found, default=-1)
        while dim <= last:
            if dim in self.found:
                array, source = self.found[dim]
                indices.append(array)
                sources.append(source)
                dim += array.ndim if array.dtype == np.bool_ else 1
            else:
                indices.append(None)
                sources.append(None)
                dim += 1
        if not self.steps and not indices:
            self.steps.append(_ALIAS)
        return IndexPlan(self.steps, indices, sources)

    def _prepare(self, part: object) -> object:
        """Lists become arrays, 0-d integer arrays become ints, other tensors stay."""
        if part is None or part is Ellipsis or isinstance(part, bool | int | slice):
            return part
        array = self.as_array(part)
        if array is None and isinstance(part, np.ndarray):
            array, part = _own_array(part), None
        elif array is None and isinstance(part, str | bytes):
            raise ArgumentTypeError(f"a tensor cannot be indexed with {part!r}", value=part)
        elif array is None and isinstance(part, Sequence):
            array, part = _array_of_list(part, self.as_array), None
        if array is None:
            return _integer(part)
        if array.ndim == 0 and array.dtype.kind in "iu" and array.dtype != np.uint8:
            # An integer for each sample of a batch stays an index array.
            if not isinstance(array, SampleArray):
                return int(array)
        return _checked(array), part

    def _covers(self, part: object) -> int:
        """The number of the tensor's dimensions that a part indexes."""
        if isinstance(part, tuple):
            array: Array = part[0]
            return array.ndim if array.dtype == np.bool_ else 1
        return 0 if part is None or isinstance(part, bool | EllipsisType) else 1

    def _take(self, part: object, position: int) -> None:
        if isinstance(part, bool):
            self._new_dim(making.zeros(int(part), np.int64))
        elif isinstance(part, int):
            self.steps.append(_select(part, self.dim, position, self.sizes))
            del self.sizes[self.dim]
        elif isinstance(part, slice):
            self._slice(part)
        elif part is None:
            self._new_dim(None)
        elif isinstance(part, EllipsisType):
            self.dim += self.skipped
        elif isinstance(part, tuple):
            self._array(*part)

    def _new_dim(self, index: Array | None) -> None:
        self.steps.append(Unsqueeze(self.dim))
        self.sizes.insert(self.dim, 1)
        if index is not None:
            self.found[self.dim] = index, None
        self.dim += 1

    def _slice(self, part: slice) -> None:
        step = _slice_step(part, self.dim)
        if self.dim >= len(self.sizes):  # after a second ellipsis
            raise OutOfRangeError(
                f"a slice speaks of dimension {self.dim}, but there are {len(self.sizes)}",
                dim=self.dim,
            )
        if not _is_full(step, self.sizes[self.dim]):
            self.steps.append(step)
        self.dim += 1

    def _array(self, array: Array, source: object) -> None:
        if array.ndim == 0 and array.dtype.kind in "bu":  # a bool, or a uint8 used as one
            self._new_dim(making.zeros(int(bool(array)), np.int64))
            return
        self.found[self.dim] = array, source
        # The shape of a mask is checked when it is used.
        self.dim += array.ndim if array.dtype == np.bool_ else 1


def _select(index: int, dim: int, position: int, sizes: Sequence[int]) -> Select:
    if not sizes:
        raise OutOfRangeError(
            "a 0-d tensor has no dimension to index; item() gives its value", index=index, ndim=0
        )
    if dim >= len(sizes):
        raise OutOfRangeError(
            f"index {index} speaks of dimension {dim}, but there are {len(sizes)}",
            index=index,
            dim=dim,
        )
    size = sizes[dim]
    if not -size <= index < size:
        raise _out_of_range(index, position, size)
    return Select(dim, index)


def _out_of_range(index: int, dim: int, size: int) -> OutOfRangeError:
    return OutOfRangeError(
        f"index {index} is outside dimension {dim} of size {size}", index=index, dim=dim, size=size
    )


def _is_full(step: Slice, size: int) -> bool:
    """Whether a slice takes the whole dimension."""
    return step.step == 1 and not step.start and (step.stop is None or step.stop >= size)


def _slice_step(part: slice, dim: int) -> Slice:
    start, stop, step = part.start, part.stop, part.step
    step = 1 if step is None else _bound(step)
    if step == 0:
        raise ArgumentValueError("a slice's step must not be zero", step=step)
    return Slice(
        dim,
        None if start is None else _bound(start),
        None if stop is None else _bound(stop),
        step,
    )


def _bound(value: SupportsIndex) -> int:
    if type(value) is int and -_INT64_MAX <= value <= _INT64_MAX:
        return value
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(
            f"a slice's bounds must be integers, got {type(value).__name__}", value=value
        ) from None
    return max(-_INT64_MAX, min(number, _INT64_MAX))


def _integer(part: object) -> int:
    """A part that is none of the known types, as an integer: NumPy's integers are."""
    if not isinstance(part, np.bool_) and hasattr(part, "__index__"):
        try:
            return operator.index(part)  # pyright: ignore[reportArgumentType]  # it has the method
        except TypeError:
            pass  # not an integer after all
    raise IndexTypeError(
        "a tensor can be indexed with integers, slices, `...`, None, bools, and lists, "
        f"arrays or tensors of integers or bools, not with {type(part).__name__}",
        value=part,
    )


def _array_of_list(part: Sequence[object], as_array: AsArray) -> Array:
    try:
        array: Array = making.array(_plain(part, as_array))
    except ValueError:
        raise ArgumentValueError(
            "a nested list used as an index must be rectangular", value=part
        ) from None
    return _own_array(array)


def _plain(item: object, as_array: AsArray) -> object:
    """A list in NumPy's form. Not an inner function: a recursive one is a reference cycle."""
    array = as_array(item)
    if array is not None:
        if isinstance(array, SampleArray):
            array.item()  # raises; NumPy would take the memory of the first sample
        return array
    if isinstance(item, str | bytes):
        raise ArgumentTypeError(f"a tensor cannot be indexed with {item!r}", value=item)
    if isinstance(item, Sequence):
        return [_plain(inner, as_array) for inner in item]
    if not isinstance(item, bool | int | float | complex | np.ndarray | np.generic):
        raise DTypeError(
            f"a list used as an index holds numbers only, not {type(item).__name__}",
            value=item,
        )
    return item


def _own_array(array: Array) -> Array:
    """A copy of a NumPy index array, so that the user cannot change it afterwards."""
    if array.dtype.kind == "b" or array.dtype == np.uint8:
        return array.copy()
    if array.dtype.kind in "iu" or array.size == 0:
        integers: Array = array.astype(_INT64)
        return integers
    return array


def warn_of_uint8_mask() -> None:
    """Warn that an index array of uint8 is read as a mask."""
    warn("a uint8 array used as an index is read as a mask; use bool for masks")


def _checked(array: Array) -> Array:
    """Refuse dtypes that do not index; a uint8 array is a mask, which is deprecated."""
    if array.dtype == np.uint8:
        if array.ndim:
            warn_of_uint8_mask()
        mask: Array = array != 0
        return mask
    if array.dtype in (np.int64, np.int32, np.bool_):
        return array
    raise OutOfRangeError(
        f"index arrays must be of int64, int32 or bool, not of {array.dtype}",
        found=array.dtype.name,
    )
