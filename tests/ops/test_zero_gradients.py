"""Every formula is linear in the gradient where that is zero: its value there, and its derivative.

The gradient is zero, or every second element of it is. A formula that takes the logarithm of a
gradient, or leaves out what is zero, has the right value and loses the derivative.
"""

from collections.abc import Sequence

import numpy as np

import vtgrad as vt
from tests.ops.calls import Case, cases, function_of_inputs, positions_of_inputs
from tests.ops.samples import DRAWN
from tests.sweeping import by_table, sweep
from vtgrad.autograd import forward_ad
from vtgrad.storage.arrays import Array

DIFFERENTIABLE = [
    case
    for case in cases(lambda operator: operator.name not in DRAWN)
    if positions_of_inputs(case) and case.operator.node is not None
]


def numbers_like(tensor: vt.Tensor, seed: int) -> vt.Tensor:
    """Numbers none of which is zero."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.5, 1.5, tuple(tensor.shape)) * rng.choice([-1, 1], tuple(tensor.shape))
    if tensor.is_complex():
        values = values + 1j * rng.uniform(0.5, 1.5, tuple(tensor.shape))
    return vt.tensor(values).to(tensor.dtype)


def halved(tensor: vt.Tensor, parity: int) -> vt.Tensor:
    """The same, with zero at every second index."""
    kept = (np.arange(tensor.numel()) % 2 == parity).reshape(tuple(tensor.shape))
    return vt.where(vt.tensor(kept), tensor, 0)


class Called:
    """An operator that was called with leaves."""

    def __init__(self, case: Case) -> None:
        operator = case.operator
        inplace = operator.returns in {"Self", "Geometry"}
        self.apply, self.arrays = function_of_inputs(case, operator.name, inplace=inplace)
        self.inputs = [vt.tensor(array, requires_grad=True) for array in self.arrays]
        self.results = [y for y in self.apply(*self.inputs) if y.requires_grad]
        self.whole = [numbers_like(y, nr) for nr, y in enumerate(self.results)]

    def gradients(self, given: Sequence[vt.Tensor]) -> list[Array]:
        """The gradients of the leaves, for gradients of the results."""
        found = vt.autograd.grad(
            self.results, self.inputs, given, retain_graph=True, materialize_grads=True
        )
        return [g.numpy(force=True) for g in found]

    def along(self, given: Sequence[vt.Tensor], tangents: Sequence[vt.Tensor]) -> list[Array]:
        """The derivatives of the results along tangents: those of gradients by what is given."""
        entering = [g.clone().requires_grad_() for g in given]
        gradients = vt.autograd.grad(
            self.results, self.inputs, entering, create_graph=True, allow_unused=True
        )
        pairs = [
            (g, t)
            for g, t in zip(gradients, tangents, strict=True)
            if g is not None and g.requires_grad
        ]
        if not pairs:
            return [np.zeros(tuple(y.shape)) for y in self.results]
        found = vt.autograd.grad(
            [g for g, _ in pairs], entering, [t for _, t in pairs], materialize_grads=True
        )
        return [g.numpy(force=True) for g in found]

    def forwards(self, tangents: Sequence[vt.Tensor]) -> list[Array]:
        """The same by forward mode."""
        with forward_ad.dual_level():
            duals = [
                forward_ad.make_dual(x.detach(), t)
                for x, t in zip(self.inputs, tangents, strict=True)
            ]
            found = []
            for y, kept in zip(self.apply(*duals), self.apply(*self.inputs), strict=True):
                if kept.requires_grad:
                    tangent = forward_ad.unpack_dual(y).tangent
                    found.append(
                        np.zeros(tuple(y.shape)) if tangent is None else tangent.numpy(force=True)
                    )
        return found


@sweep(DIFFERENTIABLE, row=by_table)
def test_gradients_of_zero_give_zero_and_parts_add_up(case: Case) -> None:
    called = Called(case)
    for found in called.gradients([vt.zeros_like(y) for y in called.results]):
        assert not found.any(), found
    expected = called.gradients(called.whole)
    parts = [called.gradients([halved(g, parity) for g in called.whole]) for parity in (0, 1)]
    for whole, one, other in zip(expected, *parts, strict=True):
        np.testing.assert_allclose(one + other, whole, rtol=1e-12, atol=1e-12)


@sweep(DIFFERENTIABLE, row=by_table)
def test_the_derivative_by_the_gradient_is_the_same_where_that_is_zero(case: Case) -> None:
    called = Called(case)
    tangents = [numbers_like(x, 7 + nr) for nr, x in enumerate(called.inputs)]
    expected = called.forwards(tangents)
    zeros = [vt.zeros_like(y) for y in called.results]
    halves = [[halved(g, parity) for g in called.whole] for parity in (0, 1)]
    for given in (zeros, *halves, called.whole):
        for found, wanted in zip(called.along(given, tangents), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)
