"""`allow_mutation_on_saved_tensors`, where PyTorch's is right too, and beside hooks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.behaviour.saved.packing import Log
from tests.functions import Square, function
from tests.support import differs_from_torch, gradients, leaf, ramp, refused, vt

graph = vt.autograd.graph
allowed = graph.allow_mutation_on_saved_tensors


def _without_grad(z: vt.Tensor) -> None:
    with vt.no_grad():
        z.mul_(2)


WRITES: dict[str, Callable[[vt.Tensor], object]] = {
    "in place": lambda z: z.mul_(2),
    "setitem": lambda z: z.__setitem__(0, 9.0),
    "out=": lambda z: vt.add(ramp(2), 1, out=z.detach()),
    "detach": lambda z: z.detach().mul_(2),
    "no_grad": _without_grad,
    "resize_": lambda z: z.detach().resize_(1),
    "set_": lambda z: z.detach().set_(ramp(2)),
    "twice": lambda z: z.mul_(2).add_(1),
    "itself": lambda z: z.mul_(z),
}


@pytest.mark.parametrize("how", WRITES)
def test_the_gradient_is_that_of_the_old_values(how: str) -> None:
    x = leaf(2)
    with allowed():
        z = x.clone()
        y = z.sin().sum()
        WRITES[how](z)
        assert gradients(y, x) == [ramp(2).cos().tolist()]


def test_results_leaves_and_what_functions_save() -> None:
    x = leaf(2)
    with allowed():
        y = x.clone().exp_()
        w = (y * 1).sum() + y.sum()
        result = y * y
        y.add_(1)
        squares = Square.apply(x)
        _without_grad(x)
        assert gradients(squares.sum(), x) == [[2, 4]]
        found = gradients(result.sum() + w, x)[0]
    e = ramp(2).exp()
    assert found == pytest.approx((2 * e * e + 2 * e).tolist())


def test_second_derivatives() -> None:
    x = leaf(2)
    with allowed():
        z = x.clone()
        y = z.sin().sum()
        z.mul_(2)
        (g,) = vt.autograd.grad(y, x, create_graph=True)
        assert gradients(g.sum(), x) == [(-ramp(2).sin()).tolist()]


@differs_from_torch("there the gradient is at the new values, where the offset is not 0")
def test_views_and_bases() -> None:
    x = leaf(3)
    with allowed():
        z = x.clone()
        y = z[1:].sin().sum()
        z.mul_(2)
        w = x.clone()
        u = w.sin().sum()
        w[1:].mul_(2)
    cos = ramp(3).cos()
    assert gradients(y, x) == [(cos * vt.tensor([0, 1, 1])).tolist()]
    assert gradients(u, x) == [cos.tolist()]


@differs_from_torch("there what was kept is dropped at the end of the block")
def test_backward_may_come_after_the_block() -> None:
    x = leaf(2)
    with allowed():
        z = x.clone()
        y, w = z.sin().sum(), z.exp().sum()
        z.mul_(2)
    assert gradients(y, x) == [ramp(2).cos().tolist()]
    assert gradients(w, x) == [ramp(2).exp().tolist()]


@differs_from_torch("there it cannot be nested")
def test_it_can_be_nested() -> None:
    x = leaf(2)
    with allowed():
        z = x.clone()
        with allowed():
            y = z.sin().sum()
        z.mul_(2)
    assert gradients(y, x) == [ramp(2).cos().tolist()]


def test_what_was_saved_before_the_block_is_checked() -> None:
    x = leaf(2)
    z = x.clone()
    y = z.sin().sum()
    with allowed():
        z.mul_(2)
        with refused(RuntimeError, "stale-saved"):
            y.backward()


@differs_from_torch("there a hook inside takes over, and the hooks outside are not called")
def test_hooks_around_and_inside_are_called() -> None:
    x, outer, inner = leaf(2), Log(), Log()
    with outer.open(), allowed():
        z = x.clone()
        y = z.sin()
        with inner.open():
            w = z.sin()
        z.mul_(2)
    assert len(outer.packed) == len(inner.packed) == 1
    assert gradients((y + w).sum(), x) == [(2 * ramp(2).cos()).tolist()]


@differs_from_torch("there it is noticed where the saved tensor's own version is 0")
def test_what_is_written_through_data_is_not_seen() -> None:
    x = leaf(2)
    with allowed():
        z = x.clone()
        y = z.sin().sum()
        z.data.mul_(2)
    assert gradients(y, x) == [(2 * ramp(2)).cos().tolist()]


@pytest.mark.parametrize(
    "write",
    [lambda z: z.detach().numpy().__setitem__(0, 2.0), lambda z: setattr(z, "data", 2 * ramp(1))],
)
def test_what_no_version_counts_is_not_seen(write: Callable[[vt.Tensor], None]) -> None:
    x = leaf(1)
    with allowed():
        z = x.clone()
        y = z.sin().sum()
        write(z)
        assert gradients(y, x) == [(2 * ramp(1)).cos().tolist()]


@differs_from_torch("there what forward writes by operators is kept, and by NumPy is not seen")
@pytest.mark.parametrize("part", [slice(None), slice(2)])
def test_what_a_function_overwrites_is_refused_by_its_name(part: slice) -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x.mul_(2))
        return x

    twice = function(forward, lambda ctx, g: g * 2)
    x = leaf(3).clone()
    with vt.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * x
        twice(x[part])
    with pytest.raises(
        vt.errors.StaleSavedError, match=r"what \S+\.apply overwrote was not kept"
    ) as e:
        y.sum().backward()
    ways = e.value.facts["ways_out"]
    assert isinstance(ways, tuple)
    assert re.search(r"pass x.clone\(\) to \S+\.apply for the x that it writes", ways[0])


@differs_from_torch(
    "a version that moves without a write hides the saved value, which is overwritten"
)
def test_a_write_of_no_elements_by_other_means_leaves_all_that_is_kept() -> None:
    x = leaf(2)
    with allowed():
        z = x.clone()
        y = z.sin().sum()
        graph.increment_version(z[:0])
        z.mul_(2)
        graph.increment_version(z[2:])
        assert gradients(y, x) == [ramp(2).cos().tolist()]
