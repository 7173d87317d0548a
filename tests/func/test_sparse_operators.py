"""The pattern of every operator of the tables against its dense Jacobian.

The Jacobian is taken at several points. No entry of it may be missing in the pattern; and of
operators whose rule says exactly what depends on what, no entry of the pattern may be too much.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import OPERATORS, Case, cases, function_of_inputs
from tests.ops.records import RECORDS, pattern_of, tangent_of
from tests.sweeping import by_table, sweep
from vtgrad.storage.arrays import Array

Function = Callable[[vt.Tensor], vt.Tensor]


def differentiable(case: Case) -> bool:
    return bool(case.operator.formulas) and tangent_of(case.operator.name).kind != "refused"


CASES = [case for case in cases() if differentiable(case)]
# With these rules an element of the result depends on every element that the pattern names, but at
# special points.
EXACT = {"along dim", "cumulative", "elementwise", "reduction", "moves"}
# Their derivative by an operand is zero at many points, or everywhere where it has one.
PARTLY_CONSTANT = {
    "where_self", "maximum", "minimum", "fmax", "fmin", "clamp_Tensor", "clamp_default",
    "clamp_min_default", "clamp_min_Tensor", "clamp_max_default", "clamp_max_Tensor", "relu",
    "threshold_backward", "masked_fill_Tensor", "masked_fill_Scalar", "nan_to_num", "logit",
    "max_default", "min_default", "max_dim", "min_dim", "amax_default", "amin_default",
    "median_default", "median_dim", "nanmedian_default", "nanmedian_dim", "kthvalue_dim",
    "mode", "extreme", "aminmax_dim", "nansum_dim", "cummax_dim",
    "cummin_dim", "sort_dim", "sort_stable", "topk_dim", "linalg_vector_norm", "div_Tensor_mode",
    "polar", "std_mean_dim", "var_mean_dim", "complex", "angle", "view_as_real_copy",
    "view_as_complex_copy",
    "fmod_Tensor", "remainder_Tensor", "scatter_reduce", "index_reduce", "linalg_cross",
    "xlogy_Tensor",
    "pow_Tensor_Tensor", "pow_Scalar", "sgn", "put", "index_put_at", "cumprod_dim", "prod_default",
    "prod_dim_int", "halved_where", "nextafter", "linear_recurrence", "products_of_others",
    "running_average", "running_average_backward",
}  # fmt: skip


def of_vector(case: Case, name: str, *, inplace: bool) -> tuple[Function, vt.Tensor]:
    """The operator as a function of one real vector: its results, one after another."""
    apply, arrays = function_of_inputs(case, name, inplace=inplace)

    def function(x: vt.Tensor) -> vt.Tensor:
        start = 0
        inputs = []
        for array in arrays:
            real = array.dtype.kind == "f"
            inputs_here = []
            for _ in range(1 if real else 2):
                inputs_here.append(x[start : start + array.size].reshape(array.shape))
                start += array.size
            value = inputs_here[0] if real else vt.complex(*inputs_here)
            inputs.append(value.to(vt.tensor(array).dtype))
        vt.manual_seed(7)
        parts = []
        for result in apply(*inputs):
            if result.is_complex():
                result = vt.view_as_real(result.resolve_conj())
            if result.is_floating_point():
                parts.append(result.reshape(-1).to(vt.float64))
        return vt.cat(parts) if parts else x[:0]

    values = [np.zeros(0)]
    for array in arrays:
        values += [array.real.ravel(), array.imag.ravel()] if array.dtype.kind == "c" else [array]
    whole = np.concatenate([np.ravel(x) for x in values]).astype(np.float64)
    return function, vt.tensor(whole)


def nonzeros(function: Function, x: vt.Tensor) -> Array:
    """Where the dense Jacobian has entries."""
    jacobian = vt.autograd.functional.jacobian(function, x)
    assert isinstance(jacobian, vt.Tensor)
    found: Array = jacobian.numpy() != 0
    return found


def check(case: Case, name: str, *, inplace: bool) -> None:
    function, x = of_vector(case, name, inplace=inplace)
    pattern = vt.func.sparsity_pattern(function, x)
    found = pattern.matrix().toarray()
    entries = np.zeros_like(found)
    rng = np.random.default_rng(1)
    for nr in range(3):
        point = x if nr == 0 else x * vt.tensor(rng.uniform(0.9, 1.1, x.numel()))
        entries |= nonzeros(function, point)
    missing = np.argwhere(entries & ~found)
    assert missing.size == 0, f"entries {missing.tolist()} are missing"
    apply, arrays = function_of_inputs(case, name, inplace=inplace)
    is_real = not any(x.is_complex() for x in [*apply(*map(vt.tensor, arrays))])
    is_real = is_real and not any(array.dtype.kind == "c" for array in arrays)
    if pattern_of(name).rule in EXACT and case.operator.name not in PARTLY_CONSTANT and is_real:
        extra = np.argwhere(found & ~entries)
        assert extra.size == 0, f"entries {extra.tolist()} are too many"


@pytest.mark.slow
@sweep(CASES, row=by_table)
def test_pattern_has_every_entry_of_the_jacobian(case: Case) -> None:
    writes = case.operator.returns in {"Self", "Geometry"}
    check(case, case.operator.name, inplace=writes)


def can_be_written(case: Case) -> bool:
    first = case.sample.arguments[0]
    if case.operator.inplace is None or not isinstance(first, np.ndarray):
        return False
    apply, arrays = function_of_inputs(case, case.operator.name, inplace=False)
    result, *_ = apply(*[vt.tensor(x) for x in arrays])
    return (
        first.dtype.kind in "fc"
        and result.shape == first.shape
        and vt.can_cast(result.dtype, vt.tensor(first).dtype)
        and not (case.operator.name == "abs" and first.dtype.kind == "c")
    )


@sweep([case for case in CASES if can_be_written(case)], row=by_table)
def test_pattern_of_a_write_has_every_entry(case: Case) -> None:
    assert case.operator.inplace is not None
    check(case, case.operator.inplace, inplace=True)


def test_every_operator_has_a_rule() -> None:
    names: Sequence[str] = [op.name for op in OPERATORS.values()]
    names = [*names, *[op.inplace for op in OPERATORS.values() if op.inplace is not None]]
    assert [name for name in names if RECORDS[name].pattern is None] == []
