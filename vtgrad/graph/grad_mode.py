"""Whether operators record what they do: a switch of each thread.

The decorators keep signatures and drive coroutines, so this file is never compiled, see
Note [One source, two builds]; the switch itself is in `recording.py`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, cast, overload

from .recording import is_grad_enabled as is_grad_enabled
from .recording import set_mode

__all__ = ["GradModeScope", "enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]

P = ParamSpec("P")
R = TypeVar("R")


class GradModeScope:
    """A block, or a decorated function, in which recording is on or off.

    Decorated generators and coroutines run in the mode only while their own code runs: whoever
    drives them keeps its own.
    """

    __slots__ = ("_before", "_mode")

    _mode: bool
    _before: list[bool]

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._before = []

    def __enter__(self) -> Self:
        self._before.append(set_mode(self._mode))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        set_mode(self._before.pop())

    def _decorate(self, function: Callable[P, R]) -> Callable[P, R]:
        return _in_mode(self._mode, function)


@overload
def no_grad() -> _FixedScope: ...
@overload
def no_grad(function: Callable[P, R], /) -> Callable[P, R]: ...
def no_grad(function: Callable[P, R] | None = None, /) -> _FixedScope | Callable[P, R]:
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
    return _FixedScope(False) if function is None else _in_mode(False, function)


@overload
def enable_grad() -> _FixedScope: ...
@overload
def enable_grad(function: Callable[P, R], /) -> Callable[P, R]: ...
def enable_grad(function: Callable[P, R] | None = None, /) -> _FixedScope | Callable[P, R]:
    """Switch recording on: ``with enable_grad():``, ``@enable_grad`` or ``@enable_grad()``."""
    return _FixedScope(True) if function is None else _in_mode(True, function)


class _FixedScope(GradModeScope):
    """A scope that also decorates."""

    __slots__ = ()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        return self._decorate(function)


class set_grad_enabled(GradModeScope):
    """Switch recording on or off, at once, and for a block when used in a ``with``.

    Parameters
    ----------
    mode : bool
        True to record.

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
        super().__init__(bool(mode))
        self._undo = set_mode(self._mode)

    def __enter__(self) -> Self:
        self._before.append(self._undo)
        set_mode(self._mode)
        return self

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate `function`; the mode outside is what it was before this object was made."""
        set_mode(self._undo)
        return self._decorate(function)


def _in_mode(mode: bool, function: Callable[P, R]) -> Callable[P, R]:
    wrapper: object
    if inspect.isgeneratorfunction(function):
        wrapper = _generator_in_mode(mode, function)
    elif inspect.isasyncgenfunction(function):
        wrapper = _async_generator_in_mode(mode, function)
    elif inspect.iscoroutinefunction(function):
        wrapper = _coroutine_in_mode(mode, function)
    else:

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            before = set_mode(mode)
            try:
                return function(*args, **kwargs)
            finally:
                set_mode(before)

        return call
    return cast("Callable[P, R]", wrapper)


# What generators and coroutines yield, take and return is the business of their caller and is
# passed through as it is; the element types are open here.
_Steps = Generator[Any, Any, Any]


def _driven(mode: bool, steps: _Steps) -> _Steps:
    """Run `steps` with the mode set inside each step only."""

    def step(move: Callable[[], object]) -> object:
        before = set_mode(mode)
        try:
            return move()
        finally:
            set_mode(before)

    try:
        value = step(lambda: next(steps))
        while True:
            try:
                sent = yield value
            except GeneratorExit:
                step(steps.close)
                raise
            except BaseException as error:  # noqa: BLE001  # the generator's own business
                value = step(functools.partial(steps.throw, error))
            else:
                value = step(functools.partial(steps.send, sent))
    except StopIteration as stop:
        return stop.value


def _generator_in_mode(mode: bool, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> _Steps:
        return _driven(mode, function(*args, **kwargs))

    return call


class _Awaited:
    """An awaitable that drives a coroutine with the mode set inside each step."""

    __slots__ = ("_coroutine", "_mode")

    def __init__(self, mode: bool, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._mode = mode
        self._coroutine = coroutine

    def __await__(self) -> _Steps:
        return _driven(self._mode, self._coroutine.__await__())


def _coroutine_in_mode(mode: bool, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*args: object, **kwargs: object) -> object:
        return await _Awaited(mode, function(*args, **kwargs))

    return call


def _async_generator_in_mode(mode: bool, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*args: object, **kwargs: object) -> AsyncGenerator[Any, Any]:
        steps: AsyncGenerator[Any, Any] = function(*args, **kwargs)
        try:
            value = await _Awaited(mode, steps.__anext__())
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    await _Awaited(mode, steps.aclose())
                    raise
                except BaseException as error:  # noqa: BLE001  # the generator's own business
                    value = await _Awaited(mode, steps.athrow(error))
                else:
                    value = await _Awaited(mode, steps.asend(sent))
        except StopAsyncIteration:
            return

    return call
