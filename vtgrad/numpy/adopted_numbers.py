"""What `float(x)` and its like do in adopted code: the calls that are rewritten there.

Note [Calls in adopted code]

A program turns scalars into Python's numbers and asks whether they are such. In adopted code a
scalar that carries a derivative stands for such a number, so that these calls record:
`adopted_source.py` replaces them by calls of the functions here. Each is given the function that
the program's name means, since a program may have a function of its own called ``float``.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from types import UnionType
from typing import Any, Final

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.numpy import scalar_types
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.on_values import tensors_in
from vtgrad.numpy.operands import as_array, cast, is_differentiated, of, result, value_of
from vtgrad.numpy.scalar_types import ScalarType
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["CALLS", "METHODS", "as_number", "converting", "matched"]

_DTYPES: Final = {float: np.dtype(np.float64), complex: np.dtype(np.complex128)}
_TYPES: Final[dict[object, ScalarType]] = {
    kind: kind for kind in vars(scalar_types).values() if isinstance(kind, ScalarType)
}


def as_number(x: TensorBase, kind: type[Any] = float) -> Any:
    """One element as a number: a recorded scalar if it carries a derivative, else one of Python.

    Parameters
    ----------
    x : TensorBase
        An array of one element.
    kind : type
        `float`, `complex` or `int`. Integers have no derivative.

    Raises
    ------
    TypeError
        If there is not one element.
    """
    dtype = _DTYPES.get(kind)
    if dtype is None or not is_differentiated(x):
        return kind(value_of(x))
    array = of(x)
    if type(array) is kinds.scalar and array.dtype == dtype:
        return array
    if array.shape or (kind is float and array.dtype.kind == "c"):
        # NumPy refuses, or warns.
        kind(making.ones(array.shape, array.dtype))
    if array.dtype.kind == "c" and kind is float:
        array = as_array(F.real(as_array(array)))
    return result(F.clone(cast(as_array(F.reshape(as_array(array), ())), dtype)))


def _number(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """A call of `float` or `int`."""
    if not args or not isinstance(args[0], TensorBase) or len(args) > 1 or options:
        return function(*args, **options)
    if function is float or function is int:
        return as_number(args[0], function)
    return function(*args)


def _complex(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """A call of `complex`, which also takes a real and an imaginary part."""
    if function is not complex or not any(
        isinstance(x, TensorBase) for x in (*args, *options.values())
    ):
        return function(*args, **options)
    parts = dict(zip(("real", "imag"), args, strict=False)) | options
    if len(parts) != len(args) + len(options) or not parts.keys() <= {"real", "imag"}:
        return function(*args, **options)
    real, imag = (
        as_number(x, complex) if isinstance(x, TensorBase) else complex(x)
        for x in (parts.get("real", 0.0), parts.get("imag", 0.0))
    )
    return real + imag * 1j if "imag" in parts else real


def _isinstance(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """A call of `isinstance`, for which a scalar is one of its dtype's type."""
    found = function(*args, **options)
    if function is isinstance and issubclass(type(args[0]), TensorBase):
        kind = type(args[0])
        if kind is kinds.scalar and not (found and _names_tensors(args[1])):
            # Also where its class has what numbers do not have, as a length.
            return issubclass(args[0]._impl.dtype.type, args[1])
        if found:
            return True
        if kind is kinds.array:
            return issubclass(np.ndarray, args[1])
    return found


def matched(subject: object, classes: Callable[[], Iterable[type]]) -> object:
    """What a ``match`` statement looks at, whose patterns name classes.

    Raises
    ------
    NotSupportedError
        If a pattern such as ``float()`` would not be that of a scalar, as it is of a number.
    """
    scalars = [x for x in tensors_in(subject) if type(x) is kinds.scalar]
    for cls in classes() if scalars else ():
        if any(_isinstance(isinstance, x, cls) != isinstance(x, cls) for x in scalars):
            raise NotSupportedError(
                f"a pattern of the class {cls.__name__} does not match scalars of vtgrad.numpy, "
                "which Python asks itself; say isinstance() in the source"
            )
    return subject


def _names_tensors(classes: Any) -> bool:
    """Whether one of the classes that `isinstance` is given is a class of tensors."""
    if isinstance(classes, tuple):
        return any(map(_names_tensors, classes))
    if isinstance(classes, UnionType):
        return any(map(_names_tensors, classes.__args__))
    return isinstance(classes, type) and issubclass(classes, TensorBase)


def _hasattr(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """A call of `hasattr`, by which programs ask whether something has a length."""
    found = function(*args, **options)
    if found is True and function is hasattr and type(args[0]) is kinds.scalar:
        return args[1] not in _NOT_OF_NUMBERS
    return found


def _type(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """A call of `type`, for which a scalar is of its dtype's type.

    What it gives is a class of the namespace, with which a program compares it by ``is``.
    """
    found = function(*args, **options)
    if function is not type or len(args) != 1:
        return found
    if found is kinds.scalar:
        return _TYPES.get(args[0]._impl.dtype.type, found)
    if found in PLAIN:
        return kinds.array
    return _TYPES.get(found, found) if issubclass(found, np.generic) else found


def _map(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """A call of `map` with `float` or its like as the function."""
    if function is map and args and args[0] in _CONVERSIONS:
        return map(converting(args[0]), *args[1:], **options)
    return function(*args, **options)


def converting(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that records, in place of `float`, `int` or `complex`."""
    call = _complex if function is complex else _number
    return lambda *args: call(function, *args)


def _item(x: Any, *args: Any, **options: Any) -> Any:
    """A call of the method `item`."""
    if not isinstance(x, TensorBase) or not is_differentiated(x) or options:
        return x.item(*args, **options)
    array = of(x)
    if not args and array.size == 1:
        number = as_array(F.reshape(as_array(array), ()))
        return as_number(number, complex if array.dtype.kind == "c" else float)
    # The errors for places are those of NumPy.
    making.empty(array.shape, np.bool_).item(*args)
    place = args[0] if len(args) == 1 else args
    if not isinstance(place, tuple):
        return as_array(F.reshape(as_array(array), (-1,)))[place]
    return array[place]


def _type_of_dtype(x: Any, *args: Any, **options: Any) -> Any:
    """A call of the attribute `type` of a dtype: ``x.dtype.type(1.0)``."""
    if not isinstance(x, np.dtype):
        return x.type(*args, **options)
    made: Any = _TYPES.get(x.type, x.type)
    return made(*args, **options)


def _tolist(x: Any, *args: Any, **options: Any) -> Any:
    """A call of the method `tolist`."""
    if not isinstance(x, TensorBase) or args or options or not is_differentiated(x):
        return x.tolist(*args, **options)
    array = of(x)
    if type(array) is kinds.scalar:
        return array
    if not array.shape:
        return _item(array)
    parts: Iterable[Any] = array
    return [_tolist(part) if isinstance(part, TensorBase) else part for part in parts]


# What the class of scalars has for arrays, and numbers of NumPy do not have.
_NOT_OF_NUMBERS: Final = frozenset(dir(np.ndarray)) - frozenset(dir(np.complex128))
_CONVERSIONS: Final[tuple[object, ...]] = (float, int, complex)

# What calls of a name, and of a method, are replaced by.
CALLS: Final[dict[str, Callable[..., Any]]] = {
    "float": _number,
    "int": _number,
    "complex": _complex,
    "hasattr": _hasattr,
    "isinstance": _isinstance,
    "type": _type,
    "map": _map,
}
METHODS: Final[dict[str, Callable[..., Any]]] = {
    "item": _item,
    "tolist": _tolist,
    "type": _type_of_dtype,
}

assert all(hasattr(builtins, name) for name in CALLS)
