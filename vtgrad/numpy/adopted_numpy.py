"""The modules `numpy` and `numpy.linalg` and their like of adopted code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

import numpy as np

from vtgrad.numpy.function import functions
from vtgrad.numpy.ufunc_loop import by_numpys

__all__ = ["NumpyParts"]

_NAMESPACE: Final = "vtgrad.numpy"
# What a module has of its own.
_OWN: Final = frozenset(("__builtins__", "__getattr__", "__dir__", "__name__", "__loader__"))


class NumpyParts:
    """NumPy's modules as adopted code sees them.

    A part has what the namespace has of it, and NumPy's own for everything else. The objects of
    the namespace stand for NumPy's wherever these are found, as in ``numpy.lib.stride_tricks``.
    What a program assigns to a part stays there.
    """

    parts: dict[str, ModuleType]
    replaced: dict[int, object]

    def __init__(self) -> None:
        self.parts = {}
        self.replaced = {id(theirs): mine for theirs, mine in functions.items()}
        self.replaced |= {id(theirs): mine for theirs, mine in by_numpys.items()}
        namespace = sys.modules[_NAMESPACE]
        for name in namespace.__all__:
            theirs = getattr(np, name, None)
            if callable(theirs):
                self.replaced[id(theirs)] = getattr(namespace, name)

    def part(self, name: str) -> ModuleType:
        """The module that adopted code has for one of NumPy's.

        Parameters
        ----------
        name : str
            As in an import: ``"numpy.linalg"``.

        Raises
        ------
        ModuleNotFoundError
            If NumPy has no such module.
        """
        found = self.parts.get(name)
        if found is None:
            found = self._made(name, import_module(name))
            # Another thread may have been faster.
            found = self.parts.setdefault(name, found)
        return found

    def _made(self, name: str, theirs: ModuleType) -> ModuleType:
        made = ModuleType(name, theirs.__doc__)
        members = vars(made)
        for key, value in vars(theirs).items():
            if key not in _OWN and not _is_numpys(value):
                members[key] = self.replaced.get(id(value), value)
        mine = _of_namespace(name)
        if mine is not None:
            names = getattr(mine, "__all__", None) or [x for x in vars(mine) if x[0] != "_"]
            for key in names:
                value = getattr(mine, key)
                if not isinstance(value, ModuleType):
                    members[key] = value
        members["__getattr__"] = self._finder(name, theirs, made)
        members["__dir__"] = lambda: sorted({*dir(theirs), *members})
        return made

    def _finder(self, name: str, theirs: ModuleType, made: ModuleType) -> Callable[[str], object]:
        """What finds modules in a module, and what NumPy makes when it is named."""

        def find(key: str) -> object:
            value: Any
            try:
                value = getattr(theirs, key)
            except AttributeError:
                if key.startswith("__") or not hasattr(theirs, "__path__"):
                    raise
                if find_spec(f"{name}.{key}") is None:
                    raise
                value = import_module(f"{name}.{key}")
            if not _is_numpys(value):
                return self.replaced.get(id(value), value)
            part = self.part(value.__name__)
            setattr(made, key, part)
            return part

        return find


def _is_numpys(value: Any) -> bool:
    """Whether a value is one of NumPy's modules."""
    return isinstance(value, ModuleType) and value.__name__.partition(".")[0] == "numpy"


def _of_namespace(name: str) -> ModuleType | None:
    """The module of the namespace for one of NumPy's, if there is one."""
    if name == "numpy":
        return sys.modules[_NAMESPACE]
    if "._" in name:
        return None
    mine = f"vtgrad.{name}"
    if mine not in sys.modules:
        parent = _of_namespace(name.rpartition(".")[0])
        if parent is None or not hasattr(parent, "__path__") or find_spec(mine) is None:
            return None
    return import_module(mine)
