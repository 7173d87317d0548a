"""The types of scalars: ``np.float64`` and its like.

Note [Types of scalars]

``isinstance(x, np.floating)`` holds for scalars that carry a derivative as for those of NumPy, and
``np.float64(x)`` records. So the namespace has classes of its own for NumPy's. They inherit from
them, which is why NumPy reads them as dtypes, and are equal to them. They have no objects: what is
made by calling one is a number of NumPy's class, or an array or a scalar of the namespace.
"""

from __future__ import annotations

import typing
from typing import Any, Final

import numpy as np

from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.operands import cast, is_differentiated, of, result, value_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "ScalarType",
    "byte",
    "cdouble",
    "complex128",
    "complex64",
    "complexfloating",
    "csingle",
    "double",
    "float16",
    "float32",
    "float64",
    "floating",
    "generic",
    "half",
    "inexact",
    "int16",
    "int32",
    "int64",
    "int8",
    "int_",
    "intc",
    "integer",
    "intp",
    "number",
    "short",
    "signedinteger",
    "single",
    "ubyte",
    "uint8",
    "unsignedinteger",
]


class ScalarType(type):
    """The class of the types of scalars; see Note [Types of scalars]."""

    def __instancecheck__(cls, instance: object) -> bool:
        own = _numpys(cls)
        if type(instance) is kinds.scalar and isinstance(instance, TensorBase):
            return issubclass(instance._impl.dtype.type, own)
        return isinstance(instance, own)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(_numpys(subclass), _numpys(cls))

    def __eq__(cls, other: object) -> bool:
        if not isinstance(other, type):
            # A dtype knows whether it is of this type: ``np.float64 == x.dtype``.
            return NotImplemented
        return _numpys(other) is _numpys(cls)

    def __hash__(cls) -> int:
        return hash(_numpys(cls))

    def __repr__(cls) -> str:
        return repr(_numpys(cls))

    def __call__(cls, value: object = 0, *args: Any) -> Any:
        """A number of the type, or an array of its dtype; recorded."""
        own: Any = _numpys(cls)
        if isinstance(value, (list, tuple)):
            value = of(value)
        if not isinstance(value, TensorBase):
            return own(value, *args)
        x = of(value)
        dtype = np.dtype(own)
        if not is_differentiated(x):
            found = own(value_of(x))
            return of(found) if isinstance(found, np.ndarray) else found
        made = cast(x, dtype)
        return made if made.shape else result(F.clone(made))


def _numpys(cls: type) -> type:
    """NumPy's class of a type of scalars; any other class itself."""
    if isinstance(cls, ScalarType):
        return next(base for base in cls.__mro__ if not isinstance(base, ScalarType))
    return cls


def _made(own: type) -> Any:
    return ScalarType(own.__name__, (own,), {"__module__": "numpy", "__slots__": ()})


# To type checkers they are NumPy's own.
generic: Final = typing.cast("type[np.generic]", _made(np.generic))
number: Final = typing.cast("type[np.number[Any]]", _made(np.number))
integer: Final = typing.cast("type[np.integer[Any]]", _made(np.integer))
signedinteger: Final = typing.cast("type[np.signedinteger[Any]]", _made(np.signedinteger))
unsignedinteger: Final = typing.cast("type[np.unsignedinteger[Any]]", _made(np.unsignedinteger))
inexact: Final = typing.cast("type[np.inexact[Any]]", _made(np.inexact))
floating: Final = typing.cast("type[np.floating[Any]]", _made(np.floating))
complexfloating: Final = typing.cast(
    "type[np.complexfloating[Any, Any]]", _made(np.complexfloating)
)
int8: Final = typing.cast("type[np.int8]", _made(np.int8))
int16: Final = typing.cast("type[np.int16]", _made(np.int16))
int32: Final = typing.cast("type[np.int32]", _made(np.int32))
int64: Final = typing.cast("type[np.int64]", _made(np.int64))
uint8: Final = typing.cast("type[np.uint8]", _made(np.uint8))
float16: Final = typing.cast("type[np.float16]", _made(np.float16))
float32: Final = typing.cast("type[np.float32]", _made(np.float32))
float64: Final = typing.cast("type[np.float64]", _made(np.float64))
complex64: Final = typing.cast("type[np.complex64]", _made(np.complex64))
complex128: Final = typing.cast("type[np.complex128]", _made(np.complex128))
int_: Final = int64
intp: Final = int64
half: Final = float16
single: Final = float32
double: Final = float64
csingle: Final = complex64
cdouble: Final = complex128
# Other names of the same types; what NumPy's names mean depends on the machine.
byte: Final = int8
ubyte: Final = uint8
short: Final = int16
intc: Final = int32
