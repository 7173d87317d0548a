"""Custom Functions under nested transforms, and transforms inside of custom Functions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, Final

import pytest

import vtgrad as vt
from vtgrad.autograd import forward_ad as fw
from vtgrad.errors import ForwardModeError

FUNC: Any = vt.func
FUNCTIONAL: Any = vt.autograd.functional
grad, jvp, linearize, vjp = FUNC.grad, FUNC.jvp, FUNC.linearize, FUNC.vjp

Scalar = Callable[[Any], Any]


def number(value: float) -> vt.Tensor:
    return vt.tensor(value, dtype=vt.float64)


class Cube(vt.autograd.Function):
    @staticmethod
    def forward(x: vt.Tensor) -> vt.Tensor:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[vt.Tensor], output: vt.Tensor) -> None:
        ctx.save_for_forward(*inputs)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * t

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


class Exp(vt.autograd.Function):
    """Saves its result."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        y = x.exp()
        ctx.save_for_forward(y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return y * t

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> Any:
        (y,) = ctx.saved_tensors
        return Mul.apply(y, g)


class Mul(vt.autograd.Function):
    """Has no zeros for missing tangents."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        ctx.set_materialize_grads(False)
        ctx.save_for_forward(x, y)
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor | None, u: vt.Tensor | None) -> Any:
        x, y = ctx.saved_tensors
        if t is None:
            return x * u
        return t * y if u is None else x * u + t * y

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor | None) -> Any:
        x, y = ctx.saved_tensors
        return (None, None) if g is None else (g * y, g * x)


class Doubled(vt.autograd.Function):
    """Writes to its argument."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        return t.mul_(2)

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> Any:
        return g * 2


class Row(vt.autograd.Function):
    """Returns a view."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        return x.view(-1)

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        return t.view(-1)

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        return g.view(1, 1)


class Sine(vt.autograd.Function):
    """Leaves its derivatives to transforms."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_forward(x)
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return jvp(vt.sin, (x,), (t,))[1]

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return vjp(vt.sin, x)[1](g)[0]


def doubled_part(a: vt.Tensor) -> Any:
    b = vt.zeros(2, dtype=vt.float64)
    b[0] = a * a
    part = b[:1]
    assert Doubled.apply(part) is part
    return b[0] * a


# The program, and its derivatives of order 0 to 3 by hand.
PROGRAMS: Final[dict[str, tuple[Scalar, Callable[[float], list[float]]]]] = {
    "Cube": (lambda a: Cube.apply(a) * a, lambda x: [x**4, 4 * x**3, 12 * x**2, 24 * x]),
    "Exp": (lambda a: Exp.apply(2 * a), lambda x: [math.exp(2 * x) * 2**k for k in range(4)]),
    "Mul": (
        lambda a: Mul.apply(Mul.apply(a, a), a) + Mul.apply(a, number(3.0)),
        lambda x: [x**3 + 3 * x, 3 * x**2 + 3, 6 * x, 6],
    ),
    "Doubled": (doubled_part, lambda x: [2 * x**3, 6 * x**2, 12 * x, 12]),
    "Row": (
        lambda a: Row.apply((a * a).reshape(1, 1))[0] * a,
        lambda x: [x**3, 3 * x**2, 6 * x, 6],
    ),
    "Sine": (Sine.apply, lambda x: [math.sin(x), math.cos(x), -math.sin(x), -math.cos(x)]),
}

DERIVATIVES: Final[dict[str, Callable[[Scalar], Scalar]]] = {
    "grad": grad,
    "jvp": lambda f: lambda a: jvp(f, (a,), (vt.ones_like(a),))[1],
    "linearize": lambda f: lambda a: linearize(f, a)[1](vt.ones_like(a)),
    "functional.jvp": lambda f: lambda a: FUNCTIONAL.jvp(f, a, create_graph=True)[1],
    "functional.jacobian": lambda f: lambda a: FUNCTIONAL.jacobian(f, a, create_graph=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_have_derivatives_under_every_nesting(name: str) -> None:
    program, by_hand = PROGRAMS[name]
    expected = by_hand(0.7)
    for order in (1, 2, 3):
        for nesting in itertools.product(DERIVATIVES, repeat=order):
            f = program
            for transform in nesting:
                f = DERIVATIVES[transform](f)
            assert f(number(0.7)).item() == pytest.approx(expected[order]), nesting


def test_what_jvp_computes_by_forward_mode_has_no_tangent_at_the_level_of_the_call() -> None:
    with fw.dual_level():
        dual = fw.make_dual(number(0.7), number(1.0))
        tangent = fw.unpack_dual(Sine.apply(dual)).tangent
        assert tangent is not None
        assert fw.unpack_dual(tangent).tangent is None
    assert tangent.item() == pytest.approx(math.cos(0.7))


def test_jvp_opens_no_level_that_it_could_not_see() -> None:
    class Opening(Sine):
        @staticmethod
        def jvp(ctx: Any, t: vt.Tensor) -> Any:
            with fw.dual_level():
                return t

    class Entering(Sine):
        @staticmethod
        def jvp(ctx: Any, t: vt.Tensor) -> Any:
            fw.enter_dual_level()

    for function in (Opening, Entering):
        with pytest.raises(ForwardModeError, match=r"vtgrad\.func\.jvp can be called there"):
            jvp(function.apply, (number(0.7),), (number(1.0),))


def test_forward_may_use_transforms() -> None:
    class BySlopes(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> Any:
            slope = grad(vt.sin)(x)
            assert jvp(vt.sin, (x,), (vt.ones_like(x),))[1].item() == slope.item()
            ctx.save_for_backward(slope)
            ctx.save_for_forward(slope)
            return x.sin()

        jvp = staticmethod(lambda ctx, t: ctx.saved_tensors[0] * t)
        backward = staticmethod(lambda ctx, g: ctx.saved_tensors[0] * g)

    x, one = number(0.7), number(1.0)
    assert grad(BySlopes.apply)(x).item() == pytest.approx(math.cos(0.7))
    assert jvp(BySlopes.apply, (x,), (one,))[1].item() == pytest.approx(math.cos(0.7))
