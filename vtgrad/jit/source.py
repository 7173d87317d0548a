"""A recorded program as a module of Python that needs NumPy alone.

The module has one function. It takes the arrays that were the program's arguments, writes in place
what the program writes in place, and returns what it returns, bit for bit. Constants that are too
long for a line stand at the end of the module, in base64, so that an exported program is one file.
"""

from __future__ import annotations

import base64
import os
import textwrap
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from vtgrad.errors import ArgumentValueError
from vtgrad.jit.emit import Body, Helper, Writer, is_checked
from vtgrad.jit.layout import Held, Layout, c_strides, is_contiguous, layout_of
from vtgrad.jit.listing import Listing, listing_of
from vtgrad.jit.literals import Imports, array_literal, literal
from vtgrad.jit.names import identifier
from vtgrad.jit.roll import Node, roll
from vtgrad.jit.steps import Buffer, Kind, Place, Program
from vtgrad.storage.arrays import Array

__all__ = ["Parameter", "export", "parameters_of", "source_of"]

# Constants with more elements are not written as numbers.
_MOST_ELEMENTS: Final = 12

_HELPERS: Final = {
    "array_like": '''
def array_like(value, name, dtype, shape):
    """The argument as an array in C order, of the dtype and shape that were recorded."""
    found = asarray(value)
    if found.dtype != dtype or found.shape != shape:
        raise ValueError(f"{name}: {found.dtype} {found.shape} instead of {dtype} {shape}")
    return ascontiguousarray(found).reshape(shape)
''',
    "written": '''
def written(value, name, dtype, shape, in_order=False):
    """The argument, which is written in place and must be an array as it was recorded."""
    if not isinstance(value, ndarray):
        raise TypeError(f"{name} is written in place and must be an array")
    if value.dtype != dtype or value.shape != shape:
        raise ValueError(f"{name}: {value.dtype} {value.shape} instead of {dtype} {shape}")
    if not value.flags.writeable:
        raise ValueError(f"{name} is written in place, and is read-only")
    if in_order and not value.flags.c_contiguous:
        raise ValueError(f"{name} is written in place, and is not contiguous in C order")
    return value
''',
    "apart": '''
def apart(value, name, *others):
    """Check that an argument that is written shares no memory with the other ones."""
    if any(may_share_memory(value, other) for other in others):
        raise ValueError(f"{name} is written in place, and shares memory with another argument")
''',
    "together": '''
def together(first, *others):
    """Check that arguments overlap as they did when they were recorded."""
    start = first.__array_interface__["data"][0]
    for value, distance in others:
        if value.__array_interface__["data"][0] - start != distance:
            raise ValueError("the arguments share memory in another way than when recorded")
''',
    Helper.PUT: '''
def put(found, *places):
    """Copy results to their places, without a cast."""
    parts = found if isinstance(found, (tuple, list)) else (found,)
    for place, part in zip(places, parts, strict=True):
        if asarray(part).shape != place.shape:
            raise ValueError(f"a result has the shape {asarray(part).shape}, not {place.shape}")
        copyto(place, part, casting="no")
''',
    Helper.DIFFERS: '''
def differs(found, value):
    """Whether two values differ in their type or in a bit."""
    if type(found) is not type(value):
        return True
    if isinstance(value, (tuple, list)):
        return len(found) != len(value) or any(map(differs, found, value))
    if isinstance(value, (float, complex, generic)):
        return asarray(found).tobytes() != asarray(value).tobytes()
    return found != value
''',
    "constant": '''
def constant(text, dtype, shape):
    """An array from the bytes in a text."""
    return frombuffer(b64decode(text), dtype).reshape(shape)
''',
}
_NEEDS: Final = {
    "array_like": (np.asarray, np.ascontiguousarray),
    "written": (np.ndarray,),
    "apart": (np.may_share_memory,),
    "together": (),
    Helper.PUT: (np.asarray, np.copyto),
    Helper.DIFFERS: (np.asarray, np.generic),
    "constant": (np.frombuffer, base64.b64decode),
}


_ABOUT: Final = (
    "It needs NumPy alone, and gives the bits that the recorded program gives with that version."
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """An array that the function of a source takes.

    Attributes
    ----------
    name : str
        Any text; it is made a name of Python.
    place : Place
        Where the array lies in its buffer, which is one of kind `ARGUMENT` or `OUTSIDE`.
    """

    name: str
    place: Place


def parameters_of(program: Program) -> list[Parameter]:
    """One parameter for each argument, and for each tensor from outside, that covers its buffer.

    The geometry is that in which most steps see the whole buffer.
    """
    return _parameters(program, listing_of(program))


def _parameters(program: Program, listing: Listing) -> list[Parameter]:
    layout = layout_of(program, listing, [])
    found = []
    for kind, name in ((Kind.ARGUMENT, "x"), (Kind.OUTSIDE, "outside")):
        numbers = [n for n, buffer in enumerate(program.buffers) if buffer.kind is kind]
        for number in sorted(numbers, key=lambda n: program.buffers[n].position):
            buffer = program.buffers[number]
            array = int(layout.array_of[number])
            whole = Held(np.dtype(np.uint8), (buffer.nbytes,), None, [number], -1)
            held = whole if array < 0 else layout.arrays[array]
            empty = np.empty(held.shape, held.dtype)
            place = Place(number, held.dtype, held.shape, empty.strides, 0)
            found.append(Parameter(buffer.name or f"{name}{buffer.position}", place))
    return found


def source_of(
    program: Program,
    name: str = "replay",
    parameters: Sequence[Parameter] | None = None,
    outside: Sequence[Array] | None = None,
    title: str = "",
) -> str:
    """A program as the text of a module.

    Parameters
    ----------
    program : Program
        What is written.
    name : str, default "replay"
        The name of the function; any text, which is made a name of Python.
    parameters : sequence of Parameter, optional
        What the function takes, in this order; by default `parameters_of` the program.
    outside : sequence of numpy.ndarray, optional
        The bytes of the buffers of kind `OUTSIDE`, by position. If they are given, the module has
        them, and the function does not take them.
    title : str, optional
        The first line of the module's docstring.

    Returns
    -------
    str
        The module. Its function writes to the arrays that it takes what the program writes to its
        arguments, and returns the result, or a tuple of results. It raises a ValueError before any
        argument was written, if an array has another dtype or shape, or if a guard does not hold.

    Raises
    ------
    NotImplementedError
        If a step calls what is not in NumPy, or has an argument that cannot be written as text.

    Notes
    -----
    A program that draws random numbers takes NumPy's generators after the arrays. The bits are the
    same if they are in the same state, as ``numpy.random.Generator(numpy.random.PCG64(seed))`` is
    and a generator of the library after ``manual_seed(seed)``.
    """
    listing = listing_of(program)
    nodes = roll(listing)
    if parameters is None:
        parameters = _parameters(program, listing)
    if outside is not None:
        parameters = [
            x for x in parameters if program.buffers[x.place.buffer].kind is not Kind.OUTSIDE
        ]
    reserved = set(_HELPERS)
    while True:
        module = _Module(program, layout_of(program, listing, nodes), outside, reserved)
        text = module.text(listing, nodes, name, parameters, title)
        names = set(module.imports.names)
        if not names & (module.taken - reserved):
            return text
        # A variable has the name of a function that the statements need: it gets another one.
        reserved |= names


def export(
    program: Program,
    path: str | Path,
    name: str = "replay",
    parameters: Sequence[Parameter] | None = None,
    outside: Sequence[Array] | None = None,
    title: str = "",
) -> Path:
    """Write a program as a module, which can be imported where only NumPy is installed.

    Parameters
    ----------
    program, name, parameters, outside, title
        As for `source_of`.
    path : str or Path
        The file, which is overwritten.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    NotImplementedError
        As for `source_of`; then no file is written.
    """
    path = Path(path)
    text = source_of(program, name, parameters, outside, title)
    # A reader, or an interrupt, never finds a part of the module.
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, "utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


class _Module:
    """The parts of the text of a module."""

    def __init__(
        self,
        program: Program,
        layout: Layout,
        outside: Sequence[Array] | None,
        reserved: Collection[str],
    ) -> None:
        self.imports = Imports(reserved=_HELPERS)
        self.taken = set(reserved)
        self._program = program
        self._layout = layout
        self._outside = outside
        self._helpers: set[str] = set()
        self._constants: list[str] = []
        self._long_constants: list[str] = []
        self._written = _written_buffers(program)
        self._is_guarded = _is_guarded_after_write(program)
        self._checks: list[str] = []
        # Copies into memory of the program's own, and back; made when the arrays have names.
        self._copied: list[tuple[Held, str, Place]] = []

    def text(
        self,
        listing: Listing,
        nodes: Sequence[Node],
        name: str,
        parameters: Sequence[Parameter],
        title: str,
    ) -> str:
        """The whole module."""
        function = self._new_name(name)
        names = [self._new_name(parameter.name) for parameter in parameters]
        self._bind(parameters, names)
        for held in self._layout.arrays:
            self._name(held)
        writer = Writer(self._program, listing, nodes, self._layout, self.imports, self.taken)
        body = writer.body()
        self._helpers |= body.helpers
        lines = [*self._checks, *self._copies(writer, into=True), *body.lines]
        lines += self._copies(writer, into=False)
        lines.append(f"return {', '.join(body.results)}" if body.results else "return None")
        helpers = [_HELPERS[key] for key in _HELPERS if key in self._helpers]
        for key in self._helpers:
            for needed in _NEEDS[key]:
                self.imports.name_of(needed)
        top = [
            f'"""{_plain(title or f"The program {name}, recorded by vtgrad")}.',
            "",
            _ABOUT,
            '"""',
        ]
        imports = [_wrapped(line) for line in self.imports.lines()]
        head = [*top, "", *imports]
        short = [line for line in body.tables if len(line) <= 400]
        constants = [*self._constants, *short]
        self._long_constants += [line for line in body.tables if len(line) > 400]
        described = self._described(parameters, names, body)
        indented = textwrap.indent("\n".join([*described, *lines]), "    ")
        taken = ", ".join([*names, *body.generators])
        definition = f"def {function}({taken}):\n{indented}"
        parts = ["\n".join(head), "\n".join(constants), *[text.strip() for text in helpers]]
        parts += [definition, "\n".join(self._long_constants)]
        return "\n\n\n".join([part for part in parts if part]) + "\n"

    def _described(
        self, parameters: Sequence[Parameter], names: Sequence[str], body: Body
    ) -> list[str]:
        """The docstring of the function."""
        lines = ['"""The recorded program.', "", "Parameters", "----------"] if names else []
        for parameter, name in zip(parameters, names, strict=True):
            written = ", written in place" if parameter.place.buffer in self._written else ""
            lines.append(f"{name} : {_geometry(parameter.place)}{written}")
        lines += [f"{name} : numpy.random.Generator" for name in body.generators]
        if not names:
            lines.insert(0, '"""The recorded program.')
        if body.results:
            lines += ["", "Returns", "-------"]
            lines += [_geometry(place) for place in self._program.results]
        return [*lines, '"""']

    def _new_name(self, name: str) -> str:
        found = identifier(name, self.taken)
        self.taken.add(found)
        return found

    def _held(self, buffer: int) -> Held | None:
        number = int(self._layout.array_of[buffer])
        return None if number < 0 else self._layout.arrays[number]

    # Arguments

    def _bind(self, parameters: Sequence[Parameter], names: Sequence[str]) -> None:
        """Check the arguments, and let the arrays of their buffers be theirs or copies of them."""
        groups: dict[int, list[tuple[str, Place]]] = {}
        for parameter, name in zip(parameters, names, strict=True):
            groups.setdefault(parameter.place.buffer, []).append((name, parameter.place))
        for number, buffer in enumerate(self._program.buffers):
            inside = buffer.kind is Kind.OUTSIDE and self._outside is not None
            if buffer.kind in (Kind.ARGUMENT, Kind.OUTSIDE) and not inside:
                if self._held(number) is not None and number not in groups and buffer.nbytes:
                    raise ArgumentValueError(
                        f"no parameter has the memory of {buffer.kind.value} {buffer.position}"
                    )
        for number, group in groups.items():
            self._bind_group(number, group)
        for number in groups.keys() & self._written:
            others = [n for other, group in groups.items() if other != number for n, _ in group]
            for name, _ in groups[number] if others else ():
                self._helpers.add("apart")
                self._checks.append(f"apart({name}, {name!r}, {', '.join(others)})")

    def _bind_group(self, number: int, group: list[tuple[str, Place]]) -> None:
        held = self._held(number)
        written = number in self._written
        name, place = group[0]
        whole = len(group) == 1 and place.offset == 0 and is_contiguous(place)
        whole = whole and _nbytes(place) == self._program.buffers[number].nbytes
        direct = whole and not (written and self._is_guarded)
        for other, at in group:
            self._check(other, at, written or len(group) > 1, direct)
        if len(group) > 1:
            self._helpers.add("together")
            distances = [f"({other}, {at.offset - place.offset})" for other, at in group[1:]]
            self._checks.append(f"together({name}, {', '.join(distances)})")
        if held is None:
            return
        if whole:
            held.dtype, held.shape = place.dtype, place.shape
        if direct:
            held.name = name
            return
        held.name = self._new_name(f"{name}_memory")
        self._copied += [(held, other, at) for other, at in group]

    def _check(self, name: str, place: Place, written: bool, direct: bool) -> None:
        helper = "written" if written else "array_like"
        self._helpers.add(helper)
        parts = [name, repr(name), literal(place.dtype, self.imports)]
        parts.append(literal(place.shape, self.imports))
        if written and direct:
            parts.append("True")
        self._checks.append(f"{name} = {helper}({', '.join(parts)})")

    def _copies(self, writer: Writer, into: bool) -> list[str]:
        """The statements that copy arguments into memory of the program's own, or back."""
        lines = []
        made: list[Held] = []
        for held, name, place in self._copied:
            view = writer.constant_view(place)
            target = view if view.endswith("]") else f"{view}[...]"
            if into:
                if held not in made:
                    made.append(held)
                    lines.append(f"{held.name} = {writer.empty(held.whole, held)}")
                lines.append(f"{target} = {name}")
            elif place.buffer in self._written:
                lines.append(f"{name}[...] = {view}")
        return lines

    # Constants, and names of all arrays

    def _name(self, held: Held) -> None:
        """Give an array a name, and its content if that is known."""
        if held.name:
            return
        buffers = [self._program.buffers[number] for number in held.buffers]
        names = Counter([buffer.name for buffer in buffers if buffer.name])
        kind = buffers[0].kind
        default = {Kind.FRESH: "m", Kind.CONSTANT: _constant_name(held, buffers[0])}.get(kind, "w")
        held.name = self._new_name(names.most_common(1)[0][0] if names else default)
        if kind is Kind.FRESH:
            return
        content = buffers[0].content
        if kind is not Kind.CONSTANT:
            assert self._outside is not None
            content = self._outside[buffers[0].position]
        assert content is not None
        written = held.buffers[0] in self._written
        self._add_constant(held, content.view(held.dtype).reshape(held.shape), written)
        if written and self._is_guarded:
            strides = c_strides(held.shape, held.dtype.itemsize)
            place = Place(held.buffers[0], held.dtype, held.shape, strides, 0)
            self._copied.append((held, held.name, place))
            held.name = self._new_name(f"{held.name}_memory")

    def _add_constant(self, held: Held, content: Array, written: bool) -> None:
        text = array_literal(content, self.imports, _MOST_ELEMENTS)
        if text is not None:
            self._constants.append(f"{held.name} = {text}")
            return
        self._helpers.add("constant")
        encoded = "\n".join(textwrap.wrap(base64.b64encode(content.tobytes()).decode("ascii"), 96))
        dtype = literal(held.dtype, self.imports)
        shape = literal(held.shape, self.imports)
        copy = ".copy()" if written else ""
        self._long_constants.append(
            f'{held.name} = constant("""\n{encoded}\n""", {dtype}, {shape}){copy}'
        )


def _constant_name(held: Held, buffer: Buffer) -> str:
    """A name that says what a constant has, where that is simple."""
    if buffer.content is None or held.dtype.kind not in "biufc":
        return "constant"
    content = buffer.content.view(held.dtype)
    for number, name in ((0, "zero"), (1, "one")):
        if content.tobytes() == np.full(content.shape, number, held.dtype).tobytes():
            return name
    return "constant"


def _wrapped(line: str) -> str:
    """An import statement, on several lines if it is long."""
    if len(line) <= 100:
        return line
    start, _, names = line.partition(" import ")
    inner = textwrap.wrap(names, 95, initial_indent="    ", subsequent_indent="    ")
    return "\n".join([f"{start} import (", *inner, ")"])


def _plain(text: str) -> str:
    """A text that cannot end a docstring."""
    return "".join([c if " " <= c <= "~" and c not in '\\"' else "?" for c in text])


def _geometry(place: Place) -> str:
    return f"{place.dtype} array of shape {place.shape}"


def _nbytes(place: Place) -> int:
    return int(np.prod(place.shape, dtype=np.int64)) * place.dtype.itemsize


def _written_buffers(program: Program) -> set[int]:
    """The buffers that steps write."""
    return {place.buffer for step in program.steps for place in (*step.outputs, *step.writes)}


def _is_guarded_after_write(program: Program) -> bool:
    """Whether a check may fail when memory has been written that is not the program's own.

    The checks are guards, and those of the shapes of results.
    """
    checked = [number for number, step in enumerate(program.steps) if is_checked(step)]
    last = max([*checked, *[guard.before for guard in program.guards]], default=0)
    return any(
        program.buffers[place.buffer].kind in (Kind.ARGUMENT, Kind.OUTSIDE)
        for step in program.steps[:last]
        for place in (*step.outputs, *step.writes)
    )
