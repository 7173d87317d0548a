"""Hooks on several tensors together, and on the end of a backward."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Literal, cast, overload

from vtgrad.engine.current_graph_task import running
from vtgrad.engine.graph_task import GraphTask
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    GradRequiredError,
    OutsideBackwardError,
)
from vtgrad.graph.hooks import NodeHooks, RemovableHandle
from vtgrad.graph.set_history import gradient_edge
from vtgrad.storage.scope import Scope
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.tensor import Tensor

__all__ = ["MultiGradHandle", "queue_callback", "register_multi_grad_hook"]

OfAll = Callable[[list[Tensor | None]], object]
OfAny = Callable[[Tensor], object]


class MultiGradHandle(Scope):
    """Removes the hook of `register_multi_grad_hook`.

    As a context manager it removes the hook at the end of the block.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> with vt.autograd.graph.register_multi_grad_hook([x], print):
    ...     x.sum().backward()
    [tensor([1., 1.])]
    >>> x.sum().backward()
    """

    __slots__ = ("_handles",)

    _handles: tuple[RemovableHandle, ...]

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        super().__init__()
        self._handles = handles

    def remove(self) -> None:
        """Remove the hook from all tensors; removing twice is allowed."""
        for handle in self._handles:
            handle.remove()

    def restore(self) -> None:
        """Remove the hook at the end of a block; called again if the call is interrupted."""
        self.remove()


@overload
def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: OfAll, *, mode: Literal["all"] = "all"
) -> MultiGradHandle: ...
@overload
def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: OfAny, *, mode: Literal["any"]
) -> MultiGradHandle: ...
def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: OfAll | OfAny, *, mode: Literal["all", "any"] = "all"
) -> MultiGradHandle:
    """Call a function once in each backward, with the gradients of several tensors.

    Like a tensor hook, the hook belongs to the present values of the tensors. Every backward
    calls it independently, also one that runs inside another or on another thread. The result
    of `fn` is ignored.

    Parameters
    ----------
    tensors : sequence of Tensor
        Tensors that require grad.
    fn : callable
        With ``"all"``, called after the last of these gradients that this backward computes; it
        gets a list with one gradient, or None, for each tensor. With ``"any"``, called with the
        first gradient that is computed.
    mode : {"all", "any"}, default "all"
        When to call `fn`. With ``"any"``, tensors that do not require grad are skipped.

    Returns
    -------
    MultiGradHandle
        Removes the hook.

    Raises
    ------
    ArgumentValueError
        If `mode` is another value.
    ArgumentTypeError
        If an element of `tensors` is not a tensor.
    GradRequiredError
        If a tensor does not require grad, with ``"all"``.

    Examples
    --------
    >>> x, y = vt.ones(2, requires_grad=True), vt.ones(2, requires_grad=True)
    >>> handle = vt.autograd.graph.register_multi_grad_hook((x, y), print)
    >>> (x * 2 + y * 3).sum().backward()
    [tensor([2., 2.]), tensor([3., 3.])]
    >>> (x * 2).sum().backward()
    [tensor([2., 2.]), None]
    >>> handle.remove()
    """
    if mode not in ("all", "any"):
        raise ArgumentValueError(f"mode must be 'all' or 'any', not {mode!r}", mode=mode)
    for nr, tensor in enumerate(tensors):
        if not isinstance(tensor, TensorBase):
            raise ArgumentTypeError(
                f"tensor {nr} of register_multi_grad_hook is a {type(tensor).__name__}", index=nr
            )
        if mode == "all" and not tensor.requires_grad:
            raise GradRequiredError(
                f"tensor {nr} of register_multi_grad_hook does not require grad", index=nr
            )
    if mode == "any":
        first = _First(cast("OfAny", fn))
        return MultiGradHandle(
            tuple([t.register_hook(first.arrived) for t in tensors if t.requires_grad])
        )
    return _Gathered(cast("OfAll", fn)).register_on(tensors)


class _First:
    """Calls a function with the first gradient of each backward."""

    __slots__ = ("_fn",)

    _fn: OfAny

    def __init__(self, fn: OfAny) -> None:
        self._fn = fn

    def arrived(self, grad: Tensor) -> None:
        notes = _running().own_for_hooks().notes
        if self not in notes:
            notes[self] = True
            self._fn(grad)


class _Gathered:
    """Calls a function with the gradients that each backward computes of several tensors.

    The nodes of the tensors hold this object, so it refers to their hooks only, and weakly.
    """

    __slots__ = ("_fn", "_newest", "_nodes")

    _fn: OfAll
    _nodes: tuple[weakref.ref[NodeHooks] | None, ...]
    _newest: int

    def __init__(self, fn: OfAll) -> None:
        self._fn = fn
        self._nodes = ()
        self._newest = -1

    def register_on(self, tensors: Sequence[Tensor]) -> MultiGradHandle:
        """Register on tensors, to wait for their gradients."""
        # A view made under no_grad requires grad, as its base does, but never gets a gradient.
        edges = [gradient_edge(tensor) for tensor in tensors]
        handles = tuple([t.register_hook(self._hook(nr)) for nr, t in enumerate(tensors)])
        self._nodes = tuple(
            [None if e is None else weakref.ref(e.function.own_hooks()) for e in edges]
        )
        self._newest = max([handle.id for handle in handles], default=-1)
        return MultiGradHandle(handles)

    def _hook(self, nr: int) -> Callable[[Tensor], None]:
        return lambda grad: self._arrived(nr, grad)

    def _arrived(self, nr: int, grad: Tensor | None) -> None:
        task = _running()
        notes = task.own_for_hooks().notes
        waiting = notes.get(self)
        if waiting is None:
            waiting = notes[self] = _Waiting(len(self._nodes), self._count_in(task))
        assert isinstance(waiting, _Waiting)
        waiting.grads[nr] = grad
        waiting.left -= 1
        if waiting.left == 0:
            self._fn(waiting.grads)

    def _count_in(self, task: GraphTask) -> int:
        """The number of the tensors whose gradients this backward computes."""
        count = 0
        for reference in self._nodes:
            hooks = None if reference is None else reference()
            count += hooks is not None and task.shows_to(hooks, self._newest)
        return count


class _Waiting:
    """The gradients computed so far in one backward, and the number still missing."""

    __slots__ = ("grads", "left")

    grads: list[Tensor | None]
    left: int

    def __init__(self, count: int, left: int) -> None:
        self.grads = [None] * count
        self.left = left


def queue_callback(callback: Callable[[], object]) -> None:
    """Call a function once, after the running backward has run all nodes.

    Called from a hook. The callback may queue more; a nested backward has callbacks of its
    own. If the backward raises, its callbacks are not called.

    Parameters
    ----------
    callback : callable
        Takes no arguments; its result is ignored.

    Raises
    ------
    OutsideBackwardError
        If no backward is running on this thread.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> done = lambda: print("all done:", x.grad)
    >>> handle = x.register_hook(lambda grad: vt.autograd.graph.queue_callback(done))
    >>> (x * 2).sum().backward()
    all done: tensor([2., 2.])
    """
    _running().final_callbacks.append(callback)


def _running() -> GraphTask:
    task = running.task
    if task is None:
        raise OutsideBackwardError(
            "this is for hooks, while a backward runs on the thread; none is running"
        )
    return task
