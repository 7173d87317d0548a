"""What can be taken over, and the names of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Final, cast

from vtgrad.later import FUNCTIONS
from vtgrad.ops.generated import public
from vtgrad.overrides.members import overridden_members, own_member
from vtgrad.tensor.tensor import Tensor

__all__ = ["get_overridable_functions", "is_tensor_method_or_property", "resolve_name"]

_PACKAGE = __name__.partition(".")[0]
_PACKAGES: Final = ("fft", "linalg", "nn.functional", "signal", "special")
# Functions of `vtgrad` that take no tensor, or only ask for its class.
_TAKES_NO_TENSOR = frozenset({"is_tensor"})
# Functions that only modes see.
_SEEN_BY_MODES: Final = """
    arange as_tensor can_cast empty empty_strided eye full linspace ones promote_types rand randint
    randn randperm result_type tensor zeros
""".split()
_SEEN_OF_AUTOGRAD: Final = ("backward", "grad")


def _top() -> ModuleType:
    return import_module(_PACKAGE)


def _methods() -> dict[Callable[..., object], str]:
    """The methods of `Tensor` that can be taken over, by what ``__torch_function__`` gets."""
    found: list[tuple[Callable[..., object], str]] = []
    for name in overridden_members():
        if callable(getattr(Tensor, name)):
            found.append((getattr(Tensor, name), name))
            continue
        member = own_member(name)
        ways = [way for way in ("__get__", "__set__") if hasattr(member, way)]
        found += [(getattr(member, way), f"{name}.{way}") for way in ways]
    return _named(found, f"{_PACKAGE}.Tensor")


@lru_cache(maxsize=1)
def _names_for_modes() -> dict[Callable[..., object], str]:
    """Those of `_names`, and functions that only modes see."""
    top, autograd = _top(), import_module(f"{_PACKAGE}.autograd")
    of_module = [(getattr(top, name), name) for name in _SEEN_BY_MODES]
    of_autograd = [(getattr(autograd, name), name) for name in _SEEN_OF_AUTOGRAD]
    return {
        **_named(of_autograd, f"{_PACKAGE}.autograd"),
        **_named(of_module, _PACKAGE),
        **_names(),
    }


@lru_cache(maxsize=1)
def _names() -> dict[Callable[..., object], str]:
    top = _top()
    listed = (*public.__all__, *FUNCTIONS, "normal")
    functions = [name for name in listed if name not in _TAKES_NO_TENSOR]
    of_module = _named([(getattr(top, name), name) for name in functions], _PACKAGE)
    # A method and a function may be one object, which has the name of the function.
    return {**_of_packages(), **_methods(), **of_module}


def _of_packages() -> dict[Callable[..., object], str]:
    """The functions of packages beside it."""
    found: dict[Callable[..., object], str] = {}
    for path in _PACKAGES:
        module = import_module(f"{_PACKAGE}.{path}")
        functions = [(getattr(module, name), name) for name in module.__all__]
        # The others are made of operators, and seen as these.
        whole = [(one, name) for one, name in functions if hasattr(one, "__wrapped__")]
        found |= _named(whole, f"{_PACKAGE}.{path}")
    return found


def _named(
    pairs: list[tuple[Callable[..., object], str]], prefix: str
) -> dict[Callable[..., object], str]:
    """Functions with their names; of one that has several, the one that it was defined with."""
    found: dict[Callable[..., object], str] = {}
    for function, name in pairs:
        if function not in found or getattr(function, "__name__", "") == name:
            found[function] = f"{prefix}.{name}"
    return found


def get_overridable_functions() -> dict[object, list[Callable[..., object]]]:
    """The functions that ``__torch_function__`` can take over.

    Returns
    -------
    dict
        Lists of functions by what has them: a module, as `vtgrad` or `vtgrad.linalg`, or the class
        `Tensor`, where properties have a ``__get__`` and perhaps a ``__set__``.

    Examples
    --------
    >>> found = vt.overrides.get_overridable_functions()
    >>> vt.add in found[vt], vt.Tensor.backward in found[vt.Tensor]
    (True, True)
    """
    found: dict[object, list[Callable[..., object]]] = {Tensor: list(_methods())}
    prefix = f"{_PACKAGE}.Tensor."
    for function, name in _names().items():
        if not name.startswith(prefix):
            home = import_module(name.rpartition(".")[0])
            found.setdefault(home, []).append(function)
    return found


def is_tensor_method_or_property(func: Callable[..., object]) -> bool:
    """Whether a function is a method of `Tensor`, or reads or writes a property of it.

    Parameters
    ----------
    func : callable
        What ``__torch_function__`` got.

    Returns
    -------
    bool
        True also for a function of `vtgrad` that is a method too: they are one object.

    Examples
    --------
    >>> f = vt.overrides.is_tensor_method_or_property
    >>> f(vt.Tensor.backward), f(vt.Tensor.grad.__get__), f(vt.stack)
    (True, True, False)
    """
    return func in _methods()


def resolve_name(f: object) -> str | None:
    """The name of a function that can be taken over.

    Parameters
    ----------
    f : callable
        What ``__torch_function__`` of a class or of a mode got.

    Returns
    -------
    str or None
        The name by which it is called, as text; None if it is none of these.

    Examples
    --------
    >>> vt.overrides.resolve_name(vt.add)
    'vtgrad.add'
    >>> vt.overrides.resolve_name(vt.Tensor.grad.__get__)
    'vtgrad.Tensor.grad.__get__'
    """
    try:
        return _names_for_modes().get(cast("Callable[..., object]", f))
    except TypeError:
        return None
