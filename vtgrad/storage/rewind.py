"""Keeping overwritten bytes, and restoring saved values from them. This file is never compiled.

Note [Rewind]

Inside `allow_mutation_on_saved_tensors` a write to a storage first keeps the bytes that it
overwrites, if a saved value could need them. When backward needs such a value, it copies the live
storage and undoes the writes one after another, newest first, until it is back at the moment of the
save.

Which bytes are needed follows from references. A `Token` stands for a storage's state between two
writes, and each value saved in that state holds the token. The log holds the newest token weakly.
If that token is dead when a write begins, no live value was saved from this state or an earlier
one, and nothing is kept. Otherwise the write keeps the bytes in the token, and links the token to a
new one. Links lead from old to new only, so the oldest live save holds exactly what it needs, and
reference counting frees the rest, without cycles:

    save, token A     write 1: A.undo = its bytes     save, token B     write 2: B.undo = its bytes
    A ------------------------------------------------> B ----------------------------------> C

To restore what was saved at A: copy the live bytes, put back those of B.undo, then those of A.undo.

All tokens of one storage share a `Chain`. If a write cannot be kept (it is made outside of the
block, or by other means, or the tensor refers to another storage by then), the chain is cut: a
value of it can be restored only if none of its elements was written since. The stores that link
tokens follow each other without a call between, so that no signal handler and no thread sees only
half of them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, Self, TypeAlias, TypeVar

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.kept_bytes import Chain, Token, Undo, view_at
from vtgrad.storage.lazy_array import like, physical
from vtgrad.storage.prepared_store import WrittenIndex
from vtgrad.storage.scope import Scope
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import own, part_of_thread
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.storage.write_log import SAVED, Region, WriteLog

__all__ = [
    "allow_mutation_on_saved_tensors",
    "can_restore",
    "keep_overwritten",
    "restored",
    "saves_observed",
    "rewinding",
    "token_of",
]

P = ParamSpec("P")
R = TypeVar("R")

# Cursors of one chain in one pass.
_CURSORS: Final = 4


class Observed:
    """Whether saved values get tokens, are audited, or are packed by hooks.

    Attributes
    ----------
    reasons : int
        How many blocks of `allow_mutation_on_saved_tensors` and `saved_tensors_hooks` and levels of
        forward mode are open, on all threads, and one more while audit is on. While the number is
        zero, a save does no further work. The child of a fork still counts the blocks of threads
        that it does not have: its saves look for hooks and find none, and its passes do not run on
        lanes. It is not reset, because a thread may be in a block that another one has opened: one
        that runs nodes of a deep pass has the settings of the thread that has called backward.
    """

    __slots__ = ("reasons",)

    reasons: int

    def __init__(self) -> None:
        self.reasons = 0


saves_observed: Final = Observed()


class _Rewinding:
    """The rewind state of one thread; see Note [The state of a thread].

    Attributes
    ----------
    keeps : bool
        Whether writes keep the bytes that they overwrite.
    cursors : dict of Chain to list of Cursor, or None
        The cursors of the backward pass that runs; None outside of a pass. Threads of lanes run at
        once, and a cursor serves one thread.
    """

    keeps: bool = False
    cursors: dict[Chain, list[Cursor]] | None = own(None)


TokenReference: TypeAlias = weakref.ref[Token]


class Cursor:
    """A copy of a storage that goes back in time.

    Attributes
    ----------
    at : Token
        The token of the state that the copy shows.
    memory : ndarray
        The copy, as long as the storage, filled from `low` to `high`.
    """

    __slots__ = ("at", "high", "low", "memory")

    at: Token
    memory: Array
    low: int
    high: int

    def __init__(self, token: Token) -> None:
        chain = token.chain
        live = chain.storage.flat
        self.low, self.high = chain.low, chain.high
        self.memory = making.empty(live.size, np.uint8)
        # First the copy, then the links: a write between the two is undone.
        self.memory[self.low : self.high] = live[self.low : self.high]
        self._undo(_undos_from(token))
        self.at = token

    def go_back_to(self, token: Token, undone: list[Undo]) -> None:
        """Restore the state of an earlier token by undoing the writes made since."""
        self._undo(undone)
        self.at = token

    def _undo(self, undone: list[Undo]) -> None:
        for undo in reversed(undone):
            undo.apply(self.memory)


rewinding: Final = part_of_thread(_Rewinding)


class allow_mutation_on_saved_tensors(Scope):  # PyTorch's name
    """Let values that were saved for backward be overwritten, in a block or a function.

    A value that is saved inside the block on this thread may also be overwritten inside: the
    write keeps the bytes that it overwrites, and backward restores them, inside the block or
    after it. The gradient is that of the program with a ``clone()`` before every save. The cost
    is the memory of the overwritten bytes while a saved value that could need them is alive,
    and one copy of each such storage during backward; time grows with the elements that are
    touched. Blocks nest.

    Other writes are not kept, and backward refuses as always if one of them has overwritten an
    element that it needs: a write outside the block, on another thread, or by other means
    (`increment_version`).

    Raises
    ------
    NotSupportedError
        If one object is entered while its block is open; each ``with`` needs its own.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
    >>> with vt.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.clone()
    ...     z = y * y  # saves y
    ...     y.mul_(10)  # overwrites it
    tensor([10., 20.], grad_fn=<MulBackward0>)
    >>> z.sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ("_before", "_is_open")

    _before: bool
    _is_open: bool

    def __init__(self) -> None:
        super().__init__()
        self._is_open = False

    def __enter__(self) -> Self:
        if self._is_open:
            raise NotSupportedError("a block is open already; make another one for each `with`")
        here = rewinding
        # Stores without a call between, so that an interrupt comes before or after all of them.
        self._before = here.keeps
        here.keeps = self._is_open = True
        saves_observed.reasons += 1
        return self

    def restore(self) -> None:
        """Restore the setting of before the block."""
        here = rewinding
        if self._is_open:
            here.keeps = self._before
            self._is_open = False
            saves_observed.reasons -= 1

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate `function`, so that it always runs inside a block."""

        @wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with allow_mutation_on_saved_tensors():
                return function(*args, **kwargs)

        return inside


def token_of(
    impl: TensorImpl, counter: VersionCounter, region: Region, version: int
) -> Token | None:
    """The present state of a storage from which a region is saved; None if it need not be kept.

    Parameters
    ----------
    version : int
        The version at which the region was saved. If a write was marked since, the storage may
        already be in another state, or in the midst of the write; see Note [Saved during a write].
    """
    if not rewinding.keeps:
        return None
    log = counter.log
    if log is None or log is SAVED:
        log = impl.own_log(counter)
    storage = impl.storage
    while True:
        reference = log.token
        token = None if reference is None else reference()
        if token is None or token.chain.storage is not storage:
            former = token
            token = Token(Chain(storage))
            made = weakref.ref(token)
            if version < log.marked:
                return None
            if log.token is not reference:
                continue
            log.token = made
            if former is not None:
                former.chain.cut = counter.value + 1
        elif version < log.marked:
            return None
        chain = token.chain
        if region[0] < chain.low:
            chain.low = region[0]
        if region[1] > chain.high:
            chain.high = region[1]
        return token


def keep_overwritten(
    log: WriteLog,
    version: int,
    storage: Storage | None,
    array: Array,
    offset: int,
    index: WrittenIndex | None,
) -> None:
    """Keep the bytes that a write will overwrite, or cut the chain.

    Called when the write is marked: a value that a signal handler saves after the mark gets no
    token.

    Parameters
    ----------
    version : int
        The version with which the write is marked.
    storage : Storage or None
        The storage of the array; None if its bytes were overwritten already, or are not known.
    array, offset, index
        As in `region_of`.
    """
    while True:
        reference = log.token
        token = None if reference is None else reference()
        undo: Undo | None = None
        later: Token | None = None
        made: TokenReference | None = None
        if token is not None and rewinding.keeps and storage is token.chain.storage:
            undo = Undo(array, offset, index)
            later = Token(token.chain)
            made = weakref.ref(later)
        if log.token is not reference:
            # A signal handler or another thread has written since: its bytes come first.
            continue
        # If the token is dead, no live value was saved from this state or an earlier one.
        if token is not None:
            token.undo = undo
            token.next = later
            if later is None:
                token.chain.cut = version
        log.token = made
        return


def can_restore(token: Token, log: WriteLog, region: Region) -> bool:
    """Whether every write to a region since a token's state was kept."""
    cut = token.chain.cut
    return cut is None or not log.is_written(region, cut - 1)


def restored(token: Token, array: Array, offset: int) -> Array:
    """A copy of an array's elements as they were in a token's state."""
    memory = _memory_at(token, array, offset)
    plain = physical(array)
    value = view_at(memory, plain.shape, plain.dtype, offset, plain.strides)
    return like(array, value.copy(order="K"))


def _memory_at(token: Token, array: Array, offset: int) -> Array:
    """A copy of the storage in which an array's elements have the values of a token's state."""
    cursors = rewinding.cursors
    if cursors is None:
        return Cursor(token).memory
    own = cursors.setdefault(token.chain, [])
    by_token = {cursor.at: cursor for cursor in own}
    undone: list[Undo] = []
    state: Token | None = token
    while state is not None:
        nearest = by_token.get(state)
        if nearest is not None and nearest.low <= token.chain.low:
            if nearest.high >= token.chain.high:
                nearest.go_back_to(token, undone)
                return nearest.memory
        if state.undo is not None:
            undone.append(state.undo)
        state = state.next
    cursor = Cursor(token)
    own.append(cursor)
    del own[:-_CURSORS]
    return cursor.memory


def _undos_from(token: Token) -> list[Undo]:
    """The writes since a state, oldest first."""
    undone: list[Undo] = []
    state: Token | None = token
    while state is not None:
        if state.undo is not None:
            undone.append(state.undo)
        state = state.next
    return undone
