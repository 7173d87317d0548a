"""The gradient attributes and methods of a tensor."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Self, TypeVar, cast

import numpy as np

from vtgrad.engine.backward import backward
from vtgrad.errors import (
    ArgumentTypeError,
    BatchedTensorError,
    DetachViewError,
    DeviceError,
    GradAssignmentError,
    GradRequiredError,
    InferenceModeError,
    RequiresGradError,
)
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.batch import is_batched
from vtgrad.graph.hooks import HookDict, LeafState, RemovableHandle, TensorHook
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import forget_leaf_node, gradient_edge, meta_of, own_meta
from vtgrad.graph.thread_local_state import set_grad, this_thread
from vtgrad.graph.tracer import detach_traced, note_hook, refuse_traced
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.methods import TensorMethods
from vtgrad.ops.rules.batches.values import hook_of_value, innermost, levels_of, rebatched
from vtgrad.ops.view_impls.views import alias
from vtgrad.storage import making
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.inference_tensors import is_inference_mode_enabled
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import FREE_THREADED, refuse_second_thread
from vtgrad.storage.warn import warn
from vtgrad.tensor.subclass_methods import made_of, shown_in
from vtgrad.views.differentiable_view_meta import producer_of, view_meta_of

__all__ = ["AutogradMethods"]

T = TypeVar("T")


class AutogradMethods(TensorMethods):
    """Gradient attributes and methods of a tensor."""

    __slots__ = ()

    # -- reading -----------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are computed for this tensor.

        It can be set on leaves; `requires_grad_` does the same and returns the tensor.

        Returns
        -------
        bool
            True for a leaf that requires grad, and for what was recorded from one.

        Raises
        ------
        RequiresGradError
            When it is set on a result, to a value that is not a bool, or to True for a dtype that
            has no gradients.

        Examples
        --------
        >>> w = vt.ones(2)
        >>> w.requires_grad = True
        >>> (w * 2).requires_grad, w.detach().requires_grad
        (True, False)
        """
        meta = self._impl.autograd_meta
        if meta is None:
            return is_batched(self) and innermost(self).requires_grad
        return meta.needs_gradient()

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
        """The node that produced the tensor's present value.

        A write in place gives the tensor another node, and so does a write to the base of a view,
        or to another view of that base.

        Returns
        -------
        Node or None
            None for leaves, and for all that was not recorded.

        Raises
        ------
        ViewInvalidError
            For a view that became invalid when its base was written.

        Examples
        --------
        >>> x = vt.ones(3, requires_grad=True)
        >>> y = x * 2
        >>> first = y[0]
        >>> first.grad_fn.name()
        'SelectBackward0'
        >>> y += 1
        >>> y.grad_fn.name(), x.grad_fn
        ('AddBackward0', None)
        """
        if self._impl.autograd_meta is None:
            return innermost(self).grad_fn if is_batched(self) else None
        return producer_of(self)

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor has no producer: ``x.grad_fn is None``.

        Returns
        -------
        bool
            True for a tensor that a user made, and for results that were not recorded.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> x.is_leaf, (x * 2).is_leaf, x.detach().is_leaf
        (True, False, True)
        """
        return self.grad_fn is None

    @property
    def output_nr(self) -> int:
        """Which result of `grad_fn` the tensor is.

        Returns
        -------
        int
            0 for a leaf, and for the only result of an operator.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> [part.output_nr for part in x.unbind()]
        [0, 1]
        """
        meta = meta_of(innermost(self))
        return 0 if meta is None else meta.output_nr

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this result.

        Returns
        -------
        bool
            False for leaves, whose ``.grad`` is always filled.

        Examples
        --------
        >>> y = vt.ones(2, requires_grad=True) * 2
        >>> y.retain_grad()
        >>> y.retains_grad
        True
        """
        meta = meta_of(innermost(self))
        return meta is not None and meta.retains_grad

    @property
    def _base(self) -> Self | None:
        """The base of a view; None if the tensor is not a view."""
        meta = view_meta_of(self)
        if meta is None:
            return None
        return cast("Self", meta.base)

    def _is_view(self) -> bool:
        """Whether the tensor is a differentiable view."""
        return view_meta_of(self) is not None

    def _view_func(self, new_base: Self) -> Self | None:
        """The same view of another tensor with the base's sizes, strides and storage size.

        Returns
        -------
        Tensor or None
            None if this tensor is not a view, or `new_base` differs.

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
        # The steps of a replay are in bytes; see Note [Replay].
        same = meta.base._impl.dtype == new_base._impl.dtype
        return cast("Self", meta.view_fn(new_base)) if same else None

    # -- .grad -------------------------------------------------------------------------------

    @property
    def grad(self) -> Self | None:
        """The gradient accumulated so far.

        Every `backward` adds to it; set it to None, or call ``x.grad.zero_()``, to begin anew. It
        may be set to a tensor of the same shape and dtype. Reading it of a result that does not
        retain its gradient gives a warning.

        Returns
        -------
        Tensor or None
            None if nothing has arrived yet.

        Raises
        ------
        ArgumentTypeError
            When it is set to an object that is neither a tensor nor None.
        GradAssignmentError
            When it is set to a tensor of another shape, dtype or device, or to the tensor itself.

        Examples
        --------
        >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> (x * 10).sum().backward()
        >>> x.grad
        tensor([12., 14.])
        >>> x.grad = None
        """
        meta = meta_of(self)
        if meta is None and is_batched(self):
            grad = innermost(self).grad
            return None if grad is None else rebatched(grad, levels_of(self))
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
                set_grad(meta.cell, None)
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
        if self._impl.device != value._impl.device:
            raise GradAssignmentError(
                f"the gradient is on {value._impl.device}, the tensor on {self._impl.device}",
                expected=self._impl.device,
                found=value._impl.device,
            )
        if own.shape != other.shape:
            raise GradAssignmentError(
                f"the gradient has shape {list(other.shape)}, the tensor {list(own.shape)}",
                expected=own.shape,
                found=other.shape,
            )
        here, there = self._impl.device, value._impl.device
        if here is not there and here != there:
            raise GradAssignmentError(
                f"the gradient is on {there}, the tensor on {here}", expected=here, found=there
            )
        set_grad(own_meta(self).own_cell(), value)

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    # -- changing -----------------------------------------------------------------------------

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether this leaf requires grad.

        Parameters
        ----------
        requires_grad : bool, default True
            False to stop accumulating gradients.

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

        Examples
        --------
        >>> vt.from_numpy(np.ones(2)).requires_grad_()
        tensor([1., 1.], dtype=vtgrad.float64, requires_grad=True)
        """
        if not isinstance(requires_grad, bool):
            raise ArgumentTypeError(
                f"argument 'requires_grad' must be a bool, not {type(requires_grad).__name__}",
                argument="requires_grad",
            )
        if is_batched(self):
            raise BatchedTensorError(
                "requires_grad_() inside of vmap: a tensor of one sample is no leaf; use the "
                "transforms of vtgrad.func, as in vmap(grad(f))(x)"
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
        changes = this_thread.changes
        if changes is not None:
            changes.impls[id(self._impl)] = self._impl
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
        """A tensor on the same memory without a producer.

        It shares the version counter, so backward notices writes through it; it is not a view. The
        function `vtgrad.detach` does the same.

        Returns
        -------
        Tensor
            A leaf that does not require grad.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> y = x * 2
        >>> y.detach(), y.detach().data_ptr() == y.data_ptr()
        (tensor([2., 2.]), True)
        """
        return F.detach(self)

    def detach_(self) -> Self:
        """Remove the producer, and make the tensor a leaf that does not require grad.

        Nodes that saved the tensor refuse to run from then on. Tangents are dropped.

        Returns
        -------
        Tensor
            The tensor itself, a leaf now.

        Raises
        ------
        DetachViewError
            For a view, whose base still records writes through it.

        Examples
        --------
        >>> state = vt.zeros(2)
        >>> w = vt.ones(2, requires_grad=True)
        >>> state += w
        >>> state.detach_()  # the next steps start from here
        tensor([1., 1.])
        """
        if is_batched(self):
            innermost(self).detach_()
            return self
        if FREE_THREADED:
            refuse_second_thread()
        if self._is_view():
            raise DetachViewError("a view cannot be detached in place; use detach()")
        if keys.modes:
            detach_traced(self)
        meta = meta_of(self)
        if meta is not None:
            node = meta.grad_fn(self)
            # A tensor without a weak reference is saved by no node.
            if node is not None and weakref.getweakrefcount(self):
                node.own_hooks().detached.append(weakref.ref(self))
            # A retained gradient stays the gradient of the former value.
            meta.store_producer(None, 0)
            meta.stop_being_leaf(LeafState.IGNORES)
            meta.drop_fw_grads()
        return self

    @property
    def data(self) -> Self:
        """The same memory without gradients and with a version counter of its own.

        Backward does not notice writes through it, as it does through `detach`; where a saved value
        is overwritten so, gradients are wrong. Set to a tensor, it gives this one the other's
        memory, shape and dtype.

        Returns
        -------
        Tensor
            A leaf that does not require grad.

        Raises
        ------
        ArgumentTypeError
            When it is set to an object that is not a tensor.
        RequiresGradError
            When it is set to an integer or bool tensor, while the tensor requires grad.
        DeviceError
            When it is set to a tensor on another device.

        Examples
        --------
        >>> w = vt.ones(2, requires_grad=True)
        >>> w.data -= 0.5
        >>> w, w._version
        (tensor([0.5000, 0.5000], requires_grad=True), 0)
        """
        if is_batched(self):
            return rebatched(innermost(self).data, levels_of(self))
        alias = F.detach(self)
        if not alias.is_inference():
            alias._impl.version_counter = None
        return alias

    @data.setter
    def data(self, value: TensorBase) -> None:
        if is_batched(self) or is_batched(value):
            raise BatchedTensorError(
                "the data of a tensor inside of vmap cannot be set; write to it in place"
            )
        if not isinstance(value, TensorBase):
            raise ArgumentTypeError(
                f".data takes a tensor, not {type(value).__name__}", argument="data"
            )
        meta = meta_of(self)
        if meta is not None and meta.needs_gradient() and value._impl.dtype.kind not in "fc":
            raise RequiresGradError(
                "the data of a tensor that requires grad must be floating or complex, not "
                f"{dtype_of(value._impl.dtype).name}",
                dtype=dtype_of(value._impl.dtype),
            )
        impl, other = self._impl, value._impl
        if keys.modes:
            refuse_traced(impl, "setting .data")
            refuse_traced(other, "setting .data")
        if impl.device != other.device:
            raise DeviceError(
                f"the data of a tensor on {impl.device} cannot be on {other.device}; x.to(device) "
                "makes a tensor there",
                expected=impl.device,
                found=other.device,
            )
        if FREE_THREADED:
            refuse_second_thread()
        impl.counter  # noqa: B018  # earlier aliases share the counter, not the memory
        other.storage  # noqa: B018  # from now on two impls share it
        # Without names in between, so that they fit the dimensions at any moment.
        names = other.names
        impl.set_names(None)
        impl.set_geometry_of(other)
        impl.set_names(names)
        forget_leaf_node(self)
        if meta is not None and meta.grad_accumulator is not None:
            node = meta.grad_accumulator.function
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

        Parameters
        ----------
        gradient : Tensor, optional
            The gradient of this tensor, of its shape; one if omitted, which needs exactly one real
            element.
        retain_graph : bool, optional
            Keep saved values for another backward. The default is `create_graph`.
        create_graph : bool, default False
            Record the backward itself, so that gradients can be differentiated.
        inputs : Tensor or sequence of Tensor, optional
            Fill only these, leaves or not, and run only the nodes that lead to them.

        Raises
        ------
        RootError, ImplicitGradientError, GradientError, StaleSavedError, GraphFreedError
            As `vtgrad.autograd.backward` does; then no ``.grad`` has changed.

        Examples
        --------
        >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        if is_batched(self):
            raise BatchedTensorError(
                "backward() inside of vmap would add the gradients of all samples; use the "
                "transforms of vtgrad.func, as in vmap(grad(f))(x)"
            )
        backward(self, gradient, retain_graph, create_graph, inputs)

    def retain_grad(self) -> None:
        """Keep ``.grad`` of this result too; no effect on leaves, or the second time.

        The gradient is that of the tensor's value when backward runs, also after a write in place.

        Raises
        ------
        GradRequiredError
            If the tensor does not require grad.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> y = x * 2
        >>> y.retain_grad()
        >>> (y * y).sum().backward()
        >>> y.grad
        tensor([4., 4.])
        """
        if not self.requires_grad:
            raise GradRequiredError("retain_grad needs a tensor that requires grad")
        if is_batched(self):
            innermost(self).retain_grad()
            return
        meta = own_meta(self)
        if not meta.retains_grad:
            meta.retain(self)

    def register_hook(self, hook: Callable[[Self], TensorBase | None]) -> RemovableHandle:
        """Call a function with the gradient of the present value whenever it is computed.

        The hook belongs to the value: after a write in place the tensor has a new value, without
        the hook. Hooks run in the order of registration; each sees what the one before left.

        Parameters
        ----------
        hook : callable
            Takes the gradient. It returns None, or a gradient of the same shape and dtype that
            takes its place.

        Returns
        -------
        RemovableHandle
            Its method ``remove`` removes the hook.

        Raises
        ------
        GradRequiredError
            If the tensor does not require grad.
        ArgumentTypeError, HookError
            In backward, if the result of the hook is not a tensor, or does not fit.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad.clamp(max=1))
        >>> (x * vt.tensor([0.5, 5.0])).sum().backward()
        >>> x.grad
        tensor([0.5000, 1.0000])
        >>> handle.remove()
        """
        if not self.requires_grad:
            raise GradRequiredError("register_hook needs a tensor that requires grad")
        note_hook()
        cls = type(self)._gradient_class
        if cls is not None:
            hook = cast("Callable[[Self], TensorBase | None]", _of_class(hook, cls))
        if is_batched(self):
            return innermost(self).register_hook(hook_of_value(hook, levels_of(self)))
        edge = gradient_edge(self)
        if edge is None:
            # A view made under no_grad requires grad, as its base does, but no gradient is ever
            # computed for it, so no node can hold the hook.
            return HookDict[TensorHook]().add(cast("TensorHook", hook))
        return edge.function.own_hooks().tensor_hooks(edge.input_nr).add(cast("TensorHook", hook))

    def register_post_accumulate_grad_hook(self, hook: Callable[[Self], None]) -> RemovableHandle:
        """Call a function with this leaf after each accumulation into its ``.grad``.

        Parameters
        ----------
        hook : callable
            Takes the leaf and returns None; it may write to the leaf and set its ``.grad``.

        Returns
        -------
        RemovableHandle
            Its method ``remove`` removes the hook.

        Raises
        ------
        GradRequiredError
            If the tensor is not a leaf that requires grad.
        ArgumentTypeError
            In backward, if the hook returned any other object than None or the leaf.

        Examples
        --------
        An optimiser that steps within backward and keeps no gradient:

        >>> w = vt.ones(2, requires_grad=True)
        >>> def step(leaf):
        ...     with vt.no_grad():
        ...         leaf -= 0.1 * leaf.grad
        ...     leaf.grad = None
        >>> handle = w.register_post_accumulate_grad_hook(step)
        >>> (w * w).sum().backward()
        >>> w, w.grad
        (tensor([0.8000, 0.8000], requires_grad=True), None)
        """
        if not self.requires_grad or not self.is_leaf:
            raise GradRequiredError("post-accumulate hooks need a leaf that requires grad")
        if is_batched(self):
            raise BatchedTensorError(
                "a post-accumulate hook inside of vmap: a tensor of one sample is no leaf"
            )
        edge = gradient_edge(self)
        if edge is None:
            # As in `register_hook`: a view made under no_grad never gets a gradient.
            return HookDict[Callable[[Self], None]]().add(hook)
        leaf_node = edge.function
        assert isinstance(leaf_node, AccumulateGrad)
        cell = leaf_node.leaf_cell()
        if cell.post_accumulate is None:
            cell.post_accumulate = HookDict()
        reference = weakref.ref(self)
        # A graph may outlive its leaf; the hook then still gets a leaf. The leaf owns the node and
        # the hooks, so neither may hold it: a new tensor is made on its memory.
        cls = type(self)
        if cell.memory is None:
            cell.memory = alias(self._impl)
        # That a hook returns None is checked.
        called = cast("Callable[[Self], object]", hook)

        def call(node: AccumulateGrad) -> None:
            leaf = reference()
            if leaf is None:
                leaf = cast("Self | None", node.variable)
            if leaf is None:
                cell = node.leaf_cell()
                assert cell.memory is not None
                leaf = cast("Self", made_of(cls, alias(cell.memory)))
                meta = AutogradMeta.of_leaf(node)
                meta.requires_grad_ = cell.leaf_state is LeafState.ACCUMULATES
                leaf._impl.autograd_meta = meta
                node.move_to(leaf)
            answer = called(leaf)
            # A lambda that writes to the leaf returns the leaf itself.
            if answer is not None and answer is not leaf:
                raise ArgumentTypeError("a post-accumulate hook must return None", hook=hook)

        return cell.post_accumulate.add(call)


def _of_class(
    hook: Callable[[T], TensorBase | None], cls: type[TensorBase]
) -> Callable[[T], object]:
    """A hook that gets gradients of a class; see Note [Classes of gradients]."""

    def call(grad: T) -> object:
        answer: object = hook(shown_in(cls, grad))
        if isinstance(answer, np.generic):
            # What a computation with 0-d arrays of `vtgrad.numpy` gives.
            return cls._wrap(TensorImpl(making.array(answer)))
        return answer

    return call


def _lie_alike(one: TensorImpl, other: TensorImpl) -> bool:
    """Whether two tensors have the same geometry on memory of the same size."""
    return (
        one.geometry == other.geometry
        and one.storage.nbytes() // one.array.itemsize
        == other.storage.nbytes() // other.array.itemsize
        and type(one.array) is type(other.array)
    )
