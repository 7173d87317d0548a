"""Values and functions of recorded steps, as text of Python that gives the same bits."""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Collection
from importlib import import_module

import numpy as np

from vtgrad.jit.listing import fixed_key
from vtgrad.storage.arrays import Array, NumpyDType

__all__ = ["Imports", "array_literal", "literal"]

# Where functions of NumPy are that do not say it themselves, the most public module first.
_MODULES = (
    "builtins",
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "numpy.strings",
    "numpy.lib.stride_tricks",
    "numpy.linalg._umath_linalg",
    "numpy.fft._pocketfft_umath",
    "numpy._core.umath",
    "numpy._core.multiarray",
    "operator",
    "math",
    "cmath",
)


class Imports:
    """The names that a module of source needs from NumPy and from the standard library.

    Parameters
    ----------
    reserved : collection of str, optional
        Names that the module defines itself.

    Attributes
    ----------
    names : dict of str to (str, str)
        The module and the name there, by the name in the source.
    """

    __slots__ = ("_found", "_reserved", "names")

    names: dict[str, tuple[str, str]]
    _found: dict[int, tuple[object, str]]
    _reserved: Collection[str]

    def __init__(self, reserved: Collection[str] = ()) -> None:
        self.names = {}
        self._found = {}
        self._reserved = reserved

    def name_of(self, value: object) -> str:
        """The name of a function or a class in the source, which imports it.

        Raises
        ------
        NotImplementedError
            If it is neither in NumPy nor in the standard library.
        """
        known = self._found.get(id(value))
        if known is not None:
            return known[1]
        name = self._added(value)
        # The value is held, so that no other object has its number.
        self._found[id(value)] = (value, name)
        return name

    def _added(self, value: object) -> str:
        module, attribute = _home_of(value)
        if module == "builtins":
            return attribute
        name = attribute
        if not self._is_free(name, module, attribute):
            name = f"{module.rpartition('.')[2]}_{attribute}"
        while not self._is_free(name, module, attribute):
            name += "_"
        self.names[name] = (module, attribute)
        return name

    def _is_free(self, name: str, module: str, attribute: str) -> bool:
        if name in self._reserved or hasattr(builtins, name):
            return False
        return self.names.get(name, (module, attribute)) == (module, attribute)

    def lines(self) -> list[str]:
        """The import statements, in alphabetical order."""
        modules: dict[str, list[str]] = {}
        for name, (module, attribute) in self.names.items():
            text = attribute if name == attribute else f"{attribute} as {name}"
            modules.setdefault(module, []).append(text)
        return [
            f"from {module} import {', '.join(sorted(names))}"
            for module, names in sorted(modules.items())
        ]


def _home_of(value: object) -> tuple[str, str]:
    """The module and the name of a function or a class."""
    name = getattr(value, "__name__", None)
    own = getattr(value, "__module__", None)
    if isinstance(name, str):
        for module in (*_MODULES, own):
            if not isinstance(module, str) or not _is_allowed(module):
                continue
            try:
                found = getattr(import_module(module), name, None)
            except ImportError:
                continue
            if found is value and name.isidentifier():
                return module, name
    if not isinstance(name, str):
        what = f"an object of {type(value).__name__}"
    else:
        # A function of another library says its module in its name.
        what = name if "." in name else f"{own}.{name}"
    raise NotImplementedError(
        f"the program cannot be written as NumPy alone: it needs {what}, which is not in NumPy"
    )


def _is_allowed(module: str) -> bool:
    top = module.partition(".")[0]
    return top == "numpy" or (top in sys.stdlib_module_names and top != "__main__")


def literal(value: object, imports: Imports) -> str:
    """A Python value as text that makes the same value, bit for bit.

    Raises
    ------
    NotImplementedError
        If it has no such text.
    """
    if value is None or value is Ellipsis or type(value) is bool or type(value) is int:
        return "..." if value is Ellipsis else repr(value)
    if type(value) in (str, bytes):
        # All that is not ASCII is escaped, so that no character can end the line.
        return ascii(value)
    if type(value) is float:
        return _float(value, imports)
    if type(value) is complex:
        return f"complex({_float(value.real, imports)}, {_float(value.imag, imports)})"
    if type(value) is tuple:
        parts = [literal(x, imports) for x in value]
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if type(value) is list:
        return f"[{', '.join([literal(x, imports) for x in value])}]"
    if isinstance(value, slice):
        parts = [literal(x, imports) for x in (value.start, value.stop, value.step)]
        return f"slice({', '.join(parts)})"
    if isinstance(value, np.dtype):
        return _dtype(value, imports)
    if isinstance(value, np.generic):
        return _scalar(value, imports)
    if isinstance(value, type) or callable(value):
        return imports.name_of(value)
    raise NotImplementedError(
        f"a value of {type(value).__name__} among the arguments of a step has no text"
    )


def _float(value: float, imports: Imports) -> str:
    if math.isfinite(value):
        return repr(value)
    text = f'float("{value}")'
    # The text has one kind of NaN; others differ in their bits.
    if fixed_key(float(str(value))) == fixed_key(value):
        return text
    bits = int(np.float64(value).view(np.uint64))
    return f"{imports.name_of(np.uint64)}({bits:#x}).view({imports.name_of(np.float64)}).item()"


def _dtype(value: NumpyDType, imports: Imports) -> str:
    """A dtype, as its class if it has the byte order of this machine."""
    if value.hasobject or np.dtype(value.str) != value:
        raise NotImplementedError(f"the dtype {value} of a step has no text")
    if value.isnative and np.dtype(value.type) == value:
        return imports.name_of(value.type)
    return f"{imports.name_of(np.dtype)}({value.str!r})"


def _scalar(value: np.generic, imports: Imports) -> str:
    """A NumPy scalar."""
    name = imports.name_of(type(value))
    if isinstance(value, (np.bool_, np.integer)):
        return f"{name}({value.item()!r})"
    for text in (str(value), repr(value.item())):
        try:
            same = fixed_key(type(value)(text if isinstance(value, np.longdouble) else float(text)))
        except (TypeError, ValueError):
            continue
        if same == fixed_key(value) and math.isfinite(float(value)):
            return f"{name}({text!r})" if isinstance(value, np.longdouble) else f"{name}({text})"
    raw = value.tobytes()
    loader = imports.name_of(np.frombuffer)
    return f"{loader}({raw!r}, {_dtype(value.dtype, imports)})[0]"


def array_literal(content: Array, imports: Imports, most: int) -> str | None:
    """The text of a small array, or of one with equal elements; None if there is none that short.

    Parameters
    ----------
    content : numpy.ndarray
        The array, contiguous in C order.
    imports : Imports
        Where the names go.
    most : int
        How many elements are written out.
    """
    if content.dtype.hasobject or content.dtype.kind not in "biufc":
        return None
    raw = content.tobytes()
    dtype = _dtype(content.dtype, imports)
    if not any(raw):
        shape = literal(content.shape, imports)
        ending = "" if content.dtype == np.float64 else f", {dtype}"
        return f"{imports.name_of(np.zeros)}({shape}{ending})"
    if content.dtype.char in "gG":
        return None
    first = content.ravel()[0].item()
    if np.full(content.shape, first, content.dtype).tobytes() == raw and content.size > 1:
        shape = literal(content.shape, imports)
        return f"{imports.name_of(np.full)}({shape}, {literal(first, imports)}, {dtype})"
    if content.size <= most and np.array(content.tolist(), content.dtype).tobytes() == raw:
        elements = literal(content.tolist(), imports)
        return f"{imports.name_of(np.array)}({elements}, {dtype})"
    return None
