"""The real function and its copy, compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy

import vtgrad.numpy as np

# The fixture `write`, see conftest.py.
Write: TypeAlias = Callable[[dict[str, str]], str]


def check(mine: Callable[..., Any], real: Callable[..., Any], *args: Any, where: int = 0) -> Any:
    """Value and gradient of a copy, compared with the real function and its differences."""
    given: list[Any] = [numpy.array(x, dtype=float) for x in args]
    x = np.array(given[where]).requires_grad_()
    tensors = list(given)
    tensors[where] = x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mine(*[t if i == where else t[()] for i, t in enumerate(tensors)])

    def value(at: Any) -> float:
        call = [t.copy()[()] for t in given]
        call[where] = at.copy()[()]
        return float(numpy.sum(real(*call)))

    total: Any = np.sum(found) if isinstance(found, np.ndarray) else found
    numpy.testing.assert_allclose(total.detach().numpy(), value(given[where]), rtol=1e-10)
    total.backward()
    slopes = numpy.zeros(given[where].size)
    for i in range(slopes.size):
        step = numpy.zeros(given[where].size)
        step[i] = 1e-6
        step = step.reshape(given[where].shape)
        slopes[i] = (value(given[where] + step) - value(given[where] - step)) / 2e-6
    assert x.grad is not None
    gradient = x.grad.detach().numpy()
    numpy.testing.assert_allclose(gradient.reshape(-1), slopes, rtol=1e-5, atol=1e-7)
    return found


__all__ = ["Write", "check"]
