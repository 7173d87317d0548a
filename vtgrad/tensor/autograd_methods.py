"""What a tensor says about gradients."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Self, cast

from ..engine.backward import backward
from ..errors import (
    ArgumentTypeError,
    DetachViewError,
    GradAssignmentError,
    GradRequiredError,
    InferenceModeError,
    RequiresGradError,
)
from ..graph.accumulate_grad import AccumulateGrad
from ..graph.autograd_meta import AutogradMeta
from ..graph.functions import forget_leaf_node, gradient_edge, meta_of, own_meta
from ..graph.hooks import HookDict, LeafState, RemovableHandle, TensorHook
from ..graph.node import Node
from ..ops.calling.arguments import array_of
from ..ops.generated import functional as F
from ..ops.generated.methods import TensorMethods
from ..ops.view_impls.views import alias
from ..storage.dtypes import dtype_of
from ..storage.inference import is_inference_mode_enabled
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from ..storage.warn import warn
from ..views.differentiable_view_meta import view_meta_of

__all__ = ["AutogradMethods"]


class AutogradMethods(TensorMethods):
    """Gradient attributes and methods of a tensor."""

    __slots__ = ()

    # -- reading -----------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are computed for this tensor. Can be set on leaves."""
        meta = self._impl.autograd_meta
        return meta is not None and meta.requires_grad()

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RequiresGradError(f"requires_grad must be a bool, not {type(value).__name__}")
        meta = meta_of(self)
        if meta is not None and meta.was_produced():
            raise RequiresGradError(
                "requires_grad of a computed tensor cannot be set; x.detach() is the same value "
                "without a gradient"
            )
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise GradAssignmentError("requires_grad cannot be deleted")

    @property
    def grad_fn(self) -> Node | None:
        """The node that produced the tensor's present value; None for leaves.

        Raises
        ------
        ViewInvalidError
            For a view that lost its meaning when its base was written.
        """
        meta = meta_of(self)
        return None if meta is None else meta.grad_fn(self)

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor has no producer."""
        return self.grad_fn is None

    @property
    def output_nr(self) -> int:
        """Which result of `grad_fn` the tensor is."""
        meta = meta_of(self)
        return 0 if meta is None else meta.output_nr

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this result."""
        meta = meta_of(self)
        return meta is not None and meta.retains_grad

    @property
    def _base(self) -> Self | None:
        """The tensor that this one is a view of; None if it is no view."""
        meta = view_meta_of(self)
        if meta is None:
            return None
        return cast("Self", meta.base)

    def _is_view(self) -> bool:
        """Whether the tensor is a differentiable view."""
        return view_meta_of(self) is not None

    def _view_func(self, new_base: Self) -> Self | None:
        """The same view of another tensor that lies in its memory as the base does.

        Returns
        -------
        Tensor or None
            None if this is no view, or `new_base` lies otherwise.

        Examples
        --------
        >>> import vtgrad as vt
        >>> vt.zeros(2, 3)[1]._view_func(vt.arange(6).view(2, 3))
        tensor([3, 4, 5])
        """
        array_of(new_base, "new_base")
        meta = view_meta_of(self)
        if meta is None or not _lie_alike(meta.base._impl, new_base._impl):
            return None
        impl = self._impl
        if meta.view_fn is None:
            return F.as_strided(new_base, impl.sizes, impl.strides, impl.storage_offset)
        # Its steps are in bytes; see Note [Replay].
        same = meta.base._impl.dtype == new_base._impl.dtype
        return cast("Self", meta.view_fn(new_base)) if same else None

    # -- .grad -------------------------------------------------------------------------------

    @property
    def grad(self) -> Self | None:
        """The gradient accumulated so far; None if nothing arrived yet."""
        meta = meta_of(self)
        if meta is None or meta.cell is None or meta.cell.grad is None:
            if meta is not None and not meta.retains_grad and meta.was_produced():
                warn(
                    "reading .grad of a tensor that is not a leaf: backward does not fill it "
                    "unless retain_grad() was called on it"
                )
            return None
        return cast("Self", meta.cell.grad)

    @grad.setter
    def grad(self, value: TensorBase | None) -> None:
        if value is None:
            meta = meta_of(self)
            if meta is not None and meta.cell is not None:
                meta.cell.grad = None
            return
        if not isinstance(value, TensorBase):
            raise ArgumentTypeError(
                f".grad takes a tensor or None, not {type(value).__name__}", argument="grad"
            )
        if value is self:
            raise GradAssignmentError("a tensor cannot be its own gradient")
        own, other = self._impl.array, value._impl.array
        if own.dtype != other.dtype:
            raise GradAssignmentError(
                f"the gradient has dtype {dtype_of(other.dtype).name}, the tensor "
                f"{dtype_of(own.dtype).name}",
                expected=dtype_of(own.dtype),
                found=dtype_of(other.dtype),
            )
        if own.shape != other.shape:
            raise GradAssignmentError(
                f"the gradient has shape {list(other.shape)}, the tensor {list(own.shape)}",
                expected=own.shape,
                found=other.shape,
            )
        own_meta(self).own_cell().grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    # -- changing -----------------------------------------------------------------------------

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Ask for gradients of this leaf, or stop asking.

        Returns
        -------
        Tensor
            The tensor itself.

        Raises
        ------
        ArgumentTypeError
            If `requires_grad` is not a bool.
        RequiresGradError
            For a dtype that has no gradients, or to switch it off for a result.
        InferenceModeError
            To switch it on for an inference tensor, outside of inference mode.
        """
        if not isinstance(requires_grad, bool):
            raise ArgumentTypeError(
                f"argument 'requires_grad' must be a bool, not {type(requires_grad).__name__}",
                argument="requires_grad",
            )
        if requires_grad and self._impl.array.dtype.kind not in "fc":
            raise RequiresGradError(
                f"only floating and complex tensors have gradients, not {self.dtype.name}",
                dtype=self.dtype,
            )
        if requires_grad and self.is_inference() and not is_inference_mode_enabled():
            raise InferenceModeError(
                "an inference tensor cannot begin to require grad outside of inference mode; "
                "clone it to get a normal tensor"
            )
        meta = meta_of(self)
        if not requires_grad:
            if meta is not None and meta.was_produced():
                raise RequiresGradError(
                    "requires_grad of a computed tensor cannot be switched off; use detach()"
                )
            if meta is not None:
                meta.stop_being_leaf(LeafState.IGNORES)
        elif meta is None or not meta.was_produced():
            meta = own_meta(self)
            meta.requires_grad_ = True
            if meta.cell is not None:
                meta.cell.leaf_state = LeafState.ACCUMULATES
        return self

    def detach(self) -> Self:
        """A tensor on the same memory and version, without a producer; no view.

        See `vtgrad.detach`, which it calls.
        """
        return F.detach(self)

    def detach_(self) -> Self:
        """Forget the producer, and stop asking for gradients.

        Raises
        ------
        DetachViewError
            For a view, whose base would still know of it.
        """
        if self._is_view():
            raise DetachViewError("a view cannot be detached in place; use detach()")
        meta = meta_of(self)
        if meta is not None:
            node = meta.grad_fn(self)
            # Without a weak reference no node has saved it.
            if node is not None and weakref.getweakrefcount(self):
                node.own_hooks().detached.append(weakref.ref(self))
            # A gradient that was retained is still that of the former value.
            meta.store_producer(None, 0)
            meta.stop_being_leaf(LeafState.IGNORES)
        return self

    @property
    def data(self) -> Self:
        """The same memory without gradients and with a version counter of its own."""
        alias = F.detach(self)
        if not alias.is_inference():
            alias._impl.version_counter = None
        return alias

    @data.setter
    def data(self, value: TensorBase) -> None:
        if not isinstance(value, TensorBase):
            raise ArgumentTypeError(
                f".data takes a tensor, not {type(value).__name__}", argument="data"
            )
        meta = meta_of(self)
        if meta is not None and meta.requires_grad() and value._impl.dtype.kind not in "fc":
            raise RequiresGradError(
                "the data of a tensor that requires grad must be floating or complex, not "
                f"{dtype_of(value._impl.dtype).name}",
                dtype=dtype_of(value._impl.dtype),
            )
        impl, other = self._impl, value._impl
        impl.counter  # noqa: B018  # aliases made before share the counter, not the memory
        other.storage  # noqa: B018  # from now on two impls look at it
        impl.set_geometry_of(other)
        forget_leaf_node(self)
        if meta is not None and meta.leaf_edge is not None:
            node = meta.leaf_edge.function
            assert isinstance(node, AccumulateGrad)
            node.lay_out_like(impl)

    @data.deleter
    def data(self) -> None:
        raise GradAssignmentError("data cannot be deleted")

    # -- backward and hooks --------------------------------------------------------------------

    def backward(
        self,
        gradient: TensorBase | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: TensorBase | Sequence[TensorBase] | None = None,
    ) -> None:
        """Add the gradients of this tensor into the ``.grad`` of the leaves.

        See `vtgrad.autograd.backward`, which it calls.

        Examples
        --------
        >>> import vtgrad as vt
        >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        backward(self, gradient, retain_graph, create_graph, inputs)

    def retain_grad(self) -> None:
        """Keep ``.grad`` of this result too; nothing happens on leaves, or the second time.

        Raises
        ------
        GradRequiredError
            If the tensor does not require grad.
        """
        if not self.requires_grad:
            raise GradRequiredError("retain_grad needs a tensor that requires grad")
        meta = own_meta(self)
        if not meta.retains_grad:
            meta.retain(self)

    def register_hook(self, hook: Callable[[Self], TensorBase | None]) -> RemovableHandle:
        """Call `hook` with the gradient of the present value whenever it is computed.

        The hook may return another gradient of the same shape. It stays with the present value:
        after an in-place write the tensor has a new one.

        Raises
        ------
        GradRequiredError
            If the tensor does not require grad.
        """
        if not self.requires_grad:
            raise GradRequiredError("register_hook needs a tensor that requires grad")
        edge = gradient_edge(self)
        if edge is None:
            # A view made under no_grad says that it requires grad, as its base does, but no
            # gradient is ever computed for it, so there is nowhere to put the hook.
            return HookDict[TensorHook]().add(cast("TensorHook", hook))
        return edge.function.own_hooks().tensor_hooks(edge.input_nr).add(cast("TensorHook", hook))

    def register_post_accumulate_grad_hook(self, hook: Callable[[Self], None]) -> RemovableHandle:
        """Call `hook` with this leaf after each accumulation into its ``.grad``.

        Raises
        ------
        GradRequiredError
            If the tensor is no leaf that requires grad.
        """
        if not self.requires_grad or not self.is_leaf:
            raise GradRequiredError("post-accumulate hooks need a leaf that requires grad")
        edge = gradient_edge(self)
        if edge is None:
            # As in `register_hook`: nothing is ever accumulated into a view made under no_grad.
            return HookDict[Callable[[Self], None]]().add(hook)
        leaf_node = edge.function
        assert isinstance(leaf_node, AccumulateGrad)
        cell = leaf_node.leaf_cell()
        if cell.post_accumulate is None:
            cell.post_accumulate = HookDict()
        reference = weakref.ref(self)
        # A graph may outlive its leaf, and the hook is then the only one to see the gradient. The
        # leaf owns the node and the hooks, so neither may hold it: it is made anew, on its memory.
        cls = type(self)
        if cell.memory is None:
            cell.memory = alias(self._impl)

        def call(node: AccumulateGrad) -> None:
            leaf = reference()
            if leaf is None:
                leaf = cast("Self | None", node.variable)
            if leaf is None:
                cell = node.leaf_cell()
                assert cell.memory is not None
                leaf = cls._wrap(alias(cell.memory))
                meta = AutogradMeta.of_edge(node)
                meta.requires_grad_ = cell.leaf_state is LeafState.ACCUMULATES
                leaf._impl.autograd_meta = meta
                node.move_to(leaf)
            answer: object = hook(leaf)  # type: ignore[func-returns-value]  # that is what is checked
            # The leaf itself is what a lambda returns that writes to it.
            if answer is not None and answer is not leaf:
                raise ArgumentTypeError("a post-accumulate hook must return None", hook=hook)

        return cell.post_accumulate.add(call)


def _lie_alike(one: TensorImpl, other: TensorImpl) -> bool:
    """Whether two tensors are the same elements of memory of the same size."""
    return (
        one.geometry == other.geometry
        and one.storage.nbytes() // one.array.itemsize
        == other.storage.nbytes() // other.array.itemsize
        and type(one.array) is type(other.array)
    )
