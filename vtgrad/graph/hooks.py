"""Functions of the user's that see gradients pass.

NOTE [ Where hooks live ]

A tensor hook belongs to a value, not to a variable: it is kept by the node that produced the
value (for a leaf by its `AccumulateGrad`), under the number of the output. After an in-place
write the tensor has a new node, and the hook stays behind with the old one. `retain_grad` is
the exception: it follows the tensor, so whoever gives a tensor a new node moves it along
(`AutogradMeta.set_gradient_edge`).
"""

from __future__ import annotations

import enum
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

from ..errors import ArgumentTypeError, HookError
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from .input_metadata import InputMetadata

if TYPE_CHECKING:
    from .accumulate_grad import AccumulateGrad
    from .retained_part import RetainedPart

__all__ = [
    "GradCell",
    "LeafState",
    "HookDict",
    "NodeHooks",
    "USERS_CODE",
    "RemovableHandle",
    "graph_lock",
    "call_tensor_hooks",
    "next_hook_id",
]

H = TypeVar("H")

TensorHook = Callable[[TensorBase], TensorBase | None]
Gradients = tuple[TensorBase | None, ...]
NodePreHook = Callable[[Gradients], Gradients | None]
NodePostHook = Callable[[Gradients, Gradients], Gradients | None]

_ids = itertools.count()


def next_hook_id() -> int:
    """A number larger than the `RemovableHandle.id` of every hook registered so far."""
    return next(_ids)


# Threads share tensors. A stale view's producer must be built once, and sums into one `.grad` must
# not be lost, although NumPy lets go of the interpreter lock while it adds. All of that is short,
# so one lock for all is enough. A signal handler may meet it held by its own thread.
graph_lock: threading.RLock = threading.RLock()

# A process that is forked has only the thread that has forked: were the lock held by another one
# then, it would stay locked there, and what that thread was at would stay half done.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=graph_lock.acquire,
        after_in_parent=graph_lock.release,
        after_in_child=graph_lock.release,
    )


class HookDict(Generic[H]):
    """Hooks in order of registration."""

    __slots__ = ("__weakref__", "entries")

    entries: dict[int, H]

    def __init__(self) -> None:
        self.entries = {}

    def add(self, hook: H, *, first: bool = False) -> RemovableHandle:
        """Register a hook; the handle removes it."""
        handle = RemovableHandle(self)
        if first:
            self.entries = {handle.id: hook, **self.entries}
        else:
            self.entries[handle.id] = hook
        return handle


class RemovableHandle:
    """What registering a hook returns.

    As a context manager it removes the hook at the end of the block.

    Attributes
    ----------
    id : int
        Grows with every registration.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> with x.register_hook(print):
    ...     x.sum().backward()
    tensor([1., 1.])
    >>> x.sum().backward()
    """

    __slots__ = ("_hooks", "id")

    id: int

    def __init__(self, hooks: HookDict[H]) -> None:
        self.id = next_hook_id()
        self._hooks = weakref.ref(hooks)

    def remove(self) -> None:
        """Take the hook away; it may be called again, and after the graph is gone."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.entries.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class LeafState(enum.Enum):
    """What becomes of gradients that arrive at a leaf's node.

    The node may outlive the leaf's being one: a graph recorded earlier still leads to it.
    """

    ACCUMULATES = enum.auto()
    # The leaf does not require grad any more: what arrives is dropped.
    IGNORES = enum.auto()
    # The leaf was written with something that is recorded, and is a result now.
    MOVED = enum.auto()


class GradCell:
    """Holds ``.grad`` of one tensor, apart from the tensor so that the graph can fill it.

    Attributes
    ----------
    grad : TensorBase or None
        The gradient accumulated so far.
    post_accumulate : HookDict or None
        Hooks of a leaf that run after each accumulation.
    memory : TensorImpl or None
        Where a leaf with such hooks lies, or lay when it went.
    leaf_state : LeafState
        What the leaf's node does with gradients.
    """

    __slots__ = ("grad", "leaf_state", "memory", "post_accumulate")

    grad: TensorBase | None
    leaf_state: LeafState
    post_accumulate: HookDict[Callable[[AccumulateGrad], None]] | None
    memory: TensorImpl | None

    def is_in_use(self) -> bool:
        """Whether there is a gradient already, or a hook that waits for one."""
        return self.grad is not None or self.post_accumulate is not None

    def __init__(self) -> None:
        self.grad = None
        self.leaf_state = LeafState.ACCUMULATES
        self.post_accumulate = None
        self.memory = None


class NodeHooks:
    """All hooks of one node; most nodes have none and no object of this class.

    Attributes
    ----------
    tensor_pre : dict of int to HookDict
        Tensor hooks by output number, in order of the first registration; they run first.
    retain_grad : dict of int to GradCell
        Where to put the gradient that is left after all tensor hooks.
    parts : tuple of RetainedPart
        Retained gradients of which what arrives at output 0 is a part.
    view : weak reference to a tensor, or None
        The view that output 0 is, or was, if it retains its gradient.
    pre, post : HookDict
        Hooks of the node itself, before and after it runs.
    detached : list of weak reference
        Results that were detached in place: a value that was saved of such a tensor is not to be
        used, also when the tensor itself is gone. A tensor that stands for a saved result while the
        node runs is another one; it may be used.
    """

    __slots__ = (
        "__weakref__",
        "detached",
        "parts",
        "post",
        "pre",
        "retain_grad",
        "tensor_pre",
        "view",
    )

    tensor_pre: dict[int, HookDict[TensorHook]]
    retain_grad: dict[int, GradCell]
    parts: tuple[RetainedPart, ...]
    view: weakref.ref[TensorBase] | None
    pre: HookDict[NodePreHook]
    post: HookDict[NodePostHook]
    detached: list[weakref.ref[TensorBase]]

    def __init__(self) -> None:
        self.detached = []
        self.tensor_pre = {}
        self.retain_grad = {}
        self.parts = ()
        self.view = None
        self.pre = HookDict()
        self.post = HookDict()

    def was_detached(self, tensor: weakref.ref[TensorBase] | None) -> bool:
        """Whether a tensor, which may be gone, was detached in place.

        Parameters
        ----------
        tensor : weak reference or None
            Without a callback: of these Python makes one for all who ask, so that it can be told
            from those of other tensors also when the tensor is gone.
        """
        return tensor is not None and any(tensor is other for other in self.detached)

    def watch_node(self) -> bool:
        """Whether there are hooks of the node itself."""
        return bool(self.pre.entries or self.post.entries)

    def call_users_code(self) -> bool:
        """Whether there are hooks at all, rather than gradients to retain."""
        return self.watch_node() or any(hooks.entries for hooks in self.tensor_pre.values())

    def tensor_hooks(self, output_nr: int) -> HookDict[TensorHook]:
        """The tensor hooks of one output, made on first use."""
        return self.tensor_pre.setdefault(output_nr, HookDict())


# NOTE [ Nodes that run users' code ]
#
# Users' code is called like a hook: in the user's own context rather than in that of the
# library's arithmetic, and when all that came before can be seen. The engine asks every node for
# its hooks anyway, so that nodes which run users' code have these, which are none, from the start,
# and all other nodes are asked nothing more. Registering a hook replaces them.
USERS_CODE: Final = NodeHooks()


def call_tensor_hooks(
    hooks: Sequence[TensorHook], grad: TensorBase | None, meta: InputMetadata
) -> TensorBase | None:
    """The gradient after all hooks; each sees what the one before left.

    Parameters
    ----------
    hooks : sequence of callable
        In order of registration.
    grad : TensorBase or None
        None if the node runs because of another of its results, as PyTorch shows it to hooks.
    meta : InputMetadata
        Shape and dtype that gradients of this value have.

    Raises
    ------
    ArgumentTypeError
        If a hook returns something other than None or a tensor.
    HookError
        If the tensor has another shape or dtype.
    """
    for hook in hooks:
        result = hook(cast("TensorBase", grad))
        if result is None:
            continue
        if not isinstance(result, TensorBase):
            raise ArgumentTypeError(
                f"a tensor hook must return a tensor or None, not {type(result).__name__}",
                hook=hook,
            )
        found = result._impl.array
        if found.shape != meta.shape or found.dtype != meta.dtype:
            raise HookError(
                f"hook {getattr(hook, '__name__', hook)!r} turned a {meta.dtype} gradient of "
                f"shape {list(meta.shape)} into a {found.dtype} one of shape {list(found.shape)}",
                hook=hook,
                expected=(meta.shape, meta.dtype),
                found=(found.shape, found.dtype),
            )
        grad = result
    return grad
