"""Blocks in which a mode sees every function; see Note [Function modes]."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from itertools import count
from typing import ClassVar, Final, Self, TypeAlias

from vtgrad.graph.function_modes import ModeBlock, thread
from vtgrad.overrides.seen_members import see_members
from vtgrad.storage.key_set import keys
from vtgrad.storage.scope import Exit, ExitMethod, block_end, not_open

__all__ = ["BaseTorchFunctionMode", "TorchFunctionMode"]

# A block with its key in `keys.modes`, the enclosing block of the same object, and its end.
Opened: TypeAlias = "tuple[ModeBlock, int, Opened | None, weakref.ref[Exit] | None]"

# Levels and tracers, which are in `keys.modes` too, have positive numbers.
_numbers: Final = count(-1, -1)


class TorchFunctionMode:
    """A mode whose ``__torch_function__`` is called in place of every function in its block.

    A class under it defines ``__torch_function__``. It is called with each public function of
    `vtgrad`, method of `Tensor` and property of `Tensor` that the thread calls in a ``with`` block,
    also with those of plain tensors, and those that take no tensor, as `zeros`. What the library
    does to compute a function is not seen. While the method runs, its mode is off; modes of
    enclosing blocks are on, so that they see what it calls. It is asked before classes of
    arguments are, and may leave a call to these by NotImplemented.

    One object may serve many blocks, nested and on several threads.

    See Also
    --------
    DisableTorchFunction : a block in which modes see nothing.

    Examples
    --------
    >>> class Log(vt.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(vt.overrides.resolve_name(func))
    ...         return func(*args, **(kwargs or {}))
    >>> with Log():
    ...     size = vt.stack([vt.ones(2), vt.zeros(2)]).shape
    vtgrad.ones
    vtgrad.zeros
    vtgrad.stack
    vtgrad.Tensor.shape.__get__
    """

    __slots__ = ("__dict__", "__weakref__", "_next", "_open")

    # The innermost open block of each thread, and the reference to the end of the next, as in
    # `ModeScope`.
    _open: dict[int, Opened | None]
    _next: dict[int, weakref.ref[Exit]]

    def __new__(cls, *_: object, **__: object) -> Self:
        """A mode that is not entered; here, because classes of users need not call ``__init__``."""
        mode = super().__new__(cls)
        mode._open, mode._next = {}, {}
        return mode

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """What is called in place of a function.

        Parameters
        ----------
        func : callable
            A function of `vtgrad`, a method of `Tensor`, ``__get__`` or ``__set__`` of one of its
            properties, or a function that calls `handle_torch_function`.
        types : iterable of type
            The classes of arguments that have ``__torch_function__``.
        args, kwargs
            The arguments.

        Returns
        -------
        object
            The result of the call; NotImplemented leaves it to the classes of the arguments.

        Raises
        ------
        NotImplementedError
            If the class of the mode does not define it.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define __torch_function__(self, func, types, args, kwargs)"
        )

    def __enter__(self) -> Self:
        see_members()
        ident = thread.ident
        block, number = ModeBlock(self, ident), next(_numbers)
        opened = block, number, self._open.get(ident), self._next.pop(ident, None)
        # Without a call up to the last of three stores, so that no signal handler runs between.
        entered = *thread.function_modes, block
        keys.modes[number] = block
        self._open[ident] = opened
        thread.function_modes = entered
        return self

    def _leave(self, *_: object) -> None:
        ident = thread.ident
        opened = self._open.get(ident)
        if opened is None:
            raise not_open(self)
        block, number, outer, _end = opened
        # In this order: if it is interrupted before the last store, it is called again.
        block.is_open = False
        thread.function_modes = tuple([one for one in thread.function_modes if one.is_open])
        keys.modes.pop(number, None)
        self._open[ident] = outer

    __exit__: ClassVar[ExitMethod] = block_end(_leave)

    def expect(self, end: weakref.ref[Exit]) -> None:
        """Remember the end of the block that is entered next; see `Scope`."""
        self._next[thread.ident] = end

    def abandon(self, gone: weakref.ref[Exit]) -> None:
        """Leave a block whose ``__exit__`` never ran."""
        ident = thread.ident
        if self._next.get(ident) is gone:
            # The block was never entered.
            del self._next[ident]
            return
        opened = self._open.get(ident)
        while opened is not None and opened[3] is not gone:
            opened = opened[2]
        if opened is None:
            return
        while opened[0].is_open or self._open.get(ident) is opened:
            self._leave()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that calls each function as it is.

    Examples
    --------
    >>> with vt.overrides.BaseTorchFunctionMode():
    ...     vt.ones(2) + 1
    tensor([2., 2.])
    """

    __slots__ = ()

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """Call the function."""
        return func(*args, **(kwargs or {}))
