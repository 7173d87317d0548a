"""A checkpoint runs again only as far as it must, and every value that it takes is whole.

What breaks it: a run that ends inside the operator that has saved its last value, before the
tangent of the value is written or a tracer has followed it. So each operator that saves its result
is the last one of a checkpoint here, out of place and in place, below each of these modes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

import pytest

import vtgrad as vt
from vtgrad.errors import VtgradError
from vtgrad.utils.checkpoint import checkpoint

Map = Callable[[vt.Tensor], vt.Tensor]

VALUES: Final = [0.3, 0.5, 0.7]


def point() -> vt.Tensor:
    return vt.tensor(VALUES, dtype=vt.float64)


def kept(f: Map) -> Map:
    return lambda x: checkpoint(f, x, use_reentrant=False)


def second_product(f: Map) -> list[float]:
    """The tangent of the gradient."""

    def gradient(x: vt.Tensor) -> Any:
        return vt.func.grad(lambda x: f(x).sum())(x)

    ones = vt.ones(3, dtype=vt.float64)
    found: list[float] = vt.func.jvp(gradient, (point(),), (ones,))[1].tolist()
    return found


def pattern_of_gradient(f: Map) -> list[int]:
    """Where the rows begin, then the columns."""
    found = vt.func.sparsity_pattern(lambda x: vt.func.grad(lambda x: f(x).sum())(x), point())
    return [*found.indptr.tolist(), *found.indices.tolist()]


def named(name: str) -> Map:
    """The method on a tensor that depends on neighbours of the argument."""

    def f(x: vt.Tensor) -> vt.Tensor:
        y = x * x
        y = vt.cat([y[:-1] * y[1:], y[:1]])
        result: vt.Tensor = getattr(y, name)()
        return result

    return f


def names() -> list[str]:
    """The methods without arguments that have a gradient of their own, and save something."""
    found = []
    for name in dir(vt.Tensor):
        if name.startswith("_") or name in {"backward", "share_memory_"}:
            continue
        x = point().requires_grad_()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result: object = named(name)(x)
                if isinstance(result, vt.Tensor) and result.is_floating_point():
                    vt.autograd.grad(result.sum(), x)
                    found.append(name)
        except (VtgradError, TypeError, NotImplementedError):
            continue
    return found


NAMES: Final = names()


def test_there_are_many_operators() -> None:
    assert len(NAMES) > 80
    assert {"exp", "exp_", "tanh_", "sqrt_", "sigmoid"} <= set(NAMES)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", [second_product, pattern_of_gradient])
def test_every_operator_as_the_last_one(way: Callable[[Map], object]) -> None:
    compared, wrong = 0, []
    for name in NAMES:
        f = named(name)
        try:
            expected = way(f)
        except VtgradError:
            continue
        compared += 1
        for g in (kept(f), kept(kept(f))):
            found = way(g)
            if found != pytest.approx(expected, nan_ok=True):
                wrong.append((name, expected, found))
    assert compared > 60
    assert not wrong


class Exponential(vt.autograd.Function):
    """A write whose backward reads the written value."""

    @staticmethod
    def forward(y: vt.Tensor) -> vt.Tensor:
        return y.exp_()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_dirty(inputs[0])
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx: Any, grad: vt.Tensor) -> vt.Tensor:
        (y,) = ctx.saved_tensors
        found: vt.Tensor = grad * y
        return found

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        (y,) = ctx.saved_tensors
        written: vt.Tensor = t.mul_(y.detach())
        return written


def test_the_tangent_of_what_a_function_has_written() -> None:
    expected = second_product(lambda x: (x * x).exp())

    def f(x: vt.Tensor) -> vt.Tensor:
        y: vt.Tensor = Exponential.apply(x * x)
        return y

    assert second_product(kept(f)) == pytest.approx(expected)
    assert second_product(kept(kept(f))) == pytest.approx(expected)


def test_a_run_that_goes_on_ends_with_the_next_value() -> None:
    """Also where backward is called before the function has come to its end."""
    ran: list[str] = []

    def f(x: vt.Tensor) -> vt.Tensor:
        ran.append("begin")
        y = (x * x).exp()
        (g,) = vt.autograd.grad(y.sum(), x, create_graph=True)
        ran.append("inner")
        z = (g * y).sin()
        ran.append("end")
        return z

    expected = second_product(f)
    assert ran == ["begin", "inner", "end"]
    ran.clear()
    assert second_product(kept(f)) == pytest.approx(expected)
    assert ran[0] == "begin"
    assert ran.count("end") == 2
