"""Every operator with numbers in place of arrays: NumPy computes scalars of them, not arrays.

A scalar in a result's memory has every value right, and refuses the next write.
"""

from collections.abc import Iterator

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import Case, cases, function_named, results_of, tensors_in
from vtgrad.errors import VtgradError

KINDS = ["f", "c"]


def _first(value: object, kind: str) -> object:
    """The first element of an array as a 0-d tensor; of other arguments, themselves."""
    if isinstance(value, np.ndarray):
        number = np.array(value.reshape(-1)[0]) if value.size else np.array(0, value.dtype)
        if kind == "c" and number.dtype.kind == "f":
            number = np.array(number + 0.25j)
        return vt.tensor(number)
    if isinstance(value, list):
        return [_first(x, kind) for x in value]
    return value


def _computed(case: Case, kind: str) -> Iterator[tuple[str, vt.Tensor]]:
    """The results and gradients, if the operator takes such numbers."""
    values = [_first(x, kind) for x in case.sample.arguments]
    options = {name: _first(x, kind) for name, x in case.sample.options.items()}
    inputs = [x for x in tensors_in(values, options) if x.is_floating_point() or x.is_complex()]
    for x in inputs:
        x.requires_grad_()
    if case.operator.returns in {"Self", "Geometry"}:
        first = values[0]
        assert isinstance(first, vt.Tensor)
        values[0] = first.clone()
    vt.manual_seed(5)
    for y in results_of(function_named(case.operator.name)(*values, **options)):
        yield "result", y
        if y.requires_grad:
            grads = vt.autograd.grad(y, inputs, vt.ones_like(y), allow_unused=True)
            yield from (("gradient", g) for g in grads if g is not None)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_results_and_gradients_of_numbers_can_be_written(kind: str) -> None:
    computed, scalars = 0, set[str]()
    for case in cases():
        try:
            for what, y in _computed(case, kind):
                computed += 1
                if not y.is_conj() and not y.is_neg() and type(y._impl.array) is not np.ndarray:
                    scalars.add(f"{what} of {case.operator.name}")
        except (VtgradError, LookupError, ValueError):
            continue  # many operators need a dimension; some are not for users, and check nothing
    assert sorted(scalars) == []
    assert computed > 500


@pytest.mark.parametrize("value", [3 + 4j, 0j])
def test_sgn_of_one_complex_number_can_be_written(value: complex) -> None:
    y = vt.sgn(vt.tensor(value))
    y.mul_(2)
    assert y.item() == pytest.approx(2 * value / abs(value) if value else 0)
