"""Derivatives and batches of functions that are imported when a program first names them."""

import warnings
from collections.abc import Sequence

import numpy as np

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
    assert vt.autograd.gradgradcheck(differentiable, leaves, check_fwd_over_rev=True)


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
