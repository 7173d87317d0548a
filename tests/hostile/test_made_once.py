"""What a tensor makes on first use is made once, also if two threads, or a handler, meet there.

What breaks it: a store without a second look right before it. The program is interrupted at each
place where another thread or a handler of a signal could run, and the tensor is used there.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere

pytestmark = [pytest.mark.slow, NEEDS_TRACE]

Use = Callable[[vt.Tensor], object]


def met(use: Use, other: Use, check: Callable[[vt.Tensor, object, object], object]) -> None:
    """Use fresh tensors in one way, and in the midst of it in another."""
    tensors: list[vt.Tensor] = []
    used: list[object] = []
    meeting: list[object] = []

    def prepare() -> Callable[[], object]:
        x = vt.ones(3)
        tensors.append(x)
        meeting.clear()
        return lambda: used.append(use(x))

    def examine(over: bool) -> None:
        assert over
        if meeting:
            check(tensors[-1], used[-1], meeting[0])

    interrupted_everywhere(prepare, examine, lambda: meeting.append(other(tensors[-1])))


def one_counter(x: vt.Tensor, first: object, second: object) -> None:
    assert isinstance(first, vt.Tensor)
    assert isinstance(second, vt.Tensor)
    before = x._version
    first.add_(1)
    second.add_(1)
    assert x._version == first._version == second._version == before + 2


@pytest.mark.parametrize("use", [vt.Tensor.detach, lambda x: x[1:], lambda x: x.view(3, 1)])
def test_two_aliases_count_writes_together(use: Use) -> None:
    met(use, vt.Tensor.detach, one_counter)


def test_a_storage() -> None:
    def one_storage(x: vt.Tensor, first: object, second: object) -> None:
        assert x.untyped_storage() == first == second

    met(vt.Tensor.untyped_storage, vt.Tensor.untyped_storage, one_storage)


def test_a_leaf_is_one_node() -> None:
    def make_leaf(x: vt.Tensor) -> vt.Tensor:
        return x.requires_grad_() * 2

    def one_node(x: vt.Tensor, first: object, second: object) -> None:
        assert isinstance(first, vt.Tensor)
        assert isinstance(second, vt.Tensor)
        (first.sum() + second.sum()).backward()
        assert x.grad is not None
        assert x.grad.tolist() == [4, 4, 4]
        assert first.grad_fn is not None
        assert second.grad_fn is not None
        assert first.grad_fn.next_functions[0][0] is second.grad_fn.next_functions[0][0]

    met(make_leaf, make_leaf, one_node)


def test_the_hooks_of_a_value() -> None:
    def hook(x: vt.Tensor) -> list[str]:
        log: list[str] = []
        x.requires_grad_().register_hook(lambda grad: log.append("called"))
        return log

    def both_run(x: vt.Tensor, first: object, second: object) -> None:
        (x * 2).sum().backward()
        assert first == second == ["called"]

    met(hook, hook, both_run)
