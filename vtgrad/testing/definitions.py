"""Writes what operators of a user's need to run in a file of their own.

Their text is taken from the files in which they are defined, and with it whatever it refers to:
imports, helper functions, classes, the values of constants and of variables of functions around
them. What was installed is imported.
"""

import inspect
import re
import sys
import textwrap
from collections.abc import Mapping
from functools import partial
from types import FunctionType, MethodType, ModuleType

import numpy as np

import vtgrad
from vtgrad.testing.sources import Source, source_of_class, source_of_function

__all__ = ["UnprintableError", "define", "for_torch"]

#: The packages that a script imports although they may be in a folder of the user's.
_LIBRARIES = frozenset({"vtgrad", "numpy", "torch"})

#: An array or tensor of more elements is no constant that a reader wants to see.
_MOST_ELEMENTS = 64


class UnprintableError(Exception):
    """What an operator refers to cannot be written as text."""


def define(operators: Mapping[str, object], reserved: Mapping[str, object]) -> list[str]:
    """Return the statements that define some names.

    Parameters
    ----------
    operators : mapping
        What each name has to be.
    reserved : mapping
        What other names mean in the script.

    Raises
    ------
    UnprintableError
        If that cannot be written.
    """
    scope = _Scope({**reserved, **operators})
    for name, value in operators.items():
        scope.write(name, value)
    return scope.lines


def for_torch(statement: str) -> str:
    """Import PyTorch where a statement imports vtgrad."""
    statement = re.sub(r"(?m)^(\s*)import vtgrad$", r"\1import torch as vtgrad", statement)
    return re.sub(r"(?m)^(\s*)(import|from) vtgrad\b", r"\1\2 torch", statement)


class _Scope:
    """The names of a script, or of a function in it, and the statements that bind them.

    A text may need a name that already means something else. Then it is put into a function that
    returns what the text defines, where names mean what the text needs.
    """

    def __init__(self, names: dict[str, object]) -> None:
        self.names = names
        self.lines: list[str] = []
        self._made = 0

    def bind(self, name: str, value: object) -> None:
        """Let a name mean a value, unless it does."""
        if name not in self.names:
            self.names[name] = value
            self.write(name, value)

    def write(self, name: str, value: object) -> None:
        """Write the statement that gives a value its name."""
        if isinstance(value, ModuleType):
            path = value.__name__
            self.lines.append(f"import {path}" if path == name else f"import {path} as {name}")
            return
        source = _source_of(value)
        if source is None:
            text = self.expression(value, name)
            if text != name:
                self.lines.append(f"{name} = {text}")
            return
        own = source.name or name
        if not _same(source.needs.get(own, value), value):
            own = f"call_{own}"  # a lambda expression that calls another function of its name
        needs = {**source.needs, own: value}
        if any(not _same(self.names.get(need, needed), needed) for need, needed in needs.items()):
            self._write_apart(name, value, own)
            return
        new = {need: needed for need, needed in needs.items() if need not in self.names}
        self.names.update(needs)
        for need, needed in new.items():
            if need != own:
                self.write(need, needed)
        self.lines.append(f"\n{source.text}\n" if source.name else f"{own} = {source.text}")
        if own != name:
            self.lines.append(f"{name} = {own}")

    def _write_apart(self, name: str, value: object, own: str) -> None:
        inner = _Scope({own: value})
        inner.write(own, value)
        body = textwrap.indent("\n".join([*inner.lines, f"return {own}"]), "    ")
        self.lines.append(f"\ndef make_{name}():\n{body}\n\n\n{name} = make_{name}()\n")

    def expression(self, value: object, name: str = "") -> str:
        """Return an expression for a value; what it needs is bound before.

        Parameters
        ----------
        name : str
            What the value is going to be called, if it has a name.
        """
        if value is None or isinstance(value, bool | int | str | bytes | complex):
            return repr(value)
        if isinstance(value, float):
            return repr(value) if np.isfinite(value) else f'float("{value}")'
        if isinstance(value, list | tuple | set | frozenset | dict):
            return self._container(value)
        if isinstance(value, np.ndarray | np.generic | vtgrad.Tensor):
            return self._array(value)
        if isinstance(value, partial):
            maker = self.expression(partial)
            given = [self.expression(part) for part in (value.func, *value.args)]
            given += [f"{key}={self.expression(part)}" for key, part in value.keywords.items()]
            return f"{maker}({', '.join(given)})"
        owner = getattr(value, "__self__", None)
        if isinstance(value, MethodType) or (callable(value) and isinstance(owner, type)):
            return f"{self.expression(owner)}.{getattr(value, '__name__', '')}"
        return self._named(value) if _own_name(value) else self._instance(value, name)

    def _container(self, value: object) -> str:
        if isinstance(value, dict):
            pairs = [f"{self.expression(k)}: {self.expression(v)}" for k, v in value.items()]
            return f"{{{', '.join(pairs)}}}"
        assert isinstance(value, list | tuple | set | frozenset)
        if type(value) not in (list, tuple, set, frozenset):
            raise UnprintableError(f"a {type(value).__name__}")
        parts = ", ".join(map(self.expression, value))
        if isinstance(value, tuple):
            return f"({parts}{',' * (len(value) == 1)})"
        return f"[{parts}]" if isinstance(value, list) else f"{type(value).__name__}([{parts}])"

    def _array(self, value: np.ndarray | np.generic | vtgrad.Tensor) -> str:
        size = value.numel() if isinstance(value, vtgrad.Tensor) else value.size
        if size > _MOST_ELEMENTS:
            raise UnprintableError(f"an array of {size} elements")
        if isinstance(value, vtgrad.Tensor):
            vt = self._module(vtgrad, "vt")
            end = ", requires_grad=True" if value.requires_grad else ""
            return f"{vt}.tensor({value.tolist()}, dtype={vt}.{_own_name(value.dtype)}{end})"
        numpy = self._module(np, "np")
        if isinstance(value, np.generic):
            return f"{numpy}.{value.dtype.name}({value.item()!r})"
        return f"{numpy}.array({value.tolist()}, dtype={numpy}.{value.dtype.name})"

    def _module(self, module: ModuleType, name: str) -> str:
        """Return what a module is called, by a usual name if that is free."""
        if not _same(self.names.get(name, module), module):
            self._made += 1
            name = f"{name}_{self._made}"
        self.bind(name, module)
        return name

    def _named(self, value: object) -> str:
        """Return the name of a function, class or module, which is bound before."""
        own = _own_name(value)
        if getattr(vtgrad, own, None) is value or isinstance(value, vtgrad.dtype):
            return f"{self._module(vtgrad, 'vt')}.{own}"
        if _source_of(value) is None and not isinstance(value, ModuleType):
            module = _public_home(value, own) or getattr(value, "__module__", None)
            if getattr(sys.modules.get(module or ""), own, None) is not value:
                raise UnprintableError(f"{own} of {module}")
            if _same(self.names.get(own, value), value):
                self.names[own] = value
                statement = f"from {module} import {own}"
                if statement not in self.lines:
                    self.lines.append(statement)
                return own
            self._made += 1
            self.lines.append(f"from {module} import {own} as {own}_{self._made}")
            return f"{own}_{self._made}"
        if not _same(self.names.get(own, value), value):
            self._made += 1
            own = f"{own}_{self._made}"
        self.bind(own, value)
        return own

    def _instance(self, value: object, name: str) -> str:
        """Make an object of a class of the user's that has the same attributes."""
        cls = type(value)
        if not hasattr(value, "__dict__") or cls.__module__ == "builtins" or _is_installed(cls):
            raise UnprintableError(f"a {cls.__name__}")
        if not name:
            self._made += 1
            name = f"value_{self._made}"
        self.lines.append(f"{name} = object.__new__({self.expression(cls)})")
        for key, part in vars(value).items():
            self.lines.append(f"vars({name})[{key!r}] = {self.expression(part)}")
        return name


def _public_home(value: object, name: str) -> str | None:
    """The module of vtgrad that has a name where PyTorch has it; NumPy for its own functions."""
    # Before NumPy 2.2 a ufunc had no `__module__`.
    for home in (vtgrad.autograd, vtgrad.autograd.function, vtgrad.func, np):
        if getattr(home, name, None) is value:
            return home.__name__
    return None


def _same(one: object, other: object) -> bool:
    """Whether one name may stand for both."""
    is_plain = isinstance(one, bool | int | float | str | None) and type(one) is type(other)
    return one is other or (is_plain and one == other)


def _own_name(value: object) -> str:
    if isinstance(value, vtgrad.dtype):
        return str(value).split(".")[-1]
    name = getattr(value, "__name__", "")
    return name if isinstance(name, str) and name.isidentifier() else ""


def _source_of(value: object) -> Source | None:
    """Return the text of what a user has defined; None for anything else.

    Raises
    ------
    UnprintableError
        If it was defined where there is no file.
    """
    if not isinstance(value, FunctionType | type) or _is_installed(value):
        return None
    found = source_of_class(value) if isinstance(value, type) else source_of_function(value)
    if found is None:
        raise UnprintableError(f"the text of {value.__qualname__}")
    return found


def _is_installed(value: FunctionType | type) -> bool:
    module = value.__module__ or ""
    top = module.partition(".")[0]
    if top in _LIBRARIES or top in sys.stdlib_module_names - {"__main__"} or top == "builtins":
        return True
    try:
        path = inspect.getfile(value)
    except (OSError, TypeError):
        return False
    return "site-packages" in path or "dist-packages" in path
