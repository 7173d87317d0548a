"""The arguments of a call that have ``__torch_function__``, in the order of their turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import NoneType
from typing import Final, Protocol, cast

from vtgrad.graph.function_modes import in_function_mode
from vtgrad.ops.calling.reduction_arguments import Unset
from vtgrad.storage.key_set import TORCH_FUNCTION, TORCH_FUNCTION_OF_OTHERS, keys
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.thread_mode import thread
from vtgrad.tensor.subclass_methods import SubclassMethods
from vtgrad.tensor.tensor import Tensor

__all__ = ["PLAIN", "Overriding", "has_torch_function", "is_tensor_like", "overriding"]


class Overriding(Protocol):
    """An object that takes functions over; its class may have it as a class method."""

    def __torch_function__(
        self,
        func: object,
        types: tuple[type, ...],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
        /,
    ) -> object:
        """What a function gives; NotImplemented leaves it to the next argument."""


# Most arguments are of these classes, which take nothing over.
PLAIN: Final[frozenset[type]] = frozenset({Tensor, NoneType, bool, int, float, str, Unset})


def _takes_over(kind: type) -> bool:
    """Whether objects of a class have a turn now, on this thread."""
    if issubclass(kind, SubclassMethods):
        return kind._has_torch_function and not thread.excluded_keys & TORCH_FUNCTION
    if getattr(kind, "__torch_function__", None) is None or issubclass(kind, TensorBase):
        return False
    return not thread.excluded_keys & TORCH_FUNCTION_OF_OTHERS and not _is_of_pytorch(kind)


def _is_of_pytorch(kind: type) -> bool:
    """Whether objects of a class are tensors of PyTorch, which are arrays here.

    Theirs is for functions of PyTorch: it would call a function of this library again.
    """
    return any(one.__module__ == "torch" and one.__name__ == "Tensor" for one in kind.__mro__)


def _each(values: Iterable[object]) -> Iterator[object]:
    """The values, and those in lists and tuples among them."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from value
        else:
            yield value


def overriding(values: Iterable[object]) -> list[Overriding]:
    """One object of each class that takes a call over, subclasses before the classes above them.

    Parameters
    ----------
    values : iterable of object
        The arguments; lists and tuples are looked into.
    """
    found: list[object] = []
    for value in _each(values):
        kind = type(value)
        if kind in PLAIN or any(type(one) is kind for one in found) or not _takes_over(kind):
            continue
        place = next((nr for nr, one in enumerate(found) if issubclass(kind, type(one))), None)
        found.insert(len(found) if place is None else place, value)
    return cast("list[Overriding]", found)


def has_torch_function(relevant_args: Iterable[object]) -> bool:
    """Whether a function is taken over: by a mode, or by the class of one of its arguments.

    Parameters
    ----------
    relevant_args : iterable of object
        The arguments; lists and tuples are looked into.

    Returns
    -------
    bool
        Whether one of these classes has a ``__torch_function__`` of its own that is not disabled,
        or a `TorchFunctionMode` is on; False if there are no arguments.

    Examples
    --------
    >>> vt.overrides.has_torch_function((vt.ones(2), 3))
    False
    """
    kinds = {type(value) for value in _each(relevant_args)}
    if kinds and keys.modes and in_function_mode():
        return True
    return any(map(_takes_over, kinds - PLAIN))


def is_tensor_like(inp: object) -> bool:
    """Whether an object is a tensor, or has ``__torch_function__``.

    Parameters
    ----------
    inp : object
        Any object.

    Returns
    -------
    bool
        True for tensors of all classes.

    Examples
    --------
    >>> vt.overrides.is_tensor_like(vt.ones(2)), vt.overrides.is_tensor_like([1.0])
    (True, False)
    """
    return isinstance(inp, TensorBase) or hasattr(type(inp), "__torch_function__")
