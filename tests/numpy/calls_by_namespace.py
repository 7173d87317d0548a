"""Calls written once for both namespaces, and what is checked of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import INEXACT, array, compare, values

#: A call: of a namespace, and of what makes arrays of values in it.
Call: TypeAlias = Callable[[Any, Callable[[Any], Any]], Any]


def compare_call(call: Call, what: str, *, exact: bool = False) -> None:
    """A call gives what NumPy gives: of constants, of what requires grad, and by NumPy's name."""
    for grad in (False, True):

        def make(value: Any, grad: bool = grad) -> Any:
            return array(value, grad)

        compare(lambda: call(vnp, make), lambda: call(np, np.array), f"{what} {grad}", exact=exact)


def by_numpys_name(call: Call, what: str) -> None:
    """NumPy's own function, called with arrays of the namespace, is the namespace's."""
    for grad in (False, True):

        def make(value: Any, grad: bool = grad) -> Any:
            return array(value, grad)

        compare(lambda: call(np, make), lambda: call(np, np.array), f"numpy.{what} {grad}")


def check_derivatives(function: Callable[..., Any], *inputs: Any) -> None:
    """Gradients, second gradients, forward mode, and samples inside of `vmap`."""
    leaves = [array(x, grad=True) for x in inputs]
    assert vt.autograd.gradcheck(function, tuple(leaves))
    assert vt.autograd.gradgradcheck(function, tuple(leaves))
    points = [x.detach() for x in leaves]
    if all(np.asarray(x).dtype.kind == "f" for x in inputs):
        steps = [array(np.cos(np.asarray(x))) for x in inputs]
        value, tangent = vt.func.jvp(function, tuple(points), tuple(steps))
        _, pull = vt.func.vjp(function, *points)
        weights = array(0.5 + np.arange(value.size, dtype="d").reshape(value.shape) % 3)
        by_rows = sum(
            float((part * step).sum()) for part, step in zip(pull(weights), steps, strict=True)
        )
        np.testing.assert_allclose(float((tangent * weights).sum()), by_rows, rtol=1e-10)
    samples = [array(np.stack([np.asarray(x), np.asarray(x) * 1.25])) for x in inputs]
    found = vt.vmap(function)(*samples)
    wanted = [function(*[x[nr] for x in samples]) for nr in range(2)]
    np.testing.assert_allclose(found.tolist(), [np.asarray(x).tolist() for x in wanted])


__all__ = ["INEXACT", "Call", "by_numpys_name", "check_derivatives", "compare_call", "values"]
