"""What rules say beside values and gradients: an operator for each, right and wrong."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx
from vtgrad.testing.checking import Rule

__all__ = ["SAID", "UNSAID"]

Floats = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]


class SineAndCosine(vt.autograd.Function):
    """Two results of one node."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x.sin(), x.cos()

    @staticmethod
    def jvp(ctx: FunctionCtx, t: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        (x,) = ctx.saved_tensors
        return t * x.cos(), -t * x.sin()

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor, h: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return g * x.cos() - h * x.sin()


class ForgetsTheCosine(SineAndCosine):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor, h: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return g * x.cos()


def sum_and_product(x: vt.Tensor, y: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    return x + y, x * y


def detached_product(x: vt.Tensor, y: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    return x + y, x.detach() * y


def largest(x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    found = x.max(0)
    return found[0], found[1]


def largest_reversed(x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    values, where = x.max(0)
    return values, x.shape[0] - 1 - where


def halves(x: vt.Tensor) -> tuple[vt.Tensor, ...]:
    return x.chunk(2)


def copied_halves(x: vt.Tensor) -> tuple[vt.Tensor, ...]:
    first, *rest = x.chunk(2)
    return first, *(part.clone() for part in rest)


def _halves(x: Floats) -> tuple[Floats, ...]:
    size = -(-x.shape[0] // 2)
    return tuple(x[start : start + size] for start in range(0, max(x.shape[0], 1), max(size, 1)))


def ends(x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    return x[:1], x[-1:]


def wide_as(x: vt.Tensor, like: vt.Tensor) -> vt.Tensor:
    return x.expand_as(like)


def deep_as(x: vt.Tensor, like: vt.Tensor) -> vt.Tensor:
    return x.detach().expand_as(like)


def spread(x: vt.Tensor, y: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    shape = np.broadcast_shapes(x.shape, y.shape)
    return x.expand(shape), y.expand(shape)


def spread_and_copied(x: vt.Tensor, y: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    shape = np.broadcast_shapes(x.shape, y.shape)
    return x.expand(shape), y.expand(shape) if y.shape == shape else y.expand(shape).clone()


def last_of_both(x: vt.Tensor, y: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    return y[-1:], x[-1:]


def last_and_first(x: vt.Tensor, y: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    return y[-1:], x[:1]


def tails(x: vt.Tensor, y: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    return x[:1], y[1:]


def copied_empty_tails(x: vt.Tensor, y: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    return x[:1], y[1:] if len(y) > 1 else y[1:].clone()


def confine(x: vt.Tensor, *, lo: float, hi: float) -> vt.Tensor:
    return x.clamp(lo, hi)


def confine_below(x: vt.Tensor, *, lo: float, hi: float) -> vt.Tensor:
    return x.clamp(max=hi) if lo < 0 else x.clamp(lo, hi)


def cubed(x: vt.Tensor) -> vt.Tensor:
    return x * x * x


def narrowly_cubed(x: vt.Tensor) -> vt.Tensor:
    return x * x * (x.half().to(x.dtype) if x.dtype == vt.float32 else x)


def turned(z: vt.Tensor, by: vt.Tensor) -> vt.Tensor:
    return z * by.conj()


class TurnedWrongly(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, z: vt.Tensor, by: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(z, by)
        return z * by.conj()

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        z, by = ctx.saved_tensors
        return g * by.conj(), g.conj() * z  # the gradient of the first is g * by


def squared_length(z: vt.Tensor) -> vt.Tensor:
    return (z * z.conj()).real.sum()


def phase(x: vt.Tensor) -> vt.Tensor:
    return vt.polar(vt.ones_like(x), x)


def rows(x: vt.Tensor, index: vt.Tensor) -> vt.Tensor:
    return x[index]


class RowsOnce(vt.autograd.Function):
    """Forgets that a row may be taken twice."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor, index: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x, index)
        return x[index]

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> tuple[vt.Tensor, None]:
        x, index = ctx.saved_tensors
        gradient = vt.zeros_like(x)
        gradient[index] = g
        return gradient, None


def hide_(x: vt.Tensor, mask: vt.Tensor) -> vt.Tensor:
    return x.masked_fill_(mask, 0)


def is_index(x: Floats, index: npt.NDArray[np.int64]) -> bool:
    return (
        x.ndim > 0 and index.ndim > 0 and index.size > 0 and bool((abs(index) < x.shape[0]).all())
    )


def product(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    return x @ y


def product_of_rows(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    return x @ y if y.is_contiguous() or len(set(y.shape)) > 1 else x @ y.t()


def first(x: vt.Tensor) -> vt.Tensor:
    if not x.dim():
        raise IndexError("nothing to take the first of")
    return x[0] * 2


def first_or_all(x: vt.Tensor) -> vt.Tensor:
    return x[0] * 2 if x.dim() else x * 2


def scatter(x: vt.Tensor) -> vt.Tensor:
    return x * (vt.rand(x.shape, dtype=vt.float64) > 0.5)


class DrawsAgain(vt.autograd.Function):
    """Draws another mask in backward."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return scatter(x)

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        return scatter(g)


def scattered(x: Floats, seed: int) -> Floats:
    vt.manual_seed(seed)
    return x * (vt.rand(x.shape, dtype=vt.float64).numpy() > 0.5)


class Once(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    @vt.autograd.function.once_differentiable
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return g * x.exp()


def _largest(x: Floats) -> tuple[Floats, npt.NDArray[np.int64]]:
    return x.max(0), x.argmax(0)


def _is_distinct(x: Floats) -> bool:
    return x.ndim > 0 and x.size > 0 and len(np.unique(x)) == x.size


def _has_rows(x: Floats) -> bool:
    return x.ndim > 0 and x.shape[0] > 0


SAID = {
    "several results of a Function": Rule(
        "sine_and_cosine",
        SineAndCosine.apply,
        lambda x: (np.sin(x), np.cos(x)),
        is_function=True,
        has_jvp=True,
    ),
    "several results, with a gradient that is stated": Rule(
        "sum_and_product",
        sum_and_product,
        lambda x, y: (x + y, x * y),
        lambda g, x, y: (g[0] + g[1] * y, g[0] + g[1] * x),
        operands=2,
        accepts=lambda x, y: x.shape == y.shape,
    ),
    "a result of integers beside one with gradients": Rule(
        "largest", largest, _largest, accepts=_is_distinct
    ),
    "several views that one call makes": Rule(
        "halves", halves, _halves, result="pieces", accepts=_has_rows
    ),
    "several views that may be written": Rule(
        "ends", ends, lambda x: (x[:1], x[-1:]), result="view", accepts=_has_rows
    ),
    "a view of each of two operands": Rule(
        "spread",
        spread,
        np.broadcast_arrays,
        operands=2,
        result="view",
        views_of=(0, 1),
    ),
    "views of two operands in another order": Rule(
        "last_of_both",
        last_of_both,
        lambda x, y: (y[-1:], x[-1:]),
        operands=2,
        result="view",
        views_of=(0, 1),
        accepts=lambda x, y: x.ndim > 0 and y.ndim > 0 and len(x) > 0 and len(y) > 0,
    ),
    "views of two operands, of which one may be empty": Rule(
        "tails",
        tails,
        lambda x, y: (x[:1], y[1:]),
        operands=2,
        result="view",
        views_of=(0, 1),
        accepts=lambda x, y: x.ndim > 0 and y.ndim > 0 and len(x) > 0 and len(y) > 0,
    ),
    "a view of the second operand, as the first one says": Rule(
        "wide_like",
        lambda like, x: x.expand_as(like),
        lambda like, x: np.broadcast_to(x, like.shape),
        operands=2,
        result="view",
        views_of=(1,),
    ),
    "a view of one operand, as another one says": Rule(
        "wide_as",
        wide_as,
        lambda x, like: np.broadcast_to(x, like.shape),
        operands=2,
        result="view",
        accepts=lambda x, like: (
            x.ndim <= like.ndim and np.broadcast_shapes(x.shape, like.shape) == like.shape
        ),
    ),
    "options": Rule(
        "confine",
        confine,
        lambda x, lo, hi: np.clip(x, lo, hi),
        lambda g, x, lo, hi: (g * ((lo <= x) & (x <= hi)),),
        options={"lo": st.floats(-2, -0.5), "hi": [0.5, 1.0]},
    ),
    "float32": Rule("cubed", cubed, lambda x: x**3, dtypes=("float64", "float32")),
    "complex operands": Rule(
        "turned",
        turned,
        lambda z, by: z * by.conj(),
        operands=2,
        dtypes=("complex128",),
        accepts=lambda z, by: z.shape == by.shape,
    ),
    "complex operands, with a gradient that is stated": Rule(
        "squared_length",
        squared_length,
        lambda z: (z * z.conj()).real.sum(),
        lambda g, z: (2 * g * z,),
        dtypes=("complex128",),
    ),
    "a complex result of real operands": Rule("phase", phase, lambda x: np.exp(1j * x)),
    "operands of integers": Rule(
        "rows",
        rows,
        lambda x, index: x[index],
        operands=2,
        dtypes=[("float64", "int64")],
        accepts=is_index,
    ),
    "operands of bools": Rule(
        "hide_",
        hide_,
        lambda x, mask: np.where(mask, 0, x),
        operands=2,
        result="written",
        dtypes=[("float64", "bool")],
        accepts=lambda x, mask: np.broadcast_shapes(x.shape, mask.shape) == x.shape,
    ),
    "operands of given shapes": Rule(
        "product",
        product,
        np.matmul,
        lambda g, x, y: (g @ y.T, x.T @ g),
        operands=2,
        shapes=st.sampled_from([((2, 3), (3, 2)), ((4, 4), (4, 4))]),
    ),
    "errors": Rule(
        "first",
        first,
        lambda x: x[0] * 2,
        raises=[(IndexError, lambda x: x.ndim == 0)],
        accepts=lambda x: x.ndim == 0 or x.shape[0] > 0,
    ),
    "random draws": Rule("scatter", scatter, scattered, is_random=True),
    "a gradient that cannot be differentiated": Rule(
        "once", Once.apply, np.exp, is_function=True, once_differentiable=True
    ),
}

#: The same rules for operators that are wrong.
UNSAID: dict[str, Callable[..., object]] = {
    "several results of a Function": ForgetsTheCosine.apply,
    "several results, with a gradient that is stated": detached_product,
    "a result of integers beside one with gradients": largest_reversed,
    "several views that one call makes": copied_halves,
    "several views that may be written": lambda x: (x[:1], x[-1:].clone()),
    "a view of each of two operands": spread_and_copied,
    "views of two operands in another order": last_and_first,
    "views of two operands, of which one may be empty": copied_empty_tails,
    "a view of the second operand, as the first one says": lambda like, x: deep_as(x, like),
    "a view of one operand, as another one says": deep_as,
    "options": confine_below,
    "float32": narrowly_cubed,
    "complex operands": TurnedWrongly.apply,
    "complex operands, with a gradient that is stated": lambda z: (
        z * z.conj().detach()
    ).real.sum(),
    "a complex result of real operands": lambda x: vt.polar(vt.ones_like(x), x.detach()) + 0 * x,
    "operands of integers": RowsOnce.apply,
    "operands of bools": lambda x, mask: x.mul_(~mask) if mask.dim() else x,
    "operands of given shapes": product_of_rows,
    "errors": first_or_all,
    "random draws": DrawsAgain.apply,
}
