"""The memory of a call: bytes of arguments and of tensors from outside.

Note [Copied in, copied out]

A program may fail in the middle: a guard on a value does not hold, NumPy raises, a signal handler
raises. So a runner works on copies, see Note [Runs], and what the program has written is copied out
after the last guard, see Note [Committed in one call].

Note [Memory that must not overlap]

Tensors that shared memory while they were recorded have one buffer, and must lie in it as they did.
Others may share what is only read. Memory that is written must overlap no other memory of the call,
as it did not while it was recorded: the copy would hide the write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import setitem
from typing import Final

import numpy as np

from vtgrad.jit.commit import Change, part_of
from vtgrad.jit.entry import Mismatch, cell_of
from vtgrad.jit.recording import Memory, Source
from vtgrad.jit.steps import Kind, Place, Program
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import constant
from vtgrad.storage.storage import bytes_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["Binding", "bindings_of", "impl_at", "overlapping", "written_places"]


_NO_BYTES: Final[Array] = constant([], np.dtype(np.uint8))


class _Bytes:
    """Bytes between two addresses, for `numpy.asarray`."""

    __slots__ = ("__array_interface__", "kept")

    def __init__(self, start: int, nbytes: int, writable: bool, kept: object) -> None:
        self.__array_interface__ = {
            "data": (start, not writable),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }
        # What keeps the memory alive.
        self.kept = kept


def impl_at(source: Source, leaves: Sequence[object]) -> TensorImpl | None:
    """The tensor that a source is in a call; None if it is an array, or there is no ``.grad``."""
    holder = source.holder
    if isinstance(holder, int):
        leaf = leaves[holder]
        if not isinstance(leaf, TensorBase):
            return None
        holder = leaf._impl
    if not source.is_grad:
        return holder
    cell = cell_of(holder)
    return None if cell is None or cell.grad is None else cell.grad._impl


def _array_at(source: Source, leaves: Sequence[object]) -> Array | None:
    impl = impl_at(source, leaves)
    if impl is not None:
        return impl.array
    leaf = leaves[source.holder] if isinstance(source.holder, int) else None
    return leaf if isinstance(leaf, np.ndarray) else None


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


class Binding:
    """One buffer of a program, and the memory that it is in a call.

    Attributes
    ----------
    sources : list of Source
        What has elements in it.
    places : list of Place
        The geometry of each.
    nbytes : int
        The size of the buffer.
    written : tuple of Place
        What the program writes in it; empty for memory that is only read.
    leaf : int
        The number of the argument, if it is the only source and not a ``.grad``; -1 otherwise.
    is_dense : bool
        Whether the elements of the first source are the bytes of the buffer, in their order.
    name : str
        What it is, for messages.
    fixed : TensorImpl or None
        The tensor from outside, if it is the only source and not a ``.grad``.
    array : numpy.ndarray or None
        The array of a fixed tensor while it was recorded.
    bytes : numpy.ndarray
        Its bytes.
    """

    __slots__ = (
        "_copies",
        "_whole",
        "array",
        "bytes",
        "fixed",
        "is_dense",
        "leaf",
        "name",
        "nbytes",
        "places",
        "sources",
        "written",
    )

    sources: list[Source]
    places: list[Place]
    nbytes: int
    written: tuple[Place, ...]
    leaf: int
    is_dense: bool
    name: str
    fixed: TensorImpl | None
    array: Array | None
    bytes: Array
    # What is written, in the memory of the runner; and whether it is all bytes of the buffer.
    _copies: list[Array]
    _whole: bool

    def __init__(
        self,
        memory: Memory,
        nbytes: int,
        written: tuple[Place, ...],
        name: str,
        computed: Array | None,
    ) -> None:
        self.sources = memory.sources
        self.places = memory.places
        self.nbytes = nbytes
        # What no step meets keeps its bytes.
        self.written = () if computed is None else written
        self._copies = []
        if computed is not None:
            self._copies = [part_of(computed, place) for place in written]
        self._whole = len(self._copies) == 1 and self._copies[0] is computed
        self.name = name
        place, holder = memory.places[0], memory.sources[0].holder
        self.is_dense = is_dense(place) and place.offset == 0 and dense_bytes(place) == nbytes
        lone = len(memory.sources) == 1 and not memory.sources[0].is_grad
        self.leaf = holder if lone and isinstance(holder, int) else -1
        self.fixed = self.array = None
        self.bytes = _NO_BYTES
        first = memory.sources[0]
        if len(memory.sources) == 1 and not first.is_grad and isinstance(first.holder, TensorImpl):
            self.array = first.holder.array
            self.bytes = self._bytes_of(self.array)
            self.fixed = first.holder

    def live(self, leaves: Sequence[object]) -> Array | Mismatch:
        """The bytes of the memory in this call.

        Parameters
        ----------
        leaves : sequence of object
            The arguments.
        """
        if self.leaf >= 0 and self.is_dense:
            return self._live_argument(leaves[self.leaf])
        if len(self.sources) > 1:
            return self._live_of_several(leaves)
        array = _array_at(self.sources[0], leaves)
        if self.fixed is not None:
            if array is self.array:
                return self.bytes
            return Mismatch(f"{self.name} was given other memory, by set_, resize_ or .data")
        if array is None:
            return Mismatch(f"{self.name} is gone")
        if not _is_placed(array, self.places[0]):
            return Mismatch(f"{self.name} has another shape, dtype or strides than it had")
        if self.written and not array.flags.writeable:
            return Mismatch(f"{self.name} is read-only, and the program writes to it")
        return self._bytes_of(array)

    def _bytes_of(self, array: Array) -> Array:
        if array.flags.c_contiguous:
            return np.ndarray((self.nbytes,), np.uint8, array)
        return bytes_of(array)

    def _live_argument(self, leaf: object) -> Array | Mismatch:
        """As `live`, of an argument whose geometry was compared on entry, see `Leaf.fits`."""
        array = leaf._impl.array if isinstance(leaf, TensorBase) else leaf
        if type(array) is not np.ndarray:
            return Mismatch(f"{self.name} is not computed yet")
        if self.written and not array.flags.writeable:
            return Mismatch(f"{self.name} is read-only, and the program writes to it")
        return np.ndarray((self.nbytes,), np.uint8, array)

    def copy_out(self, live: Array, copies: list[Change]) -> None:
        """Add the stores of what the program has written to a list."""
        if self._whole:
            copies.append((setitem, live, ..., self._copies[0]))
            return
        for place, copy in zip(self.written, self._copies, strict=True):
            copies.append((setitem, part_of(live, place), ..., copy))

    def _live_of_several(self, leaves: Sequence[object]) -> Array | Mismatch:
        """As `live`, of sources that lie in the buffer as they did; see the note above."""
        arrays: list[Array] = []
        starts: set[int] = set()
        for source, place in zip(self.sources, self.places, strict=True):
            array = _array_at(source, leaves)
            if array is None or not _is_placed(array, place):
                return Mismatch(f"{self.name} has another shape, dtype or strides than it had")
            if self.written and not array.flags.writeable:
                return Mismatch(f"{self.name} is read-only, and the program writes to it")
            arrays.append(array)
            starts.add(_address(array) - place.offset)
        if len(starts) > 1:
            return Mismatch(f"{self.name} does not share memory as it did")
        live: Array = np.asarray(_Bytes(starts.pop(), self.nbytes, bool(self.written), arrays))
        return live


def _is_placed(array: Array, place: Place) -> bool:
    return (
        type(array) is np.ndarray
        and array.shape == place.shape
        and array.dtype == place.dtype
        and (array.strides == place.strides or array.size == 0)
    )


def overlapping(
    bindings: Sequence[Binding], lives: Sequence[Array], written: Sequence[int]
) -> Mismatch | None:
    """Whether memory that is written overlaps another one; see Note [Memory that must not overlap].

    Parameters
    ----------
    bindings, lives : sequence
        All memory of a call, and its bytes.
    written : sequence of int
        The numbers of those that are written.
    """
    if len(lives) == 1:
        return None
    owners = [_owner(live) for live in lives]
    if None not in owners and len(set(owners)) == len(owners):
        return None
    for number in written:
        one, binding = lives[number], bindings[number]
        for other, live in enumerate(lives):
            if other == number or (binding.fixed and bindings[other].fixed):
                # They lie where they did while they were recorded.
                continue
            if owners[number] != owners[other] and None not in (owners[number], owners[other]):
                continue
            if np.may_share_memory(one, live):
                return Mismatch(
                    f"{binding.name} shares memory with {bindings[other].name}, and did "
                    "not; the program writes to it"
                )
    return None


def _owner(live: Array) -> int | None:
    """The identity of the array that owns the memory, which only its views share, if one does."""
    base = live.base
    return id(base) if type(base) is np.ndarray and base.flags.owndata else None


def written_places(program: Program) -> dict[int, tuple[Place, ...]]:
    """What a program writes in each buffer: runs of bytes that are joined, and other places."""
    runs: dict[int, list[tuple[int, int]]] = {}
    others: dict[int, dict[Place, None]] = {}
    for step in program.steps:
        for place in (*step.outputs, *step.writes):
            if 0 in place.shape:
                continue
            if is_dense(place):
                start = place.offset
                stop = start + dense_bytes(place)
                runs.setdefault(place.buffer, []).append((start, stop))
            else:
                others.setdefault(place.buffer, {})[place] = None
    found: dict[int, tuple[Place, ...]] = {}
    for buffer in {**runs, **others}:
        joined = list(_joined(buffer, runs.get(buffer, ())))
        strided = [place for place in others.get(buffer, ()) if not _covered(place, joined)]
        found[buffer] = (*joined, *strided)
    return found


def is_dense(place: Place) -> bool:
    """Whether the elements of a place lie in row-major order without gaps."""
    expected = place.dtype.itemsize
    for size, stride in zip(reversed(place.shape), reversed(place.strides), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def dense_bytes(place: Place) -> int:
    """The size of a dense place."""
    size = place.dtype.itemsize
    for length in place.shape:
        size *= length
    return size


def _joined(buffer: int, runs: Sequence[tuple[int, int]]) -> Iterator[Place]:
    """Runs of bytes as few places as possible."""
    byte = np.dtype(np.uint8)
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(runs):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((start, stop))
    for start, stop in joined:
        yield Place(buffer, byte, (stop - start,), (1,), start)


def _covered(place: Place, runs: Sequence[Place]) -> bool:
    """Whether one of the runs has all elements of a place."""
    low = high = place.offset
    for size, stride in zip(place.shape, place.strides, strict=True):
        low += min(0, (size - 1) * stride)
        high += max(0, (size - 1) * stride)
    high += place.dtype.itemsize
    return any(run.offset <= low and high <= run.offset + run.shape[0] for run in runs)


def bindings_of(
    program: Program,
    memories: Sequence[Memory],
    kind: Kind,
    names: Sequence[str],
    computed: Callable[[Kind, int], Array | None],
) -> list[Binding]:
    """The bindings of all buffers of a kind, by position.

    Parameters
    ----------
    program : Program
        The program.
    memories : sequence of Memory
        Those of the buffers of this kind.
    kind : Kind
        `Kind.ARGUMENT` or `Kind.OUTSIDE`.
    names : sequence of str
        What each one is, for messages.
    computed : callable
        The memory of the runner for a kind and a position, if it has one.
    """
    written = written_places(program)
    found: dict[int, Binding] = {}
    for number, buffer in enumerate(program.buffers):
        if buffer.kind is kind:
            position = buffer.position
            found[position] = Binding(
                memories[position],
                buffer.nbytes,
                written.get(number, ()),
                names[position],
                computed(kind, position),
            )
    return [found[position] for position in range(len(memories))]
