"""What a rule can say of an operator: a right operator passes, and a wrong one is found.

What breaks it: a part of a rule that is not used, or used for another thing.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.stateful.said import SAID, UNSAID
from vtgrad.testing import grid
from vtgrad.testing.checking import DivergenceError, Rule, check
from vtgrad.testing.steps import Literal


@pytest.mark.stateful
@pytest.mark.slow
@pytest.mark.parametrize("what", SAID)
def test_a_right_operator_passes(what: str) -> None:
    rule = SAID[what]
    coverage = check(rule, programs=10, floor=0.3)
    assert coverage.calls[rule.name] > 3


@pytest.mark.stateful
@pytest.mark.slow
@pytest.mark.parametrize("what", UNSAID)
def test_a_wrong_operator_is_found(what: str) -> None:
    rule = replace(SAID[what], call=UNSAID[what])
    with pytest.raises(DivergenceError) as found:
        check(rule, programs=200)
    assert len(found.value.steps) <= 6, str(found.value)
    assert found.value.remark == "", str(found.value)


@pytest.mark.stateful
@pytest.mark.slow
def test_huge_gradients_do_not_make_faults_of_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second derivative that is zero is a tiny number if it is computed by differences."""

    def huge(shape: tuple[int, ...]) -> Iterator[Literal]:
        count = math.prod(shape)
        yield Literal(shape, tuple(2.0**64 * (nr + 1.25) for nr in range(count)))

    monkeypatch.setattr(grid, "_unusual", huge)

    def product(z: Any, y: Any) -> Any:
        return z * y.conj()

    shapes = [((2, 1), (1, 2)), ((2,), (2,))]
    check(
        Rule("product", product, product, operands=2, dtypes=["complex128"], shapes=shapes),
        programs=20,
    )
