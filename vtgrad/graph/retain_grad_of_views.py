# Compiled by mypyc.
"""The gradient of a view of a view that retains its gradient.

Note [Retained gradients and views of views]

    v = b[0:2]; v.retain_grad(); w = v[1]; b[5] = 0; w.backward()

The write makes `w` stale, and its producer is rebuilt as a part of `b`, so its gradient bypasses
`v`, although `w` still is a part of `v`. So the new producer of `w` keeps a `RetainedPart`: its
gradient is also added to the retained gradient of `v`, at the elements of `w`.

A `RetainedPart` holds the hooks of the producer that `v` had when `w` was made. After a write to
`v` itself these hooks do not retain its gradient any more, and the part is dropped: as in PyTorch,
the gradient of the new value is retained, on which `w`, then a part of `b`, does not depend.
"""

from __future__ import annotations

from typing import Final

from vtgrad.graph.hooks import GradCell, NodeHooks
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.node import Node
from vtgrad.graph.operators import operators
from vtgrad.graph.region import Region
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RetainedPart", "retained"]


class _Retained:
    """Whether a view has ever retained its gradient, which few programs need.

    Attributes
    ----------
    views : bool
        Whether any view has.
    """

    __slots__ = ("views",)

    views: bool

    def __init__(self) -> None:
        self.views = False


retained: Final[_Retained] = _Retained()


class RetainedPart:
    """A view's gradient as a part of the one that another view retains.

    Attributes
    ----------
    hooks : NodeHooks
        The hooks of the producer of the view that retains.
    node : Node
        The node that makes the one view as a part of the other.
    meta : InputMetadata
        Shape and dtype of the view that retains.
    """

    __slots__ = ("hooks", "meta", "node")

    hooks: NodeHooks
    node: Node
    meta: InputMetadata

    def __init__(self, hooks: NodeHooks, node: Node, meta: InputMetadata) -> None:
        self.hooks = hooks
        self.node = node
        self.meta = meta

    def of_array(self, grad: Array) -> tuple[GradCell, TensorBase] | None:
        """The cell to add to, and the tensor to add; `grad` is not written."""
        cell = self.hooks.retain_grad.get(0)
        if cell is None:
            return None
        (answer,) = self.node.apply_arrays((grad,), 1)
        assert answer is not None
        if isinstance(answer, Region):
            whole = answer.whole(self.meta.shape, self.meta.dtype)
        else:
            whole = making.array(answer)
        return cell, operators().wrap(impl_on(whole, self.meta.device))

    def of_tensor(self, grad: TensorBase) -> tuple[GradCell, TensorBase] | None:
        """As `of_array`, recorded."""
        cell = self.hooks.retain_grad.get(0)
        if cell is None:
            return None
        (whole,) = self.node.apply_tensors((grad,), 1)
        assert whole is not None
        return cell, operators().clone(whole)
