"""The state of one recording: what is known, and what was called.

Note [One wrapper]

Nearly every function and method of NumPy is recorded by `Recorder.call`. It calls the function on
plain arrays and looks at what comes back: an array in known memory is a view, and no step; an array
on new memory is a step; a value of Python is a guard. Few need more to be known about them: those
that write to an argument, and those that tell only what a dtype or a shape tells. Those are listed
in `numpy_functions.py`.

If a view has several arrays among its arguments, the others decide which view it is, as an array of
sizes does in ``x.reshape(sizes)``. So their values are guarded.

Note [Numbers of NumPy]

NumPy returns scalars from ufuncs of 0-d arrays, from sums, and for elements. A scalar has no
address, so a recording has a `RecordingNumber` in its place: a 0-d array that cannot be written,
and that is no plain array to a kernel that asks. ``np.asarray(number)``, which makes a new array of
a scalar, takes over the memory of the number; if the number is used after that memory was written,
the recording is refused.

Note [Places that arrays remember]

The search for an address takes longer than most calls that are recorded. So an array of a recording
remembers its place, once that was found by its address. The address cannot change: the array keeps
the memory alive, and NumPy's `resize` and ``data`` are refused. Its geometry can, by a store to
``shape``, so it is compared. The mark is of one recorder: what an array remembers from an earlier
recording is nothing to a later one.
"""

from __future__ import annotations

import copy
import operator
from array import array as numbers
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from types import EllipsisType
from typing import Any, Final

import numpy as np

from vtgrad.errors import RecordingError
from vtgrad.jit.callers import Caller, look, users_frame
from vtgrad.jit.compare import same_step
from vtgrad.jit.interpret import Checksums, checksum, unwritten
from vtgrad.jit.names import remember_names
from vtgrad.jit.numpy_functions import OUT_POSITIONS, values_give_shape
from vtgrad.jit.provenance import (
    Known,
    KnownMemory,
    address_of,
    extent_of,
    memory_at,
    ultimate_owner,
)
from vtgrad.jit.steps import Buffer, Fixed, Group, Guard, Kind, Line, Operand, Place, Program, Step
from vtgrad.jit.steps import places_in as places_in
from vtgrad.jit.values import (
    NamedLast,
    arrays_in,
    bits_of,
    is_basic,
    is_python,
    is_uniform,
    name_of,
)
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import lasting_arrays
from vtgrad.storage.lazy_array import LazyArray
from vtgrad.storage.thread_state import part_of_thread

__all__ = ["Recorder", "Recording", "recording"]

_view: Final = np.ndarray.view
_NO_VALUE: Final = type(np._NoValue)
# Methods of ufuncs that write all of their results, also with ``where``.
_WHOLE: Final = frozenset({"reduce", "accumulate", "reduceat"})
# What takes ``where`` for elements, and is no ufunc.
_CLIPS: Final = frozenset({np.clip, np.ndarray.clip})
_NUMBERS: Final = frozenset("?bBhHiIlLqQefdgFDG")
# Types whose objects are the same in each run.
_FIXED: Final = frozenset(
    {
        bool,
        int,
        float,
        complex,
        str,
        type(None),
        EllipsisType,
        type,
        type(NotImplemented),
        range,
        _NO_VALUE,
    }
)


class Recording:
    """The part of a thread's state that says what records on it.

    Attributes
    ----------
    recorder : Recorder or None
        What records; a setting, so that a thread that runs a part of the program records too.
    """

    recorder: Recorder | None = None


recording: Final = part_of_thread(Recording)


class Recorder:
    """What a recording knows and has written down.

    Parameters
    ----------
    adopt : callable
        Makes bytes of tensors from outside known, if they are.
    kinds : tuple of type
        The classes of arrays and of numbers.
    expected : Program, optional
        An earlier recording, whose steps are shared where they are the same. What steps read is
        noted then, see Note [Each step is rechecked].

    Attributes
    ----------
    memory : KnownMemory
        The known memory.
    steps, guards : list
        As in `Program`.
    reads : array of int or None
        The checksums of what they have read; None if nothing is expected.
    refused : RecordingError or None
        The first refusal, which the program may catch.
    caught : BaseException or None
        An error of NumPy that a recorded call has raised.
    ended : Caller or None
        The program's own line, once it has run: what is refused then has no line in it.
    """

    def __init__(
        self,
        adopt: Callable[[Recorder, int, int], Known | None],
        kinds: tuple[type[Array], type[Array]],
        expected: Program | None = None,
    ) -> None:
        self.memory: KnownMemory = KnownMemory()
        self._expected = expected
        if expected is not None:
            self.memory.share(expected)
        self.steps: list[Step] = []
        self.guards: list[Guard] = []
        self.reads: Checksums | None = None if expected is None else numbers("I")
        # The arrays among the operands of the present call.
        self._operands: list[tuple[Place, Array]] = []
        self.refused: RecordingError | None = None
        self.caught: BaseException | None = None
        self.ended: Caller | None = None
        self.originals: dict[int, Array] = {}
        self._adopt = adopt
        # The number of the first buffer that the present call makes.
        self._first_new = 0
        self._array, self._number = kinds
        # What the places have that arrays remember.
        self._mark = object()
        # The user's names for buffers, and the lines at which variables have been looked at.
        self._names: dict[int, str] = {}
        self._lines: set[Line | None] = {None}

    def program(self, results: Sequence[Place]) -> Program:
        """What was written down."""
        for number, name in self._names.items():
            self.memory.buffers[number].name = name
        return Program(self.memory.buffers, self.steps, self.guards, list(results))

    # -- what is known ---------------------------------------------------------------------

    def refuse(self, sentence: str, reason: str) -> RecordingError:
        """The error that says why a program is not recorded, with both lines."""
        caller = self.ended or look()
        where = "".join(
            f"\n  {whose}: {line[0]}:{line[1]}"
            for whose, line in (("library", caller.library), ("program", caller.line))
            if line is not None
        )
        error = RecordingError(
            sentence + where, reason=reason, library=caller.library, line=caller.line
        )
        if self.refused is None:
            self.refused = error
        return error

    def known(self, array: Array) -> tuple[Known, int] | None:
        """The buffer in which an array lies, and its address; None if it is not known."""
        address = address_of(array)
        low, high = extent_of(array)
        start, stop = address + low, address + high
        found = self.memory.find(start, stop)
        if found is None:
            found = self._adopt(self, start, stop)
        if found is None:
            found = self._lasting(start, stop)
        return None if found is None else (found, address)

    def _lasting(self, start: int, stop: int) -> Known | None:
        """The memory of a constant of the library in which some bytes lie, now known."""
        for array in lasting_arrays():
            address = address_of(array)
            low, high = extent_of(array)
            first, last = address + low, address + high
            if first <= start and stop <= last and array.size:
                content = memory_at(array, first, last).copy()
                buffer = Buffer(Kind.CONSTANT, content.size, content=content)
                return self.memory.add(buffer, array, first, last, hold=True)
        return None

    def place(self, array: Array) -> Place:
        """The place of an array.

        Raises
        ------
        RecordingError
            If it is not known.
        """
        place = self.place_if_known(array)
        if place is None:
            raise self.refuse(
                f"an array of dtype {array.dtype} and shape {array.shape} is not known to the "
                "recording: it was made by a call that cannot be recorded, or before the program "
                "began; pass it as an argument",
                "unknown array",
            )
        return place

    def place_if_known(self, array: Array) -> Place | None:
        """The place of an array; None if it is not known."""
        if not array.size:
            return Place(0, array.dtype, array.shape, array.strides, 0)
        kept: tuple[object, Place] | None = getattr(array, "kept_place", None)
        if kept is not None and kept[0] is self._mark:
            place = kept[1]
            if (
                place.shape == array.shape
                and place.strides == array.strides
                and place.dtype is array.dtype
            ):
                return place
        found = self.known(array)
        if found is None:
            return None
        known, address = found
        if isinstance(array, self._number) and known.writes > 1:
            raise self.refuse(
                "a number of NumPy is used after an array made of it was written",
                "written number",
            )
        place = self.memory.place(known, array, address)
        self._keep(array, place)
        return place

    def _keep(self, array: object, place: Place) -> None:
        """Let an array remember its place; see Note [Places that arrays remember]."""
        if type(array) is self._array:
            keeper: Any = array
            keeper.kept_place = self._mark, place

    # -- arguments -------------------------------------------------------------------------

    def operand(self, value: object) -> Operand:
        """What stands for an argument in a step."""
        if isinstance(value, np.ndarray):
            if isinstance(value, LazyArray):
                raise self.refuse(
                    "the values of a lazily conjugated array are not recorded", "lazy array"
                )
            place = self.place(value)
            if self.reads is not None:
                self._operands.append((place, value))
            return place
        kind = type(value)
        if kind in _FIXED or isinstance(value, (np.dtype, type)):
            return Fixed(value)
        if kind is slice:
            return Fixed(value)
        if isinstance(value, (tuple, list)):
            parts = tuple([self.operand(x) for x in value])
            if all(isinstance(x, Fixed) for x in parts):
                return Fixed(list(value) if kind is list else tuple(value))
            return Group(list if kind is list else tuple, parts)
        if isinstance(value, np.generic):
            raise self.refuse(
                f"a scalar of NumPy, {value!r}, is not known to the recording; use a number of "
                "Python",
                "unknown scalar",
            )
        raise self.refuse(
            f"an argument of type {kind.__name__} cannot be recorded", "unknown argument"
        )

    def _read(self, writes: Sequence[Place] = ()) -> int:
        """The checksum of the operands, without those that are only written."""
        found = 0
        for place, array in self._operands:
            if not writes or place not in writes:
                found = checksum(array, found)
        self._operands.clear()
        return found

    def plain(self, value: object) -> object:
        """An argument with plain arrays, which are remembered until the call returns."""
        if isinstance(value, self._array):
            found = _view(value, np.ndarray)
            self.originals[id(found)] = value
            return found
        kind = type(value)
        if isinstance(value, np.ndarray) and kind is np.ndarray:
            self.originals[id(value)] = value
        elif isinstance(value, tuple) and kind is tuple:
            return tuple([self.plain(x) for x in value])
        elif isinstance(value, list) and kind is list:
            return [self.plain(x) for x in value]
        return value

    # -- calls -----------------------------------------------------------------------------

    def run(
        self, function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        """Call a function of NumPy on plain arguments."""
        self._first_new = len(self.memory.buffers)
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            self.caught = error
            raise

    def call(
        self,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
        written: Sequence[object] = (),
    ) -> object:
        """Call a function or an unbound method, and write it down; see Note [One wrapper].

        Parameters
        ----------
        function : callable
            What is called.
        args, kwargs : tuple, mapping
            Its arguments.
        written : sequence
            Those of them that it writes to.
        """
        position = OUT_POSITIONS.get(function, len(args))
        if position < len(args) and args[position] is not None:
            if len(args) > position + 1:
                raise self.refuse(
                    f"{name_of(function)} with arguments behind out cannot be recorded; name them",
                    "unknown argument",
                )
            args, kwargs = args[:position], {**kwargs, "out": args[position]}
        inputs = tuple([self.operand(x) for x in args])
        keywords = tuple([(name, self.operand(x)) for name, x in kwargs.items()])
        out = kwargs.get("out")
        if out is None and "where" in kwargs and function in _CLIPS:
            raise self.refuse(
                "clip with where and without out returns elements that nothing has written",
                "refused function",
            )
        targets = [*written, *(out if isinstance(out, tuple) else (out,))]
        writes = tuple([self.place(x) for x in targets if isinstance(x, np.ndarray)])
        for place in writes:
            self._before_write(place)
        read = self._read(writes)
        outer, self.originals = self.originals, {}
        try:
            plain_args = tuple([self.plain(x) for x in args])
            plain_kwargs = {name: self.plain(x) for name, x in kwargs.items()}
            found = self.run(function, plain_args, plain_kwargs)
            values = (*args, *kwargs.values())
            return self._finish(function, (inputs, keywords, values), writes, read, found)
        finally:
            self.originals = outer

    def _finish(
        self,
        function: Callable[..., object],
        arguments: tuple[tuple[Operand, ...], tuple[tuple[str, Operand], ...], tuple[object, ...]],
        writes: tuple[Place, ...],
        read: int,
        found: object,
    ) -> object:
        """Write a call down by what it has returned."""
        inputs, keywords, values = arguments
        if isinstance(found, (tuple, list)) and any(
            isinstance(x, (np.ndarray, np.generic)) for x in found
        ):
            parts = list(found)
        elif isinstance(found, (np.ndarray, np.generic)):
            parts = [found]
        else:
            if writes:
                if found is not None:
                    raise self.refuse(
                        f"{name_of(function)} writes and returns a value", "unknown result"
                    )
                self.step(function, inputs, keywords, (), writes, read)
            elif found is not None and found is not NotImplemented:
                self.guard(function, inputs, keywords, found, read)
            return found
        wrapped = [
            self._wrapped(x, is_known=any(x is y for y in parts[:nr])) for nr, x in enumerate(parts)
        ]
        self._check_identity(function, values, writes, [x for x, _ in wrapped])
        fresh = [place for _, place in wrapped if place is not None]
        if not writes and all(x.size == 0 for x in parts) and values_give_shape(function, inputs):
            # Other values may give results with elements.
            fresh = [Place(0, x.dtype, x.shape, x.strides, 0) for x in parts]
        if fresh and len(fresh) < len(parts):
            raise self.refuse(
                f"{name_of(function)} returns new arrays and views at once", "mixed results"
            )
        if fresh or writes:
            self.step(function, inputs, keywords, tuple(fresh), writes, read)
        else:
            self._guard_others(values, [x for x, _ in wrapped])
        results = [x for x, _ in wrapped]
        if not isinstance(found, (tuple, list)):
            return results[0]
        make = getattr(type(found), "_make", type(found))
        made: object = make(results)
        return made

    def _check_identity(
        self,
        function: Callable[..., object],
        arguments: Sequence[object],
        writes: tuple[Place, ...],
        results: Sequence[object],
    ) -> None:
        """Refuse a function that returns a later argument, to which it may have written."""
        if not writes:
            for other in arguments[1:]:
                if isinstance(other, np.ndarray) and any(x is other for x in results):
                    raise self.refuse(
                        f"{name_of(function)} returns an argument, and may have written to it",
                        "unknown result",
                    )

    def _wrapped(self, value: object, is_known: bool = False) -> tuple[object, Place | None]:
        """A result for the program, and its place if its memory is new.

        Parameters
        ----------
        is_known : bool
            Whether the call has returned the same array before, as `diag_indices_from` does.
        """
        if isinstance(value, np.generic):
            if value.dtype.char not in _NUMBERS:
                raise self.refuse(f"a scalar of dtype {value.dtype} is unknown", "unknown scalar")
            array: Array = np.array(value)
            fresh = self.fresh(array)
            number: Array = _view(array, self._number)
            number.setflags(write=False)
            return number, fresh
        if not isinstance(value, np.ndarray):
            raise self.refuse(
                f"a result of type {type(value).__name__} is unknown", "unknown result"
            )
        original = self.originals.get(id(value))
        if original is not None:
            return original, None
        if type(value) is not np.ndarray:
            self.place(value)
            return value, None
        if value.dtype.char not in _NUMBERS:
            raise self.refuse(f"an array of dtype {value.dtype} is unknown", "unknown dtype")
        if not value.size:
            return _view(value, self._array), None
        # What owns its memory, and is no argument, is new.
        found = self.known(value) if is_known or value.base is not None else None
        if found is not None:
            known, address = found
            # Several results of this call may lie in one buffer.
            is_new = known.number >= self._first_new
            place = self.memory.place(known, value, address) if is_new else None
            return self._view_at(value, place), place
        place = self.fresh(value)
        return self._view_at(value, place), place

    def _view_at(self, array: Array, place: Place | None) -> Array:
        """An array of the recording on the memory of an array, at a place that is known or not."""
        found: Array = _view(array, self._array)
        if place is not None:
            self._keep(found, place)
        return found

    def fresh(self, array: Array) -> Place:
        """Make the memory of a new array known."""
        owner = ultimate_owner(array)
        # Several results of a call may lie in one another's gaps.
        whole = owner if not array.flags.forc and owner.base is None else array
        first = address_of(whole)
        low, high = extent_of(whole)
        start, stop = first + low, first + high
        address = first if whole is array else address_of(array)
        if self.memory.overlaps(start, stop):
            raise self.refuse("a result lies in part on known memory", "overlap")
        known = self.memory.add(Buffer(Kind.FRESH, stop - start), owner, start, stop, hold=False)
        return self.memory.place(known, array, address)

    def created(self, array: Array) -> Array:
        """An array without a content, that a creator has made."""
        if array.size:
            self.fresh(array)
            if array.dtype.char in _NUMBERS:
                array.fill(unwritten(array.dtype))
        return _view(array, self._array)

    def filled(self, array: Array, first_new: int | None = None) -> Array:
        """An array of numbers that are the same in each run, that a creator has made.

        Parameters
        ----------
        first_new : int, optional
            The number of the first buffer in which the array may lie, beside another result.
        """
        if not array.size:
            return _view(array, self._array)
        if array.dtype.char not in _NUMBERS:
            raise self.refuse(f"an array of dtype {array.dtype} is unknown", "unknown dtype")
        found = None if first_new is None else self.known(array)
        if found is not None and first_new is not None and found[0].number >= first_new:
            place = self.memory.place(found[0], array, found[1])
        else:
            place = self.fresh(array)
        content = Fixed(array[(0,) * array.ndim].item()) if is_uniform(array) else None
        source: Operand = content or self.constant(array)
        read = 0 if content or self.reads is None else checksum(array, 0)
        self.step(operator.setitem, (place, Fixed(...), source), (), (), (place,), read)
        return _view(array, self._array)

    def all_filled(self, arrays: Sequence[Array]) -> list[Array]:
        """As `filled`, for the results of one call.

        One array may be there several times, as of `diag_indices`, and several may lie in one
        another's gaps, as of `unravel_index`.
        """
        first_new = len(self.memory.buffers)
        filled = {
            key: self.filled(array, first_new)
            for key, array in {id(array): array for array in arrays}.items()
        }
        return [filled[id(array)] for array in arrays]

    def constant(self, array: Array) -> Place:
        """The place of a new constant with the content of an array."""
        dense = array.copy("C")
        content = np.frombuffer(bits_of(dense), np.uint8)
        number = len(self.memory.buffers)
        self.memory.buffers.append(Buffer(Kind.CONSTANT, content.size, content=content))
        return Place(number, dense.dtype, dense.shape, dense.strides, 0)

    def ufunc(
        self,
        function: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
        out: tuple[object, ...],
    ) -> object:
        """Call a ufunc or one of its methods, and write it down.

        Parameters
        ----------
        function : callable
            The ufunc, or a method that is bound to it.
        args, kwargs : tuple, dict
            Its arguments without ``out``.
        out : tuple
            An array or None for each result; empty if there is none.
        """
        inputs = tuple([self.operand(x) for x in args])
        keywords = tuple([(name, self.operand(x)) for name, x in kwargs.items()])
        for x in out:
            if isinstance(x, np.ndarray):
                self._before_write(self.place(x))
        read = self._read()
        outer, self.originals = self.originals, {}
        try:
            plain = {name: self.plain(x) for name, x in kwargs.items()}
            if out:
                plain["out"] = tuple([self.plain(x) for x in out])
            elif "where" in kwargs:
                # Without `out` NumPy warns of elements that are not written; `None` stops that.
                plain["out"] = None
            found = self.run(function, tuple([self.plain(x) for x in args]), plain)
            parts = found if isinstance(found, tuple) else (found,)
            if "where" in kwargs and getattr(function, "__name__", "") not in _WHOLE:
                parts = _others_filled(parts, out, plain["where"])
            results, outputs = [], []
            for part in parts:
                result, place = self._wrapped(part)
                results.append(result)
                if place is None:
                    assert isinstance(result, np.ndarray)
                    place = self.place(result)
                outputs.append(place)
        finally:
            self.originals = outer
        if any(0 not in place.shape for place in outputs):
            self.step(function, inputs, keywords, tuple(outputs), (), read)
        return tuple(results) if isinstance(found, tuple) else results[0]

    def getitem(self, array: Array, key: object) -> object:
        """An element, a part or a choice of an array."""
        key = self.index(key)
        if not is_basic(key):
            return self.call(operator.getitem, (array, key), {})
        plain = _view(array, np.ndarray)
        part = self.run(operator.getitem, (plain, key), {})
        if isinstance(part, np.ndarray):
            return self._view_at(part, self.place(part))
        parts = key if isinstance(key, tuple) else (key,)
        element = plain[(*parts, ...)] if ... not in parts else plain[parts]
        place = self.operand(element)
        own = element.copy()
        self.step(np.ndarray.copy, (place,), (), (self.fresh(own),), (), self._read())
        number: Array = _view(own, self._number)
        number.setflags(write=False)
        return number

    def setitem(self, array: Array, key: object, value: object) -> None:
        """Write to a part of an array."""
        key = self.index(key)
        if not is_basic(key):
            self.call(operator.setitem, (array, key, value), {}, [array])
            return
        plain = _view(array, np.ndarray)
        parts = key if isinstance(key, tuple) else (key,)
        target: Array = plain[(*parts, ...)] if ... not in parts else plain[parts]
        stored = self.operand(value)
        place = self.place(target)
        self._before_write(place)
        read = self._read((place,))
        outer, self.originals = self.originals, {}
        try:
            self.run(operator.setitem, (plain, key, self.plain(value)), {})
        finally:
            self.originals = outer
        if target.size:
            self.step(operator.setitem, (place, Fixed(...), stored), (), (), (place,), read)

    def index(self, key: object) -> object:
        """A key in which integers of arrays are Python's, and guarded."""
        if isinstance(key, tuple):
            return tuple([self.index(x) for x in key])
        if isinstance(key, slice):
            ends = [self.index(x) for x in (key.start, key.stop, key.step)]
            return slice(*ends)
        if isinstance(key, np.ndarray) and not key.ndim and key.dtype.kind in "iu":
            value = operator.index(_view(key, np.ndarray))
            self.leaves(operator.index, key, value)
            return value
        return key

    # -- writing down ----------------------------------------------------------------------

    def _before_write(self, place: Place) -> None:
        """Refuse a write to a constant."""
        if self.memory.buffers[place.buffer].kind is Kind.CONSTANT:
            raise self.refuse("the program writes to a constant of the library", "constant")

    def step(
        self,
        function: Callable[..., object],
        inputs: tuple[Operand, ...],
        keywords: tuple[tuple[str, Operand], ...],
        outputs: tuple[Place, ...],
        writes: tuple[Place, ...],
        read: int,
    ) -> None:
        """Write a step down; `read` is the checksum of what it has read."""
        step = Step(function, inputs, keywords, outputs, writes)
        expected = self._expected_step()
        if expected is not None and same_step(expected, step):
            # Its line was found when it was recorded before.
            step = expected
        else:
            self._find_line(step)
        self.steps.append(step)
        if self.reads is not None:
            self.reads.append(read)
        for place in (*outputs, *writes):
            known = self.memory.alive.get(place.buffer)
            if known is not None:
                known.writes += 1

    def _expected_step(self) -> Step | None:
        """The next step of the earlier recording, if it has one."""
        if self._expected is None or len(self.steps) >= len(self._expected.steps):
            return None
        return self._expected.steps[len(self.steps)]

    def _find_line(self, step: Step) -> None:
        """Find the line and the operator of a step, and look around at lines that are new."""
        caller = look()
        step.line, step.operator = caller.line, caller.operator
        if caller.line in self._lines:
            return
        self._lines.add(caller.line)
        self._remember_names()
        if not {"raise", "call"}.isdisjoint(np.geterr().values()):
            raise self.refuse(
                "NumPy's warnings are errors here, by errstate or seterr, and a replay has "
                "none: test values by isfinite",
                "errors",
            )

    def _remember_names(self) -> None:
        """Look at the variables of the user's function that calls."""
        frame = users_frame()
        if frame is not None:
            remember_names(frame, self._whole_buffer, self._names)

    def _whole_buffer(self, address: int, nbytes: int) -> int | None:
        """The number of the buffer that has just these bytes."""
        known = self.memory.find(address, address + nbytes)
        if known is None or (known.start, known.stop) != (address, address + nbytes):
            return None
        return known.number

    def guard(
        self,
        function: Callable[..., object],
        inputs: tuple[Operand, ...],
        keywords: tuple[tuple[str, Operand], ...],
        value: object,
        read: int,
    ) -> None:
        """Write down that a value has left; `read` is the checksum of what it is a value of."""
        if not any(True for x in (*inputs, *[y for _, y in keywords]) for _ in places_in(x)):
            return
        if not is_python(value):
            raise self.refuse(
                f"{name_of(function)} returns an object of type {type(value).__name__}",
                "unknown result",
            )
        if keywords:
            function = NamedLast(function, tuple([name for name, _ in keywords]))
            inputs = (*inputs, *[x for _, x in keywords])
        # The program may change a list that it has got.
        value = copy.deepcopy(value)
        self.guards.append(Guard(len(self.steps), function, inputs, value, look().line))
        if self.reads is not None:
            self.reads.append(read)

    def leaves(self, function: Callable[..., object], array: Array, value: object) -> None:
        """Write down that a value of one array has left."""
        place = self.operand(array)
        self.guard(function, (place,), (), value, self._read())

    def _guard_others(self, arguments: Sequence[object], views: Sequence[object]) -> None:
        """Guard the arrays that decide which views a call returns."""
        arrays = list(arrays_in(arguments))
        if len(arrays) < 2:
            return
        lie_in = {self.place(x).buffer for x in views if isinstance(x, np.ndarray)}
        for array in arrays:
            place = self.place(array)
            if place.buffer not in lie_in:
                values: object = _view(array, np.ndarray).tolist()
                self.leaves(np.ndarray.tolist, array, values)


def _others_filled(
    parts: tuple[object, ...], out: tuple[object, ...], where: object
) -> tuple[object, ...]:
    """Results of a call, in which the elements that it has left unwritten are `UNWRITTEN`."""
    chosen = np.asarray(where)
    filled: list[object] = []
    for part, target in zip(parts, out or repeat(None), strict=False):
        if target is None and isinstance(part, np.ndarray) and part.dtype.char in _NUMBERS:
            np.copyto(part, unwritten(part.dtype), where=~chosen)
        elif target is None and isinstance(part, np.generic) and part.dtype.char in _NUMBERS:
            # An array without axes is returned as a scalar.
            part = part if chosen.all() else unwritten(part.dtype)
        filled.append(part)
    return tuple(filled)
