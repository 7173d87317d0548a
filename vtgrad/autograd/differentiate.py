"""The public functions ``backward`` and ``grad``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Literal, TypeAlias, cast, overload

from vtgrad.autograd.values_of_samples import of_samples, of_values
from vtgrad.engine import backward as engine
from vtgrad.graph.function_modes import in_function_mode
from vtgrad.graph.gradient_edge import GradientEdge
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.calling.take_over import call_override, is_keyed
from vtgrad.storage.key_set import keys
from vtgrad.storage.warn import warn
from vtgrad.tensor.subclass_methods import in_classes_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["backward", "grad"]

Root: TypeAlias = Tensor | GradientEdge
Roots: TypeAlias = Root | Sequence[Root]
Gradients: TypeAlias = Tensor | Sequence[Tensor | None] | None


def backward(
    tensors: Roots,
    grad_tensors: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Roots | None = None,
) -> None:
    """Add the gradients of some roots into the ``.grad`` of the leaves.

    Errors are raised before any node has run; every ``.grad`` is then unchanged.

    Parameters
    ----------
    tensors : Tensor, GradientEdge, or sequence of them
        The roots.
    grad_tensors : Tensor or sequence, optional
        The gradient of each root, of its shape. It may be omitted, or None, for roots with
        exactly one real element, where it is one.
    retain_graph : bool, optional
        Keep saved values for another backward. The default is `create_graph`.
    create_graph : bool, default False
        Record the backward itself, so that gradients can be differentiated.
    inputs : Tensor, GradientEdge, or sequence of them, optional
        Fill only these, leaves or not, and run only the nodes that lead to them.

    Raises
    ------
    RootError
        If a root does not require grad.
    ImplicitGradientError, GradientError
        If a root's gradient is missing or does not fit.
    StaleSavedError, GraphFreedError, ViewInvalidError
        If a needed value was overwritten or freed.
    EmptyInputsError, GradRequiredError
        If `inputs` is empty, or one of them does not require grad.
    ArgumentTypeError
        If a root, gradient or input is of another type.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * x
    >>> vt.autograd.backward(y, vt.tensor([1.0, 10.0]))
    >>> x.grad
    tensor([ 2., 40.])
    """
    if keys.modes and in_function_mode():
        call_override(backward, tensors, grad_tensors, retain_graph, create_graph, inputs)
        return
    engine.backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


@overload
def grad(
    outputs: Roots,
    inputs: Roots,
    grad_outputs: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: Literal[False] | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]: ...
@overload
def grad(
    outputs: Roots,
    inputs: Roots,
    grad_outputs: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]: ...
def grad(
    outputs: Roots,
    inputs: Roots,
    grad_outputs: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of some outputs with respect to some inputs; no ``.grad`` changes.

    Parameters
    ----------
    outputs : Tensor, GradientEdge, or sequence of them
        The roots.
    inputs : Tensor, GradientEdge, or sequence of them
        The values to differentiate with respect to, leaves or not; for a tensor, its present
        value.
    grad_outputs : Tensor or sequence, optional
        The gradient of each root, as in `backward`.
    retain_graph : bool, optional
        As in `backward`.
    create_graph : bool, default False
        As in `backward`; needed for second derivatives.
    only_inputs : bool, default True
        Has no effect; PyTorch has it for old programs. False gives a warning.
    allow_unused : bool, optional
        Return None for an input that the outputs do not depend on, instead of raising. The
        default is `materialize_grads`.
    is_grads_batched : bool, default False
        Whether the tensors of `grad_outputs` have a batch dimension in front: then the gradients
        have one, too, and are computed for all of them at once. Hooks and custom backwards run
        once, and see tensors of one sample (`vtgrad.vmap`).
    materialize_grads : bool, default False
        Return zeros for such an input, which then must be a tensor.

    Returns
    -------
    tuple of Tensor or None
        One gradient for each input, of its shape and dtype.

    Raises
    ------
    GradRequiredError
        If an input does not require grad.
    UnusedInputError
        If an input is not reached and `allow_unused` is off, or if zeros are requested for a
        GradientEdge.
    EmptyInputsError
        If `inputs` is empty.
    ArgumentValueError
        If `materialize_grads` is set and `allow_unused` is False; with `is_grads_batched`, if one
        of `grad_outputs` is missing or the batch sizes differ.
    BatchedTensorError
        Inside of `vmap`, if an output differs by sample and an input does not.
    RootError, ImplicitGradientError, GradientError, StaleSavedError, GraphFreedError
        As in `backward`.
    ArgumentTypeError
        If a root, gradient or input is of another type.

    Examples
    --------
    >>> x = vt.tensor(3.0, requires_grad=True)
    >>> (first,) = vt.autograd.grad(x**3, x, create_graph=True)
    >>> (second,) = vt.autograd.grad(first, x)
    >>> first.item(), second.item()
    (27.0, 18.0)
    """
    if keys.modes and in_function_mode():
        return call_override(
            grad,
            outputs,
            inputs,
            grad_outputs,
            retain_graph,
            create_graph,
            only_inputs,
            allow_unused,
            is_grads_batched,
            materialize_grads,
        )
    if not only_inputs:
        warn(
            "only_inputs=False has no effect: grad never fills .grad, backward does",
            FutureWarning,
        )
    options = (retain_graph, create_graph, allow_unused, materialize_grads)
    if not is_grads_batched:
        return _grad(outputs, inputs, grad_outputs, *options)
    # `vmap` and its parts, see Note [Tools come at first use].
    batched_grads: Callable[..., tuple[Tensor | None, ...]]
    batched_grads = import_module("vtgrad.autograd.batched_grads").batched_grads
    return batched_grads(lambda sample: _grad(outputs, inputs, sample, *options), grad_outputs)


def _grad(
    outputs: Roots,
    inputs: Roots,
    grad_outputs: Gradients,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
    materialize_grads: bool,
) -> tuple[Tensor | None, ...]:
    """`grad`, of tensors of one sample too if this is inside of `vmap`."""
    # Samples may be used on other threads than their vmap's, which have no levels.
    if keys.active and (thread.batch_levels or is_keyed(outputs, inputs)):
        outputs, inputs, grad_outputs, levels = of_values(outputs, inputs, grad_outputs)
    else:
        levels = None
    found = cast(
        "tuple[Tensor | None, ...]",
        engine.grad(
            outputs,
            inputs,
            grad_outputs,
            retain_graph,
            create_graph,
            allow_unused,
            materialize_grads,
        ),
    )
    models = inputs if isinstance(inputs, Sequence) else (inputs,)
    for model in models:
        if type(model) is not Tensor:
            found = tuple(in_classes_of(found, models))
            break
    if levels is None:
        return found
    return tuple(
        [
            None if gradient is None else of_samples(gradient, own)
            for gradient, own in zip(found, levels, strict=True)
        ]
    )
