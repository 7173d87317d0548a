"""Interrupts come at every place, also at those of a first call, whose caches are empty.

What breaks it: a call that runs to its end before the others, or places that are not found again.
"""

from collections.abc import Iterator

from tests.hostile.interrupting import (
    NEEDS_TRACE,
    Interrupted,
    Interrupter,
    Place,
    interrupted_everywhere,
)
from tests.hostile.interrupting import raise_interrupt as act

pytestmark = NEEDS_TRACE


class Sum:
    def __enter__(self) -> None:
        abs(1)

    def __exit__(self, *error: object) -> None:
        abs(2)

    @property
    def total(self) -> int:
        return max([1, 2], key=lambda x: x + abs(x))

    def __add__(self, other: int) -> int:
        return len([other for _ in range(2)])


def numbers(count: int) -> Iterator[int]:
    for nr in range(count):
        yield len(str(nr))


def program() -> None:
    with Sum():
        try:
            raise ValueError(Sum().total, Sum() + 1)
        except ValueError:
            total = sum(abs(number) for number in numbers(3))
    while total < 20:
        total += abs(1)
    paused = numbers(3)
    next(paused)
    list(paused)
    sorted([3, 1, 2], key=lambda x: abs(-x))


def interrupt(interrupter: Interrupter) -> Place | None:
    """Where it has interrupted the program, if not over."""
    try:
        with interrupter:
            program()
    except Interrupted:
        return interrupter.place
    return None


def test_places_after_others_are_those_that_a_trace_of_each_instruction_finds() -> None:
    before = None
    for at in range(1000):
        expected = interrupt(Interrupter(at, act))
        interrupter = Interrupter(0, act, before)
        before = interrupt(interrupter)
        assert interrupter.found
        assert before == expected
        if expected is None:
            break
    assert at > 80


def test_what_only_a_first_call_does_is_interrupted() -> None:
    cache: list[int] = []
    tried = []

    def call() -> None:
        if not cache:
            tried.append("to fill it")
            cache.append(abs(1))
        str(cache)

    interrupted_everywhere(lambda: call, lambda over: None)
    assert cache == [1]
    assert tried == ["to fill it"] * 3
