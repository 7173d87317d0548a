"""The tracer that finds on which inputs each element of a result depends.

Note [Local patterns]

What an operator does to index sets follows from its row in the tables (`Pattern`), not from
values: a product with zero depends on both factors. So the pattern holds for all inputs, unless the
function reads values: a number in an ``if``, an index array or a mask. Each read of a value that
depends on the inputs is remembered with its line. With the same values read, the function runs the
same operators.

The pattern is never too small. Where forward and reverse mode differ, it is that of both:

- a write that is not recorded keeps the sets that were there, because reverse mode does not see it;
- a tensor that was detached, and its views, contribute values only, and a write through them keeps
  the sets. Once something with derivatives is written through them, the memory has two histories:
  then all tensors on it have its sets, and no write drops any.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np

from vtgrad.engine.current_graph_task import running
from vtgrad.errors import ChangedPathError, InterruptedWriteError, NotSupportedError
from vtgrad.graph.recording import is_recording
from vtgrad.graph.tracer import Tracer
from vtgrad.ops.rules.patterns.index_sets import (
    EMPTY,
    VALUE,
    IndexSets,
    IntArray,
    SetsTooLargeError,
)
from vtgrad.ops.rules.patterns.storage_sets import StorageSets
from vtgrad.ops.rules.patterns.value_read import ValueRead
from vtgrad.storage import making
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.recent_writes import CallSite
from vtgrad.storage.record_write import OUTERMOST, caller
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["SparsityTracer"]


class _Detached:
    """A tensor that was detached, and its views.

    Attributes
    ----------
    holds : bool
        Whether they contribute values only.
    """

    __slots__ = ("holds",)

    holds: bool

    def __init__(self) -> None:
        self.holds = True


class SparsityTracer(Tracer):
    """Follows index sets through the operators of a thread; see Note [Local patterns].

    Parameters
    ----------
    number : int
        As for `Tracer`.
    sets : IndexSets
        The sets.
    expected : sequence of ValueRead, optional
        The reads of another run, if this one must be on the same path.

    Attributes
    ----------
    reads : list of ValueRead
        What was read so far.
    interrupted : str or None
        The operator whose write was interrupted before its sets were stored.
    of_one_mode : tuple of str and CallSite, or None
        The first thing that the function has done that derivatives of one mode only follow.
    error : ChangedPathError or SetsTooLargeError, or None
        The error that was raised for a read, or for want of memory.
    """

    __slots__ = (
        "_detached",
        "_expected",
        "_last_read",
        "_storages",
        "error",
        "interrupted",
        "of_one_mode",
        "reads",
        "sets",
    )

    sets: IndexSets
    reads: list[ValueRead]
    interrupted: str | None
    of_one_mode: tuple[str, CallSite | None] | None
    error: ChangedPathError | SetsTooLargeError | None
    _detached: dict[int, tuple[weakref.ref[TensorBase], _Detached]]
    _expected: Sequence[ValueRead] | None
    _last_read: tuple[weakref.ref[TensorBase] | None, int]
    _storages: StorageSets

    def __init__(
        self, number: int, sets: IndexSets, expected: Sequence[ValueRead] | None = None
    ) -> None:
        super().__init__(number)
        self.sets = sets
        self.reads = []
        self.interrupted = None
        self.of_one_mode = None
        self.error = None
        self._expected = expected
        self._last_read = None, 0
        self._storages = StorageSets(sets)
        # By identity, because tensors compare their elements.
        self._detached = {}

    def knows(self, impl: TensorImpl) -> bool:
        """As `Tracer.knows`."""
        return self._storages.knows(impl)

    def begin(self, tensor: TensorBase, ids: IntArray) -> None:
        """Give an input its sets."""
        self._storages.write(tensor._impl, ids)

    def sets_of(self, tensor: TensorBase) -> IntArray | None:
        """The sets of a tensor's elements, not to be written; None if all are empty."""
        ids = self._storages.read(tensor._impl)
        if ids is not None and (
            tensor._impl.array.dtype.kind not in "fc" or self.is_detached(tensor)
        ):
            return self.sets.without_members(ids)
        return ids

    def store(self, tensor: TensorBase, ids: IntArray) -> None:
        """Give the elements of a result their sets."""
        if tensor._impl.array.dtype.kind not in "fc":
            ids = self.sets.without_members(ids)
        self._note_unrecorded("an operator under no_grad", ids)
        self._storages.write(tensor._impl, making.broadcast_to(ids, tensor._impl.sizes))

    def _note_unrecorded(self, what: str, *ids: IntArray | None) -> None:
        """Note what tangents follow, and gradients do not.

        In the forward of a custom Function neither do: it says its derivatives itself.
        """
        if is_recording() or self.opaque:
            return
        if running.task is not None or self.of_one_mode is not None:
            return
        if any(one is not None and (one > VALUE).any() for one in ids):
            self.noted(what)

    def noted(self, what: str) -> None:
        """As `Tracer.noted`; the first one counts."""
        if self.of_one_mode is None:
            self.of_one_mode = what, CallSite.of(caller(OUTERMOST))

    def store_written(self, tensor: TensorBase, ids: IntArray) -> None:
        """Give the elements of a tensor that was written their sets; see Note [Local patterns]."""
        impl = tensor._impl
        group = self._group_of(tensor)
        # Another dtype may look at the memory of floating elements.
        integral = impl.array.dtype.kind not in "fc"
        recorded = is_recording() or running.task is not None
        if group is None and not integral:
            self._note_unrecorded("a write under no_grad", ids, self._storages.read(impl))
        if group is not None and not integral and (ids > VALUE).any():
            group.holds = False
        elif integral or group is not None:
            ids = self.sets.without_members(ids)
        elif recorded and not self._storages.has_two_histories(impl):
            self._storages.write(impl, making.broadcast_to(ids, impl.sizes))
            return
        present = self._storages.read(impl)
        if present is not None:
            kept = np.where(present > VALUE, present, EMPTY) if recorded else present
            ids = self.sets.unite(kept, ids)
        self._storages.write(impl, making.broadcast_to(ids, impl.sizes))
        if group is not None and not group.holds:
            self._storages.begin_two_histories(impl)

    def read(self, tensor: TensorBase) -> None:
        """Note that values of a tensor leave it.

        Raises
        ------
        ChangedPathError
            If another run is expected to have read the same, and did not.
        """
        if self._storages.read(tensor._impl) is None:
            return
        reference, version = self._last_read
        counter = tensor._impl.counter
        if reference is not None and reference() is tensor and version == counter.value:
            # Read again, by another part of one operator.
            return
        self._last_read = weakref.ref(tensor), counter.value
        value = making.array(resolved(tensor._impl.array))
        found = ValueRead(CallSite.of(caller(OUTERMOST)), value)
        nr = len(self.reads)
        self.reads.append(found)
        if self._expected is not None:
            expected = self._expected[nr] if nr < len(self._expected) else None
            if expected is None or not expected.same_as(found):
                self.error = changed_path(expected, found)
                raise self.error

    def export(self, tensor: TensorBase, what: str) -> None:
        """As `Tracer.export`: an array of a tensor without derivatives is read.

        Raises
        ------
        NotSupportedError
            If the tensor has derivatives.
        """
        ids = self.sets_of(tensor)
        if ids is not None and (ids > VALUE).any():
            raise NotSupportedError(
                f"{what} of a tensor that depends on the inputs would hide its uses from the "
                "pattern of the Jacobian; call x.detach().numpy() if they have no derivative"
            )
        self.read(tensor)

    def is_detached(self, tensor: TensorBase) -> bool:
        """Whether a tensor contributes values only, because it was detached."""
        return self._group_of(tensor) is not None

    def _group_of(self, tensor: TensorBase) -> _Detached | None:
        reference, group = self._detached.get(id(tensor), (None, None))
        if reference is None or group is None or reference() is not tensor:
            return None
        return group if group.holds else None

    def detached(self, tensor: TensorBase, source: TensorBase | None) -> None:
        """As `Tracer.detached`."""
        group = _Detached() if source is None else self._group_of(source)
        if group is None:
            self._detached.pop(id(tensor), None)
        else:
            self._detached[id(tensor)] = weakref.ref(tensor), group

    def copied(self, copy: TensorImpl, source: TensorImpl) -> None:
        """As `Tracer.copied`."""
        ids = self._storages.read(source)
        if ids is not None:
            self._storages.write(copy, ids)

    def called(self, inputs: Sequence[TensorBase], results: Sequence[TensorBase]) -> None:
        """As `Tracer.called`."""
        known = [ids.reshape(-1) for ids in map(self.sets_of, inputs) if ids is not None]
        if not known:
            return
        together = np.concatenate(known)
        union = self.sets.unite_rows(np.unique(together).reshape(1, -1)).reshape(())
        for result in results:
            present = self._storages.read(result._impl)
            self.store_written(
                result, union if present is None else self.sets.unite(present, union)
            )

    def make_room(self) -> None:
        """Forget sets that no tensor has any more, if sets have become many."""
        if self.sets.is_half_full():
            self.sets.compact(list(self._storages.arrays()))

    def finish(self) -> None:
        """Raise what the function has caught, but must not go unnoticed.

        Raises
        ------
        ChangedPathError
            If the path is another one.
        SetsTooLargeError
            If sets were too large.
        InterruptedWriteError
            If a write was interrupted.
        """
        if self.error is not None:
            raise self.error
        if self.interrupted is not None:
            raise InterruptedWriteError(
                f"{self.interrupted} was interrupted while the pattern of a Jacobian was found: "
                "what was written has no pattern; run the function again",
                operator=self.interrupted,
            )
        if self._expected is not None and len(self.reads) < len(self._expected):
            raise changed_path(self._expected[len(self.reads)], None)


def changed_path(expected: ValueRead | None, found: ValueRead | None) -> ChangedPathError:
    """The error of a run that reads other values than the one that found the pattern."""
    if found is None:
        text = f"the run ended where the one that found the pattern had {expected}"
    elif expected is None:
        text = f"{found}, and the run that found the pattern read nothing there"
    else:
        text = f"{found}; the run that found the pattern had {expected}"
    return ChangedPathError(
        f"the pattern does not hold here, because the function reads other values: {text}. Find "
        "the pattern for this input with sparsity_pattern",
        expected=expected,
        found=found,
    )
