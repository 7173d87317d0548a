"""What a step does to memory, versions and graphs, and how its state is kept.

Values are compared with PyTorch's in ``tests/oracle/test_optim.py``.
"""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad import optim

Make = Callable[[list[vt.Tensor]], optim.Optimizer]

MAKERS: dict[str, Make] = {
    "SGD": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.1),
    "Adam": lambda p: optim.Adam(p, lr=0.05, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.05),
    "RMSprop": lambda p: optim.RMSprop(p, momentum=0.5, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, lr_decay=0.1),
    "Adadelta": lambda p: optim.Adadelta(p),
}
every = pytest.mark.parametrize("name", list(MAKERS))


def params() -> list[vt.Tensor]:
    return [
        vt.tensor([1.0, 2.0, 3.0], dtype=vt.float64, requires_grad=True),
        vt.tensor(0.5, requires_grad=True),
    ]


def train(optimizer: optim.Optimizer, w: vt.Tensor, b: vt.Tensor, steps: int) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        (((w - 1) ** 2).sum() + (b + w[0]) ** 2).backward()
        optimizer.step()


def state_of(optimizer: optim.Optimizer) -> list[list[object]]:
    return [[name, x.tolist()] for slots in optimizer.state.values() for name, x in slots.items()]


@every
def test_a_step_is_one_write_of_each_parameter_that_names_its_line(name: str) -> None:
    w, b = params()
    memory, view = w.data_ptr(), w.detach()[1:]
    optimizer = MAKERS[name]([w, b])
    train(optimizer, w, b, 3)
    assert (w._version, w.data_ptr(), w.grad_fn) == (3, memory, None)
    assert view.tolist() == w.tolist()[1:]
    assert w.requires_grad
    assert w.is_leaf
    written = w.writes()[-1]
    assert written.operator == "copy_"
    # The line of this file that called `step`, not one of the optimiser's.
    assert written.filename == __file__


@every
def test_what_was_saved_before_a_step_is_refused_afterwards(name: str) -> None:
    w, b = params()
    optimizer = MAKERS[name]([w, b])
    stale = (w * w).sum()
    train(optimizer, w, b, 1)
    with pytest.raises(vt.errors.StaleSavedError):
        stale.backward()


@every
def test_a_loaded_state_goes_on_as_the_first_one(name: str) -> None:
    w, b = params()
    optimizer = MAKERS[name]([w, b])
    train(optimizer, w, b, 4)
    saved = copy.deepcopy(optimizer.state_dict())
    at = [w.tolist(), b.tolist()]
    train(optimizer, w, b, 4)

    v, c = params()
    with vt.no_grad():
        v.copy_(vt.tensor(at[0], dtype=vt.float64))
        c.copy_(vt.tensor(at[1]))
    other = MAKERS[name]([v, c])
    other.load_state_dict(pickle.loads(pickle.dumps(saved)))
    train(other, v, c, 4)
    assert (v.tolist(), c.tolist()) == (w.tolist(), b.tolist())
    assert state_of(other) == state_of(optimizer)
    # The first again: the loaded state is a copy, and is written into the same memory.
    kept = [x.data_ptr() for slots in optimizer.state.values() for x in slots.values()]
    optimizer.load_state_dict(saved)
    assert [x.data_ptr() for s in optimizer.state.values() for x in s.values()] == kept
    assert state_of(optimizer) == [
        [key, x.tolist()] for s in saved["state"].values() for key, x in s.items()  # type: ignore[attr-defined]  # the dict of a state
    ]  # fmt: skip


@every
def test_a_state_that_does_not_fit_changes_nothing(name: str) -> None:
    w, b = params()
    optimizer = MAKERS[name]([w, b])
    train(optimizer, w, b, 2)
    before = state_of(optimizer), repr(optimizer)
    wrong = copy.deepcopy(optimizer.state_dict())
    slots = wrong["state"][0]  # type: ignore[index]  # the dict of a state
    key = next(key for key in slots if key != "step")
    slots[key] = vt.zeros(7)
    wrong["param_groups"][0]["lr"] = 7.0  # type: ignore[index]  # the list of groups
    with pytest.raises(ValueError, match="has the shape"):
        optimizer.load_state_dict(wrong)
    assert (state_of(optimizer), repr(optimizer)) == before


@every
def test_an_optimiser_is_copied_and_pickled_with_its_parameters(name: str) -> None:
    w, b = params()
    optimizer = MAKERS[name]([w, b])
    train(optimizer, w, b, 2)
    for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        assert state_of(twin) == state_of(optimizer)
        v, c = twin.param_groups[0].params
        assert v is not w
        assert v.tolist() == w.tolist()
        train(twin, v, c, 1)
        assert len(state_of(twin)) == len(state_of(optimizer))


def _run(name: str, record: bool) -> tuple[list[object], int]:
    """What 24 steps lead to, recorded or not, and how many recordings there were."""
    w, b = params()
    optimizer = MAKERS[name]([w, b])

    def step(x: vt.Tensor) -> vt.Tensor:
        optimizer.zero_grad()
        loss = ((w * x - 1) ** 2).sum() + (b + w[0]) ** 2
        loss.backward()
        optim.clip_grad_norm_([w, b], 1.5)
        optim.clip_grad_value_([b], 0.5)
        optimizer.step()
        return loss.detach()

    replayed = vt.jit.replay(step)
    run = replayed if record else step
    schedule = optim.linear_warmup(4, 0.1, optim.cosine_schedule(20))
    seen = []
    saved: dict[str, object] = {}
    for number in range(24):
        optimizer.param_groups[0]["lr"] = 0.05 * schedule(number)
        if number == 8:
            optimizer.param_groups[0]["weight_decay"] = 0.01
            saved = copy.deepcopy(optimizer.state_dict())
        if number == 15:
            optimizer.load_state_dict(saved)
        seen.append(run(vt.tensor([1.0, 0.5, 0.25 * number], dtype=vt.float64)).item())
    assert not record or replayed.traces
    return [seen, w.tolist(), b.tolist(), state_of(optimizer)], replayed.recordings


@every
def test_recorded_steps_are_the_same_with_new_rates_options_and_state(name: str) -> None:
    wanted, _ = _run(name, False)
    found, recordings = _run(name, True)
    assert found == wanted
    # Once without gradients, once with, once for the weight decay, once for the loading.
    assert 1 <= recordings <= 5


def test_a_rate_in_a_tensor_is_read_in_each_step() -> None:
    w = vt.zeros(1, requires_grad=True)
    rate = vt.tensor(1.0)
    optimizer = optim.SGD([w], lr=rate)
    for expected in (-1.0, -1.5):
        optimizer.zero_grad()
        w.sum().backward()
        optimizer.step()
        assert w.tolist() == [expected]
        rate.mul_(0.5)
    optimizer.param_groups[0]["lr"] = 2.0
    optimizer.step()
    assert w.tolist() == [-3.5]
    assert rate.item() == 0.25


def test_groups_are_dicts() -> None:
    w = vt.ones(2, requires_grad=True)
    group = optim.SGD([w], lr=0.5).param_groups[0]
    group.update(lr=0.25, momentum=0.5)
    assert group["lr"] == 0.25
    assert group.get("absent") is None
    assert "momentum" in group
    assert group["params"] == (w,)
    assert len(dict(group)) == len(group) == 10
    with pytest.raises(vt.errors.ArgumentTypeError):
        group["lr"] = "fast"
    with pytest.raises(vt.errors.ArgumentValueError):
        del group["lr"]
    assert group["lr"] == 0.25


def test_state_is_shown_after_the_first_step_and_cannot_be_replaced() -> None:
    w, b = params()
    optimizer = optim.Adam([w, b])
    assert len(optimizer.state) == 0
    w.grad = vt.ones_like(w)
    optimizer.step()
    assert list(optimizer.state) == [w]
    assert set(optimizer.state[w]) == {"step", "exp_avg", "exp_avg_sq"}
    assert optimizer.state[w]["step"].item() == 1
    with pytest.raises(TypeError):
        optimizer.state[w]["step"] = vt.tensor(3)  # type: ignore[index]  # it is read only


def test_a_state_without_an_option_gets_the_default() -> None:
    w, b = params()
    optimizer = optim.Adam([w, b])
    older = copy.deepcopy(optimizer.state_dict())
    del older["param_groups"][0]["maximize"]  # type: ignore[index]  # the list of groups
    optimizer.load_state_dict(older)
    train(optimizer, w, b, 1)
    assert optimizer.param_groups[0]["maximize"] is False


def test_parameters_with_names() -> None:
    w, b = params()
    optimizer = optim.SGD([("w", w), ("b", b)])
    groups = optimizer.state_dict()["param_groups"]
    assert groups[0]["param_names"] == ["w", "b"]  # type: ignore[index]  # the list of groups
    with pytest.raises(ValueError, match="names"):
        optimizer.add_param_group({"params": [vt.ones(1, requires_grad=True)]})


def test_hooks_see_the_arguments_and_may_replace_them() -> None:
    w = vt.ones(1, requires_grad=True)
    optimizer = optim.SGD([w], lr=1.0)
    seen: list[object] = []

    def other() -> float:
        w.grad = vt.ones(1)
        return 7.0

    def before(
        which: optim.Optimizer, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        seen.append((which, args))
        return (other,), {}

    handle = optimizer.register_step_pre_hook(before)
    optimizer.register_step_post_hook(lambda which, args, kwargs: seen.append(w.item()))
    assert optimizer.step() == 7.0
    assert seen == [(optimizer, ()), 0.0]
    handle.remove()
    optimizer.step()
    assert seen[2:] == [-1.0]


def test_zeros_stay_where_they_are() -> None:
    w = vt.ones(2, requires_grad=True)
    optimizer = optim.SGD([w])
    with pytest.warns(UserWarning, match="cycle"):
        (w * w).sum().backward(create_graph=True)
    kept = w.grad
    assert kept is not None
    assert kept.grad_fn is not None
    optimizer.zero_grad(set_to_none=False)
    assert w.grad is kept
    assert kept.tolist() == [0.0, 0.0]
    assert not kept.requires_grad
    optimizer.zero_grad()
    assert w.grad is None


@pytest.mark.parametrize("option", ["foreach", "fused", "capturable", "differentiable"])
def test_other_ways_of_pytorch_are_refused_by_name(option: str) -> None:
    w = vt.ones(2, requires_grad=True)
    options: dict[str, bool] = {option: True}
    with pytest.raises(NotImplementedError, match=option):
        optim.Adam([w], **options)  # type: ignore[arg-type]  # one option of several


def test_strided_empty_and_half_parameters() -> None:
    base = vt.zeros(6, dtype=vt.float64)
    strided = base[::2].detach().requires_grad_()
    empty = vt.empty(0, 3, requires_grad=True)
    half = vt.ones(3, dtype=vt.float16, requires_grad=True)
    for make in MAKERS.values():
        optimizer = make([strided, empty, half])
        for x in (strided, empty, half):
            x.grad = vt.ones_like(x)
        optimizer.step()
    assert base[1::2].tolist() == [0.0, 0.0, 0.0]
    assert (base[::2] < 0).all()
    assert half.dtype is vt.float16
    assert (half < 1).all()


def test_nan_and_inf_stay_where_they_are() -> None:
    w = vt.zeros(3, requires_grad=True)
    w.grad = vt.tensor([float("nan"), float("inf"), 1.0])
    for make in MAKERS.values():
        make([w]).step()
    assert np.isnan(w.detach().numpy()[0])
    assert np.isfinite(w.detach().numpy()[2])


def test_lbfgs_cannot_be_recorded() -> None:
    w = vt.ones(2, requires_grad=True)
    optimizer = optim.LBFGS([w])

    def step() -> None:
        optimizer.step(lambda: 0.0)

    with pytest.raises(vt.errors.RecordingError, match="record the closure"):
        vt.jit.trace(step)
    with pytest.raises(TypeError, match="closure"):
        optimizer.step()


def test_lbfgs_continues_from_its_own_state() -> None:
    def run(parts: list[int]) -> list[float]:
        x = vt.tensor([-1.5, 2.0], dtype=vt.float64, requires_grad=True)
        state: dict[str, object] = {}
        for steps in parts:
            optimizer = optim.LBFGS([x], max_iter=3, line_search_fn="strong_wolfe")
            if state:
                optimizer.load_state_dict(state)

            def closure() -> vt.Tensor:
                x.grad = None
                loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
                loss.backward()
                return loss

            for _ in range(steps):
                optimizer.step(closure)
            state = pickle.loads(pickle.dumps(optimizer.state_dict()))
        return [float(v) for v in x.tolist()]

    assert run([4]) == run([2, 2]) == run([1, 2, 1])
    np.testing.assert_allclose(run([30]), [1.0, 1.0], atol=1e-5)


def _two_optimisers(record: bool) -> list[object]:
    """24 steps with a closure, two optimisers of one parameter, and one that comes and goes."""
    w = vt.ones(2, dtype=vt.float64, requires_grad=True)
    v = vt.ones(2, dtype=vt.float64, requires_grad=True)
    u = vt.ones(2, dtype=vt.float64, requires_grad=True)
    first, second = optim.Adam([w, v], lr=0.1), optim.SGD([w], lr=0.01, momentum=0.5)

    def step(x: vt.Tensor, both: bool) -> vt.Tensor:
        def closure() -> vt.Tensor:
            first.zero_grad()
            loss = ((w * x - u) ** 2).sum()
            if both:
                loss = loss + (v * v).sum()
            loss.backward()
            return loss

        loss = first.step(closure)
        second.step()
        assert isinstance(loss, vt.Tensor)
        return loss.detach()

    replayed = vt.jit.replay(step)
    run = replayed if record else step
    seen = []
    for number in range(24):
        if number == 10:
            first.add_param_group({"params": [u], "lr": 0.2})
        if number in (15, 20):
            v.requires_grad_(number == 20)
        x = vt.tensor([1.0, 2.0 + number % 3], dtype=vt.float64)
        seen.append(run(x, number % 6 > 2).item())
    assert not record or replayed.traces
    # Not versions: a recording may leave higher ones, see docs/make-it-fast.md.
    return [seen, [p.tolist() for p in (w, v, u)], state_of(first), state_of(second)]


def test_a_recorded_step_follows_new_groups_and_parameters_without_gradients() -> None:
    assert _two_optimisers(True) == _two_optimisers(False)


def test_groups_and_their_parameters_grow_in_one_way() -> None:
    w, b = params()
    optimizer = optim.SGD([w])
    assert isinstance(optimizer.param_groups, tuple)
    assert optimizer.param_groups[0]["params"] == (w,)
    optimizer.param_groups[0]["params"] = [w, b]
    assert optimizer.param_groups[0].params == (w, b)
    with pytest.raises(TypeError, match="tensors"):
        optimizer.param_groups[0]["params"] = 3


@every
def test_memory_that_overlaps_itself_is_refused_and_its_state_stays(name: str) -> None:
    wide = vt.ones(3, 1).expand(3, 4).detach().requires_grad_()
    wide.grad = vt.ones(3, 4)
    optimizer = MAKERS[name]([wide])
    with pytest.raises(vt.errors.SelfOverlapError):
        optimizer.step()
    assert optimizer.param_groups[0].slots(wide)["step"].item() == 0


@every
def test_a_step_in_inference_mode_is_a_step(name: str) -> None:
    w, _ = params()
    optimizer = MAKERS[name]([w])
    w.grad = vt.ones_like(w)
    with vt.inference_mode():
        optimizer.step()
    assert w._version == 1
    assert not w.is_inference()


@every
def test_an_optimiser_is_freed_without_the_collector(name: str) -> None:
    w, b = params()
    optimizer = MAKERS[name]([w, b])
    train(optimizer, w, b, 2)
    optimizer.register_step_post_hook(lambda which, args, kwargs: None)
    gone = weakref.ref(optimizer)
    gc.disable()
    try:
        del optimizer
        assert gone() is None
    finally:
        gc.enable()
