"""Interrupts at random places leave no wrong gradient, no half-filled leaves, no switched mode.

What breaks it: see Note [The judge]. ``VTGRAD_INTERRUPTS=100000 pytest -s -o
faulthandler_timeout=0 tests/hostile/test_random_interrupts.py`` makes as many interrupts as one
likes to wait for, about 100 in a second, and prints what came of them; ``VTGRAD_SEED`` draws other
programs.
"""

from __future__ import annotations

import os
import signal
from typing import Final

import pytest

import vtgrad as vt
from tests.hostile.attack import GROUPS, attack
from tests.hostile.random_signals import INTERRUPTS, RAISING
from vtgrad.views import write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform"),
]

_ASKED: Final = os.environ.get("VTGRAD_INTERRUPTS")
_SEED: Final = int(os.environ.get("VTGRAD_SEED", "1"))
# Of each test; together they make what was asked for.
_COUNT: Final = -(-int(_ASKED or 250) // (len(GROUPS) + 2))
# Unless more is asked for, so that a busy machine is not kept for longer.
_SECONDS: Final = float("inf") if _ASKED else 0.4

#: What has tests of its own.
_IN_FLIGHT: Final = "in flight"
_SOME_LEAVES: Final = "history of some leaves"


def _attack(
    groups: tuple[str, ...], seed: int, interrupts: tuple[str, ...] = INTERRUPTS
) -> dict[str, list[str]]:
    """What is wrong, by what it is about."""
    report = attack(_COUNT, seed, groups, interrupts, _SECONDS)
    if _ASKED:
        print(f"\n{report.interrupts} interrupts, {report.lost} of them lost in finalizers")
        print(report.table())
    assert report.interrupts > 5
    return report.wrong


def _first(wrong: list[str]) -> str:
    return "\n".join([f"{len(wrong)} times:", *wrong[:5]])


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_is_wrong_after_an_interrupt(group: str) -> None:
    found = _attack((group,), _SEED)
    apart = (_IN_FLIGHT, _SOME_LEAVES)
    wrong = [each for about, all_of_it in found.items() if about not in apart for each in all_of_it]
    assert not wrong, _first(wrong)


def test_what_a_handler_saves_in_the_midst_is_right_or_refused() -> None:
    # In a custom Function a handler sees what forward sees: see docs/threads.md.
    groups = tuple(group for group in GROUPS if group not in ("Functions", "sequence"))
    interrupts = tuple(kind for kind in INTERRUPTS if "saves" in kind)
    wrong = _attack(groups, _SEED + 1, interrupts).get(_IN_FLIGHT, [])
    assert not wrong, _first(wrong)


def test_a_gradient_of_some_leaves_through_a_half_written_value_is_refused() -> None:
    groups = ("in place", "modes", "sequence")
    wrong = _attack(groups, _SEED + 2, tuple(RAISING)).get(_SOME_LEAVES, [])
    assert not wrong, _first(wrong)


@pytest.mark.skipif(vt.__compiled__, reason="compiled functions cannot be replaced")
def test_the_judge_sees_writes_that_are_not_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "mark_written", lambda impl, counter, *_: counter.value + 1)
    wrong = attack(20, _SEED, ("in place",), tuple(RAISING)).wrong
    assert "a later write" in wrong
