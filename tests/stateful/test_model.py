"""The oracle itself, on programs whose every number can be worked by hand; no library is run."""

import numpy as np
import pytest

from vtgrad.testing import passes
from vtgrad.testing.geometry import Geometry, contiguous, follow, reshaped
from vtgrad.testing.model import RefusedError
from vtgrad.testing.steps import (
    Apply,
    Backward,
    Detach,
    EnterLevel,
    Fill,
    Gradient,
    Leaf,
    LeaveLevel,
    Literal,
    MakeDual,
    SecondOrder,
    SetItem,
    Step,
    View,
    Write,
)
from vtgrad.testing.views import ViewCall
from vtgrad.testing.world import World


def run(*steps: Step) -> World:
    world = World()
    for step in steps:
        step.predict(world)
    return world


def gradient(world: World, of: int, leaf: int, *cotangent: float) -> list[float]:
    (found,) = passes.gradients(
        world,
        world.tensors[of],
        np.array(cotangent),
        [world.tensors[leaf]],
        retain=True,
        allow_unused=True,
    ).values
    assert found is not None
    return [float(number) for number in found.ravel()]


A = Leaf(0, Literal((4,), (1, 2, 3, 4)), requires_grad=True)
B = Apply(1, "clone", (0,))
V = View((2,), 1, ViewCall("[]", (slice(None, 2),)))


def test_writes_to_base_and_view_multiply_in_the_order_of_the_program() -> None:
    world = run(A, B, V, *(Write(t, "mul_number", extra=(k,)) for t, k in ((1, 3), (2, 5), (1, 2))))
    assert world.tensors[1].values.tolist() == [30, 60, 18, 24]
    assert gradient(world, 1, 0, 1, 1, 1, 1) == [30, 30, 6, 6]
    assert gradient(world, 2, 0, 1, 1) == [30, 30, 0, 0]


def test_a_filled_element_has_no_gradient() -> None:
    world = run(A, B, SetItem(1, 7, (1,)))
    assert world.tensors[1].values.tolist() == [1, 7, 3, 4]
    assert gradient(world, 1, 0, 1, 1, 1, 1) == [1, 0, 1, 1]


def test_a_write_under_no_grad_moves_version_and_values_but_not_the_gradient() -> None:
    world = run(A, B, Write(1, "mul_number", extra=(3,), grad=False))
    assert world.tensors[1].counter.version == 1
    assert world.tensors[1].values.tolist() == [3, 6, 9, 12]
    assert gradient(world, 1, 0, 1, 1, 1, 1) == [1, 1, 1, 1]


def test_a_view_shares_memory_version_and_later_writes_of_its_base() -> None:
    world = run(A, B, V, Write(1, "square"))
    base, view = world.tensors[1], world.tensors[2]
    assert view.base is base
    assert view.counter is base.counter
    assert view.values.tolist() == [1, 4]
    assert gradient(world, 2, 0, 1, 1) == [2, 4, 0, 0]


def test_a_write_to_a_leaf_is_refused_and_changes_nothing() -> None:
    world = run(A)
    with pytest.raises(RefusedError) as refused:
        Fill(0, 0).predict(world)
    assert refused.value.kinds == ("leaf-write",)
    assert world.tensors[0].counter.version == 0
    assert world.tensors[0].values.tolist() == [1, 2, 3, 4]


def test_pieces_of_a_written_base_cannot_be_used_any_more() -> None:
    world = run(A, B, View((2, 3), 1, ViewCall("split", (2, 0))), Fill(1, 0))
    for step in (Apply(4, "neg", (2,)), Fill(3, 1)):
        with pytest.raises(RefusedError) as refused:
            step.predict(world)
        assert refused.value.kinds == ("multi-output-view",)


def test_an_overwritten_saved_value_is_stale_whoever_wrote_it() -> None:
    world = run(A, B, Apply(2, "square", (1,)), Detach(3, 1), Fill(3, 0))
    with pytest.raises(RefusedError) as refused:
        Backward(2, Literal((4,), (1, 1, 1, 1))).predict(world)
    assert refused.value.kinds == ("stale-saved",)
    assert world.tensors[0].grad is None


def test_a_second_backward_meets_freed_values() -> None:
    ones = Literal((4,), (1, 1, 1, 1))
    world = run(A, Apply(1, "square", (0,)), Backward(1, ones))
    assert world.tensors[0].grad is not None
    assert world.tensors[0].grad.tolist() == [2, 4, 6, 8]
    with pytest.raises(RefusedError) as refused:
        Backward(1, ones).predict(world)
    assert refused.value.kinds == ("graph-freed",)


def test_second_derivatives_of_a_product_of_all_elements() -> None:
    world = run(Leaf(0, Literal((3,), (2, 3, 5)), requires_grad=True), Apply(1, "prod", (0,)))
    step = SecondOrder(1, Literal((), (1,)), (0,), (Literal((3,), (1, 0, 0)),))
    expected = step.predict(world)
    (first,) = expected.exact["g"]
    assert first is not None
    assert first.tolist() == [15, 10, 6]
    by_cotangent, by_leaf = expected.close["h"]
    assert by_cotangent.tolist() == 15
    assert by_leaf.tolist() == [0, 5, 3]


ENTER = EnterLevel()


def tangent(world: World, index: int) -> list[float] | None:
    (found,) = world.tangents_of([world.tensors[index]])
    return None if found is None else found.tolist()


def test_a_tangent_is_the_jacobian_times_the_seed() -> None:
    seed = Literal((4,), (1, 0, 10, 0))
    world = run(A, ENTER, MakeDual(1, 0, seed), Apply(2, "square", (1,)), Apply(3, "sum", (2,)))
    assert tangent(world, 0) is None
    assert tangent(world, 2) == [2, 0, 60, 0]
    assert tangent(world, 3) == [62]
    Apply(4, "mul", (3, 0)).predict(world)
    assert tangent(world, 4) == [62, 124, 186, 248]


def test_a_dual_in_a_view_gives_the_base_a_tangent_that_older_views_show() -> None:
    plain = Leaf(0, Literal((4,), (1, 2, 3, 4)), requires_grad=False)
    seed = Literal((2,), (7, 8))
    halves = View((1, 2), 0, ViewCall("split", (2, 0)))
    middle = View((3,), 0, ViewCall("[]", (slice(1, 3),)))
    dual = MakeDual(4, 1, seed)
    world = run(plain, halves, middle, ENTER, dual, Write(2, "copy", ("t4",)), Fill(3, 5))
    # The fill zeroes a part of the base's tangent; that of the dual is its own.
    assert tangent(world, 0) == [0, 0, 0, 8]
    assert tangent(world, 1) == [0, 0]
    assert tangent(world, 4) == [7, 8]
    assert world.tensors[4].values.tolist() == [1, 5]


def test_a_gradient_has_the_tangent_of_what_its_nodes_saved() -> None:
    seed = Literal((4,), (1, 1, 0, 0))
    world = run(A, ENTER, MakeDual(1, 0, seed), Apply(2, "prod", (1,)))
    expected = Gradient(2, Literal((), (1,)), (0,), retain=True).predict(world)
    assert [g.tolist() for g in expected.exact["g"] if g is not None] == [[24, 12, 8, 6]]
    # The second derivative by elements 0 and 1 is 3 * 4, by 2 and 0 it is 2 * 4.
    assert [t.tolist() for t in expected.tangents["g"]] == [[12, 12, 8 + 4, 6 + 3]]
    for step in (LeaveLevel(), ENTER):
        step.predict(world)
    (again,) = Gradient(2, Literal((), (1,)), (0,)).predict(world).tangents["g"]
    assert not again.any()


def test_a_reshape_is_a_view_only_where_strides_allow_it() -> None:
    rows = contiguous((2, 3))
    assert reshaped(rows, (6,)) == Geometry((6,), (1,))
    assert reshaped(Geometry((3, 2), (1, 3)), (6,)) is None
    assert reshaped(Geometry((2, 2), (6, 2)), (2, 2, 1)) == Geometry((2, 2, 1), (6, 2, 2))


def test_a_result_keeps_the_memory_order_of_its_operands() -> None:
    columns = Geometry((3, 2), (1, 3))
    assert follow((3, 2), [columns]).strides == (1, 3)
    assert follow((3, 2), [columns, contiguous((3, 2))]).strides == (1, 3)
    assert follow((3, 2), [contiguous((3, 2)), columns]).strides == (2, 1)
    assert follow((3, 2), [contiguous((3, 1)), columns]).strides == (1, 3)
