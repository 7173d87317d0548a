"""What users' hooks keep of one saved value. This file is never compiled.

Note [Packed values]

A `SavedVariable` that was saved under hooks has no array: it refers to a `Packed`, which holds what
the pack function has returned. What backward may do with that depends on whose memory it is:

- a copy in any form (a clone, a number, the name of a file) is the value for good. Nothing more is
  kept, so that the memory of the saved tensor is free, and later writes to it do not matter;
- the saved tensor itself, or an object that shares its memory (a view, what `detach` returns, a
  NumPy array, a tuple of them). If the memory is written, the packed object changes with it. So an
  ordinary `SavedVariable` of the same value stays beside it, with all its checks: staleness,
  rewind, audit, detaching;
- the saved tensor itself is not held at all, because a tensor refers to its producer: the node
  would refer to itself. The ordinary saved variable can make an equal tensor at any time, as it
  does without hooks; see Note [Saving without reference cycles].

Two looks tell whether an object shares the memory (`shared_memory.py`): what can be reached from
it, and whether new references to the memory exist after the pack function has run. If the unpacked
tensor shares the memory after all, it is checked then.

Note [Unpacked once]

An unpack function may be slow, or give its value only once. So before the engine runs a node, it
calls the unpack functions of all its values, in the user's context and grad mode; the results are
in `this_thread.unpacked` while the node runs. `check`, which is called for each node before a pass,
tells the engine which nodes these are.

Note [Packed results of writes]

A pack function gets a result with its producer. An in-place operator's result has its producer only
when everything else is done, and the function may raise. So the result is first saved without hooks
and the tensor gets its producer; then the result is packed. If that raises, the write stays, with
its record, and the gradient is that of a value that was saved without hooks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from vtgrad.errors import ArgumentTypeError, SavedHookError
from vtgrad.graph.node_fields import saved_fields_of
from vtgrad.graph.operators import operators
from vtgrad.graph.packing import HookPair, UnpackHook, packing
from vtgrad.graph.saved_tangents import pass_tangents
from vtgrad.graph.shared_memory import References, shares_memory
from vtgrad.graph.thread_levels import NO_LIMIT, settle, thread
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.kept_bytes import Token
from vtgrad.storage.key_set import LANE
from vtgrad.storage.mode import switched
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.rewind import restored
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import AutogradMetaInterface, TensorImpl
from vtgrad.storage.version_counter import INFERENCE, VersionCounter
from vtgrad.storage.write_log import SAVED, region_of

if TYPE_CHECKING:
    from vtgrad.graph.node import Node
    from vtgrad.graph.saved_variable import SavedVariable

__all__ = ["Packed", "pack_result_of_write", "save_result_of_write", "unpack_saved"]

A = TypeVar("A")
R = TypeVar("R")


class Packed:
    """One packed value; see Note [Packed values].

    Attributes
    ----------
    value : object
        What the pack function has returned; None if that was the saved tensor itself.
    is_itself : bool
        Whether it was.
    unpack : callable
        The unpack function.
    kept : SavedVariable or None
        The same value, saved without hooks, if the packed object shares its memory.
    shape, dtype
        Those of the saved tensor.
    """

    __slots__ = (
        "_check",
        "_counter",
        "_version",
        "dtype",
        "is_itself",
        "kept",
        "shape",
        "unpack",
        "value",
    )

    value: object
    is_itself: bool
    unpack: UnpackHook
    kept: SavedVariable | None
    shape: Shape
    dtype: NumpyDType
    _counter: VersionCounter
    _version: int
    _check: Callable[[object], None] | None

    def __init__(self, hooks: HookPair, tensor: TensorBase, kept: SavedVariable) -> None:
        """Call the pack function.

        Parameters
        ----------
        tensor : TensorBase
            The tensor that is saved.
        kept : SavedVariable
            Its value, saved without hooks.

        Raises
        ------
        SavedHookError
            If the function has written to the tensor.
        """
        impl = tensor._impl
        self.shape, self.dtype = impl.sizes, impl.dtype
        self.unpack = hooks.unpack
        self._check = hooks.check
        self._counter, self._version = impl.counter, kept.version
        moved = self._counter.value
        keeps = None if hooks.keeps is None else hooks.keeps(tensor)
        references = None if hooks.keeps is not None else References(tensor)
        if references is not None:
            references.count()
        value = _without_recording(hooks.pack, tensor)
        if self._counter.value != moved:
            raise SavedHookError(
                f"{_name(hooks.pack)}, the pack function of a saved tensor of shape "
                f"{list(self.shape)}, has written to it; write to a clone",
                hook=hooks.pack,
            )
        self.is_itself = value is tensor
        has_grown = references is not None and references.have_grown()
        self.value = None if self.is_itself else value
        if keeps is None:
            keeps = self.is_itself or shares_memory(value, impl, has_grown)
        self.kept = kept if keeps else None

    def check(self, node: Node) -> None:
        """Raise if the value cannot be used any more, as far as that shows without unpacking.

        Raises
        ------
        VtgradError
            As `SavedVariable.check` does.
        VtgradError, OSError
            As `HookPair.check` does.
        """
        if not node.runs_users_code():
            node.own_hooks().unpacks = True
        if self.kept is not None:
            self.kept.check(node)
        if self._check is not None:
            self._check(self.value)

    def unpack_array(self, node: Node) -> Array:
        """The elements, for a node that runs without being recorded."""
        known = this_thread.unpacked.get(self)
        if known is None:
            known = _without_recording(self.unpacked, node)
        return known._impl.array

    def unpack_tensor(self, node: Node, meta: AutogradMetaInterface | None) -> TensorBase:
        """A new tensor of the value, with the metadata of the saved one."""
        known = this_thread.unpacked.get(self)
        if known is None:
            known = self.unpacked(node)
        impl = known._impl
        if impl.version_counter is INFERENCE:
            impl = impl_on(impl.array, impl.device)
        else:
            impl = impl.alias(impl.array, impl.byte_offset, impl.strides)
        impl.autograd_meta = meta
        unpacked = operators().wrap(impl)
        pass_tangents(known, unpacked, NO_LIMIT, copies=False)
        return unpacked

    def unpacked(self, node: Node) -> TensorBase:
        """What the unpack function returns.

        Raises
        ------
        ArgumentTypeError
            If it is not a tensor.
        SavedHookError
            If its shape or dtype is not that of the saved tensor.
        VtgradError
            If the packed object shares the memory of the saved tensor, as `SavedVariable.check`.
        """
        result = self.unpack(self._packed(node))
        if not isinstance(result, TensorBase):
            raise ArgumentTypeError(
                f"{_name(self.unpack)}, the unpack function of a value that {node.name()} saved, "
                f"must return a tensor, not {type(result).__name__}",
                node=node.name(),
                hook=self.unpack,
            )
        impl = result._impl
        if impl.sizes != self.shape or impl.dtype != self.dtype:
            raise SavedHookError(
                f"{_name(self.unpack)} turned a {self.dtype} value of shape {list(self.shape)} "
                f"that {node.name()} saved into a {impl.dtype} one of shape {list(impl.sizes)}",
                node=node.name(),
                hook=self.unpack,
                expected=(self.shape, self.dtype),
                found=(impl.sizes, impl.dtype),
            )
        if self.kept is None and impl.version_counter is self._counter:
            self._check_found(impl, node)
        return result

    def _packed(self, node: Node) -> object:
        """The argument of the unpack function."""
        kept = self.kept
        if kept is None:
            return self.value
        if self.is_itself:
            return kept.unpack(node)
        if not kept.is_overwritten(node):
            return self.value
        # See Note [Rewind]. What a foreign object would show of the memory cannot be undone.
        value, token = self.value, kept.token
        if (
            token is None
            or not isinstance(value, TensorBase)
            or value._impl._storage is not token.chain.storage
            or not _is_within(value._impl, token)
        ):
            raise kept.stale(node, rewinds=False)
        array = restored(token, value._impl.array, value._impl.byte_offset)
        return operators().wrap(impl_on(array, value._impl.device))

    def _check_found(self, impl: TensorImpl, node: Node) -> None:
        """Raise if the unpacked tensor is the saved one after all, and was overwritten."""
        log, version = self._counter.log, self._counter.value
        if version == self._version:
            return
        if log is None or (
            log is not SAVED
            and log.is_written(region_of(impl.array, impl.byte_offset), self._version)
        ):
            raise SavedHookError(
                f"{_name(self.unpack)} returned the tensor that {node.name()} saved, which was "
                f"overwritten since (version {version} instead of {self._version}); pack a clone",
                node=node.name(),
                hook=self.unpack,
            )


def _without_recording(function: Callable[[A], R], argument: A) -> R:
    """Call a function of the user with recording off.

    An operator may be at work. But the function sees all tangents, and if it is the operator of a
    lane, what the function makes is on the device that it says.
    """
    before, ident = thread.mode.grad, thread.ident
    excluded, extra, limit = thread.excluded_keys, thread.extra_of_new, thread.forward_limit
    try:
        thread.mode = switched.silent[ident] = thread.mode.by_grad[False]
        thread.excluded_keys = excluded & ~LANE
        thread.extra_of_new = None
        thread.forward_limit = NO_LIMIT
        return function(argument)
    finally:
        thread.forward_limit = limit
        thread.excluded_keys = excluded
        if extra is not None:
            # The function may have settled the thread.
            switched.inference[ident] = thread.mode
        thread.extra_of_new = extra
        thread.mode = switched.silent[ident] = thread.mode.by_grad[before]
        settle(ident)


def _is_within(impl: TensorImpl, token: Token) -> bool:
    """Whether rewind restores all of the elements."""
    low, high = region_of(impl.array, impl.byte_offset)[:2]
    return token.chain.low <= low and high <= token.chain.high


def _name(hook: object) -> str:
    """A function, for messages."""
    return repr(getattr(hook, "__qualname__", hook))


def unpack_saved(node: Node) -> dict[Packed, TensorBase]:
    """What the unpack functions of a node's values return; see Note [Unpacked once].

    Raises
    ------
    Exception
        Whatever the functions raise, and as `Packed.unpacked` does.
    """
    owner = node.saving_node()
    packed = [value.packed for _, value in owner.saved_values() if value.packed is not None]
    return {one: one.unpacked(owner) for one in packed}


def save_result_of_write(node: Node, result: TensorBase) -> None:
    """Save the result without hooks; see Note [Packed results of writes]."""
    hooks = packing.pair
    try:
        packing.pair = None
        node.save_results(result)
    finally:
        packing.pair = hooks


def pack_result_of_write(node: Node, result: TensorBase, version: int) -> None:
    """Pack the saved result, if there are hooks.

    Parameters
    ----------
    version : int
        The version that the write made. If a signal handler or another thread has written since,
        what was packed may be another value: the one that is saved without hooks stays.
    """
    if packing.pair is None:
        return
    fields = [(name, getattr(node, name)) for name in saved_fields_of(type(node))]
    try:
        node.save_results(result)
    finally:
        # Also if a second handler raises.
        if result._impl.counter.value != version:
            for name, value in fields:
                setattr(node, name, value)
