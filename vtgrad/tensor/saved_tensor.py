"""One saved value of a node, as users look at it and register hooks on it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Final, TypeVar, cast

from vtgrad.errors import NotConstructibleError, SavedHookError
from vtgrad.graph.hooks import graph_lock
from vtgrad.graph.packing import HookPair
from vtgrad.graph.saved_variable import UNSAVED
from vtgrad.ops.saving.slots import Slot, raw_fields
from vtgrad.tensor.tensor import Tensor

__all__ = ["SavedTensor", "saved_tensor"]

Held = TypeVar("Held")


class SavedTensor:
    """A saved value of a node: ``node._raw_saved_self``, beside ``node._saved_self``.

    It gives the value also when the rest of the graph is gone, and it is where hooks of a single
    value are registered.

    Raises
    ------
    NotConstructibleError
        If it is made by calling the class: nodes have them.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x.exp()
    >>> saved = y.grad_fn._raw_saved_result
    >>> isinstance(saved, vt.autograd.SavedTensor), saved.unpack()
    (True, tensor([2.7183, 7.3891], grad_fn=<ExpBackward0>))
    """

    __slots__ = ("__weakref__", "_slot")

    _slot: Slot

    def __init__(self) -> None:
        raise NotConstructibleError(
            "saved tensors are made by nodes; read one from a node, as y.grad_fn._raw_saved_self"
        )

    def unpack(self) -> Tensor | None:
        """The saved tensor, made by the unpack function if there are hooks.

        Returns
        -------
        Tensor or None
            None if the node did not need the value, and so did not save it. Without hooks an
            argument is the very tensor, while it lives; everything else is a new tensor.

        Raises
        ------
        GraphFreedError
            If a backward has freed it.
        StaleSavedError, SavedDetachedError, ViewInvalidError
            If it was overwritten or detached in place, or is a view that became invalid.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> x.sin().grad_fn._raw_saved_self.unpack() is x
        True
        """
        variable = self._slot.read()
        if variable is None or variable is UNSAVED:
            return None
        return cast("Tensor", variable.unpack(self._slot.node()))

    @property
    def data(self) -> object:
        """What is held of the value.

        Returns
        -------
        object
            What the pack function has returned; without hooks the saved tensor. None if the value
            was not saved, or was freed.

        Raises
        ------
        StaleSavedError, SavedDetachedError, ViewInvalidError
            As `unpack` does, for what is held is a tensor that was overwritten since.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> with vt.autograd.graph.saved_tensors_hooks(lambda x: x.tolist(), vt.tensor):
        ...     y = x.sin()
        >>> y.grad_fn._raw_saved_self.data
        [1.0, 1.0]
        """
        variable = self._slot.read()
        if variable is None or variable.is_empty:
            return None
        packed = variable.packed
        if packed is not None and not packed.is_itself:
            return packed.value
        return variable.unpack(self._slot.node())

    @property
    def unpack_hook(self) -> Callable[[object], object] | None:
        """The unpack function.

        Returns
        -------
        callable or None
            None without hooks.

        Examples
        --------
        >>> x = vt.ones(2, requires_grad=True)
        >>> print(x.sin().grad_fn._raw_saved_self.unpack_hook)
        None
        """
        variable = self._slot.read()
        packed = None if variable is None else variable.packed
        return None if packed is None else packed.unpack

    def register_hooks(
        self, pack_hook: Callable[[Tensor], Held], unpack_hook: Callable[[Held], Tensor]
    ) -> None:
        """Pack this value now, and unpack it when backward needs it.

        The functions are as in `saved_tensors_hooks`. This works inside
        `disable_saved_tensors_hooks`.

        Parameters
        ----------
        pack_hook : callable
            Takes the saved tensor; what it returns is held in its place.
        unpack_hook : callable
            Takes that, and returns the tensor.

        Raises
        ------
        ArgumentTypeError
            If one of the two cannot be called.
        SavedHookError
            If the value has hooks already, or was not saved; or if `pack_hook` has written to it.
        GraphFreedError
            If the value was freed.
        StaleSavedError, SavedDetachedError, ViewInvalidError
            If the value was overwritten or detached in place, or is a view that became invalid:
            it cannot be packed any more.

        Examples
        --------
        >>> x = vt.tensor([1.0, 2.0], requires_grad=True)
        >>> y = x.square()
        >>> y.grad_fn._raw_saved_self.register_hooks(lambda x: x.tolist(), vt.tensor)
        >>> y.sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        pair = HookPair(pack_hook, unpack_hook)
        slot = self._slot
        variable, node = slot.read(), slot.node()
        if variable is None or variable is UNSAVED:
            raise SavedHookError(
                f"{node.name()} did not save this value, so there is nothing to pack",
                node=node.name(),
            )
        slot.store(variable.packed_by(pair, node))

    def __repr__(self) -> str:
        return f"<SavedTensor of {self._slot.node().name()}>"


_known: Final[weakref.WeakValueDictionary[tuple[int, str, int], SavedTensor]] = (
    weakref.WeakValueDictionary()
)


def saved_tensor(slot: Slot) -> SavedTensor:
    """The object of a place: the same one while it is referred to.

    It holds the node, so that the key of the place is not used by another one meanwhile.
    """
    made = SavedTensor.__new__(SavedTensor)
    made._slot = slot
    with graph_lock:
        return _known.setdefault(slot.key, made)


raw_fields(saved_tensor)
