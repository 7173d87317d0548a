"""A backward that cannot be differentiated itself."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NoReturn, ParamSpec, TypeVar, cast

from vtgrad.errors import NoDerivativeError, ViewInvalidError
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.function.nested import put_in, take_out, tensors_in
from vtgrad.graph.edge import Edge
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import gradient_edge, set_history_of_each
from vtgrad.ops.view_impls import views as view_impls
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase, handle_like
from vtgrad.storage.thread_mode import thread
from vtgrad.storage.thread_state import changed, run_with

__all__ = ["once_differentiable"]

P = ParamSpec("P")
R = TypeVar("R")


class NotTwiceDifferentiable(Node):
    """The node of gradients from a backward that cannot be differentiated."""

    __slots__ = ()

    def name(self) -> str:
        """PyTorch's name of the same node."""
        return "torch::autograd::Error"

    def check_saved(self) -> NoReturn:
        """Raise `NoDerivativeError`, before any node has run."""
        raise NoDerivativeError(
            "backward reached gradients that a custom Function computed in a backward marked "
            "once_differentiable, which have no derivative",
            node=self.name(),
        )

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> NoReturn:
        """Raise `NoDerivativeError`."""
        self.check_saved()

    def apply_tensors(self, grads: Sequence[TensorBase | None], needs: int) -> NoReturn:
        """Raise `NoDerivativeError`."""
        self.check_saved()


def once_differentiable(backward: Callable[P, R]) -> Callable[P, R]:
    """Decorate a backward that cannot be differentiated: it runs without recording.

    Differentiating the gradients that it returns raises `NoDerivativeError`; they are not
    treated as constants. It stands below ``@staticmethod``.

    Parameters
    ----------
    backward : callable
        The backward of a custom Function.

    Returns
    -------
    callable
        A backward of the same signature.

    Examples
    --------
    >>> from vtgrad.autograd.function import once_differentiable
    >>> class Cube(vt.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * grad
    >>> x = vt.tensor(2.0, requires_grad=True)
    >>> (first,) = vt.autograd.grad(Cube.apply(x), x, create_graph=True)
    >>> first.item()
    12.0
    >>> first.backward()
    Traceback (most recent call last):
    vtgrad.errors.NoDerivativeError: ...
    """

    @functools.wraps(backward)
    def once(*args: P.args, **kwargs: P.kwargs) -> R:
        records = thread.mode.grad
        context_edges = _edges_of_contexts(args) if records else []
        silent = changed(mode=thread.mode.by_grad[False])
        answers = run_with(silent, backward, *args, **kwargs)
        return _guarded(answers, args, context_edges) if records else answers

    return once


def _edges_of_contexts(arguments: Sequence[object]) -> list[Edge | None]:
    """Edges of what backward reads from a context.

    These are the Function's arguments, the tensors that it has saved and those among the attributes
    of the context. They are read before backward runs, which may free them.
    """
    edges: list[Edge | None] = []
    for argument in arguments:
        if isinstance(argument, FunctionCtx):
            call = argument._call
            edges.extend(call.node_of(argument).next_edges)
            edges.extend([saved._edge for saved in call.saved if saved is not None])
            attributes = tensors_in(*argument.__dict__.values())
            edges.extend([_edge_of_attribute(tensor) for tensor in attributes])
    return edges


def _edge_of_attribute(tensor: TensorBase) -> Edge | None:
    try:
        return gradient_edge(tensor)
    except ViewInvalidError:
        # Attributes are not checked: see Note [What backward reads].
        return None


def _guarded(answers: R, arguments: Sequence[object], edges: list[Edge | None]) -> R:
    """The answers as results of a node that cannot run.

    Parameters
    ----------
    edges : list of Edge or None
        Those of the contexts among the arguments.
    """
    edges = [*edges, *[gradient_edge(tensor) for tensor in tensors_in(*arguments)]]
    if not any(edge is not None for edge in edges):
        return answers
    found: list[TensorBase] = []
    structure = take_out(answers, found)
    fresh = [handle_like(x, view_impls.alias(x._impl)) for x in found]
    set_history_of_each(fresh, NotTwiceDifferentiable(tuple(edges)))
    return cast("R", put_in(structure, fresh))
