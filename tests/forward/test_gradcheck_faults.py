"""Faults of functions that gradcheck must find: one row for each way to hide one.

What breaks it: a level of forward mode that the function does not see, an error of user's code that
leaves the checker as it is, a comparison of numbers that forgets their dtype.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.autograd import forward_ad as fw
from vtgrad.autograd import gradcheck, gradgradcheck
from vtgrad.errors import DTypeError, ForwardModeError, FunctionError, GradcheckError

Map = Callable[[vt.Tensor], vt.Tensor]


def point() -> vt.Tensor:
    return vt.tensor([0.5, 2.0], dtype=vt.float64, requires_grad=True)


def makes_a_dual_of_its_own(x: vt.Tensor) -> vt.Tensor:
    primal, tangent = fw.unpack_dual(x)
    y = primal.sin()
    return y if tangent is None else fw.make_dual(y, 5 * tangent)


def drops_the_tangent(x: vt.Tensor) -> vt.Tensor:
    return fw.unpack_dual(x).primal.sin()


def doubles_where_there_is_a_tangent(x: vt.Tensor) -> vt.Tensor:
    return x.sin() * (1 if fw.unpack_dual(x).tangent is None else 2)


def has_a_hook_that_divides(x: vt.Tensor) -> vt.Tensor:
    y = x.sin()

    def hook(grad: vt.Tensor | None) -> None:
        if grad is None:
            raise ValueError("nothing to divide by")

    if y.requires_grad:
        y.register_hook(hook)
    return y


class NeedsItsGradient(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.set_materialize_grads(False)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad.clone() * 2


def is_narrow_below(x: vt.Tensor) -> vt.Tensor:
    y = x.sin()
    return y.float() if x.detach()[0].item() < 0.5 else y


def is_narrow_at_the_point(x: vt.Tensor) -> vt.Tensor:
    y = x.sin()
    return y.float() if x.detach()[0].item() == 0.5 else y


class ForgetsTheTangent(vt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        return x.mul_(3)

    @staticmethod
    def backward(ctx: Any, grad: vt.Tensor) -> vt.Tensor:
        return grad * 3

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        return t


class ShiftsInPlace(ForgetsTheTangent):
    """The tangent of a shifted value is the same, and PyTorch wants it to be written too."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        return x.add_(3)

    @staticmethod
    def backward(ctx: Any, grad: vt.Tensor) -> vt.Tensor:
        return grad.clone()


def on_a_copy(function: type[vt.autograd.Function]) -> Map:
    def f(x: vt.Tensor) -> vt.Tensor:
        y: vt.Tensor = function.apply(x * 1)
        return y

    return f


FAULTS: Final[dict[str, tuple[Map, str]]] = {
    "a wrong tangent from make_dual": (makes_a_dual_of_its_own, "by forward mode"),
    "no tangent from unpack_dual": (drops_the_tangent, "by forward mode"),
    "values that depend on a tangent": (doubles_where_there_is_a_tangent, "by forward mode"),
    "a hook that fails without a gradient": (has_a_hook_that_divides, "raises ValueError"),
    "a backward that fails without a gradient": (
        lambda x: NeedsItsGradient.apply(x),
        "raises AttributeError",
    ),
}
REFUSED: Final[dict[str, tuple[Map, type[Exception]]]] = {
    "a dtype that depends on values": (is_narrow_below, DTypeError),
    "another dtype at the point itself": (is_narrow_at_the_point, DTypeError),
    "a tangent that jvp left as it was": (on_a_copy(ForgetsTheTangent), FunctionError),
    "a tangent that need not change": (on_a_copy(ShiftsInPlace), FunctionError),
}

in_both_modes = pytest.mark.parametrize("fast_mode", [False, True])


@in_both_modes
@pytest.mark.parametrize("name", FAULTS)
def test_gradcheck_finds_it(name: str, fast_mode: bool) -> None:
    f, shows = FAULTS[name]
    with pytest.raises(GradcheckError, match=shows):
        gradcheck(f, point(), check_forward_ad=True, fast_mode=fast_mode)
    found = gradcheck(f, point(), check_forward_ad=True, fast_mode=fast_mode, raise_exception=False)
    assert found is False


@in_both_modes
@pytest.mark.parametrize("name", REFUSED)
def test_gradcheck_refuses_it(name: str, fast_mode: bool) -> None:
    f, error = REFUSED[name]
    with pytest.raises(error):
        gradcheck(f, point(), check_forward_ad=True, fast_mode=fast_mode)
    if error is DTypeError:
        with pytest.raises(error):
            gradcheck(
                f,
                point(),
                check_forward_ad=True,
                check_backward_ad=False,
                fast_mode=fast_mode,
            )


def test_a_function_may_open_a_level_of_its_own() -> None:
    def f(x: vt.Tensor) -> vt.Tensor:
        with fw.dual_level():
            dual = fw.make_dual(x.detach(), vt.ones_like(x))
            tangent = fw.unpack_dual(dual.sin()).tangent
        assert tangent is not None
        level = fw.enter_dual_level()
        fw.exit_dual_level(level=level)
        return x.sin() + 0 * tangent

    assert gradcheck(f, point(), check_forward_ad=True)
    assert fw.unpack_dual(point()).tangent is None
    with pytest.raises(ForwardModeError, match="no level"):
        fw.exit_dual_level()


def test_a_function_cannot_close_the_level_of_the_check() -> None:
    def f(x: vt.Tensor) -> vt.Tensor:
        fw.exit_dual_level()
        return x.sin()

    with pytest.raises(ForwardModeError, match="no level"):
        gradcheck(f, point(), check_forward_ad=True, check_backward_ad=False)


def test_inside_of_a_level_forward_mode_is_not_checked() -> None:
    with fw.dual_level():
        with pytest.raises(ForwardModeError, match="open already"):
            gradcheck(vt.sin, point(), check_forward_ad=True)
        with pytest.raises(ForwardModeError, match="open already"):
            gradgradcheck(vt.sin, point(), check_fwd_over_rev=True)
        assert gradcheck(vt.sin, point())
        assert fw.unpack_dual(fw.make_dual(point(), point())).tangent is not None


def test_after_an_error_no_level_is_open() -> None:
    def f(x: vt.Tensor) -> vt.Tensor:
        if fw.unpack_dual(x).tangent is not None:
            raise KeyError("stop")
        return x.sin()

    with pytest.raises(KeyError):
        gradcheck(f, point(), check_forward_ad=True)
    with pytest.raises(ForwardModeError, match="no level"):
        fw.exit_dual_level()
    with fw.dual_level():
        pass


@needs_global_lock
def test_the_level_is_seen_on_one_thread_at_a_time() -> None:
    found: list[type[BaseException] | None] = []

    def other() -> None:
        try:
            with fw.dual_level():
                found.append(None)
        except ForwardModeError as error:
            found.append(type(error))

    def f(x: vt.Tensor) -> vt.Tensor:
        return x.sin()

    assert gradcheck(f, point(), check_forward_ad=True)
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [None]
