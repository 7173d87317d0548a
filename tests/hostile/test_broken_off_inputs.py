"""An interrupt anywhere in ``backward(inputs=...)`` leaves no input that retains its gradient.

What breaks it: an input that begins to retain before it is written down that it did not before.
"""

from __future__ import annotations

import itertools

import pytest

import vtgrad as vt
from tests.hostile.breaking import broken_off

pytestmark = pytest.mark.skipif(
    vt.__compiled__, reason="compiled code does not say which line it is at"
)

FILES = (
    "engine/array_run.py",
    "engine/backward.py",
    "engine/check_before_run.py",
    "engine/evaluate_function.py",
    "engine/graph_task.py",
    "graph/autograd_meta.py",
    "graph/hooks.py",
    "views/differentiable_view_meta.py",
)


def test_an_interrupted_pass_leaves_no_input_retaining() -> None:
    broken = 0
    for at in itertools.count(1):
        x = vt.ones(3, requires_grad=True)
        y = x * 2
        view = y[:2]
        root = (y.sum() * view).sum()

        def call(root: vt.Tensor = root, inputs: tuple[vt.Tensor, ...] = (y, view, x)) -> None:
            root.backward(inputs=inputs, retain_graph=True)

        if not broken_off(call, at, KeyboardInterrupt, FILES):
            break
        broken += 1
        assert not y.retains_grad, at
        assert not view.retains_grad, at
        y.grad = view.grad = None
        root.backward()
        # Reading it warns, as of every result that does not retain its gradient.
        with pytest.warns(UserWarning, match="not a leaf"):
            assert y.grad is None, at
        with pytest.warns(UserWarning, match="not a leaf"):
            assert view.grad is None, at
    assert broken > 50
