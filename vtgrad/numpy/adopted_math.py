"""The module `math` of adopted code: its functions record where a scalar carries a derivative."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, Final

from vtgrad.graph.batch import batch_of
from vtgrad.numpy import ufuncs
from vtgrad.numpy.adopted_numbers import as_number
from vtgrad.numpy.operands import of, result, value_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["make_math"]


class MathFunction:
    """A function of the module, which is no descriptor, as those of `math` are none."""

    __name__: str

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<function math.{self.__name__}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _by_name, (self.__name__,)


_functions: Final[dict[str, MathFunction]] = {}


def _by_name(name: str) -> MathFunction:
    return _functions[name]


def _enter(name: str, call: Callable[..., Any]) -> None:
    plain = getattr(math, name, None)
    # Python's own module may be older than the function.
    if plain is not None:
        members = {"__call__": staticmethod(call), "__name__": name, "__doc__": plain.__doc__}
        _functions[name] = type(name, (MathFunction,), members)()


def _number(x: Any) -> Any:
    """An argument: a recorded scalar, or a number of Python."""
    return as_number(x) if isinstance(x, TensorBase) else x


def _value(x: Any) -> Any:
    """The value of an argument, as a number of Python."""
    return value_of(x).item() if isinstance(x, TensorBase) else x


def _recorded(*args: Any) -> bool:
    return any(isinstance(x, TensorBase) for x in args)


def _sampled(*args: Any) -> bool:
    """Whether an argument stands for several samples, which have no value of their own."""
    return any(isinstance(x, TensorBase) and batch_of(x) is not None for x in args)


def _of_elements(name: str, operator: Callable[..., Any]) -> None:
    """Enter a function of numbers that an operator computes too."""
    plain: Any = getattr(math, name, None)

    def call(*args: Any) -> Any:
        for x in args:
            if isinstance(x, TensorBase):
                return recorded(*args)
        return plain(*args)

    def recorded(*args: Any) -> Any:
        numbers = [_number(x) for x in args]
        if not _recorded(*numbers) or not _sampled(*numbers):
            # The errors are those of `math`, which programs catch.
            value = plain(*[_value(x) for x in numbers])
            if not _recorded(*numbers):
                return value
        return operator(*numbers)

    _enter(name, call)


def _of_values(name: str) -> None:
    """Enter a function that has no derivative."""
    plain: Any = getattr(math, name, None)

    def call(*args: Any, **options: Any) -> Any:
        given = {key: _value(x) for key, x in options.items()}
        return plain(*[_value(x) for x in args], **given)

    _enter(name, call)


def _by_operator(operator: Callable[..., TensorBase]) -> Callable[[Any], Any]:
    return lambda x: result(operator(of(x)))


def _gamma(x: Any) -> Any:
    size = result(F.exp(F.lgamma(x)))
    odd = ufuncs.remainder(ufuncs.floor(x), 2.0)
    return size * (1.0 - 2.0 * odd * ufuncs.less(x, 0.0))


def _log(x: Any, *base: Any) -> Any:
    if not _recorded(x, *base):
        return math.log(x, *base)
    found = _functions["log1"](x)
    return found / _functions["log1"](base[0]) if base else found


def _remainder(x: Any, y: Any) -> Any:
    return x - y * ufuncs.rint(ufuncs.divide(x, y))


def _nextafter(x: Any, y: Any, **options: Any) -> Any:
    there = math.nextafter(_value(x), _value(y), **options)
    # The distance is a constant.
    return there if not _recorded(x) else _number(x) + (there - _value(x))


def _hypot(*coordinates: Any) -> Any:
    if not _recorded(*coordinates):
        return math.hypot(*coordinates)
    found, *others = [_number(x) for x in coordinates]
    if not others:
        return ufuncs.fabs(found)
    for x in others:
        found = ufuncs.hypot(found, x)
    return found


def _dist(p: Iterable[Any], q: Iterable[Any], /) -> Any:
    ps, qs = list(p), list(q)
    if not _recorded(*ps, *qs):
        return math.dist(ps, qs)
    if len(ps) != len(qs):
        raise ValueError("both points must have the same number of dimensions")
    return _hypot(*[_number(a) - _number(b) for a, b in zip(ps, qs, strict=True)])


def _fsum(items: Iterable[Any], /) -> Any:
    numbers = [_number(x) for x in items]
    if not _recorded(*numbers):
        return math.fsum(numbers)
    found = sum(numbers)
    if _sampled(*numbers):
        return found
    # What the sum in order loses to rounding is a constant.
    exact = math.fsum([_value(x) for x in numbers])
    lost = exact - _value(found)
    return found + lost if math.isfinite(lost) else found


def _prod(items: Iterable[Any], /, *, start: Any = 1) -> Any:
    numbers = list(items)
    if not _recorded(start, *numbers):
        return math.prod(numbers, start=start)
    found = start
    for x in numbers:
        found = found * x
    return found


def _sumprod(p: Iterable[Any], q: Iterable[Any], /) -> Any:
    ps, qs = list(p), list(q)
    if len(ps) != len(qs):
        raise ValueError("Inputs are not the same length")
    return _fsum([_number(a) * _number(b) for a, b in zip(ps, qs, strict=True)])


def _fma(x: Any, y: Any, z: Any, /) -> Any:
    if not _recorded(x, y, z):
        return typing.cast("Any", math).fma(x, y, z)
    return _number(x) * _number(y) + _number(z)


def _modf(x: Any, /) -> Any:
    if not _recorded(x):
        return math.modf(x)
    number = _number(x)
    whole = ufuncs.trunc(number)
    return number - whole, whole


def _frexp(x: Any, /) -> Any:
    if not _recorded(x):
        return math.frexp(x)
    number = _number(x)
    _, exponent = math.frexp(_value(number))
    return _ldexp(number, -exponent), exponent


def _ldexp(x: Any, i: Any, /) -> Any:
    power = i if not isinstance(i, TensorBase) else int(value_of(i))
    if not _recorded(x):
        return math.ldexp(x, power)
    number = _number(x)
    if not _recorded(number):
        return math.ldexp(number, power)
    # In two steps: one power of two may be beyond the largest number.
    half = power // 2
    return number * math.ldexp(1.0, half) * math.ldexp(1.0, power - half)


for _name in (
    "acos acosh asin asinh atan atanh cbrt cos cosh degrees exp exp2 expm1 fabs log10 log1p log2 "
    "radians sin sinh sqrt tan tanh atan2 copysign fmod pow"
).split():
    _of_elements(_name, getattr(ufuncs, _name))
_of_elements("erf", _by_operator(F.erf))
_of_elements("erfc", _by_operator(F.erfc))
_of_elements("lgamma", _by_operator(F.lgamma))
_of_elements("gamma", _gamma)
_of_elements("remainder", _remainder)
_of_elements("log", ufuncs.log)
_functions["log1"] = _functions["log"]
for _name in (
    "ceil comb factorial floor gcd isclose isfinite isinf isnan isqrt lcm perm trunc ulp"
).split():
    _of_values(_name)
_BY_HAND: Final[dict[str, Callable[..., Any]]] = {
    "dist": _dist,
    "fma": _fma,
    "frexp": _frexp,
    "fsum": _fsum,
    "hypot": _hypot,
    "ldexp": _ldexp,
    "log": _log,
    "modf": _modf,
    "nextafter": _nextafter,
    "prod": _prod,
    "sumprod": _sumprod,
}
for _name, _by_hand in _BY_HAND.items():
    _enter(_name, _by_hand)


def make_math() -> ModuleType:
    """A module of its own, which has all that `math` has."""
    made = ModuleType("math", math.__doc__)
    for name, member in vars(math).items():
        if name not in ("__name__", "__doc__"):
            setattr(made, name, _functions.get(name, member))
    return made
