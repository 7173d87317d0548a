"""The methods and properties of classes that have ``__torch_function__``.

See Note [Overridden functions].

Note [Members that the library reads]

What the library itself reads of a tensor, as its shape, is no call of the user's. So members look
who calls them: for code of this package they are those of `Tensor`. Operators that it calls are
still taken over, unless ``__torch_function__`` is disabled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from inspect import getattr_static
from types import FrameType
from typing import Final, Protocol, cast

from vtgrad.ops.generated.python_operators import PythonOperators
from vtgrad.storage.key_set import TORCH_FUNCTION
from vtgrad.storage.thread_mode import thread
from vtgrad.tensor.subclass_methods import SubclassMethods
from vtgrad.tensor.tensor import Tensor

__all__ = ["add_members", "overridden_members"]

_PACKAGE: Final = __name__.partition(".")[0]

# Methods of Python's own protocols; the operators of Python hand over by the key. Iteration is
# indexing, and happens after the method has returned.
_OF_PYTHON: Final = (
    "__array__",
    "__bool__",
    "__complex__",
    "__contains__",
    "__deepcopy__",
    "__float__",
    "__format__",
    "__getitem__",
    "__index__",
    "__int__",
    "__invert__",
    "__len__",
    "__reduce_ex__",
    "__repr__",
    "__reversed__",
    "__setitem__",
)
_PRIVATE: Final = ("_base", "_is_view", "_version")
# As in PyTorch: this one decides the class of what it gives.
_NEVER: Final = frozenset({"as_subclass"})


@lru_cache(maxsize=1)
def overridden_members() -> tuple[str, ...]:
    """The names of the members of `Tensor` that can be taken over."""
    found: list[str] = []
    for name in (*dir(Tensor), *_PRIVATE):
        member = getattr_static(Tensor, name)
        if name in _OF_PYTHON or name in _PRIVATE:
            found.append(name)
        elif name[0] == "_" or name in _NEVER or isinstance(member, (classmethod, staticmethod)):
            continue
        elif hasattr(member, "__get__"):
            found.append(name)
    return tuple(dict.fromkeys([name for name in found if hasattr(Tensor, name)]))


def add_members(cls: type) -> None:
    """Give a class the members; those that it or a class between it and `Tensor` has stay."""
    above = Tensor.__mro__
    own = [kind for kind in cls.__mro__ if kind not in above]
    for name in overridden_members():
        if not any(name in vars(kind) for kind in own):
            setattr(cls, name, _member(name))


@lru_cache(maxsize=1024)
def _member(name: str) -> object:
    member = getattr_static(Tensor, name)
    if name in vars(PythonOperators) or callable(getattr(Tensor, name)):
        return _method(name)
    return _property(name, cast("_Descriptor", member))


class _Descriptor(Protocol):
    """A property of a class, Python's or native."""

    def __get__(self, instance: object, owner: type | None = None, /) -> object: ...
    def __set__(self, instance: object, value: object, /) -> None: ...
    def __delete__(self, instance: object, /) -> None: ...


def _is_for_library(tensor: object, frame: FrameType) -> bool:
    """Whether a member was called by this package, or overrides are disabled."""
    cls = cast("type[SubclassMethods]", type(tensor))
    if thread.excluded_keys & TORCH_FUNCTION or not cls._has_torch_function:
        return True
    name: object = frame.f_globals.get("__name__")
    return isinstance(name, str) and name.partition(".")[0] == _PACKAGE


def _ask(func: object, *args: object, **kwargs: object) -> object:
    # Modules of this package meet here; see Note [Tools come at first use].
    return import_module("vtgrad.overrides.dispatch").dispatch(func, args, kwargs)


def _method(name: str) -> Callable[..., object]:
    def call(self: object, *args: object, **kwargs: object) -> object:
        function: Callable[..., object] = getattr(Tensor, name)
        if _is_for_library(self, sys._getframe(1)):
            return function(self, *args, **kwargs)
        return _ask(function, self, *args, **kwargs)

    call.__name__ = name
    call.__doc__ = getattr(getattr(Tensor, name), "__doc__", None)
    return call


def _property(name: str, member: _Descriptor) -> property:
    def read(self: object) -> object:
        if _is_for_library(self, sys._getframe(1)):
            return member.__get__(self)
        return _ask(member.__get__, self)

    def write(self: object, value: object) -> None:
        if _is_for_library(self, sys._getframe(1)):
            member.__set__(self, value)
        else:
            _ask(member.__set__, self, value)

    def remove(self: object) -> None:
        if _is_for_library(self, sys._getframe(1)):
            member.__delete__(self)
        else:
            _ask(member.__delete__, self)

    return property(read, write, remove, getattr(member, "__doc__", None))
