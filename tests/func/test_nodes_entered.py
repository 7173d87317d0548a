"""What a transform looks at: the graph of its function, and not the history of what it uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import vtgrad as vt
from tests.support import ramp
from vtgrad.autograd import reverse_call
from vtgrad.engine.graph_task import GraphTask
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import gradient_edge

FUNC: Any = vt.func
FUNCTIONAL: Any = vt.autograd.functional

X = ramp(3)


def _entered(monkeypatch: pytest.MonkeyPatch, step: Callable[[vt.Tensor], vt.Tensor]) -> list[int]:
    """How many nodes each of ten steps of a long program looks at, to find a leaf outside."""
    seen: list[Node] = []
    look = reverse_call._visible_leaf

    def counted(node: Node) -> object:
        seen.append(node)
        return look(node)

    monkeypatch.setattr(reverse_call, "_visible_leaf", counted)
    counts = []

    def outer(a: vt.Tensor) -> vt.Tensor:
        for _ in range(10):
            seen.clear()
            a = a - step(a) * 0.01
            counts.append(len(seen))
        return a.sum()

    FUNC.grad(outer)(X)
    return counts


@pytest.mark.parametrize(
    "step",
    [
        FUNC.grad(lambda b: (b**3).sum()),
        lambda a: FUNC.grad(lambda b: (b**3 * a).sum())(X),
        lambda a: FUNC.vjp(lambda b: b**3 * a, a)[1](X)[0],
        lambda a: FUNC.linearize(lambda b: b**3 * a, a)[1](X),
        lambda a: FUNC.jacrev(lambda b: (b**3 * a).sum())(a),
    ],
)
def test_a_step_of_a_long_program_looks_at_its_own_nodes(
    monkeypatch: pytest.MonkeyPatch, step: Callable[[vt.Tensor], vt.Tensor]
) -> None:
    counts = _entered(monkeypatch, step)
    assert counts[0] > 0
    # The first one finds the leaf, the others end where the one before has been.
    assert max(counts[2:]) == counts[2] <= 40


def test_a_leaf_that_became_invisible_is_searched_for_again() -> None:
    w = ramp(3).requires_grad_()
    y = w * 2
    assert reverse_call.leads_outside([y])
    assert reverse_call.leads_outside([y * X])
    w.requires_grad_(False)
    assert not reverse_call.leads_outside([y])
    assert not reverse_call.leads_outside([y * X])
    w.requires_grad_()
    assert reverse_call.leads_outside([y * X])
    v = ramp(3).requires_grad_()
    w.requires_grad_(False)
    assert reverse_call.leads_outside([y * v])


@pytest.mark.parametrize("connected", [False, True])
def test_a_pass_leaves_out_what_the_function_captures(connected: bool) -> None:
    captured = ramp(3).requires_grad_()
    for _ in range(50):
        captured = captured * 1.01
    given = ramp(3).requires_grad_() if connected else X
    entered = []

    def f(a: vt.Tensor) -> vt.Tensor:
        y = (a * captured).sum()
        root, own = gradient_edge(y), gradient_edge(a)
        assert root is not None
        task = GraphTask([root], True, False)
        task.compute_dependencies([own])
        entered.append(len(task.dependencies))
        return y

    FUNC.grad(f)(given)
    FUNCTIONAL.jacobian(f, given, create_graph=True)
    # The sum, the product, and its two operands.
    assert entered == [4, 4]


def test_hvp_does_not_look_for_hooks_in_what_the_function_captures() -> None:
    captured = ramp(3).requires_grad_() * 2
    assert captured.grad_fn is not None
    captured.grad_fn.register_hook(lambda *_: None)
    made = []

    def f(a: vt.Tensor) -> vt.Tensor:
        y = (a**3 * captured).sum()
        edge = gradient_edge(a)
        assert edge is not None
        made.append(
            reverse_call.runs_users_code(
                [y], [reverse_call.InputEdge(vt.autograd.graph.get_gradient_edge(a))]
            )
        )
        y.register_hook(lambda g: g)
        made.append(
            reverse_call.runs_users_code(
                [y], [reverse_call.InputEdge(vt.autograd.graph.get_gradient_edge(a))]
            )
        )
        return y

    assert FUNCTIONAL.hvp(f, X, X)[1].tolist() == [12.0, 96.0, 324.0]
    assert made == [False, True]
