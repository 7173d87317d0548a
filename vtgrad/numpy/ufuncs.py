"""The ufuncs of the namespace, each with the operators that compute its derivatives."""

from __future__ import annotations

# One takes two operands, in place of any number.
# mypy: disable-error-code="override"
import math
import operator
from typing import Any, Final, SupportsIndex, Unpack

import numpy as np

from vtgrad.numpy.axes import moveaxis
from vtgrad.numpy.memory_order import reduced
from vtgrad.numpy.operands import ArrayLike, cast, of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.ufunc import Binary, Options, Ufunc, Unary
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


def _floor_divide(x: TensorBase, y: TensorBase) -> TensorBase:
    return F.div(x, y, rounding_mode="floor")


def _remainder(x: TensorBase, y: TensorBase) -> TensorBase:
    # A zero has the divisor's sign in NumPy, and the dividend's in the operator. A sum with 0 makes
    # each zero positive and changes no derivative.
    left = F.remainder(x, y)
    return F.where(F.signbit(y), F.neg(F.add(F.neg(left), 0)), F.add(left, 0))


def _float_power(x: TensorBase, y: TensorBase) -> TensorBase:
    wide = np.result_type(x._impl.dtype, np.float64)
    return F.pow(F.to_dtype(x, wide), F.to_dtype(y, wide))


def _divmod(x: TensorBase, y: TensorBase) -> tuple[TensorBase, TensorBase]:
    return _floor_divide(x, y), _remainder(x, y)


def _heaviside(x: TensorBase, y: TensorBase) -> TensorBase:
    step = F.to_dtype(F.gt(x, 0), y._impl.dtype)
    return F.where(F.isnan(x), x, F.where(F.eq(x, 0), y, step))


class _Power(Binary):
    """The powers, with NumPy's special cases: of one exponent, 0.5 is the root and -0.5 is none."""

    def of_pair(self, a: object, b: object) -> Any:
        """As of `Binary`; of -0.0 and -inf the special cases have other values."""
        if isinstance(b, (float, np.floating)) and isinstance(a, TensorBase):
            if b == -0.5:
                return self.compute((a, b))
            if b == 0.5 and isinstance(b, np.floating):
                kind = np.result_type(a._impl.dtype, b)
                if kind.char in "fd":
                    return super().of_pair(F.to_dtype(a, kind), 0.5)
        return super().of_pair(a, b)


class _Vecdot(Ufunc):
    """The sums of products of vectors."""

    def __call__(
        self,
        x1: ArrayLike,
        x2: ArrayLike,
        /,
        out: ndarray | tuple[ndarray | None] | None = None,
        *,
        axis: SupportsIndex = -1,
        **options: Unpack[Options],
    ) -> ndarray:
        """Compute it along an axis of both operands; see `Ufunc.__call__` for the options."""
        if operator.index(axis) != -1:
            x1, x2 = moveaxis(x1, axis, -1), moveaxis(x2, axis, -1)
        return super().__call__(x1, x2, out=out, **options)


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
    if x._impl.array.shape[-1] != y._impl.array.shape[-1]:
        # Vectors of one element do not broadcast.
        raise ValueError(
            "vecdot: Input operand 1 has a mismatch in its core dimension 0: the vectors have "
            f"{x._impl.array.shape[-1]} and {y._impl.array.shape[-1]} elements"
        )
    terms = F.mul(F.conj_physical(x), y)
    return reduced(F.sum(terms, -1), terms, (terms._impl.array.ndim - 1,))


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


def _sign(x: TensorBase) -> TensorBase:
    found = F.sgn(x)
    if x._impl.array.dtype.kind != "f":
        return found
    # The operator has 0 for NaN. NaN is a constant here: the derivative is 0.
    return F.where(F.isnan(x), cast(of(math.nan), x._impl.dtype), found)


def _ldexp(x: TensorBase, n: TensorBase) -> TensorBase:
    return F.mul(x, F.exp2(F.to_dtype(n, x._impl.dtype)))


add: Final = Binary(np.add, numbers=True)
subtract: Final = Binary(np.subtract, numbers=True)
multiply: Final = Binary(np.multiply, numbers=True)
divide: Final = Binary(np.divide, numbers=True)
true_divide: Final = divide
power: Final = _Power(np.power, numbers=True)
pow: Final = power
float_power: Final = Binary(np.float_power, _float_power)
remainder: Final = Ufunc(np.remainder, _remainder)
mod: Final = remainder
fmod: Final = Binary(np.fmod, numbers=True)
floor_divide: Final = Binary(np.floor_divide, _floor_divide)
divmod: Final = Ufunc(np.divmod, _divmod)
maximum: Final = Binary(np.maximum)
minimum: Final = Binary(np.minimum)
fmax: Final = Binary(np.fmax)
fmin: Final = Binary(np.fmin)
arctan2: Final = Binary(np.arctan2)
atan2: Final = arctan2
hypot: Final = Binary(np.hypot)
logaddexp: Final = Binary(np.logaddexp)
logaddexp2: Final = Binary(np.logaddexp2)
copysign: Final = Binary(np.copysign)
heaviside: Final = Binary(np.heaviside, _heaviside)
nextafter: Final = Binary(np.nextafter)
ldexp: Final = Ufunc(np.ldexp, _ldexp)

negative: Final = Unary(np.negative)
positive: Final = Unary(np.positive)
absolute: Final = Unary(np.absolute)
abs: Final = absolute
fabs: Final = Unary(np.fabs)
sign: Final = Unary(np.sign, _sign)
square: Final = Unary(np.square)
sqrt: Final = Unary(np.sqrt)
cbrt: Final = Unary(np.cbrt)
reciprocal: Final = Unary(np.reciprocal)
exp: Final = Unary(np.exp)
exp2: Final = Unary(np.exp2)
expm1: Final = Unary(np.expm1)
log: Final = Unary(np.log)
log2: Final = Unary(np.log2)
log10: Final = Unary(np.log10)
log1p: Final = Unary(np.log1p)
sin: Final = Unary(np.sin)
cos: Final = Unary(np.cos)
tan: Final = Unary(np.tan)
arcsin: Final = Unary(np.arcsin)
arccos: Final = Unary(np.arccos)
arctan: Final = Unary(np.arctan)
sinh: Final = Unary(np.sinh)
cosh: Final = Unary(np.cosh)
tanh: Final = Unary(np.tanh)
arcsinh: Final = Unary(np.arcsinh)
arccosh: Final = Unary(np.arccosh)
arctanh: Final = Unary(np.arctanh)
asin: Final = arcsin
acos: Final = arccos
atan: Final = arctan
asinh: Final = arcsinh
acosh: Final = arccosh
atanh: Final = arctanh
rad2deg: Final = Unary(np.rad2deg)
degrees: Final = Unary(np.degrees)
deg2rad: Final = Unary(np.deg2rad)
radians: Final = Unary(np.radians)
floor: Final = Unary(np.floor)
ceil: Final = Unary(np.ceil)
trunc: Final = Unary(np.trunc)
rint: Final = Unary(np.rint)
conjugate: Final = Unary(np.conjugate)
conj: Final = conjugate
modf: Final = Ufunc(np.modf)
frexp: Final = Ufunc(np.frexp)
spacing: Final = Unary(np.spacing)

matmul: Final = Ufunc(np.matmul, _matmul)
vecdot: Final = _Vecdot(np.vecdot, _vecdot)
# NumPy 2.1 does not have these two, which are taken out of the namespace there.
matvec: Final = Ufunc(getattr(np, "matvec", np.matmul), _matvec)
vecmat: Final = Ufunc(getattr(np, "vecmat", np.matmul), _vecmat)

# Of bools and integers: the operators serve samples and traces.

equal: Final = Ufunc(np.equal)
not_equal: Final = Ufunc(np.not_equal)
less: Final = Ufunc(np.less)
less_equal: Final = Ufunc(np.less_equal)
greater: Final = Ufunc(np.greater)
greater_equal: Final = Ufunc(np.greater_equal)
logical_and: Final = Ufunc(np.logical_and)
logical_or: Final = Ufunc(np.logical_or)
logical_xor: Final = Ufunc(np.logical_xor)
logical_not: Final = Ufunc(np.logical_not)
isnan: Final = Ufunc(np.isnan)
isinf: Final = Ufunc(np.isinf)
isfinite: Final = Ufunc(np.isfinite)
signbit: Final = Ufunc(np.signbit)
bitwise_and: Final = Ufunc(np.bitwise_and)
bitwise_or: Final = Ufunc(np.bitwise_or)
bitwise_xor: Final = Ufunc(np.bitwise_xor)
invert: Final = Ufunc(np.invert)
bitwise_not: Final = invert
bitwise_invert: Final = invert
left_shift: Final = Ufunc(np.left_shift)
right_shift: Final = Ufunc(np.right_shift)
bitwise_left_shift: Final = left_shift
bitwise_right_shift: Final = right_shift
bitwise_count: Final = Ufunc(np.bitwise_count)
gcd: Final = Ufunc(np.gcd)
lcm: Final = Ufunc(np.lcm)
