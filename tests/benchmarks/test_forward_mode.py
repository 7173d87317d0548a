"""The programs of `forward_mode.py` have the derivatives that central differences give."""

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks import forward_mode
from benchmarks.bench import Bench
from benchmarks.forward_mode import Measured, Program
from benchmarks.libraries import Array, Real, load

SIZE, STEP = 16, 1e-6
GRADIENTS = {name: program for name, (program, _) in forward_mode.GRADIENTS.items()}


def difference(f: Callable[[Array], Array], x: Array, v: Array) -> Real:
    return np.asarray((f(x + v * STEP) - f(x - v * STEP)) / (2 * STEP))


def agrees(found: Array, expected: Real) -> None:
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("program", forward_mode.PROGRAMS.values(), ids=forward_mode.PROGRAMS)
def test_products_with_jacobians(program: Program) -> None:
    one = Measured("vtgrad", program, SIZE, "float64")
    value, product = one.forward()
    agrees(value, np.asarray(one.plain()))
    agrees(product, difference(one.run, one.x, one.v))


@pytest.mark.parametrize("program", GRADIENTS.values(), ids=GRADIENTS)
def test_products_with_hessians(program: Program) -> None:
    one = Measured("vtgrad", program, SIZE, "float64")

    def gradient(x: Array) -> Array:
        one.leaf = x.detach().requires_grad_()
        return one.gradient()[0]

    expected = difference(gradient, one.x, one.v)
    agrees(one.hvp()[1], expected)
    agrees(one.pushed_gradient()[1], expected)


def test_the_jacobian() -> None:
    one = Measured("vtgrad", forward_mode.steps, SIZE, "float64")
    columns = [difference(one.run, one.x, unit) for unit in one.lib.ops.eye(SIZE).double()]
    agrees(one.jacobian(), np.stack(columns, axis=1))


def test_the_sparse_jacobian() -> None:
    lib = forward_mode.Modules.of("vtgrad")
    x, v = map(lib.tensor, forward_mode.arguments(SIZE, "float64"))
    matrix = lib.func.sparse_jacobian(forward_mode.tridiagonal, x)
    assert matrix.nnz == 3 * SIZE - 2
    agrees(matrix @ np.asarray(v), difference(forward_mode.tridiagonal, x, v))


@pytest.mark.slow
def test_every_row_has_a_figure_and_quick_ones_have_no_bar_of_other_sizes() -> None:
    bench = Bench({"vtgrad": load("vtgrad", "float32")}, 2, quick=True)
    found = list(forward_mode.rows(bench))
    count = len(forward_mode.PROGRAMS) + 2 * len(forward_mode.GRADIENTS)
    assert len(found) == count + 3
    assert all(result.own().value > 0 for result in found)
    assert [result.bar for result in found if result.unit == "times"] == [None] * (count + 2)
