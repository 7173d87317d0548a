"""Second derivatives: `gradgradcheck`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.behaviour.gradcheck.checked import (
    Apply,
    complex_leaf,
    doubling,
    gradcheck,
    gradgradcheck,
    refused_as_wrong,
)
from tests.functions import function, once_differentiable
from tests.support import Unchanged, differs_from_torch, leaf, leaf_of, ramp, vt

in_both_modes = pytest.mark.parametrize("fast_mode", [False, True])


def cube(backward: Apply) -> Apply:
    """``x ** 3``, which saves `x`, with a backward of one's own."""

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x**3

    return function(forward, backward)


@in_both_modes
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(
    "f", [lambda x: x**3, lambda x: (x.exp(), x.prod()), lambda x: x * 2, lambda x: x.sum()]
)
def test_right_second_derivatives_pass(f: Apply, gaps: bool, fast_mode: bool) -> None:
    assert gradgradcheck(f, leaf(3), fast_mode=fast_mode, gen_non_contig_grad_outputs=gaps)


@in_both_modes
def test_complex_numbers(fast_mode: bool) -> None:
    assert gradgradcheck(lambda z: z**3 + z.conj() * z, complex_leaf(), fast_mode=fast_mode)
    assert gradgradcheck(lambda x, z: (x * z).abs(), (leaf(2), complex_leaf()), fast_mode=fast_mode)


@in_both_modes
def test_a_backward_with_a_wrong_derivative_is_found(fast_mode: bool) -> None:
    # The first derivative is right, but its own derivative takes `x` for a constant.
    f = cube(lambda ctx, g: 3 * ctx.saved_tensors[0].detach() ** 2 * g)
    assert gradcheck(f, leaf(2), fast_mode=fast_mode)
    refused_as_wrong(gradgradcheck, f, leaf(2), fast_mode=fast_mode)


@in_both_modes
def test_what_can_be_differentiated_once_fails(fast_mode: bool) -> None:
    @once_differentiable
    def backward(ctx: Any, g: vt.Tensor) -> Any:
        return 3 * ctx.saved_tensors[0] ** 2 * g

    f = cube(backward)
    assert gradcheck(f, leaf(2), fast_mode=fast_mode)
    refused_as_wrong(gradgradcheck, f, leaf(2), fast_mode=fast_mode)


@differs_from_torch("there only the derivatives of the wrong gradient are looked at")
@in_both_modes
def test_second_derivatives_of_wrong_first_ones_do_not_pass(fast_mode: bool) -> None:
    f = doubling(lambda ctx, g: g * 5)
    error = refused_as_wrong(gradgradcheck, f, leaf(2), fast_mode=fast_mode)
    assert (error.output, error.input, error.analytic) == ("output 0", "input 0", 5)


@differs_from_torch("there it is a TypeError of its own function")
def test_a_function_without_any_gradient() -> None:
    assert gradgradcheck(lambda x: vt.ones(1), leaf(2))
    refused_as_wrong(gradgradcheck, lambda x: x.detach(), leaf(2))


def test_gradients_that_enter_can_be_passed() -> None:
    x, y = leaf(2), ramp(2)
    assert gradgradcheck(lambda x: x * x, x, y)
    assert gradgradcheck(lambda x: x * x, [x], (y,))
    assert gradgradcheck(lambda x: (x * x, x), x, [y, leaf(2)])
    with pytest.raises(RuntimeError):
        gradgradcheck(lambda x: x * x, x, ramp(3), raise_exception=False)


@differs_from_torch("it asks any object whether it requires grad")
@pytest.mark.parametrize("given", [3, [3], {"y": 3}])
def test_gradients_that_enter_are_tensors(given: Any) -> None:
    with pytest.raises(TypeError, match="gradient 0 must be a tensor or None"):
        gradgradcheck(lambda x: x * x, leaf(2), given)


def test_inputs_are_left_alone() -> None:
    x = leaf(2)
    before = Unchanged(x)
    assert gradgradcheck(lambda x: x.exp(), x)
    before.check()
    assert x.grad is None


@differs_from_torch("there random gradients come from the program's generator")
def test_random_numbers_of_the_program_stay() -> None:
    before = vt.get_rng_state()
    assert gradgradcheck(lambda x: x.exp(), leaf(2))
    assert vt.equal(vt.get_rng_state(), before)


@differs_from_torch("it does not name gradients")
def test_reports_name_what_is_differentiated() -> None:
    f = cube(lambda ctx, g: 3 * ctx.saved_tensors[0].detach() ** 2 * g)
    error = refused_as_wrong(gradgradcheck, lambda x, y: f(y) * x[0], (leaf(1), leaf_of(2.0, 1.0)))
    assert (error.output, error.input) == ("the gradient of input 1", "input 1")
    assert error.output_index == error.input_index
