"""Methods and properties of `Tensor` that modes see; see Note [Function modes].

Note [Members that modes see]

Operators hand over by a key. What is no operator, as ``.shape`` or `backward`, has no place to ask
that a program without modes does not pay for. So when a mode is entered for the first time in the
process, descriptors take the places of these members in `Tensor`. They stay: CPython stops caching
the attributes of a class that has changed a thousand times.

A mode gets a `SeenFunction`, so that modes around it are asked when it calls that. It equals the
function that the class had before, as tables of a program may have it. For a method it is what the
class gives from then on: ``func is vt.Tensor.backward``. For a property the class gives the
property itself: ``func == vt.Tensor.grad.__get__``.

While a thread is profiled, members of a class that comes after `Tensor` may be wrappers that make
events (Note [Observed operators]); the descriptors find them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import getattr_static
from types import MethodType
from typing import Final, cast

from vtgrad.graph.observer import observers
from vtgrad.later import METHODS
from vtgrad.ops.generated.methods import TensorMethods
from vtgrad.overrides.members import (
    Descriptor,
    SeenFunction,
    SeenMember,
    is_method,
    overridden_members,
    seen_functions,
)
from vtgrad.storage.key_set import keys
from vtgrad.tensor.operator_methods import OperatorMethods
from vtgrad.tensor.tensor import Tensor

__all__ = ["see_members"]

_OBSERVED: Final = frozenset(vars(OperatorMethods))


class _SeenMethod(SeenMember):
    """A method. A bound one that was made while there was no mode is not seen."""

    __slots__ = ("_own", "_seen")

    # As it was read from the class.
    _own: Callable[..., object]
    _seen: SeenFunction

    def __init__(self, name: str, member: object, own: Callable[..., object]) -> None:
        super().__init__(name, member)
        self._own = own
        self._seen = SeenFunction(name, own)

    def __get__(self, tensor: Tensor | None, owner: type | None = None) -> object:
        if tensor is None:
            return self._seen
        if keys.modes:
            return MethodType(self._seen, tensor)
        if observers and self.name in _OBSERVED:
            return getattr(super(Tensor, tensor), self.name)
        return MethodType(self._own, tensor)


class _SeenProperty(SeenMember):
    """A property."""

    __slots__ = ("_own", "_read", "_remove", "_write")

    # The function that reads it, as the class had it.
    _own: Callable[[object], object]
    _read: SeenFunction
    _write: SeenFunction
    _remove: SeenFunction

    def __init__(self, name: str, member: Descriptor) -> None:
        super().__init__(name, member)
        self._own = member.__get__
        self._read, self._write, self._remove = [
            seen_functions.setdefault((name, one.__name__), SeenFunction(name, one))
            for one in (member.__get__, member.__set__, member.__delete__)
        ]

    def __get__(self, tensor: Tensor | None, owner: type | None = None) -> object:
        if tensor is None:
            return self.member
        if keys.modes:
            return self._read.called_from(sys._getframe(1), tensor)
        if observers and self.name in _OBSERVED:
            return getattr(super(Tensor, tensor), self.name)
        return self._own(tensor)

    def __set__(self, tensor: Tensor, value: object) -> None:
        self._write.called_from(sys._getframe(1), tensor, value)

    def __delete__(self, tensor: Tensor) -> None:
        self._remove.called_from(sys._getframe(1), tensor)


class _State:
    """What this process has done.

    Attributes
    ----------
    complete : bool
        Whether all descriptors are in their places.
    """

    __slots__ = ("complete",)

    def __init__(self) -> None:
        self.complete = False


_state: Final = _State()


def see_members() -> None:
    """Put the descriptors in their places, those that are not there yet."""
    if _state.complete:
        return
    for name in overridden_members():
        member: object = getattr_static(Tensor, name)
        if name in vars(TensorMethods) or name in METHODS or isinstance(member, SeenMember):
            continue
        if is_method(name):
            seen: SeenMember = _SeenMethod(name, member, getattr(Tensor, name))
        else:
            seen = _SeenProperty(name, cast("Descriptor", member))
        type.__setattr__(Tensor, name, seen)
    _state.complete = True
