# Compiled by mypyc.
"""What the nodes of all operators in the derivative tables have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from vtgrad.graph.next_edges import SAME_INPUTS
from vtgrad.graph.node import Node
from vtgrad.graph.node_fields import saved_fields_of
from vtgrad.graph.region import Gradient
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.storage.arrays import Array
from vtgrad.storage.native import mypyc_attr
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["OperatorNode"]


@mypyc_attr(allow_interpreted_subclasses=True)
class OperatorNode(Node):
    """The node of an operator whose derivatives are formulas.

    Its subclasses have `apply_array` and `apply_tensor` if the formulas use the gradient of the
    first result only. Then without that gradient there is none for any input, which is decided
    here. If the formulas use the gradients of several results, the subclasses have `apply_arrays`
    and `apply_tensors` instead.
    """

    __slots__ = ()

    is_traceable: ClassVar[bool] = True
    edge_rule: ClassVar[int] = SAME_INPUTS

    def saved_values(self) -> Sequence[tuple[str, SavedVariable]]:
        """The saved values, named like the fields that hold them."""
        found: list[tuple[str, SavedVariable]] = []
        for name in saved_fields_of(type(self)):
            value = getattr(self, name)
            for one in value if isinstance(value, list) else (value,):
                if isinstance(one, SavedVariable):
                    found.append((name, one))
        return found

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Gradient | None]:
        """Gradients of the inputs from gradients of the results, as plain arrays."""
        grad = grads[0]
        if grad is None:
            return (None,) * len(self.next_edges)
        return self.apply_array(grad, needs)

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        """The same as `apply_arrays`, recorded."""
        grad = grads[0]
        if grad is None:
            return (None,) * len(self.next_edges)
        return self.apply_tensor(grad, needs)
