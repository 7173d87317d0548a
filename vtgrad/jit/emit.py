"""A rolled program as statements of NumPy.

Each buffer is a named array, or a row of one (`layout.py`), each place is a view of it
(`view_text.py`), and each step is the call that was recorded, with its results written to the same
places. So the statements have the bits of the steps. Arrays of which a step writes each element
come from the call itself, where NumPy is known to make the same array: ``m = multiply(a, b)``.
"""

from __future__ import annotations

import operator
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from vtgrad.generator import Generator
from vtgrad.jit.columns import Tables, affine_text, flat_index, kept_axes
from vtgrad.jit.draws import Draw
from vtgrad.jit.layout import Held, Layout, c_strides, is_contiguous, slots_of
from vtgrad.jit.listing import Integers, Listing
from vtgrad.jit.literals import Imports, array_literal, literal
from vtgrad.jit.names import identifier
from vtgrad.jit.roll import Leaf, Loop, Node, items_at
from vtgrad.jit.steps import (
    Fixed,
    Group,
    Guard,
    Kind,
    Line,
    Operand,
    Place,
    Program,
    Step,
    places_in,
)
from vtgrad.jit.view_text import Base, view_text
from vtgrad.storage.arrays import NumpyDType

__all__ = ["Body", "Helper", "Writer", "is_checked"]

# Variables of loops, from the outermost.
_VARIABLES: Final = ("t", "i", "j", "k", "n", "m")
# NumPy 2.4 deprecates that their third argument is the output.
_OUT_BY_NAME: Final = (np.maximum, np.minimum)
# Functions that return one new array, whose shape and dtype follow from those of their arguments.
_ONE_ARRAY: Final = frozenset(
    "argmax argmin argsort astype clip concatenate copy cumprod cumsum dot einsum round "
    "searchsorted sort stack take where".split()
)
# Of these, those that make an array in C order of arrays in C order.
_IN_C_ORDER: Final = frozenset({"concatenate", "stack"})


@dataclass(slots=True)
class Body:
    """The statements of a program.

    Attributes
    ----------
    tables : list of str
        Definitions of constant lists of numbers.
    lines : list of str
        The statements, not indented.
    results : list of str
        An expression for each result.
    helpers : set of str
        The names of the helper functions that the statements call.
    generators : list of str
        The names of the random generators that the statements draw from.
    """

    tables: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    helpers: set[str] = field(default_factory=set)
    generators: list[str] = field(default_factory=list)


class Helper:
    """Names of the functions that a module of source may define for itself."""

    PUT: Final = "put"
    DIFFERS: Final = "differs"


@dataclass(frozen=True, slots=True)
class _Columns:
    """What the repetitions of a line name, in the order of its operands."""

    buffers: Iterator[Integers]
    offsets: Iterator[Integers]
    floats: Iterator[Sequence[float]]
    loops: Sequence[int]
    variables: Sequence[str]


@dataclass(frozen=True, slots=True)
class _View:
    """The text of a place; whether an assignment to the text writes to the place."""

    text: str
    assigned: bool


class Writer:
    """Writes the statements of one program.

    Parameters
    ----------
    program : Program
        What is written.
    listing, nodes, layout
        The program in numbers, its loops, and its arrays, which have names.
    imports : Imports
        Where the names of functions go.
    taken : set of str
        Names that are in use; new ones are added.
    """

    def __init__(
        self,
        program: Program,
        listing: Listing,
        nodes: Sequence[Node],
        layout: Layout,
        imports: Imports,
        taken: set[str],
    ) -> None:
        self._program = program
        self._listing = listing
        self._nodes = nodes
        self._layout = layout
        self._imports = imports
        self._taken = taken
        self._body = Body()
        self._tables = Tables(imports, self._new_name)
        self._lists: dict[str, str] = {}
        self._generators: list[Generator] = []
        self._before_loop: list[str] = []
        self._line: Line | None = None
        self._files = {item.line[0] for item in listing.items if item.line is not None}
        self._variables = tuple([self._new_name(name) for name in _VARIABLES])
        self._row = self._new_name("row")
        # Arrays that the program makes, by the item that names them first.
        self._unmade = sorted(
            [held for held in layout.arrays if self._is_made(held)],
            key=lambda held: held.born,
            reverse=True,
        )

    def body(self) -> Body:
        """Write all statements."""
        body = self._body
        for node in self._nodes:
            if isinstance(node, Leaf):
                self._make_arrays(node.first)
                lines = self._leaf(node)
                body.lines += lines
            else:
                self._make_arrays(node.first + node.count * node.period)
                self._before_loop = []
                inner = self._loop(node, 0)
                body.lines += self._before_loop + inner
        self._make_arrays(len(self._listing.items) + 1)
        body.results = [self._result(place) for place in self._program.results]
        body.tables = self._tables.lines
        return body

    def constant_view(self, place: Place) -> str:
        """The text of one place outside of all loops."""
        buffers, offsets = np.full((), place.buffer), np.full((), place.offset)
        return self._view(place, buffers, offsets, ()).text

    def _new_name(self, name: str) -> str:
        found = identifier(name, self._taken)
        self._taken.add(found)
        return found

    def _is_made(self, held: Held) -> bool:
        return self._program.buffers[held.buffers[0]].kind is Kind.FRESH

    # Arrays

    def _make_arrays(self, before: int, keep: Held | None = None) -> None:
        """Make the arrays that items before one name first, and those without a first item."""
        names: dict[str, list[str]] = {}
        while self._unmade and self._unmade[-1].born < before:
            held = self._unmade.pop()
            if held is not keep and 0 not in held.whole:
                names.setdefault(self.empty(held.whole, held), []).append(held.name)
        for text, alike in names.items():
            call = text if len(alike) == 1 else f"[{text} for _ in range({len(alike)})]"
            self._body.lines.append(f"{', '.join(alike)} = {call}")

    def empty(
        self,
        shape: Sequence[int],
        held: Held | Place,
        function: Callable[..., object] = np.empty,
    ) -> str:
        """The call that makes an array of a shape, with the dtype of another array."""
        parts = [literal(tuple(shape), self._imports)]
        if len(shape) == 1:
            parts = [str(shape[0])]
        if held.dtype != np.float64:
            parts.append(literal(held.dtype, self._imports))
        return f"{self._imports.name_of(function)}({', '.join(parts)})"

    def _result(self, place: Place) -> str:
        if 0 in place.shape:
            return self.empty(place.shape, place)
        text = self.constant_view(place)
        held = self._layout.arrays[int(self._layout.array_of[place.buffer])]
        if self._is_made(held) and text == held.name:
            if sum(other.buffer in held.buffers for other in self._program.results) == 1:
                return text
        return f"{text}.copy()" if is_contiguous(place) else f'{text}.copy("K")'

    # Loops and lines

    def _loop(self, loop: Loop, depth: int) -> list[str]:
        lines = [f"for {self._variables[depth]} in range({loop.count}):"]
        for node in loop.body:
            inner = self._leaf(node) if isinstance(node, Leaf) else self._loop(node, depth + 1)
            lines += [f"    {line}" for line in inner]
        return lines

    def _leaf(self, leaf: Leaf) -> list[str]:
        columns = self._columns(leaf)
        item = self._listing.items[leaf.first]
        if isinstance(item, Guard):
            lines = self._guard(item, columns)
        else:
            lines = self._step(item, columns, leaf)
        if item.line is not None and item.line != self._line:
            lines[0] += f"  # {self._comment(item.line)}"
        self._line = item.line
        return lines

    def _comment(self, line: Line) -> str:
        """The user's line, in letters that cannot end a comment."""
        if len(self._files) == 1:
            return f"line {int(line[1])}"
        name = "".join([c if " " <= c <= "~" else "?" for c in os.path.basename(line[0])])
        return f"{name}, line {int(line[1])}"

    def _columns(self, leaf: Leaf) -> _Columns:
        slots = slots_of(self._listing, leaf)
        buffers, offsets = self._listing.buffers[slots], self._listing.offsets[slots]
        dims = slots.shape[:-1]
        first = self._listing.first_float
        number = int(first[leaf.first + 1] - first[leaf.first])
        floats: list[list[float]] = []
        if number:
            places = first[items_at(leaf.first, leaf.loops)].ravel().tolist()
            floats = [[self._listing.floats[n + k] for n in places] for k in range(number)]
        return _Columns(
            iter(np.moveaxis(buffers, -1, 0)),
            iter(np.moveaxis(offsets, -1, 0)),
            iter(floats),
            dims,
            self._variables[: len(dims)],
        )

    # Operands

    def _operand(self, operand: Operand, columns: _Columns) -> str:
        if isinstance(operand, Place):
            return self._place(operand, columns).text
        if isinstance(operand, Fixed):
            if type(operand.value) is float:
                return self._tables.floats(next(columns.floats), columns.loops, columns.variables)
            return literal(operand.value, self._imports)
        parts = [self._operand(part, columns) for part in operand.parts]
        if operand.type is tuple:
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        return f"[{', '.join(parts)}]"

    def _subscript(self, key: Operand, columns: _Columns) -> str:
        """A key of an item between its brackets, where slices are written with colons."""
        if isinstance(key, Group) and key.type is tuple and key.parts:
            text = ", ".join([self._subscript(part, columns) for part in key.parts])
            return text if len(key.parts) > 1 else f"{text},"
        if isinstance(key, Fixed):
            return self._fixed_subscript(key.value)
        return self._operand(key, columns)

    def _fixed_subscript(self, value: object) -> str:
        if isinstance(value, tuple) and value:
            text = ", ".join([self._fixed_subscript(part) for part in value])
            return text if len(value) > 1 else f"{text},"
        if isinstance(value, slice):
            ends = (value.start, value.stop, value.step)
            start, stop, step = ["" if x is None else literal(x, self._imports) for x in ends]
            return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
        return literal(value, self._imports)

    def _place(self, place: Place, columns: _Columns) -> _View:
        return self._view(place, next(columns.buffers), next(columns.offsets), columns.variables)

    def _view(
        self, place: Place, buffers: Integers, offsets: Integers, variables: Sequence[str]
    ) -> _View:
        """The text of a place whose buffer and offset may change with the repetitions."""
        if 0 in place.shape:
            return _View(self.empty(place.shape, place), False)
        arrays = self._layout.array_of[buffers]
        number = int(arrays[(0,) * arrays.ndim])
        held = self._layout.arrays[number]
        base = Base(held.name, held.dtype, held.whole)
        if (arrays != number).any():
            many = [self._layout.arrays[n] for n in np.unique(arrays).tolist()]
            if any((x.dtype, x.shape) != (held.dtype, held.shape) for x in many):
                return _View(self._from_list(place, buffers, offsets, variables), False)
            # A list of whole arrays, of which each repetition sees the same part.
            strides = c_strides(held.shape, held.dtype.itemsize)
            whole = Place(place.buffer, held.dtype, held.shape, strides, 0)
            name = self._from_list(whole, buffers, np.zeros_like(offsets), variables)
            base = Base(name, held.dtype, held.shape)
        elif held.rows is not None:
            size = self._program.buffers[held.buffers[0]].nbytes
            offsets = offsets + self._layout.row_of[buffers] * size
        text = view_text(
            base,
            place.dtype,
            place.shape,
            place.strides,
            offsets,
            lambda values: self._tables.index(values, variables),
            self._imports,
        )
        return _View(text, text.endswith("]") and text != base.text)

    def _from_list(
        self, place: Place, buffers: Integers, offsets: Integers, variables: Sequence[str]
    ) -> str:
        """An element of a list of views that is made before the loop."""
        rows = self._layout.row_of[buffers]
        kept = kept_axes(self._layout.array_of[buffers], rows, offsets)
        chosen = tuple([slice(None) if n in kept else slice(1) for n in range(buffers.ndim)])
        entries = self._entries(place, buffers[chosen].ravel(), offsets[chosen].ravel())
        text = f"[{', '.join(entries)}]"
        if text not in self._lists:
            often = Counter([self._held(number).name for number in buffers.ravel().tolist()])
            self._lists[text] = self._new_name(f"each_{often.most_common(1)[0][0]}")
            self._before_loop.append(f"{self._lists[text]} = {text}")
        index = affine_text(flat_index(buffers.shape, kept), variables)
        return f"{self._lists[text]}[{index}]"

    def _held(self, buffer: int) -> Held:
        return self._layout.arrays[int(self._layout.array_of[buffer])]

    def _entries(self, place: Place, buffers: Integers, offsets: Integers) -> list[str]:
        """The views of a list, where rows of one array that follow each other are one entry."""
        entries = []
        start = 0
        while start < buffers.size:
            stop = self._run(place, buffers, offsets, start)
            same = self._same(buffers, offsets, start)
            if same - start > 2:
                at = (np.full((), buffers[start]), np.full((), offsets[start]))
                entries.append(f"*[{self._view(place, *at, ()).text}] * {same - start}")
                stop = same
            elif stop - start > 2:
                entries.append(self._rows(buffers[start:stop], offsets[start:stop]))
            else:
                stop = start + 1
                at = (np.full((), buffers[start]), np.full((), offsets[start]))
                entries.append(self._view(place, *at, ()).text)
            start = stop
        return entries

    def _same(self, buffers: Integers, offsets: Integers, start: int) -> int:
        """Where the views end that are the same as that at a place of a list."""
        keys = np.stack((self._layout.array_of[buffers], self._layout.row_of[buffers], offsets))
        differs = (keys[:, start:] != keys[:, start : start + 1]).any(0)
        return start + int(np.argmax(differs)) if differs.any() else int(buffers.size)

    def _run(self, place: Place, buffers: Integers, offsets: Integers, start: int) -> int:
        """Where the whole rows of one array end that follow each other from a place of a list."""
        held = self._held(buffers[start])
        shape = held.whole[1:]
        whole = place.shape == shape and place.dtype == held.dtype and is_contiguous(place)
        if not held.whole or not whole or start + 1 == buffers.size:
            return start + 1
        size = int(np.prod(shape, dtype=np.int64)) * held.dtype.itemsize
        offsets = self._offsets_in_array(buffers, offsets)[start:]
        fits = self._layout.array_of[buffers[start:]] == self._layout.array_of[buffers[start]]
        step = offsets[1] - offsets[0]
        if step == 0 or offsets[0] % size or step % size:
            return start + 1
        fits &= offsets == offsets[0] + step * np.arange(offsets.size)
        return start + int(np.argmin(fits)) if not fits.all() else int(buffers.size)

    def _offsets_in_array(self, buffers: Integers, offsets: Integers) -> Integers:
        """Offsets from the start of the arrays that the buffers are rows of."""
        sizes = np.array([self._program.buffers[number].nbytes for number in buffers.tolist()])
        found: Integers = offsets + self._layout.row_of[buffers] * sizes
        return found

    def _rows(self, buffers: Integers, offsets: Integers) -> str:
        """Rows of an array that follow each other at one distance, as parts of a list."""
        held = self._held(buffers[0])
        shape = held.whole[1:]
        size = int(np.prod(shape, dtype=np.int64)) * held.dtype.itemsize
        start, second = (self._offsets_in_array(buffers[:2], offsets[:2]) // size).tolist()
        step = second - start
        stop = start + step * buffers.size
        if not shape:
            # The rows of this array are numbers, of which views are wanted.
            ends = f"{start}, {stop}" if step == 1 else f"{start}, {stop}, {step}"
            return f"*[{held.name}[{self._row}, ...] for {self._row} in range({ends})]"
        if step == 1:
            begin, end = start or "", "" if stop == held.whole[0] else stop
            return f"*{held.name}[{begin}:{end}]" if begin or end else f"*{held.name}"
        return f"*{held.name}[{start}:{'' if stop < 0 else stop}:{step}]"

    # Calls

    def _call(
        self, item: Step | Guard, columns: _Columns, outputs: Callable[[], list[str]] | None
    ) -> str:
        """The call of an item; outputs are named by it if they are given."""
        function = item.function
        keywords = _without_casting(item) if isinstance(item, Step) else ()
        if getattr(function, "__module__", None) in ("operator", "_operator"):
            name = getattr(function, "__name__", "")
            if name == "getitem" and len(item.inputs) == 2 and not keywords:
                target = self._operand(item.inputs[0], columns)
                return f"{target}[{self._subscript(item.inputs[1], columns)}]"
        inputs = item.inputs
        if isinstance(function, np.ufunc) and function.signature is None and outputs is not None:
            inputs = tuple(map(_unrepeated, inputs))
        parts = [self._operand(operand, columns) for operand in inputs]
        named = [f"{name}={self._operand(operand, columns)}" for name, operand in keywords]
        owner = getattr(function, "__self__", None)
        text: str
        if isinstance(owner, np.ufunc):
            text = f"{self._imports.name_of(owner)}.{getattr(function, '__name__', '')}"
        elif _is_array_method(function) and item.inputs and isinstance(item.inputs[0], Place):
            text = f"{parts.pop(0)}.{getattr(function, '__name__', '')}"
        elif isinstance(function, Draw):
            text = f"{self._generator(function.generator)}.{function.method}"
        else:
            text = self._imports.name_of(function)
        if outputs is not None:
            found = outputs()
            is_plain = isinstance(function, np.ufunc) and len(parts) == function.nin
            if is_plain and function not in _OUT_BY_NAME:
                parts += found
            else:
                named.append(f"out={found[0] if len(found) == 1 else '(' + ', '.join(found) + ')'}")
        return f"{text}({', '.join(parts + named)})"

    def _generator(self, generator: Generator) -> str:
        """The parameter for a generator."""
        for known, name in zip(self._generators, self._body.generators, strict=True):
            if known is generator:
                return name
        name = self._new_name("generator")
        self._generators.append(generator)
        self._body.generators.append(name)
        return name

    def _step(self, step: Step, columns: _Columns, leaf: Leaf) -> list[str]:
        fresh = self._fresh(step, leaf)
        if not leaf.loops:
            self._make_arrays(leaf.first + 1, keep=fresh)
        if _is_assignment(step):
            return [self._assignment(step, columns, fresh)]
        function = step.function
        if not step.outputs:
            if fresh is not None:
                return [f"{fresh.name} = {self._filled(fresh, step.inputs[1])}"]
            return [self._call(step, columns, None)]

        def outputs() -> list[str]:
            return [self._place(place, columns).text for place in step.outputs]

        if isinstance(getattr(function, "__self__", function), np.ufunc):
            if fresh is not None:
                call = self._call(step, columns, None)
                if not fresh.shape:
                    # A ufunc returns a number where its result has no dimensions.
                    call = f"{self._imports.name_of(np.asarray)}({call})"
                return [f"{fresh.name} = {call}"]
            return [self._call(step, columns, outputs)]
        call = self._call(step, columns, None)
        if fresh is not None:
            return [f"{fresh.name} = {call}"]
        views = [self._place(place, columns) for place in step.outputs]
        if _copies_whole(step):
            return [f"{_target(views[0])} = {call.removesuffix('.copy()')}"]
        if len(views) == 1 and _makes_one_array(step):
            return [f"{_target(views[0])} = {call}"]
        self._body.helpers.add(Helper.PUT)
        return [f"{Helper.PUT}({call}, {', '.join([view.text for view in views])})"]

    def _assignment(self, step: Step, columns: _Columns, fresh: Held | None) -> str:
        target, value = step.inputs[0], step.inputs[-1]
        assert isinstance(target, Place)
        view = self._place(target, columns)
        subscript = self._subscript(step.inputs[1], columns) if _is_setitem(step) else "..."
        # An assignment repeats elements by itself.
        text = self._operand(_unrepeated(value) if fresh is None else value, columns)
        if fresh is not None:
            made = self._equal_elements(step, target)
            if made is None:
                is_place = isinstance(value, Place)
                made = f"{text}.copy()" if is_place else self._filled(fresh, value)
            return f"{fresh.name} = {made}"
        if subscript == "...":
            return f"{_target(view)} = {text}"
        return f"{view.text}[{subscript}] = {text}"

    def _equal_elements(self, step: Step, target: Place) -> str | None:
        """The call that makes what an assignment copies, if that has equal constant elements."""
        value = step.inputs[-1]
        if _is_setitem(step) and step.inputs[1] != Fixed(...):
            return None
        if not isinstance(value, Place) or 0 in target.shape:
            return None
        content = self._program.buffers[value.buffer].content
        if content is None or value.dtype != target.dtype:
            return None
        array = np.ndarray(value.shape, value.dtype, content, value.offset, value.strides)
        return array_literal(np.broadcast_to(array, target.shape), self._imports, 0)

    def _filled(self, held: Held, value: Operand) -> str:
        """The call that makes an array with equal elements."""
        assert isinstance(value, Fixed)
        if not any(_element(value.value, held.dtype)):
            return self.empty(held.whole, held, np.zeros)
        parts = [literal(x, self._imports) for x in (held.whole, value.value)]
        if held.dtype != np.asarray(value.value).dtype:
            parts.append(literal(held.dtype, self._imports))
        return f"{self._imports.name_of(np.full)}({', '.join(parts)})"

    def _fresh(self, step: Step, leaf: Leaf) -> Held | None:
        """The array that a step makes, if the call without ``out=`` makes the same array."""
        places = step.outputs or (step.writes if _is_fill(step) or _is_assignment(step) else ())
        if leaf.loops or len(places) != 1 or 0 in places[0].shape:
            return None
        place = places[0]
        held = self._held(place.buffer)
        if held.born != leaf.first or not self._is_made(held) or held.rows is not None:
            return None
        if (place.dtype, place.shape, place.offset) != (held.dtype, held.shape, 0):
            return None
        if not is_contiguous(place):
            return None
        if _is_assignment(step) and self._equal_elements(step, place) is not None:
            return held
        return held if _makes(step, place) else None

    # Guards

    def _guard(self, guard: Guard, columns: _Columns) -> list[str]:
        call = self._call(guard, columns, None)
        value = guard.value
        if value is True or value is False:
            test = f"{call} is not {value}"
        elif type(value) in (int, str) or (type(value) is float and value == value and value != 0):
            test = f"{call} != {literal(value, self._imports)}"
        else:
            self._body.helpers.add(Helper.DIFFERS)
            test = f"{Helper.DIFFERS}({call}, {literal(value, self._imports)})"
        where = "" if guard.line is None else f" in {self._comment(guard.line)}"
        name = getattr(guard.function, "__name__", "a value")
        message = f"another program was recorded: {name}{where} was {value!r}"
        return [f"if {test}:", f"    raise ValueError({literal(message, self._imports)})"]


def _target(view: _View) -> str:
    """What stands left of a sign of assignment to write to a view."""
    if not view.assigned:
        return f"{view.text}[...]"
    return view.text


def _is_number_of(value: object, dtype: NumpyDType) -> bool:
    """Whether `numpy.full` with a number has the same bits as an assignment of it."""
    if type(value) not in (bool, int, float, complex) or dtype.kind not in "bifc":
        return False
    try:
        return np.full((), value, dtype).tobytes() == _element(value, dtype)
    except (TypeError, ValueError, OverflowError):
        return False


def _is_setitem(item: Step) -> bool:
    return item.function is operator.setitem and len(item.inputs) == 3


def _is_assignment(item: Step) -> bool:
    """Whether a step writes a value to an array, as an assignment does.

    `numpy.copyto` is more careful with casts, but it was not when the program was recorded.
    """
    if item.function is np.copyto and len(item.inputs) == 2:
        return all(name == "casting" for name, _ in item.keywords)
    return _is_setitem(item)


def _unrepeated(operand: Operand) -> Operand:
    """A place without the axes along which its elements are repeated, or with one of each."""
    if not isinstance(operand, Place) or 0 in operand.shape:
        return operand
    axes = list(zip(operand.shape, operand.strides, strict=True))
    while axes and axes[0][1] == 0:
        axes.pop(0)
    shape = tuple([1 if stride == 0 else size for size, stride in axes])
    strides = tuple([stride for _, stride in axes])
    return replace(operand, shape=shape, strides=strides)


def _without_casting(step: Step) -> tuple[tuple[str, Operand], ...]:
    """The named arguments of a ufunc, without a ``casting=`` that changes nothing."""
    function = step.function
    operands = (*step.inputs, *step.outputs)
    places = [operand for operand in operands if isinstance(operand, Place)]
    names = [name for name, _ in step.keywords]
    if not isinstance(function, np.ufunc) or names != ["casting"] or len(places) != len(operands):
        return step.keywords
    dtypes = tuple([place.dtype for place in places])
    try:
        if function.resolve_dtypes(dtypes) == function.resolve_dtypes(dtypes, casting="unsafe"):
            return ()
    except TypeError:
        pass
    return step.keywords


def _is_fill(item: Step) -> bool:
    return item.function is np.ndarray.fill and len(item.inputs) == 2 and not item.keywords


def _element(value: object, dtype: NumpyDType) -> bytes:
    """The bytes of an element to which a number is assigned."""
    element = np.empty((), dtype)
    element[...] = value
    return element.tobytes()


def _is_array_method(function: object) -> bool:
    return getattr(function, "__objclass__", None) is np.ndarray


def _copies_whole(step: Step) -> bool:
    """Whether a step is the method `copy` of an array, without more arguments."""
    return step.function is np.ndarray.copy and len(step.inputs) == 1 and not step.keywords


def is_checked(step: Step) -> bool:
    """Whether the source compares the shapes of results, which values may change."""
    function = step.function
    if not step.outputs or isinstance(getattr(function, "__self__", function), np.ufunc):
        return False
    return len(step.outputs) > 1 or not (_copies_whole(step) or _makes_one_array(step))


def _is_ordered(place: Place) -> bool:
    """Whether no axis is repeated or turned around, so that a small array has the same order."""
    return all(n < 2 or stride > 0 for n, stride in zip(place.shape, place.strides, strict=True))


def _makes_one_array(step: Step) -> bool:
    """Whether a function returns one array, never a tuple, of a shape that values do not change."""
    name = getattr(step.function, "__name__", "")
    return name in _ONE_ARRAY and (name != "where" or len(step.inputs) == 3)


def _makes(step: Step, place: Place) -> bool:
    """Whether a call without ``out=`` makes a new array with the geometry of its result."""
    arrays = [found for operand in step.inputs for found in places_in(operand)]
    if any(0 in array.shape for array in arrays):
        return False
    if _copies_whole(step):
        return True
    if _is_fill(step) or _is_assignment(step):
        value = step.inputs[-1]
        if _is_setitem(step) and step.inputs[1] != Fixed(...):
            return False
        if isinstance(value, Place):
            is_copy = (value.dtype, value.shape) == (place.dtype, place.shape)
            is_copy = is_copy and value.buffer != place.buffer and _is_ordered(value)
            return is_copy and not _is_fill(step)
        return isinstance(value, Fixed) and _is_number_of(value.value, place.dtype)
    if any(array.buffer == place.buffer for array in arrays):
        return False
    function = step.function
    if not isinstance(getattr(function, "__self__", function), np.ufunc):
        in_order = all(map(is_contiguous, arrays))
        return in_order and getattr(function, "__name__", "") in _IN_C_ORDER
    if not all(map(_is_ordered, arrays)):
        return False
    # The same call on arrays with at most two elements along each axis shows dtype and order.
    small = []
    for operand in step.inputs:
        if isinstance(operand, Group):
            return False
        if isinstance(operand, Fixed):
            small.append(operand.value)
        else:
            order = sorted(range(len(operand.shape)), key=lambda n: -operand.strides[n])
            sizes = [min(operand.shape[n], 2) for n in order]
            small.append(np.ones(sizes, operand.dtype).transpose(np.argsort(order)))
    fixed = {}
    for name, named in step.keywords:
        if not isinstance(named, Fixed):
            return False
        fixed[name] = named.value
    try:
        with np.errstate(all="ignore"):
            found = function(*small, **fixed)
    except (TypeError, ValueError, ArithmeticError, np.linalg.LinAlgError):
        return False
    return (
        isinstance(found, (np.ndarray, np.generic))
        and found.dtype == place.dtype
        and found.flags.c_contiguous
        and found.shape == tuple([min(size, 2) for size in place.shape])
    )
