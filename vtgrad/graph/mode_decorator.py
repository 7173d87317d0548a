"""Running functions of every kind in a mode.

A function that runs in steps (a generator, a coroutine) has the mode set inside each step only, so
that the calling code keeps its own mode. See Note [Switching a mode].

This file preserves signatures and runs coroutines, so it is never compiled, see Note [One source,
two builds].
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from vtgrad.errors import ArgumentTypeError
from vtgrad.storage.mode import Mode, switched
from vtgrad.storage.thread_mode import settle, thread
from vtgrad.storage.thread_state import changed, run_with
from vtgrad.storage.warn import warn

__all__ = ["decorate"]

P = ParamSpec("P")
R = TypeVar("R")


class _Switch(Protocol):
    """The object that chooses the mode of a decorated function."""

    def mode_after(self, before: Mode) -> Mode:
        """The mode that replaces `before`."""
        ...


def decorate(function: Callable[P, R], switch: _Switch) -> Callable[P, R]:
    """The function as it runs in a mode.

    Parameters
    ----------
    function : callable
        A function, method, generator function, coroutine function or asynchronous generator
        function. For a class only the construction of objects runs in the mode, with a warning; the
        class itself is changed and returned.
    switch : object
        Chooses the mode.

    Raises
    ------
    ArgumentTypeError
        If `function` cannot be called.
    """
    wrapper: object
    given: object = function
    if isinstance(given, (staticmethod, classmethod)):
        wrapper = type(given)(decorate(given.__func__, switch))
    elif not callable(given):
        raise ArgumentTypeError(
            f"a mode decorates functions, not {type(given).__name__}", argument="function"
        )
    elif isinstance(given, type):
        wrapper = _class_in_mode(given, switch)
    elif inspect.isgeneratorfunction(given):
        wrapper = _generator_in_mode(given, _Steps(switch))
    elif inspect.isasyncgenfunction(given):
        wrapper = _async_generator_in_mode(given, _Steps(switch))
    elif inspect.iscoroutinefunction(given):
        wrapper = _coroutine_in_mode(given, _Steps(switch))
    else:
        # Not `run_with`, which would double the time of a call.
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            before, ident = thread.mode, thread.ident
            mode = switch.mode_after(before)
            try:
                thread.mode = switched.silent[ident] = switched.inference[ident] = mode
                settle(ident)
                return function(*args, **kwargs)
            finally:
                thread.mode = switched.silent[ident] = switched.inference[ident] = before
                settle(ident)

        return call
    return cast("Callable[P, R]", wrapper)


def _class_in_mode(cls: type, switch: _Switch) -> type:
    warn(
        f"decorating the class {cls.__name__} with a mode reaches its __init__ only; decorate the "
        "methods that are meant"
    )
    cls.__init__ = decorate(cls.__init__, switch)  # type: ignore[misc]  # the documented purpose
    return cls


# The values that generators and coroutines yield, take and return are passed through unchanged; so
# the element types are open here.
_Running = Generator[Any, Any, Any]


class _Steps:
    """Runs generators and coroutines with the mode set inside each step."""

    __slots__ = ("_switch",)

    _switch: _Switch

    def __init__(self, switch: _Switch) -> None:
        self._switch = switch

    def _one(self, move: Callable[[], object]) -> object:
        return run_with(changed(mode=self._switch.mode_after(thread.mode)), move)

    def drive(self, running: _Running) -> _Running:
        """Run a generator to its end."""
        try:
            value = self._one(lambda: next(running))
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    self._one(running.close)
                    raise
                except BaseException as error:  # noqa: BLE001  # the generator's own business
                    value = self._one(functools.partial(running.throw, error))
                else:
                    value = self._one(functools.partial(running.send, sent))
        except StopIteration as stop:
            return stop.value

    def awaited(self, coroutine: Coroutine[Any, Any, Any]) -> _Awaited:
        """An awaitable that runs a coroutine when it is awaited."""
        return _Awaited(self, coroutine)


class _Awaited:
    """An awaitable that runs a coroutine with the mode set inside each step."""

    __slots__ = ("_coroutine", "_steps")

    def __init__(self, steps: _Steps, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._steps = steps
        self._coroutine = coroutine

    def __await__(self) -> _Running:
        return self._steps.drive(self._coroutine.__await__())


def _generator_in_mode(function: Callable[..., Any], steps: _Steps) -> Callable[..., Any]:
    # A generator function itself, so that `inspect.isgeneratorfunction` is true.
    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> _Running:
        return (yield from steps.drive(function(*args, **kwargs)))

    return call


def _coroutine_in_mode(function: Callable[..., Any], steps: _Steps) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*args: object, **kwargs: object) -> object:
        return await steps.awaited(function(*args, **kwargs))

    return call


def _async_generator_in_mode(function: Callable[..., Any], steps: _Steps) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*args: object, **kwargs: object) -> AsyncGenerator[Any, Any]:
        running: AsyncGenerator[Any, Any] = function(*args, **kwargs)
        try:
            value = await steps.awaited(running.__anext__())
            while True:
                try:
                    sent = yield value
                except GeneratorExit:
                    await steps.awaited(running.aclose())
                    raise
                except BaseException as error:  # noqa: BLE001  # the generator's own business
                    value = await steps.awaited(running.athrow(error))
                else:
                    value = await steps.awaited(running.asend(sent))
        except StopAsyncIteration:
            return

    return call
