"""The tangent of every operator against its gradient.

Forward mode and reverse mode are the same linear map and its adjoint: for any cotangent `g` of the
result and any tangents `t`, the real parts of `<g, J t>` and `<J^H g, t>` agree.
"""

from collections.abc import Callable, Sequence

import numpy as np

import vtgrad as vt
from tests.ops.calls import OPERATORS, Case, cases, function_of_inputs
from tests.ops.records import tangent_of
from tests.sweeping import by_table, sweep
from vtgrad.autograd import forward_ad as fw
from vtgrad.storage.arrays import Array

REFUSED = {"heaviside", "floor_divide", "remainder_Scalar_Tensor"}


def differentiable(case: Case) -> bool:
    return bool(case.operator.formulas) and tangent_of(case.operator.name).kind != "refused"


CASES = [case for case in cases() if differentiable(case)]


def drawn(rng: np.random.Generator, like: Array) -> Array:
    values = np.asarray(rng.standard_normal(like.shape))
    if like.dtype.kind == "c":
        values = values + 1j * np.asarray(rng.standard_normal(like.shape))
    drawn: Array = values.astype(like.dtype)
    return drawn


def inner(a: vt.Tensor, b: vt.Tensor) -> float:
    x, y = a.numpy(force=True), b.numpy(force=True)
    return float(np.real(np.sum(np.conj(x) * y)))


def check_adjoint(
    apply: Callable[..., Sequence[vt.Tensor]],
    arrays: list[Array],
    laid_out: Callable[[vt.Tensor], vt.Tensor] = lambda x: x,
) -> None:
    rng = np.random.default_rng(3)
    inexact = [nr for nr, x in enumerate(arrays) if x.dtype.kind in "fc"]
    tangents = {nr: vt.tensor(drawn(rng, arrays[nr])) for nr in inexact}
    vt.manual_seed(5)
    leaves = [
        vt.tensor(x).requires_grad_() if nr in tangents else vt.tensor(x)
        for nr, x in enumerate(arrays)
    ]
    results = [y for y in apply(*[laid_out(x) for x in leaves]) if y.requires_grad]
    if not results:
        return
    weights = [vt.tensor(drawn(rng, y.numpy(force=True))) for y in results]
    grads = vt.autograd.grad(
        results, [leaves[nr] for nr in inexact], weights, materialize_grads=True
    )
    backward = sum(inner(g, tangents[nr]) for nr, g in zip(inexact, grads, strict=True))
    vt.manual_seed(5)
    with fw.dual_level():
        duals = [
            laid_out(fw.make_dual(vt.tensor(x), tangents[nr]) if nr in tangents else vt.tensor(x))
            for nr, x in enumerate(arrays)
        ]
        outcome = [y for y in apply(*duals) if y.is_floating_point() or y.is_complex()]
        forward = 0.0
        for y, w in zip(outcome, weights, strict=True):
            primal, tangent = fw.unpack_dual(y)
            assert tangent is not None
            assert tangent.shape == primal.shape
            assert tangent.dtype == primal.dtype
            assert tangent.stride() == primal.stride()
            forward += inner(w, tangent)
    for y, other in zip(outcome, results, strict=True):
        np.testing.assert_array_equal(y.numpy(force=True), other.numpy(force=True))
    np.testing.assert_allclose(forward, backward, rtol=1e-9, atol=1e-9)


@sweep(CASES, row=by_table)
def test_tangent_is_the_adjoint_of_the_gradient(case: Case) -> None:
    writes = case.operator.returns in {"Self", "Geometry"}
    apply, arrays = function_of_inputs(case, case.operator.name, inplace=writes)
    check_adjoint(apply, arrays)


def can_be_written(case: Case) -> bool:
    first = case.sample.arguments[0]
    if case.operator.inplace is None or not isinstance(first, np.ndarray):
        return False
    apply, arrays = function_of_inputs(case, case.operator.name, inplace=False)
    (result,) = apply(*[vt.tensor(x) for x in arrays])
    return (
        first.dtype.kind in "fc"
        and result.shape == first.shape
        and vt.can_cast(result.dtype, vt.tensor(first).dtype)
        and not (case.operator.name == "abs" and first.dtype.kind == "c")
    )


@sweep([case for case in CASES if can_be_written(case)], row=by_table)
def test_tangent_of_a_write_is_the_adjoint_of_its_gradient(case: Case) -> None:
    assert case.operator.inplace is not None
    apply, arrays = function_of_inputs(case, case.operator.inplace, inplace=True)
    check_adjoint(apply, arrays)


def test_every_differentiable_operator_has_a_rule() -> None:
    kinds = {name: tangent_of(name).kind for name in OPERATORS}
    assert [name for name, op in OPERATORS.items() if op.formulas and kinds[name] == "none"] == []
    assert {name for name, kind in kinds.items() if kind == "refused"} >= REFUSED
