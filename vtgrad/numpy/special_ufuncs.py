"""Ufuncs of `scipy.special` that are called with arrays of the namespace.

Note [Ufuncs of scipy.special]

NumPy hands a call of any ufunc over, so SciPy's functions record where `vtgrad.special` has them:
under the same name, or under PyTorch's. The values are those of `vtgrad.special`, whether there is
a derivative or not. A ufunc is SciPy's if the module that a program has imported has it under its
name; nothing is imported for that. Complex values, keywords such as ``out=``, and functions that
`vtgrad.special` does not have are computed by SciPy on the values, where nothing is lost.

SciPy takes the degree of a polynomial first. It also has degrees that are not whole, and
`vtgrad.special` has not: these are computed by SciPy too.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from vtgrad.numpy.operands import cast, of_numbers, result, value_of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["call_special", "in_one_dtype"]

# SciPy's names, where they are other ones than those of `vtgrad.special`.
_RENAMED: Final = {
    "_lambertw": "lambertw",
    "_zeta": "zeta",
    "j0": "bessel_j0",
    "j1": "bessel_j1",
    "k0": "modified_bessel_k0",
    "k0e": "scaled_modified_bessel_k0",
    "k1": "modified_bessel_k1",
    "k1e": "scaled_modified_bessel_k1",
    "y0": "bessel_y0",
    "y1": "bessel_y1",
}
# The degree is the first operand of SciPy's, and the second one of PyTorch's.
_POLYNOMIALS: Final = {
    "eval_chebyt": "chebyshev_polynomial_t",
    "eval_chebyu": "chebyshev_polynomial_u",
    "eval_hermite": "hermite_polynomial_h",
    "eval_hermitenorm": "hermite_polynomial_he",
    "eval_laguerre": "laguerre_polynomial_l",
    "eval_legendre": "legendre_polynomial_p",
    "eval_sh_chebyt": "shifted_chebyshev_polynomial_t",
    "eval_sh_chebyu": "shifted_chebyshev_polynomial_u",
}
# SciPy's modules that have ufuncs.
_HOMES: Final = ("scipy.special", "scipy.special._ufuncs")
_DOUBLE: Final = np.dtype(np.float64)


def call_special(ufunc: np.ufunc, inputs: Sequence[object]) -> object:
    """What a ufunc of SciPy gives, recorded; None if `vtgrad.special` does not have it."""
    name = ufunc.__name__
    if not any(getattr(sys.modules.get(home), name, None) is ufunc for home in _HOMES):
        return None
    special = import_module("vtgrad.special")
    mine: str = _POLYNOMIALS.get(name) or _RENAMED.get(name, name)
    if mine not in special.__all__:
        return None
    operands = in_one_dtype(inputs)
    if operands is None:
        return None
    if name in _POLYNOMIALS:
        operands.reverse()
        degrees = value_of(operands[1])
        if not (degrees == np.trunc(degrees)).all():
            return None
    function: Callable[..., TensorBase | tuple[TensorBase, ...]] = getattr(special, mine)
    found = function(*operands)
    return tuple([result(x) for x in found]) if isinstance(found, tuple) else result(found)


def in_one_dtype(values: Sequence[object]) -> list[ndarray] | None:
    """Arrays of the dtype that SciPy computes in: float64 for integers; None for complex values."""
    found = [of_numbers(x) for x in values]
    kinds = [
        x if type(x) in (int, float, bool) else y._impl.array.dtype
        for x, y in zip(values, found, strict=True)
    ]
    dtype = np.result_type(*typing.cast("list[Any]", kinds))
    if dtype.kind == "c":
        return None
    return [cast(x, dtype if dtype.kind == "f" else _DOUBLE) for x in found]
