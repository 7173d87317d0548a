"""What leaves the record while a program runs.

Note [How values that leave are found]

A program loses derivatives where it uses the values of arrays: it compares them, makes numbers of
them, hands them to functions that have no derivative. All this runs a function of Python in this
package: a method of the class, or `value_of`. So a block of `explain` asks Python to be told of the
calls of its thread, by `sys.setprofile`. Outside of blocks there is nothing: no function of the
library looks whether a block is open.

A value that is read may still be recorded, as where `median` looks for the place of its result. So
what was read is entered only when the outermost call of the library returns, the one that the
user's line has made: with its line, and only if the result carries no derivative.
"""

from __future__ import annotations

import dis
import os
import sys
import typing
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from inspect import unwrap
from types import CodeType, FrameType
from typing import Any, Final, Self, overload

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import requires_grad
from vtgrad.numpy import adopted_numbers, operands
from vtgrad.numpy.adopted_sys import is_private
from vtgrad.numpy.choosing import copyto, place, putmask
from vtgrad.numpy.elements import fix
from vtgrad.numpy.ndarray import ndarray
from vtgrad.numpy.on_values import tensors_in
from vtgrad.numpy.picking import round as round_
from vtgrad.numpy.scalar import scalar
from vtgrad.numpy.ufunc import Binary, Ufunc, Unary
from vtgrad.ops.calling.lost_gradient import is_library
from vtgrad.ops.calling.take_over import keys_of
from vtgrad.storage.key_set import DUAL, keys
from vtgrad.storage.record_write import is_inside
from vtgrad.storage.scope import Scope
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import own, part_of_thread

__all__ = ["Departure", "explain"]

BRANCH: Final = "branch"
LOOP: Final = "branch in a loop"
SEARCH: Final = "search"
COMPARISON: Final = "comparison"
MASK: Final = "masked copy in a loop"
NUMBER: Final = "number"
INTEGER: Final = "integer"
TEXT: Final = "text"
TAKEN: Final = "value"
ARRAY: Final = "array of NumPy"
STEP: Final = "step"
FUNCTION: Final = "function"

# What each kind means, and what to write.
_MEANINGS: Final[dict[str, str]] = {
    BRANCH: "which way is taken is a constant: the derivative is that of the way taken",
    LOOP: (
        "how often a loop runs is a constant; if it ends by convergence, its last step must "
        "compute the result from what carries the derivative"
    ),
    SEARCH: (
        "a branch in a loop went both ways; if it finds a number by that, as bisection does, the "
        "number has no derivative: take a step of Newton's method at the end"
    ),
    COMPARISON: "truth values are constants; in np.where(mask, a, b) a and b are recorded",
    MASK: "which elements are copied is a constant; what is copied is recorded",
    NUMBER: "a number of Python is a constant: compute with np, or adopt() the code",
    INTEGER: "integers are constants: compute with the real number",
    TEXT: "text is for reading: a number that is read back from it is a constant",
    TAKEN: "what is taken out is a constant: compute with the array itself",
    ARRAY: "an array of NumPy holds constants: make it by np.zeros of vtgrad.numpy",
    STEP: "the derivative of a step is zero everywhere",
    FUNCTION: "the function has no derivative and was computed on the values",
}


# Folders of packages that are installed.
_INSTALLED: Final = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


@dataclass(eq=False, slots=True)
class Departure:
    """A line at which values that carry a derivative left the record.

    Attributes
    ----------
    kind : str
        ``"branch"``, ``"branch in a loop"``, ``"search"``, ``"comparison"``,
        ``"masked copy in a loop"``, ``"number"``, ``"integer"``, ``"text"``, ``"value"``,
        ``"array of NumPy"``, ``"step"`` or ``"function"``.
    what : str
        The operator, method or function, as ``"<"`` or ``"argsort"``.
    file, function : str
        Where the line is.
    line : int
        Its number.
    count : int
        How often it happened.
    true, false : int
        How often a comparison was true, and false, where it gave one truth value.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([1.0, 2.0]).requires_grad_()
    >>> with np.explain() as found:
    ...     order = np.argsort(x)
    >>> found[0].kind, found[0].what, found[0].count
    ('function', 'argsort', 1)
    """

    kind: str
    what: str
    file: str
    line: int
    function: str
    count: int = 0
    true: int = 0
    false: int = 0

    @property
    def meaning(self) -> str:
        """What it means for the derivative, and what to write.

        Returns
        -------
        str
            A sentence.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.array([1.0, 2.0]).requires_grad_()
        >>> with np.explain() as found:
        ...     steps = np.floor(x)
        >>> found[0].meaning
        'the derivative of a step is zero everywhere'
        """
        return _MEANINGS[self.kind]

    @property
    def where(self) -> str:
        """The line, as an error names it: file and number.

        Returns
        -------
        str
            The file relative to the folder where packages are installed, or to that of the process,
            if it is inside.

        Examples
        --------
        >>> import vtgrad.numpy as np
        >>> x = np.array([1.0, 2.0]).requires_grad_()
        >>> with np.explain() as found:
        ...     steps = np.floor(x)
        >>> found[0].where
        '<doctest ...>:2'
        """
        file = self.file.removeprefix(os.getcwd() + os.sep)
        for name in _INSTALLED:
            file = file.rpartition(name)[2]
        return f"{file}:{self.line}"

    def __str__(self) -> str:
        return f"{self.where}, {self.function}: {self.kind} ({self.what}), {self.count} times"


class _Explaining:
    """The open blocks of a thread, and what its library calls have read so far.

    Attributes
    ----------
    explaining : tuple of explain
        The blocks, the innermost one last.
    reading : dict of int to tuple or None
        The outermost library calls that have read a value, by the id of the frame: the kind and
        the name; None while no block is open.
    """

    explaining: tuple[explain, ...] = own(())
    reading: dict[int, tuple[str, str]] | None = own(None)


_here: Final = part_of_thread(_Explaining)


class explain(Scope, Sequence[Departure]):
    """A block that lists what leaves the record inside of it.

    A program computes the right values and a derivative that lacks a part if it finds a number by
    comparing, goes through text or integers, or hands values to what does not record. The block
    lists each line that did so, with how often. Printed, it is a table with what each kind means.

    A line that is listed need not be wrong: a branch is differentiated as the way that was taken.
    It lists what the thread of the block does between its beginning and its end, of values that
    require grad while recording is on, or carry a tangent. Samples of `vmap` are not listed: their
    comparisons are operators, and what takes their values is refused. Inside of a block all calls
    are slower; outside there is no cost.

    Returns
    -------
    explain
        A sequence of `Departure`, in the order of their first occurrence.

    Raises
    ------
    NotSupportedError
        If a profiler runs on the thread: Python has one for each thread.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> def root(f, low, high):
    ...     for _ in range(50):
    ...         middle = (low + high) / 2
    ...         if f(middle) > 0:
    ...             high = middle
    ...         else:
    ...             low = middle
    ...     return middle
    >>> a = np.array(2.0).requires_grad_()
    >>> with np.explain() as found:
    ...     x = root(lambda x: x * x - a, 0.0, 2.0)
    >>> abs(x - 2**0.5) < 1e-12, isinstance(x, float)
    (True, True)
    >>> print(found)
    count  kind    what  where
       50  search  >     <doctest ...>:4, root
    search: a branch in a loop went both ways; if it finds a number by that, as bisection does, ...
    """

    __slots__ = ("_found", "_lost")

    _found: dict[tuple[CodeType, int, str, str], Departure]
    # Whether another profiler took the place of this one.
    _lost: bool

    def __init__(self) -> None:
        super().__init__()
        self._found = {}
        self._lost = False

    def __enter__(self) -> Self:
        if self in _here.explaining:
            raise NotSupportedError("this explain() is open already; make another one")
        profiler = sys.getprofile()
        if profiler is not None and profiler is not _look:
            raise NotSupportedError(
                "explain() sees calls by sys.setprofile, which another profiler uses on this "
                "thread: end that one first"
            )
        if _here.reading is None:
            _here.reading = {}
        _here.explaining = (*_here.explaining, self)
        sys.setprofile(_look)
        return self

    def restore(self) -> None:
        """End the block."""
        if self not in _here.explaining:
            return
        mine = sys.getprofile() is _look
        if not mine:
            for block in _here.explaining:
                block._lost = True
        _here.explaining = tuple([x for x in _here.explaining if x is not self])
        if not _here.explaining:
            _here.reading = None
            if mine:
                sys.setprofile(None)

    @overload
    def __getitem__(self, index: int) -> Departure: ...
    @overload
    def __getitem__(self, index: slice) -> list[Departure]: ...
    def __getitem__(self, index: int | slice) -> Departure | list[Departure]:
        return list(self._found.values())[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Departure]:
        return iter(list(self._found.values()))

    def __repr__(self) -> str:
        return f"<explain: {len(self)} lines>"

    def __str__(self) -> str:
        notes = []
        if self._lost:
            notes.append("incomplete: another profiler took over on this thread")
        if not self._found:
            return "\n".join(["nothing left the record", *notes])
        rows = [("count", "kind", "what", "where")]
        rows += [(str(x.count), x.kind, x.what, f"{x.where}, {x.function}") for x in self]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            f"{count:>{widths[0]}}  {kind:<{widths[1]}}  {what:<{widths[2]}}  {where}"
            for count, kind, what, where in rows
        ]
        meanings = dict.fromkeys(x.kind for x in self)
        return "\n".join([*lines, *[f"{kind}: {_MEANINGS[kind]}" for kind in meanings], *notes])

    def _enter(self, user: FrameType, kind: str, what: str, result: object) -> None:
        code, line = user.f_code, user.f_lineno
        key = (code, line, kind, what)
        found = self._found.get(key)
        if found is None:
            found = Departure(kind, what, code.co_filename, line, code.co_name)
            self._found[key] = found
        found.count += 1
        if isinstance(result, (bool, np.bool)):
            found.true += bool(result)
            found.false += not result
        if found.kind == LOOP and min(found.true, found.false) > 1:
            # It keeps its place in the list.
            found.kind = SEARCH


# -- the functions that read values ------------------------------------------------------------


def _code(function: Any) -> CodeType:
    code: CodeType = typing.cast("Any", unwrap(function)).__code__
    return code


_COMPARING: Final[dict[CodeType, str]] = {
    _code(ndarray.__eq__): "==",
    _code(ndarray.__ne__): "!=",
    _code(ndarray.__lt__): "<",
    _code(ndarray.__le__): "<=",
    _code(ndarray.__gt__): ">",
    _code(ndarray.__ge__): ">=",
    _code(ndarray.__bool__): "bool",
    _code(ndarray.__contains__): "in",
}
_COMPARING_UFUNCS: Final = frozenset(
    "equal not_equal less less_equal greater greater_equal".split()
)
# The methods and calls that take values out, by what they give. Their first argument is the value.
_TAKING: Final[dict[CodeType, tuple[str, str]]] = {
    _code(ndarray.__float__): (NUMBER, "float"),
    _code(ndarray.__complex__): (NUMBER, "complex"),
    _code(ndarray.__int__): (INTEGER, "int"),
    _code(ndarray.__index__): (INTEGER, "index"),
    _code(scalar.__round__): (INTEGER, "round"),
    _code(ndarray.__str__): (TEXT, "str"),
    _code(scalar.__str__): (TEXT, "str"),
    _code(ndarray.__repr__): (TEXT, "repr"),
    _code(scalar.__repr__): (TEXT, "repr"),
    _code(ndarray.__format__): (TEXT, "format"),
    _code(scalar.__hash__): (TAKEN, "hash"),
    _code(ndarray.item): (TAKEN, "item"),
    _code(ndarray.tolist): (TAKEN, "tolist"),
    _code(ndarray.detach): (TAKEN, "detach"),
    _code(ndarray.numpy): (TAKEN, "numpy"),
    _code(ndarray.__array__): (TAKEN, "array"),
    _code(ndarray.astype): (INTEGER, "astype"),
    _code(operands.cast): (INTEGER, "cast"),
    _code(round_): (STEP, "round"),
    _code(fix): (STEP, "fix"),
}
# Functions that copy under a mask, and the arguments that say which elements.
_MASKING: Final[dict[CodeType, tuple[str, ...]]] = {
    _code(ndarray.__setitem__): ("index",),
    _code(copyto): ("where",),
    _code(putmask): ("mask",),
    _code(place): ("mask",),
}
_STEPS: Final = frozenset("ceil floor rint sign trunc heaviside floor_divide".split())
_VALUE_OF: Final = _code(operands.value_of)
# What `int(x)` and `map(int, x)` call in adopted code.
_ADOPTED: Final = frozenset(
    map(_code, (adopted_numbers.CALLS["int"], adopted_numbers.converting(int)))
)
# The ways into a ufunc, and their arguments that are operands.
_UFUNC_CALLS: Final[dict[CodeType, tuple[str, ...]]] = {
    _code(Unary.__call__): ("x",),
    _code(Binary.__call__): ("x1", "x2"),
    _code(Binary.of_pair): ("a", "b"),
    _code(Ufunc.compute): ("inputs",),
}
# Those whose result may carry the derivative: then nothing has left.
_MAY_RECORD: Final = frozenset((FUNCTION, INTEGER, COMPARISON))
_WATCHED: Final = frozenset(
    (_VALUE_OF, *_COMPARING, *_TAKING, *_MASKING, *_UFUNC_CALLS),
)

# Folders of the library in which values are read that are not the user's: those of derivatives.
_PACKAGE: Final = os.path.dirname(os.path.dirname(_VALUE_OF.co_filename)) + os.sep
_COMPUTING: Final = tuple(_PACKAGE + name + os.sep for name in ("autograd", "engine", "func"))


def _carries(x: object) -> bool:
    """Whether a value has a derivative at this moment."""
    if not isinstance(x, TensorBase):
        return False
    if is_recording() and requires_grad(x):
        return True
    return bool(keys.modes) and bool(keys_of(x) & DUAL)


def _any_carries(tree: object) -> bool:
    return any(_carries(x) for x in tensors_in(tree))


def _look(frame: FrameType, event: str, result: Any) -> None:
    """What Python calls at each call and return on the thread of a block."""
    reading = _here.reading
    if reading is None:
        # The block was left without its end, or on another thread.
        sys.setprofile(None)
        return
    if event == "call":
        if frame.f_code in _WATCHED:
            _note(frame, reading)
    elif event == "return" and reading:
        read = reading.pop(id(frame), None)
        if read is not None and _has_returned(frame):
            _finish(frame, *read, result)


def _note(frame: FrameType, reading: dict[int, tuple[str, str]]) -> None:
    """Note that a function which reads values was called, if they carry a derivative."""
    code = frame.f_code
    found = _read(frame, code)
    if found is None:
        return
    outer = frame
    while True:
        if outer.f_code.co_filename.startswith(_COMPUTING):
            return
        back = outer.f_back
        if back is None:
            return
        if _is_users(back):
            break
        outer = back
    reading.setdefault(id(outer), _of_entry(outer, found))


def _is_users(frame: FrameType) -> bool:
    """Whether a frame is one of the user's program, to which adopted code belongs."""
    code = frame.f_code
    if is_inside(code):
        return False
    if not is_library(code.co_filename):
        return True
    name = frame.f_globals.get("__name__")
    return isinstance(name, str) and is_private(name)


def _read(frame: FrameType, code: CodeType) -> tuple[str, str] | None:
    """The kind and the name of what a function takes, if it takes a value with a derivative."""
    given = frame.f_locals
    if code in _MASKING:
        masks = [given[name] for name in _MASKING[code]]
        others = [value for name, value in given.items() if name not in _MASKING[code]]
        if any(map(_is_mask, masks)) and _any_carries(others):
            return MASK, "x[mask] = y" if code.co_name == "__setitem__" else code.co_name
        return None
    if code in _UFUNC_CALLS:
        name: str = given["self"].__name__
        inputs = [given[key] for key in _UFUNC_CALLS[code]]
        return (STEP, name) if name in _STEPS and _any_carries(inputs) else None
    if not _carries(given[code.co_varnames[0]]):
        return None
    if code in _COMPARING:
        return COMPARISON, _COMPARING[code]
    return _TAKING.get(code, (FUNCTION, code.co_name))


def _is_mask(index: object) -> bool:
    if isinstance(index, tuple):
        return any(map(_is_mask, index))
    if isinstance(index, TensorBase):
        index = index._impl.array
    dtype: object = getattr(index, "dtype", None)
    return dtype == np.bool and getattr(index, "ndim", 0) > 0


# Where the functions that stand for others have the name of the other one.
_NAMED: Final = {
    "__call__": "self",
    "of_pair": "self",
    "call": "plain",
    "computed": "text",
    "text": "numpys",
    "__array_ufunc__": "ufunc",
    "__array_function__": "function",
}


def _of_entry(frame: FrameType, found: tuple[str, str]) -> tuple[str, str]:
    """The kind and the name by the library function that the user's line has called."""
    code = frame.f_code
    if code in _COMPARING:
        return COMPARISON, _COMPARING[code]
    if code in _TAKING:
        return _TAKING[code]
    if code in _ADOPTED:
        return INTEGER, "int"
    # A ufunc, a function of `math` in adopted code, or one of NumPy's own that was called.
    known = frame.f_locals.get(_NAMED.get(code.co_name, ""))
    name = getattr(known, "__name__", code.co_name)
    if name in _COMPARING_UFUNCS:
        return COMPARISON, name
    return found if found[0] in (MASK, STEP) else (FUNCTION, name)


def _has_returned(frame: FrameType) -> bool:
    """Whether a function that has ended gave a result, and no exception."""
    name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    return name.startswith("RETURN")


def _finish(frame: FrameType, kind: str, what: str, result: object) -> None:
    """Enter what the library call of a user's line has read, as it returns."""
    user = frame.f_back
    if user is None:
        return
    if kind in _MAY_RECORD and _any_carries(result):
        return
    if kind == INTEGER and not _is_integer(result):
        if what in ("astype", "cast") and not isinstance(result, np.ndarray):
            return
        kind = TEXT if isinstance(result, (str, np.ndarray)) else INTEGER
    place = _layout(user.f_code).at(user.f_lasti)
    looping = user.f_lineno in _layout(user.f_code).loops
    if kind == COMPARISON and place in (_BRANCHES, _BRANCHES_AFTER):
        kind = LOOP if looping else BRANCH
    elif kind in (NUMBER, INTEGER, TAKEN) and place == _STORES:
        kind = ARRAY
    elif (kind == MASK and not looping) or (kind == FUNCTION and result is None):
        return
    for block in _here.explaining:
        block._enter(user, kind, what, result)


def _is_integer(result: object) -> bool:
    dtype = result._impl.array.dtype if isinstance(result, TensorBase) else np.dtype(type(result))
    return dtype.kind in "biu"


# -- what a line does with a result -------------------------------------------------------------

_ELSEWHERE: Final = 0
_BRANCHES: Final = 1
_BRANCHES_AFTER: Final = 2
_STORES: Final = 3

# Instructions between a comparison and the jump that it decides.
_BETWEEN: Final = frozenset(("CACHE", "COPY", "EXTENDED_ARG", "NOT_TAKEN", "TO_BOOL", "UNARY_NOT"))
_JUMPS: Final = ("POP_JUMP", "JUMP_IF")


class _Layout:
    """The instructions of a function of the user.

    Attributes
    ----------
    offsets, roles : list of int
        Where instructions begin, and what each does with a truth value or a number.
    loops : set of int
        The lines inside of loops.
    """

    __slots__ = ("loops", "offsets", "roles")

    def __init__(self, code: CodeType) -> None:
        instructions = list(dis.get_instructions(code))
        self.offsets = [x.offset for x in instructions]
        self.roles = [_role(instructions, i) for i in range(len(instructions))]
        spans = [
            (x.argval, x.offset)
            for x in instructions
            if (x.opcode in dis.hasjrel or x.opcode in dis.hasjabs) and x.argval <= x.offset
        ]
        self.loops: set[int] = {
            line
            for start, end, line in code.co_lines()
            if line is not None and any(start <= last and end > first for first, last in spans)
        }

    def at(self, offset: int) -> int:
        """What the instruction at an offset does."""
        place = bisect_right(self.offsets, offset) - 1
        return self.roles[place] if place >= 0 else _ELSEWHERE


def _role(instructions: list[dis.Instruction], i: int) -> int:
    name = instructions[i].opname
    if name.startswith(_JUMPS):
        return _BRANCHES
    if name == "STORE_SUBSCR":
        return _STORES
    following = i + 1
    while following < len(instructions) and instructions[following].opname in _BETWEEN:
        following += 1
    if following < len(instructions) and instructions[following].opname.startswith(_JUMPS):
        return _BRANCHES_AFTER
    return _ELSEWHERE


_layout: Final[Callable[[CodeType], _Layout]] = lru_cache(maxsize=256)(_Layout)
