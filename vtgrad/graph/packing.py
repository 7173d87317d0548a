"""The functions that pack saved values, on each thread. This file is never compiled.

Note [Hooks of saved values]

The innermost open block of `saved_tensors_hooks` decides what is kept of a value that is saved on
this thread: its pack function gets the tensor, and the graph keeps what that returns. The pair
belongs to the saved value from then on, so backward calls its unpack function wherever it runs.

While blocks are open, `saves_observed` is set, so that a save looks here, and `packing.pair` names
the pair. Both are stored together, as in Note [Switching a mode].
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import ClassVar, Final, TypeAlias, cast

from vtgrad.errors import ArgumentTypeError
from vtgrad.storage.no_fp_warnings import no_fp_warnings
from vtgrad.storage.rewind import saves_observed
from vtgrad.storage.scope import Exit, ExitMethod, block_end, not_open
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_state import part_of_thread

__all__ = ["HookPair", "PackHook", "Packing", "PackingScope", "UnpackHook", "packing"]

PackHook: TypeAlias = Callable[[TensorBase], object]
UnpackHook: TypeAlias = Callable[[object], object]


class HookPair:
    """The two functions of one block.

    Attributes
    ----------
    pack : callable
        Takes the tensor that is saved; the graph keeps what it returns.
    unpack : callable
        Takes what `pack` has returned; its result is a tensor that is equal to the saved one.
    keeps : callable or None
        For hooks of the library, whose packed objects are no form of the tensor: whether the value
        is checked like one that is saved without hooks. None if the packed object decides; see Note
        [Packed values].
    check : callable or None
        For hooks of the library: takes what `pack` has returned, and raises if `unpack` would, as
        far as that shows without unpacking. It is called before a pass runs any node.
    """

    __slots__ = ("check", "keeps", "pack", "unpack")

    pack: PackHook
    unpack: UnpackHook
    keeps: Callable[[TensorBase], bool] | None
    check: Callable[[object], None] | None

    def __init__(
        self,
        pack: object,
        unpack: object,
        keeps: Callable[[TensorBase], bool] | None = None,
        check: Callable[[object], None] | None = None,
    ) -> None:
        self.keeps = keeps
        self.check = check
        for name, hook in (("pack_hook", pack), ("unpack_hook", unpack)):
            if not callable(hook):
                raise ArgumentTypeError(
                    f"{name} must be a function, not {type(hook).__name__}", argument=name
                )
        self.pack = cast("PackHook", pack)
        self.unpack = cast("UnpackHook", unpack)


class Packing:
    """What one thread does with values that it saves; see Note [The state of a thread].

    Attributes
    ----------
    pair : HookPair or None
        The hooks of the innermost block.
    disabled : str or None
        The message with which a new block is refused; None if it is allowed.
    """

    pair: HookPair | None = None
    disabled: str | None = None


packing: Final = part_of_thread(Packing)

# The pair and the message that an open block restores, the enclosing block of the same object, and
# the block's end.
_Block: TypeAlias = "tuple[HookPair | None, str | None, _Block | None, weakref.ref[Exit] | None]"


class PackingScope:
    """A block that changes `packing`. One object may serve many blocks, as a `ModeScope` does.

    See Note [Switching a mode]: methods that enter or leave a block make no call between the first
    store and the last.
    """

    __slots__ = ("__weakref__", "_next", "_open")

    # By `KernelThread.number`, which no later thread and no child of a fork gets again: a block of
    # a thread that is gone is never taken for that of another one.
    _open: dict[int, _Block | None]
    _next: dict[int, weakref.ref[Exit]]

    # 1 for a block that opens hooks: what it adds to `saves_observed`.
    _reasons: ClassVar[int] = 0

    def __init__(self) -> None:
        self._open = {}
        self._next = {}

    def enter(self, pair: HookPair | None, disabled: str | None) -> None:
        """Open a block."""
        number, opened = no_fp_warnings.thread.number, self._open
        block = packing.pair, packing.disabled, opened.get(number), self._next.pop(number, None)
        opened[number] = block
        packing.pair = pair
        packing.disabled = disabled
        saves_observed.reasons += self._reasons

    def _leave(self, *_: object) -> None:
        opened, number = self._open, no_fp_warnings.thread.number
        block = opened.get(number)
        if block is None:
            raise not_open(self)
        packing.pair, packing.disabled, opened[number], _end = block
        saves_observed.reasons -= self._reasons

    __exit__: ClassVar[ExitMethod] = block_end(_leave)

    def expect(self, end: weakref.ref[Exit]) -> None:
        """Remember the end of the block that is entered next; see `Scope`."""
        self._next[no_fp_warnings.thread.number] = end

    def abandon(self, gone: weakref.ref[Exit]) -> None:
        """Leave a block whose ``__exit__`` never ran."""
        number = no_fp_warnings.thread.number
        if self._next.get(number) is gone:
            # The block was never entered.
            del self._next[number]
            return
        block = self._open.get(number)
        while block is not None:
            if block[3] is gone:
                self._open[number] = block
                self._leave()
                return
            block = block[2]
