"""What a packed value holds, and how it is found out whose memory it is."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.support import collector_off, needs_global_lock, ramp
from vtgrad.autograd.graph import saved_tensors_hooks
from vtgrad.graph.shared_memory import References, shares_memory


class Plain:
    """Has attributes."""

    def __init__(self, held: object) -> None:
        self.held = held

    def method(self) -> object:
        """Give what is held."""
        return self.held


class Slotted:
    """Has slots."""

    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held


def circle(x: vt.Tensor) -> list[object]:
    """A list that contains itself, and then the tensor."""
    made: list[object] = [0]
    made += [made, x.detach()]
    return made


def function_with_defaults(x: vt.Tensor) -> Callable[..., object]:
    def inside(a: object = x.detach(), *, b: object = None) -> object:
        return a or b

    return inside


SHARING: dict[str, Callable[[vt.Tensor], object]] = {
    "detached": lambda x: x.detach(),
    "part": lambda x: x[1:],
    "last element": lambda x: x[-1:].detach(),
    "whole of which it is a part": lambda x: x._base,
    "array": lambda x: x.numpy(),
    "memoryview": lambda x: x.numpy().data,
    "tuple": lambda x: (1, (2, x)),
    "dict": lambda x: {"a": {"b": x}},
    "key": lambda x: {x: 1},
    "object": Plain,
    "slots": Slotted,
    "method": lambda x: Plain(x).method,
    "partial": lambda x: functools.partial(print, x),
    "closure": lambda x: lambda: x,
    "default": function_with_defaults,
    "iterator": lambda x: iter([x]),
    "array of objects": lambda x: np.array([None, x.detach()], dtype=object),
    "circle": circle,
}

COPYING: dict[str, Callable[[vt.Tensor], object]] = {
    "clone": lambda x: x.clone(),
    "number": lambda x: x.sum().item(),
    "none": lambda x: None,
    "list": lambda x: x.tolist(),
    "bytes": lambda x: x.numpy().tobytes(),
    "object": lambda x: Plain(x.clone()),
    "weak reference": weakref.ref,
    "shape": lambda x: (x.shape, x.dtype, x.stride()),
}


def shared(make: Callable[[vt.Tensor], object]) -> bool:
    """Whether what is made of a tensor counts as sharing its memory."""
    x = ramp(6)[2:4]
    references = References(x)
    references.count()
    value = make(x)
    has_grown = references.have_grown()
    return shares_memory(value, x._impl, has_grown)


@pytest.mark.parametrize("how", SHARING)
def test_what_shares_memory(how: str) -> None:
    assert shared(SHARING[how])


@pytest.mark.parametrize("how", COPYING)
def test_what_is_a_copy(how: str) -> None:
    assert not shared(COPYING[how])


def test_what_something_else_holds_counts_where_no_data_is_found() -> None:
    kept: list[object] = []

    def into_table(x: vt.Tensor) -> str:
        kept.append(x.detach())
        return "key"

    assert shared(into_table)
    assert not shared(lambda x: (into_table(x), x.clone()))


@pytest.mark.parametrize(
    "pack", [lambda x: x.detach().clone(), lambda x: x.tolist()], ids=["clone", "list"]
)
@pytest.mark.parametrize(
    "operate",
    [
        lambda z: z.sin(),
        lambda z: z[1:].sin(),
        lambda z: z.exp() * 1,
        lambda z: z.clone().sin_(),
        lambda z: z[vt.tensor([0, 1])],
    ],
    ids=["input", "view", "result", "old value", "index"],
)
def test_a_copy_leaves_nothing_of_the_saved_tensor_alive(
    operate: Callable[[vt.Tensor], vt.Tensor], pack: Callable[[vt.Tensor], Any]
) -> None:
    memory: list[weakref.ref[Any]] = []

    def noted(x: vt.Tensor) -> Any:
        memory.append(weakref.ref(x._impl.array))
        return pack(x)

    with collector_off():
        z = vt.ones(3, dtype=vt.float64, requires_grad=True) * 1
        with saved_tensors_hooks(noted, lambda packed: vt.ones(3)):
            y = operate(z)
        del z
        assert len(memory) == 1
        assert memory[0]() is None
        assert y.grad_fn is not None


@needs_global_lock
def test_two_threads_unpack_one_graph_at_once() -> None:
    x = vt.ones(3, dtype=vt.float64, requires_grad=True)
    calls: list[int] = []
    together = threading.Barrier(2, timeout=10)

    def unpack(packed: vt.Tensor) -> vt.Tensor:
        calls.append(threading.get_ident())
        together.wait()
        return packed

    with saved_tensors_hooks(lambda t: t.detach().clone(), unpack):
        y = x.exp().sin().sum()
    found: list[object] = []

    def work() -> None:
        (g,) = vt.autograd.grad(y, x, retain_graph=True)
        found.append(g.tolist())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    e = x.detach().exp()
    assert found == [(e.cos() * e).tolist()] * 2
    assert len(calls) == 4
    assert len(set(calls)) == 2
