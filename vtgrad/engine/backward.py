# Compiled by mypyc.
"""``backward`` and ``grad``: checking the arguments, then running the engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from vtgrad.engine.engine import execute
from vtgrad.engine.graph_task import unused_input
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    BatchedTensorError,
    DeviceError,
    EmptyInputsError,
    GradientError,
    GradRequiredError,
    ImplicitGradientError,
    RootError,
)
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.edge import Edge, edge_to
from vtgrad.graph.gradient_edge import GradientEdge
from vtgrad.graph.observer import FUNCTION, NO_SEQUENCE_NR, observer_of_thread, observers
from vtgrad.graph.operators import operators
from vtgrad.graph.set_history import gradient_edge, own_meta, requires_grad
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.device import CPU, Device
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.key_set import BATCHED, keys
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.warn import warn

__all__ = ["backward", "grad"]

T = TypeVar("T", bound=TensorBase)

Root: TypeAlias = TensorBase | GradientEdge
Roots: TypeAlias = Root | Sequence[Root]


def _listed(value: Roots, name: str) -> list[Root]:
    """Tensors and edges that were passed one by one or as any iterable."""
    if isinstance(value, (TensorBase, GradientEdge)):
        return [value]
    if not isinstance(value, Iterable):
        raise ArgumentTypeError(
            f"argument {name!r} must be a tensor, a gradient edge or a sequence of them, not "
            f"{type(value).__name__}",
            argument=name,
        )
    return list(value)


def _listed_roots(value: Roots, name: str) -> list[Root]:
    roots = _listed(value, name)
    # Of any type until it was looked at; see Note [Arguments arrive unchecked].
    given: Sequence[object] = roots
    for nr, root in enumerate(given):
        if not isinstance(root, (TensorBase, GradientEdge)):
            raise ArgumentTypeError(
                f"argument {name!r} must hold tensors or gradient edges, but element {nr} is of "
                f"type {type(root).__name__}",
                argument=name,
                index=nr,
            )
    return roots


def _shape_and_place(root: Root) -> tuple[tuple[int, ...], np.dtype[np.generic], Device]:
    if isinstance(root, GradientEdge):
        meta = root.node.input_metadata[root.output_nr]
        return meta.shape, meta.dtype, meta.device
    array = root._impl.array
    return array.shape, array.dtype, root._impl.device


def _no_root(nr: int, root: TensorBase) -> RootError:
    return RootError(
        f"root {nr} (shape {list(root.shape)}) does not require grad and has no grad_fn, or is a "
        "view made under no_grad, so there is nothing to run backward",
        index=nr,
    )


def _root_edges(roots: Sequence[Root]) -> list[Edge]:
    edges = []
    for nr, root in enumerate(roots):
        if isinstance(root, GradientEdge):
            edges.append(edge_to(root.node, root.output_nr))
            continue
        if root._impl.key_set & BATCHED:
            raise BatchedTensorError(
                f"root {nr} is a tensor inside of vmap: its gradients are those of all samples. "
                "Use the transforms of vtgrad.func, as in vmap(grad(f))(x)"
            )
        edge = gradient_edge(root)
        if edge is None:
            raise _no_root(nr, root)
        edges.append(edge)
    return edges


def _root_gradients(
    roots: Sequence[Root], given: Sequence[TensorBase | None], *, recorded: bool
) -> list[TensorBase]:
    """The gradient of each root, of its shape and dtype.

    Raises
    ------
    ImplicitGradientError, GradientError
        If a needed one is missing, or does not fit.
    """
    gradients = []
    for nr, (root, grad) in enumerate(zip(roots, given, strict=False)):
        if grad is None:
            gradients.append(_implicit_gradient(nr, root))
            continue
        shape, dtype, device = _shape_and_place(root)
        if not isinstance(grad, TensorBase):
            raise ArgumentTypeError(
                f"gradient {nr} must be a tensor or None, not {type(grad).__name__}", index=nr
            )
        found = grad._impl.array
        if found.shape != shape:
            raise GradientError(
                f"gradient {nr} has shape {list(found.shape)}, its root {list(shape)}",
                index=nr,
                expected=shape,
                found=found.shape,
            )
        if (found.dtype.kind == "c") != (dtype.kind == "c"):
            raise GradientError(
                f"gradient {nr} is {found.dtype}, its root {dtype}: both must be complex or "
                "neither",
                index=nr,
                expected=dtype,
                found=found.dtype,
            )
        if grad._impl.device != device:
            raise DeviceError(
                f"gradient {nr} is on {grad._impl.device}, its root on {device}",
                index=nr,
                expected=device,
                found=grad._impl.device,
            )
        if found.dtype != dtype:
            grad = (
                operators().fit(grad, shape, dtype)
                if recorded or grad._impl.key_set & BATCHED
                else operators().wrap(impl_on(found.astype(dtype), device))
            )
        gradients.append(grad)
    if len(given) != len(roots):
        raise GradientError(
            f"{len(roots)} roots but {len(given)} gradients were passed",
            expected=len(roots),
            found=len(given),
        )
    return gradients


def _implicit_gradient(nr: int, root: Root) -> TensorBase:
    """The gradient of a root for which none was passed: one.

    Raises
    ------
    ImplicitGradientError
        If the root is not one real number.
    """
    shape, dtype, device = _shape_and_place(root)
    if isinstance(root, TensorBase) and not requires_grad(root):
        raise _no_root(nr, root)
    if shape and any(n != 1 for n in shape):
        raise ImplicitGradientError(
            f"root {nr} has shape {list(shape)}; only a root with one element has an "
            "implicit gradient, pass one for it",
            index=nr,
            shape=shape,
        )
    if dtype.kind != "f":
        raise ImplicitGradientError(
            f"root {nr} is {dtype}; only a real floating root has an implicit gradient, "
            "pass one for it",
            index=nr,
            dtype=dtype_of(dtype),
        )
    observer = observer_of_thread() if observers else None
    event = (
        None
        if observer is None
        else observer.begin("aten::ones_like", FUNCTION, NO_SEQUENCE_NR, 0, ())
    )
    one: Array = making.empty(shape, dtype)
    one.fill(1)
    if observer is not None:
        observer.end(event, (one,))
    return operators().wrap(TensorImpl(one) if device is CPU else impl_on(one, device))


def _given(grads: object, count: int) -> list[TensorBase | None]:
    if grads is None:
        return [None] * count
    if isinstance(grads, TensorBase):
        return [grads]
    if isinstance(grads, Sequence):
        return list(grads)
    raise ArgumentTypeError(
        f"gradients must be a tensor or a sequence of tensors, not {type(grads).__name__}"
    )


def _refuse_samples(gradients: Sequence[TensorBase]) -> None:
    """Raise if leaves would get a gradient for each sample, of which .grad holds one."""
    for nr, gradient in enumerate(gradients):
        if gradient._impl.key_set & BATCHED:
            raise BatchedTensorError(
                f"gradient {nr} is a tensor inside of vmap, and .grad of a leaf cannot hold one "
                "for each sample; autograd.grad and the transforms of vtgrad.func return them"
            )


def backward(
    tensors: Roots,
    grad_tensors: TensorBase | Sequence[TensorBase | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Roots | None = None,
) -> None:
    """`vtgrad.autograd.backward`, for tensors of any class; see there for parameters and errors."""
    if create_graph:
        warn(
            "backward(create_graph=True) puts gradients that refer to the graph into .grad of the "
            "leaves, which the graph refers to: a cycle, which lives until .grad is reset. "
            "vtgrad.autograd.grad makes none"
        )
    roots = _listed_roots(tensors, "tensors")
    gradients = _root_gradients(roots, _given(grad_tensors, len(roots)), recorded=create_graph)
    if keys.active:
        _refuse_samples(gradients)
    targets = None if inputs is None else _listed(inputs, "inputs")
    if targets is not None and not targets:
        raise EmptyInputsError("inputs of backward must not be empty")
    edges = _root_edges(roots)
    keep = create_graph if retain_graph is None else retain_graph
    if targets is None:
        execute(edges, gradients, keep_graph=keep, create_graph=create_graph)
        return
    wanted = [_input_edge(target) for target in targets]
    retained: list[AutogradMeta] = []
    try:
        for target in targets:
            if isinstance(target, TensorBase):
                meta = own_meta(target)
                if not meta.retains_grad:
                    # Listed first, in case of an interrupt during `retain`.
                    retained.append(meta)
                    meta.retain(target)
        execute(
            edges,
            gradients,
            inputs=wanted,
            accumulate=True,
            keep_graph=keep,
            create_graph=create_graph,
        )
    except BaseException:
        # Also after an error of a hook, or an interrupt.
        for meta in retained:
            meta.stop_retaining()
        raise


def _input_edge(target: Root) -> Edge | None:
    if isinstance(target, GradientEdge):
        return edge_to(target.node, target.output_nr)
    if not isinstance(target, TensorBase):
        raise ArgumentTypeError(f"inputs must be tensors, not {type(target).__name__}")
    if not requires_grad(target):
        raise GradRequiredError(
            f"an input of shape {list(target.shape)} does not require grad", shape=target.shape
        )
    return gradient_edge(target)


def grad(
    outputs: Roots,
    inputs: Roots,
    grad_outputs: TensorBase | Sequence[TensorBase | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[TensorBase | None, ...]:
    """`vtgrad.autograd.grad`, for tensors of any class; see there for parameters and errors."""
    if materialize_grads and allow_unused is False:
        raise ArgumentValueError("materialize_grads answers unused inputs; allow_unused=False")
    if allow_unused is None:
        allow_unused = materialize_grads
    roots, targets = _listed_roots(outputs, "outputs"), _listed(inputs, "inputs")
    if not targets:
        raise EmptyInputsError("inputs of grad must not be empty")
    gradients = _root_gradients(roots, _given(grad_outputs, len(roots)), recorded=create_graph)
    edges = _root_edges(roots)
    # `materialize_grads` makes zeros like a tensor, and an edge has none.
    required = [
        nr
        for nr, target in enumerate(targets)
        if not allow_unused or (materialize_grads and isinstance(target, GradientEdge))
    ]
    found = execute(
        edges,
        gradients,
        inputs=[_input_edge(target) for target in targets],
        accumulate=False,
        required=required,
        keep_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
    )
    for nr, (target, gradient) in enumerate(zip(targets, found, strict=True)):
        if gradient is not None:
            continue
        if materialize_grads and isinstance(target, TensorBase):
            zeros = operators().zeros_like(target)
            own_meta(zeros).requires_grad_ = create_graph
            found[nr] = zeros
        elif materialize_grads or not allow_unused:
            raise unused_input(nr)
    return tuple(found)
