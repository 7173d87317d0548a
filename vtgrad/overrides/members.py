"""The methods and properties of classes that have ``__torch_function__``.

See Note [Overridden functions].

Note [Members that the library reads]

What the library itself reads of a tensor, as its shape, is no call of the user's. So members look
who calls them: for code of this package they are those of `Tensor`. Operators that it calls are
still taken over, unless ``__torch_function__`` is disabled. Members that modes see look so too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache, update_wrapper
from importlib import import_module
from inspect import getattr_static
from types import FrameType
from typing import Final, Protocol, cast

from vtgrad.graph.function_modes import in_function_mode
from vtgrad.ops.generated.python_operators import PythonOperators
from vtgrad.storage.key_set import TORCH_FUNCTION, keys
from vtgrad.storage.thread_mode import thread
from vtgrad.tensor.subclass_methods import SubclassMethods
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "Descriptor",
    "SeenFunction",
    "SeenMember",
    "add_members",
    "is_method",
    "overridden_members",
    "own_member",
    "seen_functions",
]

_PACKAGE: Final = __name__.partition(".")[0]
# What these modules call is what a user has called.
_RELAYS: Final = frozenset(
    {f"{_PACKAGE}.overrides.dispatch", f"{_PACKAGE}.overrides.function_mode"}
)

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


class SeenFunction:
    """A function of a member that asks modes and classes, and then calls the one that it equals.

    Attributes
    ----------
    function : callable
        The function of the member, by which programs may know it from before.
    name : str
        The name of the member.
    """

    function: Callable[..., object]
    name: str
    __name__: str
    # For the function of a property the property, as it is for the function that the class had.
    __self__: object

    def __init__(self, name: str, function: Callable[..., object]) -> None:
        update_wrapper(self, function)
        self.name = name
        self.function = function
        self.__self__ = getattr(function, "__self__", Tensor)

    def __call__(self, tensor: object, /, *args: object, **kwargs: object) -> object:
        """Hand the call over, or make it."""
        return self.called_from(sys._getframe(1), tensor, *args, **kwargs)

    def called_from(
        self, frame: FrameType, tensor: object, /, *args: object, **kwargs: object
    ) -> object:
        """As a call by the code of a frame."""
        if _is_for_library(tensor, frame):
            return self.function(tensor, *args, **kwargs)
        return _ask(self, tensor, *args, **kwargs)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SeenFunction):
            other = other.function
        return self.function == other

    def __hash__(self) -> int:
        return hash(self.function)

    def __reduce__(self) -> tuple[object, ...]:
        owner = getattr(Tensor, self.name) if self.__self__ is not Tensor else Tensor
        return getattr, (owner, self.name if owner is Tensor else self.__name__)

    def __repr__(self) -> str:
        return repr(self.function)


class SeenMember:
    """What stands in `Tensor` for a member that modes see (`seen_members.py`).

    Attributes
    ----------
    name : str
        The name of the member.
    member : object
        What the class had.
    """

    __slots__ = ("member", "name")

    name: str
    member: object

    def __init__(self, name: str, member: object) -> None:
        self.name = name
        self.member = member


# The functions of properties that modes see, by property and name of the function.
seen_functions: Final[dict[tuple[str, str], SeenFunction]] = {}


def own_member(name: str) -> object:
    """What `Tensor` has under a name; for a property the property itself."""
    found: object = getattr_static(Tensor, name)
    return found.member if isinstance(found, SeenMember) else found


@lru_cache(maxsize=1024)
def _member(name: str) -> object:
    if is_method(name):
        return _method(name)
    return _property(name, cast("Descriptor", own_member(name)))


def is_method(name: str) -> bool:
    """Whether a member is called, and is no property."""
    return name in vars(PythonOperators) or callable(getattr(Tensor, name))


class Descriptor(Protocol):
    """A property of a class, Python's or native."""

    def __get__(self, instance: object, owner: type | None = None, /) -> object: ...
    def __set__(self, instance: object, value: object, /) -> None: ...
    def __delete__(self, instance: object, /) -> None: ...


def _is_of_library(frame: FrameType) -> bool:
    """Whether the code of a frame is of this package, and does not call what users have called."""
    name: object = frame.f_globals.get("__name__")
    return isinstance(name, str) and name.partition(".")[0] == _PACKAGE and name not in _RELAYS


def _is_taken_over(tensor: object) -> bool:
    """Whether the class of a tensor or a mode takes its members over."""
    cls = cast("type[SubclassMethods]", type(tensor))
    if cls._has_torch_function and not thread.excluded_keys & TORCH_FUNCTION:
        return True
    return bool(keys.modes) and in_function_mode()


def _is_for_library(tensor: object, frame: FrameType) -> bool:
    """Whether a member was called by this package, or nothing takes it over."""
    return not _is_taken_over(tensor) or _is_of_library(frame)


def _ask(func: Callable[..., object], *args: object, **kwargs: object) -> object:
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


def _property(name: str, member: Descriptor) -> property:
    def read(self: object) -> object:
        if _is_for_library(self, sys._getframe(1)):
            return member.__get__(self)
        return _ask(_function(name, member.__get__), self)

    def write(self: object, value: object) -> None:
        if _is_for_library(self, sys._getframe(1)):
            member.__set__(self, value)
        else:
            _ask(_function(name, member.__set__), self, value)

    def remove(self: object) -> None:
        if _is_for_library(self, sys._getframe(1)):
            member.__delete__(self)
        else:
            _ask(_function(name, member.__delete__), self)

    return property(read, write, remove, getattr(member, "__doc__", None))


def _function(name: str, own: Callable[..., object]) -> Callable[..., object]:
    """The function of a property that classes and modes get."""
    return seen_functions.get((name, own.__name__), own)
