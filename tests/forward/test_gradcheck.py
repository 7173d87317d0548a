"""gradcheck of forward mode."""

from collections.abc import Callable
from typing import Any

import pytest

import vtgrad as vt
from vtgrad.autograd import gradcheck, gradgradcheck
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


@pytest.mark.parametrize("fast_mode", [False, True])
def test_right_second_derivatives_pass(fast_mode: bool) -> None:
    z = vt.tensor([0.3 + 0.4j, -1.0 + 0.2j, 0.1j], dtype=vt.complex128, requires_grad=True)
    cases: list[tuple[Callable[..., Any], tuple[vt.Tensor, ...]]] = [
        (lambda a: a.sin() * a, (real(),)),
        (lambda a, b: (a * b**2, a.exp()), (real(), real())),
        (lambda z, a: (z * a).abs(), (z, real())),
        (lambda z: z**3 + z.conj() * z, (z,)),
        (filled, (real(),)),
        # Whose gradients do not depend on the input.
        (lambda a: a * 2, (real(),)),
    ]
    for f, inputs in cases:
        for backward in (True, False):
            assert gradgradcheck(
                f,
                inputs,
                check_fwd_over_rev=True,
                check_rev_over_rev=backward,
                fast_mode=fast_mode,
            )


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
    for fast_mode in (False, True):
        with pytest.raises(GradcheckError, match="3 by forward mode"):
            gradcheck(Wrong.apply, real(), check_forward_ad=True, fast_mode=fast_mode)


def halved(x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor, vt.Tensor]:
    """Of these only the last requires grad."""
    with vt.no_grad():
        constant = Wrong.apply(x)
    return x.detach() * 3, constant, x / 2


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("backward", [False, True])
def test_outputs_that_do_not_require_grad_are_not_compared(fast_mode: bool, backward: bool) -> None:
    options: dict[str, Any] = {
        "check_forward_ad": True,
        "check_backward_ad": backward,
        "check_batched_forward_grad": True,
        "fast_mode": fast_mode,
    }
    assert gradcheck(halved, real(), **options)
    assert gradcheck(lambda x, y: (x.detach(), x * y), (real(), real()), **options)
    with pytest.raises(GradcheckError, match="derivative of output 2"):
        gradcheck(lambda x: (*halved(x)[:2], Wrong.apply(x)), real(), **options)
    with pytest.raises(GradcheckError, match="no output of the function requires grad"):
        gradcheck(lambda x: halved(x)[:2], real(), **options)
    assert gradcheck(lambda x: vt.ones(2), real(), **options)


class Cube(vt.autograd.Function):
    """Its backward is a Function of its own, whose jvp is wrong."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**3

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * t

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return Slope.apply(x, g)


class Slope(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, g: vt.Tensor) -> Any:
        ctx.save_for_backward(x, g)
        ctx.save_for_forward(x, g)
        return 3 * x**2 * g

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor, u: vt.Tensor) -> Any:
        x, g = ctx.saved_tensors
        return 7 * x * t * g + 3 * x**2 * u

    @staticmethod
    def backward(ctx: Any, h: vt.Tensor) -> Any:
        x, g = ctx.saved_tensors
        return 6 * x * g * h, 3 * x**2 * h


def test_wrong_tangents_of_gradients_are_found() -> None:
    x = real()
    assert gradcheck(Cube.apply, x, check_forward_ad=True)
    assert gradgradcheck(Cube.apply, x)
    for fast_mode in (False, True):
        with pytest.raises(GradcheckError, match="by forward mode over backward"):
            gradgradcheck(Cube.apply, x, check_fwd_over_rev=True, fast_mode=fast_mode)
    assert not gradgradcheck(
        Cube.apply, x, check_fwd_over_rev=True, check_rev_over_rev=False, raise_exception=False
    )


class Sum(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, y: vt.Tensor, wrong: str) -> vt.Tensor:
        ctx.set_materialize_grads(False)
        ctx.wrong = wrong
        return x + y

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor | None, u: vt.Tensor | None, _: None) -> Any:
        if t is None or u is None:
            given = t if u is None else u
            return given * 2 if ctx.wrong == "for none" and given is not None else given
        zero = not vt.count_nonzero(t) or not vt.count_nonzero(u)
        if ctx.wrong == "for two" and not zero:
            return t + 2 * u
        return (t + u) * 2 if ctx.wrong == "for zeros" and zero else t + u

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> Any:
        return g, g, None


def test_tangents_of_several_inputs_add_up_and_missing_ones_are_zeros() -> None:
    assert gradcheck(Sum.apply, (real(), real(), ""), check_forward_ad=True)


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("for two", "than the sum for"),
        ("for zeros", "by forward mode"),
        ("for none", "than with zeros for the other"),
    ],
)
def test_a_wrong_sum_of_tangents_is_found(wrong: str, message: str, fast_mode: bool) -> None:
    inputs = (real(), real(), wrong)
    with pytest.raises(GradcheckError, match=message):
        gradcheck(Sum.apply, inputs, check_forward_ad=True, fast_mode=fast_mode)


def test_writes_are_checked_backward_only() -> None:
    with pytest.raises(NotImplementedError, match="check_inplace"):
        gradcheck(vt.Tensor.mul_, (real(), real()), check_inplace=True, check_forward_ad=True)
