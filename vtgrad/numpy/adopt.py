"""Programs of others as they stand: copies of modules in which NumPy records."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import reduce
from types import BuiltinFunctionType, MethodType, ModuleType
from typing import Any, Final, TypeVar, overload

from vtgrad.errors import ArgumentTypeError, ArgumentValueError, NotSupportedError
from vtgrad.numpy.adopted_modules import Adoption
from vtgrad.numpy.adopted_sys import is_private
from vtgrad.storage.thread_state import own, part_of_thread

__all__ = ["adopt"]

_T = TypeVar("_T", bound=Callable[..., Any])


class _Adopting:
    """What a thread is adopting."""

    adopting: tuple[frozenset[str], ...] = own(())


_here: Final = part_of_thread(_Adopting)


@overload
def adopt(
    target: str | ModuleType,
    *,
    also: Iterable[str] = (),
    without: Iterable[str] = (),
    rewind: bool = True,
) -> Any: ...
@overload
def adopt(
    target: _T, *, also: Iterable[str] = (), without: Iterable[str] = (), rewind: bool = True
) -> _T: ...
def adopt(
    target: Any,
    *,
    also: Iterable[str] = (),
    without: Iterable[str] = (),
    rewind: bool = True,
) -> Any:
    """A copy of a module, or of a function, in which NumPy is this namespace.

    The source of the module is executed anew, with that of all modules of its own package which it
    imports. In the copies `numpy` and `math` are those of the namespace, so that they compute with
    tensors and record. The real modules stay as they are.

    In the copies `float`, `complex`, `isinstance` and the methods `item` and `tolist`, where they
    are called by name, take a scalar that carries a derivative for a number of Python, and record.
    Tensors that are given to a copy become arrays of the namespace, and 0-d ones become scalars;
    all else, as arrays of NumPy, is passed as it is. What a program reads out of a number by other
    means is not seen: text, integers, bisection. What a module does elsewhere as it is executed, as
    entering itself in a list of another module, it does once more.

    Parameters
    ----------
    target : str, module, function or class
        What to adopt. Of a function or a class its module is adopted, and the one of its name
        taken.
    also : iterable of str
        Other packages that are copied where the copies import them.
    without : iterable of str
        Modules for which the copies get an ImportError, so that a program takes its way without
        them, as without a module in C.
    rewind : bool
        Whether the program may overwrite what its derivatives need: its calls run under
        `vtgrad.autograd.graph.allow_mutation_on_saved_tensors`.

    Returns
    -------
    module, function or class
        The copy. It stays in memory, as a module does: adopt once, not in a loop.

    Raises
    ------
    ValueError
        If a function is a lambda, or defined inside another one.
    ModuleNotFoundError
        If there is no such module.
    NotImplementedError
        If a module has no source, or adopts itself.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> colorsys = np.adopt("colorsys")
    >>> rgb = np.array([0.5, 0.25, 0.125]).requires_grad_()
    >>> y, _, _ = colorsys.rgb_to_yiq(*rgb)
    >>> y.backward()
    >>> rgb.grad
    array([0.3 , 0.59, 0.11])
    """
    if isinstance(target, str):
        return _module(target, also, without, rewind)
    if isinstance(target, ModuleType):
        return (
            target
            if is_private(target.__name__)
            else _module(target.__name__, also, without, rewind)
        )
    module, path = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    if isinstance(target, (BuiltinFunctionType, MethodType)) or not (
        callable(target) and isinstance(module, str) and isinstance(path, str)
    ):
        raise ArgumentTypeError(
            f"adopt() takes the name of a module, a module, a function or a class, not {target!r}. "
            "Of a method adopt the class; what is written in C has no source",
            target=target,
        )
    if is_private(module):
        return target
    names = path.split(".")
    if "<lambda>" in names or "<locals>" in names:
        raise ArgumentValueError(
            f"{path} is a lambda or is defined inside a function, so its module's source does not "
            "give it; adopt() takes what a module defines by name",
            target=target,
        )
    # While a module is executed, as by a decorator, it does not have the name yet.
    real = _find(sys.modules.get(module), names)
    if real is not None and real is not target:
        raise ArgumentValueError(
            f"{module}.{path} is another object now, which is what its source gives", target=target
        )
    found = _find(_module(_name_of(module), also, without, rewind), names)
    if found is None:
        raise ArgumentValueError(f"the source of {module} defines no {path}", target=target)
    return found


def _find(module: object, names: list[str]) -> Any:
    """What a module has by a name with points; None if there is nothing."""
    return reduce(lambda x, name: getattr(x, name, None), names, module)


def _name_of(name: str) -> str:
    """The name by which a module is found, also if it runs as ``python -m`` does."""
    if name == "__main__":
        program = sys.modules[name]
        if program.__spec__ is not None:
            return program.__spec__.name
        if getattr(program, "__file__", None) is None:
            raise NotSupportedError("adopt() needs the source of a function, which has no file")
    return name


def _module(name: str, also: Iterable[str], without: Iterable[str], rewind: bool) -> ModuleType:
    if isinstance(also, str) or isinstance(without, str):
        raise ArgumentTypeError("also= and without= are lists of names, not one name")
    packages = frozenset(x.partition(".")[0] for x in (name, *also))
    refused = packages & {"numpy", "math", "sys", "builtins", "importlib", "vtgrad", ""}
    if refused:
        raise ArgumentValueError(f"there is nothing to adopt in {sorted(refused)}", name=name)
    if any(name.partition(".")[0] in adopted for adopted in _here.adopting):
        raise NotSupportedError(f"{name} is adopted by its own source, without an end", module=name)
    before = _here.adopting
    _here.adopting = (*before, packages)
    try:
        return Adoption(packages, tuple(without), rewind).load(name)
    finally:
        _here.adopting = before
