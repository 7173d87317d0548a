"""What the errors of `gradcheck` tell: which entry of which Jacobian differs, and how far."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tests.behaviour.gradcheck.checked import complex_leaf, doubling, gradcheck, refused_as_wrong
from tests.functions import function
from tests.support import leaf, ones_leaf, ramp, vt

in_both_modes = pytest.mark.parametrize("fast_mode", [False, True])


def one_wrong(ctx: Any, g: vt.Tensor) -> vt.Tensor:
    """The gradient of ``x * 2`` with one wrong element."""
    factors = vt.full((2, 3), 2.0, dtype=vt.float64)
    factors[1, 2] = 2.5
    return g * factors


@in_both_modes
def test_the_entry_is_named(fast_mode: bool) -> None:
    wrong = doubling(one_wrong)
    inputs = ("text", ramp(2), leaf(2), leaf(2, 3))
    error = refused_as_wrong(
        gradcheck, lambda s, c, x, y: (x * 2, wrong(y)), inputs, fast_mode=fast_mode
    )
    assert error.check == "jacobian"
    # Inputs are counted as arguments, so that the number is the place in the call.
    assert (error.output, error.output_index) == ("output 1", (1, 2))
    assert (error.input, error.input_index) == ("input 3", (1, 2))
    assert error.analytic == 2.5
    assert error.numeric == pytest.approx(2.0)
    assert error.difference == pytest.approx(0.5)
    assert error.tolerance == pytest.approx(1e-5 + 2e-3)
    assert error.wrong == 1
    assert str(error) == (
        "the derivative of output 1[1, 2] by input 3[1, 2] is 2 by central differences, but 2.5 by "
        "backward: the difference is 0.5, allowed are 0.00201. Of the derivatives of output 1 by "
        "input 3 1 of 36 differ"
    ).replace("is 2 by", f"is {error.numeric:.10g} by")


def test_all_jacobians_that_differ_are_counted() -> None:
    wrong = doubling(lambda ctx, g: g * 3)
    error = refused_as_wrong(gradcheck, lambda x, y: (wrong(x), wrong(x * y)), (leaf(2), leaf(2)))
    assert error.wrong == 6
    found = [(m.output, m.input, m.wrong, m.entries) for m in error.mismatches]
    assert found == [(0, 0, 2, 4), (1, 0, 2, 4), (1, 1, 2, 4)]
    assert "2 of 4 of output 1 by input 1" in str(error)


def test_a_gradient_that_never_comes_is_told() -> None:
    error = refused_as_wrong(gradcheck, doubling(lambda ctx, g: None), leaf(2))
    assert "no gradient at all" in str(error)
    assert (error.analytic, error.wrong) == (0, 2)


@pytest.mark.parametrize(
    ("f", "backward", "output_part", "input_part"),
    [
        # The gradient of the imaginary part has the wrong sign.
        (lambda z: z * 1, lambda g: g.conj(), "imaginary", "imaginary"),
        (lambda z: z.real * 1, lambda g: g * 1j, None, None),
        (lambda z: z.real * 1, lambda g: g * 2, None, "real"),
    ],
)
def test_parts_of_complex_numbers_are_named(
    f: Any, backward: Any, output_part: str | None, input_part: str | None
) -> None:
    wrong = function(lambda ctx, z: f(z), lambda ctx, g: backward(g))
    error = refused_as_wrong(gradcheck, wrong, complex_leaf())
    assert error.output_part == output_part
    if output_part is not None:
        assert f"the {output_part} part of output 0" in str(error)
    assert error.input_part == input_part


def test_inputs_that_share_memory_are_told() -> None:
    x = leaf(2)
    error = refused_as_wrong(gradcheck, lambda x, y: x * y, (x, x.detach()))
    assert "share memory" in str(error)


def test_a_dtype_that_differs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """No backward can do it, since the engine casts: a stand-in for `grad` does."""

    def single(*arguments: Any, **options: Any) -> tuple[vt.Tensor, ...]:
        found = vt.autograd.grad(*arguments, **options)
        return tuple(g.float() for g in found)

    monkeypatch.setattr(import_module("vtgrad.autograd.gradcheck.analytical"), "grad", single)
    error = refused_as_wrong(gradcheck, lambda x: x * 2, ones_leaf(2), check_grad_dtypes=True)
    assert (error.check, error.expected, error.found) == ("dtype", vt.float64, vt.float32)
    assert gradcheck(lambda x: x * 2, ones_leaf(2), check_undefined_grad=False)
