"""The module `sys` of adopted code, and names of copies."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from types import ModuleType
from typing import Any, Final

__all__ = ["Modules", "Stand", "is_private", "parts_of_private"]

_PRIVATE: Final = re.compile(r"(_vtgrad_adopted_\d+_)(.+)")


def is_private(name: str) -> bool:
    """Whether a name is that of a copy; see Note [Copies of modules]."""
    return _PRIVATE.match(name) is not None


def parts_of_private(name: str) -> tuple[str, str] | None:
    """The prefix and the real name, if a name is that of a copy."""
    match = _PRIVATE.match(name)
    return None if match is None else (match[1], match[2])


class Stand(ModuleType):
    """A module that is another one but for a few members.

    What is assigned to it is assigned to the other one: ``sys.stdout`` is everybody's.
    """

    def __init__(self, real: ModuleType, **members: object) -> None:
        super().__init__(real.__name__, real.__doc__)
        vars(self).update(members)
        # Those of the real module, which import statements look at.
        vars(self).update({"__spec__": real.__spec__, "__path__": getattr(real, "__path__", None)})
        if vars(self)["__path__"] is None:
            del vars(self)["__path__"]
        vars(self)["_vtgrad_real"] = real

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_vtgrad_real"], name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in vars(self):
            vars(self)[name] = value
        else:
            setattr(vars(self)["_vtgrad_real"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(vars(self)["_vtgrad_real"], name)

    def __dir__(self) -> list[str]:
        return dir(vars(self)["_vtgrad_real"])


class Modules(MutableMapping[str, Any]):
    """`sys.modules` as adopted code sees it.

    Copies stand under the real names of their modules too. What adopted code enters is its own.

    Parameters
    ----------
    prefix : str
        What the names of copies begin with.
    packages : frozenset of str
        The packages that are copied.
    part_of_numpy : callable
        The module for one of NumPy's.
    replaced : mapping
        Other modules that adopted code has instead of the real ones.
    """

    def __init__(
        self,
        prefix: str,
        packages: frozenset[str],
        part_of_numpy: Callable[[str], ModuleType],
        replaced: Mapping[str, ModuleType],
    ) -> None:
        self.prefix = prefix
        self.packages = packages
        self.part_of_numpy = part_of_numpy
        self.replaced = replaced
        self.own: dict[str, Any] = {}

    def _key(self, name: str) -> str:
        return self.prefix + name if name.partition(".")[0] in self.packages else name

    def __getitem__(self, name: str) -> Any:
        key = self._key(name)
        if key in self.own:
            return self.own[key]
        found = sys.modules[key]
        if name.partition(".")[0] == "numpy":
            return self.part_of_numpy(name)
        return self.replaced.get(name, found)

    def __setitem__(self, name: str, module: Any) -> None:
        key = self._key(name)
        if is_private(key):
            sys.modules[key] = module
        else:
            self.own[key] = module

    def __delitem__(self, name: str) -> None:
        key = self._key(name)
        if is_private(key):
            del sys.modules[key]
        elif self.own.pop(key, None) is None and key not in sys.modules:
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        found = {x.removeprefix(self.prefix) for x in list(sys.modules)}
        return iter(found | self.own.keys())

    def __len__(self) -> int:
        return len(list(iter(self)))

    def copy(self) -> dict[str, Any]:
        """A dict of the modules."""
        return {name: self[name] for name in self if name in self}
