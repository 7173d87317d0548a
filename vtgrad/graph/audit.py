"""Detecting writes that no counter sees. This file is never compiled.

Note [Audit]

A write through a NumPy array that shares memory with a tensor (``x.numpy()``, the source of
`from_numpy`), or through ``x.data``, moves no version. With audit on, a fingerprint of each value
is taken when it is saved, and compared before backward runs any node and when the value is used.
CRC-32 finds every change that lies within 32 bits, and misses one other in 2 to the 32nd.

`set_audit("lock")` also makes NumPy arrays on the memory of a saved value read-only while that
value is kept, so that the line that writes raises. This covers the arrays that were exported or
imported since the lock was switched on; a view made of such an array before stays writable.
"""

from __future__ import annotations

import weakref
import zlib
from collections.abc import Callable
from functools import partial
from itertools import chain, repeat
from operator import call, is_not
from typing import TYPE_CHECKING, Final, Literal, Self, cast

import numpy as np

from vtgrad.errors import ArgumentValueError, UnseenWriteError
from vtgrad.graph.anomaly import made_at
from vtgrad.storage.arrays import Array
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.rewind import saves_observed
from vtgrad.storage.scope import Scope
from vtgrad.storage.storage import Storage

if TYPE_CHECKING:
    from vtgrad.graph.node import Node

__all__ = ["Fingerprint", "audit", "auditing", "set_audit", "show_to_numpy"]


class Audit:
    """The settings of audit, for all threads.

    Attributes
    ----------
    enabled : bool
        Whether fingerprints are taken.
    locks : bool
        Whether NumPy arrays on saved memory become read-only.
    """

    __slots__ = ("enabled", "locks")

    enabled: bool
    locks: bool

    def __init__(self) -> None:
        self.enabled = False
        self.locks = False

    def switch(self, enabled: bool, locks: bool) -> None:
        """Switch audit on or off."""
        # Stores without a call between, so that an interrupt comes before or after all of them.
        if enabled is not self.enabled:
            saves_observed.reasons += 1 if enabled else -1
        self.enabled, self.locks = enabled, locks


audit: Final = Audit()

_MODES: Final = (False, True, "lock")


def _checked(mode: object, name: str) -> tuple[bool, bool]:
    """The settings of a mode."""
    if not isinstance(mode, (bool, str)) or mode not in _MODES:
        raise ArgumentValueError(f'{name} takes True, False or "lock", not {mode!r}')
    return mode is not False, mode == "lock"


class set_audit(Scope):
    """Detect writes to saved values that do not pass through the library.

    It takes effect at once, for all threads, and is undone at the end of the block when used in
    a ``with``. Values that are saved while audit is on are checked before a backward runs, and
    when it uses them. The tensors that a custom Function keeps as attributes of its ``ctx`` are
    checked too. Each check costs one pass over the saved value, about 0.16 ms per megabyte, and
    a copy of values that have gaps.

    As all ``set_...`` switches, it acts when it is called: if a signal handler raises after the
    call and before the block has begun, it stays on. `auditing` is switched on by the block.

    Parameters
    ----------
    mode : bool or "lock"
        True to compare; ``"lock"`` to also make NumPy arrays that share memory with a saved
        value read-only while the value is kept, so that the line that writes raises
        `ValueError`.

    Raises
    ------
    ArgumentValueError
        If `mode` is another value.

    Examples
    --------
    >>> x, w = vt.ones(2), vt.ones(2, requires_grad=True)
    >>> with vt.autograd.graph.set_audit(True):
    ...     y = w * x
    ...     x.numpy()[0] = 5
    ...     y.sum().backward()
    Traceback (most recent call last):
    ...
    vtgrad.errors.UnseenWriteError: MulBackward0 needs a value that has changed ...
    >>> with vt.autograd.graph.set_audit("lock"):
    ...     y = w * x
    ...     x.numpy()[0] = 5
    Traceback (most recent call last):
    ...
    ValueError: assignment destination is read-only
    """

    __slots__ = ("_before",)

    _before: tuple[bool, bool]

    def __init__(self, mode: bool | Literal["lock"]) -> None:
        enabled, locks = _checked(mode, "set_audit")
        super().__init__()
        self._before = audit.enabled, audit.locks
        audit.switch(enabled, locks)

    def restore(self) -> None:
        """Restore the previous settings."""
        audit.switch(*self._before)


class auditing(Scope):
    """Detect writes to saved values that do not pass through the library, in a block.

    Does what `set_audit` does, and is on only inside of the block, wherever a signal handler
    raises.

    Parameters
    ----------
    mode : bool or "lock", default True
        As for `set_audit`.

    Raises
    ------
    ArgumentValueError
        If `mode` is another value.

    Examples
    --------
    >>> x, w = vt.ones(2), vt.ones(2, requires_grad=True)
    >>> with vt.autograd.graph.auditing("lock"):
    ...     y = w * x
    ...     x.numpy()[0] = 5
    Traceback (most recent call last):
    ...
    ValueError: assignment destination is read-only
    """

    __slots__ = ("_before", "_settings")

    # None before the block.
    _before: tuple[bool, bool] | None
    _settings: tuple[bool, bool]

    def __init__(self, mode: bool | Literal["lock"] = True) -> None:
        self._settings = _checked(mode, "auditing")
        super().__init__()
        self._before = None

    def __enter__(self) -> Self:
        self._before = audit.enabled, audit.locks
        audit.switch(*self._settings)
        return self

    def restore(self) -> None:
        """Restore the settings of before the block."""
        if self._before is not None:
            audit.switch(*self._before)


# It takes the flag as its first argument.
_set_writeable: Final = cast("Callable[[Array | None, bool], None]", np.ndarray.setflags)


class _Lock:
    """Keeps NumPy arrays on some memory read-only while a saved value holds this object.

    Note [Unlocking arrays]

    A finalizer that is a Python function may be interrupted by a signal handler, before it has done
    anything, and Python drops what the handler raises. So the arrays are unlocked by callbacks of
    weak references, which are C functions: `dict.fromkeys` exhausts an iterator whose steps are C
    functions too. No handler runs between the first array and the last. It runs afterwards, in the
    code that has released the value, and what it raises is seen there.

    NumPy refuses to make an array writeable whose base is read-only. That ends a callback, with a
    message of Python's. So there is one callback for each array, and all of them go on with the
    same iterator: the other arrays are unlocked. Bases come before their views.
    """

    __slots__ = ("__weakref__", "_arrays", "_unlock")

    # Arrays that were made read-only, by the number of arrays that they are views of.
    _arrays: list[list[weakref.ref[Array]]]
    # Makes them writeable; it must not refer to this object.
    _unlock: Callable[[weakref.ref[_Lock]], object]

    def __init__(self) -> None:
        self._arrays = []
        references = chain.from_iterable(self._arrays)
        living = filter(partial(is_not, None), map(call, references))
        self._unlock = partial(dict.fromkeys, map(_set_writeable, living, repeat(True)))
        # The oldest reference is the last one that is called.
        _ends[id(self)] = [weakref.ref(self, partial(_ends.pop, id(self)))]

    def lock(self, array: Array) -> None:
        """Make an array read-only."""
        if not array.flags.writeable:
            return
        depth, base = 0, array.base
        while isinstance(base, np.ndarray):
            depth, base = depth + 1, base.base
        while len(self._arrays) <= depth:
            self._arrays.append([])
        self._arrays[depth].append(weakref.ref(array))
        _ends[id(self)].append(weakref.ref(self, self._unlock))
        array.flags.writeable = False


# The references whose callbacks unlock arrays, by the number of the lock. They are kept here:
# Python calls no callback of a reference that is garbage too.
_ends: Final[dict[int, list[weakref.ref[_Lock]]]] = {}


class _Aliases:
    """Arrays outside of tensors on the memory of one array, which may be that of many storages.

    Attributes
    ----------
    arrays : list of weak references to ndarray
        The arrays exported or imported while locks were on.
    held : weak reference to _Lock, or None
        The lock that saved values on the memory hold.
    """

    __slots__ = ("arrays", "held")

    arrays: list[weakref.ref[Array]]
    held: weakref.ref[_Lock] | None

    def __init__(self) -> None:
        self.arrays = []
        self.held = None

    @staticmethod
    def of(storage: Storage) -> _Aliases:
        """The aliases of a storage."""
        known = storage.aliases
        if not isinstance(known, _Aliases):
            owner = storage.owner
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            number = id(owner)
            # The callback is a C function, which nothing interrupts.
            made = weakref.ref(owner, partial(_by_owner.pop, number)), _Aliases()
            known = storage.aliases = _by_owner.setdefault(number, made)[1]
        return known

    def add(self, array: Array) -> None:
        """Add an array, and lock it if the memory is locked."""
        self.arrays = [reference for reference in self.arrays if reference() is not None]
        self.arrays.append(weakref.ref(array))
        held = None if self.held is None else self.held()
        if held is not None:
            held.lock(array)

    def locked(self) -> _Lock:
        """The lock of all arrays; they stay locked while it is alive."""
        lock = None if self.held is None else self.held()
        if lock is None:
            lock = _Lock()
            self.held = weakref.ref(lock)
            for reference in self.arrays:
                array = reference()
                if array is not None:
                    lock.lock(array)
        return lock


# By the identity of the array that owns the memory; an entry lives as long as that array. Two
# storages on one memory have one lock: NumPy would not unlock a view while its base is locked.
_by_owner: Final[dict[int, tuple[weakref.ref[Array], _Aliases]]] = {}


def show_to_numpy(storage: Storage, array: Array) -> None:
    """Record that a NumPy array shares a storage; only called while locks are on."""
    _Aliases.of(storage).add(array)


class Fingerprint:
    """The content of a saved value when it was saved, and its lock.

    Attributes
    ----------
    crc : int
        A checksum of its bytes.
    """

    __slots__ = ("_lock", "crc")

    crc: int
    _lock: _Lock | None

    def __init__(self, array: Array, storage: Storage | None) -> None:
        self.crc = _checksum(array)
        self._lock = None
        if audit.locks and storage is not None:
            self._lock = _Aliases.of(storage).locked()

    def check(self, array: Array, node: Node, what: str = "") -> None:
        """Compare with the present value.

        Raises
        ------
        UnseenWriteError
            If it has changed.
        """
        if _checksum(array) == self.crc:
            return
        saver = made_at(node)
        name, dtype = node.name(), dtype_of(array.dtype).name
        text = (
            f"{name} needs a value that has changed since it was saved, by a write that did not "
            f"pass through the library: a {dtype} tensor of shape {list(array.shape)}{what}"
        )
        if saver is not None:
            text += f", saved at {saver}"
        raise UnseenWriteError(
            f"{text}. Writes through NumPy arrays on its memory and through .data are of that "
            'kind; set_audit("lock") makes such arrays read-only, so that the line that writes '
            "raises",
            node=name,
            shape=array.shape,
            dtype=dtype,
            saved_at=saver,
        )


def _checksum(array: Array) -> int:
    plain = physical(array)
    if not plain.size:
        return 0
    return zlib.crc32(np.ascontiguousarray(plain).reshape(-1).view(np.uint8).data)
