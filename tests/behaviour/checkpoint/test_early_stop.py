"""The run that computes saved values again ends with the last one, also in a custom Function."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import gradients, vt

if vt.__name__ == "torch":
    import torch.utils.checkpoint as utils
else:
    utils = vt.utils.checkpoint


class Exponential(vt.autograd.Function):
    """A write whose backward reads the written value."""

    @staticmethod
    def forward(ctx: Any, y: Any) -> Any:
        y.exp_()
        ctx.mark_dirty(y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (y,) = ctx.saved_tensors
        return grad * y


class Scaled(vt.autograd.Function):
    """Keeps a statistic in an argument without a gradient, and does not say so."""

    @staticmethod
    def forward(ctx: Any, x: Any, scale: Any) -> Any:
        scale.mul_(0.5)
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        _, scale = ctx.saved_tensors
        return grad * scale, None


def point() -> Any:
    return vt.tensor([0.1, 0.2, 0.3], dtype=vt.float64, requires_grad=True)


def kept(function: Any) -> Any:
    return lambda x: utils.checkpoint(function, x, use_reentrant=False)


def written(x: Any) -> Any:
    return Exponential.apply(x * x)


def written_through_a_view(x: Any) -> Any:
    y = x * x
    return Exponential.apply(y[0:2]).sum() + y.sum()


def scaled(x: Any) -> Any:
    return Scaled.apply(x * 1.0, vt.ones(3, dtype=vt.float64) * 2)


def twice(x: Any) -> Any:
    return Exponential.apply(Exponential.apply(x * x).clone())


def written_then_read(x: Any) -> Any:
    y = x * x
    z = y[1:]
    Exponential.apply(z)
    return y * 1


@pytest.mark.filterwarnings("ignore:.*forward wrote to argument")
@pytest.mark.parametrize(
    "f",
    [written, written_through_a_view, scaled, twice, written_then_read],
    ids=lambda f: f.__name__,
)
def test_a_function_that_writes_has_the_last_saved_value(f: Any) -> None:
    x = point()

    def of(function: Any) -> list[float]:
        found: Any = gradients(function(x).sum(), x)[0]
        return [round(number, 5) for number in found]

    expected = of(f)
    assert of(kept(f)) == expected
    assert of(kept(kept(f))) == expected
    assert of(kept(lambda x: kept(f)(x) * 1.0)) == expected
    assert of(kept(lambda x: kept(f)(x * 1.0))) == expected
    # The second run of the outer one ends inside of the first run of the inner one.
    assert of(kept(lambda x: kept(kept(f))(x.clone()).clone())) == expected


def test_the_number() -> None:
    x = point()
    (found,) = gradients(kept(written)(x).sum(), x)
    assert found == pytest.approx([0.20201003, 0.41632431, 0.65650457])


def test_one_checkpoint_after_another() -> None:
    x = point()
    (expected,) = gradients(written(written(x)).sum(), x)
    y = utils.checkpoint_sequential([written, lambda t: t * 1, written], 3, x, use_reentrant=False)
    assert gradients(y.sum(), x)[0] == pytest.approx(expected)


def test_a_value_that_the_rest_of_the_function_overwrites_stays_refused() -> None:
    x = point()

    def f(x: Any) -> Any:
        y = x * x
        z = y * y
        return z + Exponential.apply(y)

    with pytest.raises(RuntimeError, match=r"modified by an inplace|overwritten in place"):
        f(x).sum().backward()
    if vt.__name__ != "torch":
        with pytest.raises(RuntimeError, match="overwritten in place"):
            kept(f)(x).sum().backward()
