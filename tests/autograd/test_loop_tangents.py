"""`checkpoint_loop` in forward mode: the tangents of a plain loop.

What breaks it: a copy of a state that loses its tangent, or that shares it with the first state.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.autograd.loops import plain_loop
from tests.support import ramp, refused, vt
from vtgrad.autograd import forward_ad

checkpoint_loop = vt.utils.checkpoint.checkpoint_loop


def tangent(x: vt.Tensor) -> object:
    found = forward_ad.unpack_dual(x).tangent
    return None if found is None else found.tolist()


def plain(x: vt.Tensor) -> vt.Tensor:
    return x.sin() * 1.1


def in_place(x: vt.Tensor) -> vt.Tensor:
    x[1:] += 0.1 * x[:-1]
    x.mul_(0.9)
    return x


def drawing(x: vt.Tensor) -> vt.Tensor:
    return x * vt.rand(3)


@pytest.mark.parametrize("step", [plain, in_place, drawing])
@pytest.mark.parametrize("recorded", [True, False])
def test_tangents_are_those_of_a_plain_loop(step: Any, recorded: bool) -> None:
    x, t = ramp(3), vt.tensor([1.0, -2.0, 0.5], dtype=vt.float64)

    def loop(x: vt.Tensor) -> vt.Tensor:
        return checkpoint_loop(step, x, 6, snapshots=2)

    with vt.set_grad_enabled(recorded):
        vt.manual_seed(3)
        found = vt.func.jvp(loop, (x,), (t,))
        vt.manual_seed(3)
        expected = vt.func.jvp(lambda x: plain_loop(step, x.clone(), 6), (x,), (t,))
        assert [y.tolist() for y in found] == [y.tolist() for y in expected]
        if step is not drawing:
            jacobian = vt.func.jacfwd(loop)(x)
            wanted = vt.func.jacfwd(lambda x: plain_loop(step, x.clone(), 6))(x)
            assert jacobian.tolist() == wanted.tolist()
    assert x.tolist() == [1, 2, 3]
    assert t.tolist() == [1, -2, 0.5]


def test_states_in_containers_and_parameters_with_tangents() -> None:
    def step(state: Any) -> Any:
        (u, v), count = state
        return (u * v * w, v + u), count + 1

    with forward_ad.dual_level():
        w = forward_ad.make_dual(ramp(2), vt.ones(2, dtype=vt.float64))
        u = forward_ad.make_dual(ramp(2), ramp(2) * 2)
        v = vt.ones(2, dtype=vt.float64)
        (a, b), count = checkpoint_loop(step, ((u, v), 0), 3, snapshots=1)
        (c, d), _ = plain_loop(step, ((u, v), 0), 3)
        assert count == 3
        for found, expected in ((a, c), (b, d)):
            assert found.tolist() == expected.tolist()
            assert tangent(found) == tangent(expected) is not None
        # The first state is as it was.
        assert tangent(u) == [2, 4]


def test_a_state_that_gets_its_tangent_in_a_step_is_refused() -> None:
    with forward_ad.dual_level():
        w = forward_ad.make_dual(ramp(2), ramp(2))
        with refused(NotImplementedError, "not-supported"):
            checkpoint_loop(lambda u: u * w, ramp(2), 3, snapshots=1)


def test_an_error_in_a_step_leaves_the_first_state() -> None:
    def step(x: vt.Tensor) -> vt.Tensor:
        x.mul_(2)
        raise KeyError

    with forward_ad.dual_level():
        d = forward_ad.make_dual(ramp(2), ramp(2))
        with pytest.raises(KeyError):
            checkpoint_loop(step, d, 3, snapshots=1)
        assert d.tolist() == [1, 2]
        assert tangent(d) == [1, 2]
