"""Sample inputs of operators: what a sample is, and the arrays that samples are made of.

The numbers keep away from points where an operator has no derivative (integers for `floor`, ties
for `maximum`, zero for `abs`), so that finite differences mean something.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from vtgrad.storage.arrays import Array

__all__ = [
    "CHOICE",
    "COMPLEX",
    "MASK",
    "MATRIX",
    "OTHER",
    "POSITIVE",
    "SECOND_COMPLEX",
    "SMALL",
    "SQUARE",
    "THIRD",
    "VECTOR",
    "WHOLE",
    "Binary",
    "Expected",
    "Sample",
    "Samples",
    "Unary",
    "array",
    "binary_samples",
    "sample",
    "unary_samples",
]

# What NumPy makes of the same arguments: one array or several, or None to compare nothing.
Expected: TypeAlias = Callable[..., object] | None


@dataclass(frozen=True)
class Sample:
    """One call of an operator.

    Attributes
    ----------
    expected : callable or None
        The same with NumPy alone, called with the same arguments.
    arguments : tuple
        The positional arguments; arrays stand for tensors.
    options : mapping
        The keyword arguments.
    """

    expected: Expected
    arguments: tuple[object, ...]
    options: Mapping[str, object]


Samples: TypeAlias = dict[str, list[Sample]]

# By operator: the same in NumPy, and the arrays or the pairs of operands to try.
Unary: TypeAlias = Mapping[str, tuple[Expected, Sequence[Array]]]
Binary: TypeAlias = Mapping[str, tuple[Expected, Sequence[tuple[object, object]]]]


def sample(expected: Expected, *arguments: object, **options: object) -> Sample:
    """A sample, written the way the operator is called."""
    return Sample(expected, arguments, options)


def unary_samples(table: Unary) -> Samples:
    """Samples of operators of one tensor."""
    return {
        name: [sample(function, x) for x in arrays] for name, (function, arrays) in table.items()
    }


def binary_samples(table: Binary) -> Samples:
    """Samples of operators of two operands."""
    return {
        name: [sample(function, a, b) for a, b in pairs]
        for name, (function, pairs) in table.items()
    }


def array(values: object, dtype: str = "float64") -> Array:
    """An array of `values`."""
    result: Array = np.array(values, dtype=dtype)
    result.flags.writeable = False
    return result


MATRIX: Final = array([[0.3, -1.7, 2.4], [1.1, -0.6, 0.8]])
OTHER: Final = array([[1.3, 0.7, -1.6], [-0.9, 2.2, 0.45]])
THIRD: Final = array([[-0.4, 1.9, 0.6], [2.1, 1.4, -1.3]])
VECTOR: Final = array([0.9, -1.2, 1.45])
POSITIVE: Final = array([[0.4, 1.7, 2.3], [0.85, 3.1, 1.2]])
# Inside (-1, 1), and none of them zero.
SMALL: Final = array([[0.35, -0.7, 0.15], [-0.25, 0.6, -0.45]])
SQUARE: Final = array([[0.3, -1.7, 2.4], [1.1, -0.6, 0.8], [0.5, 1.9, -0.2]])
COMPLEX: Final = array([[0.3 + 0.8j, -1.7 + 0.2j], [1.1 - 0.6j, 0.4 - 1.3j]], "complex128")
SECOND_COMPLEX: Final = array([[1.2 - 0.4j, 0.6 + 0.9j], [-0.5 + 1.1j, 0.7 + 0.3j]], "complex128")
WHOLE: Final = array([[3, -5, 2], [7, 1, -4]], "int64")
MASK: Final = array([[True, False, True], [False, False, True]], "bool")
CHOICE: Final = array([2, 0], "int64")
