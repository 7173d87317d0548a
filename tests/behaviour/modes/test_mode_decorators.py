"""Modes as decorators: of functions of every kind, and of whatever else may be decorated."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from typing import Any

import pytest

from tests.support import differs_from_torch, needs_global_lock, vt

MODES: dict[str, tuple[Callable[..., Any], bool, bool]] = {
    "no_grad": (vt.no_grad, False, False),
    "no_grad()": (vt.no_grad(), False, False),
    "enable_grad": (vt.enable_grad, True, False),
    "enable_grad()": (vt.enable_grad(), True, False),
    "inference_mode": (vt.inference_mode, False, True),
    "inference_mode()": (vt.inference_mode(), False, True),
    "inference_mode(False)": (vt.inference_mode(False), True, False),
}


def modes() -> tuple[bool, bool]:
    """Give the grad mode and the inference mode."""
    return vt.is_grad_enabled(), vt.is_inference_mode_enabled()


@pytest.fixture(params=MODES)
def decorated(request: pytest.FixtureRequest) -> Iterator[tuple[Callable[..., Any], Any]]:
    """Give a decorator and the modes that it sets, and see that it leaves those outside alone."""
    decorator, grad, inference = MODES[request.param]
    with vt.set_grad_enabled(not grad):
        outside = modes()
        yield decorator, (grad, inference)
        assert modes() == outside


def test_functions_and_what_wraps_them(decorated: tuple[Callable[..., Any], Any]) -> None:
    decorator, inside = decorated

    @decorator
    def function(first: int, *, second: int = 0) -> tuple[int, object]:
        """Say something."""
        return first + second, modes()

    assert function(1, second=2) == (3, inside)
    assert (function.__name__, function.__doc__) == ("function", "Say something.")
    assert list(inspect.signature(function).parameters) == ["first", "second"]
    assert decorator(functools.partial(function, 1))() == (1, inside)
    assert decorator(lambda: modes())() == inside


def test_methods(decorated: tuple[Callable[..., Any], Any]) -> None:
    decorator, inside = decorated

    class Model:
        @decorator
        def plain(self) -> object:
            return self, modes()

        @classmethod
        @decorator
        def of_class(cls) -> object:
            return cls, modes()

        @staticmethod
        @decorator
        def static() -> object:
            return modes()

        @property
        @decorator
        def attribute(self) -> object:
            return modes()

    model = Model()
    assert model.plain() == (model, inside)
    assert Model.of_class() == (Model, inside)
    assert Model.static() == model.attribute == inside


@differs_from_torch("there the decorated method is called with an argument too many, or cannot be")
def test_static_and_class_methods_may_be_decorated_from_outside() -> None:
    class Model:
        @vt.no_grad()
        @staticmethod
        def static() -> object:
            return modes()

        @vt.no_grad()
        @classmethod
        def of_class(cls) -> object:
            return cls, modes()

    assert Model().static() == (False, False)
    assert Model.of_class() == (Model, (False, False))


def test_recursion_and_errors(decorated: tuple[Callable[..., Any], Any]) -> None:
    decorator, inside = decorated
    outside = modes()

    @decorator
    def down(n: int) -> None:
        assert modes() == inside
        if n == 0:
            raise KeyError("at the bottom")
        try:
            down(n - 1)
        finally:
            assert modes() == inside

    with pytest.raises(KeyError, match="at the bottom"):
        down(3)
    assert modes() == outside


def test_generators(decorated: tuple[Callable[..., Any], Any]) -> None:
    decorator, inside = decorated
    outside = modes()
    seen: list[object] = []

    @decorator
    def steps(first: int) -> Generator[int, str, str]:
        seen.append(modes())
        try:
            answer = yield first
        except KeyError:
            seen.append(modes())
            answer = yield first + 1
        try:
            yield len(answer)
        finally:
            seen.append(modes())
        return answer

    assert inspect.isgeneratorfunction(steps)
    running = steps(1)
    assert next(running) == 1
    assert modes() == outside
    assert running.throw(KeyError("thrown")) == 2
    assert modes() == outside
    assert running.send("sent") == 4
    with pytest.raises(StopIteration) as end:
        next(running)
    assert end.value.value == "sent"
    assert seen == [inside] * 3
    closed = steps(1)
    next(closed)
    closed.send("sent")
    closed.close()
    assert seen == [inside] * 5
    with pytest.raises(StopIteration):
        next(closed)


def test_an_error_of_a_generator_comes_out() -> None:
    @vt.no_grad()
    def failing() -> Generator[int, None, None]:
        yield 1
        raise KeyError("own")

    @vt.no_grad()
    def stubborn() -> Generator[int, None, None]:
        while True:
            try:
                yield 1
            except GeneratorExit:
                yield 2

    running = failing()
    next(running)
    with pytest.raises(KeyError, match="own"):
        next(running)
    deaf = stubborn()
    next(deaf)
    with pytest.raises(RuntimeError, match="ignored GeneratorExit"):
        deaf.close()
    assert vt.is_grad_enabled()


def test_two_generators_that_take_turns_keep_their_modes() -> None:
    def steps() -> Generator[object, None, None]:
        for _ in range(3):
            yield modes()

    quiet, inference = vt.no_grad(steps)(), vt.inference_mode(steps)()
    turns = [(next(quiet), next(inference), modes()) for _ in range(3)]
    assert turns == [((False, False), (False, True), (True, False))] * 3


@differs_from_torch("there a coroutine runs in the mode of the code that awaits it")
def test_coroutines(decorated: tuple[Callable[..., Any], Any]) -> None:
    decorator, inside = decorated
    outside = modes()
    between: list[object] = []

    @decorator
    async def work(n: int) -> tuple[int, object, object]:
        before = modes()
        await asyncio.sleep(0)
        return n, before, modes()

    async def other() -> None:
        for _ in range(3):
            between.append(modes())
            await asyncio.sleep(0)

    async def both() -> Any:
        return (await asyncio.gather(work(3), other()))[0]

    assert inspect.iscoroutinefunction(work)
    assert asyncio.run(both()) == (3, inside, inside)
    assert between == [outside] * 3


@differs_from_torch("there a coroutine runs in the mode of the code that awaits it")
def test_coroutines_that_fail_or_are_cancelled() -> None:
    seen: list[object] = []

    @vt.no_grad()
    async def failing() -> None:
        await asyncio.sleep(0)
        raise KeyError("own")

    @vt.no_grad()
    async def cancelled() -> None:
        try:
            await asyncio.sleep(10)
        finally:
            seen.append(modes())

    async def run() -> None:
        with pytest.raises(KeyError, match="own"):
            await failing()
        task = asyncio.ensure_future(cancelled())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert seen == [(False, False)]
    assert vt.is_grad_enabled()


@differs_from_torch("there an asynchronous generator runs in the mode of the code that drives it")
def test_asynchronous_generators(decorated: tuple[Callable[..., Any], Any]) -> None:
    decorator, inside = decorated
    seen: list[object] = []

    @decorator
    async def steps(first: int) -> AsyncGenerator[int, str]:
        seen.append(modes())
        try:
            answer = yield first
            await asyncio.sleep(0)
            seen.append(modes())
            yield len(answer)
        except KeyError:
            yield -1
        finally:
            seen.append(modes())

    async def run() -> None:
        outside = modes()
        running = steps(1)
        assert await running.__anext__() == 1
        assert modes() == outside
        assert await running.asend("sent") == 4
        with pytest.raises(StopAsyncIteration):
            await running.__anext__()
        thrown = steps(1)
        await thrown.__anext__()
        assert await thrown.athrow(KeyError("thrown")) == -1
        await thrown.aclose()
        assert modes() == outside

    assert inspect.isasyncgenfunction(steps)
    asyncio.run(run())
    assert seen == [inside] * 5


@differs_from_torch("there the class becomes a function")
def test_of_a_class_the_construction_is_decorated_with_a_warning() -> None:
    class Model:
        def __init__(self, size: int) -> None:
            self.size, self.made_in = size, modes()

        def method(self) -> object:
            return modes()

    with pytest.warns(UserWarning, match="__init__ only") as caught:
        decorated = vt.no_grad()(Model)
    assert caught[0].filename == __file__
    model = decorated(3)
    assert isinstance(decorated, type)
    assert isinstance(model, decorated)
    assert (model.size, model.made_in, model.method()) == (3, (False, False), (True, False))


@differs_from_torch("there anything may be decorated, and fails when it is called")
def test_what_cannot_be_called_cannot_be_decorated() -> None:
    scopes: list[Any] = [vt.no_grad, vt.no_grad(), vt.enable_grad(), vt.inference_mode()]
    for scope in scopes:
        with pytest.raises(TypeError):
            scope(3)


def test_set_grad_enabled_takes_a_bool() -> None:
    for wrong in (1, None, "off", lambda: None):
        with pytest.raises(TypeError):
            vt.set_grad_enabled(wrong)  # type: ignore[arg-type]
        assert vt.is_grad_enabled()


def test_one_object_may_be_decorator_and_context() -> None:
    quiet = vt.no_grad()

    @quiet
    def inside() -> bool:
        with vt.enable_grad():
            assert vt.is_grad_enabled()
        return vt.is_grad_enabled()

    @quiet
    def again() -> bool:
        return inside()

    assert inside() is False
    assert vt.is_grad_enabled()
    with quiet:
        assert inside() is False
        assert not vt.is_grad_enabled()
    assert again() is False
    assert vt.is_grad_enabled()


def test_set_grad_enabled_may_decorate_twice() -> None:
    quiet = vt.set_grad_enabled(False)
    first = quiet(vt.is_grad_enabled)
    assert vt.is_grad_enabled()
    second = quiet(vt.is_grad_enabled)
    assert (first(), second(), vt.is_grad_enabled()) == (False, False, True)


@needs_global_lock
@differs_from_torch("there one thread restores what another had")
def test_one_object_may_be_a_context_on_two_threads_at_once() -> None:
    quiet = vt.no_grad()
    entered, left = threading.Event(), threading.Event()
    after: list[bool] = []

    def other() -> None:
        with vt.no_grad():
            with quiet:
                entered.set()
                left.wait(10)
            after.append(vt.is_grad_enabled())

    thread = threading.Thread(target=other)
    with quiet:
        thread.start()
        assert entered.wait(10)
    here = vt.is_grad_enabled()
    left.set()
    thread.join()
    assert here is True
    assert after == [False]
