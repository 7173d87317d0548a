"""Complex tangents: the derivative applied to the tangent, without conjugates.

The tangent of `f` at `z` along `t` is the limit of ``(f(z + h t) - f(z)) / h`` for real `h`, which
central differences approximate for every operator and every sample with complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
from tests.forward.test_formulas import differentiable, drawn
from tests.ops.calls import Case, cases, function_of_inputs
from tests.ops.records import tangent_of
from tests.sweeping import by_table, sweep
from vtgrad.autograd import forward_ad as fw
from vtgrad.storage.arrays import Array


def is_complex(case: Case) -> bool:
    _, arrays = function_of_inputs(case, case.operator.name, inplace=False)
    return any(x.dtype.kind == "c" for x in arrays)


CASES: Final = [
    case
    for case in cases()
    if differentiable(case)
    and tangent_of(case.operator.name).kind == "formula"
    and case.operator.returns not in {"Self", "Geometry"}
    and is_complex(case)
]


@sweep(CASES, row=by_table)
def test_tangents_are_directional_derivatives(case: Case) -> None:
    apply, arrays = function_of_inputs(case, case.operator.name, inplace=False)
    rng = np.random.default_rng(5)
    tangents = [drawn(rng, x) for x in arrays]

    def values(step: float) -> list[Array]:
        moved = [vt.tensor(x + step * t) for x, t in zip(arrays, tangents, strict=True)]
        return [y.numpy(force=True) for y in apply(*moved)]

    step = 1e-6
    expected = [(a - b) / (2 * step) for a, b in zip(values(step), values(-step), strict=True)]
    with fw.dual_level():
        duals = [
            fw.make_dual(vt.tensor(x), vt.tensor(t)) for x, t in zip(arrays, tangents, strict=True)
        ]
        for y, wanted in zip(apply(*duals), expected, strict=True):
            found = fw.unpack_dual(y).tangent
            assert found is not None
            assert found.dtype == y.dtype
            np.testing.assert_allclose(found.numpy(force=True), wanted, rtol=1e-6, atol=1e-6)


def tangent(x: vt.Tensor) -> Any:
    found = fw.unpack_dual(x).tangent
    assert found is not None
    return found


Z: Final = vt.tensor([3 + 4j, 1 - 2j])
T: Final = vt.tensor([1 + 1j, 2j])


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda z: z * z, [2 * (3 + 4j) * (1 + 1j), 2 * (1 - 2j) * 2j]),
        (lambda z: z.conj(), [1 - 1j, -2j]),
        (lambda z: z.real, [1, 0]),
        (lambda z: z.imag, [1, 2]),
        # Re(conj(z) t) / |z|
        (lambda z: z.abs(), [7 / 5, -4 / 5**0.5]),
        # Im(t / z)
        (lambda z: z.angle(), [-1 / 25, 2 / 5]),
    ],
)
def test_by_hand(f: Callable[[vt.Tensor], vt.Tensor], expected: list[complex]) -> None:
    with fw.dual_level():
        y = f(fw.make_dual(Z, T))
        assert tangent(y).dtype == y.dtype
        np.testing.assert_allclose(tangent(y).tolist(), expected, rtol=1e-6)


def test_at_zero() -> None:
    with fw.dual_level():
        dual = fw.make_dual(vt.zeros(2, dtype=vt.complex64), T)
        for y in (dual.abs(), dual.sgn(), dual.angle()):
            assert not vt.count_nonzero(tangent(y))


def test_a_real_tensor_in_a_complex_expression_has_a_complex_tangent() -> None:
    with fw.dual_level():
        dual = fw.make_dual(vt.ones(2), vt.tensor([1.0, 2.0]))
        for y in (dual * 1j, dual + Z, vt.cat([Z, dual])[2:], vt.where(vt.tensor(True), dual, Z)):
            assert y.is_complex()
            assert tangent(y).dtype == y.dtype
        assert tangent(dual * 1j).tolist() == [1j, 2j]
        buffer = vt.zeros(2, dtype=vt.complex64)
        buffer[0] = dual[1]
        assert tangent(buffer).tolist() == [2, 0]
        real = vt.ones(2)
        with pytest.raises(RuntimeError):
            real.mul_(fw.make_dual(Z, T))
        assert fw.unpack_dual(real).tangent is None
        assert real.tolist() == [1, 1]
