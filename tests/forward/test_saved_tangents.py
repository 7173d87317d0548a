"""The tangents of saved values: gradients that are computed in a level have tangents.

What breaks it: a saved value whose tangent is that of another moment, or laid out as the tensor is
by now.
"""

import gc
import weakref
from contextlib import nullcontext
from typing import Any

import pytest

import vtgrad as vt
from tests.forward.support import tangent, tensor
from vtgrad.autograd import forward_ad as fw
from vtgrad.autograd.graph import allow_mutation_on_saved_tensors, saved_tensors_hooks
from vtgrad.storage.arrays import Array
from vtgrad.utils.checkpoint import checkpoint


def test_a_saved_tensor_that_was_transposed_in_place_keeps_its_tangent() -> None:
    x = tensor(1, 2, 3, 4).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, tensor(1, 10, 100, 1000)).clone().view(2, 2)
        y = d * d
        d.t_()
        (g,) = vt.autograd.grad(y.sum(), x)
        assert tangent(g).tolist() == [2, 20, 200, 2000]


def test_a_saved_tensor_that_was_unsqueezed_in_place_keeps_its_tangent() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, tensor(1, 10)).clone()
        y = d * d
        d.unsqueeze_(0)
        del d
        (g,) = vt.autograd.grad(y.sum(), x)
        assert tangent(g).tolist() == [2, 20]


def test_rewind_restores_the_tangent_of_a_saved_input() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level(), allow_mutation_on_saved_tensors():
        d = fw.make_dual(x, tensor(1, 10)).clone()
        y = d * d
        d.zero_()
        (g,) = vt.autograd.grad(y.sum(), x)
        assert g.tolist() == [2, 4]
        assert tangent(g).tolist() == [2, 20]


def clone(saved: vt.Tensor) -> vt.Tensor:
    return saved.clone()


def array_of(saved: vt.Tensor) -> Array:
    return saved.detach().numpy().copy()


PARTS = pytest.mark.parametrize(
    "part",
    [
        lambda d: d,
        lambda d: d.t(),
        lambda d: d[..., ::2],
        lambda d: d.t()[1:],
        lambda d: d[1:2].expand(3, 4),
        lambda d: d.reshape(-1)[1:].unfold(0, 4, 2),
    ],
)


@PARTS
@pytest.mark.parametrize(
    "pack", [clone, array_of, vt.Tensor.contiguous, vt.Tensor.detach, vt.Tensor.numpy]
)
def test_tangents_of_values_that_hooks_lay_out_otherwise(pack: Any, part: Any) -> None:
    x = vt.arange(12.0, dtype=vt.float64).reshape(3, 4).requires_grad_()
    t = vt.arange(12.0, dtype=vt.float64).reshape(3, 4).flip(1)
    (ones,) = vt.autograd.grad(part(x).sum(), x)
    with fw.dual_level(), saved_tensors_hooks(lambda s: pack(s.detach()), vt.as_tensor):
        y = part(fw.make_dual(x, t).clone()).square()
        (g,) = vt.autograd.grad(y.sum(), x)
        assert tangent(g).tolist() == (2 * t * ones).tolist()


@PARTS
@pytest.mark.parametrize("overwritten", [False, True])
def test_rewind_keeps_the_tangent_of_a_view_that_is_gone(part: Any, overwritten: bool) -> None:
    x = vt.arange(12.0, dtype=vt.float64).reshape(3, 4).requires_grad_()
    t = vt.arange(12.0, dtype=vt.float64).reshape(3, 4).flip(1)
    (expected,) = vt.autograd.grad(part(x).sum(), x)
    with fw.dual_level(), allow_mutation_on_saved_tensors():
        d = fw.make_dual(x, t).clone()
        y = part(d).square()
        if overwritten:
            d.zero_()
        (g,) = vt.autograd.grad(y.sum(), x)
        assert tangent(g).tolist() == (2 * t * expected).tolist()


def test_rewind_refuses_the_tangent_of_a_saved_result_that_was_overwritten() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level(), allow_mutation_on_saved_tensors():
        y = fw.make_dual(x, tensor(1, 10)).exp()
        z = y * 1
        y.zero_()
        with pytest.raises(NotImplementedError, match="rewind"):
            vt.autograd.grad(z.sum(), x)


def test_a_value_that_was_saved_before_it_was_detached_in_place_has_its_tangent() -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        c = fw.make_dual(tensor(3, 4), tensor(5, 6)).clone()
        y = x * c
        c.detach_()
        del c
        (g,) = vt.autograd.grad(y.sum(), x)
        assert tangent(g).tolist() == [5, 6]


def test_a_cycle_of_a_result_and_its_tangent_ends_with_the_level() -> None:
    x = tensor(1, 2).requires_grad_()
    gc.disable()
    try:
        with fw.dual_level():
            y = fw.make_dual(x, tensor(1, 1)).exp()
            seen = weakref.ref(y)
            del y
        assert seen() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("pack", "unpack"),
    [(None, None), (lambda saved: saved, None), (clone, None), (array_of, vt.from_numpy)],
)
def test_values_that_hooks_keep_have_their_tangents(pack: Any, unpack: Any) -> None:
    x = tensor(1, 2).requires_grad_()
    kept = nullcontext() if pack is None else saved_tensors_hooks(pack, unpack or (lambda v: v))
    with fw.dual_level(), kept:
        d = fw.make_dual(x, tensor(1, 10)).clone()
        y = (d * d).square()
        (g,) = vt.autograd.grad(y.sum(), x)
        assert g.tolist() == [4, 32]
        assert tangent(g).tolist() == [12, 480]


@pytest.mark.parametrize("pack", [clone, array_of])
def test_hooks_that_keep_the_value_keep_the_tangent_through_a_write(pack: Any) -> None:
    x = tensor(1, 2).requires_grad_()
    with fw.dual_level(), saved_tensors_hooks(pack, lambda v: vt.as_tensor(v)):
        d = fw.make_dual(x, tensor(1, 10)).clone()
        y = d * d
        d.zero_()
        (g,) = vt.autograd.grad(y.sum(), x)
        assert tangent(g).tolist() == [2, 20]


def test_checkpoints_in_checkpoints_compute_tangents_again() -> None:
    def inner(u: vt.Tensor) -> vt.Tensor:
        return u * u * u

    def outer(t: vt.Tensor) -> vt.Tensor:
        return checkpoint(inner, t * 2, use_reentrant=False)

    x = tensor(1, 2).requires_grad_()
    with fw.dual_level():
        y = checkpoint(outer, fw.make_dual(x, tensor(1, 10)), use_reentrant=False)
        (g,) = vt.autograd.grad(y.sum(), x)
        assert g.tolist() == [24, 96]
        assert tangent(g).tolist() == [48, 960]


def test_a_retained_gradient_is_recorded_only_with_create_graph() -> None:
    x = tensor(1, 2).requires_grad_()
    y = x.clone()
    y.retain_grad()
    with fw.dual_level():
        (g,) = vt.autograd.grad((y * y).sum(), x, create_graph=True)
        assert y.grad is not None
        assert y.grad.requires_grad
        vt.autograd.grad(g.sum(), x)
        assert y.grad.tolist() == [4, 6]
        assert not y.grad.requires_grad
