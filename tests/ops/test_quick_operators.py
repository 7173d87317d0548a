"""Operators whose ufunc is quick for some dtypes and something else for the others."""

import pytest

import vtgrad as vt
from vtgrad.errors import DTypeError, ResultTypeError
from vtgrad.storage.dtypes import DType


@pytest.mark.parametrize("dtype", [vt.float16, vt.float32, vt.float64, vt.complex64, vt.complex128])
def test_floating_and_complex_values_keep_their_dtype(dtype: DType) -> None:
    x, y = vt.tensor([[6.0, 1.5]], dtype=dtype), vt.tensor([[2.0, 3.0]], dtype=dtype)
    assert (x - y).dtype is dtype
    assert (x - y).tolist() == [[4.0, -1.5]]
    assert (x / y).dtype is dtype
    assert (x / y).tolist() == [[3.0, 0.5]]
    assert x.sub_(y).tolist() == [[4.0, -1.5]]
    assert x.div_(y).tolist() == [[2.0, -0.5]]
    assert x._version == 2


def test_quotients_of_integers_are_floating_and_cannot_replace_them() -> None:
    x, y = vt.tensor([7, 8]), vt.tensor([2, 2])
    assert (x / y).dtype is vt.float32
    assert (x / y).tolist() == [3.5, 4.0]
    assert (x - y).tolist() == [5, 6]
    with pytest.raises(ResultTypeError):
        x.div_(y)
    assert x.tolist() == [7, 8]
    assert x._version == 0


def test_bools_are_divided_but_not_subtracted() -> None:
    x, y = vt.tensor([True, False]), vt.tensor([True, True])
    assert (x / y).tolist() == [1.0, 0.0]
    with pytest.raises(DTypeError):
        x - y
    with pytest.raises(DTypeError):
        x.sub_(y)
    assert x._version == 0


def test_a_factor_takes_the_general_way() -> None:
    x, y = vt.tensor([7.0, 8.0]), vt.tensor([2.0, 2.0])
    assert vt.sub(x, y, alpha=2).tolist() == [3.0, 4.0]
    assert x.sub_(y, alpha=0.5).tolist() == [6.0, 7.0]


def test_what_is_written_in_place_is_recorded() -> None:
    a = vt.tensor([6.0, 1.5], requires_grad=True)
    b = vt.tensor([2.0, 3.0], requires_grad=True)
    x = a.clone()
    x.div_(b).sub_(b)
    assert type(x.grad_fn).__name__ == "SubBackward0"
    x.sum().backward()
    assert a.grad is not None
    assert b.grad is not None
    assert a.grad.tolist() == pytest.approx([1 / 2, 1 / 3])
    assert b.grad.tolist() == pytest.approx([-6 / 4 - 1, -1.5 / 9 - 1])
