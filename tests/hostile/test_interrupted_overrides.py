"""After an interrupt ``__torch_function__`` is in force again, for the calls it was in force for.

What breaks it: the protocol that is disabled before ``try``, a tensor that has the class before
it has the key, or a mode whose block is entered or left by two stores with a call between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from tests.overrides.logged import Logged, logged, names
from vtgrad.graph.function_modes import thread
from vtgrad.overrides import TorchFunctionMode
from vtgrad.storage.key_set import keys

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


class Mode(TorchFunctionMode):
    """Calls each function, and notes it."""

    seen: ClassVar[list[object]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        Mode.seen.append(func)
        return func(*args, **(kwargs or {}))


def in_a_block(p: Any) -> None:
    with Mode():
        p.sum()


def in_two_blocks(p: Any) -> None:
    mode = Mode()
    with mode:
        with mode, Mode():
            _ = p.shape
        vt.zeros(1)


MODES: dict[str, Callable[[Any], object]] = {
    "a block": in_a_block,
    "blocks in blocks": in_two_blocks,
}


@NEEDS_TRACE
@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("of_a_class", [False, True])
def test_an_interrupt_leaves_no_mode_on(name: str, of_a_class: bool) -> None:
    used: list[vt.Tensor] = []
    with Mode():
        # The first block of the process puts descriptors into the class, which takes long to trace.
        pass

    def prepare() -> Callable[[], object]:
        used[:] = [logged(vt.zeros(2, 2)) if of_a_class else vt.zeros(2, 2)]
        return lambda: MODES[name](used[0])

    def check(over: bool) -> None:
        assert thread.function_modes == ()
        assert thread.excluded_keys == 0
        Mode.seen.clear()
        assert used[0].tolist() == [[0, 0], [0, 0]]
        assert Mode.seen == []
        with Mode():
            used[0].sum()
        assert Mode.seen == [vt.sum]

    assert interrupted_everywhere(prepare, check) > 3
    assert not keys.modes


@NEEDS_TRACE
def test_an_interrupt_leaves_the_modes_that_were_on() -> None:
    x = vt.zeros(2, 2)

    def prepare() -> Callable[[], object]:
        return lambda: [x.sum(), x.shape, vt.zeros(2), vt.stack([x])]

    with Mode(), Mode():
        blocks = thread.function_modes

        def check(over: bool) -> None:
            assert thread.function_modes == blocks

        assert interrupted_everywhere(prepare, check) > 3
    assert not keys.modes
