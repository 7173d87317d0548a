"""Tables of calls of functions, on arrays of the namespace and on NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array, compare

Call = tuple[tuple[Any, ...], dict[str, Any]]


def call(*args: Any, **options: Any) -> Call:
    """The arguments of a call."""
    return args, options


def _mine(value: Any, grad: bool) -> Any:
    """An argument with arrays of the namespace in place of NumPy's."""
    if isinstance(value, np.ndarray):
        return array(value, grad)
    if isinstance(value, (list, tuple)):
        return type(value)([_mine(x, grad) for x in value])
    return value


def check(
    name: str,
    args: Sequence[Any],
    options: dict[str, Any],
    *,
    grad: bool = True,
    by_name: bool = True,
) -> None:
    """Compare a call with NumPy's: of constants, of leaves, and by NumPy's own name."""
    theirs = partial(getattr(np, name), *args, **options)
    for wanted in (False, True) if grad else (False,):
        mine = [_mine(x, wanted) for x in args]
        named = {key: _mine(x, wanted) for key, x in options.items()}
        what = f"{name}{tuple(args)}{options} grad={wanted}"
        compare(partial(getattr(vnp, name), *mine, **named), theirs, what)
        if by_name and any(isinstance(x, vt.Tensor) for x in (*mine, *named.values())):
            compare(partial(getattr(np, name), *mine, **named), theirs, f"numpy.{what}")


def check_derivatives(function: Callable[..., Any], *values: Any, second: bool = True) -> None:
    """Compare derivatives with differences, and forward mode with backward mode."""
    leaves = tuple([array(np.asarray(x), grad=True) for x in values])
    assert vt.autograd.gradcheck(function, leaves)
    if second:
        assert vt.autograd.gradgradcheck(function, leaves)

    def one(*parts: Any) -> Any:
        found: Any = function(*parts)
        pieces: list[Any] = list(found) if isinstance(found, (list, tuple)) else [found]
        total: Any = 0
        for x in pieces:
            total = total + (abs(x) ** 2).sum()
        return total

    plain = tuple([x.detach() for x in leaves])
    numbers = tuple(range(len(plain)))
    tangents = vt.func.jvp(one, plain, tuple([vnp.ones_like(x) for x in plain]))[1]
    gradients: Any = vt.func.grad(one, argnums=numbers)(*plain)
    total = sum([float(x.sum().real) for x in gradients])
    np.testing.assert_allclose(float(tangents), total, rtol=1e-8, atol=1e-10)


def check_samples(function: Callable[..., Any], rows: Any, **options: Any) -> None:
    """Compare `vmap` with a loop."""
    made = array(rows)
    found = vt.vmap(lambda row: function(row, **options))(made)
    wanted = [function(row, **options) for row in made]
    if isinstance(found, tuple):
        for nr, part in enumerate(found):
            np.testing.assert_allclose(
                part.tolist(), [np.asarray(x[nr]).tolist() for x in wanted], rtol=1e-12, atol=1e-13
            )
        return
    np.testing.assert_allclose(found.tolist(), [x.tolist() for x in wanted], rtol=1e-12, atol=1e-13)


__all__ = ["Call", "call", "check", "check_derivatives", "check_samples"]
