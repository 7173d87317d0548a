"""Blocks that undo a switch, even if they are interrupted as they end.

This file is never compiled: native classes have no descriptors.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import ClassVar, Protocol, Self, TypeAlias, cast

from vtgrad.errors import BlockNotOpenError

__all__ = ["BlockEnd", "Exit", "ExitMethod", "Scope", "block_end", "not_open"]

# The ``__exit__`` of a class as type checkers see it: they bind a function to the object.
ExitMethod: TypeAlias = Callable[
    [object, type[BaseException] | None, BaseException | None, TracebackType | None], None
]


def not_open(scope: object) -> BlockNotOpenError:
    """The error about the end of a block that is not open, as of ``no_grad().__exit__()``."""
    name = type(scope).__name__
    return BlockNotOpenError(
        f"no block of this {name} is open on this thread: enter it by `with`, and leave it once",
        block=name,
    )


class Exit(Protocol):
    """The callable that a ``with`` statement calls at its end."""

    def __call__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        """Undo what the block has switched."""


class _HasEnds(Protocol):
    """Objects that open a block."""

    def expect(self, end: weakref.ref[Exit]) -> None:
        """Remember the end of the block that is entered next."""

    def abandon(self, gone: weakref.ref[Exit]) -> None:
        """Leave a block whose ``__exit__`` never ran."""


class BlockEnd:
    """The ``__exit__`` of a scope.

    Note [Interrupted at the end of a block]

    ``__exit__`` is a Python function, so it can be interrupted at its beginning, before it has done
    anything, and it is not called again. So each block gets an ``__exit__`` of its own, an object
    that only the ``with`` statement holds: if the object dies while the block is still open, the
    callback of a weak reference undoes the switch, before any ``except`` clause around the block
    runs.
    """

    __slots__ = ("_leave",)

    _leave: Callable[..., None]

    def __init__(self, leave: Callable[..., None]) -> None:
        self._leave = leave

    def __get__(self, scope: _HasEnds | None, owner: type[_HasEnds]) -> Exit:
        if scope is None:
            return self._leave
        leave = partial(self._leave, scope)
        scope.expect(weakref.ref(leave, scope.abandon))
        return leave


def block_end(leave: Callable[..., None]) -> ExitMethod:
    """The ``__exit__`` of a class, see `BlockEnd`."""
    return cast("ExitMethod", BlockEnd(leave))


class Scope:
    """A switch that is on from the construction of the object to the end of a block.

    One object serves one block; without a block the switch stays on. A class whose switch is on
    from the beginning of the block switches in an `__enter__` of its own, as
    `allow_mutation_on_saved_tensors` does. Its `restore` asks whether the switch is on, because it
    is called for a block that did not begin, too.
    """

    __slots__ = ("__weakref__", "_end")

    # The end of the open block.
    _end: weakref.ref[Exit] | None

    def __init__(self) -> None:
        self._end = None

    def __enter__(self) -> Self:
        return self

    def restore(self) -> None:
        """Switch back; called again if the call is interrupted."""
        raise NotImplementedError

    def _leave(self, *_: object) -> None:
        self.restore()
        self._end = None

    __exit__: ClassVar[ExitMethod] = block_end(_leave)

    def expect(self, end: weakref.ref[Exit]) -> None:
        """Remember the end of the block that is entered next."""
        # Reading `__exit__` while the block is open, as `hasattr` does, opens no second block.
        if self._end is None or self._end() is None:
            self._end = end

    def abandon(self, gone: weakref.ref[Exit]) -> None:
        """Leave a block whose ``__exit__`` never ran."""
        if self._end is gone:
            self._leave()
