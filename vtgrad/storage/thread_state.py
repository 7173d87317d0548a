"""What each thread remembers, in one object. This file is never compiled.

Note [The state of a thread]

A process has one `threading.local`, `thread`, and each layer has fields in it. The owner of some
fields declares them, with what a new thread has there, and sees the object through its own class:

    class Packing:
        pair: HookPair | None = None
        disabled: str | None = None

    packing = part_of_thread(Packing)

``packing.pair`` is then an attribute of `thread`. It is read and stored without a call, so that it
can be switched in the form of Note [Switching a mode]. A class may derive from that of a layer
below, whose fields its owner then sees too. This module does not look into values, the mode apart.

A field is a *setting*, unless its owner calls it `own`. Settings belong to the program: user code
that runs on another thread sees them there. `carried` returns the settings of a thread at a moment,
and `run_with` calls a function with given settings. Threads of lanes, and those of deep backward
passes, take over a new setting without another line. What is `own` belongs to the thread itself:
its number, the count of its passes, the order of a thread that waits for it.

A switch that encloses one call is `run_with`. Where enter and exit are apart, as in a ``with``
block, the switch is written as in Note [Switching a mode]: a function that is called to restore a
setting may be interrupted before it does so.

Note [Without the global lock]

Between the comparison of a mark and the move of a version no other thread runs, because the
interpreter's global lock changes hands at calls and backward jumps only; much else that several
threads may do at once rests on this. A free-threaded interpreter can run without the lock. One
thread is as right there as ever. Two could take one number of a version, or move it back, so that
a value that was overwritten counts as intact: a wrong gradient. Two could make a counter twice for
one tensor. So a second thread of the program is refused before it writes or records anything. It
may pickle a tensor, as those of a pool of processes do: on a free-threaded interpreter the counter
and the storage are made under a lock. Threads that the library starts itself, for lanes and for
deep backwards, are workers: the thread that has called waits for them, and what they share is
changed under locks of its own. The child of a fork has one thread, which is then the one that may
use the library.

The module in C asks for the lock, and Python then switches it on. So the question arises only
without this module, and where ``PYTHON_GIL=0`` overrules it.
"""

from __future__ import annotations

import os
import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, ParamSpec, TypeVar, cast

from vtgrad.errors import NotSupportedError
from vtgrad.storage.mode import Mode, switched

__all__ = [
    "Settings",
    "FREE_THREADED",
    "after_fork",
    "as_worker",
    "carried",
    "changed",
    "keep_own_entry",
    "made",
    "own",
    "part_of_thread",
    "refuse_second_thread",
    "run_with",
    "settle",
]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
V = TypeVar("V")

# The fields that are settings, in the order of their declaration. A dict for its order.
_settings: Final[dict[str, None]] = {}
# The module and the class that have declared each field.
_owners: Final[dict[str, tuple[str, str]]] = {}


class Thread(threading.local):
    """The state of one thread; see Note [The state of a thread].

    Attributes
    ----------
    mode, ident, extra_of_new
        As in `thread_mode.py`; this module reads no other field.
    """

    mode: Mode
    ident: int
    extra_of_new: object

    def __init__(self) -> None:
        # Python calls it on each thread that asks for a field.
        refuse_second_thread()


# Whether this interpreter can run without the lock. Its version says so.
FREE_THREADED: Final = "free-threading" in sys.version
# Interpreters that always have the lock have no such function, or none that says otherwise.
_has_global_lock: Final[Callable[[], bool]] = getattr(sys, "_is_gil_enabled", lambda: True)
# The thread that imports the library or forks the process, and those that the library starts.
_admitted: Final[set[int]] = {get_ident()}


def refuse_second_thread() -> None:
    """Raise on a second thread, if there is no lock; see Note [Without the global lock].

    Asking for the state of a thread calls this too. Writes that do not ask call it where
    `FREE_THREADED` is set.

    Raises
    ------
    NotSupportedError
        On any thread but the one that has imported the library or forked the process, and those
        that the library has started.
    """
    if not _has_global_lock() and get_ident() not in _admitted:
        raise NotSupportedError(
            "a second thread uses vtgrad, and this interpreter runs without its global lock, by "
            "which vtgrad keeps versions and graphs right: use it on the thread that has imported "
            "it, or set PYTHON_GIL=1, or start Python with -X gil=1"
        )


thread: Final = Thread()


def as_worker(work: Callable[[], object]) -> None:
    """Do the work of a thread that the library has started; see Note [Without the global lock]."""
    ident = get_ident()
    _admitted.add(ident)
    try:
        work()
    finally:
        _admitted.discard(ident)


class _Own:
    """The declaration of a field that is not carried.

    Attributes
    ----------
    value : object
        What a new thread has.
    """

    __slots__ = ("value",)

    value: object

    def __init__(self, value: object) -> None:
        self.value = value


class _Made:
    """Makes the object of a thread when the thread first reads the field.

    The attribute lookup asks it where the thread has no object yet. If a finalizer or a signal
    handler reads the field meanwhile, its object is the one that stays.
    """

    __slots__ = ("_make", "_name")

    _make: Callable[[], object]
    _name: str

    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, state: Thread | None, owner: type) -> object:
        if state is None:
            return self
        return vars(state).setdefault(self._name, self._make())


def own(value: T) -> T:
    """Declare a field that other threads do not take over.

    Parameters
    ----------
    value : object
        What a new thread has: an immutable object, or the result of `made`.
    """
    return cast("T", _Own(value))


def made(make: Callable[[], T]) -> T:
    """What a new thread has in a field, if it is an object for that thread alone.

    Parameters
    ----------
    make : callable
        Makes the object when the thread first reads the field.
    """
    return cast("T", _Made(make))


def part_of_thread(fields: type[T]) -> T:
    """The state of the threads, as the owner of some fields sees it.

    A class may be declared once more: Python runs a module again whose import was interrupted.

    Parameters
    ----------
    fields : type
        A class whose attributes are the fields, each with what a new thread has: an immutable
        object, or the result of `made`; either as the argument of `own` if it is not carried.

    Raises
    ------
    ValueError
        If another owner has a field of the same name.
    """
    owner = fields.__module__, fields.__qualname__
    for name, value in vars(fields).items():
        if name.startswith("__"):
            continue
        if _owners.setdefault(name, owner) != owner:
            raise ValueError(f"threads have a field {name!r} already")
        # An object of the class that the interrupted module had defined.
        vars(thread).pop(name, None)
        if isinstance(value, _Own):
            value = value.value
        else:
            _settings[name] = None
        if isinstance(value, _Made):
            value.__set_name__(Thread, name)
        setattr(Thread, name, value)
    return cast("T", thread)


class Settings:
    """Values of some or all settings, which never change.

    Attributes
    ----------
    values : mapping of str to object
        The values, by the names of their fields.
    """

    __slots__ = ("values",)

    values: Mapping[str, object]

    def __init__(self, values: dict[str, object]) -> None:
        self.values = values

    def but(self, **values: object) -> Settings:
        """The same with other values for some fields, which may also be a thread's own."""
        return Settings({**self.values, **values})


def carried() -> Settings:
    """All settings of this thread: what user code must see when another thread runs it."""
    return Settings({name: getattr(thread, name) for name in _settings})


def changed(**values: object) -> Settings:
    """Values for some fields; `run_with` leaves the others as they are."""
    return Settings(values)


def run_with(
    settings: Settings, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs
) -> R:
    """Call a function with other settings; whatever happens, the thread has its own afterwards.

    One call of a C function stores all of them, so a signal handler sees none or all, and it
    restores all of them before any handler runs. See Note [Reading the mode] for the entries.

    Short calls switch settings by statements of their own (hooks of saved values, decorated
    functions, `vmap`, levels of forward mode): with this function twenty saves under hooks took 1.4
    times as long, and a small `vmap` 1.15 times.
    """
    state, ident = vars(thread), thread.ident
    before = {name: getattr(thread, name) for name in settings.values}
    try:
        switched.silent[ident] = switched.inference[ident] = thread.mode
        state.update(settings.values)
        settle(ident)
        return function(*args, **kwargs)
    finally:
        switched.silent[ident] = switched.inference[ident] = thread.mode
        state.update(before)
        settle(ident)


def settle(ident: int) -> None:
    """Remove this thread from `switched` where its mode allows; see Note [Reading the mode].

    Parameters
    ----------
    ident : int
        ``thread.ident``.
    """
    # The mode is read right before each call: a handler that runs after a call may switch it.
    if thread.mode.records:
        switched.silent.pop(ident, None)
    if switched.inference and not thread.mode.inference and thread.extra_of_new is None:
        switched.inference.pop(ident, None)


def after_fork(
    in_child: Callable[[], object],
    *,
    before: Callable[[], object] | None = None,
    in_parent: Callable[[], object] | None = None,
) -> None:
    """Register what a fork calls, where there are forks; no other function registers anything.

    The interpreter calls each function by itself, so that an interrupt in one of them leaves out
    none of the others.

    Parameters
    ----------
    in_child : callable
        Called in the child, in the order of registration: resets what belongs to threads that the
        child does not have.
    before, in_parent : callable, optional
        Called in the parent: `before` in reverse order of registration, `in_parent` in order. A
        lock is acquired by the one, and released by the other and by `in_child`.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_child)
        if before is not None:
            os.register_at_fork(before=before)
        if in_parent is not None:
            os.register_at_fork(after_in_parent=in_parent)


def keep_own_entry(*by_thread: dict[int, V]) -> None:
    """Remove the entries of threads that the child of a fork does not have.

    Parameters
    ----------
    *by_thread : dict of int to object
        Entries by ``thread.ident``; new threads may get the same numbers.
    """
    ident = thread.ident
    for entries in by_thread:
        for other in [other for other in entries if other != ident]:
            del entries[other]


def _admit_own_thread() -> None:
    """Admit the thread of the child of a fork, and no other."""
    _admitted.clear()
    _admitted.add(get_ident())


# First, because what other functions do in the child may ask for the state of its thread.
after_fork(_admit_own_thread)
after_fork(partial(keep_own_entry, switched.silent, switched.inference))
