"""Values that are passed to NumPy and returned by it, apart from the state of a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import numpy as np

from vtgrad.storage.arrays import Array, NumpyDType, Shape

__all__ = [
    "NamedLast",
    "arrays_in",
    "bits_of",
    "clear_padding",
    "is_basic",
    "is_python",
    "is_uniform",
    "name_of",
]

# Extended precision has 64 bits of fraction and 16 of sign and exponent.
_NBYTES: Final = 10
_IS_PADDED: Final = (
    np.finfo(np.longdouble).nmant == 63 and np.dtype(np.longdouble).itemsize > _NBYTES
)


class NamedLast:
    """A function whose last arguments are passed by name.

    Attributes
    ----------
    function : callable
        The function.
    names : tuple of str
        The names of the last arguments.
    """

    __slots__ = ("function", "names")

    function: Callable[..., object]
    names: tuple[str, ...]

    def __init__(self, function: Callable[..., object], names: tuple[str, ...]) -> None:
        self.function = function
        self.names = names

    def __call__(self, *args: object) -> object:
        """Call it."""
        count = len(args) - len(self.names)
        return self.function(*args[:count], **dict(zip(self.names, args[count:], strict=True)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, NamedLast)
            and self.function == other.function
            and self.names == other.names
        )

    def __hash__(self) -> int:
        return hash((self.function, self.names))


def is_basic(key: object) -> bool:
    """Whether an index has no arrays, lists or bools, so that it makes a view."""
    parts = key if isinstance(key, tuple) else (key,)
    return all(
        x is None or x is ... or type(x) is int or isinstance(x, (slice, np.integer)) for x in parts
    )


def arrays_in(values: Iterable[object]) -> Iterator[Array]:
    """The arrays among values, and in tuples and lists of them."""
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from arrays_in(value)


def name_of(function: object) -> str:
    """How a message calls a function."""
    return str(getattr(function, "__qualname__", None) or getattr(function, "__name__", function))


def bits_of(array: Array) -> bytes:
    """The bytes of the elements in C order, with zeros for the padding of extended precision."""
    if array.dtype.char not in "gG" or not _IS_PADDED:
        return np.ndarray.tobytes(array)
    dense = np.ndarray.copy(np.ndarray.view(array, np.ndarray), "C")
    clear_padding(dense, dense.dtype, dense.shape, dense.strides, 0)
    return dense.tobytes()


def clear_padding(
    memory: Array, dtype: NumpyDType, shape: Shape, strides: Shape, offset: int
) -> None:
    """Set the padding of the elements of a place to zeros, if they have some."""
    if dtype.char not in "gG" or not _IS_PADDED or 0 in shape:
        return
    size = np.dtype(np.longdouble).itemsize
    parts = (*shape, dtype.itemsize // size, size), (*strides, size, 1)
    padded: Array = np.ndarray(parts[0], np.uint8, memory, offset, parts[1])
    padding = slice(_NBYTES, None) if dtype.isnative else slice(size - _NBYTES)
    padded[..., padding] = 0


def is_uniform(array: Array) -> bool:
    """Whether all elements have the bits of one number of Python."""
    if array.dtype.char in "gG":
        return False
    one = array[(0,) * array.ndim]
    # Python has one nan only.
    return bool(one == one) and array.size * one.tobytes() == array.tobytes()


def is_python(value: object) -> bool:
    """Whether a value is compared by `interpret.same_value`."""
    if isinstance(value, (tuple, list)):
        return all(map(is_python, value))
    return value is None or isinstance(value, (bool, int, float, complex, str, np.dtype))
