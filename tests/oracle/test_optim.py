"""Optimisers beside PyTorch's: 100 steps of each, with each option, and their state.

What breaks it: an order of operations other than PyTorch's that is not rounding, an option that is
read at another time, a state under another name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad

torch = pytest.importorskip("torch")

Lib = Any
Loss = Callable[[Any, list[Any]], Any]

STEPS: Final = 100

OPTIONS: Final[dict[str, list[dict[str, Any]]]] = {
    "SGD": [
        {},
        {"momentum": 0.9},
        {"momentum": 0.9, "dampening": 0.5, "weight_decay": 0.01},
        {"momentum": 0.9, "nesterov": True},
        {"maximize": True, "lr": 1e-4},
    ],
    "Adam": [
        {"lr": 0.01},
        {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1},
        {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-4},
        {"lr": 0.01, "decoupled_weight_decay": True, "weight_decay": 0.1},
        {"maximize": True},
    ],
    "AdamW": [{"lr": 0.01}, {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1}],
    "RMSprop": [
        {},
        {"centered": True},
        {"momentum": 0.5, "weight_decay": 0.1},
        {"momentum": 0.5, "centered": True, "alpha": 0.9, "eps": 1e-4, "lr": 1e-3},
        {"maximize": True},
    ],
    "Adagrad": [
        {},
        {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1},
        {"initial_accumulator_value": 0.5, "eps": 1e-3},
        {"maximize": True},
    ],
    "Adadelta": [
        {},
        {"rho": 0.5, "weight_decay": 0.1, "eps": 1e-3, "lr": 0.05},
        {"maximize": True, "lr": 0.1},
    ],
}
CASES: Final = [(name, options) for name, rows in OPTIONS.items() for options in rows]


def rosenbrock(lib: Lib, params: list[Any]) -> Any:
    """The valley in five variables, and a scale of them."""
    x, scale = params
    y = x * scale
    return ((1 - y[:-1]) ** 2 + 5 * (y[1:] - y[:-1] ** 2) ** 2).sum()


def logistic(lib: Lib, params: list[Any]) -> Any:
    """A logistic regression on 20 random rows."""
    rng = np.random.default_rng(0)
    rows = lib.tensor(rng.normal(size=(20, 5))).to(params[0].dtype)
    signs = lib.tensor(np.sign(rng.normal(size=20))).to(params[0].dtype)
    weight, bias = params
    return lib.log1p(lib.exp(-signs * (rows @ weight + bias))).mean()


def fresh(lib: Lib, dtype: str) -> list[Any]:
    start = np.array([-0.5, 0.5, 0.25, 1.5, -1.0])
    return [
        lib.tensor(start, dtype=getattr(lib, dtype), requires_grad=True),
        lib.tensor(1.25, dtype=getattr(lib, dtype), requires_grad=True),
    ]


def run(lib: Lib, name: str, options: dict[str, Any], loss: Loss, dtype: str) -> tuple[Any, Any]:
    params = fresh(lib, dtype)
    optimizer = getattr(lib.optim, name)(params, **options)
    points = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss(lib, params).backward()
        optimizer.step()
        points.append(np.concatenate([p.detach().numpy().reshape(-1) for p in params]))
    return np.array(points), optimizer.state_dict()


@pytest.mark.parametrize(("name", "options"), CASES)
def test_100_steps_are_those_of_pytorch(name: str, options: dict[str, Any]) -> None:
    for loss in (rosenbrock, logistic):
        for dtype, rtol in (("float64", 1e-9), ("float32", 2e-3)):
            ours, state = run(vtgrad, name, options, loss, dtype)
            theirs, wanted = run(torch, name, options, loss, dtype)
            np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)
            groups = [dict(group) for group in state["param_groups"]]
            assert groups == wanted["param_groups"]
            assert state["state"].keys() == wanted["state"].keys()
            for number, slots in wanted["state"].items():
                assert state["state"][number].keys() == slots.keys()
                for key, value in slots.items():
                    found = state["state"][number][key].numpy()
                    np.testing.assert_allclose(found, value.numpy(), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", list(OPTIONS))
def test_complex_parameters_are_pairs_of_reals(name: str) -> None:
    def end(lib: Lib) -> Any:
        z = lib.tensor([1 + 2j, -0.5j], dtype=lib.complex128, requires_grad=True)
        optimizer = getattr(lib.optim, name)([z], lr=0.05)
        for _ in range(20):
            optimizer.zero_grad()
            ((z * z - 1).abs() ** 2).sum().backward()
            optimizer.step()
        return z.detach().numpy()

    np.testing.assert_allclose(end(vtgrad), end(torch), rtol=1e-10)


@pytest.mark.parametrize("name", list(OPTIONS))
def test_groups_a_rate_in_a_tensor_and_parameters_without_gradient(name: str) -> None:
    def end(lib: Lib) -> Any:
        a, b, c = (lib.ones(3, dtype=lib.float64) * k for k in (1, 2, 3))
        for x in (a, b, c):
            x.requires_grad_()
        rate = lib.tensor(0.02, dtype=lib.float64)
        optimizer = getattr(lib.optim, name)(
            [{"params": a, "lr": 0.1}, {"params": [b], "weight_decay": 0.5}], lr=rate
        )
        for step in range(12):
            if step == 4:
                optimizer.add_param_group({"params": [c]})
                optimizer.param_groups[0]["lr"] = 0.05
                rate.mul_(0.5)
            optimizer.zero_grad(set_to_none=step % 2 == 0)
            used = [a] if step < 3 else [a, b, c]
            sum((x**2).sum() for x in used).backward()
            optimizer.step()
        return np.array([x.detach().numpy() for x in (a, b, c)])

    np.testing.assert_allclose(end(vtgrad), end(torch), rtol=1e-12)


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
@pytest.mark.parametrize("loss", [rosenbrock, logistic])
@pytest.mark.parametrize("history", [3, 100])
def test_lbfgs_takes_the_steps_of_pytorch(
    line_search: str | None, loss: Loss, history: int
) -> None:
    def path(lib: Lib) -> tuple[Any, list[int]]:
        params = fresh(lib, "float64")
        optimizer = lib.optim.LBFGS(
            params, lr=1.0 if line_search else 0.05, line_search_fn=line_search,
            history_size=history, max_iter=4,
        )  # fmt: skip
        points: list[float] = []
        calls: list[int] = []

        def closure() -> Any:
            optimizer.zero_grad()
            value = loss(lib, params)
            value.backward()
            calls[-1] += 1
            return value

        for _ in range(12):
            calls.append(0)
            points.append(optimizer.step(closure).item())
            points += [x for p in params for x in p.detach().numpy().reshape(-1).tolist()]
        return np.array(points), calls

    (ours, calls), (theirs, wanted) = path(vtgrad), path(torch)
    assert calls == wanted
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


def test_lbfgs_loads_the_state_of_pytorch() -> None:
    def stepped(lib: Lib, params: list[Any], optimizer: Any, steps: int) -> None:
        def closure() -> Any:
            optimizer.zero_grad()
            value = rosenbrock(lib, params)
            value.backward()
            return value

        for _ in range(steps):
            optimizer.step(closure)

    theirs = fresh(torch, "float64")
    optimizer = torch.optim.LBFGS(theirs, max_iter=3, line_search_fn="strong_wolfe")
    stepped(torch, theirs, optimizer, 2)
    state = optimizer.state_dict()
    (kept,) = state["state"].values()

    def ours_of(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return vtgrad.tensor(value.numpy())
        return [ours_of(x) for x in value] if isinstance(value, list) else value

    moved = {name: ours_of(value) for name, value in kept.items() if name != "al"}
    params = [vtgrad.tensor(p.detach().numpy().copy(), requires_grad=True) for p in theirs]
    own = vtgrad.optim.LBFGS(params, max_iter=3, line_search_fn="strong_wolfe")
    own.load_state_dict({"state": {0: moved}, "param_groups": state["param_groups"]})
    stepped(torch, theirs, optimizer, 2)
    stepped(vtgrad, params, own, 2)
    for p, q in zip(params, theirs, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-8)


WRONG: Final[list[Callable[[Lib, Any], Any]]] = [
    lambda lib, w: lib.optim.SGD([]),
    lambda lib, w: lib.optim.SGD(w),
    lambda lib, w: lib.optim.SGD([w], lr=-1),
    lambda lib, w: lib.optim.SGD([w], momentum=-1),
    lambda lib, w: lib.optim.SGD([w], weight_decay=-1),
    lambda lib, w: lib.optim.SGD([w], nesterov=True),
    lambda lib, w: lib.optim.SGD([w * 2]),
    lambda lib, w: lib.optim.SGD([1]),
    lambda lib, w: lib.optim.SGD([{"params": {w}}]),
    lambda lib, w: lib.optim.SGD([{"params": [w]}, {"params": [w]}]),
    lambda lib, w: lib.optim.SGD([{"lr": 1}]),
    lambda lib, w: lib.optim.SGD([("a", w), w.detach()]),
    lambda lib, w: lib.optim.SGD([w], lr=lib.ones(2)),
    lambda lib, w: lib.optim.SGD([w], unknown=1),
    lambda lib, w: lib.optim.SGD([w]).add_param_group(3),
    lambda lib, w: lib.optim.SGD([w]).load_state_dict({"state": {}, "param_groups": []}),
    lambda lib, w: lib.optim.SGD([w]).load_state_dict(
        {"state": {}, "param_groups": [{"params": [0, 1]}]}
    ),
    lambda lib, w: lib.optim.Adam([w], betas=(1, 0.9)),
    lambda lib, w: lib.optim.Adam([w], betas=(0.9, 1.5)),
    lambda lib, w: lib.optim.Adam([w], eps=-1),
    lambda lib, w: lib.optim.Adam([w], lr=lib.ones(2)),
    lambda lib, w: lib.optim.RMSprop([w], alpha=-1),
    lambda lib, w: lib.optim.Adadelta([w], rho=2),
    lambda lib, w: lib.optim.Adagrad([w], lr_decay=-1),
    lambda lib, w: lib.optim.LBFGS([w], lr=-1),
    lambda lib, w: lib.optim.LBFGS([{"params": [w]}, {"params": [w.detach()]}]),
    lambda lib, w: lib.optim.LBFGS([w]).step(),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_pytorch_refuses_is_refused_by_the_same_class(number: int) -> None:
    call = WRONG[number]
    with pytest.raises((ValueError, TypeError, KeyError, RuntimeError)) as theirs:
        call(torch, torch.ones(2, requires_grad=True))
    with pytest.raises(theirs.type):
        call(vtgrad, vtgrad.ones(2, requires_grad=True))


@pytest.mark.parametrize("order", [2.0, 1.0, float("inf"), 0.5, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_gradients_are_clipped_as_pytorch_does(order: float, dtype: str) -> None:
    def clipped(lib: Lib) -> Any:
        kind = getattr(lib, dtype)
        params = [lib.ones(2, dtype=kind), lib.ones((), dtype=kind), lib.ones(3, dtype=kind)]
        params[0].grad = lib.tensor([3.0, -4.0], dtype=kind)
        params[1].grad = lib.tensor(2.0, dtype=kind)
        total = lib.nn.utils.clip_grad_norm_(params, 1.5, order) if lib is torch else (
            lib.optim.clip_grad_norm_(params, 1.5, order)
        )  # fmt: skip
        return [total.item(), *params[0].grad.tolist(), params[1].grad.item()]

    np.testing.assert_allclose(clipped(vtgrad), clipped(torch), rtol=1e-5)


def test_a_one_cycle_is_pytorchs() -> None:
    w = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=50)
    schedule = vtgrad.optim.one_cycle_schedule(50)
    for step in range(50):
        assert schedule(step) == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-9)
        optimizer.step()
        if step < 49:
            cycle.step()


def test_schedules_are_pytorchs() -> None:
    schedulers: Any = torch.optim.lr_scheduler
    own = vtgrad.optim
    pairs: list[tuple[Any, Any]] = [
        (lambda o: schedulers.StepLR(o, 7, 0.5), own.step_schedule(7, 0.5)),
        (lambda o: schedulers.ExponentialLR(o, 0.9), own.exponential_schedule(0.9)),
        (lambda o: schedulers.CosineAnnealingLR(o, 40), own.cosine_schedule(40)),
        (
            lambda o: schedulers.CosineAnnealingWarmRestarts(o, 5, 2),
            own.warm_restarts_schedule(5, 2),
        ),
        (lambda o: schedulers.PolynomialLR(o, 30, 2.0), own.polynomial_schedule(30, 2.0)),
        (lambda o: schedulers.LinearLR(o, 0.25, 1.0, 8), own.linear_warmup(8, 0.25)),
        (
            lambda o: schedulers.MultiStepLR(o, [5, 12], 0.1),
            own.piecewise_schedule([5, 12], [1, 0.1, 0.01]),
        ),
    ]
    for make, schedule in pairs:
        optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        scheduler: Any = make(optimizer)
        for step in range(40):
            assert schedule(step) == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-9)
            optimizer.step()
            scheduler.step()
