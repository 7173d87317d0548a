"""Operands of float32, complex numbers, integers and bools come in every layout of the grid.

What breaks it: a view of the float64 tensor that is cast, whose copy is row-major again.
"""

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.autograd.function import FunctionCtx
from vtgrad.testing.checking import DivergenceError, Rule, check


def _is_reversed(x: vt.Tensor) -> bool:
    return any(stride < 0 for stride in x.stride())


class WrongIfReversed(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * g * x * (2 if _is_reversed(x) else 1)


class WrongIfExpanded(WrongIfReversed):
    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * g * x * (2 if 0 in x.stride() else 1)


def _rows(x: vt.Tensor, index: vt.Tensor) -> vt.Tensor:
    return x[index] if index.is_contiguous() else x[index.flip(0)]


def _hidden(x: vt.Tensor, mask: vt.Tensor) -> vt.Tensor:
    return x.masked_fill(mask if mask.stride() == (3, 1) else ~mask, 0)


WRONG = {
    "[::-1, ::-1]": Rule(
        "reversed_", WrongIfReversed.apply, np.square, is_function=True, dtypes=["float32"]
    ),
    ".expand(2, 3)": Rule(
        "expanded",
        WrongIfExpanded.apply,
        np.square,
        lambda g, x: (2 * g * x,),
        is_function=True,
        dtypes=["float32"],
    ),
    "vt.complex(t0, t1)[::-1, ::-1]": Rule(
        "turned",
        lambda z: z * z.conj() if _is_reversed(z) else z * z,
        np.square,
        dtypes=["complex128"],
    ),
    "dtype=vt.int64)[::2]": Rule(
        "rows",
        _rows,
        lambda x, index: x[index],
        operands=2,
        dtypes=[("float64", "int64")],
        shapes=[((4,), (3,))],
        accepts=lambda x, index: (abs(index) < len(x)).all(),
    ),
    "dtype=vt.bool).transpose(0, -1)": Rule(
        "hidden",
        _hidden,
        lambda x, mask: np.where(mask, 0, x),
        operands=2,
        dtypes=[("float64", "bool")],
        shapes=[((2, 3), (2, 3))],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("view", WRONG)
def test_an_operator_that_is_wrong_for_a_layout_is_found(view: str) -> None:
    with pytest.raises(DivergenceError) as found:
        check(WRONG[view], programs=1)
    assert len(found.value.steps) <= 4, str(found.value)
    assert view in found.value.script()
    assert found.value.remark == ""


@pytest.mark.stateful
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_no_layout_of_casts_is_left_out(dtype: str) -> None:
    rule = Rule("cubed", lambda x: x * x * x, lambda x: x * x * x, dtypes=[dtype])
    assert check(rule, programs=10).missing("cubed") == ()
