"""Functions of elements whose values are SciPy's, which is imported when one of them is called.

Note [SciPy's functions]

The value is what the ufunc of ``scipy.special`` returns for the same arrays, bit by bit. Numbers
and integers are brought to the dtype of the result first: integers alone are computed in the
default dtype. Derivatives are written here, with operators and with other functions of elements.
A backward finds SciPy imported by its forward.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import TypeAlias, cast

import numpy as np

from vtgrad.errors import MissingPackageError, NotSupportedError
from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise, Kernel, Slope
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.storage.dtypes import get_default_dtype
from vtgrad.tensor.tensor import Tensor

__all__ = ["Operand", "ScipyFunction", "as_complex", "first_order", "scipy_special"]

Operand: TypeAlias = Tensor | Number


def scipy_special(name: str) -> ModuleType:
    """The module ``scipy.special``.

    Parameters
    ----------
    name : str
        The function that needs it, for the error.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    """
    try:
        return import_module("scipy.special")
    except ImportError:
        raise MissingPackageError(
            f"{name}() needs SciPy, the extra 'scipy': pip install scipy", package="scipy"
        ) from None


def as_complex(z: Tensor) -> Tensor:
    """Complex values; real ones, which have real gradients, in the precision that they have."""
    dtype = z._impl.array.dtype
    if dtype.kind == "c":
        return z
    floats = dtype if dtype.kind == "f" else get_default_dtype().numpy
    return F.to_dtype(z, np.result_type(floats, np.complex64))


def first_order(like: Tensor) -> Tensor:
    """The order of a first derivative, for functions that have the order as an operand."""
    return F.ones_like(F.detach(like))


class ScipyFunction(Elementwise):
    """A function of ``scipy.special``; see Note [SciPy's functions].

    Parameters
    ----------
    name : str
        Its name there.
    kernel : callable, optional
        What takes arrays of one dtype. By default the ufunc of that name.
    real : tuple of str
        The parameters that are real where the others are complex. None by default.
    takes_complex, reads_result, **slopes
        As for `Elementwise`.
    """

    __slots__ = ("real",)

    real: tuple[str, ...]

    def __init__(
        self,
        name: str,
        kernel: Kernel | None = None,
        *,
        real: tuple[str, ...] = (),
        takes_complex: bool = False,
        reads_result: bool = False,
        **slopes: Slope | None,
    ) -> None:
        self.real = real
        called = kernel or _ufunc(name)
        super().__init__(
            name,
            _with_real(name, called, tuple(slopes), real) if real else called,
            in_double=False,
            takes_half=True,
            takes_complex=takes_complex,
            reads_result=reads_result,
            refuses_late=False,
            **slopes,
        )

    def _tensors(self, operands: tuple[Operand, ...]) -> list[Tensor]:
        # Numbers get the dtype of the others, but real parameters are not made complex by it.
        tensors = super()._tensors(operands)
        return [
            F.real(x) if name in self.real and isinstance(given, (int, float)) else x
            for name, given, x in zip(self.slopes, operands, tensors, strict=True)
        ]

    def _tangent(
        self, arguments: Mapping[str, object], given: Mapping[str, object], result: object
    ) -> object:
        # Slopes take tensors alone.
        operands = tuple([cast("Operand", arguments[name]) for name in self.slopes])
        tensors = dict(zip(self.slopes, self._tensors(operands), strict=True))
        return super()._tangent(tensors, given, result)


def _ufunc(name: str) -> Kernel:
    """The kernel that calls a ufunc, which is looked up by the call."""

    def kernel(*arrays: Array) -> Array:
        found: Array = making.asarray(getattr(scipy_special(name), name)(*arrays))
        return found

    return kernel


def _with_real(
    function: str, kernel: Kernel, parameters: tuple[str, ...], real: tuple[str, ...]
) -> Kernel:
    """A kernel that takes some operands as real ones, which have all been brought to one dtype."""

    def call(*arrays: Array) -> Array:
        given = list(arrays)
        for n, name in enumerate(parameters):
            if name in real and arrays[n].dtype.kind == "c":
                if arrays[n].imag.any():
                    raise NotSupportedError(
                        f"{function}() is defined for real {name} only",
                        operator=function,
                        argument=name,
                    )
                given[n] = arrays[n].real
        return kernel(*given)

    return call
