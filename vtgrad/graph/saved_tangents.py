# Compiled by mypyc.
"""The tangents of values that a node has saved.

Note [Saved tangents]

Backward inside a level of forward mode computes the tangents of gradients, so a saved value is
unpacked with the tangents that it had when it was saved. While the tensor lives, it is unpacked
itself. Else the value is made again, with tangents that were held since:

- of an input, the tensor's own tangents: they can only be overwritten together with the value,
  which is then refused. Where the value is restored, by rewind or by hooks, the tangents are copied
  when it is saved;
- of a result, which has none yet when it is saved, what the tensor has got since. If the result was
  overwritten in place and its value is restored, its tangents are those of the new value, and
  refused.

A tensor may have got another geometry in place, and its tangents with it: they are viewed as the
value was.
"""

from __future__ import annotations

from vtgrad.errors import NotSupportedError
from vtgrad.graph.forward_grad import ForwardGrad
from vtgrad.graph.node import Node
from vtgrad.graph.operators import operators
from vtgrad.graph.set_history import meta_of, own_meta
from vtgrad.graph.thread_levels import NO_LIMIT, thread
from vtgrad.storage.geometry import has_self_overlap
from vtgrad.storage.key_set import keys
from vtgrad.storage.strides import reach
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["SavedTangents", "pass_tangents"]


class SavedTangents:
    """The tangents of one saved value; see Note [Saved tangents].

    Attributes
    ----------
    tangents : ForwardGrad
        The tensor's own, or copies.
    are_copies : bool
        Whether nothing can overwrite them.
    """

    __slots__ = ("are_copies", "tangents")

    tangents: ForwardGrad
    are_copies: bool

    def __init__(self, tangents: ForwardGrad, are_copies: bool) -> None:
        self.tangents = tangents
        self.are_copies = are_copies

    @staticmethod
    def kept(tensor: TensorBase, is_output: bool) -> SavedTangents | None:
        """Those of a tensor itself, for when it is dead; None if it has none, and gets none."""
        meta = meta_of(tensor)
        if meta is None:
            return None
        if not is_output:
            level = meta.fw_level(NO_LIMIT)
            if not level:
                return None
            while level:
                meta.fw_grad(level, tensor)  # that of a view is made here
                level = meta.fw_level(level)
        return SavedTangents(meta.own_fw_grad(), False)

    @staticmethod
    def copied(tensor: TensorBase) -> SavedTangents | None:
        """Copies of those of a tensor; None if it has none."""
        meta = meta_of(tensor)
        if meta is None:
            return None
        level = meta.fw_level(NO_LIMIT)
        if not level:
            return None
        copies, before = ForwardGrad(), thread.forward_limit
        try:
            while level:
                tangent = meta.fw_grad(level, tensor)
                assert tangent is not None
                # So that the copy has the tangents of lower levels that the tangent has.
                thread.forward_limit = level
                copies.set(level, _copy(tangent))
                level = meta.fw_level(level)
        finally:
            thread.forward_limit = before
        return SavedTangents(copies, True)

    def give(
        self, tensor: TensorBase, node: Node, *, overwritten: bool, offset: int | None
    ) -> None:
        """Give a tensor that was made again its tangents, unless it has some of its own.

        Parameters
        ----------
        node : Node
            The node that has saved the value.
        overwritten : bool
            Whether the saved tensor was overwritten, and the value restored.
        offset : int or None
            Where the saved elements began in the storage, in bytes; None if the tensor is on memory
            of its own.

        Raises
        ------
        NotSupportedError
            If the tangents were overwritten too.
        """
        if not self.tangents.tangents:
            return
        if overwritten and not self.are_copies:
            raise NotSupportedError(
                f"{node.name()} needs the tangent of its result, which was overwritten in place: "
                "rewind and hooks restore values, and of tangents only those of saved inputs. "
                "Write to a clone of the result",
                operator=node.name(),
            )
        impl, own = tensor._impl, own_meta(tensor).own_fw_grad()
        for level, tangent in tuple(self.tangents.tangents.items()):
            if level in own.tangents:
                continue
            geometry = (impl.sizes, impl.strides)
            if tangent._impl.geometry[:2] != geometry:
                if self.are_copies:
                    # Else it would be taken for that of a tensor whose geometry was changed.
                    placed = operators().zeros_as_memory(tensor, tangent)
                    tangent = operators().copy_(placed, tangent)
                elif offset is not None:
                    start = offset // impl.array.itemsize
                    tangent = operators().as_strided(tangent, *geometry, start)
            own.set(level, tangent)


def _copy(tangent: TensorBase) -> TensorBase:
    """A copy on other memory; if elements share memory, so do those of the copy.

    The value may be made again on such memory, and a tangent has the layout of its tensor.
    """
    impl = tangent._impl
    sizes, strides, start = impl.geometry
    if impl.key_set or not has_self_overlap(sizes, strides) or min(strides) < 0:
        return operators().clone(tangent)
    low, high = reach(sizes, strides, start)
    memory = operators().clone(operators().as_strided(tangent, (high - low + 1,), (1,), low))
    return operators().as_strided(memory, sizes, strides, start - low)


def pass_tangents(source: TensorBase, target: TensorBase, limit: int, *, copies: bool) -> None:
    """Give a tensor the tangents of another one, or copies, at all open levels below a limit."""
    meta = meta_of(source) if keys.modes else None
    level = 0 if meta is None else meta.fw_level(limit)
    while level:
        assert meta is not None
        tangent = meta.fw_grad(level, source)
        assert tangent is not None
        given = operators().clone(tangent) if copies else tangent
        own_meta(target).set_fw_grad(given, target, level, False)
        level = meta.fw_level(level)
