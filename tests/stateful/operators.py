"""Operators such as users write them: right ones, and wrong ones that must be found."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx
from vtgrad.testing.checking import Rule

__all__ = ["RIGHT", "WRONG", "WRONG_TANGENTS", "Wrong"]


def swish(x: vt.Tensor) -> vt.Tensor:
    return x * x.sigmoid()


def affine_(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    x.mul_(2)
    x.add_(y)
    return x


def evens(x: vt.Tensor) -> vt.Tensor:
    return x[..., ::2]


def wave(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    return (x * 0.5).sin() * y


def outer(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    return x.unsqueeze(1) * y


def halves_(x: vt.Tensor) -> vt.Tensor:
    x[..., :1] /= 2
    return x


class Sine(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x.sin()

    @staticmethod
    def jvp(ctx: FunctionCtx, t: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return t * x.cos()

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return g * x.cos()


class DoubleAdd(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        return x.mul_(2).add_(y)

    @staticmethod
    def jvp(ctx: FunctionCtx, t: vt.Tensor, u: vt.Tensor) -> vt.Tensor:
        return t.mul_(2).add_(u)

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        return g * 2, g


class Odd(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(vt.zeros_like(x))
        return x[..., 1::2]

    @staticmethod
    def jvp(ctx: FunctionCtx, t: vt.Tensor) -> vt.Tensor:
        return t[..., 1::2]

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (zeros,) = ctx.saved_tensors
        gradient = zeros.clone()
        gradient[..., 1::2] = g
        return gradient


class Cube(vt.autograd.Function):
    """Without a jvp: tensors with tangents are refused."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


RIGHT = [
    Rule("sine", Sine.apply, np.sin, is_function=True, has_jvp=True),
    Rule("cube", Cube.apply, lambda x: x**3, is_function=True),
    Rule(
        "double_add_",
        DoubleAdd.apply,
        lambda x, y: x * 2 + y,
        operands=2,
        result="written",
        is_function=True,
        has_jvp=True,
        accepts=lambda x, y: x.shape == y.shape,
    ),
    Rule(
        "odd",
        Odd.apply,
        lambda x: x[..., 1::2],
        result="view",
        is_function=True,
        has_jvp=True,
        accepts=lambda x: x.ndim > 0,
    ),
    Rule("swish", swish, lambda x: x / (1 + np.exp(-x))),
    Rule("affine_", affine_, lambda x, y: x * 2 + y, operands=2, result="written"),
    Rule("evens", evens, lambda x: x[..., ::2], result="view", accepts=lambda x: x.ndim > 0),
    Rule(
        "wave",
        wave,
        lambda x, y: np.sin(x * 0.5) * y,
        gradient=lambda g, x, y: (g * 0.5 * np.cos(0.5 * x) * y, g * np.sin(0.5 * x)),
        operands=2,
        accepts=lambda x, y: x.shape == y.shape,
    ),
    Rule(
        "outer",
        outer,
        lambda x, y: x[:, None] * y,
        operands=2,
        accepts=lambda x, y: x.ndim == y.ndim == 1,
    ),
    Rule(
        "halves_",
        halves_,
        lambda x: np.concatenate([x[..., :1] / 2, x[..., 1:]], axis=-1),
        result="written",
        accepts=lambda x: x.ndim > 0,
    ),
]


@dataclass(frozen=True)
class Wrong:
    """A wrong operator, what the failure says, and in how many steps random programs show it."""

    rule: Rule
    shows: str
    steps: int


def forgets_a_factor(x: vt.Tensor) -> vt.Tensor:
    return x.detach() * x


def right_only_where_nothing_was_written(x: vt.Tensor) -> vt.Tensor:
    kept = x.clone() if x._version == 0 else x.detach().clone()
    return kept * 3


def writes_behind_(x: vt.Tensor) -> vt.Tensor:
    x.detach().numpy()[...] *= 2
    return x


def hides_a_write(x: vt.Tensor) -> vt.Tensor:
    memory = x.detach().numpy()
    if memory.size:
        memory.reshape(-1)[:1] += 1
    return x.clone()


def returns_its_memory(x: vt.Tensor) -> vt.Tensor:
    return vt.from_numpy(x.detach().numpy())


def returns_itself(x: vt.Tensor) -> vt.Tensor:
    return x


def copies(x: vt.Tensor) -> vt.Tensor:
    return x.t().clone()


def forgets_its_base(x: vt.Tensor) -> vt.Tensor:
    return x.detach()[..., ::2]


def writes_unrecorded_(x: vt.Tensor) -> vt.Tensor:
    with vt.no_grad():
        x.mul_(3)
    return x


def writes_a_copy_(x: vt.Tensor) -> vt.Tensor:
    return x.clone().mul_(2)


def returns_an_array(x: vt.Tensor) -> object:
    return x.detach().numpy() * 2


def raises_for_views(x: vt.Tensor) -> vt.Tensor:
    if x._is_view():
        raise KeyError("views are not in the table")
    return x * 1


class WrongSine(Sine):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return g * x.sin()


class Keeping(FunctionCtx):
    x: vt.Tensor


class KeepsItsOperand(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Keeping, x: vt.Tensor) -> vt.Tensor:
        ctx.x = x.detach()
        return x * x

    @staticmethod
    def backward(ctx: Keeping, g: vt.Tensor) -> vt.Tensor:
        return g * 2 * ctx.x


class ForgetsMarkDirty(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return x.mul_(2)

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        return g * 2


class ShowsItsOperand(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return x.detach()[...]

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        return g


class KeepsItsResult(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Keeping, x: vt.Tensor) -> vt.Tensor:
        ctx.x = x * 2  # is returned, and its node holds `ctx`
        return ctx.x

    @staticmethod
    def backward(ctx: Keeping, g: vt.Tensor) -> vt.Tensor:
        return g * 2


FACTOR = 3.0


def scaled(x: vt.Tensor) -> vt.Tensor:
    return x.detach() * FACTOR


def logged(function: Callable[[vt.Tensor], vt.Tensor]) -> Callable[[vt.Tensor], vt.Tensor]:
    def inner(x: vt.Tensor) -> vt.Tensor:
        LOG.append(tuple(x.shape))
        del LOG[:]
        return function(x)

    return inner


LOG: list[tuple[int, ...]] = []


@logged
def forgets_the_last(x: vt.Tensor) -> vt.Tensor:
    return x[..., :-1].clone()


@dataclass(frozen=True)
class Shift:
    """Operators that are methods."""

    by: float

    def moved(self, x: vt.Tensor) -> vt.Tensor:
        return x + self.by

    @staticmethod
    def root(x: vt.Tensor) -> vt.Tensor:
        if (x < 0).any():
            raise ValueError("negative numbers have no root")
        return x * 1


def made_in_a_function(offset: float, w: float) -> list["Wrong"]:
    """Operators that need what is around them, some of it by names that programs have too."""

    def helper(x: vt.Tensor) -> vt.Tensor:
        return scaled(x) * w

    class Shifted(WrongSine):
        @staticmethod
        def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
            ctx.save_for_backward(x)
            return x + offset

    return [
        Wrong(Rule("a_lambda", lambda x: x + offset * w, lambda x: x), "t1: expected", 2),
        Wrong(Rule("helper", lambda x: helper(x) / w, lambda x: x * 3), "expected", 4),
        Wrong(Rule("local_class", Shifted.apply, lambda x: x + offset), "expected", 4),
    ]


WRONG = [
    *made_in_a_function(0.5, 2.0),
    Wrong(Rule("moved", Shift(0.25).moved, lambda x: x), "t1: expected", 2),
    Wrong(Rule("root", Shift.root, lambda x: x), "raised ValueError: negative numbers", 2),
    Wrong(
        Rule("all_of_it", forgets_the_last, lambda x: x, accepts=lambda x: x.ndim > 0),
        "returned shape",
        2,
    ),
    Wrong(
        Rule("shows_its_operand", ShowsItsOperand.apply, lambda x: x),
        "._is_view(): expected False",
        2,
    ),
    Wrong(
        Rule(
            "another_half",
            lambda x: x[..., 1::2],
            lambda x: x[..., ::2],
            result="view",
            accepts=lambda x: x.ndim > 0 and x.shape[-1] % 2 == 0,
        ),
        "another view",
        3,
    ),
    Wrong(Rule("wrong_sine", WrongSine.apply, np.sin), "expected [", 4),
    Wrong(Rule("keeps_its_operand", KeepsItsOperand.apply, np.square), "expected", 6),
    Wrong(
        Rule(
            "forgets_mark_dirty",
            ForgetsMarkDirty.apply,
            lambda x: x * 2,
            result="written",
            is_function=True,
        ),
        "got undeclared-write",
        3,
    ),
    Wrong(Rule("forgets_a_factor", forgets_a_factor, np.square), "expected [", 4),
    Wrong(
        Rule(
            "right_only_where_nothing_was_written",
            right_only_where_nothing_was_written,
            lambda x: x * 3,
        ),
        "expected",
        6,
    ),
    Wrong(
        Rule("writes_behind_", writes_behind_, lambda x: x * 2, result="written"),
        "._version: expected at least 1, found 0",
        2,
    ),
    Wrong(Rule("hides_a_write", hides_a_write, lambda x: x), "expected [", 3),
    Wrong(Rule("returns_its_memory", returns_its_memory, lambda x: x), "share memory", 3),
    Wrong(Rule("returns_itself", returns_itself, lambda x: x), "returned its operand itself", 2),
    Wrong(
        Rule("copies", copies, lambda x: x.T, result="view", accepts=lambda x: x.ndim == 2),
        "._is_view(): expected True, found False",
        4,
    ),
    Wrong(
        Rule(
            "forgets_its_base",
            forgets_its_base,
            lambda x: x[..., ::2],
            result="view",
            accepts=lambda x: x.ndim > 0,
        ),
        "._base is not t",
        3,
    ),
    Wrong(
        Rule("writes_unrecorded_", writes_unrecorded_, lambda x: x * 3, result="written"),
        "expected",
        4,
    ),
    Wrong(
        Rule("writes_a_copy_", writes_a_copy_, lambda x: x * 2, result="written"),
        "._version: expected at least 1, found 0",
        2,
    ),
    Wrong(Rule("returns_an_array", returns_an_array, lambda x: x * 2), "returned no tensor", 2),
    Wrong(Rule("raises_for_views", raises_for_views, lambda x: x), "raised KeyError", 3),
]


class WrongJvp(Sine):
    @staticmethod
    def jvp(ctx: FunctionCtx, t: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return t * x.sin()


class WritesACopyOfItsTangent(DoubleAdd):
    @staticmethod
    def jvp(ctx: FunctionCtx, t: vt.Tensor, u: vt.Tensor) -> vt.Tensor:
        return t * 2 + u


#: Wrong in programs with tangents alone.
WRONG_TANGENTS = [
    Wrong(
        Rule("wrong_jvp", WrongJvp.apply, np.sin, is_function=True, has_jvp=True),
        "tangent of",
        4,
    ),
    Wrong(
        Rule(
            "writes_a_copy_of_its_tangent_",
            WritesACopyOfItsTangent.apply,
            lambda x, y: x * 2 + y,
            operands=2,
            result="written",
            is_function=True,
            has_jvp=True,
            accepts=lambda x, y: x.shape == y.shape,
        ),
        "got function",
        5,
    ),
    Wrong(Rule("has_no_jvp", Cube.apply, lambda x: x**3), "got missing-method", 4),
]
