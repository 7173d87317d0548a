"""Tables of calls, each of a function and an array, run by the namespace and by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import DTYPES, INEXACT, array, compare, plain, values

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


def check_derivatives(
    name: str, calls: Sequence[Call], x: Any, *, mapped: bool = True, digits: float = 1e-9
) -> None:
    """First and second derivatives against differences, forward mode against reverse, samples."""
    f = function_of(vnp, name)
    for at, call in enumerate(calls):

        def total(value: Any, call: Call = call) -> Any:
            # Squares, so that there are second derivatives of linear functions too.
            squares = [(part * part.conj()).real.sum() for part in flattened(call(f, value))]
            return sum(squares[1:], squares[0])

        what = f"{name} #{at}"
        if any(part.dtype.char not in "dD" for part in flattened(call(f, array(x)))):
            continue  # differences are too coarse
        leaf = array(x, grad=True)
        assert vt.autograd.gradcheck(total, (leaf,)), what
        assert vt.autograd.gradgradcheck(total, (leaf,)), what
        point = array(x)
        direction = array(values("d", np.shape(x), 3))
        _, tangent = vt.func.jvp(total, (point,), (direction,))
        (gradient,) = vt.autograd.grad(total(leaf), leaf)
        wanted = float((gradient * direction).sum())
        np.testing.assert_allclose(float(tangent), wanted, rtol=digits, atol=digits, err_msg=what)
        if mapped:
            rows = np.stack([x, x + 0.5, x * 0.75])
            found = vt.vmap(total)(array(rows))
            wants = [plain(total(array(row))) for row in rows]
            np.testing.assert_allclose(plain(found), wants, rtol=digits, err_msg=what)


def flattened(found: Any) -> list[Any]:
    """The arrays of a result that may be a list of them."""
    if isinstance(found, (list, tuple)):
        return [part for x in found for part in flattened(x)]
    return [found]


__all__ = ["Call", "check_derivatives", "compare_calls", "flattened", "function_of", "layouts"]
