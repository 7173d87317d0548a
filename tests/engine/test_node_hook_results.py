"""What hooks of nodes may return in place of the gradients that they are shown."""

from collections.abc import Callable

import pytest

import vtgrad as vt
from vtgrad.graph.node import Node

Gradients = tuple[vt.Tensor | None, ...]


def product() -> tuple[vt.Tensor, vt.Tensor, Node]:
    """A leaf of three ones, twice the leaf, and the node of that."""
    x = vt.ones(3, dtype=vt.float64).requires_grad_()
    y = x * 2
    node = y.grad_fn
    assert node is not None
    return x, y, node


def given(grads: Gradients) -> vt.Tensor:
    first = grads[0]
    assert first is not None
    return first


WRONG: dict[str, Callable[[vt.Tensor], Gradients]] = {
    "none at all": lambda g: (),
    "too many": lambda g: (g, g, g),
    "another dtype": lambda g: (g.float(), None),
    "a broader shape": lambda g: (g.expand(2, 3), None),
    "a smaller shape": lambda g: (g[:1], None),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_hook_after_a_node_returns_what_fits(
    wrong: Callable[[vt.Tensor], Gradients], create_graph: bool
) -> None:
    x, y, node = product()

    def hook(outgoing: Gradients, incoming: Gradients) -> Gradients:
        return wrong(given(outgoing))

    node.register_hook(hook)
    with pytest.raises(vt.errors.HookError):
        vt.autograd.grad(y.sum(), x, create_graph=create_graph)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_hook_before_a_node_returns_what_fits(
    wrong: Callable[[vt.Tensor], Gradients], create_graph: bool
) -> None:
    x, y, node = product()

    def hook(incoming: Gradients) -> Gradients:
        returned = wrong(given(incoming))
        return returned[:1] if len(returned) == 2 else returned

    node.register_prehook(hook)
    with pytest.raises(vt.errors.HookError):
        vt.autograd.grad(y.sum(), x, create_graph=create_graph)


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_hook_after_a_node_sees_gradients_of_the_inputs_shape_and_dtype(
    create_graph: bool,
) -> None:
    row = vt.ones(3, dtype=vt.float64).requires_grad_()
    single = vt.tensor(1.0, requires_grad=True)  # float32
    y = row.expand(2, 3) + single
    node = y.grad_fn
    assert node is not None
    seen: list[Gradients] = []

    def hook(outgoing: Gradients, incoming: Gradients) -> None:
        seen.append(outgoing)

    node.register_hook(hook)
    vt.autograd.grad(y.sum(), (row, single), create_graph=create_graph)
    of_row, of_single = seen[0]
    assert of_row is not None
    assert of_single is not None
    assert (of_row.shape, of_row.dtype) == ((2, 3), vt.float64)
    assert (of_single.shape, of_single.dtype, of_single.item()) == ((), vt.float32, 6.0)


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_hook_makes_no_gradient_where_there_is_none(create_graph: bool) -> None:
    x, y, node = product()  # the factor 2 has no gradient

    def hook(outgoing: Gradients, incoming: Gradients) -> Gradients:
        assert outgoing[1] is None
        return (outgoing[0], vt.ones(3, dtype=vt.float64))

    node.register_hook(hook)
    with pytest.raises(vt.errors.HookError):
        vt.autograd.grad(y.sum(), x, create_graph=create_graph)


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_that_fit_take_the_place_of_those_shown(create_graph: bool) -> None:
    x, y, node = product()

    def before(incoming: Gradients) -> Gradients:
        return (given(incoming) * 3,)

    def after(outgoing: Gradients, incoming: Gradients) -> Gradients:
        assert given(incoming).tolist() == [3.0, 3.0, 3.0]
        return (given(outgoing) + 1, *outgoing[1:])

    node.register_prehook(before)
    node.register_hook(after)
    (found,) = vt.autograd.grad(y.sum(), x, create_graph=create_graph)
    assert found.tolist() == [7.0, 7.0, 7.0]
