"""Every operator of the derivative tables, on its samples: one table of tests for all of them.

An operator that is added to a table and not to `samples` fails here at once.
"""

from collections.abc import Sequence
from typing import Any, Final, TypedDict

import numpy as np
import pytest

import vtgrad as vt
from tests.ops.calls import (
    OPERATORS,
    Case,
    Memory,
    arguments_of,
    as_array,
    cases,
    function_named,
    function_of_inputs,
    positions_of_inputs,
    results_of,
    tensors_in,
)
from tests.ops.samples import DRAWN, SAMPLES
from tests.sweeping import sweep
from vtgrad.autograd import gradcheck, gradgradcheck
from vtgrad.codegen.language import Operator
from vtgrad.errors import OutGradError, ResultTypeError, VtgradError
from vtgrad.storage.promotion import can_cast

# Each is short, but there are thousands.
pytestmark = [
    pytest.mark.slow,
    # Derivatives of batches are checked of operators without a rule for batches, too.
    pytest.mark.filterwarnings("ignore::vtgrad.ops.rules.batches.by_family.loop.VmapLoopWarning"),
]


def writes(operator: Operator) -> bool:
    """Whether the operator, as the table has it, writes to its first argument."""
    return operator.returns == "Self"


def changes_geometry(operator: Operator) -> bool:
    """Whether the operator gives its first argument another geometry."""
    return operator.returns == "Geometry"


def computes(operator: Operator) -> bool:
    """Whether the results are new tensors on memory of their own."""
    return operator.returns in {"Tensor", "Copies", "tuple"}


def computed(case: Case) -> tuple[vt.Tensor, ...]:
    """The results of the sample; the same random numbers each time."""
    vt.manual_seed(5)
    values, options = arguments_of(case)
    return results_of(function_named(case.operator.name)(*values, **options))


def can_be_stored(case: Case) -> bool:
    """Whether the result has a shape and dtype that the first argument can take."""
    first = case.sample.arguments[0]
    assert isinstance(first, np.ndarray)
    if case.operator.name == "abs" and first.dtype.kind == "c":
        return False  # the result is real, and PyTorch refuses to store it among complex ones
    (result,) = computed(case)
    stored = result.numpy()
    return stored.shape == first.shape and can_cast(stored.dtype, first.dtype)


def has_derivative(case: Case) -> bool:
    """Whether a result can require grad."""
    return any(y.is_floating_point() or y.is_complex() for y in computed(case))


INPLACE = cases(lambda op: op.inplace is not None)


# -- the table ------------------------------------------------------------------------------


def test_every_operator_has_a_sample() -> None:
    assert sorted(set(OPERATORS) - set(SAMPLES)) == []


def test_every_sample_is_of_an_operator() -> None:
    assert sorted(set(SAMPLES) - set(OPERATORS)) == []


# -- values ---------------------------------------------------------------------------------


@sweep([case for case in cases() if case.sample.expected is not None])
def test_value_is_numpys(case: Case) -> None:
    assert case.sample.expected is not None
    with np.errstate(all="ignore"):
        returned = case.sample.expected(*case.sample.arguments, **case.sample.options)
    expected = returned if isinstance(returned, tuple) else (returned,)
    found = computed(case)
    assert len(found) == len(expected)
    for y, e in zip(found, expected, strict=True):
        array = as_array(e)
        assert y.shape == array.shape
        found_array = y.numpy(force=True)
        assert found_array.dtype.kind == array.dtype.kind or y.is_floating_point()
        np.testing.assert_allclose(found_array, array, rtol=1e-13, atol=1e-14)


# -- memory and versions --------------------------------------------------------------------


# `_unsafe_view` is the one operator that aliases without saying so: its argument must be
# a temporary that has no other holder.
@sweep(cases(lambda op: computes(op) and op.name != "_unsafe_view"))
def test_result_is_new_memory_and_arguments_are_left_alone(case: Case) -> None:
    values, options = arguments_of(case)
    inputs = tensors_in(values, options)
    before = Memory(inputs)
    results = results_of(function_named(case.operator.name)(*values, **options))
    before.assert_untouched()
    for nr, y in enumerate(results):
        assert y._version == 0
        assert not y._is_view()
        for other in [*inputs, *results[:nr]]:
            assert y is not other
            assert not np.shares_memory(y.numpy(), other.numpy())


@sweep(cases(lambda op: op.is_view))
def test_view_looks_at_the_same_memory_and_counts_the_same_versions(case: Case) -> None:
    values, options = arguments_of(case)
    inputs = tensors_in(values, options)
    before = Memory(inputs)
    views = results_of(function_named(case.operator.name)(*values, **options))
    before.assert_untouched()
    base = inputs[0]
    for view in views:
        assert view is not base
        assert view._is_view()
        assert view._base is base
        assert view.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
    base.zero_()
    for view in views:
        assert not view.any()
        assert view._version == 1


@sweep(cases(writes))
def test_writing_operator_moves_the_version_once_and_returns_its_target(case: Case) -> None:
    values, options = arguments_of(case)
    before = Memory(tensors_in(values, options))
    returned = function_named(case.operator.name)(*values, **options)
    assert returned is values[0]
    before.assert_first_written()


@sweep(cases(changes_geometry))
def test_geometry_operator_moves_the_version_and_leaves_the_memory(case: Case) -> None:
    values, options = arguments_of(case)
    target = values[0]
    assert isinstance(target, vt.Tensor)
    memory = target.view(-1)
    content, geometry = memory.tolist(), (target.shape, target.stride())
    returned = function_named(case.operator.name)(*values, **options)
    assert returned is target
    assert memory.tolist() == content
    assert target._version == memory._version == 1
    assert (target.shape, target.stride()) != geometry


@sweep(INPLACE)
def test_inplace_stores_what_out_of_place_returns(case: Case) -> None:
    assert case.operator.inplace is not None
    function = function_named(case.operator.inplace)
    values, options = arguments_of(case)
    inputs = tensors_in(values, options)
    target = inputs[0]
    before = Memory(inputs)
    if not can_be_stored(case):
        with pytest.raises(VtgradError):
            function(*values, **options)
        before.assert_untouched()
        return
    (result,) = computed(case)
    vt.manual_seed(5)
    assert function(*values, **options) is target
    assert target.numpy().tolist() == result.to(target.dtype).numpy().tolist()
    first: Any = case.sample.arguments[0]
    assert target.dtype == vt.tensor(first).dtype
    before.assert_first_written()


@sweep(INPLACE)
def test_inplace_of_a_view_writes_its_base(case: Case) -> None:
    """The target is every second element of a longer buffer: what lies between stays."""
    assert case.operator.inplace is not None
    if not can_be_stored(case):
        return
    first = case.sample.arguments[0]
    assert isinstance(first, np.ndarray)
    buffer = vt.full((*first.shape, 2), 7, dtype=vt.tensor(first).dtype)
    target = buffer.select(-1, 0)
    target.copy_(vt.tensor(first))
    values, options = arguments_of(case, {case.operator.arguments[0].name: target})
    (result,) = computed(case)
    vt.manual_seed(5)
    version = buffer._version
    assert function_named(case.operator.inplace)(*values, **options) is target
    assert buffer.select(-1, 0).tolist() == result.to(buffer.dtype).tolist()
    assert bool((buffer.select(-1, 1) == vt.full((), 7, dtype=buffer.dtype)).all())
    assert buffer._version == version + 1


# -- out= -----------------------------------------------------------------------------------

WITH_OUT = cases(lambda op: op.out)


def outs_like(results: Sequence[vt.Tensor]) -> tuple[object, tuple[vt.Tensor, ...]]:
    """What to pass as ``out=``: one tensor or a tuple; filled with something else."""
    outs = tuple(vt.ones_like(y) if not y.numel() or y.numpy().any() else y + 1 for y in results)
    outs = tuple(
        vt.logical_not(y) if y.dtype == vt.bool else out + 3
        for y, out in zip(results, outs, strict=True)
    )
    return (outs[0] if len(outs) == 1 else outs), outs


@sweep(WITH_OUT)
def test_out_takes_the_result_and_moves_its_version(case: Case) -> None:
    expected = computed(case)
    out, outs = outs_like(expected)
    values, options = arguments_of(case)
    inputs = tensors_in(values, options)
    before, versions = Memory(inputs), [o._version for o in outs]
    pointers = [o.data_ptr() for o in outs]
    vt.manual_seed(5)
    returned = results_of(function_named(case.operator.name)(*values, **options, out=out))
    before.assert_untouched()
    for y, o, e, version in zip(returned, outs, expected, versions, strict=True):
        assert y is o
        assert o.tolist() == e.tolist()
        assert o._version == version + 1
    assert [o.data_ptr() for o in outs] == pointers


@sweep(WITH_OUT)
def test_empty_out_takes_on_the_shape(case: Case) -> None:
    expected = computed(case)
    outs = tuple(vt.empty(0, dtype=y.dtype) for y in expected)
    values, options = arguments_of(case)
    out = outs[0] if len(outs) == 1 else outs
    vt.manual_seed(5)
    function_named(case.operator.name)(*values, **options, out=out)
    for o, e in zip(outs, expected, strict=True):
        assert o.shape == e.shape
        assert o.tolist() == e.tolist()


def computes_in_the_dtype_of_out(case: Case) -> bool:
    """Whether the dtype of ``out`` counts as if it were passed as ``dtype``."""
    return case.operator.out_dtype == "in its dtype"


@sweep([case for case in WITH_OUT if not computes_in_the_dtype_of_out(case)])
def test_out_of_a_lower_category_is_refused_before_anything_is_written(case: Case) -> None:
    """Integers cannot take floats, and bools cannot take integers."""
    expected = computed(case)
    wrong = [
        vt.bool if y.dtype == vt.int64 else vt.int64 if y.dtype != vt.bool else None
        for y in expected
    ]
    if None in wrong:
        # Every dtype can take bools, unless it must be the very same.
        if not case.operator.exact_out:
            return
        wrong = [vt.float64]
    outs = tuple(vt.ones(y.shape, dtype=dtype) for y, dtype in zip(expected, wrong, strict=True))
    values, options = arguments_of(case)
    before = Memory([*tensors_in(values, options), *outs])
    with pytest.raises(ResultTypeError):
        function_named(case.operator.name)(
            *values, **options, out=outs[0] if len(outs) == 1 else outs
        )
    before.assert_untouched()


@sweep([case for case in WITH_OUT if computes_in_the_dtype_of_out(case)])
def test_what_computes_in_the_dtype_of_out_casts_its_operand_first(case: Case) -> None:
    values, options = arguments_of(case)
    function = function_named(case.operator.name)
    if options.get("dtype") is not None:
        return
    expected = function(*values, **options, dtype=vt.float64)
    assert isinstance(expected, vt.Tensor)
    out = vt.empty(0, dtype=vt.float64)
    function(*values, **options, out=out)
    assert vt.equal(out, expected)


# Operators that give bools have formulas for their in-place variants alone.
@sweep([case for case in WITH_OUT if case.operator.formulas and has_derivative(case)])
def test_out_is_refused_while_recording(case: Case) -> None:
    for argument in case.operator.edged:
        names = [a.name for a in case.operator.arguments]
        position = names.index(argument.name)
        values, options = arguments_of(case)
        if position < len(values):
            passed = values[position]
        else:
            passed = options.get(argument.name)
        for x in passed if isinstance(passed, list) else [passed]:
            if not isinstance(x, vt.Tensor) or not (x.is_floating_point() or x.is_complex()):
                continue
            x.requires_grad_()
            out, outs = outs_like(computed(case))
            before = Memory([*tensors_in(values, options), *outs])
            with pytest.raises(OutGradError):
                function_named(case.operator.name)(*values, **options, out=out)
            before.assert_untouched()
            x.requires_grad_(False)


# -- derivatives ----------------------------------------------------------------------------


class _Precision(TypedDict):
    eps: float
    atol: float
    rtol: float


# With this step the errors of rounding and of the quotient are about equal.
_PRECISELY: Final[_Precision] = {"eps": 1e-5, "atol": 2e-7, "rtol": 2e-7}


def differentiable(case: Case) -> bool:
    """Whether a formula of the case's operator meets floating or complex numbers."""
    return bool(positions_of_inputs(case)) and case.operator.name not in DRAWN


def check(case: Case, name: str, *, inplace: bool) -> None:
    """Compare derivatives with central differences, of both modes and of each over reverse mode.

    First ones are compared one by one, or as of a write. Batches are compared with their members.
    """
    on_copies, arrays = function_of_inputs(
        case, name, inplace=inplace or changes_geometry(case.operator)
    )
    inputs = [vt.tensor(x, requires_grad=True) for x in arrays]
    if inplace:
        itself, _ = function_of_inputs(case, name, inplace=False)
        gradcheck(
            itself,
            inputs,
            check_inplace=True,
            check_batched_grad=True,
            fast_mode=True,
            **_PRECISELY,
        )
    else:
        gradcheck(on_copies, inputs, check_batched_grad=True, **_PRECISELY)
    gradcheck(
        on_copies,
        inputs,
        check_forward_ad=True,
        check_batched_forward_grad=True,
        check_backward_ad=False,
        fast_mode=True,
        **_PRECISELY,
    )
    # A write has the node of the operator, whose second derivatives are compared in both modes and
    # for batches; another is what the node has saved.
    gradgradcheck(
        on_copies,
        inputs,
        check_fwd_over_rev=not inplace,
        check_batched_grad=not inplace,
        fast_mode=True,
        **_PRECISELY,
    )


@sweep([c for c in cases() if differentiable(c) and has_derivative(c)])
def test_first_and_second_derivatives(case: Case) -> None:
    check(case, case.operator.name, inplace=writes(case.operator))


@sweep([c for c in INPLACE if differentiable(c) and can_be_stored(c)])
def test_first_and_second_derivatives_in_place(case: Case) -> None:
    assert case.operator.inplace is not None
    check(case, case.operator.inplace, inplace=True)


@sweep(cases(lambda op: op.name in DRAWN and bool(op.formulas)))
def test_nothing_flows_through_what_was_drawn(case: Case) -> None:
    values, options = arguments_of(case)
    leaves = [x.requires_grad_() for x in tensors_in(values, options)]
    if writes(case.operator):
        values[0] = leaves[0].clone()
    (result,) = results_of(function_named(case.operator.name)(*values, **options))
    result.sum().backward()
    for x in leaves:
        assert x.grad is not None
        assert not x.grad.numpy().any()
