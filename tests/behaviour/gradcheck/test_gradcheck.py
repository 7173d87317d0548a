"""What `gradcheck` accepts, refuses as wrong, and refuses to look at."""

from __future__ import annotations

import contextlib
import inspect
from itertools import chain, repeat
from typing import Any

import pytest

from tests.behaviour.gradcheck.checked import (
    Apply,
    GradcheckError,
    complex_leaf,
    doubling,
    gradcheck,
    gradgradcheck,
    refused_as_wrong,
    with_missing,
)
from tests.functions import Square, function
from tests.support import (
    ON_TORCH,
    Unchanged,
    differs_from_torch,
    grad_list,
    leaf,
    leaf_of,
    ones_leaf,
    ramp,
    vt,
)

in_both_modes = pytest.mark.parametrize("fast_mode", [False, True])

DEFAULTS = {
    "eps": 1e-6,
    "atol": 1e-5,
    "rtol": 1e-3,
    "raise_exception": True,
    "nondet_tol": 0.0,
    "check_undefined_grad": True,
    "check_grad_dtypes": False,
    "check_batched_grad": False,
    "fast_mode": False,
}


def warns_on_torch() -> contextlib.AbstractContextManager[object]:
    """PyTorch warns that the check of missing gradients can be switched off."""
    return (
        pytest.warns(UserWarning, match="undefined gradient")
        if ON_TORCH
        else contextlib.nullcontext()
    )


def defaults_of(function: Apply) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def test_options_and_their_defaults() -> None:
    first = defaults_of(gradcheck)
    first.pop("check_inplace", None)  # which PyTorch has not
    assert first == DEFAULTS | {
        "check_batched_forward_grad": False,
        "check_forward_ad": False,
        "check_backward_ad": True,
        "masked": None,
    }
    assert defaults_of(gradgradcheck) == DEFAULTS | {
        "gen_non_contig_grad_outputs": False,
        "check_fwd_over_rev": False,
        "check_rev_over_rev": True,
        "masked": False,
    }
    assert [*inspect.signature(gradgradcheck).parameters][:3] == ["func", "inputs", "grad_outputs"]


def test_the_function_is_found_where_pytorch_has_it() -> None:
    assert callable(vt.autograd.gradcheck)
    assert issubclass(GradcheckError, RuntimeError)


# -- what passes -----------------------------------------------------------------------------


@in_both_modes
@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: x * y.exp(),
        lambda x, y: (x * y, x.sum()),
        lambda x, y: [y.sin()],
        lambda x, y: (x.t() @ y, y[0, 0]),
    ],
)
def test_right_gradients_pass(f: Apply, fast_mode: bool) -> None:
    x, y = leaf(2, 2), leaf_of([0.3, -0.2], [0.1, 0.5])
    assert gradcheck(f, (x, y), fast_mode=fast_mode) is True
    assert gradcheck(f, [x.t().detach().requires_grad_(), y], fast_mode=fast_mode) is True


@in_both_modes
def test_complex_numbers_on_either_side(fast_mode: bool) -> None:
    z, x = complex_leaf(), leaf(2)
    assert gradcheck(lambda z: z * z + z.conj(), z, fast_mode=fast_mode)
    assert gradcheck(lambda z: (z.abs(), z.imag), z, fast_mode=fast_mode)
    assert gradcheck(lambda x: x * (1 + 2j), x, fast_mode=fast_mode)
    assert gradcheck(lambda x, z: x * z, (x, z), fast_mode=fast_mode)


@in_both_modes
def test_inputs_that_are_lazy_conjugates(fast_mode: bool) -> None:
    z = vt.tensor([1 + 2j, 3 - 1j], dtype=vt.complex128).conj().requires_grad_()
    before = Unchanged(z)
    assert gradcheck(lambda z: z * z, z, fast_mode=fast_mode)
    before.check()


def test_arguments_that_are_no_tensors_are_passed_on() -> None:
    seen: list[object] = []

    def f(x: vt.Tensor, factor: float, options: dict[str, float]) -> vt.Tensor:
        seen.append(options)
        return x * factor * options["more"]

    options = {"more": 2.0}
    assert gradcheck(f, (leaf(2), 3.0, options))
    assert all(found is options for found in seen)


def test_the_very_inputs_are_passed_while_recording() -> None:
    x, seen = leaf(2), []

    def f(y: vt.Tensor) -> vt.Tensor:
        seen.append(y is x and vt.is_grad_enabled())
        # Read from outside: the input itself must have moved.
        return x * x

    assert gradcheck(f, x)
    assert all(seen)


@pytest.mark.parametrize(("options", "calls"), [({}, 2 * 5 + 2), ({"fast_mode": True}, 2 * 2 + 2)])
def test_how_often_the_function_is_called(options: dict[str, Any], calls: int) -> None:
    count = 0

    def f(x: vt.Tensor, y: vt.Tensor, z: vt.Tensor) -> vt.Tensor:
        nonlocal count
        count += 1
        return x.sum() * y.sum() * z.sum()

    assert gradcheck(f, (leaf(2), leaf(3), ramp(4)), **options)
    assert count == calls


@in_both_modes
def test_nothing_is_left_behind(fast_mode: bool) -> None:
    x, y = leaf(2, 2), ramp(2)
    x.grad = vt.ones_like(x)
    before, random = Unchanged(x, y), vt.get_rng_state()
    assert gradcheck(lambda x, y: x * y, (x, y), fast_mode=fast_mode)
    refused_as_wrong(gradcheck, lambda x, y: x * y + x.detach(), (x, y), fast_mode=fast_mode)
    before.check()
    assert grad_list(x) == [[1, 1], [1, 1]]
    assert vt.equal(vt.get_rng_state(), random)


@differs_from_torch("there the input stays moved")
@in_both_modes
def test_inputs_move_back_after_an_error(fast_mode: bool) -> None:
    x = leaf(2, 2)
    before = Unchanged(x)
    with pytest.raises(ZeroDivisionError):
        gradcheck(lambda x: x * (1 / (x[0, 0].item() == 1)), x, fast_mode=fast_mode)
    before.check()


def test_points_where_a_convention_decides() -> None:
    assert gradcheck(vt.abs, leaf_of(0.0))
    assert gradcheck(lambda x: x * 2, ones_leaf(0))
    assert gradcheck(lambda x: vt.ones(2), leaf(2))
    assert gradcheck(lambda x, y: x * 2, (leaf(2), leaf(3)))
    assert gradcheck(lambda x: (x * 2, x.detach() * 3), leaf(2))
    assert gradcheck(lambda x: (x * 2, x.long()), leaf_of(1.5))
    assert gradcheck(lambda x: (), leaf(2))
    # None counts as zeros.
    assert gradcheck(function(lambda ctx, x: x * 0, lambda ctx, g: None), leaf(2))


def test_relative_errors_within_the_tolerance_pass() -> None:
    nearly = doubling(lambda ctx, g: g * 2.0005)
    assert gradcheck(nearly, leaf(2))
    assert not gradcheck(nearly, leaf(2), rtol=1e-4, raise_exception=False)


def test_the_engine_casts_gradients_before_they_are_compared() -> None:
    single = doubling(lambda ctx, g: g.float() * 2)
    assert gradcheck(single, leaf(2), check_grad_dtypes=True)


def test_masked_is_about_sparse_tensors_only() -> None:
    assert gradcheck(vt.exp, leaf(2), masked=True)
    assert gradgradcheck(vt.exp, leaf(2), masked=True)


def test_one_object_passed_twice() -> None:
    x = leaf(2)
    assert gradcheck(lambda x, y: x * y, (x, x))


@differs_from_torch("there it is subtracted, which bools are not")
def test_results_of_truth_values_pass() -> None:
    assert gradcheck(lambda x: (x * 2, x > 1.5), leaf(2))


# -- what is wrong -----------------------------------------------------------------------------


@in_both_modes
@pytest.mark.parametrize(
    "backward",
    [
        lambda ctx, g: g * 3,
        lambda ctx, g: g * 2 + 1,
        lambda ctx, g: None,
        lambda ctx, g: g.flip(0) * 2,
        lambda ctx, g: g * float("nan"),
    ],
)
def test_wrong_gradients_are_found(backward: Apply, fast_mode: bool) -> None:
    refused_as_wrong(gradcheck, doubling(backward), leaf(2), fast_mode=fast_mode)


@in_both_modes
@pytest.mark.parametrize("size", [3, 30])
@pytest.mark.parametrize(("factor", "is_wrong"), [(1.0005, False), (1.002, True), (0.99, True)])
def test_a_small_relative_error_is_judged_by_rtol(
    factor: float, is_wrong: bool, size: int, fast_mode: bool
) -> None:
    f = doubling(lambda ctx, g: g * (2 * factor))
    x = leaf_of(*([1.5] * size))
    assert gradcheck(f, x, fast_mode=fast_mode, raise_exception=False) is not is_wrong
    assert gradcheck(f, x, fast_mode=fast_mode, raise_exception=False, rtol=0.02)


@differs_from_torch("what is allowed grows with the number of elements")
@in_both_modes
@pytest.mark.parametrize("wrong", [slice(None), slice(0, 1)])
def test_a_small_error_of_many_elements_or_of_one_is_found(wrong: slice, fast_mode: bool) -> None:
    size = 300 if wrong.stop is None else 30
    factor = vt.ones(size, dtype=vt.float64)
    factor[wrong] = 1.003
    f = doubling(lambda ctx, g: g * (2 * factor))
    refused_as_wrong(gradcheck, f, leaf_of(*([1.5] * size)), fast_mode=fast_mode)


@differs_from_torch("there only gradients of 0 and 1 enter in slow mode")
@in_both_modes
@pytest.mark.parametrize(
    "backward",
    [lambda ctx, g: g * g * 2, lambda ctx, g: g.clamp(-1, 1) * 2, lambda ctx, g: 2 * g.abs()],
)
def test_a_backward_that_is_not_linear_is_found(backward: Apply, fast_mode: bool) -> None:
    error = refused_as_wrong(gradcheck, doubling(backward), leaf(2), fast_mode=fast_mode)
    assert error.check in ("linear", "jacobian")


@in_both_modes
def test_a_backward_that_differs_each_time_is_found(fast_mode: bool) -> None:
    count = 0

    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        nonlocal count
        count += 1
        return g * (2 + 1e-8 * count)

    f = doubling(backward)
    refused_as_wrong(gradcheck, f, leaf(2), fast_mode=fast_mode)
    assert gradcheck(f, leaf(2), fast_mode=fast_mode, nondet_tol=1e-6)


def test_missing_gradients_that_do_not_count_as_zeros_are_found() -> None:
    def backward(a: vt.Tensor | None, b: vt.Tensor | None) -> vt.Tensor:
        first = vt.zeros(2, dtype=vt.float64) if a is None else a * 2
        second = vt.zeros(2, dtype=vt.float64) if b is None else b * 3
        if a is None and b is None:
            return vt.ones(2, dtype=vt.float64)
        return first + second

    f = with_missing(backward)
    with warns_on_torch():
        refused_as_wrong(gradcheck, f, leaf(2))
    assert gradcheck(f, leaf(2), check_undefined_grad=False)


def test_errors_of_a_backward_without_gradients_are_its_own() -> None:
    f = with_missing(lambda a, b: a * 2 + b * 3)
    with pytest.raises(TypeError):
        gradcheck(f, leaf(2), raise_exception=False)


@pytest.mark.parametrize("f", [lambda x: x.detach() * 2, lambda x: (x.detach(), vt.ones(1))])
def test_results_without_grad_must_not_depend_on_the_input(f: Apply) -> None:
    refused_as_wrong(gradcheck, f, leaf(2))


def test_nothing_is_recorded_under_no_grad() -> None:
    with vt.no_grad():
        refused_as_wrong(gradcheck, lambda x: x * 2, leaf(2))
        assert not vt.is_grad_enabled()


@in_both_modes
def test_a_wrong_complex_gradient_is_found(fast_mode: bool) -> None:
    def forward(ctx: Any, z: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(z)
        return z * z

    from_derivative = type(
        "Wrong",
        (Square,),
        {
            "forward": staticmethod(forward),
            # Without the conjugate.
            "backward": staticmethod(lambda ctx, g: 2 * ctx.saved_tensors[0] * g),
        },
    )
    apply: Any = from_derivative
    refused_as_wrong(gradcheck, apply.apply, complex_leaf(), fast_mode=fast_mode)
    assert gradcheck(apply.apply, leaf(2), fast_mode=fast_mode)


# -- what is not looked at -----------------------------------------------------------------------


def test_an_input_must_require_grad() -> None:
    for inputs in (ramp(2), (), (3.0,), [ramp(2)], ([leaf(2)],)):
        with pytest.raises(ValueError, match="grad"):
            gradcheck(lambda *x: vt.ones(1), inputs, raise_exception=False)
        with pytest.raises(ValueError, match="grad"):
            gradgradcheck(lambda *x: vt.ones(1), inputs, raise_exception=False)


def test_expanded_inputs_are_refused() -> None:
    x = vt.ones(1, dtype=vt.float64).expand(3).requires_grad_()
    with pytest.raises(RuntimeError) as caught:
        gradcheck(lambda x: x * 2, x, raise_exception=False)
    assert not isinstance(caught.value, GradcheckError)
    with pytest.raises(RuntimeError) as caught:
        gradgradcheck(lambda x: x * x, leaf(3), x, raise_exception=False)
    assert not isinstance(caught.value, GradcheckError)


@differs_from_torch("only strides of 0 are refused, all others fail as a wrong gradient")
def test_inputs_that_overlap_in_part_are_refused() -> None:
    x = ramp(3).as_strided((2, 2), (1, 1)).detach().requires_grad_()
    with pytest.raises(vt.errors.SelfOverlapError):
        gradcheck(lambda x: x * 2, x, raise_exception=False)


def test_single_precision_is_warned_of() -> None:
    x = vt.ones(2, dtype=vt.float32).requires_grad_()
    with pytest.warns(UserWarning, match="double precision"):
        assert gradcheck(lambda x: x * 2, x, eps=1e-2)


@pytest.mark.parametrize(
    ("returned", "error"),
    [({}, AttributeError), (3.0, AttributeError), (None, AttributeError), ((1,), AttributeError)],
)
def test_results_must_be_tensors(returned: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        gradcheck(lambda x: returned, leaf(2), raise_exception=False)


def test_errors_of_the_function_are_its_own() -> None:
    with pytest.raises(ZeroDivisionError):
        gradcheck(lambda x: x / (1 // 0), leaf(2), raise_exception=False)
    with pytest.raises(RuntimeError, match="leaf"):
        gradcheck(lambda x: x.mul_(2), leaf(2), raise_exception=False)


def test_results_keep_their_shape() -> None:
    shapes = chain([2], repeat(3))
    with pytest.raises(RuntimeError):
        gradcheck(lambda x: x[0].expand(next(shapes)), leaf(2), raise_exception=False)


def test_options_that_leave_nothing_to_check() -> None:
    for check, options in (
        (gradcheck, {"check_backward_ad": False}),
        (gradcheck, {"check_batched_forward_grad": True}),
        (
            gradcheck,
            {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
        ),
        (gradgradcheck, {"check_rev_over_rev": False}),
    ):
        function: Any = check
        with pytest.raises(AssertionError, match="check_"):
            function(vt.exp, leaf(2), raise_exception=False, **options)


@in_both_modes
def test_with_tangents_every_input_has_one_and_none_requires_grad(fast_mode: bool) -> None:
    forward_ad: Any = vt.autograd.forward_ad

    def f(x: Any, y: Any) -> Any:
        if forward_ad._current_level >= 0:
            assert not x.requires_grad
            assert not y.requires_grad
            tangents = [forward_ad.unpack_dual(each).tangent for each in (x, y)]
            assert [tuple(each.shape) for each in tangents] == [(2,), (2,)]
        return x * y, y.sin()

    options = {"check_forward_ad": True, "check_undefined_grad": False, "fast_mode": fast_mode}
    assert gradcheck(f, (leaf(2), leaf(2)), **options)


@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
@pytest.mark.parametrize("option", ["atol", "rtol"])
@pytest.mark.parametrize("tolerance", [-1.0, float("nan")])
def test_tolerances_that_nothing_is_within_are_refused(
    check: Any, option: str, tolerance: float
) -> None:
    with pytest.raises(RuntimeError, match=f"{option} must"):
        check(vt.exp, leaf(2), raise_exception=False, **{option: tolerance})


@differs_from_torch("there every call begins where the former one has left the input")
def test_a_function_that_writes_to_its_input_is_told() -> None:
    x = leaf(2) * 1
    error = refused_as_wrong(gradcheck, lambda x: x.mul_(2), x)
    assert error.check == "input-written"
    assert gradcheck(lambda x: x.clone().mul_(2), leaf(2) * 1)


@differs_from_torch("there a step that is lost in rounding counts as a derivative of zero")
def test_a_step_that_rounding_swallows_is_told() -> None:
    error = refused_as_wrong(gradcheck, lambda x: x * 2, leaf_of(1e20))
    assert error.check == "step"
    assert gradcheck(lambda x: x * 2, leaf_of(1e20), eps=1e10)


def test_infinity_and_nan_where_nothing_depends_on_them() -> None:
    x = leaf_of(float("nan"), 2.0, float("inf"))
    assert gradcheck(lambda x: x.nan_to_num(0.0, 0.0), x)
    refused_as_wrong(gradcheck, lambda x: x * 2, x)
