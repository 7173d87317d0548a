"""Formulas over arrays give what the formulas over tensors give, in the places that they should."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pytest

import vtgrad as vt
from tests.forward.test_formulas import can_be_written, differentiable, drawn
from tests.ops.calls import Case, cases, function_of_inputs
from tests.ops.records import RECORDS
from tests.sweeping import by_table, sweep
from vtgrad.autograd import forward_ad as fw
from vtgrad.ops.rules.tangents import dual_handler, over_arrays
from vtgrad.ops.rules.tangents.functions_of import functions_of


def is_real(case: Case) -> bool:
    _, arrays = function_of_inputs(case, case.operator.name, inplace=False)
    return bool(arrays) and all(x.dtype.kind == "f" for x in arrays)


CASES: Final = [
    case
    for case in cases()
    if differentiable(case)
    and functions_of(RECORDS[case.operator.name]).over_arrays is not None
    and is_real(case)
]


def tangent_of_call(case: Case, name: str) -> vt.Tensor:
    apply, arrays = function_of_inputs(case, name, inplace=name != case.operator.name)
    rng = np.random.default_rng(3)
    with fw.dual_level():
        (y,) = apply(*[fw.make_dual(vt.tensor(x), vt.tensor(drawn(rng, x))) for x in arrays])
        tangent = fw.unpack_dual(y).tangent
    assert tangent is not None
    return tangent


@sweep(CASES, row=by_table)
def test_both_evaluations_agree(case: Case) -> None:
    computed: list[object] = []

    def counted(compute: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object) -> object:
            computed.append(compute(*args))
            return computed[-1]

        return call

    names = [case.operator.name]
    if can_be_written(case):
        assert case.operator.inplace is not None
        names.append(case.operator.inplace)
    for name in names:
        computed.clear()
        with pytest.MonkeyPatch.context() as patch:
            for function in (over_arrays.tangent_over_arrays, over_arrays.stored_over_arrays):
                patch.setattr(dual_handler, function.__name__, counted(function))
            found = tangent_of_call(case, name)
            assert any(one is not None for one in computed) or found.is_complex(), name
            for function in (over_arrays.tangent_over_arrays, over_arrays.stored_over_arrays):
                patch.setattr(dual_handler, function.__name__, lambda *_: None)
            expected = tangent_of_call(case, name)
        np.testing.assert_allclose(
            found.numpy(), expected.numpy(), rtol=1e-13, atol=1e-15, err_msg=name
        )
        assert found.stride() == expected.stride()


def test_memory_is_not_copied_where_a_write_keeps_the_tangent() -> None:
    """What breaks it: an intermediate array for a step that could store where the tangent is."""
    n = 100_000
    with fw.dual_level():
        dual = fw.make_dual(vt.ones(n), vt.ones(n)).clone()
        tangent = fw.unpack_dual(dual).tangent
        assert tangent is not None
        pointer, version = tangent.data_ptr(), tangent._version
        dual.mul_(2)
        dual.add_(1.0)
        dual[1:].div_(4)
        assert fw.unpack_dual(dual).tangent is tangent
        assert (tangent.data_ptr(), tangent[0].item(), tangent[1].item()) == (pointer, 2.0, 0.5)
        # Each write of a new tangent counts, as that of a value does.
        assert tangent._version >= version + 2


@pytest.mark.parametrize(
    ("write", "values", "expected"),
    [
        (lambda d, o: d.mul_(d), [1.0, 4.0], [2.0, 40.0]),
        (lambda d, o: d.mul_(d[:1].clone()), [1.0, 2.0], [2.0, 12.0]),
        (lambda d, o: d.add_(d), [2.0, 4.0], [2.0, 20.0]),
        (lambda d, o: d.sub_(o), [-2.0, -3.0], [0.0, 5.0]),
        (lambda d, o: d.sub_(o, alpha=2), [-5.0, -8.0], [-1.0, 0.0]),
        (lambda d, o: d.sub_(d[1].clone()), [-1.0, 0.0], [-9.0, 0.0]),
        (lambda d, o: d[1:].mul_(o[0]), [1.0, 6.0], [1.0, 32.0]),
        (lambda d, o: d.div_(d[1].clone()), [0.5, 1.0], [-2.0, 0.0]),
        (lambda d, o: d.flip(0).add_(o), [1.0, 2.0], [1.0, 10.0]),
        (lambda d, o: d.neg_(), [-1.0, -2.0], [-1.0, -10.0]),
        (lambda d, o: d.reciprocal_(), [1.0, 0.5], [-1.0, -2.5]),
    ],
)
def test_writes_by_hand(
    write: Callable[[vt.Tensor, vt.Tensor], object], values: list[float], expected: list[float]
) -> None:
    for strided in (False, True):
        with fw.dual_level():
            dual = fw.make_dual(vt.tensor([1.0, 2.0]), vt.tensor([1.0, 10.0])).clone()
            if strided:
                buffer = vt.zeros(4)
                buffer[::2] = dual
                dual = buffer[::2]
            other = fw.make_dual(vt.tensor([3.0, 5.0]), vt.tensor([1.0, 5.0]))
            write(dual, other)
            assert dual.tolist() == values
            tangent = fw.unpack_dual(dual).tangent
            assert tangent is not None
            assert tangent.tolist() == expected


def test_numbers_and_dtypes_promote_as_for_values() -> None:
    with fw.dual_level():
        single = fw.make_dual(vt.ones(2), vt.ones(2))
        double = fw.make_dual(vt.ones((), dtype=vt.float64), vt.ones((), dtype=vt.float64))
        for y in (
            single * double,
            single * 2.0,
            single * np.float64(2.0),
            single + double,
            single * vt.tensor([1, 2]),
            single / vt.tensor([True, True]),
            single * single.double(),
        ):
            tangent = fw.unpack_dual(y).tangent
            assert tangent is not None
            assert (tangent.dtype, tangent.shape) == (y.dtype, y.shape)
        half = fw.make_dual(vt.ones(2, dtype=vt.float16), vt.ones(2, dtype=vt.float16)).clone()
        half.mul_(single.detach())
        assert fw.unpack_dual(half).tangent is not None
