"""After an interrupt no level is open, no mode is switched, and a transform gives what it gave.

What breaks it: a level that is entered before ``try``, or a limit that a call brings back.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

import vtgrad as vt
from tests.hostile.interrupting import (
    NEEDS_TRACE,
    Interrupted,
    Interrupter,
    interrupted_everywhere,
    raise_interrupt,
)
from tests.support import collector_off, ramp
from vtgrad.autograd import forward_ad as fw
from vtgrad.graph.thread_levels import thread
from vtgrad.storage.key_set import keys
from vtgrad.storage.rewind import saves_observed

FUNC: Any = vt.func
FUNCTIONAL: Any = vt.autograd.functional

X, V = ramp(3), ramp(3) * 10


def f(a: vt.Tensor) -> vt.Tensor:
    b = vt.zeros(3, dtype=vt.float64)
    b[1:] = a[:2]
    b *= a
    return (b.cumsum(0) * a).sum()


class Cube(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_forward(x)
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        tangent: vt.Tensor = 3 * x**2 * t
        return tangent

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        grad: vt.Tensor = 3 * x**2 * g
        return grad


def in_a_level() -> object:
    with fw.dual_level():
        return fw.unpack_dual(f(fw.make_dual(X, V)))


@fw.dual_level()
def decorated() -> object:
    return fw.unpack_dual(fw.make_dual(X, V) * 2)


def with_hooks() -> object:
    x = X.clone().requires_grad_()
    hooks = vt.autograd.graph.saved_tensors_hooks(lambda s: s * 1, lambda s: s)
    with fw.dual_level(), hooks:
        d = fw.make_dual(x, V)
        (g,) = vt.autograd.grad((d.expand(2, 3) * d).sum(), x)
        return fw.unpack_dual(g)


PROGRAMS: dict[str, Callable[[], object]] = {
    "grad": lambda: FUNC.grad(f)(X),
    "jvp": lambda: FUNC.jvp(f, (X,), (V,)),
    "jvp of grad": lambda: FUNC.jvp(FUNC.grad(f), (X,), (V,)),
    "grad of jvp": lambda: FUNC.grad(lambda a: FUNC.jvp(f, (a,), (V,))[1])(X),
    "linearize": lambda: FUNC.linearize(f, X)[1](V),
    "jacobian": lambda: FUNCTIONAL.jacobian(f, X),
    "hvp": lambda: FUNCTIONAL.hvp(f, X, V),
    "a Function": lambda: FUNC.jvp(FUNC.grad(lambda a: Cube.apply(a).sum()), (X,), (V,)),
    "a tangent by transposition": lambda: FUNC.jvp(lambda a: a.cumprod(0), (X,), (V,)),
    "a level": in_a_level,
    "a decorated function": decorated,
    "hooks of saved values": with_hooks,
}


def state() -> tuple[object, ...]:
    return (
        vt.is_grad_enabled(),
        thread.mode,
        thread.reverse_level,
        thread.forward_limit,
        thread.excluded_keys,
        dict(keys.modes),
        saves_observed.reasons,
    )


def a_short_level() -> object:
    with fw.dual_level():
        return fw.make_dual(X, V)


@NEEDS_TRACE
@pytest.mark.parametrize(
    "program",
    [
        lambda: FUNC.jvp(lambda a: a, (X,), (V,)),
        pytest.param(lambda: FUNC.grad(lambda a: a[0])(X), marks=pytest.mark.slow),
        a_short_level,
        decorated,
    ],
)
def test_short_programs_everywhere(program: Callable[[], object]) -> None:
    before = state()

    def check(over: bool) -> None:
        assert state() == before

    assert interrupted_everywhere(lambda: program, check) > 50


@pytest.mark.slow
@NEEDS_TRACE
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_left_after_an_interrupt(name: str) -> None:
    program = PROGRAMS[name]
    before, expected = state(), str(program())
    # The collector would run callbacks, whose places are not the program's.
    with collector_off():
        with Interrupter(sys.maxsize, raise_interrupt) as whole:
            program()
        # All places of all programs take a quarter of an hour. Most levels end near the end.
        places = [*random.Random(name).sample(range(whole.passed), 20), *range(whole.passed)[-20:]]
        for at in places:
            interrupter = Interrupter(at, raise_interrupt)
            with pytest.raises(Interrupted), interrupter:
                program()
            assert state() == before
    assert str(program()) == expected
