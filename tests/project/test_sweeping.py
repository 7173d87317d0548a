"""What `tests.sweeping.sweep` makes of a test: each case of a row runs, and its error is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.sweeping import sweep


def sign(number: int, *_: object) -> str:
    return "negative" if number < 0 else "positive"


def test_each_case_of_the_row_runs_once() -> None:
    seen: list[tuple[int, str]] = []

    @sweep([(1, "a"), (-1, "b"), (2, "c")], row=sign)
    def check(number: int, letter: str) -> None:
        seen.append((number, letter))

    check("positive")
    assert seen == [(1, "a"), (2, "c")]


def test_axes_are_combined() -> None:
    seen: list[tuple[object, ...]] = []

    @sweep([(1, "a"), (2, "b")], [True, False], row=sign)
    def check(*case: object) -> None:
        seen.append(case)

    check("positive")
    assert seen == [(1, "a", True), (1, "a", False), (2, "b", True), (2, "b", False)]


@pytest.mark.parametrize("fail", [lambda: 1 // 0, lambda: pytest.fail("wrong")])
def test_an_error_names_its_case(fail: Callable[[], object]) -> None:
    @sweep([5, 0, 7], row=sign)
    def check(number: int) -> None:
        if number == 0:
            fail()

    with pytest.raises((ZeroDivisionError, pytest.fail.Exception)) as caught:
        check("positive")
    assert caught.value.__notes__ == ["case: 0"]


def test_all_errors_of_a_row_are_raised() -> None:
    @sweep([0, 1, 2], [3, 4], row=sign)
    def check(number: int, other: int) -> None:
        assert number == 1

    with pytest.raises(ExceptionGroup, match="4 of 6 cases") as caught:
        check("positive")
    notes = [note for error in caught.value.exceptions for note in error.__notes__]
    assert notes == ["case: 0, 3", "case: 0, 4", "case: 2, 3", "case: 2, 4"]


def test_a_case_that_is_skipped_skips_no_other() -> None:
    @sweep([1, 2, -1, -2], row=sign)
    def check(number: int) -> None:
        if number != 2:
            pytest.skip("not this one")
        raise LookupError

    with pytest.raises(LookupError):
        check("positive")
    with pytest.raises(pytest.skip.Exception, match="not this one"):
        check("negative")


def test_an_interrupt_ends_the_row() -> None:
    seen: list[int] = []

    @sweep([1, 2], row=sign)
    def check(number: int) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("positive")
    assert seen == [1]
