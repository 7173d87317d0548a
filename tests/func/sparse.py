"""What tests of sparse Jacobians have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

import vtgrad as vt
from vtgrad.func import SparsityPattern, sparse_jacobian, sparsity_pattern
from vtgrad.storage.arrays import Array

__all__ = ["Counted", "Function", "check", "dense", "reaction", "vector"]

Function: TypeAlias = Callable[[vt.Tensor], vt.Tensor]


def vector(count: int, seed: int = 0) -> vt.Tensor:
    return vt.tensor(np.random.default_rng(seed).uniform(0.5, 1.5, count))


def dense(function: Function, x: vt.Tensor, jac: Callable[..., Callable[..., object]]) -> Array:
    found = jac(function)(x.clone())
    assert isinstance(found, vt.Tensor)
    return found.detach().numpy().reshape(-1, x.numel())


def check(function: Function, x: vt.Tensor, *, modes: str = "forward reverse") -> SparsityPattern:
    """The matrix equals the dense Jacobian; the pattern, of which no entry is zero by itself."""
    pattern = sparsity_pattern(function, x)
    if "forward" in modes:
        matrix = sparse_jacobian(function, x, mode="forward", check=True)
        np.testing.assert_allclose(matrix.toarray(), dense(function, x, vt.func.jacfwd), atol=1e-12)
    if "reverse" in modes:
        matrix = sparse_jacobian(function, x, mode="reverse", check=True)
        np.testing.assert_allclose(matrix.toarray(), dense(function, x, vt.func.jacrev), atol=1e-12)
    return pattern


def reaction(u: vt.Tensor) -> vt.Tensor:
    """A residual whose Jacobian is tridiagonal: ``u[i]**3 - u[i - 1] - u[i + 1]``."""
    r = u**3
    r[1:] -= u[:-1]
    r[:-1] -= u[1:]
    return r


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, x: vt.Tensor) -> vt.Tensor:
        self.calls += 1
        return self.function(x)
