"""Derivatives of functions of arrays, compared with differences, and of modes with one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import vtgrad as vt
from tests.numpy.support import array, plain, values


def check_derivatives(
    function: Callable[..., Any],
    *operands: Any,
    second: bool = True,
    digits: float = 1e-9,
    what: str = "",
) -> None:
    """First derivatives one by one, second ones along a direction, forward mode against reverse."""
    leaves = tuple([array(x, grad=True) for x in operands])
    assert vt.autograd.gradcheck(function, leaves), what
    if second:
        assert vt.autograd.gradgradcheck(function, leaves, fast_mode=True), what

    def total(*parts: Any) -> Any:
        return of_squares(function(*parts))

    points = tuple([x.detach() for x in leaves])
    steps = tuple([array(values(x.dtype.char, x.shape, 4 + nr)) for nr, x in enumerate(points)])
    value, tangent = vt.func.jvp(total, points, steps)
    np.testing.assert_allclose(plain(value), plain(total(*points)), rtol=digits, err_msg=what)
    gradients: Any = vt.func.grad(total, argnums=tuple(range(len(points))))(*points)
    wanted = sum(
        [
            float((gradient.conj() * step).sum().real)
            for gradient, step in zip(gradients, steps, strict=True)
        ]
    )
    np.testing.assert_allclose(float(tangent), wanted, rtol=digits, atol=digits, err_msg=what)


def check_samples(
    function: Callable[..., Any],
    *stacks: Any,
    digits: float = 1e-12,
    what: str = "",
    **options: Any,
) -> None:
    """Samples of `vmap`, along the first dimension of each stack, give what a loop gives."""
    made = [array(x) for x in stacks]
    found = flattened(vt.vmap(lambda *row: function(*row, **options))(*made))
    rows = [flattened(function(*row, **options)) for row in zip(*made, strict=True)]
    for one, *wanted in zip(found, *rows, strict=True):
        right = [plain(x) for x in wanted]
        np.testing.assert_allclose(plain(one), right, rtol=digits, atol=digits, err_msg=what)


def of_squares(found: Any) -> Any:
    """The sum of squares of results, so that linear functions have second derivatives too."""
    squares = [(part * part.conj()).real.sum() for part in flattened(found)]
    return sum(squares[1:], squares[0])


def flattened(found: Any) -> Sequence[Any]:
    """The arrays of a result that may be a list of them."""
    if isinstance(found, (list, tuple)):
        return [part for x in found for part in flattened(x)]
    return [found]


__all__ = ["check_derivatives", "check_samples", "flattened", "of_squares"]
