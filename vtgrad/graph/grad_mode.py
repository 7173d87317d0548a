"""Switching recording and inference mode on a thread, for blocks and functions.

The mode of each thread is in `storage/thread_mode.py`; running a function of any kind in a mode is
in `mode_decorator.py`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import ClassVar, ParamSpec, Self, TypeAlias, TypeVar, overload

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.mode_decorator import decorate
from vtgrad.graph.recording import is_grad_enabled as is_grad_enabled
from vtgrad.storage.inference_tensors import is_inference_mode_enabled as is_inference_mode_enabled
from vtgrad.storage.mode import Mode, mode_of, switched
from vtgrad.storage.scope import Exit, ExitMethod, block_end, not_open
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_mode import settle, thread

__all__ = [
    "ModeScope",
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]

P = ParamSpec("P")
R = TypeVar("R")


# The mode that an open block restores, the enclosing block of the same object, and its end.
Block: TypeAlias = "tuple[Mode, Block | None, weakref.ref[Exit] | None]"


# As a global it is found faster than through `super`, and blocks are entered often.
_new = object.__new__


class ModeScope:
    """A block, or a decorated function, in which a mode is set.

    One object may serve many blocks, nested and on several threads. Decorated generators and
    coroutines set the mode only while their own code runs: the calling code keeps its own. See Note
    [Switching a mode]: methods that enter or leave a block make no call between the first store and
    the last.
    """

    __slots__ = ("__weakref__", "_next", "_open")

    # The innermost open block of each thread, and the reference to the end of the next. Entries of
    # threads that have ended, or that a fork has left behind, stay. A later thread with the same
    # number finds one only if it leaves a block that it has not entered. `PackingScope` has numbers
    # that are used once, but reading them would make blocks of modes slower.
    _open: dict[int, Block | None]
    _next: dict[int, weakref.ref[Exit]]

    def __new__(cls, *_: object, **__: object) -> Self:
        """A block that is not entered."""
        scope = _new(cls)
        scope._open, scope._next = {}, {}
        return scope

    def __enter__(self) -> Self:
        before, ident = thread.mode, thread.ident
        opened = self._open
        block = before, opened.get(ident), self._next.pop(ident, None)
        mode = self.mode_after(before)
        opened[ident] = block
        thread.mode = switched.silent[ident] = switched.inference[ident] = mode
        return self

    def _leave(self, *_: object) -> None:
        opened, ident = self._open, thread.ident
        block = opened.get(ident)
        if block is None:
            raise not_open(self)
        before, opened[ident], _exit = block
        thread.mode = switched.silent[ident] = switched.inference[ident] = before
        settle(ident)

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
        block = self._open.get(ident)
        while block is not None:
            if block[2] is gone:
                self._open[ident] = block
                self._leave()
                return
            block = block[1]

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate a function, so that it always runs in the mode.

        Parameters
        ----------
        function : callable
            A function, generator function or coroutine function.

        Returns
        -------
        callable
            A function of the same signature.

        Raises
        ------
        ArgumentTypeError
            If `function` is not a function.
        """
        return decorate(function, self)

    def mode_after(self, before: Mode) -> Mode:
        """The mode that replaces `before`."""
        raise NotImplementedError


class _GradScope(ModeScope):
    """Recording on or off."""

    __slots__ = ("_enabled",)

    _enabled: bool

    def __enter__(self) -> Self:
        before, ident = thread.mode, thread.ident
        opened = self._open
        block = before, opened.get(ident), self._next.pop(ident, None)
        mode = before.by_grad[self._enabled]
        opened[ident] = block
        if mode is not before:
            thread.mode = switched.silent[ident] = mode
        return self

    def _leave(self, *_: object) -> None:
        opened, ident = self._open, thread.ident
        block = opened.get(ident)
        if block is None:
            raise not_open(self)
        before, opened[ident], _exit = block
        thread.mode = switched.silent[ident] = thread.mode.by_grad[before.grad]
        settle(ident)

    __exit__: ClassVar[ExitMethod] = block_end(_leave)

    def mode_after(self, before: Mode) -> Mode:
        """The mode that replaces `before`."""
        return before.by_grad[self._enabled]


class _BlockOrDecorator(_GradScope):
    """A grad mode whose name is also a decorator, without parentheses."""

    __slots__ = ()

    _records: ClassVar[bool]

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, function: Callable[P, R], /) -> Callable[P, R]: ...  # type: ignore[misc]  # it decorates
    def __new__(cls, function: Callable[P, R] | None = None, /) -> Self | Callable[P, R]:  # type: ignore[misc]  # the same
        """A block, or the decorated function."""
        scope = _new(cls)
        scope._open, scope._next, scope._enabled = {}, {}, cls._records
        return scope if function is None else scope(function)


class no_grad(_BlockOrDecorator):  # PyTorch's name
    """Switch recording off, for a block or a function.

    Used as ``with no_grad():``, ``@no_grad`` or ``@no_grad()``, for the thread that runs it.
    Results do not require grad. Writes in place are not recorded, so leaves that require grad
    may be written; they do count as versions, so backward notices that a saved value was
    overwritten.

    Parameters
    ----------
    function : callable, optional
        A function to decorate; generators and coroutines may be decorated as well.

    Returns
    -------
    context manager or callable
        The decorated function if one was given. The context manager may be used for many
        blocks.

    Raises
    ------
    ArgumentTypeError
        If any other object than a function is decorated.

    Examples
    --------
    >>> w = vt.ones(2, requires_grad=True)
    >>> (w * w).sum().backward()
    >>> with vt.no_grad():
    ...     w -= 0.1 * w.grad
    >>> w
    tensor([0.8000, 0.8000], requires_grad=True)
    """

    __slots__ = ()

    _records: ClassVar[bool] = False


class enable_grad(_BlockOrDecorator):  # PyTorch's name
    """Switch recording on, for a block or a function.

    Used as ``with enable_grad():``, ``@enable_grad`` or ``@enable_grad()``, within `no_grad`.
    In inference mode nothing is recorded even so.

    Parameters
    ----------
    function : callable, optional
        A function to decorate.

    Returns
    -------
    context manager or callable
        As `no_grad`.

    Raises
    ------
    ArgumentTypeError
        If any other object than a function is decorated.

    Examples
    --------
    >>> @vt.no_grad()
    ... def slope(x):
    ...     with vt.enable_grad():
    ...         x = x.detach().requires_grad_()
    ...         (grad,) = vt.autograd.grad(x * x, x)
    ...     return grad
    >>> slope(vt.tensor(3.0))
    tensor(6.)
    """

    __slots__ = ()

    _records: ClassVar[bool] = True


class set_grad_enabled(_GradScope):
    """Switch recording on or off, at once; for a block only when used in a ``with``.

    It may also decorate a function.

    Parameters
    ----------
    mode : bool
        True to record.

    Raises
    ------
    ArgumentTypeError
        If `mode` is not a bool.

    Examples
    --------
    >>> training = False
    >>> with vt.set_grad_enabled(training):
    ...     vt.is_grad_enabled()
    False
    >>> vt.is_grad_enabled()
    True
    """

    __slots__ = ("_undo",)

    _undo: bool

    def __init__(self, mode: bool) -> None:
        self._enabled = _checked(mode, "set_grad_enabled")
        self._undo = thread.mode.grad
        self._switch(self._enabled)

    def __enter__(self) -> Self:
        # The constructor has set the mode.
        now, ident = thread.mode, thread.ident
        opened = self._open
        block = now.by_grad[self._undo], opened.get(ident), self._next.pop(ident, None)
        opened[ident] = block
        thread.mode = switched.silent[ident] = now.by_grad[self._enabled]
        return self

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate `function`; outside, the mode is that of before this object was made."""
        self._switch(self._undo)
        return super().__call__(function)

    def _switch(self, enabled: bool) -> None:
        ident = thread.ident
        thread.mode = switched.silent[ident] = thread.mode.by_grad[enabled]
        settle(ident)


class inference_mode(ModeScope):  # PyTorch's name
    """Record nothing and count no writes, for a block or a function.

    Used as ``with inference_mode():``, ``@inference_mode`` or ``@inference_mode()``. A tensor
    made inside is an inference tensor. It has no version and may be written only inside;
    outside, it may be an operand of a recorded operator, unless it would have to be saved for
    backward. A clone made outside is a normal tensor. Normal tensors stay normal inside, and so
    do their views.

    Parameters
    ----------
    mode : bool or callable, default True
        False leaves the mode for a nested block, and switches recording on; a function is
        decorated.

    Returns
    -------
    context manager or callable
        As `no_grad`.

    Raises
    ------
    ArgumentTypeError
        If `mode` is neither a bool nor callable.

    Examples
    --------
    >>> weight = vt.ones(2, requires_grad=True)
    >>> with vt.inference_mode():
    ...     y = weight * 2
    ...     y += 1
    >>> y, y.is_inference(), y.requires_grad
    (tensor([3., 3.]), True, False)
    >>> (weight + y).requires_grad
    True
    """

    __slots__ = ("_enabled",)

    _enabled: bool

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: Callable[P, R], /) -> Callable[P, R]: ...  # type: ignore[misc]  # it decorates
    def __new__(cls, mode: bool | Callable[P, R] = True) -> Self | Callable[P, R]:  # type: ignore[misc]  # the same
        """A block, or the decorated function."""
        scope = super().__new__(cls)
        if callable(mode):
            scope._enabled = True
            return scope(mode)
        scope._enabled = _checked(mode, "inference_mode")
        return scope

    def mode_after(self, before: Mode) -> Mode:
        """The mode that replaces `before`."""
        return mode_of(not self._enabled, self._enabled)


def is_inference(input: TensorBase) -> bool:
    """Whether a tensor was made in inference mode, or is a view of such a tensor.

    Parameters
    ----------
    input : Tensor
        The tensor.

    Returns
    -------
    bool
        The same as ``input.is_inference()``.

    Raises
    ------
    ArgumentTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> with vt.inference_mode():
    ...     x = vt.zeros(2)
    >>> vt.is_inference(x), vt.is_inference(vt.zeros(2))
    (True, False)
    """
    given: object = input
    if not isinstance(given, TensorBase):
        raise ArgumentTypeError(
            f"is_inference takes a tensor, not {type(given).__name__}", argument="input"
        )
    return input.is_inference()


def _checked(mode: object, name: str) -> bool:
    if not isinstance(mode, bool):
        raise ArgumentTypeError(f"{name} takes a bool, not {type(mode).__name__}", argument="mode")
    return mode
