"""The steps of a recorded program as a graph, with the lines of the user's program.

A node is a line of the rolled program (`roll.py`): a step, or all repetitions of one in a loop. An
arrow goes from a step that writes memory to a step that reads it before it is overwritten.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from vtgrad.jit.layout import leaves_of
from vtgrad.jit.listing import Item, Listing, listing_of
from vtgrad.jit.roll import Leaf, Loop, Node, items_at, roll
from vtgrad.jit.steps import Buffer, Kind, Line, Operand, Place, Program, Step, places_in
from vtgrad.viz.dot import Dot, escaped

__all__ = ["GraphStep", "ProgramGraph", "call_name", "graph_of", "line_text"]

_COLOURS: Final = {"step": "white", "guard": "moccasin", "marked": "salmon"}


@dataclass(frozen=True, slots=True)
class GraphStep:
    """A step of a recorded program, or all repetitions of one in a loop.

    Attributes
    ----------
    number : int
        Its place among the steps of the graph.
    name : str
        What is called: ``add``, ``add.reduce``, or ``guard bool``.
    operator : str
        The library's operator or node that made the call; "" if it is not known, as in the
        compiled build.
    line : (str, int) or None
        The user's line that led to it: file and number.
    times : tuple of int
        How often each of the loops around it repeats, from the outermost.
    reads, writes : tuple of str
        The names of the memory in its first repetition.
    after : tuple of int
        The numbers of the steps that wrote what it reads.
    items : tuple of int
        The numbers of its repetitions among all steps and guards of the recording.
    """

    number: int
    name: str
    operator: str
    line: Line | None
    times: tuple[int, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    after: tuple[int, ...]
    items: tuple[int, ...]


class ProgramGraph:
    """The steps of a recorded program, as text and as a drawing.

    Attributes
    ----------
    steps : tuple of GraphStep
        In the order in which they run.
    """

    __slots__ = ("_marked", "_nodes", "steps")

    steps: tuple[GraphStep, ...]
    _nodes: Sequence[Node]
    # The steps that are coloured.
    _marked: frozenset[int]

    def __init__(
        self,
        steps: tuple[GraphStep, ...],
        nodes: Sequence[Node],
        marked: frozenset[int] = frozenset(),
    ) -> None:
        self.steps = steps
        self._nodes = nodes
        self._marked = marked

    def __str__(self) -> str:
        lines: list[str] = []
        _text_of(self._nodes, iter(self.steps), "", lines)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def dot(self) -> Dot:
        """The drawing: a box for each step, in the boxes of its loops, and arrows.

        Returns
        -------
        Dot
            Its `source` is the text in the DOT language; notebooks show it as a picture.
        """
        lines = ["digraph {", "  node [shape=box, style=filled, fontname=monospace]"]
        lines += self._boxes(self._nodes, iter(self.steps), "  ", iter(range(len(self.steps))))
        for step in self.steps:
            lines += [f"  s{before} -> s{step.number}" for before in step.after]
        return Dot("\n".join([*lines, "}"]))

    def _repr_svg_(self) -> str | None:
        """The picture for notebooks; None without Graphviz, so that they show the text."""
        return self.dot()._repr_svg_()

    def _boxes(
        self, nodes: Sequence[Node], steps: Iterator[GraphStep], indent: str, loops: Iterator[int]
    ) -> list[str]:
        """The statements of the boxes of some nodes."""
        lines = []
        for node in nodes:
            if isinstance(node, Loop):
                lines.append(f"{indent}subgraph cluster{next(loops)} {{")
                lines.append(f'{indent}  label="{node.count} times"')
                lines += self._boxes(node.body, steps, f"{indent}  ", loops)
                lines.append(f"{indent}}}")
                continue
            step = next(steps)
            kind = "guard" if step.name.startswith("guard ") else "step"
            colour = _COLOURS["marked" if step.number in self._marked else kind]
            label = escaped("\n".join([_call_text(step), *_places_text(step)]))
            lines.append(f'{indent}s{step.number} [label="{label}", fillcolor={colour}]')
        return lines


def graph_of(program: Program, is_marked: Callable[[Item], bool] | None = None) -> ProgramGraph:
    """The graph of a program.

    Parameters
    ----------
    program : Program
        What is drawn.
    is_marked : callable, optional
        Of a step or a guard, whether it is drawn in another colour.

    Returns
    -------
    ProgramGraph
        One step for each line of the rolled program.
    """
    listing = listing_of(program)
    nodes = roll(listing)
    leaves = list(leaves_of(nodes))
    places = [tuple(items_at(leaf.first, leaf.loops).ravel().tolist()) for leaf in leaves]
    after = _arrows(program, listing, places)
    steps = tuple(
        [
            _graph_step(number, leaf, listing.items[leaf.first], program, after[number], items)
            for number, (leaf, items) in enumerate(zip(leaves, places, strict=True))
        ]
    )
    marked = frozenset(
        [
            step.number
            for step in steps
            if is_marked is not None and any(is_marked(listing.items[n]) for n in step.items)
        ]
    )
    return ProgramGraph(steps, nodes, marked)


def _graph_step(
    number: int,
    leaf: Leaf,
    item: Item,
    program: Program,
    after: tuple[int, ...],
    items: tuple[int, ...],
) -> GraphStep:
    reads, writes = _effect(item)
    is_step = isinstance(item, Step)
    return GraphStep(
        number,
        call_name(item) if is_step else f"guard {call_name(item)}",
        item.operator if isinstance(item, Step) else "",
        item.line,
        tuple([loop.count for loop in leaf.loops]),
        _names(reads, program.buffers),
        _names(writes, program.buffers),
        after,
        items,
    )


def call_name(item: Item) -> str:
    """The name of what is called: ``add``, ``add.reduce``, ``ndarray.copy``."""
    function = item.function
    name = str(getattr(function, "__name__", None) or getattr(function, "method", "call"))
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"{owner.__name__}.{name}"
    if getattr(function, "__objclass__", None) is np.ndarray:
        return f"ndarray.{name}"
    return name


def line_text(line: Line | None) -> str:
    """A line of the user's program: ``filter.py, line 3``."""
    return "" if line is None else f"{os.path.basename(line[0])}, line {line[1]}"


def _names(places: Sequence[Place], buffers: Sequence[Buffer]) -> tuple[str, ...]:
    """What memory is called, each name once."""
    names = [_name(place.buffer, buffers[place.buffer]) for place in places]
    return tuple(dict.fromkeys(names))


def _name(number: int, buffer: Buffer) -> str:
    if buffer.name:
        return buffer.name
    if buffer.kind in (Kind.ARGUMENT, Kind.OUTSIDE):
        return f"{buffer.kind.value} {buffer.position}"
    return f"{'constant' if buffer.kind is Kind.CONSTANT else 'buffer'} {number}"


def _effect(item: Item) -> tuple[list[Place], list[Place]]:
    """What a step reads, and what it writes.

    The target of an assignment to all elements of a place is not read.
    """
    operands: list[Operand] = list(item.inputs)
    writes: list[Place] = []
    if isinstance(item, Step):
        operands += [operand for _, operand in item.keywords]
        writes = [*item.outputs, *item.writes]
    reads = [place for operand in operands for place in places_in(operand)]
    if isinstance(item, Step) and getattr(item.function, "__name__", "") in ("setitem", "fill"):
        target = operands[0]
        return [place for place in reads if place is not target and place != target], writes
    return reads, writes


def _call_text(step: GraphStep) -> str:
    about = " ".join([part for part in (step.operator, line_text(step.line)) if part])
    return f"{step.name}  ({about})" if about else step.name


def _places_text(step: GraphStep) -> list[str]:
    reads, writes = ", ".join(step.reads), ", ".join(step.writes)
    if not writes:
        return [reads] if reads else []
    return [f"{reads} -> {writes}" if reads else f"-> {writes}"]


def _text_of(
    nodes: Sequence[Node], steps: Iterator[GraphStep], indent: str, lines: list[str]
) -> None:
    """The lines of some nodes, those of loops indented."""
    for node in nodes:
        if isinstance(node, Loop):
            lines.append(f"{indent}{node.count} times:")
            _text_of(node.body, steps, f"{indent}    ", lines)
        else:
            step = next(steps)
            about = "  # " + " ".join([x for x in (step.operator, line_text(step.line)) if x])
            text = f"{indent}{step.name}  {' '.join(_places_text(step))}".rstrip()
            lines.append(text + (about if about != "  # " else ""))


class _Writers:
    """Which steps wrote the bytes of one buffer last, by intervals that do not overlap."""

    __slots__ = ("_starts", "_stretches")

    def __init__(self) -> None:
        self._starts: list[int] = []
        # Start, end, and the steps that wrote there.
        self._stretches: list[tuple[int, int, frozenset[int]]] = []

    def between(self, start: int, stop: int) -> frozenset[int]:
        """The steps that wrote between two bytes."""
        found: frozenset[int] = frozenset()
        for _, _, steps in self._overlapping(start, stop)[2]:
            found |= steps
        return found

    def write(self, start: int, stop: int, step: int, is_whole: bool) -> None:
        """Note that a step wrote between two bytes: all of them, or some."""
        first, last, old = self._overlapping(start, stop)
        new: list[tuple[int, int, frozenset[int]]] = []
        here: frozenset[int] = frozenset({step})
        for low, high, steps in old:
            if low < start:
                new.append((low, start, steps))
            if high > stop:
                new.append((stop, high, steps))
            if not is_whole:
                here |= steps
        new.append((start, stop, here))
        new.sort(key=lambda stretch: stretch[0])
        self._stretches[first:last] = new
        self._starts[first:last] = [stretch[0] for stretch in new]

    def _overlapping(
        self, start: int, stop: int
    ) -> tuple[int, int, list[tuple[int, int, frozenset[int]]]]:
        first = max(bisect_right(self._starts, start) - 1, 0)
        if first < len(self._stretches) and self._stretches[first][1] <= start:
            first += 1
        last = first
        while last < len(self._stretches) and self._stretches[last][0] < stop:
            last += 1
        return first, last, self._stretches[first:last]


def _extent(place: Place) -> tuple[int, int, bool]:
    """The first byte of a place, the one after its last, and whether it has all between."""
    spans = [(n - 1) * stride for n, stride in zip(place.shape, place.strides, strict=True)]
    start = place.offset + sum(min(span, 0) for span in spans)
    stop = place.offset + sum(max(span, 0) for span in spans) + place.dtype.itemsize
    size = int(np.prod(place.shape, dtype=np.int64)) * place.dtype.itemsize
    moving = all(stride for n, stride in zip(place.shape, place.strides, strict=True) if n > 1)
    return start, stop, moving and size == stop - start


def _arrows(
    program: Program, listing: Listing, places: Sequence[tuple[int, ...]]
) -> list[tuple[int, ...]]:
    """For each step of the graph, the steps that wrote what it reads."""
    step_of = [0] * len(listing.items)
    for number, items in enumerate(places):
        for repetition in items:
            step_of[repetition] = number
    writers = [_Writers() for _ in program.buffers]
    after: list[set[int]] = [set() for _ in places]
    for number, item in enumerate(listing.items):
        reads, writes = _effect(item)
        step = step_of[number]
        for place in reads:
            if 0 not in place.shape:
                start, stop, _ = _extent(place)
                after[step] |= writers[place.buffer].between(start, stop)
        for place in writes:
            if 0 not in place.shape:
                writers[place.buffer].write(*_extent(place)[:2], step, _extent(place)[2])
    return [tuple(sorted(found)) for found in after]
