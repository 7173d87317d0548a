"""Derivatives, batches and ``out=`` of every function of `vtgrad.linalg`."""

import warnings
from collections.abc import Sequence

import numpy as np
import pytest

import vtgrad as vt
from tests.linalg.calls import CALLS, operands_of, random, results_of
from tests.sweeping import sweep
from vtgrad import linalg


def function_of(name: str) -> str:
    """The function that is called, which is the first word of a call's name."""
    return name.split()[0]


def differentiable(name: str, *tensors: vt.Tensor) -> Sequence[vt.Tensor]:
    return results_of(CALLS[name][0](*tensors))


@pytest.mark.slow
@sweep(CALLS, row=function_of)
def test_derivatives_are_those_of_differences(name: str) -> None:
    leaves = [x.requires_grad_() for x in operands_of(name)]
    assert vt.autograd.gradcheck(
        lambda *x: differentiable(name, *x), leaves, check_forward_ad=True, check_batched_grad=True
    )
    assert vt.autograd.gradgradcheck(
        lambda *x: differentiable(name, *x), leaves, check_fwd_over_rev=True, fast_mode=True
    )


@pytest.mark.slow
@sweep(CALLS, row=function_of)
def test_derivatives_of_complex_values_are_those_of_differences(name: str) -> None:
    leaves = [x.requires_grad_() for x in operands_of(name, complex=True)]

    def call(*tensors: vt.Tensor) -> Sequence[vt.Tensor]:
        return differentiable(name, *tensors)

    # One by one, the formulas are checked with real values.
    assert vt.autograd.gradcheck(call, leaves, check_forward_ad=True, fast_mode=True)
    assert vt.autograd.gradgradcheck(call, leaves, fast_mode=True)


@sweep(CALLS, row=function_of)
def test_a_batch_is_the_calls_for_each_sample(name: str) -> None:
    operands = operands_of(name)
    for nr in range(len(operands)):
        samples = [
            vt.stack([x, random(tuple(x.shape), 7 + n), x * 0.5]) if n == nr else x
            for n, x in enumerate(operands)
        ]
        in_dims = tuple([0 if n == nr else None for n in range(len(operands))])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            batch = vt.vmap(lambda *t: tuple(differentiable(name, *t)), in_dims=in_dims)(*samples)
        for k in range(3):
            given = [x[k] if n == nr else x for n, x in enumerate(samples)]
            for one, expected in zip(batch, differentiable(name, *given), strict=True):
                np.testing.assert_allclose(one[k].numpy(), expected.numpy(), rtol=1e-9, atol=1e-9)


def test_every_public_function_has_a_call() -> None:
    called = {function_of(name) for name in CALLS}
    # As in PyTorch, these have no derivative.
    without = {"ldl_factor", "ldl_factor_ex", "ldl_solve"}
    assert set(linalg.__all__) - called - without == {"LinAlgError", "matmul", "matrix_rank"}
