"""The node of operators that PyTorch declares without a derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, TypeVar, final

from vtgrad.errors import NoDerivativeError
from vtgrad.graph.batch import value_of
from vtgrad.graph.edge import Edge
from vtgrad.graph.node import Node
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import gradient_edge, requires_grad
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.differentiable_view_meta import view_meta_of
from vtgrad.views.rebase_history import rebase_history

__all__ = ["NotImplemented", "without_derivative"]


T = TypeVar("T", bound=TensorBase)


@final
class NotImplemented(Node):
    """Stands for an operator that cannot be differentiated; running it raises.

    The name is the one that PyTorch shows for such a ``grad_fn``. The result requires grad, so
    that the mistake is found in backward instead of a gradient being silently absent.
    """

    __slots__ = ()

    @staticmethod
    def record(*arguments: object, inplace: bool = False) -> NotImplemented:
        """The node of one call, with an edge for every operand that requires grad.

        In place on a view the first edge is the written tensor's in any case: the view machinery
        asks for it.
        """
        edges: list[Edge | None] = []
        for position, argument in enumerate(arguments):
            if not isinstance(argument, TensorBase):
                continue
            is_target = inplace and position == 0 and view_meta_of(argument) is not None
            if requires_grad(argument) or is_target:
                edges.append(gradient_edge(argument))
        return NotImplemented(tuple(edges))

    def name(self) -> str:
        """PyTorch's name of the same node."""
        return "torch::autograd::NotImplemented"

    def check_saved(self) -> NoReturn:
        """Raise `NoDerivativeError`: it is known before anything has run."""
        self._refuse()

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> NoReturn:
        """Raise `NoDerivativeError`."""
        self._refuse()

    def apply_tensors(self, grads: Sequence[TensorBase | None], needs: int) -> NoReturn:
        """Raise `NoDerivativeError`."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NoDerivativeError(
            "backward reached an operator without a derivative: floor_divide or a number % tensor"
            " (div with rounding_mode='floor' has gradient zero), scatter with reduce="
            " (scatter_reduce has one), heaviside, set_, or the edges that histogram finds. Use"
            " another, or detach the operands",
            node=self.name(),
        )


def without_derivative(result: T, *operands: object) -> T:
    """The result of an operator whose backward raises, if an operand requires grad."""
    values = [value_of(x) if isinstance(x, TensorBase) else x for x in operands]
    if is_recording() and requires_grad(*values):
        rebase_history(value_of(result), NotImplemented.record(*values))
    return result
