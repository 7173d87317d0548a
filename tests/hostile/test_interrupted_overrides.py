"""After an interrupt ``__torch_function__`` is in force again, for the calls it was in force for.

What breaks it: the protocol that is disabled before ``try``, or a tensor that has the class before
it has the key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from tests.overrides.logged import Logged, logged, names
from vtgrad.storage.thread_mode import thread

CASES: dict[str, Callable[[Any], object]] = {
    "an operator": lambda p: p + 1,
    "a function made of operators": lambda p: vt.reshape(p, (4,)),
    "a list": lambda p: vt.stack([p, p]),
    "an index": lambda p: p[0],
    "a write": lambda p: p.__setitem__(0, 1),
    "a method": lambda p: p.detach(),
    "a property": lambda p: p.shape,
    "a view of the class": lambda p: vt.Tensor.as_subclass(p, Logged),
    "backward": lambda p: p.detach().requires_grad_().sum().backward(),
}


def a_block(p: Any) -> None:
    with vt.overrides.DisableTorchFunctionSubclass():
        p.sum()


def a_class(p: Any) -> None:
    class Own(Logged):
        pass

    p.as_subclass(Own)


CASES |= {"a block": a_block, "a class": a_class}


@NEEDS_TRACE
@pytest.mark.parametrize("name", CASES)
def test_an_interrupt_leaves_the_protocol_as_it_was(name: str) -> None:
    used: list[Logged] = []

    def prepare() -> Callable[[], object]:
        used[:] = [logged(vt.zeros(2, 2))]
        return lambda: CASES[name](used[0])

    def check(over: bool) -> None:
        assert thread.excluded_keys == 0
        Logged.calls.clear()
        result = used[0] * 0 + 1
        assert names() == ["mul", "add"]
        assert type(result) is Logged
        assert result.tolist() == [[1, 1], [1, 1]]

    assert interrupted_everywhere(prepare, check) > 3
