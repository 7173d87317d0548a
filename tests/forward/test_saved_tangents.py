"""The tangents of saved values: gradients that are computed in a level have tangents.

What breaks it: a saved value whose tangent is that of another moment, or laid out as the tensor is
by now.
"""

import gc
import weakref

import pytest

import vtgrad as vt
from vtgrad.autograd import forward_ad as fw
from vtgrad.autograd.graph import allow_mutation_on_saved_tensors

from .support import tangent, tensor


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
