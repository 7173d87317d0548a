"""Where `check` may be called: in any mode, in several threads, not at an open level.

What breaks it: programs that run in the mode of the caller, or close the caller's level.
"""

import threading

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import ForwardModeError
from vtgrad.testing.checking import Coverage, Rule, check

DOUBLED = Rule("doubled", lambda x: x * 2, lambda x: x * 2)


@pytest.mark.stateful
def test_it_records_gradients_whatever_the_mode_is() -> None:
    with vt.no_grad():
        coverage = check(DOUBLED, programs=2)
        assert not vt.is_grad_enabled()
    assert coverage.missing("doubled") == ()
    with vt.inference_mode():
        assert check(DOUBLED, programs=2).missing("doubled") == ()
        assert vt.is_inference_mode_enabled()


def test_it_leaves_an_open_level_of_forward_mode_open() -> None:
    with vt.autograd.forward_ad.dual_level():
        with pytest.raises(ForwardModeError, match="one level"):
            check(DOUBLED, programs=2)
        dual = vt.autograd.forward_ad.make_dual(vt.ones(2), vt.ones(2))
        tangent = vt.autograd.forward_ad.unpack_dual(dual).tangent
    assert tangent is not None
    assert tangent.tolist() == [1.0, 1.0]


@pytest.mark.stateful
def test_threads_that_check_take_turns() -> None:
    rules = [
        Rule("sine", vt.sin, np.sin),
        Rule("turned", lambda x: x.mT * 2, lambda x: x.mT * 2, shapes=[(2, 3)]),
    ]
    found: list[Coverage] = []
    threads = [
        threading.Thread(target=lambda rule=rule: found.append(check(rule, programs=2)))
        for rule in rules
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {coverage.rules[0].name for coverage in found} == {"sine", "turned"}
