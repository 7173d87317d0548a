"""Searches by SciPy's methods: containers, derivatives, ends, and what is recorded."""

from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
from vtgrad import optim
from vtgrad.demo.data import load_nile
from vtgrad.demo.estimate import PUBLISHED_LEVEL_VARIANCE, PUBLISHED_OBSERVATION_VARIANCE
from vtgrad.demo.local_level import kalman_filter, log_likelihood

so = pytest.importorskip("scipy.optimize")

#: Those with derivatives, and whether they get second ones.
METHODS: Final = {
    "CG": False,
    "BFGS": False,
    "L-BFGS-B": False,
    "TNC": False,
    "SLSQP": False,
    "Newton-CG": True,
    "trust-ncg": True,
    "trust-krylov": True,
    "trust-constr": True,
    "trust-exact": True,
}
LINE: Final = {"type": "eq", "fun": lambda x: x[0]}
BY_VALUES: Final = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")


def valley(x: vt.Tensor) -> vt.Tensor:
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def with_jacobian() -> object:
    return so.NonlinearConstraint(lambda x: x[0], 0, 1, jac=valley)


def start() -> vt.Tensor:
    return vt.tensor([1.3, 0.7, 0.8, 1.9], dtype=vt.float64)


@pytest.mark.parametrize("method", METHODS)
def test_rosenbrock_is_minimised_as_by_scipy_with_its_own_derivatives(method: str) -> None:
    fit = optim.minimize(valley, start(), method)
    extra: dict[str, Any] = {"hess": so.rosen_hess} if METHODS[method] else {}
    wanted = so.minimize(so.rosen, start().numpy(), jac=so.rosen_der, method=method, **extra)
    np.testing.assert_allclose(fit.x.numpy(), wanted.x, atol=1e-4)
    assert fit.success
    assert abs(fit.nfev - wanted.nfev) <= 0.2 * wanted.nfev + 3
    assert (fit.recorded, fit.reason) == (True, None)
    assert len(fit.history) == fit.nit + 1
    assert fit.history[0] == pytest.approx(valley(start()).item())
    # As it is, without a recording: the same path.
    eager = optim.minimize(valley, start(), method, record=False)
    assert (eager.recorded, eager.reason) == (False, "record=False")
    assert eager.history == fit.history
    assert eager.x.tolist() == fit.x.tolist()


@pytest.mark.parametrize("method", BY_VALUES)
def test_methods_without_derivatives_get_values(method: str) -> None:
    fit = optim.minimize(
        lambda x: ((x - vt.tensor([1.0, 2.0])) ** 2).sum(), vt.zeros(2), method, tol=1e-6
    )
    np.testing.assert_allclose(fit.x.numpy(), [1.0, 2.0], atol=1e-2)
    assert fit.x.dtype is vt.float32


@pytest.mark.parametrize("hess", ["product", "dense", None])
def test_second_derivatives_as_asked_for(hess: Any) -> None:
    methods = {"product": "trust-ncg", "dense": "trust-ncg", None: "trust-constr"}
    fit = optim.minimize(valley, start(), methods[hess], hess=hess, tol=1e-6)
    np.testing.assert_allclose(fit.x.numpy(), np.ones(4), atol=1e-3)


def test_containers_come_back_as_they_were_given() -> None:
    x0 = {
        "weight": [vt.zeros(2, 3), vt.zeros(())],
        "bias": (vt.tensor([4.0], dtype=vt.float64),),
    }

    def f(p: dict[str, Any]) -> vt.Tensor:
        matrix, scale = p["weight"]
        (bias,) = p["bias"]
        assert (matrix.dtype, matrix.shape, bias.dtype) == (vt.float32, (2, 3), vt.float64)
        value: vt.Tensor = ((matrix - 1) ** 2).sum() + (scale + 2) ** 2 + ((bias - 3) ** 2).sum()
        return value

    seen: list[optim.Iterate[Any]] = []
    fit = optim.minimize(f, x0, callback=seen.append)
    matrix, scale = fit.x["weight"]
    assert vt.allclose(matrix, vt.ones(2, 3), atol=1e-4)
    assert abs(scale.item() + 2) < 1e-4
    assert list(fit.x) == ["weight", "bias"]
    assert x0["weight"][0].tolist() == [[0.0] * 3] * 2
    assert seen[-1].nit == fit.nit
    assert seen[-1].fun == fit.history[-1]
    assert set(seen[0].x) == {"weight", "bias"}


def test_bounds_in_containers() -> None:
    def f(p: dict[str, vt.Tensor]) -> vt.Tensor:
        return vt.cat([x - 5 for x in p.values()]).square().sum()

    x0 = {name: vt.zeros(2, dtype=vt.float64) for name in "abcd"}
    bounds = {
        "a": (None, 1.0),
        "b": (0, vt.tensor([1.0, 2.0])),
        "c": [(0, 3), (None, None)],
    }
    fit = optim.minimize(f, x0, bounds=bounds)
    assert fit.method == "L-BFGS-B"
    found = {name: [round(v, 4) for v in x.tolist()] for name, x in fit.x.items()}
    assert found == {"a": [1, 1], "b": [1, 2], "c": [3, 5], "d": [5, 5]}
    whole = optim.minimize(f, x0, bounds=so.Bounds(-1, 2))
    assert {tuple(x.tolist()) for x in whole.x.values()} == {(2.0, 2.0)}


@pytest.mark.parametrize("method", ["COBYLA", "COBYQA", "SLSQP", "trust-constr"])
def test_bounds_that_fix_a_parameter(method: str) -> None:
    def f(p: dict[str, vt.Tensor]) -> vt.Tensor:
        return (p["a"] - 1).square().sum() + (p["b"] - p["a"][0]).square().sum()

    seen: list[list[float]] = []
    fit = optim.minimize(
        f,
        {"a": vt.zeros(2, dtype=vt.float64), "b": vt.zeros(3, dtype=vt.float64)},
        method,
        bounds={"a": [(0.5, 0.5), (None, None)]},
        constraints={"type": "ineq", "fun": lambda p: 1.2 - p["b"].sum()},
        callback=lambda at: seen.append([*at.x["a"].tolist(), *at.x["b"].tolist()]),
    )
    np.testing.assert_allclose(seen[-1], [0.5, 1, 0.4, 0.4, 0.4], atol=1e-3)
    assert fit.fun == pytest.approx(0.28, abs=1e-4)


@pytest.mark.parametrize(
    "bounds",
    [
        {"b": (0, 1)},
        {"a": 3},
        {"a": ([0, 0], [1, 1])},
        {"a": [[0, 0], [1, 1]]},
        {"a": (2, 1)},
        {"a": (0, float("nan"))},
        {"a": (0, vt.zeros(3))},
        [(0, 1)],
    ],
)
def test_bounds_that_do_not_fit(bounds: object) -> None:
    with pytest.raises(ValueError, match="bound"):
        optim.minimize(lambda p: p["a"].sum(), {"a": vt.zeros(2)}, bounds=bounds)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr", "COBYLA"])
def test_constraints_of_containers(method: str) -> None:
    # The point of a disk that is nearest to (2, 1), with x = y: (1, 1) / sqrt 2.
    def f(p: dict[str, vt.Tensor]) -> vt.Tensor:
        return (p["x"] - 2) ** 2 + (p["y"] - 1) ** 2

    x0 = {name: vt.tensor(0.1, dtype=vt.float64) for name in "xy"}
    disk = {"type": "ineq", "fun": lambda p: 1 - p["x"] ** 2 - p["y"] ** 2}
    line = {"type": "eq", "fun": lambda p: p["x"] - p["y"]}
    fit = optim.minimize(f, x0, method, constraints=[disk, line])
    assert abs(fit.x["x"].item() - 0.5**0.5) < 1e-3
    assert abs(fit.x["y"].item() - 0.5**0.5) < 1e-3
    assert fit.recorded
    kept = so.NonlinearConstraint(lambda p: vt.stack([p["x"], p["y"]]), -1, [0.25, 1])
    sum_of_both = so.LinearConstraint([[1.0, 1.0]], -1, 1)
    boxed = optim.minimize(f, x0, method, constraints=[kept, sum_of_both])
    assert abs(boxed.x["x"].item() - 0.25) < 1e-3
    assert abs(boxed.x["y"].item() - 0.75) < 1e-3


def test_a_large_constraint_has_a_sparse_jacobian(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("vtgrad.optim.constraints")
    shapes = []
    made = module.sparse_jacobian

    def noted(*args: Any, **options: Any) -> Any:
        found = made(*args, **options)
        shapes.append((found.shape, found.nnz))
        return found

    monkeypatch.setattr(module, "sparse_jacobian", noted)
    n = 60

    def steps(x: vt.Tensor) -> vt.Tensor:
        return x[1:] - 0.9 * x[:-1] - 0.1 * x[:-1] ** 2

    fit = optim.minimize(
        lambda x: ((x - 0.5) ** 2).sum(),
        vt.zeros(n, dtype=vt.float64),
        "trust-constr",
        constraints=so.NonlinearConstraint(steps, 0, 0),
    )
    assert set(shapes) == {((n - 1, n), 2 * (n - 1))}
    assert steps(fit.x).abs().max().item() < 1e-6
    assert fit.success


def test_logistic_regression_as_by_scipys_differences() -> None:
    rng = np.random.default_rng(1)
    rows, signs = rng.normal(size=(200, 4)), np.sign(rng.normal(size=200))

    def loss(x: vt.Tensor) -> vt.Tensor:
        return vt.log1p(vt.exp(-labels * (features @ x))).mean()

    features, labels = vt.tensor(rows), vt.tensor(signs)
    wanted = so.minimize(lambda x: np.log1p(np.exp(-signs * (rows @ x))).mean(), np.zeros(4))
    for method in ("BFGS", "Newton-CG", "trust-krylov"):
        fit = optim.minimize(loss, vt.zeros(4, dtype=vt.float64), method)
        np.testing.assert_allclose(fit.x.numpy(), wanted.x, atol=1e-4)
    x = vt.zeros(4, dtype=vt.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], max_iter=50, line_search_fn="strong_wolfe")

    def closure() -> vt.Tensor:
        optimizer.zero_grad()
        value = loss(x)
        value.backward()
        return value

    optimizer.step(closure)
    np.testing.assert_allclose(x.detach().numpy(), wanted.x, atol=1e-4)


def test_the_nile_is_fitted_as_published() -> None:
    flows = load_nile().flows

    def negative(logs: dict[str, vt.Tensor]) -> vt.Tensor:
        pair = vt.stack([logs["observation"], logs["level"]])
        return -log_likelihood(kalman_filter(pair, flows))

    x0 = {name: vt.tensor(8.0, dtype=vt.float64) for name in ("observation", "level")}
    fit = optim.minimize(negative, x0)
    assert fit.recorded
    assert fit.x["observation"].exp().item() == pytest.approx(
        PUBLISHED_OBSERVATION_VARIANCE, rel=5e-3
    )
    assert fit.x["level"].exp().item() == pytest.approx(PUBLISHED_LEVEL_VARIANCE, rel=5e-3)


def test_least_squares_and_roots_as_by_scipy() -> None:
    t = np.linspace(0, 2, 30)
    y = 2.5 * np.exp(-1.3 * t) + 0.01 * np.sin(40 * t)

    def residual(p: dict[str, vt.Tensor]) -> vt.Tensor:
        return p["a"] * vt.exp(-p["k"] * times) - measured

    times, measured = vt.tensor(t), vt.tensor(y)
    x0 = {name: vt.tensor(1.0, dtype=vt.float64) for name in "ak"}
    methods: list[Any] = ["trf", "dogbox", "lm"]
    for method in methods:
        for loss in ("linear",) if method == "lm" else ("linear", "huber", "cauchy"):
            wanted = so.least_squares(
                lambda p: p[0] * np.exp(-p[1] * t) - y, np.ones(2), method=method, loss=loss
            )
            fit = optim.least_squares(residual, x0, method, loss=loss)
            np.testing.assert_allclose([fit.x["a"].item(), fit.x["k"].item()], wanted.x, atol=1e-5)
            assert fit.fun == pytest.approx(wanted.cost)
            assert fit.history[0] >= fit.history[-1] == pytest.approx(wanted.cost, rel=1e-3)
            assert fit.success
            assert fit.recorded
    cauchy = optim.least_squares(residual, x0, loss="cauchy")
    as_function = optim.least_squares(
        residual, x0, loss=lambda z: np.stack([np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2])
    )
    assert as_function.history == pytest.approx(cauchy.history, rel=1e-12)
    bounded = optim.least_squares(residual, x0, bounds={"k": (0, 1)})
    assert bounded.x["k"].item() == pytest.approx(1.0, abs=1e-4)
    for method in ("hybr", "LM"):
        fit_of = optim.root(
            lambda x: (x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1, 0.5 * (x[1] - x[0]) ** 3 + x[1]),
            vt.zeros(2, dtype=vt.float64),
            method,
        )
        np.testing.assert_allclose(fit_of.x.numpy(), [0.8411639, 0.1588361], atol=1e-4)
        assert fit_of.fun < 1e-4
    for method in ("krylov", "broyden1"):
        cosine = optim.root(lambda x: vt.cos(x) - 2 * x, vt.zeros(3, dtype=vt.float64), method)
        assert cosine.success
        assert cosine.nit > 1
        np.testing.assert_allclose(cosine.x.numpy(), 0.4501836, atol=1e-4)


def test_a_banded_least_squares_takes_sparse_jacobians() -> None:
    n = 110

    def residual(u: vt.Tensor) -> vt.Tensor:
        r = 2 * u + u**3 - 1
        r[1:] -= u[:-1]
        r[:-1] -= u[1:]
        return r

    fit = optim.least_squares(residual, vt.zeros(n, dtype=vt.float64))
    assert type(fit.raw.jac).__name__ != "ndarray"  # type: ignore[attr-defined]  # SciPy's result
    assert residual(fit.x).abs().max().item() < 1e-4
    small = optim.least_squares(residual, vt.zeros(5, dtype=vt.float64))
    assert type(small.raw.jac).__name__ == "ndarray"  # type: ignore[attr-defined]  # SciPy's result
    asked = optim.least_squares(residual, vt.zeros(5, dtype=vt.float64), jac="sparse")
    assert vt.allclose(small.x, asked.x, atol=1e-6)


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "trust-constr", "SLSQP", "Nelder-Mead"])
def test_a_callback_ends_the_search(method: str) -> None:
    for answer in (True, StopIteration):

        def callback(at: optim.Iterate[vt.Tensor], answer: object = answer) -> object:
            if at.nit < 3:
                return None
            if answer is StopIteration:
                raise StopIteration
            return answer

        fit = optim.minimize(valley, start(), method, callback=callback)
        assert (fit.status, fit.nit, fit.success) == ("stopped", 3, False)
        assert valley(fit.x).item() == pytest.approx(fit.fun)
        assert fit.fun <= min(fit.history)


def test_ctrl_c_gives_the_best_point_so_far() -> None:
    calls = 0

    def f(x: vt.Tensor) -> vt.Tensor:
        nonlocal calls
        calls += 1
        if calls == 12:
            signal.raise_signal(signal.SIGINT)
        return valley(x)

    fit = optim.minimize(f, start(), "BFGS", record=False)
    assert (fit.status, fit.message) == ("interrupted", "Ctrl-C ended the search")
    assert fit.fun == valley(fit.x).item() < fit.history[0]
    assert fit.raw is None
    calls = 11
    with pytest.raises(KeyboardInterrupt):
        optim.minimize(f, start(), "BFGS", record=False)
    calls = 0
    seen = optim.root(lambda x: f(x) * vt.ones(4, dtype=vt.float64), start(), record=False)
    assert seen.status == "interrupted"


def test_what_cannot_be_recorded_runs_as_it_is_and_the_reason_is_told() -> None:
    def by_values(x: vt.Tensor) -> vt.Tensor:
        y = x
        for _ in range(1 + int(10 * abs(x[0].item())) % 7):
            y = y * 0.9
        return ((y - 1) ** 2).sum()

    def random(x: vt.Tensor) -> vt.Tensor:
        return ((x - 1) ** 2).sum() + 1e-3 * float(np.random.default_rng().random())

    def printed(x: vt.Tensor) -> vt.Tensor:
        return ((x - float(str(x[0].item()))) ** 2).sum()

    for f in (by_values, random):
        fit = optim.minimize(f, vt.zeros(2, dtype=vt.float64), "Nelder-Mead")
        assert not fit.recorded
        assert fit.reason
    with pytest.raises(vt.errors.RecordingError):
        optim.minimize(random, vt.zeros(2, dtype=vt.float64), "Nelder-Mead", record=True)


def test_a_function_with_its_own_gradient_is_called_as_it_is() -> None:
    def f(p: tuple[vt.Tensor]) -> tuple[float, tuple[vt.Tensor]]:
        (x,) = p
        assert not x.requires_grad
        return ((x - 1) ** 2).sum().item(), (2 * (x - 1),)

    fit = optim.minimize(f, (vt.zeros(3, dtype=vt.float64),), jac=True)
    assert vt.allclose(fit.x[0], vt.ones(3, dtype=vt.float64))
    with pytest.raises(TypeError, match="a pair"):
        optim.minimize(lambda x: x.sum(), vt.zeros(3), jac=True)
    with pytest.raises(ValueError, match="containers of x0"):
        optim.minimize(lambda x: (x.sum(), [x]), vt.zeros(3), jac=True)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: optim.minimize(lambda x: vt.ones(()), 1.0), TypeError),
        (lambda: optim.minimize(lambda x: x.sum(), vt.zeros(2, dtype=vt.int64)), TypeError),
        (lambda: optim.minimize(lambda x: x.sum(), vt.zeros(0)), ValueError),
        (lambda: optim.minimize(lambda x: x, vt.zeros(2)), TypeError),
        (lambda: optim.minimize(lambda x: 1.0, vt.zeros(2)), TypeError),
        (lambda: optim.minimize(lambda x: x.sum(), vt.zeros(2), "newton"), ValueError),
        (lambda: optim.minimize(valley, vt.zeros(2), record="yes"), ValueError),  # type: ignore[arg-type]  # no such word
        (lambda: optim.minimize(valley, vt.zeros(2), hess="yes"), ValueError),  # type: ignore[arg-type]  # no such word
        (lambda: optim.minimize(valley, vt.zeros(2), constraints=3), TypeError),
        (lambda: optim.minimize(valley, vt.zeros(2), constraints={"fun": valley}), ValueError),
        (lambda: optim.minimize(valley, vt.zeros(2), jac=valley), ValueError),  # type: ignore[arg-type]  # a flag here
        (lambda: optim.minimize(valley, vt.zeros(2), "BFGS", bounds=(0, 1)), ValueError),
        (lambda: optim.minimize(valley, vt.zeros(2), "TNC", constraints=LINE), ValueError),
        (lambda: optim.minimize(valley, vt.zeros(2), "BFGS", hess="dense"), ValueError),
        (lambda: optim.minimize(valley, vt.zeros(2), "trust-exact", hess="product"), ValueError),
        (lambda: optim.minimize(valley, vt.zeros(2), constraints=LINE | {"jac": 1}), ValueError),
        (lambda: optim.minimize(valley, vt.zeros(2), constraints=with_jacobian()), ValueError),
        (lambda: optim.least_squares(valley, vt.zeros(2), "gn"), ValueError),  # type: ignore[arg-type]  # no such method
        (lambda: optim.root(valley, vt.zeros(2), "gn"), ValueError),
    ],
)  # fmt: skip
def test_arguments_that_cannot_be_followed(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_a_search_cannot_be_recorded() -> None:
    with pytest.raises(vt.errors.RecordingError):
        vt.jit.trace(lambda x: optim.minimize(valley, x).x, start())


def test_a_bar_counts_the_iterations(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    fit = optim.minimize(valley, start(), progress=True)
    shown = capsys.readouterr().err
    assert f"{fit.nit}it" in shown
    assert "BFGS" in shown


def test_packages_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: dict[str, Callable[[], object]] = {
        "scipy": lambda: optim.minimize(valley, start()),
        "tqdm": lambda: optim.minimize(valley, start(), progress=True),
    }
    for package, call in calls.items():
        with monkeypatch.context() as patch:
            for name in [n for n in sys.modules if n.split(".")[0] == package]:
                patch.setitem(sys.modules, name, None)
            patch.setitem(sys.modules, package, None)
            with pytest.raises(vt.errors.MissingPackageError, match=package):
                call()


def test_the_history_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    fit = optim.minimize(valley, start())
    picture = tmp_path / "fit.png"
    figure: Any = fit.plot(picture)
    (axes,) = figure.axes
    assert np.asarray(axes.get_lines()[0].get_ydata()).tolist() == list(fit.history)
    assert axes.get_yscale() == "log"
    assert picture.stat().st_size > 5000
