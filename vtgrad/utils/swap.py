"""Exchanging the content of two tensors."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Final

from vtgrad.errors import SwapError
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.hooks import GradCell
from vtgrad.graph.set_history import meta_of
from vtgrad.ops.calling.arguments import array_of
from vtgrad.storage.gc_freeze import may_hide_tensors
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta

__all__ = ["swap_tensors"]

# References to a leaf's weak reference while `_own_weak_reference` counts them: its node's, a
# variable, a list, and the argument of the call that counts.
_UNSHARED: Final = 4


def swap_tensors(t1: TensorBase, t2: TensorBase) -> None:
    """Exchange two tensors: every reference to one then refers to the other's content.

    Values, memory, gradients, hooks, class and attributes are exchanged, so that every list,
    module or variable that holds one of them holds the other from now on.

    Parameters
    ----------
    t1 : Tensor
        A tensor.
    t2 : Tensor
        The one to exchange it with; shape and dtype may differ.

    Raises
    ------
    ArgumentTypeError
        If an argument is not a tensor.
    SwapError
        If the library itself or a weak reference holds one of them: it is saved for a backward
        pass, is the base of a view or the gradient of another tensor, or retains its gradient.

    Examples
    --------
    >>> a, b = vt.zeros(2), vt.ones(3, requires_grad=True)
    >>> vt.utils.swap_tensors(a, b)
    >>> a
    tensor([1., 1., 1.], requires_grad=True)
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        array_of(tensor, name)
    if t1 is t2:
        return
    first, second = _attributes(t1), _attributes(t2)
    _check_unheld(t1, "t1")
    _check_unheld(t2, "t2")
    if type(t1) is not type(t2):
        _exchange_classes(t1, t2)
    t1._impl, t2._impl = t2._impl, t1._impl
    for tensor, attributes in ((t1, second), (t2, first)):
        if attributes is not None:
            vars(tensor).clear()
            vars(tensor).update(attributes)
        node = _leaf_node(tensor)
        if node is not None:
            node.move_to(tensor)


def _attributes(tensor: TensorBase) -> dict[str, object] | None:
    """The attributes of a subclass."""
    return dict(vars(tensor)) if hasattr(tensor, "__dict__") else None


def _exchange_classes(t1: TensorBase, t2: TensorBase) -> None:
    one, other = type(t1), type(t2)
    try:
        t1.__class__ = other
        try:
            t2.__class__ = one
        except TypeError:
            t1.__class__ = one
            raise
    except TypeError as error:
        raise SwapError(
            f"a {one.__name__} and a {other.__name__} keep their attributes in different ways, so "
            "they cannot be exchanged",
        ) from error


def _check_unheld(tensor: TensorBase, name: str) -> None:
    """Raise if another object would still refer to the tensor's former content."""
    meta = meta_of(tensor)
    if meta is not None and meta.retains_grad:
        raise SwapError(f"{name} retains its gradient, so it cannot be exchanged")
    if may_hide_tensors():
        raise SwapError(
            "tensors cannot be exchanged after gc.freeze(), which hides who holds them: call "
            "gc.unfreeze() before"
        )
    # What is kept for the next operator is no saved value yet.
    tensor._impl.saved = None
    if weakref.getweakrefcount(tensor) and not _own_weak_reference(tensor):
        raise SwapError(
            f"{name} is saved for a backward pass, or has a weak reference or a post-accumulate "
            "hook, so it cannot be exchanged"
        )
    for holder in gc.get_referrers(tensor):
        if isinstance(holder, (DifferentiableViewMeta, GradCell)):
            what = "the gradient of a tensor" if isinstance(holder, GradCell) else "a view's base"
            raise SwapError(f"{name} is {what}, so it cannot be exchanged")


def _own_weak_reference(tensor: TensorBase) -> bool:
    """Whether the only weak reference is that of the tensor's own leaf node."""
    node = _leaf_node(tensor)
    if node is None:
        return False
    known = node.weak_leaf
    references = weakref.getweakrefs(tensor)
    # Python shares one weak reference among its users, so their number decides.
    return references == [known] and sys.getrefcount(known) <= _UNSHARED


def _leaf_node(tensor: TensorBase) -> AccumulateGrad | None:
    meta = meta_of(tensor)
    node = None if meta is None or meta.grad_accumulator is None else meta.grad_accumulator.function
    return node if isinstance(node, AccumulateGrad) else None
