"""What a rule can say of an operator: a right operator passes, and a wrong one is found.

What breaks it: a part of a rule that is not used, or used for another thing.
"""

from dataclasses import replace

import pytest

from vtgrad.testing.checking import DivergenceError, check

from .said import SAID, UNSAID


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
