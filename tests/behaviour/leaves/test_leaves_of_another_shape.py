"""Leaves that get another shape after a graph was recorded from them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import differs_from_torch, leaf, ramp, refused, vt


def changed(x: vt.Tensor, change: Callable[[vt.Tensor], object]) -> None:
    """Change a leaf in place without recording it."""
    with vt.no_grad():
        change(x)


def matrix() -> vt.Tensor:
    return ramp(2, 3).requires_grad_()


@differs_from_torch("there only dimensions in front may come")
@pytest.mark.parametrize("create_graph", [False, True])
def test_dimensions_of_size_1_come_and_go_with_the_gradient(create_graph: bool) -> None:
    x = matrix()
    y = (x * ramp(2, 3)).sum()
    changed(x, lambda t: t.unsqueeze_(1))
    if create_graph:
        with pytest.warns(UserWarning, match="create_graph"):
            y.backward(create_graph=True)
    else:
        y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[[1, 2, 3]], [[4, 5, 6]]]
    changed(x, lambda t: t.squeeze_())
    del x.grad
    (x * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


@differs_from_torch("there .grad keeps the former shape without a word")
def test_a_gradient_that_is_there_follows() -> None:
    x = matrix()
    (x * ramp(2, 3)).sum().backward()
    y = x.sum()
    kept = x.grad
    changed(x, lambda t: t.unsqueeze_(0))
    y.backward()
    assert kept is not None
    assert x.grad is not None
    assert x.grad.tolist() == [[[2, 3, 4], [5, 6, 7]]]
    assert kept.tolist() == [[2, 3, 4], [5, 6, 7]]
    (x * 2).sum().backward()
    assert x.grad.tolist() == [[[4, 5, 6], [7, 8, 9]]]


@pytest.mark.parametrize(
    "change",
    [lambda t: t.t_(), lambda t: t.set_(ramp(7))],
    ids=["t_", "set_"],
)
def test_a_gradient_of_another_shape_is_refused(change: Callable[[vt.Tensor], object]) -> None:
    x, other = matrix(), leaf(3)
    y = x.sum() + other.sum()
    changed(x, change)
    with refused(RuntimeError, "shape", [x]):
        y.backward()
    assert x.grad is None


@differs_from_torch("there the other leaf has its gradient already, and the hook has run")
def test_a_refused_pass_has_done_nothing() -> None:
    x, other = matrix(), leaf(3)
    seen: list[vt.Tensor] = []
    other.register_hook(seen.append)
    y = x.sum() + other.sum()
    changed(x, lambda t: t.t_())
    with refused(RuntimeError, "shape", [x, other]):
        y.backward()
    assert (seen, other.grad) == ([], None)


@differs_from_torch("there the leaf of three elements gets a gradient of six without a word")
def test_a_gradient_of_more_elements_is_refused() -> None:
    x = matrix()
    y = (x * ramp(2, 3)).sum()
    changed(x, lambda t: t.as_strided_((3,), (2,)))
    with refused(RuntimeError, "shape", [x]):
        y.backward()


@differs_from_torch("there .grad gets the former shape or order without a word")
@pytest.mark.parametrize("shape", [(2, 3), (3, 3)])
def test_neither_the_order_nor_a_gradient_that_is_there_hides_it(shape: tuple[int, int]) -> None:
    x = ramp(*shape).requires_grad_()
    if shape == (2, 3):
        x.grad = ramp(2, 3)
    y = (x * ramp(*shape)).sum()
    changed(x, lambda t: t.t_())
    with refused(RuntimeError, "shape", [x]):
        y.backward()
    changed(x, lambda t: t.t_())
    y.backward()
    assert x.grad is not None
    assert x.grad.shape == shape


@differs_from_torch("there every later use of the leaf fails")
def test_the_next_graph_fits_the_leaf_again() -> None:
    x = matrix()
    (x * 1).sum().backward()
    changed(x, lambda t: t.t_())
    with refused(RuntimeError, "shape", [x]):
        (x * 2).sum().backward()
    del x.grad
    (x * ramp(3, 2)).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[1, 2], [3, 4], [5, 6]]


@differs_from_torch("there the gradient has the former shape")
@pytest.mark.parametrize("create_graph", [False, True])
def test_grad_by_a_leaf_adds_up_what_it_was_and_what_it_is(create_graph: bool) -> None:
    x = matrix()
    y = (x * 2).square().sum()
    changed(x, lambda t: t.unsqueeze_(1))
    (grad,) = vt.autograd.grad(y, [x], create_graph=create_graph, retain_graph=True)
    assert grad.shape == (2, 1, 3)
    assert grad.tolist() == [[[8, 16, 24]], [[32, 40, 48]]]
    assert grad.requires_grad is create_graph
    (both,) = vt.autograd.grad(y + (x * 3).sum(), [x], create_graph=create_graph)
    assert both.tolist() == [[[11, 19, 27]], [[35, 43, 51]]]


@differs_from_torch("there the gradient has the former shape")
def test_backward_to_a_leaf_that_has_changed_fills_it() -> None:
    x, z = matrix(), leaf(2, 3)
    y = (x * ramp(2, 3) + z).sum()
    changed(x, lambda t: t.unsqueeze_(0))
    y.backward(inputs=[x])
    assert x.grad is not None
    assert x.grad.tolist() == [[[1, 2, 3], [4, 5, 6]]]
    assert z.grad is None


@differs_from_torch("there the gradient has the former order without a word")
@pytest.mark.parametrize("shape", [(2, 3), (3, 3)])
def test_grad_by_a_leaf_in_another_order_is_refused(shape: tuple[int, int]) -> None:
    x = ramp(*shape).requires_grad_()
    y = (x * ramp(*shape)).sum()
    changed(x, lambda t: t.t_())
    for _ in range(2):
        with refused(RuntimeError, "shape", [x, y]):
            vt.autograd.grad(y, [x], allow_unused=True)
    changed(x, lambda t: t.t_())
    (grad,) = vt.autograd.grad(y, [x])
    assert grad.tolist() == ramp(*shape).tolist()


def test_a_leaf_that_has_changed_and_is_not_used_has_no_gradient() -> None:
    x, z = matrix(), leaf(2)
    (x * 1).sum()
    changed(x, lambda t: t.unsqueeze_(0))
    assert vt.autograd.grad(z.sum(), [x], allow_unused=True) == (None,)
