"""Derivatives, batches, replays and other uses of activations, losses and normalisations."""

import warnings
from collections.abc import Sequence
from typing import Final

import numpy as np

import vtgrad as vt
from tests.later.calls import values
from tests.nn.loss_calls import CALLS
from tests.sweeping import sweep

# Parts of the subject, each of which is one test.
WORDS: Final = ("loss", "cross_entropy", "norm", "embedding", "kl_div")


def part(name: str) -> str:
    return next((word for word in WORDS if word in name), "other")


def operands_of(name: str) -> list[vt.Tensor]:
    return [values(shape, nr) for nr, shape in enumerate(CALLS[name][1])]


def leaves_of(name: str) -> list[vt.Tensor]:
    return [x.requires_grad_() for x in operands_of(name)]


@sweep(CALLS, row=part)
def test_derivatives_are_those_of_differences(name: str) -> None:
    call = CALLS[name][0]
    leaves = leaves_of(name)
    assert vt.autograd.gradcheck(
        call,
        leaves,
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
        fast_mode=True,
    )
    assert vt.autograd.gradgradcheck(call, leaves, check_fwd_over_rev=True, fast_mode=True)


@sweep(CALLS, row=part)
def test_a_batch_is_the_calls_for_each_sample(name: str) -> None:
    call = CALLS[name][0]
    operands = operands_of(name)
    for nr in range(len(operands)):
        if name in ("batch_norm of kept statistics",) and nr:
            continue
        samples = [
            vt.stack([x, x.flip(0), x * 0.5]) if n == nr else x for n, x in enumerate(operands)
        ]
        in_dims = tuple([0 if n == nr else None for n in range(len(operands))])
        if name.startswith(("batch_norm", "instance_norm")) and not nr:
            # What is written without samples cannot have some.
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            batch = vt.vmap(call, in_dims=in_dims)(*samples)
        for k in range(3):
            given = [x[k] if n == nr else x for n, x in enumerate(samples)]
            np.testing.assert_allclose(
                batch[k].numpy(), call(*given).numpy(), rtol=1e-12, atol=1e-13
            )


@sweep(CALLS, row=part)
def test_replays_on_new_values_are_the_function(name: str) -> None:
    call = CALLS[name][0]

    def gradients(*tensors: vt.Tensor) -> Sequence[vt.Tensor]:
        leaves = [x.detach().requires_grad_() for x in tensors]
        found = call(*leaves)
        return found.detach(), *vt.autograd.grad(found.sum(), leaves)

    replayed = vt.jit.replay(gradients)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for times in (1.0, 1.25, 0.8, 1.1):
            operands = [x * times for x in operands_of(name)]
            for one, two in zip(replayed(*operands), gradients(*operands), strict=True):
                np.testing.assert_array_equal(one.numpy(), two.numpy())


@sweep(CALLS, row=part)
def test_zero_and_partly_zero_cotangents_give_no_nan(name: str) -> None:
    call, leaves = CALLS[name][0], leaves_of(name)
    found = call(*leaves)
    for cotangent in (vt.zeros_like(found), vt.zeros_like(found).flatten()):
        if cotangent.ndim == 1 and cotangent.numel() > 1:
            cotangent[-1] = 1
        weights = cotangent.reshape(found.shape)
        gradients = vt.autograd.grad(found, leaves, weights, retain_graph=True)
        assert all(x.isfinite().all() for x in gradients)
    gradients = vt.autograd.grad(found, leaves, vt.zeros_like(found))
    assert not any(x.any() for x in gradients)


@sweep(CALLS, row=part)
def test_operands_with_gaps_and_turned_ones_give_the_same(name: str) -> None:
    call, operands = CALLS[name][0], operands_of(name)
    expected = call(*operands).numpy()
    gaps = [vt.stack([x, x * 7], -1)[..., 0] for x in operands]
    turned = [x.movedim(0, -1).contiguous().movedim(-1, 0) if x.ndim else x for x in operands]
    for given in (gaps, turned):
        np.testing.assert_allclose(call(*given).numpy(), expected, rtol=1e-12)


def test_every_function_has_a_call() -> None:
    called = {name.split()[0] for name in CALLS}
    own = {
        name
        for name in vt.nn.functional.__all__
        if getattr(vt.nn.functional, name).__module__.rpartition(".")[2] in OWN
    }
    by_chance = {name for name in own if "dropout" in name or name == "gumbel_softmax"}
    in_place = {name for name in own if name.endswith("_")}
    assert own - by_chance - in_place - {"one_hot"} <= called


OWN: Final = (
    *("attention", "batch_statistics", "binary_losses", "class_losses", "ctc", "dropouts"),
    *("embedding_losses", "embeddings", "linear_losses", "normalizations", "piecewise_linear"),
    *("regression_losses", "smooth_activations", "softmaxes", "vectors"),
)
