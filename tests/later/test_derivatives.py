"""Derivatives and batches of functions that are imported when a program first names them."""

import warnings
from collections.abc import Sequence

import numpy as np
import pytest

import vtgrad as vt
from tests.later.calls import CALLS, values
from tests.sweeping import sweep


def function_of(name: str) -> str:
    """The function that is called, which is the first word of a call's name."""
    return name.split()[0]


def results_of(found: object) -> list[vt.Tensor]:
    """The results of a call that have derivatives."""
    listed = list(found) if isinstance(found, (tuple, list)) else [found]
    return [
        x for x in listed if isinstance(x, vt.Tensor) and (x.is_floating_point() or x.is_complex())
    ]


def operands_of(name: str) -> list[vt.Tensor]:
    """The tensors of a call."""
    return [values(shape, nr) for nr, shape in enumerate(CALLS[name][1])]


@sweep(CALLS, row=function_of)
def test_derivatives_are_those_of_differences(name: str) -> None:
    call = CALLS[name][0]

    def differentiable(*tensors: vt.Tensor) -> Sequence[vt.Tensor]:
        return tuple(results_of(call(*tensors)))

    leaves = [x.requires_grad_() for x in operands_of(name)]
    assert vt.autograd.gradcheck(
        differentiable, leaves, check_forward_ad=True, check_batched_grad=True
    )
    assert vt.autograd.gradgradcheck(
        differentiable, leaves, check_fwd_over_rev=True, fast_mode=True
    )


# Those that take complex values in place of all their tensors.
OF_COMPLEX = [
    name
    for name in CALLS
    if (
        function_of(name)
        in {"constant_pad_nd", "convolve", "corrcoef", "correlate", "cov", "gradient", "pad"}
        and name not in ("gradient by places", "cov with weights")
    )
    or name in ("cumulative_trapezoid of distances", "trapezoid of distances")
]


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_derivatives_of_complex_values_are_those_of_differences(name: str) -> None:
    call, shapes = CALLS[name]

    def differentiable(*tensors: vt.Tensor) -> Sequence[vt.Tensor]:
        return tuple(results_of(call(*tensors)))

    leaves = [values(shape, nr, complex=True) for nr, shape in enumerate(shapes)]
    for x in leaves:
        x.requires_grad_()
    assert vt.autograd.gradcheck(
        differentiable, leaves, check_forward_ad=True, check_batched_grad=True
    )
    assert vt.autograd.gradgradcheck(differentiable, leaves, check_fwd_over_rev=True)


def test_derivatives_of_interpolated_complex_values_are_those_of_differences() -> None:
    x, xp = vt.tensor([0.3, 1.7, 2.2]).double(), vt.tensor([0.0, 1.0, 2.5]).double()
    leaves = [x.requires_grad_(), xp.requires_grad_(), values((3,), complex=True).requires_grad_()]
    assert vt.autograd.gradcheck(vt.interp, leaves, check_forward_ad=True, check_batched_grad=True)
    assert vt.autograd.gradgradcheck(vt.interp, leaves, check_fwd_over_rev=True)


@sweep(CALLS, row=function_of)
def test_a_batch_is_the_calls_for_each_sample(name: str) -> None:
    call = CALLS[name][0]
    operands = operands_of(name)
    for nr in range(len(operands)):
        samples = [
            vt.stack([x, x.flip(-1), x * 0.5]) if n == nr else x for n, x in enumerate(operands)
        ]
        in_dims = tuple([0 if n == nr else None for n in range(len(operands))])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            batch = vt.vmap(lambda *t: tuple(results_of(call(*t))), in_dims=in_dims)(*samples)
        for k in range(3):
            given = [x[k] if n == nr else x for n, x in enumerate(samples)]
            for one, expected in zip(batch, results_of(call(*given)), strict=True):
                np.testing.assert_allclose(one[k].numpy(), expected.numpy(), rtol=1e-12, atol=1e-13)


@sweep(CALLS, row=function_of)
def test_empty_operands_are_computed_or_refused_as_errors_of_the_library(name: str) -> None:
    call, shapes = CALLS[name]
    operands = [vt.zeros(*shape[:-1], 0, dtype=vt.float64) for shape in shapes]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(*operands)
        except vt.errors.VtgradError:
            return


# Calls with constants of their own, which are on the CPU.
ON_THE_CPU = {
    "bincount",
    "cov with weights",
    "histogram",
    "histogramdd",
    "interp",
    "interp with a period",
    "nanquantile",
}


@sweep(sorted(set(CALLS) - ON_THE_CPU), row=function_of)
def test_results_and_gradients_are_on_the_lane_of_the_operands(name: str) -> None:
    call = CALLS[name][0]
    found = []
    for device in ("cpu", "lane:0"):
        leaves = [x.to(device).requires_grad_() for x in operands_of(name)]
        results = results_of(call(*leaves))
        assert [x.device for x in results] == [vt.device(device)] * len(results)
        gradients = vt.autograd.grad(
            results, leaves, [vt.ones_like(x) for x in results], allow_unused=True
        )
        found.append([None if x is None else x.tolist() for x in (*results, *gradients)])
    assert found[0] == found[1]


@sweep(CALLS, row=function_of)
def test_patterns_have_every_entry_of_the_jacobian(name: str) -> None:
    call = CALLS[name][0]
    first, *others = operands_of(name)
    for nr in range(len(results_of(call(first, *others)))):

        def one(x: vt.Tensor, nr: int = nr) -> vt.Tensor:
            return results_of(call(x, *others))[nr].reshape(-1)

        known = vt.func.sparsity_pattern(one, first)
        entries = known.matrix().toarray() != 0
        jacobian = vt.func.jacrev(one)(first).reshape(-1, first.numel()).numpy()
        assert entries[jacobian != 0].all()


# Calls that take complex numbers for their first tensor.
OF_COMPLEX_NUMBERS = [
    "constant_pad_nd",
    "convolve",
    "correlate",
    "correlate the longer with the shorter",
    "cov",
    "cumulative_trapezoid",
    "gradient",
    "gradient by places",
    "pad",
    "trapezoid",
    "trapezoid of distances",
]


@sweep(OF_COMPLEX_NUMBERS, row=function_of)
def test_derivatives_of_complex_numbers(name: str) -> None:
    call, shapes = CALLS[name]
    first, *others = operands_of(name)
    z = values(shapes[0], 7, complex=True).requires_grad_()
    assert z.shape == first.shape

    def one(z: vt.Tensor) -> Sequence[vt.Tensor]:
        return tuple(results_of(call(z, *others)))

    assert vt.autograd.gradcheck(one, [z], check_forward_ad=True, check_batched_grad=True)
    assert vt.autograd.gradgradcheck(one, [z], check_fwd_over_rev=True, fast_mode=True)


def test_interpolated_values_may_be_complex() -> None:
    x, xp = values((4,)), vt.tensor([-1.5, 0.2, 1.7], dtype=vt.float64)
    fp = values((3,), 3, complex=True).requires_grad_()
    assert vt.autograd.gradcheck(lambda x, fp: vt.interp(x, xp, fp), [x.requires_grad_(), fp])
