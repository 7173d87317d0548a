"""A step that is broken off anywhere: Note [A step is whole].

What breaks it: a state that is written before its parameter and not again after an interrupt.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from tests.optim.test_steps import MAKERS
from vtgrad import optim

State = list[list[float]]


def _fresh() -> list[vt.Tensor]:
    return [
        vt.tensor([1.0, 2.0], dtype=vt.float64, requires_grad=True),
        vt.tensor([0.5], dtype=vt.float64, requires_grad=True),
    ]


def _state(optimizer: optim.Optimizer, param: vt.Tensor) -> State:
    """The parameter and its state, the one that is not shown included."""
    slots = optimizer.param_groups[0].slots(param)
    return [[float(v) for v in x.reshape(-1).tolist()] for x in (param, *slots.values())]


def _step(optimizer: optim.Optimizer) -> None:
    for param in optimizer.param_groups[0].params:
        param.grad = param.detach() * 2 + 1
    optimizer.step()


@NEEDS_TRACE
@pytest.mark.slow
@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_a_parameter_and_its_state_are_before_or_behind_an_update(name: str) -> None:
    make = MAKERS[name]
    # What each number of steps leads to.
    reached: list[list[State]] = []
    optimizer = make(_fresh())
    for _ in range(3):
        reached.append([_state(optimizer, p) for p in optimizer.param_groups[0].params])
        _step(optimizer)
    held: list[optim.Optimizer] = []
    mixed = 0

    def prepare() -> Callable[[], object]:
        params = _fresh()
        held[:] = [make(params)]
        _step(held[0])
        for param in params:
            param.grad = param.detach() * 2 + 1
        return held[0].step

    def check(over: bool) -> None:
        nonlocal mixed
        (after,) = held
        found = [_state(after, p) for p in after.param_groups[0].params]
        where = [1 if now == reached[1][nr] else 2 for nr, now in enumerate(found)]
        assert all(found[nr] == reached[at][nr] for nr, at in enumerate(where))
        assert where == [2, 2] or (where in ([1, 1], [2, 1]) and not over)
        mixed += where == [2, 1]
        assert vt.is_grad_enabled()

    places = interrupted_everywhere(prepare, check, step=3 if name == "Adam" else 1)
    assert places > 50
    assert mixed > 5


def test_a_second_interrupt_is_mended_by_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    optimizer = MAKERS["Adam"](_fresh())
    (w, _) = optimizer.param_groups[0].params
    twin = MAKERS["Adam"](_fresh())
    _step(twin)
    copy, calls = vt.Tensor.copy_, [0]

    def broken(self: vt.Tensor, *args: object) -> vt.Tensor:
        calls[0] += 1
        # The second write, and the second when it is made good.
        if calls[0] in (2, 4):
            raise KeyboardInterrupt
        return copy(self, *args)  # type: ignore[arg-type]  # the arguments as they come

    monkeypatch.setattr(vt.Tensor, "copy_", broken)
    with pytest.raises(KeyboardInterrupt):
        _step(optimizer)
    assert calls[0] == 4
    assert w.tolist() == twin.param_groups[0].params[0].tolist()
    # The state is asked for, and is whole.
    assert optimizer.state[w]["exp_avg"].tolist() == (
        twin.state[twin.param_groups[0].params[0]]["exp_avg"].tolist()
    )


def test_a_refused_write_leaves_the_state_as_it_was() -> None:
    params = _fresh()
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    locked = vt.from_numpy(frozen).requires_grad_()
    optimizer = MAKERS["Adam"]([params[0], locked, params[1]])
    for param in (params[0], locked, params[1]):
        param.grad = vt.ones_like(param)
    with pytest.raises(vt.errors.ReadOnlyError):
        optimizer.step()
    steps = [optimizer.param_groups[0].slots(p)["step"].item() for p in (params[0], locked)]
    assert steps == [1, 0]
    assert optimizer.param_groups[0].slots(params[1])["step"].item() == 0
    assert params[1].tolist() == [0.5]
    # And nothing is left to be written.
    assert len(optimizer.state) == 1


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
def test_lbfgs_goes_back_to_the_last_iteration_that_came_to_its_end(
    line_search: str | None,
) -> None:
    x = vt.tensor([-1.5, 2.0], dtype=vt.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], lr=1.0 if line_search else 1e-3, line_search_fn=line_search)
    fails_at = 0
    calls = 0

    def closure() -> vt.Tensor:
        nonlocal calls
        calls += 1
        if calls == fails_at:
            raise KeyboardInterrupt
        optimizer.zero_grad()
        loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        loss.backward()
        return loss

    optimizer.step(closure)
    before = x.tolist()
    calls, fails_at = 0, 2
    with pytest.raises(KeyboardInterrupt):
        optimizer.step(closure)
    # No iteration came to its end.
    assert x.tolist() == before
    calls, fails_at = 0, 9
    with pytest.raises(KeyboardInterrupt):
        optimizer.step(closure)
    calls, fails_at = 0, 0
    assert x.tolist() != before
    reached = closure().item()
    first = optimizer.step(closure)
    assert isinstance(first, vt.Tensor)
    assert first.item() == reached
    assert closure().item() < reached
