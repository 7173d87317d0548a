"""Which memory a recording knows.

Note [Known by address]

A recording knows an array only by where its elements are: inside memory of an argument, of a tensor
that existed before, of a result of a recorded call, or of a constant of the library. The class of
an array makes calls visible, and is never taken as a proof of where the values came from. An array
elsewhere may hold anything, so it is refused.

Memory of results is held weakly: it is known as long as it exists. When it is freed, the same
addresses may become those of an array that no recorded call made.
"""

from __future__ import annotations

import weakref
from bisect import bisect_right
from collections import deque
from typing import Final

import numpy as np

from vtgrad.jit.compare import same_buffer
from vtgrad.jit.steps import Buffer, Kind, Place, Program
from vtgrad.storage.arrays import Array, NumpyDType, Shape

__all__ = [
    "Known",
    "KnownMemory",
    "address_of",
    "extent_of",
    "is_writable",
    "memory_at",
    "ultimate_owner",
]

# Memory is looked up by page, so that no list is long.
_PAGE_BITS: Final = 16


class _Reference(weakref.ref[Array]):
    """A weak reference to the array that owns the memory of a buffer."""

    __slots__ = ("known",)

    known: Known


class Known:
    """A buffer of a program, while its memory exists.

    Attributes
    ----------
    number : int
        The number of the buffer.
    start, stop : int
        The addresses of the first byte and of one past the last.
    alive : bool
        Whether the memory exists.
    held : numpy.ndarray or None
        What keeps the memory alive, if this object does.
    writes : int
        How many steps wrote to it.
    taken : bool
        Whether an array was made of the number of NumPy that is there.
    """

    __slots__ = (
        "alive",
        "held",
        "number",
        "reference",
        "start",
        "stop",
        "taken",
        "writes",
    )

    number: int
    start: int
    stop: int
    alive: bool
    held: Array | None
    writes: int
    taken: bool
    reference: _Reference | None

    def __init__(self, number: int, start: int, stop: int) -> None:
        self.number = number
        self.start = start
        self.stop = stop
        self.alive = True
        self.held = None
        self.writes = 0
        self.taken = False
        self.reference = None


class KnownMemory:
    """The buffers of a program by address; see Note [Known by address].

    Attributes
    ----------
    buffers : list of Buffer
        All buffers that the program has had.
    alive : dict of int to Known
        Those whose memory exists, by number.
    places : dict
        All places so far.
    """

    __slots__ = ("_dead", "_expected", "_pages", "alive", "buffers", "places")

    buffers: list[Buffer]
    alive: dict[int, Known]
    places: dict[tuple[int, NumpyDType, Shape, Shape, int], Place]
    # By page, the buffers with bytes in it in the order of their addresses, and these addresses.
    _pages: dict[int, tuple[list[int], list[Known]]]
    # A reference dies at any moment, also in the midst of a change of `_pages`.
    _dead: deque[Known]
    _expected: list[Buffer]

    def __init__(self) -> None:
        # The first buffer has no bytes: arrays without elements are there.
        self.buffers = [Buffer(Kind.FRESH, 0)]
        self.alive = {}
        self.places = {}
        self._expected = []
        self._pages = {}
        self._dead = deque()

    def add(self, buffer: Buffer, owner: Array, start: int, stop: int, *, hold: bool) -> Known:
        """Make the memory between two addresses known as a new buffer.

        Parameters
        ----------
        buffer : Buffer
            The buffer.
        owner : numpy.ndarray
            The array that owns the memory.
        start, stop : int
            The addresses.
        hold : bool
            Whether the memory is kept alive.
        """
        if self._dead:
            self._forget_dead()
        known = Known(len(self.buffers), start, stop)
        if known.number < len(self._expected):
            expected = self._expected[known.number]
            if same_buffer(expected, buffer):
                buffer = expected
        self.buffers.append(buffer)
        self.alive[known.number] = known
        if hold:
            known.held = owner
        else:
            reference = _Reference(owner, self._die)
            reference.known = known
            known.reference = reference
        for page in range(start >> _PAGE_BITS, ((stop - 1) >> _PAGE_BITS) + 1):
            starts, entries = self._pages.setdefault(page, ([], []))
            at = bisect_right(starts, start)
            starts.insert(at, start)
            entries.insert(at, known)
        return known

    def share(self, expected: Program) -> None:
        """Use places and buffers of an earlier recording where they are the same."""
        self._expected = expected.buffers
        for step in expected.steps:
            for x in (*step.inputs, *step.outputs, *step.writes):
                if isinstance(x, Place):
                    self.places[x.buffer, x.dtype, x.shape, x.strides, x.offset] = x

    def place(self, known: Known, array: Array, address: int) -> Place:
        """The place of an array in a buffer, in which it is known to lie; one object for each."""
        key = known.number, array.dtype, array.shape, array.strides, address - known.start
        place = self.places.get(key)
        if place is None:
            place = self.places[key] = Place(*key)
        return place

    def find(self, low: int, high: int) -> Known | None:
        """The buffer in which all bytes from one address to another lie, if there is one."""
        if self._dead:
            self._forget_dead()
        page = self._pages.get(low >> _PAGE_BITS)
        if page is None:
            return None
        starts, entries = page
        at = bisect_right(starts, low)
        if not at:
            return None
        known = entries[at - 1]
        return known if high <= known.stop else None

    def overlaps(self, low: int, high: int) -> bool:
        """Whether a byte between two addresses is known."""
        self._forget_dead()
        for page in range(low >> _PAGE_BITS, ((high - 1) >> _PAGE_BITS) + 1):
            for known in self._pages.get(page, ([], []))[1]:
                if known.start < high and low < known.stop:
                    return True
        return False

    def _die(self, reference: weakref.ref[Array]) -> None:
        assert isinstance(reference, _Reference)
        self._dead.append(reference.known)

    def _forget_dead(self) -> None:
        while self._dead:
            known = self._dead.popleft()
            known.alive = False
            del self.alive[known.number]
            for page in range(known.start >> _PAGE_BITS, ((known.stop - 1) >> _PAGE_BITS) + 1):
                starts, entries = self._pages[page]
                at = entries.index(known, max(bisect_right(starts, known.start) - 1, 0))
                del starts[at], entries[at]
                if not entries:
                    del self._pages[page]


def address_of(array: Array) -> int:
    """The address of the first element."""
    address: int = array.__array_interface__["data"][0]
    return address


def extent_of(array: Array) -> tuple[int, int]:
    """The offsets from the first element to the lowest byte and to one past the highest."""
    if array.flags.c_contiguous:
        return 0, array.nbytes
    shape, strides, itemsize = array.shape, array.strides, array.itemsize
    low = high = 0
    for size, stride in zip(shape, strides, strict=True):
        if stride < 0:
            low += (size - 1) * stride
        else:
            high += (size - 1) * stride
    return low, high + itemsize


def memory_at(owner: Array, start: int, stop: int) -> Array:
    """The bytes from one address to another, which the memory of an array contains."""
    window = _Window(owner, start, stop)
    return np.asarray(window)


class _Window:
    """Bytes at an address, for NumPy."""

    __slots__ = ("__array_interface__", "_owner")

    __array_interface__: dict[str, object]
    _owner: Array

    def __init__(self, owner: Array, start: int, stop: int) -> None:
        self._owner = owner
        self.__array_interface__ = {
            "data": (start, False),
            "shape": (stop - start,),
            "strides": None,
            "typestr": "|u1",
            "version": 3,
        }


def ultimate_owner(array: Array) -> Array:
    """The last array in the chain of bases, which keeps the memory alive."""
    base = array.base
    while isinstance(base, np.ndarray):
        array = base
        base = array.base
    return array


def is_writable(array: Array) -> bool:
    """Whether the memory of an array may be written."""
    return bool(ultimate_owner(array).flags.writeable)
