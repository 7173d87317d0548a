"""The module `scipy.special` of adopted code: its functions in Python record too.

Its ufuncs record by themselves, see Note [Ufuncs of scipy.special]. What SciPy has written in
Python strips its arguments of their class; here these functions are those of `vtgrad.special`,
where an argument carries a derivative.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.adopted_sys import Stand
from vtgrad.numpy.on_values import any_differentiated, any_keyed
from vtgrad.numpy.operands import result
from vtgrad.numpy.special_ufuncs import in_one_dtype
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["make_special"]


def _operand(name: str, value: Any) -> TensorBase:
    found = in_one_dtype([value])
    if found is None:
        raise NotSupportedError(f"{name} of complex values is not recorded")
    return found[0]


def _plain_options(name: str, **options: Any) -> None:
    """Refuse what SciPy's function takes and the recorded one does not."""
    for option, value in options.items():
        if value is not None and value is not False:
            raise NotSupportedError(
                f"{name} of recorded values does not take {option}=; compute with exp and log"
            )


def _logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    _plain_options("logsumexp", b=b, return_sign=return_sign)
    x = _operand("logsumexp", a)
    dims = tuple(range(x._impl.array.ndim)) if axis is None else axis
    return result(import_module("vtgrad.special").logsumexp(x, dims, keepdims))


def _along(name: str) -> Callable[..., Any]:
    def function(x: Any, axis: Any = None) -> Any:
        call = getattr(import_module("vtgrad.special"), name)
        operand = _operand(name, x)
        if axis is not None:
            return result(call(operand, axis))
        # Of all elements.
        shape = operand._impl.array.shape
        return result(F.reshape(call(F.reshape(operand, (-1,)), 0), shape))

    return function


def _polygamma(n: Any, x: Any) -> Any:
    return result(import_module("vtgrad.special").polygamma(n, _operand("polygamma", x)))


def _spherical(name: str) -> Callable[..., Any]:
    def function(n: Any, z: Any, derivative: bool = False) -> Any:
        # An order makes float64 of float32, as SciPy's does.
        operands = in_one_dtype([np.int64(n) if isinstance(n, int) else n, z])
        if operands is None:
            raise NotSupportedError(f"{name} of complex values is not recorded")
        return result(getattr(import_module("vtgrad.special"), name)(*operands, derivative))

    return function


def _multigammaln(a: Any, d: Any) -> Any:
    return result(import_module("vtgrad.special").multigammaln(_operand("multigammaln", a), d))


_RECORDED: Final[dict[str, Callable[..., Any]]] = {
    "log_softmax": _along("log_softmax"),
    "logsumexp": _logsumexp,
    "multigammaln": _multigammaln,
    "polygamma": _polygamma,
    "softmax": _along("softmax"),
    **{name: _spherical(name) for name in (f"spherical_{kind}n" for kind in "ijky")},
}


def _either(plain: Callable[..., Any], recorded: Callable[..., Any]) -> Callable[..., Any]:
    """A function of SciPy that records where there is something to record."""

    @functools.wraps(plain)
    def function(*args: Any, **options: Any) -> Any:
        if any_differentiated(args, options) or any_keyed(args, options):
            return recorded(*args, **options)
        return plain(*args, **options)

    return function


def make_special(package: ModuleType, real: ModuleType) -> tuple[ModuleType, ModuleType]:
    """The packages `scipy` and `scipy.special` for adopted code.

    Parameters
    ----------
    package, real : module
        SciPy's own.
    """
    members = {name: _either(getattr(real, name), call) for name, call in _RECORDED.items()}
    special = Stand(real, **members)
    return Stand(package, special=special), special
