"""Index expressions that are views of one tensor, and copies of a batch.

Note [Copies that stand for views]

``m[j]`` with an integer tensor ``j`` of no dimensions is a view of ``m``. If ``j`` differs from
sample to sample, the elements of all samples are no view of the value of ``m``: they are gathered,
into a copy. The copy behaves as the view, as far as it can:

    write       what is written to the copy, or to a view of it, is stored in ``m`` as well
    read        the copy is as good as the view until ``m`` is written in another way; from then on
                it is refused

The level knows its copies by the storage of their value, which the views of a copy share. A write
of ``m`` is seen by its version; one through ``m.data``, which has another version, by the number of
writes that the level has seen; and in inference mode, where versions are not counted, by the
elements. The copy has the order and the gaps of the view in memory, so that ``reshape`` and its
like make a view of it where they make one of the view, and else a copy.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from vtgrad.errors import BatchedTensorError
from vtgrad.graph.batch import BatchLevel, batch_of, value_of
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches import values
from vtgrad.ops.rules.batches.given_samples import give_samples
from vtgrad.storage import making
from vtgrad.storage.argument_types import T
from vtgrad.storage.arrays import Shape
from vtgrad.storage.geometry import Geometry
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.recent_writes import CallSite
from vtgrad.storage.record_write import OUTERMOST, caller
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_base import TensorBase, handle_like
from vtgrad.storage.version_counter import INFERENCE, Site, VersionCounter
from vtgrad.views.differentiable_view_meta import view_meta_of

__all__ = [
    "CopiedView",
    "called_beside_copies",
    "check_copies",
    "copies_among",
    "copy_for_view",
    "store_written",
]

R = TypeVar("R")


class CopiedView:
    """A copy that stands for a view; see Note [Copies that stand for views].

    Attributes
    ----------
    level : BatchLevel
        The highest level at which the copy has samples.
    """

    __slots__ = (
        "_base",
        "_counter",
        "_geometry",
        "_indices",
        "_levels",
        "_own_version",
        "_positions",
        "_seen",
        "_site",
        "_whole",
        "level",
    )

    level: BatchLevel
    _base: TensorBase
    _indices: list[TensorBase]
    _positions: Shape
    _counter: VersionCounter
    # What says whether the base, or the copy, was written.
    _seen: tuple[int, int]
    _own_version: int
    # Of the value of the copy; and the tensor that the history of the copy belongs to.
    _geometry: Geometry
    _whole: weakref.ref[TensorBase]
    _levels: tuple[BatchLevel, ...]
    _site: Site | None

    def __init__(
        self, copy: TensorBase, base: TensorBase, indices: list[TensorBase], positions: Shape
    ) -> None:
        value = values.innermost(copy)
        self._levels = values.levels_of(copy)
        self.level = self._levels[0]
        self._base, self._indices, self._positions = base, indices, positions
        self._counter = values.innermost(base)._impl.counter
        self._geometry = value._impl.geometry
        self._whole = weakref.ref(_owner(value))
        self._site = caller(OUTERMOST)
        self._seen = self._state()
        self._own_version = value._impl.counter.value

    def _state(self) -> tuple[int, int]:
        return self._counter.value, self.level.writes.get(
            values.innermost(self._base)._impl.storage, 0
        )

    def check(self, copy: TensorBase) -> None:
        """Raise if the base was written since.

        Parameters
        ----------
        copy : TensorBase
            The copy, or a view of it.

        Raises
        ------
        BatchedTensorError
            If it was.
        """
        check_copies([self._base], self.level)
        if self._seen == self._state() and not self.was_written(copy):
            return
        text = (
            "a tensor of one sample is used that stands for a view, as m[j] with an index j of "
            "each sample: it is a copy, and the tensor that it shows was written since"
        )
        made_at = CallSite.of(self._site)
        if made_at is not None:
            text += f"\n  indexed at {made_at.filename}:{made_at.lineno} in {made_at.function}"
            text += f"\n      {made_at.source}" if made_at.source else ""
        text += (
            "\nIndex again after the write; or write m[j].clone() where the former values are meant"
        )
        raise BatchedTensorError(text)

    def check_target(self, refused: Callable[[TensorBase, BatchLevel], Exception]) -> None:
        """Give the base samples, if it has none, or raise the error of a write that does not fit.

        Parameters
        ----------
        refused : callable
            Makes the error.
        """
        if not values.is_batched_at(self._base, self.level):
            if not give_samples(self._base, self.level):
                raise refused(self._base, self.level)
            self._counter = values.innermost(self._base)._impl.counter

    def was_written(self, copy: TensorBase) -> bool:
        """Whether the copy was written, and the base was not yet."""
        counter = values.innermost(copy)._impl.counter
        if INFERENCE not in (counter, self._counter):
            return counter.value != self._own_version
        value = values.innermost(F.index_at(self._base, self._indices, self._positions))
        present = F.as_strided(F.detach(values.innermost(copy)), *self._geometry)
        return not np.array_equal(
            value._impl.array, present._impl.array, equal_nan=value._impl.array.dtype.kind in "fc"
        )

    def settle(self, copy: TensorBase) -> None:
        """The copy has another version, and has the elements of the base."""
        self._own_version = values.innermost(copy)._impl.counter.value

    def store(self, written: TensorBase) -> None:
        """Store the copy in the base.

        Parameters
        ----------
        written : TensorBase
            The copy, or the view of it that was written.
        """
        value, base = values.innermost(written), self._base
        owner = _owner(value)
        is_recorded = owner is self._whole()
        if not is_recorded:
            # An alias without a gradient: the history of the base stays as it is.
            owner, base = F.detach(value), F.detach(base)
        if owner._impl.geometry != self._geometry:
            owner = F.as_strided(owner, *self._geometry)
        source = values.rebatched(owner, self._levels)
        storage = value._impl.storage
        try:
            # What is stored differs from the base.
            del self.level.copies[storage]
            F.index_put_at_(base, self._indices, self._positions, source, False)
        finally:
            self.level.copies[storage] = self
        self._seen = self._state()
        self.settle(written)


def _owner(value: TensorBase) -> TensorBase:
    """The tensor itself, or the base of a view."""
    meta = view_meta_of(value)
    return value if meta is None else meta.base


def _strides_like(sizes: Shape, plain: Sequence[int]) -> Shape:
    """Strides with the order and the gaps of others, where the gaps are small."""
    strides = [1] * len(sizes)
    inner: int | None = None
    for dim in sorted(range(len(sizes)), key=lambda d: (plain[d], -d)):
        if sizes[dim] == 1:
            continue
        if inner is None:
            strides[dim] = 1 if plain[dim] == 1 else 2
        else:
            has_gap = plain[dim] != plain[inner] * sizes[inner]
            strides[dim] = strides[inner] * sizes[inner] + has_gap
        inner = dim
    return tuple(strides)


def _with_strides(found: T, strides: Shape) -> T:
    """A tensor whose samples have these strides, and lie one behind the other in memory."""
    value, levels = values.innermost(found), values.levels_of(found)
    sizes = value._impl.array.shape
    count, lead = 1, len(levels)
    for n, s in zip(sizes[lead:], strides, strict=True):
        count += (n - 1) * s
    present = value._impl.strides
    known: list[int] = []
    for n in reversed(sizes[:lead]):
        known.insert(0, count)
        count *= n
    known += strides
    if 0 in sizes or all(n == 1 or a == b for n, a, b in zip(sizes, present, known, strict=True)):
        return found
    item = value._impl.array.itemsize
    buffer = making.empty(count, value._impl.array.dtype)
    array = making.as_strided(buffer, sizes, [s * item for s in known])
    copy = handle_like(value, impl_on(array, value._impl.device))
    return values.rebatched(F.copy_(copy, value), levels)


def copy_for_view(found: T, base: TensorBase, indices: list[TensorBase], positions: Shape) -> T:
    """What an index expression returns that is a view of one tensor.

    Parameters
    ----------
    found : TensorBase
        The elements of all samples.
    base : TensorBase
        The indexed tensor.
    indices, positions : list of TensorBase, tuple of int
        The indices, of which each sample has its own, and the dimensions of `base`.
    """
    if batch_of(found) is None:
        return found
    plain = [s for d, s in enumerate(base._impl.strides) if d not in positions]
    found = _with_strides(found, _strides_like(found._impl.array.shape, plain))
    level = values.levels_of(found)[0]
    level.copies[values.innermost(found)._impl.storage] = CopiedView(
        found, base, indices, positions
    )
    return found


def _copy_at(tensor: TensorBase, level: BatchLevel) -> CopiedView | None:
    """The copy that a tensor is, or is a view of."""
    storage: Storage | None = value_of(tensor)._impl._storage
    found = None if storage is None else level.copies.get(storage)
    return found if isinstance(found, CopiedView) else None


def copies_among(
    tensors: Iterable[TensorBase], level: BatchLevel
) -> list[tuple[TensorBase, CopiedView]]:
    """The tensors that are copies of a level, or views of such."""
    if not level.copies:
        return []
    found = [(tensor, _copy_at(tensor, level)) for tensor in tensors]
    return [(tensor, copy) for tensor, copy in found if copy is not None]


def check_copies(tensors: Iterable[TensorBase], level: BatchLevel) -> None:
    """Raise if a tensor stands for a view whose base was written since.

    Raises
    ------
    BatchedTensorError
        If one does.
    """
    for tensor, found in copies_among(tensors, level):
        found.check(tensor)


def store_written(copies: Iterable[tuple[TensorBase, CopiedView]]) -> None:
    """Store copies in their bases if they were written."""
    for tensor, copy in copies:
        if copy.was_written(tensor):
            copy.store(tensor)


def called_beside_copies(
    level: BatchLevel,
    tensors: list[TensorBase],
    changed: TensorBase | None,
    written: TensorBase | None,
    call: Callable[[], R],
    refused: Callable[[TensorBase, BatchLevel], Exception],
) -> R:
    """Call an operator at a level that has copies.

    Parameters
    ----------
    tensors : list of TensorBase
        The operands.
    changed, written : TensorBase or None
        The operand that the operator changes, its geometry maybe, and the one whose elements it
        writes.
    refused : callable
        Makes the error of a write to a base without samples.

    Raises
    ------
    BatchedTensorError
        If an operand stands for a view whose base was written since.
    """
    check_copies(tensors, level)
    if written is None:
        result = call()
        reshaped = None if changed is None else _copy_at(changed, level)
        if changed is not None and reshaped is not None:
            reshaped.settle(changed)
        return result
    copy = _copy_at(written, level)
    if copy is not None:
        copy.check_target(refused)
    result = call()
    if copy is not None:
        copy.store(written)
    storage = value_of(written)._impl.storage
    level.writes[storage] = level.writes.get(storage, 0) + 1
    return result
