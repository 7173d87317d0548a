"""User functions that are called with gradients during backward.

Note [Where hooks live]

A tensor hook belongs to a value, not to a variable: the node that produced the value holds it (for
a leaf its `AccumulateGrad`), under the number of the output. After an in-place write the tensor has
a new node, and the hook stays with the old one. `retain_grad` is the exception: it follows the
tensor, so `AutogradMeta.set_gradient_edge`, which gives a tensor a new node, moves it:

    before y.mul_(3)                 after
    y --> A: tensor_pre[0] = hook    y --> B: retain_grad[0] = cell of y
             retain_grad[0] = cell         |
                                           v
                                           A: tensor_pre[0] = hook

So the hook gets the gradient of the old value, and ``y.grad`` is that of the new one:

    >>> import vtgrad as vt
    >>> x = vt.ones(2, requires_grad=True)
    >>> y = x * 2
    >>> handle = y.register_hook(lambda grad: print("hook", grad))
    >>> y.retain_grad()
    >>> y = y.mul_(3)
    >>> y.sum().backward()
    hook tensor([3., 3.])
    >>> y.grad
    tensor([1., 1.])
"""

from __future__ import annotations

import enum
import itertools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Generic, TypeVar, cast

from vtgrad.errors import ArgumentTypeError, HookError
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.operators import operators
from vtgrad.storage.key_set import NAMED
from vtgrad.storage.scope import Scope
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import after_fork

if TYPE_CHECKING:
    from vtgrad.graph.accumulate_grad import AccumulateGrad
    from vtgrad.graph.retain_grad_of_views import RetainedPart

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
# not be lost, although NumPy releases the interpreter lock while it adds. All of that is short, so
# one lock for all is enough. It is reentrant, because a signal handler may run while its own thread
# holds the lock.
graph_lock: threading.RLock = threading.RLock()

# A child process has only the thread that forked. If another thread held the lock during the fork,
# it would stay locked in the child, with the work of that thread half done.
after_fork(graph_lock.release, before=graph_lock.acquire, in_parent=graph_lock.release)


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


class RemovableHandle(Scope):
    """Removes a registered hook.

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
        self._end = None
        self.id = next_hook_id()
        self._hooks = weakref.ref(hooks)

    def remove(self) -> None:
        """Remove the hook; removing twice, or after the graph is freed, is allowed."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.entries.pop(self.id, None)

    def restore(self) -> None:
        """Remove the hook at the end of a block."""
        self.remove()


class LeafState(enum.Enum):
    """What a leaf's node does with incoming gradients.

    The node may exist after the tensor has ceased to be a leaf: a graph recorded earlier leads to
    it.
    """

    ACCUMULATES = enum.auto()
    # The leaf does not require grad any more: gradients are dropped.
    IGNORES = enum.auto()
    # The leaf was written by a recorded operator, and is a result now.
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
        The impl of a leaf with such hooks, or its last impl if the leaf is dead.
    leaf_state : LeafState
        What the leaf's node does with gradients.
    """

    __slots__ = ("grad", "leaf_state", "memory", "post_accumulate")

    grad: TensorBase | None
    leaf_state: LeafState
    post_accumulate: HookDict[Callable[[AccumulateGrad], None]] | None
    memory: TensorImpl | None

    def is_in_use(self) -> bool:
        """Whether there is a gradient, or a hook that waits for one."""
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
        The cells that get the gradient after all tensor hooks.
    parts : tuple of RetainedPart
        Retained gradients of which the gradient of output 0 is a part.
    view : weak reference to a tensor, or None
        The view that is, or was, output 0, if it retains its gradient.
    pre, post : HookDict
        Hooks of the node itself, before and after it runs.
    detached : list of weak reference
        Results that were detached in place: a saved value of such a tensor must not be used, even
        if the tensor itself is dead. The tensor that represents a saved result while the node runs
        is a different one; it may be used.
    unpacks : bool
        Whether the node has values that user code unpacks; see Note [Unpacked once].
    """

    __slots__ = (
        "__weakref__",
        "detached",
        "parts",
        "post",
        "pre",
        "retain_grad",
        "tensor_pre",
        "unpacks",
        "view",
    )

    tensor_pre: dict[int, HookDict[TensorHook]]
    retain_grad: dict[int, GradCell]
    parts: tuple[RetainedPart, ...]
    view: weakref.ref[TensorBase] | None
    pre: HookDict[NodePreHook]
    post: HookDict[NodePostHook]
    detached: list[weakref.ref[TensorBase]]
    unpacks: bool

    def __init__(self) -> None:
        self.detached = []
        self.tensor_pre = {}
        self.retain_grad = {}
        self.parts = ()
        self.view = None
        self.pre = HookDict()
        self.post = HookDict()
        self.unpacks = False

    def was_detached(self, tensor: weakref.ref[TensorBase] | None) -> bool:
        """Whether a tensor, which may be gone, was detached in place.

        Parameters
        ----------
        tensor : weak reference or None
            Without a callback: Python shares one such reference per object, so its identity
            distinguishes it from those of other tensors even if the tensor is dead.
        """
        return tensor is not None and any(tensor is other for other in self.detached)

    def watch_node(self) -> bool:
        """Whether the node itself has hooks."""
        return bool(self.pre.entries or self.post.entries)

    def call_users_code(self) -> bool:
        """Whether there is any hook; gradients to retain do not count."""
        return self.unpacks or self.change_gradients()

    def change_gradients(self) -> bool:
        """Whether there is a hook of the node or of a tensor, which may replace gradients."""
        return self.watch_node() or any(hooks.entries for hooks in self.tensor_pre.values())

    def tensor_hooks(self, output_nr: int) -> HookDict[TensorHook]:
        """The tensor hooks of one output, made on first use."""
        return self.tensor_pre.setdefault(output_nr, HookDict())


# Note [Nodes that run users' code]
#
# User code is called like a hook: in the user's own context rather than in that of the library's
# arithmetic, and after all earlier results are visible. The engine reads the hooks of every node in
# any case. So a node that runs user code has these hooks, which are empty, from the start, and
# other nodes need no further test. Registering a hook replaces them.
USERS_CODE: Final = NodeHooks()


def call_tensor_hooks(
    hooks: Sequence[TensorHook], grad: TensorBase | None, meta: InputMetadata
) -> TensorBase | None:
    """The gradient after all hooks; each hook gets the result of the one before.

    Parameters
    ----------
    hooks : sequence of callable
        In order of registration.
    grad : TensorBase or None
        None if only another result of the node has a gradient, as PyTorch passes it to hooks.
    meta : InputMetadata
        Shape and dtype of gradients of this value.

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
        device = result._impl.device
        if device is not meta.device and device != meta.device:
            raise HookError(
                f"hook {getattr(hook, '__name__', hook)!r} turned a gradient on {meta.device} into "
                f"one on {device}",
                hook=hook,
                expected=meta.device,
                found=device,
            )
        grad = result
        extra = result._impl.extra_meta
        if extra is not None and extra.key_set & NAMED:
            # Gradients have no names of dimensions.
            grad = operators().unnamed(result)
    return grad
