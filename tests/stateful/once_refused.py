"""Right operators that were once taken for wrong."""

import numpy as np
import numpy.typing as npt

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx
from vtgrad.testing.checking import Rule

__all__ = ["ONCE_REFUSED"]

Floats = npt.NDArray[np.float64]


class LeavesOneOut(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor, like: vt.Tensor) -> vt.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> tuple[vt.Tensor, None]:
        return g * 2, None


class Halved(vt.autograd.Function):
    """Several views of one node, which may not be written."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        half = x.shape[0] // 2
        return x[:half], x[half:]

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor, h: vt.Tensor) -> vt.Tensor:
        return vt.cat([g, h])


class TwiceTurned(vt.autograd.Function):
    """The result is a view of memory that forward has made."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return (x * 2).t()

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        return g.t() * 2


def scale_by_sum_(x: vt.Tensor) -> vt.Tensor:
    return x.mul_(x.sum())


def double_in_a_loop_(x: vt.Tensor) -> vt.Tensor:
    for row in x:
        row.mul_(2)
    return x


def with_neighbours(x: vt.Tensor) -> vt.Tensor:
    y = x.clone()
    y[..., 1:] += x[..., :-1]
    y[..., 0].mul_(2)
    return y


def _with_neighbours(x: Floats) -> Floats:
    y = x.copy()
    y[..., 1:] += x[..., :-1]
    y[..., 0] *= 2
    return y


ONCE_REFUSED = [
    Rule(
        "leaves_one_out",
        LeavesOneOut.apply,
        lambda x, like: x * 2,
        operands=2,
        is_function=True,
        accepts=lambda x, like: x.shape == like.shape,
    ),
    Rule("scale_by_sum_", scale_by_sum_, lambda x: x * x.sum(), result="written"),
    Rule(
        "double_in_a_loop_",
        double_in_a_loop_,
        lambda x: x * 2,
        result="written",
        accepts=lambda x: x.ndim > 0,
    ),
    # It writes to its result, whose version is not zero then.
    Rule(
        "with_neighbours",
        with_neighbours,
        _with_neighbours,
        accepts=lambda x: x.ndim > 0 and x.shape[-1] > 0,
    ),
    # Its results are views, of what it has made.
    Rule(
        "product",
        lambda x, y: vt.einsum("ij,jk->ik", x, y),
        np.matmul,
        operands=2,
        shapes=[((2, 2), (2, 2)), ((1, 3), (3, 2)), ((2, 0), (0, 3))],
    ),
    Rule(
        "squared",
        lambda z: (z * z.conj()).real,
        lambda z: (z * z.conj()).real,
        dtypes=["complex128"],
    ),
    Rule(
        "both",
        lambda x: ((x * 2).t(), (x * 3).t()),
        lambda x: (2 * x.T, 3 * x.T),
        accepts=lambda x: x.ndim == 2,
    ),
    Rule(
        "twice_turned",
        TwiceTurned.apply,
        lambda x: 2 * x.T,
        is_function=True,
        accepts=lambda x: x.ndim == 2,
    ),
    Rule(
        "halved",
        Halved.apply,
        lambda x: (x[: len(x) // 2], x[len(x) // 2 :]),
        is_function=True,
        result="view",
        accepts=lambda x: x.ndim > 0,
    ),
    # It has no derivative at zero, where slopes on both sides are the same large number.
    Rule("signed", lambda x, y: x * y.sign(), lambda x, y: x * np.sign(y), operands=2),
    # How many elements it returns depends on their values.
    Rule("positive", lambda x: x[x > 0], lambda x: x[x > 0]),
    # Hooks on its operands run in another order than that of their names.
    Rule(
        "choice",
        lambda mask, x, y: vt.where(mask, x, y),
        np.where,
        operands=3,
        dtypes=[("bool", "float64", "float64")],
        shapes=[((2, 3), (2, 3), (3,)), ((3,), (3,), ())],
    ),
]
