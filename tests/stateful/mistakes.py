"""Mistakes in operators such as users make them: what `check` says, and whether gradcheck sees it.

Each is right for a fresh matrix of whole numbers, or nearly so.
"""

from dataclasses import dataclass

import numpy as np

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx
from vtgrad.testing.checking import Rule

__all__ = ["MISTAKES", "Mistake"]


@dataclass(frozen=True)
class Mistake:
    """A wrong operator.

    Attributes
    ----------
    what : str
        The mistake in words, for the table in ``docs/testing.md``.
    shows : str
        What the failure says.
    found_by : str
        ``"gradcheck"``, ``"gradgradcheck"`` or neither: which fails first, on random matrices.
    torch_differs : str
        The same of PyTorch's checks, where it is something else.
    """

    what: str
    rule: Rule
    shows: str
    found_by: str
    torch_differs: str = ""

    @property
    def found_by_torch(self) -> str:
        """What of PyTorch's checks finds the mistake in an operator of PyTorch's."""
        return self.torch_differs or self.found_by


class Square(vt.autograd.Function):
    """Right; the wrong ones change a part of it."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    @staticmethod
    def jvp(ctx: FunctionCtx, t: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * t * x

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * g * x


class Product(vt.autograd.Function):
    """Right, for operands of one shape."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> tuple[vt.Tensor | None, vt.Tensor | None]:
        x, y = ctx.saved_tensors
        return g * y, g * x


class ForgetsMarkDirty(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return x.mul_(2)

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        return g * 2


class Keeping(FunctionCtx):
    x: vt.Tensor
    passes: int


class KeepsItsOperand(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Keeping, x: vt.Tensor) -> vt.Tensor:
        ctx.x = x.detach()
        return x * x

    @staticmethod
    def backward(ctx: Keeping, g: vt.Tensor) -> vt.Tensor:
        return 2 * g * ctx.x


class RememberingPasses(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Keeping, x: vt.Tensor) -> vt.Tensor:
        ctx.passes = 1
        return x * 2

    @staticmethod
    def backward(ctx: Keeping, g: vt.Tensor) -> vt.Tensor:
        ctx.passes += 1
        return g * ctx.passes


class UndeclaredView(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return x.t()

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        return g.t()


class BackwardsRows(Square):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        wrong = any(stride < 0 for stride in x.stride())
        return 2 * g * (x.flip(0) if wrong else x)


class LosesSizeOne(Square):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * g * x if 1 not in x.shape else g * x


class ConstantSlope(Square):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * g * x.detach()


class LeavesOutZeros(Square):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * vt.where(g != 0, g, 0) * x


class LeavesOutTinyNumbers(Square):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * vt.where(g.abs() > 1e-12, g, 0) * x


class WritesItsGradient(Square):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        if 0 not in g.stride():
            with vt.no_grad():
                g.mul_(2)
            return g * x
        return 2 * g * x


def stale_view(x: vt.Tensor) -> vt.Tensor:
    y = x * 1
    first = y.detach()[..., :1]
    y.mul_(first)
    return y


class LosesNumbers(Square):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * g * x if x.dim() else 2 * g


def fails_for_nothing(x: vt.Tensor) -> vt.Tensor:
    return x / x.detach().abs().max() * x.detach().abs().max()


class AssumesContiguous(Square):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * g * x if x.is_contiguous() else 3 * g * x


class AssumesContiguousGradient(Square):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        if g.is_contiguous() or 0 in g.stride() or g.dim() < 2:
            return 2 * g * x
        return 2 * g.transpose(0, -1).reshape(x.shape) * x


class CountsExpandedTwice(Square):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * g * x if 0 not in g.stride() else 4 * g * x


def whole_only(x: vt.Tensor) -> vt.Tensor:
    return x * x.detach().floor()


class WrongJvp(Square):
    @staticmethod
    def jvp(ctx: FunctionCtx, t: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return t * x


def widens(x: vt.Tensor) -> vt.Tensor:
    return (x.to(vt.float64) * 2) if x.dtype == vt.float32 else x * 2


def shares_memory(x: vt.Tensor) -> vt.Tensor:
    return vt.from_numpy(x.detach().numpy())


def bypasses_the_counter_(x: vt.Tensor) -> vt.Tensor:
    x.detach().numpy()[...] *= 2
    return x


def unrecorded_(x: vt.Tensor) -> vt.Tensor:
    with vt.no_grad():
        return x.mul_(3)


def writes_a_copy_(x: vt.Tensor) -> vt.Tensor:
    return x.clone().mul_(2)


class AsksForTheWrongOperand(Product):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> tuple[vt.Tensor | None, vt.Tensor | None]:
        x, y = ctx.saved_tensors
        needed = ctx.needs_input_grad
        return (g * y if needed[0] else None), (g * x if needed[0] else None)


def breaks_the_graph(x: vt.Tensor) -> vt.Tensor:
    return x.detach() * x


class MeanOfRows(vt.autograd.Function):
    """Adds a row to all rows of a matrix."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        return x + y

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        return g, g.mean(0)


def raises_for_views(x: vt.Tensor) -> vt.Tensor:
    if x._is_view():
        raise KeyError("views are not in the table")
    return x * 2


def leaves_recording_off(x: vt.Tensor) -> vt.Tensor:
    y = x * 2
    vt.set_grad_enabled(False)
    return y


class LeavesAnotherDtype(Square):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        found = 2 * g * x
        vt.set_default_dtype(vt.float64)
        return found


def draws_in_secret(x: vt.Tensor) -> vt.Tensor:
    vt.rand(1)
    return x * 2


def returns_it_detached_(x: vt.Tensor) -> vt.Tensor:
    return x.mul_(2).detach()


def twice(x: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> object:
    return x * 2


def _function(name: str, function: type[Square]) -> Rule:
    return Rule(name, function.apply, np.square, is_function=True, has_jvp=True)


MISTAKES = [
    Mistake(
        "backward leaves out gradients that are zero, and their second derivatives",
        _function("leaves_out_zeros", LeavesOutZeros),
        "h[0]: expected",
        "gradcheck",
        "neither",
    ),
    Mistake(
        "backward leaves out gradients that are tiny",
        _function("leaves_out_tiny_numbers", LeavesOutTinyNumbers),
        "h[0]: expected",
        "gradcheck",
        "neither",
    ),
    Mistake(
        "an in-place `Function` forgets `mark_dirty`",
        Rule(
            "forgets_mark_dirty", ForgetsMarkDirty.apply, twice, result="written", is_function=True
        ),
        "got undeclared-write",
        "gradcheck",
        "neither",
    ),
    Mistake(
        "a tensor is kept on `ctx`, and not with `save_for_backward`",
        Rule(
            "keeps_its_operand",
            KeepsItsOperand.apply,
            np.square,
            is_function=True,
            once_differentiable=True,
        ),
        "g[0]: expected",
        "gradgradcheck",
    ),
    Mistake(
        "backward counts its calls on `ctx`",
        Rule("remembers_passes", RememberingPasses.apply, twice, is_function=True),
        "g[0]: expected",
        "gradcheck",
    ),
    Mistake(
        "the result is a view and should be a copy",
        Rule(
            "undeclared_view",
            UndeclaredView.apply,
            np.transpose,
            is_function=True,
            accepts=lambda x: x.ndim == 2,
        ),
        "_is_view()",
        "neither",
    ),
    Mistake(
        "the gradient is wrong for negative strides",
        _function("backwards_rows", BackwardsRows),
        "g[0]: expected",
        "neither",
    ),
    Mistake(
        "the gradient is wrong for dimensions of size 1",
        _function("loses_size_one", LosesSizeOne),
        "g[0]: expected",
        "neither",
    ),
    Mistake(
        "the second derivative is wrong",
        _function("constant_slope", ConstantSlope),
        "h[1]: expected",
        "gradgradcheck",
    ),
    Mistake(
        "backward writes to its `g`",
        _function("writes_its_gradient", WritesItsGradient),
        "h[0]: expected",
        "gradgradcheck",
    ),
    Mistake(
        "a composite uses a detached view of what it writes",
        Rule("stale_view", stale_view, lambda x: x * x[..., :1], accepts=lambda x: x.ndim > 0),
        "expected",
        "gradcheck",
    ),
    Mistake(
        "the gradient is wrong without dimensions",
        _function("loses_numbers", LosesNumbers),
        "g[0]: expected",
        "neither",
    ),
    Mistake(
        "it raises for an empty operand",
        Rule("fails_for_nothing", fails_for_nothing, lambda x: x * 1),
        "expected no error",
        "neither",
    ),
    Mistake(
        "the gradient is wrong for an operand that is not contiguous",
        _function("assumes_contiguous", AssumesContiguous),
        "g[0]: expected",
        "neither",
    ),
    Mistake(
        "the gradient is wrong for a transposed `g`",
        _function("assumes_contiguous_gradient", AssumesContiguousGradient),
        "g[0]: expected",
        "neither",
    ),
    Mistake(
        "the gradient is wrong for an expanded `g`",
        _function("counts_expanded_twice", CountsExpandedTwice),
        "g[0]: expected",
        "neither",
    ),
    Mistake(
        "values are wrong between whole numbers",
        Rule("whole_only", whole_only, np.square),
        "expected",
        "neither",
    ),
    Mistake("the `jvp` is wrong", _function("wrong_jvp", WrongJvp), "tangent of", "gradcheck"),
    Mistake(
        "the result of float32 operands is float64",
        Rule("widens", widens, twice, dtypes=("float64", "float32")),
        "dtypes of r",
        "neither",
    ),
    Mistake(
        "the result shares memory with an operand",
        Rule("shares_memory", shares_memory, lambda x: x),
        "share memory",
        "gradcheck",
    ),
    Mistake(
        "a write bypasses the version counter",
        Rule("bypasses_the_counter_", bypasses_the_counter_, twice, result="written"),
        "_version: expected at least 1, found 0",
        "gradcheck",
    ),
    Mistake(
        "an in-place write is not recorded",
        Rule("unrecorded_", unrecorded_, lambda x: x * 3, result="written"),
        "expected",
        "gradcheck",
    ),
    Mistake(
        "an in-place operator writes to a copy",
        Rule("writes_a_copy_", writes_a_copy_, twice, result="written"),
        "_version: expected at least 1, found 0",
        "neither",
    ),
    Mistake(
        "`needs_input_grad` is asked for the wrong operand",
        Rule(
            "asks_for_the_wrong_operand",
            AsksForTheWrongOperand.apply,
            np.multiply,
            operands=2,
            is_function=True,
            accepts=lambda x, y: x.shape == y.shape,
        ),
        "g[0]: expected",
        "neither",
    ),
    Mistake(
        "a composite detaches what it should not",
        Rule("breaks_the_graph", breaks_the_graph, np.square),
        "g[0]: expected",
        "gradcheck",
    ),
    Mistake(
        "the gradient of a broadcast operand is the mean, not the sum",
        Rule(
            "mean_of_rows",
            MeanOfRows.apply,
            np.add,
            operands=2,
            is_function=True,
            accepts=lambda x, y: x.ndim == 2 and y.shape == x.shape[1:],
        ),
        "g[0]: expected",
        "gradcheck",
    ),
    Mistake(
        "it leaves recording switched off",
        Rule("leaves_recording_off", leaves_recording_off, twice),
        "vt.is_grad_enabled(): expected True, found False",
        "gradgradcheck",
    ),
    Mistake(
        "backward leaves another default dtype",
        _function("leaves_another_dtype", LeavesAnotherDtype),
        "vt.get_default_dtype(): expected",
        "neither",
    ),
    Mistake(
        "it draws random numbers and does not say so",
        Rule("draws_in_secret", draws_in_secret, twice),
        "the state of the default generator was moved",
        "neither",
    ),
    Mistake(
        "an in-place operator returns its operand detached",
        Rule("returns_it_detached_", returns_it_detached_, twice, result="written"),
        "w.requires_grad: expected True, found False",
        "gradcheck",
    ),
    Mistake(
        "it raises for views",
        Rule("raises_for_views", raises_for_views, twice),
        "raised KeyError",
        "neither",
    ),
]
