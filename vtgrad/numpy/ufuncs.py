"""The ufuncs of the namespace, each with the operators that compute its derivatives."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from vtgrad.numpy.ufunc import Binary, Ufunc, Unary
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matvec",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "vecdot",
    "vecmat",
]


def _cbrt(x: TensorBase) -> TensorBase:
    return F.copysign(F.pow(F.abs(x), 1 / 3), x)


def _floor_divide(x: TensorBase, y: TensorBase) -> TensorBase:
    return F.div(x, y, rounding_mode="floor")


def _divmod(x: TensorBase, y: TensorBase) -> tuple[TensorBase, TensorBase]:
    return _floor_divide(x, y), F.remainder(x, y)


def _modf(x: TensorBase) -> tuple[TensorBase, TensorBase]:
    whole = F.trunc(x)
    return F.copysign(F.where(F.isfinite(x), F.sub(x, whole), 0.0), x), whole


def _rint(x: TensorBase) -> TensorBase:
    if x._impl.dtype.kind == "c":
        return F.complex(F.round(F.real(x)), F.round(F.imag(x)))
    return F.round(x)


def _heaviside(x: TensorBase, y: TensorBase) -> TensorBase:
    step = F.to_dtype(F.gt(x, 0), y._impl.dtype)
    return F.where(F.isnan(x), x, F.where(F.eq(x, 0), y, step))


def _check_core(name: str, x: TensorBase, ndim: int, nr: int) -> None:
    """Raise as NumPy does if an operand has too few dimensions."""
    if x._impl.array.ndim < ndim:
        raise ValueError(
            f"{name}: Input operand {nr} does not have enough dimensions (has "
            f"{x._impl.array.ndim}, it needs {ndim})"
        )


def _vecdot(x: TensorBase, y: TensorBase) -> TensorBase:
    _check_core("vecdot", x, 1, 0)
    _check_core("vecdot", y, 1, 1)
    return F.sum(F.mul(F.conj_physical(x), y), -1)


def _matvec(x: TensorBase, y: TensorBase) -> TensorBase:
    _check_core("matvec", x, 2, 0)
    _check_core("matvec", y, 1, 1)
    return F.squeeze(F.matmul(x, F.unsqueeze(y, -1)), -1)


def _vecmat(x: TensorBase, y: TensorBase) -> TensorBase:
    _check_core("vecmat", x, 1, 0)
    _check_core("vecmat", y, 2, 1)
    return F.squeeze(F.matmul(F.unsqueeze(F.conj_physical(x), -2), y), -2)


def _matmul(x: TensorBase, y: TensorBase) -> TensorBase:
    _check_core("matmul", x, 1, 0)
    _check_core("matmul", y, 1, 1)
    return F.matmul(x, y)


def _ldexp(x: TensorBase, n: TensorBase) -> TensorBase:
    return F.mul(x, F.exp2(F.to_dtype(n, x._impl.dtype)))


add: Final = Binary(np.add, F.add, F.add_, numbers=True)
subtract: Final = Binary(np.subtract, F.sub, F.sub_, numbers=True)
multiply: Final = Binary(np.multiply, F.mul, F.mul_, numbers=True)
divide: Final = Binary(np.divide, F.true_divide, F.true_divide_, numbers=True)
true_divide: Final = divide
power: Final = Binary(np.power, F.pow, F.pow_, numbers=True)
pow: Final = power
float_power: Final = Binary(np.float_power, F.pow)
remainder: Final = Binary(np.remainder, F.remainder, F.remainder_, numbers=True)
mod: Final = remainder
fmod: Final = Binary(np.fmod, F.fmod, F.fmod_, numbers=True)
floor_divide: Final = Binary(np.floor_divide, _floor_divide)
divmod: Final = Ufunc(np.divmod, _divmod)
maximum: Final = Binary(np.maximum, F.maximum)
minimum: Final = Binary(np.minimum, F.minimum)
fmax: Final = Binary(np.fmax, F.fmax)
fmin: Final = Binary(np.fmin, F.fmin)
arctan2: Final = Binary(np.arctan2, F.arctan2, F.arctan2_)
atan2: Final = arctan2
hypot: Final = Binary(np.hypot, F.hypot, F.hypot_)
logaddexp: Final = Binary(np.logaddexp, F.logaddexp)
logaddexp2: Final = Binary(np.logaddexp2, F.logaddexp2)
copysign: Final = Binary(np.copysign, F.copysign, F.copysign_)
heaviside: Final = Binary(np.heaviside, _heaviside)
nextafter: Final = Binary(np.nextafter, F.nextafter)
ldexp: Final = Ufunc(np.ldexp, _ldexp)

negative: Final = Unary(np.negative, F.neg, F.neg_)
positive: Final = Unary(np.positive, F.clone)
absolute: Final = Unary(np.absolute, F.abs)
abs: Final = absolute
fabs: Final = Unary(np.fabs, F.abs)
sign: Final = Unary(np.sign, F.sgn)
square: Final = Unary(np.square, F.square, F.square_)
sqrt: Final = Unary(np.sqrt, F.sqrt, F.sqrt_)
cbrt: Final = Unary(np.cbrt, _cbrt)
reciprocal: Final = Unary(np.reciprocal, F.reciprocal, F.reciprocal_)
exp: Final = Unary(np.exp, F.exp, F.exp_)
exp2: Final = Unary(np.exp2, F.exp2, F.exp2_)
expm1: Final = Unary(np.expm1, F.expm1, F.expm1_)
log: Final = Unary(np.log, F.log, F.log_)
log2: Final = Unary(np.log2, F.log2, F.log2_)
log10: Final = Unary(np.log10, F.log10, F.log10_)
log1p: Final = Unary(np.log1p, F.log1p, F.log1p_)
sin: Final = Unary(np.sin, F.sin, F.sin_)
cos: Final = Unary(np.cos, F.cos, F.cos_)
tan: Final = Unary(np.tan, F.tan, F.tan_)
arcsin: Final = Unary(np.arcsin, F.asin, F.asin_)
arccos: Final = Unary(np.arccos, F.acos, F.acos_)
arctan: Final = Unary(np.arctan, F.atan, F.atan_)
sinh: Final = Unary(np.sinh, F.sinh, F.sinh_)
cosh: Final = Unary(np.cosh, F.cosh, F.cosh_)
tanh: Final = Unary(np.tanh, F.tanh, F.tanh_)
arcsinh: Final = Unary(np.arcsinh, F.asinh, F.asinh_)
arccosh: Final = Unary(np.arccosh, F.acosh, F.acosh_, inside=2.0)
arctanh: Final = Unary(np.arctanh, F.atanh, F.atanh_)
asin: Final = arcsin
acos: Final = arccos
atan: Final = arctan
asinh: Final = arcsinh
acosh: Final = arccosh
atanh: Final = arctanh
rad2deg: Final = Unary(np.rad2deg, F.rad2deg, F.rad2deg_)
degrees: Final = Unary(np.degrees, F.rad2deg, F.rad2deg_)
deg2rad: Final = Unary(np.deg2rad, F.deg2rad, F.deg2rad_)
radians: Final = Unary(np.radians, F.deg2rad, F.deg2rad_)
floor: Final = Unary(np.floor, F.floor, F.floor_)
ceil: Final = Unary(np.ceil, F.ceil, F.ceil_)
trunc: Final = Unary(np.trunc, F.trunc, F.trunc_)
rint: Final = Unary(np.rint, _rint)
conjugate: Final = Unary(np.conjugate, F.conj_physical)
conj: Final = conjugate
modf: Final = Ufunc(np.modf, _modf)
frexp: Final = Ufunc(np.frexp, F.frexp)
spacing: Final = Unary(np.spacing)

matmul: Final = Ufunc(np.matmul, _matmul)
vecdot: Final = Ufunc(np.vecdot, _vecdot)
matvec: Final = Ufunc(np.matvec, _matvec)
vecmat: Final = Ufunc(np.vecmat, _vecmat)


def _predicate(ufunc: np.ufunc, operator: Any = None) -> Ufunc:
    """A ufunc whose results are bools or integers; the operator serves samples and the like."""
    return Ufunc(ufunc, operator)


equal: Final = _predicate(np.equal, F.eq)
not_equal: Final = _predicate(np.not_equal, F.ne)
less: Final = _predicate(np.less, F.lt)
less_equal: Final = _predicate(np.less_equal, F.le)
greater: Final = _predicate(np.greater, F.gt)
greater_equal: Final = _predicate(np.greater_equal, F.ge)
logical_and: Final = _predicate(np.logical_and, F.logical_and)
logical_or: Final = _predicate(np.logical_or, F.logical_or)
logical_xor: Final = _predicate(np.logical_xor, F.logical_xor)
logical_not: Final = _predicate(np.logical_not, F.logical_not)
isnan: Final = _predicate(np.isnan, F.isnan)
isinf: Final = _predicate(np.isinf, F.isinf)
isfinite: Final = _predicate(np.isfinite, F.isfinite)
signbit: Final = _predicate(np.signbit, F.signbit)
bitwise_and: Final = _predicate(np.bitwise_and, F.bitwise_and)
bitwise_or: Final = _predicate(np.bitwise_or, F.bitwise_or)
bitwise_xor: Final = _predicate(np.bitwise_xor, F.bitwise_xor)
invert: Final = _predicate(np.invert, F.bitwise_not)
bitwise_not: Final = invert
bitwise_invert: Final = invert
left_shift: Final = _predicate(np.left_shift, F.bitwise_left_shift)
right_shift: Final = _predicate(np.right_shift, F.bitwise_right_shift)
bitwise_left_shift: Final = left_shift
bitwise_right_shift: Final = right_shift
bitwise_count: Final = _predicate(np.bitwise_count)
gcd: Final = _predicate(np.gcd, F.gcd)
lcm: Final = _predicate(np.lcm, F.lcm)
