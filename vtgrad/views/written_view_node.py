"""The producer of a view that was written by an operator which saves its result.

Note [A saved result of a written view]

After `v = b[:2]; v.tanh_()` the node of tanh has saved its result, which is the value of `v`. In a
recorded backward that result is differentiated again, so its producer is needed twice: for `v`, and
by the node that unpacks. Both must use one node; otherwise `grad(..., v)`, a hook on `v` and its
retained gradient get only a part of the gradient:

    grad(b.sum(), a, create_graph=True)

        tanh's derivative, recorded      results computed from `v`
                  |                              |
                  +--------------+---------------+
                                 |
                         AsStridedBackward0           the part of `b` that `v` is
                                 |
                            CopySlices                holds tanh's node, and leads to `a`

The node leads to the `CopySlices`, which therefore refers to it only weakly, and builds another
when it is dead. Generated nodes take no weak references, so this class wraps a generated one. This
file is never compiled, see Note [One source, two builds].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from vtgrad.graph.next_edges import FIXED_EDGES
from vtgrad.graph.node import Node
from vtgrad.graph.region import Gradient
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["WrittenView", "written_view"]


class WrittenView(Node):
    """A node of a view that takes weak references; delegates to the node that it wraps.

    Made by `written_view`.

    Attributes
    ----------
    view : Node
        The wrapped node.
    """

    __slots__ = ("__weakref__", "view")

    is_view_node: ClassVar[bool] = True
    is_traceable: ClassVar[bool] = True
    edge_rule: ClassVar[int] = FIXED_EDGES

    view: Node

    def name(self) -> str:
        """The name of the wrapped node."""
        return self.view.name()

    if not TYPE_CHECKING:
        # Hidden from type checkers, which would accept every attribute because of it.

        def __getattr__(self, name: str) -> object:
            """The saved values of the wrapped node."""
            if name == "view":
                raise AttributeError(name)
            return getattr(self.view, name)

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Gradient | None]:
        """The gradient of the viewed value."""
        return self.view.apply_arrays(grads, needs)

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        """As `apply_arrays`, recorded."""
        return self.view.apply_tensors(grads, needs)

    def passes_regions(self) -> bool:
        """Whether a region can pass through."""
        return self.view.passes_regions()

    def view_array(self, array: Array) -> Array:
        """The same view of an array."""
        return self.view.view_array(array)

    def viewed_shape(self) -> Shape:
        """The shape of the viewed value."""
        return self.view.viewed_shape()

    def check_saved(self) -> None:
        """Raise if the node cannot run.

        Raises
        ------
        VtgradError
            As `Node.check_saved` does.
        """
        self.view.check_saved()

    def release_variables(self) -> None:
        """Release the saved values."""
        self.view.release_variables()


# For each class of nodes a `WrittenView` class of the same name, which a tensor's repr shows.
_classes: dict[type[Node], type[WrittenView]] = {}


def written_view(view: Node) -> WrittenView:
    """A node that wraps `view`, with its edges and numbers."""
    kind = type(view)
    own = _classes.get(kind)
    if own is None:
        own = _classes[kind] = type(kind.__name__, (WrittenView,), {"__slots__": ()})
    numbering = this_thread.numbering
    next_nr = numbering.next_nr
    node = own(view.next_edges)
    numbering.next_nr = next_nr
    node.sequence_nr, node.thread_id = view.sequence_nr, view.thread_id
    node.input_metadata = view.input_metadata
    node.view = view
    return node
