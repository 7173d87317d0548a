"""The functions that make arrays, as the library calls them. This file is never compiled.

Note [Where arrays are made]

NumPy asks the class of an array what to do with it, so an array of a recording sees each call in
which it takes part. In two kinds of calls no class is asked: those that make an array of numbers,
of a shape or of memory, and those that strip an array of its class, as `numpy.asarray` does. A
recording must see these too, because it refuses an array that it does not know. Functions of other
libraries are of the second kind: they are called by `call`.

So the library calls them as attributes of this module, ``making.empty(shape)``, never as NumPy's,
and binds them to no other name. Each is NumPy's own function, at no cost, while no thread is in
`run_with`. Meanwhile each is a function that looks at the thread: on one that records it calls what
`run_with` was given, on others NumPy's function. One store changes all of them. If the store that
takes them back is left out, by an interrupt, calls cost more until the next one, and nothing else.

The rule does not hold where no array has a value of the program: marks and logs of writes, pickles,
files, pictures, the state of generators. Nor does it hold beside the library, as in `codegen`,
`demo` and `testing`, nor in `jit`, which runs what was recorded. A test has the list.
"""

from __future__ import annotations

import threading
from _thread import get_ident
from collections.abc import Callable, Mapping
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy import (
    arange,
    array,
    asanyarray,
    asarray,
    ascontiguousarray,
    atleast_1d,
    bartlett,
    blackman,
    block,
    broadcast_to,
    diag_indices,
    empty,
    empty_like,
    eye,
    from_dlpack,
    frombuffer,
    fromiter,
    fromstring,
    full,
    full_like,
    geomspace,
    hamming,
    hanning,
    identity,
    indices,
    ix_,
    kaiser,
    linspace,
    logspace,
    ndarray,
    ones,
    ones_like,
    tri,
    tril_indices,
    triu_indices,
    vander,
    zeros,
    zeros_like,
)
from numpy.lib.stride_tricks import as_strided

from vtgrad.storage.arrays import Array
from vtgrad.storage.thread_state import after_fork, changed, part_of_thread
from vtgrad.storage.thread_state import run_with as run_with_settings

__all__ = [
    "NUMPYS",
    "Maker",
    "arange",
    "array",
    "as_strided",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "atleast_1d",
    "bartlett",
    "blackman",
    "block",
    "broadcast_to",
    "call",
    "diag_indices",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "frombuffer",
    "fromiter",
    "fromstring",
    "full",
    "full_like",
    "geomspace",
    "hamming",
    "hanning",
    "identity",
    "indices",
    "ix_",
    "kaiser",
    "linspace",
    "logspace",
    "ndarray",
    "of_numbers",
    "ones",
    "ones_like",
    "plain_view",
    "run_with",
    "state",
    "tri",
    "tril_indices",
    "triu_indices",
    "vander",
    "zeros",
    "zeros_like",
]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

# A function that makes an array.
Maker: TypeAlias = Callable[..., object]


def plain_view(array: Array) -> Array:
    """The same memory as an array of no subclass."""
    return np.ndarray.view(array, np.ndarray)


def call(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """What a function of another library, as of SciPy, gives for arrays.

    It writes to none of its arguments. A recording sees the arrays in its arguments and in its
    result, and nothing of what it does between them.
    """
    return function(*args, **kwargs)


def of_numbers(made: T) -> T:
    """What another function of NumPy has made of numbers alone: an array, or a tuple of arrays."""
    return made


_NO_MAKERS: Final = ("NUMPYS", "Maker", "run_with", "state")

# The functions by the names that they have here.
NUMPYS: Final[Mapping[str, Maker]] = {x: globals()[x] for x in __all__ if x not in _NO_MAKERS}


class Making:
    """The part of a thread's state that says who makes its arrays.

    Attributes
    ----------
    makers : mapping of str to callable, or None
        What stands for functions of this module, by name; a setting, so that a thread which runs
        a part of the program for this one makes arrays in the same way.
    """

    makers: Mapping[str, Maker] | None = None


state: Final = part_of_thread(Making)


class _Runs:
    """The calls of `run_with` that have not ended, and the lock under which the attributes change.

    Attributes
    ----------
    threads : dict of object to int
        The thread of each call, as `threading.get_ident` numbers it.
    lock : threading.RLock
        Reentrant, because a signal handler may record. A child process gets a new one.
    """

    threads: dict[object, int]
    lock: threading.RLock

    def __init__(self) -> None:
        self.threads = {}
        self.lock = threading.RLock()

    def in_child(self) -> None:
        """Forget the calls on threads that a child process does not have."""
        self.lock = threading.RLock()
        ident = get_ident()
        self.threads = {call: thread for call, thread in self.threads.items() if thread == ident}
        self.settle()

    def settle(self) -> None:
        """Let the attributes be NumPy's functions, or look at the thread if some call is open."""
        with self.lock:
            # One call of a C function: no thread and no handler sees a part of the names changed.
            globals().update(_by_thread if self.threads else NUMPYS)


def _for_thread(name: str, numpys: Maker) -> Maker:
    """The function that chooses by the thread on which it is called."""

    def make(*args: Any, **kwargs: Any) -> object:
        makers = state.makers
        return (numpys if makers is None else makers.get(name, numpys))(*args, **kwargs)

    return make


_by_thread: Final = {name: _for_thread(name, numpys) for name, numpys in NUMPYS.items()}
_runs: Final = _Runs()
after_fork(_runs.in_child)


def run_with(
    makers: Mapping[str, Maker], function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs
) -> R:
    """Call a function while others make the arrays of this thread.

    Parameters
    ----------
    makers : mapping of str to callable
        What is called in place of functions of this module, by their names. The others stay.
        They call NumPy, not this module.
    function : callable
        What is called, with the arguments that follow.

    Raises
    ------
    ValueError
        If there is no function of such a name here.
    RuntimeError
        If this thread is in `run_with` already.
    """
    unknown = [name for name in makers if name not in NUMPYS]
    if unknown:
        raise ValueError(f"no function {unknown[0]!r} in vtgrad.storage.making")
    if state.makers is not None:
        raise RuntimeError("this thread makes its arrays by other functions already")
    call = object()
    try:
        _runs.threads[call] = get_ident()
        _runs.settle()
        return run_with_settings(changed(makers=makers), function, *args, **kwargs)
    finally:
        _runs.threads.pop(call, None)
        _runs.settle()
