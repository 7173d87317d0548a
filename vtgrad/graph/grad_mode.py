"""Whether operators record what they do: the switches of each thread, for blocks and functions.

The switches themselves are in `recording.py` and `storage/inference.py`; how a function is run
with a switch set, whatever kind of function it is, in `decoration.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from types import TracebackType
from typing import ParamSpec, Self, TypeVar, overload

from ..errors import ArgumentTypeError
from ..storage.inference import is_inference_mode_enabled as is_inference_mode_enabled
from ..storage.tensor_base import TensorBase
from .decoration import decorate
from .recording import is_grad_enabled as is_grad_enabled
from .recording import set_mode, set_modes

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


class ModeScope:
    """A block, or a decorated function, in which a mode is set.

    One object may serve many blocks, inside each other and on several threads. Decorated
    generators and coroutines run in the mode only while their own code runs: whoever drives them
    keeps its own.
    """

    __slots__ = ("_before",)

    # What each block that is open restores, and the thread that it is open on.
    _before: list[tuple[int, tuple[bool, bool]]]

    def __init__(self) -> None:
        self._before = []

    def __enter__(self) -> Self:
        self._before.append((get_ident(), self._set()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # The last one is another thread's only while two use this object at once.
        thread, last = get_ident(), -1
        while self._before[last][0] != thread:
            last -= 1
        self._restore(self._before.pop(last)[1])

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate `function`, so that it always runs in the mode."""
        return decorate(function, self._set, self._restore)

    def _set(self) -> tuple[bool, bool]:
        """Set the mode on this thread; returns what `_restore` takes."""
        raise NotImplementedError

    def _restore(self, before: tuple[bool, bool]) -> None:
        raise NotImplementedError


class _GradScope(ModeScope):
    """Recording on or off."""

    __slots__ = ("_enabled",)

    _enabled: bool

    def __init__(self, enabled: bool) -> None:
        # Not by way of `ModeScope.__init__`, nor is `_set` called below: it is what programs enter.
        self._before = []
        self._enabled = enabled

    def __enter__(self) -> Self:
        self._before.append((get_ident(), (set_mode(self._enabled), False)))
        return self

    def _set(self) -> tuple[bool, bool]:
        return set_mode(self._enabled), False

    def _restore(self, before: tuple[bool, bool]) -> None:
        set_mode(before[0])


@overload
def no_grad() -> ModeScope: ...
@overload
def no_grad(function: Callable[P, R], /) -> Callable[P, R]: ...
def no_grad(function: Callable[P, R] | None = None, /) -> ModeScope | Callable[P, R]:
    """Switch recording off: ``with no_grad():``, ``@no_grad`` or ``@no_grad()``.

    Results have ``requires_grad`` False, and writes in place are not recorded, though they
    count in the version.

    Examples
    --------
    >>> import vtgrad as vt
    >>> x = vt.ones(2, requires_grad=True)
    >>> with vt.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """
    scope = _GradScope(False)
    return scope if function is None else scope(function)


@overload
def enable_grad() -> ModeScope: ...
@overload
def enable_grad(function: Callable[P, R], /) -> Callable[P, R]: ...
def enable_grad(function: Callable[P, R] | None = None, /) -> ModeScope | Callable[P, R]:
    """Switch recording on: ``with enable_grad():``, ``@enable_grad`` or ``@enable_grad()``.

    In inference mode nothing is recorded all the same.
    """
    scope = _GradScope(True)
    return scope if function is None else scope(function)


class set_grad_enabled(_GradScope):
    """Switch recording on or off, at once, and for a block when used in a ``with``.

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
    >>> import vtgrad as vt
    >>> with vt.set_grad_enabled(False):
    ...     vt.is_grad_enabled()
    False
    >>> vt.is_grad_enabled()
    True
    """

    __slots__ = ("_undo",)

    _undo: bool

    def __init__(self, mode: bool) -> None:
        super().__init__(_checked(mode, "set_grad_enabled"))
        self._undo = set_mode(self._enabled)

    def __enter__(self) -> Self:
        # The mode was set already when the object was made.
        self._before.append((get_ident(), (self._undo, False)))
        set_mode(self._enabled)
        return self

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate `function`; the mode outside is what it was before this object was made."""
        set_mode(self._undo)
        return super().__call__(function)


class _InferenceScope(ModeScope):
    """Inference mode on or off; recording is off or on with it."""

    __slots__ = ("_enabled",)

    _enabled: bool

    def __init__(self, enabled: bool) -> None:
        super().__init__()
        self._enabled = enabled

    def _set(self) -> tuple[bool, bool]:
        return set_modes(not self._enabled, self._enabled)

    def _restore(self, before: tuple[bool, bool]) -> None:
        set_modes(*before)


@overload
def inference_mode(mode: bool = True) -> ModeScope: ...
@overload
def inference_mode(mode: Callable[P, R], /) -> Callable[P, R]: ...
def inference_mode(mode: bool | Callable[P, R] = True) -> ModeScope | Callable[P, R]:
    """Record nothing and count no writes: ``with inference_mode():``, ``@inference_mode``.

    What is made inside is an inference tensor. It has no version, may be written only inside, and
    outside it may be an operand of what is recorded, unless it would have to be saved for
    backward. A clone made outside is a normal tensor. Normal tensors stay what they are inside,
    and so do their views.

    Parameters
    ----------
    mode : bool or callable
        False leaves the mode for a block inside of it, and switches recording on; a function is
        decorated.

    Raises
    ------
    ArgumentTypeError
        If `mode` is neither a bool nor callable.

    Examples
    --------
    >>> import vtgrad as vt
    >>> weight = vt.ones(2, requires_grad=True)
    >>> with vt.inference_mode():
    ...     y = weight * 2
    ...     y += 1
    >>> y, y.is_inference(), y.requires_grad
    (tensor([3., 3.]), True, False)
    >>> (weight + y).requires_grad
    True
    """
    if callable(mode):
        return _InferenceScope(True)(mode)
    return _InferenceScope(_checked(mode, "inference_mode"))


def is_inference(input: TensorBase) -> bool:
    """Whether a tensor was made in inference mode.

    Raises
    ------
    ArgumentTypeError
        If `input` is no tensor.
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
