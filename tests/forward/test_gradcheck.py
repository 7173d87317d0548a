"""gradcheck of forward mode."""

from typing import Any

import pytest

import vtgrad as vt
from vtgrad.autograd import gradcheck
from vtgrad.errors import GradcheckError


def real(n: int = 3) -> vt.Tensor:
    return vt.tensor([0.3, -1.2, 0.7][:n], dtype=vt.float64, requires_grad=True)


def filled(x: vt.Tensor) -> vt.Tensor:
    b = vt.zeros(5, dtype=vt.float64)
    b[1:4] = x
    b[2:] *= b[:3].clone()
    return b


def test_right_tangents_pass() -> None:
    assert gradcheck(lambda a: (a.sin() * a, a.cumsum(0)), real(), check_forward_ad=True)
    assert gradcheck(filled, real(), check_forward_ad=True, check_backward_ad=False)
    z = vt.tensor([0.3 + 0.4j, -1.0 + 0.2j], dtype=vt.complex128, requires_grad=True)
    assert gradcheck(lambda a: (a * a.conj(), a.abs(), a.exp()), z, check_forward_ad=True)
    assert gradcheck(vt.mul, (real(), real()[:1]), check_forward_ad=True)


class Wrong(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        return x * 2

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        return t * 3

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        return g * 2


def test_wrong_tangents_are_found() -> None:
    assert gradcheck(Wrong.apply, real())
    with pytest.raises(GradcheckError, match="3 by forward mode"):
        gradcheck(Wrong.apply, real(), check_forward_ad=True)


def test_writes_are_checked_backward_only() -> None:
    with pytest.raises(NotImplementedError, match="check_inplace"):
        gradcheck(vt.Tensor.mul_, (real(), real()), check_inplace=True, check_forward_ad=True)
