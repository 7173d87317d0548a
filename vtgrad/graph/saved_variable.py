# Compiled by mypyc.
"""A value saved for backward, which detects that it was overwritten.

Note [Saving without reference cycles]

If a node held the saved tensor itself, writing that tensor in place with something computed
from it (`y = x.sin(); x.copy_(y)`) would close a cycle: tensor, its new node, the old node, its
saved tensor. So a `SavedVariable` holds the parts that backward needs (the array, the version
counter, the edge to the tensor's producer) and only a weak reference to the tensor. While the
tensor lives, unpacking returns that object; afterwards it builds an equal one.

The tensor of a saved result is not even referred to weakly, because its node is the one that saves:
unpacking builds a fresh tensor whose producer is the node that unpacks. If the result was stored in
a view, its producer is a part of the value that the node of that write (`CopySlices`) produces.
That node runs the node that unpacks, and is entered in `this_thread.writes` while it does.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn, Protocol

import numpy as np

from vtgrad.errors import (
    GraphFreedError,
    InferenceSavedError,
    NotSupportedError,
    SavedDetachedError,
    SavedHookError,
    StaleSavedError,
)
from vtgrad.graph.audit import Fingerprint, audit
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.edge import Edge, edge_to
from vtgrad.graph.operators import operators
from vtgrad.graph.overwrite_rule import overwrite_rule
from vtgrad.graph.packed import Packed
from vtgrad.graph.packing import HookPair, packing
from vtgrad.graph.saved_tangents import SavedTangents
from vtgrad.graph.saved_variable_errors import stale_saved_error
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.graph.tracer import thread
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import CPU, Device
from vtgrad.storage.kept_bytes import Token, view_at
from vtgrad.storage.key_set import keys
from vtgrad.storage.lazy_array import like, physical
from vtgrad.storage.no_fp_warnings import no_fp_warnings
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.recent_writes import Write, find_write
from vtgrad.storage.rewind import can_restore, restored, saves_observed, token_of
from vtgrad.storage.storage import Storage
from vtgrad.storage.strides import reach
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import AutogradMetaInterface, SavedInterface, TensorImpl
from vtgrad.storage.version_counter import INFERENCE, VersionCounter
from vtgrad.storage.write_log import SAVED, region_of

if TYPE_CHECKING:
    from vtgrad.graph.node import Node

__all__ = ["RELEASED", "UNSAVED", "SavedResult", "SavedVariable", "ViewGuard"]


class ViewGuard(Protocol):
    """Raises if a saved view, whose tensor is dead, has become invalid."""

    def check(self, counter: VersionCounter) -> None:
        """Compare with the version at which the view was last valid."""


class _FormerTensor:
    """What is left of the tensor of a value that was vouched for; see Note [Vouching].

    Attributes
    ----------
    reference : weak reference
        To the tensor, which may differ from the value by now.
    """

    __slots__ = ("reference",)

    reference: weakref.ref[TensorBase]

    def __init__(self, reference: weakref.ref[TensorBase]) -> None:
        self.reference = reference

    def check(self, counter: VersionCounter) -> None:
        """Pass: a value does not become invalid as a view does."""


class SavedVariable(SavedInterface):
    """One saved tensor.

    The value that it represents never changes, so one object may serve several nodes; a node that
    is freed drops its saved variables and holds `RELEASED` instead.

    Note [Vouching]

    If the version has moved, but no element was written, the value is as valid as one saved now:
    `version` becomes the counter's, so that the log is searched once, and later checks are quick.
    From then on the object represents a value, no longer a tensor: the tensor may differ by now (it
    was transposed in place, or its producer leads through later writes), so the saved array and
    edge are used. The counter is read before the log, see Note [Exact staleness].

    Whether the tensor was detached in place still counts, so `_guard` is a `_FormerTensor` from
    then on: every check must answer the same.

    Note [Values that are saved often]

    A loop saves its parameters at each step, and all of these values are one. So a leaf, or a
    constant, has as `TensorImpl.saved` what was last saved of it, and `of_input` takes that again
    if nothing has changed: the tensor, its memory, its version. A result has none: it would keep
    the history of a value that was overwritten or detached since. Nor has a value of which hooks,
    rewind, tangents or audit keep more.

    Attributes
    ----------
    version : int
        The last version at which the value was known to be intact.
    """

    __slots__ = (
        "_array",
        "_counter",
        "_edge",
        "_fingerprint",
        "_guard",
        "_offset",
        "_packed",
        "_storage",
        "_tangents",
        "_tensor",
        "_token",
        "version",
    )

    # Whether it is a result of the node that saved it.
    is_output: ClassVar[bool] = False

    version: int
    _array: Array | None
    _counter: VersionCounter
    _edge: Edge | None
    _fingerprint: Fingerprint | None
    _guard: ViewGuard | None
    _offset: int
    _packed: Packed | None
    _storage: Storage | None
    # Not set unless a level of forward mode was open.
    _tangents: SavedTangents
    _tensor: weakref.ref[TensorBase] | None
    _token: Token | None

    def __init__(self, tensor: TensorBase, edge: Edge | None) -> None:
        """Save an input.

        Parameters
        ----------
        tensor : TensorBase
            The tensor to save.
        edge : Edge or None
            Its gradient edge, which the caller has already.

        Raises
        ------
        InferenceSavedError
            If it is an inference tensor: a write to it could not be detected.
        """
        impl = tensor._impl
        counter = impl.version_counter
        if counter is None:
            counter = impl.counter
        elif counter is INFERENCE:
            raise InferenceSavedError(
                "cannot save an inference tensor for backward: its writes are not counted, "
                "so backward could not tell that it was overwritten. Clone it outside of "
                "inference mode and use the clone"
            )
        self._tensor = weakref.ref(tensor)
        known = impl.autograd_meta
        self._guard = None
        if known is not None and known.is_view:
            meta: AutogradMeta = known  # type: ignore[assignment]  # as in `gradient_edge`
            self._guard = meta.saved_guard(tensor)
        self._hold(impl, counter, edge, tensor)

    def _hold(
        self,
        impl: TensorImpl,
        counter: VersionCounter,
        edge: Edge | None,
        tensor: TensorBase | None,
    ) -> None:
        """Save a value; the reference to its tensor is stored already.

        Parameters
        ----------
        tensor : TensorBase or None
            The tensor, for hooks; None if the value belongs to no tensor.
        """
        if counter.log is None and counter is not INFERENCE:
            counter.log = SAVED
        self._array = impl.array
        self._offset = impl.byte_offset
        self._storage = impl._storage
        self._counter = counter
        self._edge = edge
        self._packed = None
        self._token = None
        self._fingerprint = None
        self.version = counter.value
        if saves_observed.reasons or counter.storing:
            self._keep(impl, counter, tensor)

    def _hold_copy(self, tensor: TensorBase, edge: Edge | None) -> None:
        """Save a copy of the present value of a tensor, which belongs to no tensor."""
        copy = _copied(tensor._impl)
        self._tensor = None
        self._guard = None
        if keys.modes and thread.tracer is not None:
            copy.own_storage()
            thread.tracer.copied(copy, tensor._impl)
        self._hold(copy, VersionCounter(), edge, None)
        if keys.modes:
            self._save_tangents(tensor, restores=True)

    def _keep(self, impl: TensorImpl, counter: VersionCounter, tensor: TensorBase | None) -> None:
        """Store what hooks, rewind and audit need, and the older version during a write."""
        if impl._storage is not None and impl._storage.borrowed and counter is not INFERENCE:
            assert tensor is not None
            self._hold_copy(tensor, self._edge)
            return
        if saves_observed.reasons:
            hooks = packing.pair
            if hooks is not None:
                self._pack(hooks, tensor)
                return
            if thread.tracer is not None:
                # A rebuilt tensor is known by its storage, see Note [Tracing].
                self._storage = impl.storage
        if counter is INFERENCE:
            return
        storing = counter.storing
        before = storing.get(no_fp_warnings.thread.number) if storing else None
        if before is not None:
            # See Note [Saved during a write].
            self.version = before
            if counter.log is SAVED:
                log = impl.own_log(counter)
                log.whole = log.marked = max(log.whole, before + 1)
        if saves_observed.reasons:
            region = region_of(impl.array, impl.byte_offset)
            self._token = token_of(impl, counter, region, self.version)
            if keys.modes and tensor is not None:
                self._save_tangents(tensor, restores=self._token is not None)
            if audit.enabled:
                self._fingerprint = Fingerprint(impl.array, impl.storage)
            # The call above has made the storage if there was none: a rebuilt tensor has the same
            # one.
            self._storage = impl._storage

    def _save_tangents(self, tensor: TensorBase, *, restores: bool) -> None:
        """See Note [Saved tangents]; `restores` says that the value outlives a write."""
        if self.is_output or not restores:
            found = SavedTangents.kept(tensor, self.is_output)
        else:
            found = SavedTangents.copied(tensor)
        if found is not None:
            self._tangents = found

    def _has_copied_tangents(self) -> bool:
        saved: SavedTangents | None = getattr(self, "_tangents", None)
        return saved is not None and saved.are_copies

    def _give_tangents(
        self, tensor: TensorBase, node: Node, *, overwritten: bool, offset: int | None
    ) -> None:
        saved: SavedTangents | None = getattr(self, "_tangents", None)
        if saved is not None:
            saved.give(tensor, node, overwritten=overwritten, offset=offset)

    def _pack(self, hooks: HookPair, tensor: TensorBase | None) -> None:
        """Hold what hooks make of the value, and nothing else; see Note [Packed values]."""
        array = self._array
        assert array is not None
        if tensor is None:
            impl = impl_on(array, self._device())
            if self._storage is not None:
                impl._storage = self._storage
            impl.autograd_meta = self._meta_of_edge()
            tensor = operators().wrap(impl)
        try:
            packing.pair = None
            kept = self._same_of(tensor)
        finally:
            packing.pair = hooks
        self._packed = Packed(hooks, tensor, kept)
        if keys.modes:
            self._save_tangents(tensor, restores=True)
        self._array = None
        self._storage = None
        self._tensor = None
        self._guard = None

    def _same_of(self, tensor: TensorBase) -> SavedVariable:
        """Another saved variable like this one."""
        return SavedVariable(tensor, self._edge)

    def packed_by(self, hooks: HookPair, node: Node) -> SavedVariable:
        """The same value, packed by hooks.

        Raises
        ------
        SavedHookError
            If it is packed already, or was not saved.
        VtgradError
            As `check` does: what was overwritten cannot be packed any more.
        """
        if self._packed is not None:
            raise SavedHookError(
                f"this value of {node.name()} has hooks already, and can have one pair only",
                node=node.name(),
            )
        tensor = self.unpack(node)
        before = packing.pair
        try:
            packing.pair = hooks
            saves_observed.reasons += 1
            found = self._same_of(tensor)
        finally:
            saves_observed.reasons -= 1
            packing.pair = before
        return found

    def last_write_before(self) -> Write | None:
        """The write that made the version at which the value was saved, if it is remembered."""
        return find_write(self._counter, self.version)

    @staticmethod
    def of_input(tensor: TensorBase, edge: Edge | None) -> SavedVariable:
        """Save an input, or take what was saved of it; see Note [Values that are saved often].

        The parameters and errors are those of the constructor.
        """
        impl = tensor._impl
        known = impl.saved
        if known is not None and not saves_observed.reasons:
            saved: SavedVariable = known  # type: ignore[assignment]  # there is no other class
            counter, reference = saved._counter, saved._tensor
            if (
                counter.value == saved.version
                and counter is impl.version_counter
                and saved._array is impl.array
                and saved._storage is impl._storage
                and saved._edge is edge
                and not counter.storing
                and reference is not None
                and reference() is tensor
            ):
                return saved
        saved = SavedVariable(tensor, edge)
        if (
            (edge is None or edge.is_leaf_node)
            and saved._guard is None
            and not saves_observed.reasons
            and not saved._counter.storing
        ):
            impl.saved = saved
        return saved

    @staticmethod
    def of_copy(tensor: TensorBase, edge: Edge | None) -> SavedVariable:
        """Save a copy of the present value of an input, before it is overwritten."""
        return _SavedCopy(tensor, edge)

    def holds_the_same_as(self, other: SavedVariable) -> bool:
        """Whether both saved the same array at the same version, and neither was freed."""
        array = self._array
        return array is not None and array is other._array and self.version == other.version

    @property
    def is_empty(self) -> bool:
        """Whether the value was freed, or was never saved."""
        return self._array is None and self._packed is None

    @property
    def packed(self) -> Packed | None:
        """What hooks have made of the value, if it was saved under hooks."""
        return self._packed

    @property
    def token(self) -> Token | None:
        """The state of the storage at the save, if rewind keeps it; see Note [Rewind]."""
        return self._token

    @property
    def outcome(self) -> str:
        """What a check would find of the elements: "intact", "overwritten", or "kept" by rewind.

        Nothing is changed: the value is not vouched for, and its tensor is not looked at.
        """
        array = self._array
        if array is None or self._counter.value == self.version or self._is_intact(array):
            return "intact"
        return "kept" if self._can_rewind(array) else "overwritten"

    def is_overwritten(self, node: Node) -> bool:
        """Whether the value was overwritten, and can be restored: see Note [Rewind].

        Raises
        ------
        VtgradError
            As `check` does.
        """
        return self._look(node)

    def check(self, node: Node) -> None:
        """Raise if the value cannot be used any more.

        Raises
        ------
        GraphFreedError
            If it was freed by an earlier backward.
        ViewInvalidError
            If it is a view that became invalid when its base was written.
        SavedDetachedError
            If it was detached in place.
        StaleSavedError
            If it was overwritten.
        UnseenWriteError
            If audit is on, and the value has changed without a counted write.
        """
        self._look(node)

    def _look(self, node: Node) -> bool:
        """`_settle`, unless the value cannot have changed."""
        if (
            self._array is not None
            and self._counter.value == self.version
            and self._fingerprint is None
        ):
            edge = self._edge
            if edge is None:
                return False
            hooks = edge.function.hooks
            if hooks is None or not hooks.was_detached(self._identity()):
                return False
        return self._settle(node)

    def _settle(self, node: Node) -> bool:
        """Vouch for the value, or raise; the order of the checks is part of the rules.

        Returns
        -------
        bool
            Whether the value was overwritten, and can be restored: see Note [Rewind].
        """
        array = self._array
        if array is None:
            packed = self._packed
            if packed is not None:
                packed.check(node)
                return False
            raise GraphFreedError(
                f"{node.name()} has already been run backward and its saved values were freed; "
                "pass retain_graph=True to the first backward to be able to run a second",
                node=node.name(),
            )
        edge = self._edge
        version = self._counter.value
        rewinds = False
        if version != self.version:
            intact = self._is_intact(array)
            rewinds = not intact and self._can_rewind(array)
            if intact or rewinds:
                self._let_go_of_tensor()
            if intact:
                # Last: the tensor of a value at the present version is used as it is.
                self.version = version
        tensor = None if self._tensor is None else self._tensor()
        if tensor is not None:
            meta = tensor._impl.autograd_meta
            if isinstance(meta, AutogradMeta):
                # Raises for a view that became invalid.
                meta.grad_fn(tensor)
        elif self._guard is not None:
            self._guard.check(self._counter)
        if edge is not None:
            hooks = edge.function.hooks
            if hooks is not None and hooks.was_detached(self._identity()):
                raise self._detached(node)
        if version != self.version and not rewinds:
            raise self.stale(node)
        if self._fingerprint is not None and not rewinds:
            # `x.data = y` gives the tensor other elements.
            now = array if tensor is None else tensor._impl.array
            self._fingerprint.check(now, node)
        return rewinds

    def _let_go_of_tensor(self) -> None:
        """Become a value without a tensor; see Note [Vouching]."""
        reference = self._tensor
        if reference is not None:
            self._guard = _FormerTensor(reference)
            self._tensor = None

    def _identity(self) -> weakref.ref[TensorBase] | None:
        """The reference that tells whether the tensor, also a former one, was detached in place."""
        guard = self._guard
        return guard.reference if isinstance(guard, _FormerTensor) else self._tensor

    def _can_rewind(self, array: Array) -> bool:
        """Whether rewind has kept all bytes overwritten since."""
        token, log = self._token, self._counter.log
        if token is None or log is None:
            return False
        return can_restore(token, log, region_of(array, self._offset))

    def _is_intact(self, array: Array) -> bool:
        """Whether no write since counts, by the rule in force."""
        log = self._counter.log
        if not overwrite_rule.exact or log is None:
            return False
        return log is SAVED or not log.is_written(region_of(array, self._offset), self.version)

    def _detached(self, node: Node) -> SavedDetachedError:
        return SavedDetachedError(
            f"a tensor that {node.name()} saved was detached in place afterwards; use detach() "
            "instead of detach_(), or detach before it is used",
            node=node.name(),
        )

    def stale(self, node: Node, *, rewinds: bool = True) -> StaleSavedError:
        """The error of a value that was overwritten.

        Parameters
        ----------
        rewinds : bool
            Whether rewind would restore it, had the overwritten bytes been kept.
        """
        array = self._array
        assert array is not None
        return stale_saved_error(
            node,
            array,
            self._counter,
            self.version,
            self._producer(node),
            tensor=self.saved_tensor,
            offset=self._offset,
            is_output=self.is_output,
            is_parameter=self._edge is not None and self._edge.function.is_leaf_node,
            rewinds=rewinds and self._token is not None,
        )

    def _producer(self, node: Node) -> str:
        """The operator that made the value, for messages."""
        edge = self._edge
        if edge is None or edge.function.is_leaf_node:
            return "a leaf"
        return f"result {edge.input_nr} of {edge.function.name()}"

    def unpack_array(self, node: Node) -> Array:
        """The saved elements, after another check of the version."""
        array = self._array
        if array is None or self._counter.value != self.version or self._fingerprint is not None:
            packed = self._packed
            if packed is not None:
                return packed.unpack_array(node)
            if self._settle(node):
                return self._restored(node)
        assert array is not None
        reference = self._tensor
        if reference is not None:
            tensor = reference()
            if tensor is not None:
                # `x.data = y` gives the tensor other elements without counting as a write.
                return tensor._impl.array
        return array

    @property
    def saved_array(self) -> Array | None:
        """The elements as they are now; None if they were freed."""
        return self._array

    @property
    def saved_tensor(self) -> TensorBase | None:
        """The tensor that was saved, while it lives; None for results."""
        return None if self._tensor is None else self._tensor()

    @property
    def saved_storage(self) -> Storage | None:
        """The buffer of the elements, if an object for it exists."""
        return self._storage

    @property
    def saved_counter(self) -> VersionCounter:
        """The counter of writes to that buffer."""
        return self._counter

    def unpack(self, node: Node) -> TensorBase:
        """The saved tensor: the same object while it lives, otherwise an equal one.

        Raises
        ------
        VtgradError
            As `check` does.
        """
        rewinds = self._look(node)
        array = self._array
        if array is None:
            packed = self._packed
            assert packed is not None
            unpacked = packed.unpack_tensor(node, self._meta_for(node))
            if keys.modes:
                overwritten = self._counter.value != self.version
                self._give_tangents(unpacked, node, overwritten=overwritten, offset=None)
            return unpacked
        tensor = None if self._tensor is None else self._tensor()
        if tensor is not None and not self._was_left_by_transform(tensor):
            return tensor
        if rewinds:
            if thread.tracer is not None:
                raise NotSupportedError(
                    f"a value that {node.name()} saved was overwritten under rewind, which cannot "
                    "be followed to find the pattern of a Jacobian; clone it before the write",
                    node=node.name(),
                )
            impl = impl_on(self._restored(node), self._device())
        elif keys.modes and self._token is not None and self._has_copied_tangents():
            # Its tangents are copies: elements that share memory have one tangent each.
            impl = impl_on(like(array, physical(array).copy(order="K")), self._device())
        else:
            impl = self._rebuilt(array)
        impl.autograd_meta = self._meta_for(node)
        rebuilt = operators().wrap(impl)
        if keys.modes:
            offset = None if rewinds else self._offset
            self._give_tangents(rebuilt, node, overwritten=rewinds, offset=offset)
        return rebuilt

    def _was_left_by_transform(self, tensor: TensorBase) -> bool:
        """Whether a tensor lost its producer; see Note [What a transform leaves behind]."""
        edge = self._edge
        if edge is None or edge.function.is_leaf_node:
            return False
        meta = tensor._impl.autograd_meta
        return isinstance(meta, AutogradMeta) and meta.grad_fn_ is None

    def _restored(self, node: Node) -> Array:
        """The value at the time of the save; see Note [Rewind]."""
        array, token = self._array, self._token
        assert array is not None
        assert token is not None
        value = restored(token, array, self._offset)
        if self._fingerprint is not None:
            self._fingerprint.check(value, node)
        return value

    def _rebuilt(self, array: Array) -> TensorImpl:
        """The impl of a rebuilt tensor."""
        storage = self._storage
        impl = impl_on(array, self._device())
        if storage is None or np.may_share_memory(storage.flat, array):
            impl.byte_offset = self._offset
            impl._storage = storage
            impl.version_counter = self._counter
        else:
            # The buffer has grown since, and the array is on the old one, see Note [Growing a
            # buffer].
            impl.byte_offset = -reach(array.shape, array.strides)[0]
        return impl

    def _device(self) -> Device:
        """The device of the value; see Note [Tensors made on a lane]."""
        storage = self._storage
        return CPU if storage is None else storage.device

    def _meta_for(self, node: Node) -> AutogradMetaInterface | None:
        """The autograd metadata of a rebuilt tensor."""
        return self._meta_of_edge()

    def _meta_of_edge(self) -> AutogradMetaInterface | None:
        return None if self._edge is None else AutogradMeta.of_edge(self._edge)


class _SavedCopy(SavedVariable):
    """A value that belongs to no tensor."""

    __slots__ = ()

    def __init__(self, tensor: TensorBase, edge: Edge | None) -> None:
        self._hold_copy(tensor, edge)


def _copied(impl: TensorImpl) -> TensorImpl:
    """A copy of the elements, or of the memory that they share, if that is less."""
    array = impl.array
    if array.flags.c_contiguous:
        return impl_on(array.copy(), impl.device)
    low, high = reach(array.shape, array.strides, impl.byte_offset)
    high += array.itemsize
    if not array.size or high - low >= array.nbytes:
        return impl_on(array.copy(order="K"), impl.device)
    # An expanded array, or windows that overlap.
    memory = impl.storage.flat[low:high].copy()
    offset = impl.byte_offset - low
    view = view_at(memory, array.shape, array.dtype, offset, array.strides)
    copy = impl_on(like(array, view), impl.device)
    copy.byte_offset = offset
    return copy


class _Released(SavedVariable):
    """Replaces a value that was freed."""

    __slots__ = ()

    def __init__(self) -> None:
        self._tensor = None
        self._guard = None
        self._hold(TensorImpl(making.empty(0)), VersionCounter(), None, None)
        self._array = None


class _Unsaved(SavedVariable):
    """Instead of a value that was not saved, because no gradient that is needed uses it."""

    __slots__ = ()

    def __init__(self) -> None:
        self._tensor = None
        self._guard = None
        self._hold(TensorImpl(making.empty(0)), VersionCounter(), None, None)
        self._array = None

    def check(self, node: Node) -> None:
        """Pass: a formula that uses the value is never computed."""

    def _settle(self, node: Node) -> NoReturn:
        raise NotSupportedError(
            f"{node.name()} did not save a value, because the input whose gradient uses it "
            "required no gradient",
            node=node.name(),
        )


class SavedResult(SavedVariable):
    """A saved result of the node itself; see Note [Saving without reference cycles].

    Attributes
    ----------
    output_nr : int
        The number of the result.
    """

    __slots__ = ("output_nr",)

    is_output: ClassVar[bool] = True

    output_nr: int

    def __init__(self, tensor: TensorBase, output_nr: int) -> None:
        """Save a result."""
        impl = tensor._impl
        self.output_nr = output_nr
        self._tensor = None
        self._guard = None
        self._hold(impl, impl.counter, None, tensor)

    def _same_of(self, tensor: TensorBase) -> SavedVariable:
        return SavedResult(tensor, self.output_nr)

    def _producer(self, node: Node) -> str:
        return f"result {self.output_nr} of {node.name()}"

    def _meta_for(self, node: Node) -> AutogradMetaInterface | None:
        array, packed = self._array, self._packed
        dtype = packed.dtype if packed is not None else None if array is None else array.dtype
        # Indices and masks are results too, but have no gradient.
        if dtype is None or dtype.kind not in "fc":
            return None
        write = this_thread.writes.get(node)
        if write is None:
            return edge_to(node, self.output_nr)
        return AutogradMeta.of_edge(write.written_edge())


# Replaces every saved variable of a freed node.
RELEASED: Final[SavedVariable] = _Released()
# What a node holds instead of what it need not save.
UNSAVED: Final[SavedVariable] = _Unsaved()
