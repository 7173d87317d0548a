"""`to` and the casts by name."""

from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad.errors import ArgumentTypeError, ArgumentValueError, NotSupportedError


def test_to_returns_the_tensor_itself_when_nothing_changes() -> None:
    x = vt.ones(2, requires_grad=True)
    assert x.to(vt.float32) is x
    assert x.to("cpu") is x
    assert x.to(vt.device("cpu")) is x
    assert x.to() is x
    assert x.to(vt.zeros(3)) is x
    assert x.cpu() is x
    assert x.float() is x
    assert x.type(vt.float32) is x
    assert x.type_as(vt.zeros(1)) is x


def test_to_takes_a_dtype_a_tensor_or_a_device() -> None:
    x = vt.tensor([1.5, -2.5])
    assert x.to(vt.int64).tolist() == [1, -2]
    assert x.to(dtype=vt.int8).dtype is vt.int8
    assert x.to("cpu", vt.float64).dtype is vt.float64
    assert x.to(None, vt.float64).dtype is vt.float64
    assert x.to(device="cpu", dtype=vt.float64, copy=True).dtype is vt.float64
    assert x.to(vt.tensor(1)).dtype is vt.int64
    assert x.to(vt.float64, False, True).dtype is vt.float64


def test_a_copy_is_made_when_asked_for() -> None:
    x = vt.ones(2, 3).t()
    y = x.to(vt.float32, copy=True)
    assert y is not x
    assert y.data_ptr() != x.data_ptr()
    assert y.stride() == (1, 3)


def test_wrong_arguments_of_to_are_refused() -> None:
    x = vt.ones(2)
    with pytest.raises(ArgumentTypeError):
        x.to(3)  # type: ignore[call-overload]  # no dtype, tensor or device
    with pytest.raises(ArgumentTypeError):
        x.to(vt.float64, 1)  # type: ignore[call-overload]  # no bool
    with pytest.raises(ArgumentTypeError):
        x.to(vt.float64, dtype=vt.float64)  # type: ignore[call-overload]  # the dtype twice
    with pytest.raises(NotSupportedError):
        x.to("cuda")


def test_casts_are_differentiable() -> None:
    x = vt.ones(2, requires_grad=True)
    y = x.double()
    assert type(y.grad_fn).__name__ == "ToCopyBackward0"
    (y * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.dtype is vt.float32
    assert x.grad.tolist() == [2.0, 2.0]
    assert not x.to(vt.int64).requires_grad
    assert x.to(vt.float32, copy=True).grad_fn is not None


@pytest.mark.parametrize(
    ("cast", "dtype"),
    [
        (vt.Tensor.float, vt.float32),
        (vt.Tensor.double, vt.float64),
        (vt.Tensor.half, vt.float16),
        (vt.Tensor.bool, vt.bool),
        (vt.Tensor.byte, vt.uint8),
        (vt.Tensor.char, vt.int8),
        (vt.Tensor.short, vt.int16),
        (vt.Tensor.int, vt.int32),
        (vt.Tensor.long, vt.int64),
        (vt.Tensor.cfloat, vt.complex64),
        (vt.Tensor.cdouble, vt.complex128),
    ],
)
def test_casts_by_name(cast: Callable[[vt.Tensor], vt.Tensor], dtype: vt.dtype) -> None:
    for x in [vt.tensor([1, 0], dtype=vt.int64), vt.tensor([1.0, 0.0], dtype=vt.float64)]:
        y = cast(x)
        assert y.dtype is dtype
        assert y.tolist() == [1, 0]
        assert cast(y) is y


def test_casting_complex_to_real_warns_of_the_loss() -> None:
    c = vt.tensor([1 + 2j])
    with pytest.warns(UserWarning, match="imaginary"):
        assert c.float().tolist() == [1.0]
    assert c.bool().tolist() == [True]


def test_type_names() -> None:
    x = vt.ones(2)
    assert x.type() == "vtgrad.FloatTensor"
    assert vt.tensor([1 + 2j]).type() == "vtgrad.ComplexFloatTensor"
    assert x.type("vtgrad.DoubleTensor").dtype is vt.float64
    assert x.type(vt.int64).dtype is vt.int64
    with pytest.raises(ArgumentValueError):
        x.type("float64")
