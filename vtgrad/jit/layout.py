"""Which array of the source each buffer of a rolled program is, or is a row of.

Note [Buffers that are born in a loop]

A loop's line that makes a buffer makes another one in each repetition. These buffers are one
*family*. If each is named in the repetition only in which it was made, the family is one array
that is used again; otherwise it is an array with one row for each repetition.

A loop that carries a value reads, in its first repetition, a buffer that was made before it, and
from then on the family's buffer of the repetition before. Where nothing speaks against it, that
first buffer is row 0 of the family, so that the rows that the loop reads are ``h[t]``, and those
that it writes ``h[t + 1]``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from vtgrad.jit.columns import kept_axes
from vtgrad.jit.listing import Integers, Listing
from vtgrad.jit.roll import Leaf, Node, items_at
from vtgrad.jit.steps import Kind, Place, Program
from vtgrad.storage.arrays import NumpyDType, Shape

__all__ = ["Held", "Layout", "c_strides", "is_contiguous", "layout_of", "leaves_of", "slots_of"]


@dataclass(slots=True)
class Held:
    """An array of the source, contiguous in C order.

    Attributes
    ----------
    dtype : numpy.dtype
        Of its elements.
    shape : tuple of int
        Without the axis of rows.
    rows : int or None
        The number of rows; None if the array has one buffer and no axis for rows.
    buffers : list of int
        What lies in it.
    born : int
        The item that names it first.
    name : str
        What it is called.
    """

    dtype: NumpyDType
    shape: Shape
    rows: int | None
    buffers: list[int]
    born: int
    name: str = ""

    @property
    def whole(self) -> Shape:
        """The shape with the axis of rows."""
        return self.shape if self.rows is None else (self.rows, *self.shape)


@dataclass(slots=True)
class Layout:
    """Where the buffers of a program are in its source.

    Attributes
    ----------
    arrays : list of Held
        All arrays.
    array_of, row_of : array of int
        For each buffer, the number of its array, and its row; -1 for a buffer that nothing names.
    """

    arrays: list[Held] = field(default_factory=list)
    array_of: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    row_of: Integers = field(default_factory=lambda: np.zeros(0, np.int64))


def leaves_of(nodes: Sequence[Node]) -> Iterator[Leaf]:
    """All lines, those of loops once."""
    for node in nodes:
        if isinstance(node, Leaf):
            yield node
        else:
            yield from leaves_of(node.body)


def slots_of(listing: Listing, leaf: Leaf) -> Integers:
    """The slots of a line: an axis for each loop around it, and the last one for its places."""
    number = int(listing.first_slot[leaf.first + 1] - listing.first_slot[leaf.first])
    items = items_at(leaf.first, leaf.loops)
    found: Integers = listing.first_slot[items][..., None] + np.arange(number)
    return found


def c_strides(shape: Shape, itemsize: int) -> Shape:
    """The strides of an array that is contiguous in C order."""
    strides = [itemsize] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def is_contiguous(place: Place) -> bool:
    """Whether the elements of a place follow each other in C order."""
    return 0 in place.shape or _in_c_order(place.shape, place.strides, place.dtype.itemsize)


def _in_c_order(shape: Shape, strides: Shape, itemsize: int) -> bool:
    expected = c_strides(shape, itemsize)
    return all(n == 1 or a == b for n, a, b in zip(shape, strides, expected, strict=True))


def layout_of(program: Program, listing: Listing, nodes: Sequence[Node]) -> Layout:
    """Find an array for each buffer; see Note [Buffers that are born in a loop]."""
    count = len(program.buffers)
    layout = Layout([], np.full(count, -1), np.zeros(count, np.int64))
    inside = [leaf for leaf in leaves_of(nodes) if leaf.loops]
    for leaf in inside:
        _add_families(program, listing, layout, leaf)
    for leaf in inside:
        _adopt_first_rows(program, listing, layout, leaf)
    named = set(listing.buffers.tolist()) | {place.buffer for place in program.results}
    for buffer in sorted(named):
        if layout.array_of[buffer] < 0:
            layout.array_of[buffer] = len(layout.arrays)
            born = int(listing.births[buffer])
            item = -1 if born < 0 else int(np.searchsorted(listing.first_slot, born, "right")) - 1
            layout.arrays.append(_bytes_of(program, None, [buffer], item))
    _set_geometries(program, listing, layout)
    return layout


def _bytes_of(program: Program, rows: int | None, buffers: list[int], born: int) -> Held:
    """An array of bytes for some buffers."""
    nbytes = program.buffers[buffers[0]].nbytes
    return Held(np.dtype(np.uint8), (nbytes,), rows, buffers, born)


def _set_geometries(program: Program, listing: Listing, layout: Layout) -> None:
    """Let each array have the geometry in which most places see its buffers whole.

    If no place does, the buffers are rows of what most places see of it, or else bytes.
    """
    arrays = layout.array_of[listing.buffers]
    seen = np.stack((arrays, listing.seen_as, listing.offsets), 1)
    rows, numbers = np.unique(seen, axis=0, return_counts=True) if len(seen) else (seen, seen[:, 0])
    found = [(*row, number) for row, number in zip(rows.tolist(), numbers.tolist(), strict=True)]
    known = {geometry: number for number, geometry in enumerate(listing.geometries)}
    for place in program.results:
        geometry = known[place.dtype, place.shape, place.strides]
        found.append((int(layout.array_of[place.buffer]), geometry, place.offset, 1))
    wholes: list[Counter[tuple[NumpyDType, Shape]]] = [Counter() for _ in layout.arrays]
    parts: list[Counter[tuple[NumpyDType, Shape]]] = [Counter() for _ in layout.arrays]
    for array, geometry, offset, number in found:
        dtype, shape, strides = listing.geometries[geometry]
        if 0 in shape or not _in_c_order(shape, strides, dtype.itemsize):
            continue
        nbytes = program.buffers[layout.arrays[array].buffers[0]].nbytes
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if size == nbytes and offset == 0:
            wholes[array][dtype, shape] += number
        elif nbytes % size == 0 and offset % size == 0:
            parts[array][dtype, (nbytes // size, *shape)] += number
    for held, whole, part in zip(layout.arrays, wholes, parts, strict=True):
        if whole or part:
            held.dtype, held.shape = (whole or part).most_common(1)[0][0]


def _add_families(
    program: Program,
    listing: Listing,
    layout: Layout,
    leaf: Leaf,
) -> None:
    """The arrays of the buffers that a line in a loop makes."""
    slots = slots_of(listing, leaf)
    buffers = listing.buffers[slots]
    sizes = np.array([buffer.nbytes for buffer in program.buffers])
    for column in range(buffers.shape[-1]):
        moving = kept_axes(buffers[..., column])
        # A buffer that stays the same in some loop is born in its first repetition.
        first = tuple([slice(None) if n in moving else slice(1) for n in range(buffers.ndim - 1)])
        family = buffers[..., column][first]
        makes = (listing.births[family] == slots[..., column][first]).all()
        if not moving or not makes or (sizes[family] != sizes[family.flat[0]]).any():
            continue
        kept = _rows_kept(listing, leaf, family, first)
        rows = np.arange(int(np.prod(kept, dtype=np.int64))).reshape(kept)
        layout.array_of[family] = len(layout.arrays)
        layout.row_of[family] = rows
        members = family.ravel().tolist()
        number = int(rows.size) if rows.size > 1 else None
        layout.arrays.append(_bytes_of(program, number, members, leaf.first))


def _rows_kept(listing: Listing, leaf: Leaf, family: Integers, first: tuple[slice, ...]) -> Shape:
    """The repetitions, of the inner loops, for which a family needs rows of their own."""
    last = listing.last_items[family]
    for depth in range(len(leaf.loops), 0, -1):
        loop = leaf.loops[depth - 1]
        ends = items_at(loop.first, leaf.loops[:depth]) + loop.period
        ends = ends[first[:depth]]
        if (last < ends[(...,) + (None,) * (len(leaf.loops) - depth)]).all():
            return family.shape[depth:]
    return family.shape


def _adopt_first_rows(program: Program, listing: Listing, layout: Layout, leaf: Leaf) -> None:
    """Make what the first repetition reads from before the loop row 0 of what the others read."""
    if len(leaf.loops) != 1 or leaf.loops[0].count < 3:
        return
    buffers = listing.buffers[slots_of(listing, leaf)]
    for column in range(buffers.shape[-1]):
        first, others = int(buffers[0, column]), buffers[1:, column]
        family = int(layout.array_of[others[0]])
        if family < 0 or (layout.array_of[others] != family).any():
            continue
        held = layout.arrays[family]
        fits = (
            layout.array_of[first] < 0
            and program.buffers[first].kind is Kind.FRESH
            and program.buffers[first].nbytes == program.buffers[int(others[0])].nbytes
            and held.rows == len(held.buffers)
            and (layout.row_of[others] == np.arange(others.size)).all()
        )
        if fits and held.rows is not None:
            layout.row_of[held.buffers] += 1
            layout.array_of[first] = family
            layout.row_of[first] = 0
            held.buffers.insert(0, first)
            held.rows += 1
            born = int(listing.births[first])
            held.born = int(np.searchsorted(listing.first_slot, born, "right")) - 1
