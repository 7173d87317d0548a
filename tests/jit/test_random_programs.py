"""Random programs of views, writes and gradients are replayed on new values."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.jit.random_tensor_programs import arguments, program
from tests.jit.replaying import outcome


def check(seeds: range, *, rewinds: bool) -> Counter[str]:
    """The kinds of outcomes, none of which is wrong."""
    found = {seed: outcome(program(seed, rewinds=rewinds), arguments(seed)) for seed in seeds}
    accepted = ("exact", "guard", "raises", "refused: requires grad")
    assert not {seed: x for seed, x in found.items() if not x.startswith(accepted)}
    return Counter([x.partition(":")[0] for x in found.values()])


@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("rewinds", [False, True])
def test_some_programs(rewinds: bool) -> None:
    counts = check(range(150), rewinds=rewinds)
    assert counts["exact"] > (100 if rewinds else 30)


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("first", range(0, 1000, 500))
def test_many_programs(first: int) -> None:
    for rewinds in (False, True):
        check(range(first, first + 500), rewinds=rewinds)
