"""A package and its copy, compared: values, and derivatives in both modes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy

import vtgrad as vt
import vtgrad.numpy as np
from vtgrad.func import grad, jacfwd

# Of the differences with steps h and 2 h, extrapolated: the error is of the order of h**4.
STEP: Final = 1e-4


@cache
def adopted(name: str, *without: str) -> Any:
    """The copy of a module; one for all tests of a process, as a program would have it."""
    return np.adopt(name, without=without)


def check(
    module: str,
    call: Callable[..., Any],
    *args: Any,
    without: tuple[str, ...] = (),
    backward: tuple[int, ...] | None = None,
    step: float = STEP,
    rtol: float = 1e-6,
    atol: float = 1e-8,
) -> None:
    """Compare a call of a module with one of its copy.

    Parameters
    ----------
    module : str
        Its name.
    call : callable
        Given the module, the namespace of NumPy that goes with it, and the arguments. What it
        returns, an array or nested lists and tuples of arrays and numbers, is differentiated by
        all arguments.
    *args : float or nested list of float
        The arguments.
    without : tuple of str
        As of `adopt`.
    backward : tuple of int, optional
        The arguments for reverse mode, where it does not have all.
    step, rtol, atol : float
        The step of the differences, and how far derivatives may be from them. The step is
        relative for arguments above 1.
    """
    real: Any = importlib.import_module(module)
    copy = adopted(module, *without)
    given = [numpy.array(x, dtype=float) for x in args]

    def value(*at: Any) -> Any:
        # Functions write into what they are given.
        return _flat(call(real, numpy, *[x.copy()[()] for x in at]))

    expected = value(*given)
    assert numpy.isfinite(expected).all()

    def mine(*at: Any) -> Any:
        # Functions write into what they are given.
        return _joined(call(copy, np, *[np.copy(x)[()] for x in at]))

    found = mine(*[np.array(x)[()] for x in given])
    numpy.testing.assert_allclose(_plain(found), expected, rtol=1e-12, atol=1e-14)

    weights = numpy.linspace(0.5, 1.5, expected.size)
    for where, x in enumerate(given):
        slopes = _differences(value, given, where, step)
        scale = max(1.0, float(numpy.abs(slopes).max(initial=0.0)))
        tensors = [np.array(y) for y in given]
        forward = _plain(jacfwd(mine, argnums=where)(*tensors))
        numpy.testing.assert_allclose(
            forward.reshape(slopes.shape), slopes, rtol=rtol, atol=atol * scale
        )

        assert numpy.any(slopes), f"argument {where} has no influence"
        if backward is not None and where not in backward:
            continue

        def weighted(*at: Any) -> Any:
            return np.sum(mine(*at) * weights)

        tensors = [np.array(y) for y in given]
        found = _plain(grad(weighted, argnums=where)(*tensors))
        # The two modes agree far more closely than the differences allow to see.
        numpy.testing.assert_allclose(
            found.reshape(-1),
            weights @ forward.reshape(slopes.shape),
            rtol=1e-8,
            atol=1e-11 * scale,
        )
        assert x.shape == found.shape


def _differences(
    value: Callable[..., Any], given: list[Any], where: int, step: float
) -> numpy.ndarray[Any, Any]:
    columns = []
    flat = given[where].reshape(-1)
    for i in range(flat.size):
        size = step * max(1.0, abs(flat[i]))

        def difference(h: float, i: int = i) -> Any:
            moved = []
            for sign in (1, -1):
                at = list(given)
                at[where] = flat.copy()
                at[where][i] += sign * h
                at[where] = at[where].reshape(given[where].shape)
                moved.append(value(*at))
            return (moved[0] - moved[1]) / (2 * h)

        columns.append((4 * difference(size) - difference(2 * size)) / 3)
    return numpy.stack(columns, axis=1)


def _leaves(tree: Any) -> list[Any]:
    if isinstance(tree, (list, tuple)):
        return [leaf for part in tree for leaf in _leaves(part)]
    return [tree]


def _flat(tree: Any) -> Any:
    return numpy.concatenate([numpy.asarray(x, dtype=float).reshape(-1) for x in _leaves(tree)])


def _joined(tree: Any) -> Any:
    return np.concatenate([np.reshape(np.asarray(x), -1) for x in _leaves(tree)])


def _plain(x: Any) -> Any:
    return x.detach().numpy() if isinstance(x, vt.Tensor) else numpy.asarray(x)
