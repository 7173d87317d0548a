"""The modes that see the functions which a thread calls.

This file is never compiled: mypyc would make a native class of the declaration.

Note [Function modes]

A mode sees every public function that its thread calls in the mode's block, also those of plain
tensors, and those that take no tensor. Programs without a mode must not pay for it, so each kind of
function asks where it has to ask something anyway, or where only programs with a mode come:

- Operators hand over by a key that each tensor has while there is a mode, FUNCTION_MODE. The blocks
  are in `keys.modes`, so that the shortest ways decline (Note [Keys]).
- Functions that are made of operators ask `is_overridden`, which looks for modes too.
- Functions that take no tensor, as `zeros`, ask for themselves, with one look at `keys.modes`:

      if keys.modes and in_function_mode():
          return call_override(zeros, *sizes, ...)

- Methods and properties that are no operators are replaced in `Tensor`, when a mode is entered for
  the first time in the process, by descriptors that ask (`overrides/seen_members.py`).

The modes of a thread are a tuple of blocks, the innermost last. While the function of a mode runs,
the thread has those before it. A block that the function enters and does not leave stays, outside
of its mode's block, as in PyTorch. A block that is left is closed and taken out, wherever it
stands; so blocks may be left in another order than that in which they were entered, also by code
that runs while the tuple is a shorter one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from vtgrad.storage.key_set import FUNCTION_MODE, keys
from vtgrad.storage.thread_mode import ThreadMode
from vtgrad.storage.thread_state import after_fork, part_of_thread

__all__ = ["FunctionMode", "ModeBlock", "in_function_mode", "innermost_mode", "thread"]


class FunctionMode(Protocol):
    """What a mode does in place of a function."""

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: tuple[type, ...],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
        /,
    ) -> object:
        """What the function gives; NotImplemented leaves it to the arguments."""


class ModeBlock:
    """One block of a mode, which may have several.

    Attributes
    ----------
    mode : FunctionMode
        The mode.
    ident : int
        The thread that has entered the block, as ``thread.ident``.
    is_open : bool
        Whether the block has not been left.
    """

    __slots__ = ("ident", "is_open", "mode")

    mode: FunctionMode
    ident: int
    is_open: bool

    def __init__(self, mode: FunctionMode, ident: int) -> None:
        self.mode = mode
        self.ident = ident
        self.is_open = True


class _Modes(ThreadMode):
    """The modes of a thread; see Note [The state of a thread].

    Attributes
    ----------
    function_modes : tuple of ModeBlock
        The blocks whose modes see what the thread calls, the innermost last; some may be closed.
    """

    function_modes: tuple[ModeBlock, ...] = ()


thread: Final[_Modes] = part_of_thread(_Modes)


def innermost_mode() -> ModeBlock | None:
    """The block of the mode that sees the next function of this thread; None if none does."""
    if thread.excluded_keys & FUNCTION_MODE:
        return None
    for block in reversed(thread.function_modes):
        if block.is_open:
            return block
    return None


def in_function_mode() -> bool:
    """Whether a mode sees the next function of this thread."""
    return innermost_mode() is not None


def _keep_own_blocks() -> None:
    """Forget the blocks of threads that the child of a fork does not have."""
    for number, mode in tuple(keys.modes.items()):
        if isinstance(mode, ModeBlock) and mode.ident != thread.ident:
            keys.modes.pop(number, None)


after_fork(_keep_own_blocks)
