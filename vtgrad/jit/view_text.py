"""A place in an array as the text of a view: slices where they are enough.

Offsets come as arrays with an axis for each loop around the line, since the view moves with the
repetitions: ``level[t + 1]``. What slices, `reshape` and `transpose` cannot say is the constructor
of `numpy.ndarray` with an offset and strides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vtgrad.jit.layout import c_strides
from vtgrad.jit.listing import Integers
from vtgrad.jit.literals import Imports, literal
from vtgrad.storage.arrays import NumpyDType, Shape

__all__ = ["Base", "Index", "view_text"]

# The text of an index that moves with the loops.
Index = Callable[[Integers], str]


@dataclass(frozen=True, slots=True)
class Base:
    """A named array, contiguous in C order."""

    text: str
    dtype: NumpyDType
    shape: Shape


@dataclass(frozen=True, slots=True)
class _Axis:
    """What a view takes of one axis of its base: an element, or a slice of some length and step."""

    start: Integers
    length: int = 0
    step: int = 1


def view_text(
    base: Base,
    dtype: NumpyDType,
    shape: Shape,
    strides: Shape,
    offsets: Integers,
    index: Index,
    imports: Imports,
) -> str:
    """The text of a view of an array.

    Parameters
    ----------
    base : Base
        The array.
    dtype, shape, strides
        The geometry of the view; strides are in bytes.
    offsets : array of int
        Where it begins, in bytes, in each repetition of the loops around it.
    index : callable
        Gives the text of an integer of which there is one for each repetition.
    imports : Imports
        Where names of NumPy go.

    Returns
    -------
    str
        An expression that is a view, also if it has no dimensions.
    """
    text = None
    seen = _seen_as(base, dtype, imports)
    if seen is not None:
        text = _turned(seen, shape, strides, offsets)
        if text is None:
            text = _sliced(seen, shape, strides, offsets, index, imports)
        if text is None:
            text = _reshaped(seen, shape, strides, offsets, index, imports)
    if text is not None:
        return text
    parts = [literal(shape, imports), literal(dtype, imports), base.text, index(offsets)]
    return f"{imports.name_of(np.ndarray)}({', '.join(parts)}, {literal(strides, imports)})"


def _seen_as(base: Base, dtype: NumpyDType, imports: Imports) -> Base | None:
    """The array with elements of another dtype; None if that needs more than a view."""
    if base.dtype == dtype:
        return base
    if not base.shape or dtype.hasobject or base.dtype.hasobject:
        return None
    last, rest = divmod(base.shape[-1] * base.dtype.itemsize, dtype.itemsize)
    if rest:
        return None
    return Base(f"{base.text}.view({literal(dtype, imports)})", dtype, (*base.shape[:-1], last))


def _turned(base: Base, shape: Shape, strides: Shape, offsets: Integers) -> str | None:
    """The transpose of the whole base."""
    steps = c_strides(base.shape, base.dtype.itemsize)[::-1]
    same = shape == base.shape[::-1] and len(shape) > 1 and not offsets.any()
    if same and all(n == 1 or a == b for n, a, b in zip(shape, strides, steps, strict=True)):
        return None if shape == base.shape and strides == steps[::-1] else f"{base.text}.T"
    return None


def _sliced(
    base: Base, shape: Shape, strides: Shape, offsets: Integers, index: Index, imports: Imports
) -> str | None:
    """The view as slices of its base, perhaps transposed, perhaps broadcast."""
    if (offsets % base.dtype.itemsize).any():
        return None
    steps = c_strides(base.shape, base.dtype.itemsize)
    starts = [offsets // step % size for step, size in zip(steps, base.shape, strict=True)]
    moving = [axis for axis, size in enumerate(shape) if size > 1 and strides[axis] != 0]
    ranges = [(int(start.min()), int(start.max())) for start in starts]

    def assign(rest: list[int], taken: tuple[int, ...]) -> tuple[int, ...] | None:
        """An axis of the base for each axis of the view that moves."""
        if not rest:
            return taken
        axis = rest[0]
        for number, size in enumerate(base.shape):
            step, remainder = divmod(strides[axis], steps[number])
            reach = step * (shape[axis] - 1)
            low, high = ranges[number]
            if number not in taken and not remainder:
                if low + min(reach, 0) >= 0 and high + max(reach, 0) < size:
                    found = assign(rest[1:], (*taken, number))
                    if found is not None:
                        return found
        return None

    chosen = assign(moving, ())
    if chosen is None:
        return None
    axes = [_Axis(start) for start in starts]
    for axis, number in zip(moving, chosen, strict=True):
        axes[number] = _Axis(starts[number], shape[axis], strides[axis] // steps[number])
    source = dict(zip(moving, chosen, strict=True))
    if list(chosen) == sorted(chosen):
        _take_ones(shape, strides, base.shape, axes, source)
    key = _key(base.shape, axes, shape, source, index)
    if key is None:
        return None
    text = base.text + key
    order = [source[axis] for axis in sorted(source)]
    if order != sorted(order):
        text += _transposed([sorted(order).index(number) for number in order])
        if len(source) < len(shape):
            text += (
                f"[{', '.join([':' if axis in source else 'None' for axis in range(len(shape))])}]"
            )
    if any(size > 1 and stride == 0 for size, stride in zip(shape, strides, strict=True)):
        text = f"{imports.name_of(np.broadcast_to)}({text}, {literal(shape, imports)})"
    return text


def _take_ones(
    shape: Shape, strides: Shape, sizes: Shape, axes: list[_Axis], source: dict[int, int]
) -> None:
    """Give axes of length 1 a free axis of the base: ``x[3:4]``, not ``x[3, None]``."""
    free = -1
    for axis, size in enumerate(shape):
        if axis in source:
            free = source[axis]
            continue
        if size != 1:
            continue
        limit = min([source[other] for other in source if other > axis], default=len(sizes))
        if free + 1 < limit:
            free += 1
            source[axis] = free
            axes[free] = _Axis(axes[free].start, 1)


def _key(
    sizes: Shape, axes: list[_Axis], shape: Shape, source: dict[int, int], index: Index
) -> str | None:
    """The subscript that takes a view's axes from its base; "" if it takes all."""
    order = [source[axis] for axis in sorted(source)]
    straight = order == sorted(order)
    parts = []
    new = [axis for axis in range(len(shape)) if axis not in source] if straight else []
    view_axes = {number: axis for axis, number in source.items()}
    for number, axis in enumerate(axes):
        if axis.length:
            while new and new[0] < view_axes[number]:
                parts.append("None")
                new.pop(0)
        text = _part(sizes[number], axis, index)
        if text is None:
            return None
        parts.append(text)
    parts += ["None"] * len(new)
    if not shape and sizes:
        # All axes have an index: without the dots this were a scalar and no view.
        parts.append("...")
    while parts and parts[-1] == ":":
        parts.pop()
    return f"[{', '.join(parts)}]" if parts else ""


def _part(size: int, axis: _Axis, index: Index) -> str | None:
    """The text for one axis of the base."""
    if not axis.length:
        return index(axis.start)
    start, step = axis.start, axis.step
    stop = start + step * (axis.length - 1) + (1 if step > 0 else -1)
    if step < 0 and (stop < 0).any():
        # A negative end means something else, unless it is left out.
        if (stop >= 0).any():
            return None
        end = ""
    else:
        end = "" if (stop == size).all() and step > 0 else index(stop)
    begin = "" if (start == 0).all() and step > 0 else index(start)
    return f"{begin}:{end}" if step == 1 else f"{begin}:{end}:{step}"


def _transposed(order: list[int]) -> str:
    if order == list(range(len(order)))[::-1]:
        return ".T"
    return f".transpose({', '.join(map(str, order))})"


def _reshaped(
    base: Base, shape: Shape, strides: Shape, offsets: Integers, index: Index, imports: Imports
) -> str | None:
    """The view as a reshaped block of its base, perhaps transposed."""
    if any(size > 1 and stride <= 0 for size, stride in zip(shape, strides, strict=True)):
        return None
    itemsize = base.dtype.itemsize
    order = sorted(
        range(len(shape)), key=lambda axis: (-strides[axis] if shape[axis] > 1 else 0, axis)
    )
    if any(shape[axis] == 1 for axis in order):
        order = _with_ones_in_place(shape, strides)
    block = tuple([shape[axis] for axis in order])
    if any(
        size > 1 and strides[axis] != stride
        for axis, size, stride in zip(order, block, c_strides(block, itemsize), strict=True)
    ):
        return None
    total = int(np.prod(block, dtype=np.int64))
    flat = _block(base, total, offsets, index, imports)
    if flat is None:
        return None
    text, whole = flat
    if whole != block:
        text += f".reshape({literal(block, imports)})"
    if order != sorted(order):
        text += _transposed([order.index(axis) for axis in range(len(order))])
    return text


def _with_ones_in_place(shape: Shape, strides: Shape) -> list[int]:
    """The axes by falling stride, where an axis of length 1 stays behind the one before it."""
    groups: list[list[int]] = [[]]
    for axis, size in enumerate(shape):
        if size > 1:
            groups.append([])
        groups[-1].append(axis)
    moving = sorted(groups[1:], key=lambda group: -strides[group[0]])
    return [axis for group in [groups[0], *moving] for axis in group]


def _block(
    base: Base, total: int, offsets: Integers, index: Index, imports: Imports
) -> tuple[str, Shape] | None:
    """Some elements of an array that follow each other, as text and shape."""
    steps = c_strides(base.shape, base.dtype.itemsize)
    nbytes = total * base.dtype.itemsize
    for axis in range(len(base.shape) + 1):
        shape = base.shape[axis:]
        size = int(np.prod(shape, dtype=np.int64)) * base.dtype.itemsize
        if size == nbytes and not (offsets % size).any():
            starts = [offsets // steps[n] % base.shape[n] for n in range(axis)]
            key = ", ".join([index(start) for start in starts])
            if not shape and key:
                key += ", ..."
            return base.text + (f"[{key}]" if key else ""), shape
    if (offsets % base.dtype.itemsize).any() or not base.shape:
        return None
    start = offsets // base.dtype.itemsize
    text = base.text if len(base.shape) == 1 else f"{base.text}.reshape(-1)"
    return f"{text}[{index(start)}:{index(start + total)}]", (total,)
