"""The twin of a printed program runs in PyTorch, and shows there what is the operator's fault."""

import numpy as np
import pytest

from tests.stateful.operators import WRONG, swish
from vtgrad.testing.checking import DivergenceError, Rule, check


def twin_of(failure: DivergenceError) -> str:
    return failure.report().split("-- its twin", 1)[1].split("--\n", 1)[1].split("\n\n-- ", 1)[0]


def failure_of(rule: Rule) -> DivergenceError:
    with pytest.raises(DivergenceError) as found:
        check(rule)
    return found.value


# Operators whose fault is not one of what vtgrad alone promises.
NAMES = ["a_lambda", "local_class", "root", "all_of_it", "wrong_sine", "keeps_its_operand"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_twin_shows_a_wrong_operator(name: str) -> None:
    (wrong,) = [wrong for wrong in WRONG if wrong.rule.name == name]
    failure = failure_of(wrong.rule)
    names: dict[str, object] = {}
    kind = AssertionError if failure.__cause__ is None else type(failure.__cause__)
    with pytest.raises(kind) as found:
        exec(twin_of(failure), names)
    assert vars(names["vt"])["__name__"] == "torch"
    if failure.__cause__ is not None:
        assert str(found.value) == str(failure.__cause__)
    else:
        subject = failure.what.partition(": ")[0]
        assert str(found.value).startswith(subject) or "returned shape" in failure.what


@pytest.mark.slow
def test_the_twin_of_a_right_operator_passes_where_the_reference_is_right() -> None:
    # The fault is in vtgrad's side alone: there `swish` is another operator.
    wrong = Rule("swish", lambda x: swish(x) * 2, lambda x: x / (1 + np.exp(-x)))
    failure = failure_of(wrong)
    text = twin_of(failure).replace("swish(x) * 2", "swish(x)")
    exec(text, {})
