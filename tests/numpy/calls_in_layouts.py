"""Tables of calls, each of a function and an array, run by the namespace and by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

import vtgrad.numpy as vnp
from tests.numpy.derivatives import check_derivatives, check_samples, flattened, of_squares
from tests.numpy.support import DTYPES, INEXACT, array, compare, values

#: A call gets the function, of either library, and an array of either.
Call: TypeAlias = Callable[[Any, Any], Any]


def function_of(module: Any, name: str) -> Any:
    """A function by its name, as ``"linalg.norm"``."""
    for part in name.split("."):
        module = getattr(module, part)
    return module


def compare_calls(
    name: str,
    calls: Sequence[Call],
    shapes: Sequence[tuple[int, ...]],
    dtypes: Sequence[str] = DTYPES,
    *,
    grads: Sequence[bool] = (False, True),
    numbers: Callable[[str, tuple[int, ...]], Any] = values,
) -> None:
    """Each call on arrays of shapes and dtypes, in several layouts, by both names."""
    mine, theirs = function_of(vnp, name), function_of(np, name)
    for shape in shapes:
        for dtype in dtypes:
            x = numbers(dtype, shape)
            for grad in grads:
                for at, call in enumerate(calls):
                    what = f"{name} #{at} of {dtype}{shape}, grad {grad}"
                    for given, layout in layouts(x, grad):
                        right = partial(call, theirs, layout)
                        compare(_listed(partial(call, mine, given)), _listed(right), what)
                    # By NumPy's own name; elements of constants are NumPy's own.
                    if not (len(shape) > 1 or (grad and dtype in INEXACT)):
                        continue
                    compare(
                        _listed(partial(call, theirs, array(x, grad))),
                        _listed(partial(call, theirs, x)),
                        f"{what}, NumPy's",
                    )


def layouts(x: Any, grad: bool) -> Iterator[tuple[Any, Any]]:
    """The array as it is, by columns, and with a step of two in memory."""
    yield array(x, grad), x
    if x.ndim:
        yield array(x.T, grad).T, x
        wide = np.repeat(x, 2, axis=-1)
        yield array(wide, grad)[..., ::2], wide[..., ::2]


def _listed(call: Callable[[], Any]) -> Callable[[], Any]:
    """Lists as tuples that say so."""

    def found() -> Any:
        return _as_tuple(call())

    return found


def _as_tuple(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return (type(x).__name__, *map(_as_tuple, x))
    return x


def check_calls(
    name: str, calls: Sequence[Call], x: Any, *, mapped: bool = True, digits: float = 1e-9
) -> None:
    """Derivatives of the squares of what each call returns, and samples of them."""
    f = function_of(vnp, name)
    for at, call in enumerate(calls):

        def total(value: Any, call: Call = call) -> Any:
            return of_squares(call(f, value))

        what = f"{name} #{at}"
        if any(part.dtype.char not in "dD" for part in flattened(call(f, array(x)))):
            continue  # differences are too coarse
        check_derivatives(total, x, digits=digits, what=what)
        if mapped:
            check_samples(total, np.stack([x, x + 0.5, x * 0.75]), digits=digits, what=what)


__all__ = ["Call", "check_calls", "compare_calls", "function_of", "layouts"]
