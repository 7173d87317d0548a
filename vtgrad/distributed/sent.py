"""Trees of tensors as a worker gets them: no larger than what they show, and read-only.

Note [What is sent is read-only]

A shard is sent once and used in every call, and the parameters are used for every shard of a
worker. If the function wrote to them, later results would depend on which worker had computed what
before. So what a worker has is read-only: a write to it is refused at its line, as each write to
memory that NumPy marks as read-only. Objects that are neither tensors nor arrays are as they are.
"""

from __future__ import annotations

from typing import Generic, TypeVar, cast

from vtgrad.errors import ForwardModeError
from vtgrad.graph.tracer import thread
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.key_set import keys
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import tree_map

__all__ = ["Held", "without_rest"]

T = TypeVar("T")


class Held(Generic[T]):
    """A tree whose tensors and arrays are read-only, here and in the process that it is sent to.

    Attributes
    ----------
    tree : object
        The tree, with other tensors and arrays on the same memory.
    """

    __slots__ = ("tree",)

    tree: T

    def __init__(self, tree: T) -> None:
        self.tree = cast("T", tree_map(_read_only, tree))

    def __reduce__(self) -> tuple[type[Held[T]], tuple[T]]:
        # What is unpickled is writable.
        return Held, (self.tree,)


def _read_only(leaf: object) -> object:
    if isinstance(leaf, Tensor):
        alias = leaf.detach()
        impl = alias._impl
        # `detach` shares the array, which is the one of the caller's tensor.
        impl.array = impl.array.view()
        impl.make_read_only()
        return alias
    if type(leaf) in PLAIN:
        view = cast("Array", leaf).view()
        view.flags.writeable = False
        return view
    return leaf


def without_rest(tree: T) -> T:
    """A tree to be sent: on the CPU, and of a tensor that shows a part of its storage that part.

    Raises
    ------
    BatchedTensorError
        Inside of `vmap`, where a tensor has another value for each sample.
    ForwardModeError
        If a tensor has a tangent.
    """
    return cast("T", tree_map(_compact, tree))


def _compact(leaf: object) -> object:
    if not isinstance(leaf, Tensor):
        return leaf
    if keys.modes:
        meta = leaf._impl.autograd_meta
        if meta is not None and meta.fw_level(thread.forward_limit):
            raise ForwardModeError("a tangent cannot be sent to another process")
    alone = leaf.detach().cpu()
    impl = alone._impl
    return alone if impl.storage.nbytes() == impl.array.nbytes else F.clone(alone)
