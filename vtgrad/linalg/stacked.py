"""Functions of stacks of matrices that call LAPACK themselves.

Note [A stack is a batch]
Forward of a `Stacked` gets ordinary tensors, computes with their values, and takes a stack of
matrices for each operand: all operands have the same dimensions in front. Samples of `vmap` are one
more of these dimensions. So one rule serves all: samples are brought to the front, and operands
without samples are expanded.

Backward and jvp are written with operators and with other functions of this package, so they can be
differentiated again. Results are saved as results, so that their derivatives are found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import numpy as np

from vtgrad.errors import VtgradError
from vtgrad.function.batched_apply import VmapInfo
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["Context", "Stacked", "are_finite", "each", "refusing"]


class Context(FunctionCtx):
    """What setup_context stores beside tensors; each attribute is that of one Function."""

    called: str
    diagonals: tuple[int, int]
    flags: tuple[bool, bool]
    hermitian: bool
    limit: float
    values_only: bool


class Stacked(Function):
    """A Function of stacks of matrices; see Note [A stack is a batch]."""

    @classmethod
    def vmap(
        cls, info: VmapInfo, in_dims: tuple[int | None, ...], *args: object
    ) -> tuple[object, object]:
        """Call the Function for all samples."""
        moved = [
            _in_front(x, dim, info.batch_size) if isinstance(x, TensorBase) else x
            for x, dim in zip(args, in_dims, strict=True)
        ]
        call: Callable[..., object] = getattr(cls, "apply")  # noqa: B009  (its type is that of one Function)
        found = call(*moved)
        return found, (0,) * len(found) if isinstance(found, tuple) else 0


def refusing(error: type[VtgradError], message: str) -> Callable[..., NoReturn]:
    """The backward and jvp of a Function that has no derivative: they raise an error."""

    def refuse(ctx: Context, *grads: object) -> NoReturn:
        raise error(message)

    return refuse


def _in_front(x: TensorBase, dim: int | None, count: int) -> TensorBase:
    if dim is None:
        return F.expand(F.unsqueeze(x, 0), (count, *x._impl.array.shape))
    return F.movedim(x, dim, 0)


def are_finite(*operands: Array) -> bool:
    """Whether no operand holds nan or inf, of which some of SciPy's functions never end."""
    return all(np.isfinite(x).all() for x in operands)


def each(
    function: Callable[..., tuple[Array, ...]],
    stack: Shape,
    results: tuple[tuple[Shape, np.dtype[np.generic]], ...],
    *operands: Array,
) -> tuple[Array, ...]:
    """What a function of single matrices gives for each of a stack.

    Parameters
    ----------
    function : callable
        Takes a matrix of each operand, and returns a tuple of arrays.
    stack : tuple of int
        The dimensions in front, of all operands.
    results : tuple of (shape, dtype)
        The shape of each result for one matrix, and its dtype.
    *operands : numpy.ndarray
        The stacks.
    """
    made = tuple([making.empty((*stack, *shape), dtype) for shape, dtype in results])
    for at in np.ndindex(*stack):
        for target, found in zip(made, function(*[x[at] for x in operands]), strict=True):
            target[at] = found
    return made
