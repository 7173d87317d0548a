"""Which operators compute NumPy's ufuncs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["OPERATORS", "Operator", "inplace_operator", "inside_of", "operator_of"]

# Of tensors, and where the operator takes them of numbers; of several results a tuple.
Operator: TypeAlias = Callable[..., Any]


def _cbrt(x: TensorBase) -> TensorBase:
    # The sign is a constant, so that the derivative at 0 is infinite, and not NaN.
    sign = F.copysign(F.ones_like(x), x)
    return F.mul(sign, F.pow(F.mul(sign, x), 1 / 3))


def _conjugate(x: TensorBase) -> TensorBase:
    # Of real numbers the operator gives its operand, and a ufunc a new array.
    return F.conj_physical(x) if x._impl.array.dtype.kind == "c" else F.clone(x)


def _divmod(x: TensorBase, y: TensorBase) -> tuple[TensorBase, TensorBase]:
    return F.floor_divide(x, y), F.remainder(x, y)


def _modf(x: TensorBase) -> tuple[TensorBase, TensorBase]:
    # The fraction of an infinite number is 0 in NumPy, and has its sign.
    whole = F.trunc(x)
    return F.copysign(F.where(F.isinf(x), 0.0, F.sub(x, whole)), x), whole


def _rint(x: TensorBase) -> TensorBase:
    if x._impl.array.dtype.kind == "c":
        return F.complex(F.round(F.real(x)), F.round(F.imag(x)))
    return F.round(x)


OPERATORS: Final[Mapping[np.ufunc, Operator]] = {
    np.absolute: F.abs,
    np.add: F.add,
    np.arccos: F.acos,
    np.arccosh: F.acosh,
    np.arcsin: F.asin,
    np.arcsinh: F.asinh,
    np.arctan: F.atan,
    np.arctan2: F.atan2,
    np.arctanh: F.atanh,
    np.bitwise_and: F.bitwise_and,
    np.bitwise_or: F.bitwise_or,
    np.bitwise_xor: F.bitwise_xor,
    np.cbrt: _cbrt,
    np.ceil: F.ceil,
    np.conjugate: _conjugate,
    np.copysign: F.copysign,
    np.cos: F.cos,
    np.cosh: F.cosh,
    np.deg2rad: F.deg2rad,
    np.degrees: F.rad2deg,
    np.divide: F.true_divide,
    np.divmod: _divmod,
    np.equal: F.eq,
    np.exp: F.exp,
    np.exp2: F.exp2,
    np.expm1: F.expm1,
    np.fabs: F.abs,
    np.float_power: F.float_power,
    np.floor: F.floor,
    np.floor_divide: F.floor_divide,
    np.fmax: F.fmax,
    np.fmin: F.fmin,
    np.fmod: F.fmod,
    np.frexp: F.frexp,
    np.gcd: F.gcd,
    np.greater: F.gt,
    np.greater_equal: F.ge,
    np.heaviside: F.heaviside,
    np.hypot: F.hypot,
    np.invert: F.bitwise_not,
    np.isfinite: F.isfinite,
    np.isinf: F.isinf,
    np.isnan: F.isnan,
    np.lcm: F.lcm,
    np.ldexp: F.ldexp,
    np.left_shift: F.bitwise_left_shift,
    np.less: F.lt,
    np.less_equal: F.le,
    np.log: F.log,
    np.log10: F.log10,
    np.log1p: F.log1p,
    np.log2: F.log2,
    np.logaddexp: F.logaddexp,
    np.logaddexp2: F.logaddexp2,
    np.logical_and: F.logical_and,
    np.logical_not: F.logical_not,
    np.logical_or: F.logical_or,
    np.logical_xor: F.logical_xor,
    np.matmul: F.matmul,
    np.maximum: F.maximum,
    np.minimum: F.minimum,
    np.modf: _modf,
    np.multiply: F.mul,
    np.negative: F.neg,
    np.nextafter: F.nextafter,
    np.not_equal: F.ne,
    np.positive: F.clone,
    np.power: F.pow,
    np.rad2deg: F.rad2deg,
    np.radians: F.deg2rad,
    np.reciprocal: F.reciprocal,
    np.remainder: F.remainder,
    np.right_shift: F.bitwise_right_shift,
    np.rint: _rint,
    np.sign: F.sgn,
    np.signbit: F.signbit,
    np.sin: F.sin,
    np.sinh: F.sinh,
    np.sqrt: F.sqrt,
    np.square: F.square,
    np.subtract: F.sub,
    np.tan: F.tan,
    np.tanh: F.tanh,
    np.trunc: F.trunc,
}

# Where each ufunc that has a derivative has a finite one, but for those that are listed.
_INSIDE: Final = 0.5
_INSIDE_BY_UFUNC: Final[Mapping[np.ufunc, float]] = {np.arccosh: 2.0}


def operator_of(ufunc: np.ufunc) -> Operator | None:
    """The operator that computes a ufunc; None if there is none."""
    return OPERATORS.get(ufunc)


def inplace_operator(ufunc: np.ufunc) -> Operator | None:
    """The operator that writes what a ufunc computes into its first operand."""
    operator = OPERATORS.get(ufunc)
    found: Operator | None = getattr(F, f"{operator.__name__}_", None) if operator else None
    return found


def inside_of(ufunc: np.ufunc) -> float:
    """A number at which a ufunc has a finite value and derivative.

    It stands for the operands where ``where=`` is false, so that no gradient of an element that
    takes no part is NaN.
    """
    return _INSIDE_BY_UFUNC.get(ufunc, _INSIDE)
