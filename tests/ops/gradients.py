"""Derivatives against finite differences, of any order.

The gradients of a function are themselves a function of its inputs and of the cotangents: checking
an order higher is checking that function. Complex numbers are pairs of real ones, and the inner
product of two tensors is the real part of ``sum(conj(a) * b)``.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

import vtgrad as vt
from vtgrad.storage.arrays import Array

__all__ = ["Differentiable", "check_gradients"]

Differentiable: TypeAlias = Callable[..., Sequence[vt.Tensor]]

STEP = 1e-5


def check_gradients(
    function: Differentiable, inputs: Sequence[Array], *, order: int = 2, seed: int = 1
) -> None:
    """Compare the derivatives of a function with central differences, in random directions.

    Parameters
    ----------
    function : callable
        From as many tensors as there are inputs to several tensors. Results that do not require
        grad must not depend on the inputs.
    inputs : sequence of ndarray
        Where to look, in float64 or complex128.
    order : int
        Highest order of derivative to check.
    seed : int
        Of the directions and cotangents.

    Raises
    ------
    AssertionError
        If they disagree.
    """
    generator = np.random.default_rng(seed)
    leaves = _leaves(inputs)
    outputs = [y for y in function(*leaves) if y.is_floating_point() or y.is_complex()]
    assert outputs, "nothing here can have a gradient"
    cotangents = [_random(generator, y.numpy(force=True)) for y in outputs]
    directions = [_random(generator, x) for x in inputs]
    recorded = [(y, w) for y, w in zip(outputs, cotangents, strict=True) if y.requires_grad]
    found = 0.0
    if recorded:
        gradients = vt.autograd.grad(
            [y for y, _ in recorded],
            leaves,
            [vt.from_numpy(w.copy()) for _, w in recorded],
            materialize_grads=True,
        )
        found = sum(
            _inner(g.numpy(force=True), v) for g, v in zip(gradients, directions, strict=True)
        )
    expected = _difference(function, inputs, directions, cotangents)
    scale = 1 + sum(float(np.abs(w).sum()) for w in cotangents)
    assert abs(found - expected) <= 2e-7 * scale * (1 + abs(expected)), (
        f"derivative {found}, by finite differences {expected}"
    )
    if order > 1 and recorded:
        check_gradients(
            _gradient_function(function, len(inputs)),
            [*inputs, *(w for _, w in recorded)],
            order=order - 1,
            seed=seed + 1,
        )


def _gradient_function(function: Differentiable, count: int) -> Differentiable:
    """The gradients as a function of the inputs and the cotangents after them."""

    def gradients(*arguments: vt.Tensor) -> Sequence[vt.Tensor]:
        leaves = arguments[:count]
        outputs = [y for y in function(*leaves) if y.requires_grad]
        return vt.autograd.grad(
            outputs,
            leaves,
            arguments[count:],
            create_graph=True,
            materialize_grads=True,
        )

    return gradients


def _difference(
    function: Differentiable,
    inputs: Sequence[Array],
    directions: Sequence[Array],
    cotangents: Sequence[Array],
) -> float:
    """The change of the inner product with the cotangents along the directions."""
    totals: list[float] = []
    for step in (STEP, -STEP):
        moved = [x + step * v for x, v in zip(inputs, directions, strict=True)]
        outputs = function(*_leaves(moved))
        values = [y.numpy(force=True) for y in outputs if y.is_floating_point() or y.is_complex()]
        totals.append(sum(_inner(w, y) for w, y in zip(cotangents, values, strict=True)))
    return (totals[0] - totals[1]) / (2 * STEP)


def _leaves(arrays: Sequence[Array]) -> list[vt.Tensor]:
    return [vt.tensor(x, requires_grad=True) for x in arrays]


def _random(generator: np.random.Generator, like: Array) -> Array:
    """Normal numbers of a shape and dtype."""
    result: Array = np.asarray(generator.standard_normal(like.shape))
    if like.dtype.kind == "c":
        result = result + 1j * generator.standard_normal(like.shape)
    return np.asarray(result, like.dtype)


def _inner(a: Array, b: Array) -> float:
    return float(np.sum(np.conj(a) * b).real)
