"""Making the results of forward a part of the graph.

Note [Results of a custom Function]

Forward runs without recording, so most of its results are new constants, which simply get the node
as their producer. The others are

- an argument that was declared dirty: it is written, as by an in-place operator, and returned;
- an argument that was not declared: a new view of it is returned, and the argument keeps its
  producer;
- a view, of an argument or of a tensor that forward made: it keeps its base;
- a tensor that belongs to a graph already, because forward has recorded it or got it from other
  code: a new alias is returned, and the tensor keeps its producer.

Writing to such a view, or using it after its base was written, would need the view's derivative
instead of the Function's own. So both are refused, see Note [Creation of views].

Where nothing is recorded, the 0-d results of a class with NumPy's meanings are numbers of NumPy. So
such a number that forward returned becomes a tensor, or its gradient would be lost; see
`TensorBase._number_class`.

All checks here come before any change. Writes of forward itself stay: they cannot be undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np

from vtgrad.errors import BatchedTensorError, FunctionError, UndeclaredWriteError
from vtgrad.function.context import Call, check_declared
from vtgrad.function.node import BackwardCFunction
from vtgrad.graph.batch import is_batched
from vtgrad.graph.edge import edge_to
from vtgrad.graph.hooks import LeafState
from vtgrad.graph.input_metadata import metadata_of
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.graph.set_history import meta_of, own_meta, requires_grad
from vtgrad.graph.thread_levels import thread
from vtgrad.graph.thread_local_state import set_grad
from vtgrad.ops.view_impls import views as view_impls
from vtgrad.storage import making
from vtgrad.storage.key_set import keys
from vtgrad.storage.record_write import DIRECT, count_write
from vtgrad.storage.tensor_base import TensorBase, handle_like
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.storage.warn import warn
from vtgrad.views.check_inplace import check_base
from vtgrad.views.creation_meta import CreationMeta
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta, view_meta_of
from vtgrad.views.make_view import make_view
from vtgrad.views.rebase_history import leave_unfinished, rebase_history

__all__ = [
    "check_results",
    "check_undeclared_writes",
    "disown_written",
    "version_of",
    "with_tensors_for_numbers",
    "wrap_outputs",
]

T = TypeVar("T")

_IN_FUNCTION: Final = CreationMeta.IN_CUSTOM_FUNCTION
_MULTI_OUTPUT: Final = CreationMeta.MULTI_OUTPUT_NODE
_NO_GRAD: Final = CreationMeta.NO_GRAD_MODE
_UNRECORDED: Final = (_NO_GRAD, CreationMeta.INFERENCE_MODE)


def _is_among(tensor: object, tensors: Sequence[object]) -> bool:
    # Not `any`: a generator costs more than these few comparisons, of which each result has three.
    for other in tensors:  # noqa: SIM110
        if tensor is other:
            return True
    return False


def check_results(call: Call, results: Sequence[object]) -> None:
    """Raise if a declaration of forward is not allowed; nothing is changed.

    Raises
    ------
    FunctionError
        If a tensor that was declared dirty is not returned, or cannot be returned together with the
        other results.
    WriteRefusedError
        If a tensor that was declared dirty may not be written.
    InferenceSavedError
        If an inference tensor is to be saved.
    """
    if call.records:
        for saved in call.to_save:
            if saved is not None and saved._impl.version_counter is INFERENCE:
                SavedVariable(saved, None)  # raises
    name = call.backward_class.__name__
    for tensor in call.dirty:
        if not _is_among(tensor, results):
            raise FunctionError(
                f"{name}: a tensor of shape {list(tensor.shape)} was marked dirty, but forward did "
                "not return it; return every tensor that it writes"
            )
        if not _is_among(tensor, call.inputs):
            warn(
                f"{name}: mark_dirty got a tensor that is not an argument; only arguments that "
                "forward writes are to be marked"
            )
        check_declared(call, tensor)
        if not call.records or tensor._impl.array.dtype.kind not in "fc":
            continue
        if _is_among(tensor, call.non_differentiable):
            if requires_grad(tensor):
                raise FunctionError(
                    f"{name}: an argument that requires grad was marked dirty and not "
                    "differentiable, so its new value would have the gradient of the old one; "
                    "return a new tensor instead"
                )
        elif view_meta_of(tensor) is not None:
            check_base(tensor)
            if len(results) > 1:
                raise FunctionError(
                    f"{name}: forward wrote to a view and returned {len(results)} values; a "
                    "Function that writes to a view can return only that view. Write to a clone "
                    "of it, or return the others from another Function"
                )


def version_of(tensor: TensorBase) -> int:
    """The tensor's version; 0 for inference tensors, which have none."""
    impl = tensor._impl
    return 0 if impl.version_counter is INFERENCE else impl.version


def check_undeclared_writes(call: Call, versions: Sequence[int]) -> None:
    """Report arguments that forward has written without declaring it.

    Parameters
    ----------
    versions : sequence of int
        The version of each tensor among the arguments before forward.

    Raises
    ------
    UndeclaredWriteError
        If such an argument requires grad, or has a tangent. Otherwise there is a warning, because
        forward may keep statistics in it, but only for dtypes that can have a gradient.
    """
    counters = [tensor._impl.version_counter for tensor in call.dirty]
    for nr, tensor in enumerate(call.inputs):
        impl = tensor._impl
        version = version_of(tensor)
        if version == versions[nr] or impl.array.dtype.kind not in "fc":
            continue
        if _is_among(impl.version_counter, counters):
            continue
        index, name = call.argument_indices[nr], call.backward_class.__name__
        message = (
            f"{name}: forward wrote to argument {index}, a tensor of shape {list(tensor.shape)}, "
            "or to memory that it shares, without ctx.mark_dirty"
        )
        what = "gradient" if requires_grad(tensor) else "tangent" if _is_dual(tensor) else None
        if what is not None:
            raise UndeclaredWriteError(
                f"{message}: its {what} would be that of the old value. Mark it and return it, or "
                "write to a clone",
                index=index,
                expected_version=versions[nr],
                found_version=version,
            )
        warn(
            f"{message}: no gradient will ever flow through what was written. Mark it and return "
            "it, together with ctx.mark_non_differentiable if that is what you want"
        )


def _is_dual(tensor: TensorBase) -> bool:
    """Whether a tensor has a tangent that the caller of forward sees."""
    meta = meta_of(tensor)
    return bool(keys.modes) and meta is not None and meta.fw_level(thread.forward_limit) != 0


def disown_written(call: Call, inputs: Sequence[TensorBase], versions: Sequence[int]) -> None:
    """Remove the producer of tensors that forward has written in a call that failed.

    The value is new, and no node has produced it. See Note [Unfinished writes]. A tensor that is
    declared dirty may have been written through NumPy, which moves no version. If it was counted
    already, the call failed when all was written, and what was saved since is the new value: a
    checkpoint takes it as the last one, and ends the run.

    Parameters
    ----------
    inputs : sequence of TensorBase
        The tensors among the arguments.
    versions : sequence of int
        The version of each before forward.
    """
    moved = [x for x, version in zip(inputs, versions, strict=True) if version_of(x) != version]
    if not call.writes_are_counted:
        count_writes(call)
    for tensor in (*call.dirty, *moved):
        leave_unfinished(tensor)


def count_writes(call: Call) -> None:
    """Count what forward has declared as written."""
    call.writes_are_counted = True
    for tensor in call.dirty:
        count_write(tensor._impl, call.operator, DIRECT)


def wrap_outputs(
    call: Call, results: Sequence[object], node: BackwardCFunction | None
) -> tuple[list[object], dict[int, int]]:
    """Make the values that forward returned results of `node`.

    See Note [Results of a custom Function].

    Parameters
    ----------
    node : BackwardCFunction or None
        None if nothing is recorded.

    Returns
    -------
    tuple
        The results for the caller, and, by identity, the number of each result that is the same
        tensor as forward returned.
    """
    count_writes(call)
    differentiable = [
        isinstance(x, TensorBase)
        and x._impl.array.dtype.kind in "fc"
        and not _is_among(x, call.non_differentiable)
        for x in results
    ]
    if node is not None:
        call.differentiable = differentiable
        call.results = tuple(
            [metadata_of(x._impl)[0] if isinstance(x, TensorBase) else None for x in results]
        )
        classes = tuple(
            [type(x)._gradient_class if isinstance(x, TensorBase) else None for x in results]
        )
        if any(classes):
            call.gradient_classes = classes
        node.state_results(call)
    creation = _MULTI_OUTPUT if node is not None and sum(differentiable) > 1 else _IN_FUNCTION
    given: list[object] = []
    numbers: dict[int, int] = {}
    aliases: dict[int, TensorBase] = {}
    for nr, x in enumerate(results):
        if not isinstance(x, TensorBase):
            given.append(x)
            continue
        is_dirty = _is_among(x, call.dirty)
        is_argument = not is_dirty and _is_among(x, call.inputs)
        if node is None or not differentiable[nr]:
            given.append(_constant(x, is_argument, is_dirty))
            continue
        if keys.active and is_batched(x):
            raise BatchedTensorError(
                f"forward of {call.operator} returned a tensor for each sample of a vmap, and got "
                "no argument with these samples: pass the tensor that it uses as an argument, so "
                "that all samples have one node"
            )
        if is_argument:
            given.append(_view_as_is(x, node, nr, creation))
            continue
        known = aliases.get(id(x))
        if known is not None:
            own_meta(known).store_producer(node, nr)
            if known is x:
                numbers[id(x)] = nr
            given.append(known)
            continue
        if is_dirty:
            _written(x, node, nr, call)
            aliases[id(x)] = x
            numbers[id(x)] = nr
        else:
            aliases[id(x)] = result = _produced(x, node, nr, creation)
            if result is x:
                numbers[id(x)] = nr
        given.append(aliases[id(x)])
    return given, numbers


def _alias(x: TensorBase) -> TensorBase:
    """Another tensor on the same memory, with the same version and without a producer."""
    return handle_like(x, view_impls.alias(x._impl))


def _view_as_is(
    x: TensorBase, node: BackwardCFunction | None, nr: int, creation: CreationMeta
) -> TensorBase:
    """A view of the whole of `x`."""
    return _view_through(view_impls.view(x._impl, x.shape), x, node, nr, creation)


def _view_through(
    impl: TensorImpl, x: TensorBase, node: BackwardCFunction | None, nr: int, creation: CreationMeta
) -> TensorBase:
    if x._impl.extra_meta is not None:
        impl.set_extra_meta(x._impl.extra_meta)
    if impl.version_counter is INFERENCE:
        # Views of inference tensors have no base.
        impl.autograd_meta = None if node is None else edge_to(node, nr)
        return handle_like(x, impl)
    view = make_view(x, impl, node, nr, creation)
    meta = view_meta_of(view)
    assert meta is not None
    # Also if the grad mode would record it as made under no_grad.
    meta.creation_meta = creation
    return view


def _constant(x: TensorBase, is_argument: bool, is_dirty: bool) -> TensorBase:
    """The result for a tensor without a gradient."""
    if is_dirty:
        return _alias(x) if requires_grad(x) else x
    if is_argument:
        return _alias(x) if requires_grad(x) else _view_as_is(x, None, 0, _IN_FUNCTION)
    view = view_meta_of(x)
    if view is None:
        return _alias(x) if requires_grad(x) else x
    if view.creation_meta in _UNRECORDED and not view.was_produced():
        view.creation_meta = _IN_FUNCTION
    return x


def _produced(
    x: TensorBase, node: BackwardCFunction, nr: int, creation: CreationMeta
) -> TensorBase:
    """A tensor that forward has made, as a result of the node."""
    meta = x._impl.autograd_meta
    if isinstance(meta, DifferentiableViewMeta):
        if meta.was_produced() or meta.requires_grad_ or meta.creation_meta is not _NO_GRAD:
            # The shape does not change: strides of size-1 dimensions stay, too.
            return _view_through(view_impls.alias(x._impl), x, node, nr, creation)
        meta.creation_meta = creation
        meta.store_producer(node, nr)
        meta.attr_version = x._impl.version
        return x
    if meta is None:
        x._impl.autograd_meta = edge_to(node, nr)
        return x
    if meta.needs_gradient():
        alias = _alias(x)
        alias._impl.autograd_meta = edge_to(node, nr)
        return alias
    own_meta(x).set_gradient_edge(node, nr)
    return x


def _written(x: TensorBase, node: BackwardCFunction, nr: int, call: Call) -> None:
    """Make the node the producer of a tensor that forward has written."""
    meta = own_meta(x)
    if meta.cell is not None:
        # As in PyTorch, a gradient that was retained for the old value is dropped.
        set_grad(meta.cell, None)
    if view_meta_of(x) is None:
        if thread.transform is not None:
            # See Note [What a transform leaves behind].
            thread.transform.add(x)
        meta.stop_being_leaf(LeafState.MOVED)
        meta.set_gradient_edge(node, nr)
        return
    # The node of the write takes the gradient of the written tensor from the first edge.
    first = next((i for i, argument in enumerate(call.inputs) if argument is x), -1)
    if first < 0:
        node.many_edges = (None, *node.next_edges)
        call.argument_indices = (-1, *call.argument_indices)
        call.shapes = (metadata_of(x._impl)[0], *call.shapes)
    else:
        node.many_edges = _moved_to_front(node.next_edges, first)
        call.argument_indices = _moved_to_front(call.argument_indices, first)
        call.shapes = _moved_to_front(call.shapes, first)
    rebase_history(x, node)
    call.edges = node.next_edges


def _moved_to_front(items: tuple[T, ...], nr: int) -> tuple[T, ...]:
    return (items[nr], *items[:nr], *items[nr + 1 :])


def with_tensors_for_numbers(returned: object, inputs: Sequence[TensorBase]) -> object:
    """What a method of a Function returned, with tensors in place of arrays and numbers of NumPy.

    Parameters
    ----------
    returned : object
        One result, or a tuple of them.
    inputs : sequence of TensorBase
        The arguments of the Function; if none of them is of a class that states one for numbers,
        `returned` stays as it is.
    """
    results = returned if type(returned) is tuple else (returned,)
    for x in results:
        if isinstance(x, (np.generic, np.ndarray)):
            break
    else:
        return returned
    for x in inputs:
        cls = type(x)._number_class
        if cls is not None:
            found = tuple([_in_class(x, cls) for x in results])
            return found if type(returned) is tuple else found[0]
    return returned


def _in_class(x: object, cls: type[TensorBase]) -> object:
    if not isinstance(x, (np.generic, np.ndarray)):
        return x
    made = cls._wrap(TensorImpl(making.array(x)))
    if not made._impl.array.ndim:
        made.__class__ = cls
    return made
