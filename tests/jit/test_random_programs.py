"""Random programs of views, writes and derivatives are replayed on new values."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.jit.random_tensor_programs import DERIVATIVES, arguments, program
from tests.jit.replaying import outcome
from tests.jit.ways import WAYS


def check(seeds: range, *, rewinds: bool, derivative: str) -> Counter[str]:
    """The kinds of outcomes, none of which is wrong."""
    found = {}
    for seed in seeds:
        steps = program(seed, rewinds=rewinds, derivative=derivative)
        found[seed] = outcome(steps, arguments(seed), ways=WAYS)
    accepted = ("exact", "guard", "raises", "refused: requires grad")
    assert not {seed: x for seed, x in found.items() if not x.startswith(accepted)}
    return Counter([x.partition(":")[0] for x in found.values()])


@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("rewinds", [False, True])
def test_some_programs(rewinds: bool) -> None:
    counts = check(range(150), rewinds=rewinds, derivative="reverse")
    assert counts["exact"] > (100 if rewinds else 30)


@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_some_programs_of_each_derivative(derivative: str) -> None:
    assert check(range(150, 190), rewinds=True, derivative=derivative)["exact"] > 20


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_many_programs(derivative: str) -> None:
    # Of gradients, which are fast and of which half raise, so many more.
    last = 1000 if derivative == "reverse" else 150
    for rewinds in (False, True):
        check(range(last), rewinds=rewinds, derivative=derivative)
