"""The words of errors about custom Functions, and the facts that they carry."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from tests.functions import Function, function, identity, once_differentiable, triple_
from tests.support import differs_from_torch, leaf, vt

pytestmark = differs_from_torch("the words are our own")


def _undeclared() -> None:
    function(lambda ctx, n, x: x.mul_(2))(3, leaf(2).clone())


def _not_returned() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2) + 1

    function(forward)(leaf(2).clone())


def _view_and_more() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2), 5

    function(forward)(leaf(2).clone()[:1])


def _answered(answer: Any) -> Any:
    def run() -> None:
        function(lambda ctx, x, n: x * n, lambda ctx, g: answer(g))(leaf(2), 3).sum().backward()

    return run


def _no_backward() -> None:
    methods = {"forward": staticmethod(lambda ctx, x: x * 2)}
    made: Any = type("Fn", (Function,), methods)
    made.apply(leaf(2)).sum().backward()


def _twice() -> None:
    @once_differentiable
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        return g * 2

    apply = function(lambda ctx, x: x * 2, backward)
    x = leaf(2)
    (first,) = vt.autograd.grad(apply(x).sum(), x, create_graph=True)
    first.sum().backward()


CASES = {
    "undeclared write": (
        _undeclared,
        "FnBackward: forward wrote to argument 1, a tensor of shape [2], or to memory that it "
        "shares, without ctx.mark_dirty: its gradient would be that of the old value. Mark it and "
        "return it, or write to a clone",
        {"index": 1, "expected_version": 0, "found_version": 1},
    ),
    "not returned": (
        _not_returned,
        "FnBackward: a tensor of shape [2] was marked dirty, but forward did not return it; return "
        "every tensor that it writes",
        {},
    ),
    "a view and more": (
        _view_and_more,
        "FnBackward: forward wrote to a view and returned 2 values; a Function that writes to a "
        "view can return only that view. Write to a clone of it, or return the others from another "
        "Function",
        {},
    ),
    "number of gradients": (
        _answered(lambda g: g),
        "FnBackward returned 1 gradients for 2 arguments; return one for each, None for an "
        "argument that has none",
        {"node": "FnBackward", "expected": 2, "found": 1},
    ),
    "no tensor": (
        _answered(lambda g: (3.0, None)),
        "FnBackward returned a float for argument 0; gradients are tensors, or None",
        {"node": "FnBackward", "index": 0},
    ),
    "gradient of a number": (
        _answered(lambda g: (g, g)),
        "FnBackward returned a gradient for argument 1, which is no tensor; return None for it",
        {"node": "FnBackward", "index": 1},
    ),
    "shape": (
        _answered(lambda g: (vt.ones(3), None)),
        "FnBackward returned a gradient of shape [3] for its input 0, which has shape [2]",
        {"node": "FnBackward", "index": 0, "expected": (2,), "found": (3,)},
    ),
    "complex": (
        _answered(lambda g: (vt.ones(2, dtype=vt.complex128), None)),
        "FnBackward returned a complex128 gradient for argument 0, which is float64; take the real "
        "part",
        {"node": "FnBackward", "index": 0, "expected": vt.float64, "found": vt.complex128},
    ),
    "no backward": (
        _no_backward,
        "backward reached a custom Function that has neither backward nor vjp; define one of them "
        "as a static method, or mark its results as non-differentiable",
        {},
    ),
    "once differentiable": (
        _twice,
        "backward reached gradients that a custom Function computed in a backward marked "
        "once_differentiable, which have no derivative",
        {"node": "torch::autograd::Error"},
    ),
}


@pytest.mark.parametrize(("run", "text", "facts"), CASES.values(), ids=CASES)
def test_words_and_facts(run: Any, text: str, facts: dict[str, object]) -> None:
    with pytest.raises(vt.errors.VtgradError) as caught:
        run()
    assert str(caught.value) == text
    assert caught.value.facts == facts


def test_the_warning_about_a_constant() -> None:
    def forward(ctx: Any, x: vt.Tensor, s: vt.Tensor) -> vt.Tensor:
        s.add_(1)
        return x * 2

    with pytest.warns(UserWarning, match="mark_dirty") as caught:
        function(forward)(leaf(2), vt.ones(3))
    (warning,) = caught
    assert str(warning.message) == (
        "FnBackward: forward wrote to argument 1, a tensor of shape [3], or to memory that it "
        "shares, without ctx.mark_dirty: no gradient will ever flow through what was written. "
        "Mark it and return it, together with ctx.mark_non_differentiable if that is what you want"
    )
    assert warning.filename == __file__


def test_an_error_about_an_overwritten_value_names_the_function_and_the_line() -> None:
    b = leaf(2).clone()
    root = (b * b).sum()
    here = inspect.currentframe()
    assert here is not None
    _, line = triple_(b), here.f_lineno
    with pytest.raises(vt.errors.StaleSavedError) as caught:
        root.backward()
    # The write inside of forward, and the mark of the whole call.
    assert "mul_" in str(caught.value)
    assert "Triple.apply" in str(caught.value)
    assert f"{Path(__file__).name}:{line}" in str(caught.value)


def test_an_error_about_a_view_names_the_line_that_made_it() -> None:
    b = leaf(2).clone()
    here = inspect.currentframe()
    assert here is not None
    y, line = identity(b), here.f_lineno
    with pytest.raises(vt.errors.CustomFunctionViewError) as caught:
        y.mul_(2)
    assert f"{Path(__file__).name}:{line}" in str(caught.value)
