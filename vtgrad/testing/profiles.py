"""What runs a state machine: the profiles of Hypothesis, and the `unittest` test case.

Note [Who makes a failing program small]

Hypothesis makes a failing example small by trying smaller draws, many hundreds of them. A step
is drawn from a seed and from the tensors that there are: a smaller draw is another step, and a
step that is left out changes all later ones. So Hypothesis finds little, and takes minutes for it.
It looks for a failing program and does not shrink it. When it runs the program a last time, to
report it, the machine makes it small once, by leaving out whole steps (`vtgrad.testing.shrink`).
"""

import unittest
from functools import cache
from typing import ClassVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    TestCaseProperty,
    run_state_machine_as_test,
)

__all__ = ["PROFILES", "MachineTestCase", "TestCaseOfMachine", "without_shrinking"]

_SHRINKING = (Phase.shrink, Phase.explain)

_COMMON = settings(
    deadline=None,
    database=None,
    print_blob=False,
    report_multiple_bugs=False,
    phases=(Phase.generate,),
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)

#: By the names that ``HYPOTHESIS_PROFILE`` takes: ``ci`` and ``quick`` run the same programs each
#: time, ``dev`` new ones, ``thorough`` is for a night; ``hunt`` is what planted faults are looked
#: for with.
PROFILES: dict[str, settings] = {
    "quick": settings(_COMMON, max_examples=40, stateful_step_count=25, derandomize=True),
    "dev": settings(_COMMON, max_examples=100, stateful_step_count=30),
    "ci": settings(_COMMON, max_examples=400, stateful_step_count=30, derandomize=True),
    "thorough": settings(_COMMON, max_examples=20_000, stateful_step_count=50),
    "hunt": settings(_COMMON, max_examples=1500, stateful_step_count=25, derandomize=True),
}


def without_shrinking(chosen: settings) -> settings:
    """Return settings without the phases of Hypothesis in which it makes an example small.

    See Note [Who makes a failing program small].
    """
    kept = tuple(phase for phase in chosen.phases if phase not in _SHRINKING)
    return settings(chosen, phases=kept)


class MachineTestCase(unittest.TestCase):
    """What a machine's `TestCase` is: pytest and unittest find and run it.

    Attributes
    ----------
    settings : hypothesis.settings
        Those of the loaded profile by default, without a deadline. Other ones can be assigned.
    machine : type
        The state machine.
    """

    settings: ClassVar[settings]
    machine: ClassVar[type[RuleBasedStateMachine]]

    def runTest(self) -> None:
        """Run the machine."""
        run_state_machine_as_test(self.machine, settings=without_shrinking(self.settings))


# By this pytest's plugin of Hypothesis takes a test for one of its own.
vars(MachineTestCase)["runTest"].is_hypothesis_test = True


class TestCaseOfMachine(TestCaseProperty):
    """The attribute ``TestCase`` of a machine: each has a class of its own."""

    def __get__(  # type: ignore[override]  # Hypothesis names a class that only type checkers know
        self,
        machine: RuleBasedStateMachine | None,
        kind: type[RuleBasedStateMachine] | None = None,
    ) -> type[MachineTestCase]:
        """Return the test case of a machine, always the same."""
        if machine is not None:
            kind = type(machine)
        assert kind is not None
        return _test_case_of(kind)


@cache
def _test_case_of(machine: type[RuleBasedStateMachine]) -> type[MachineTestCase]:
    chosen = settings(
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType]  # the iteration of this enum has no type
    )
    own = {"settings": without_shrinking(chosen), "machine": machine}
    return type(f"{machine.__name__}.TestCase", (MachineTestCase,), own)
