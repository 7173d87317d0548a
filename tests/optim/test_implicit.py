"""Solutions of equations, differentiated: Note [Derivatives of a solution].

What breaks it: a sign, a transpose, a second derivative that forgets that the solution moves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

import vtgrad as vt
from vtgrad import optim

Kind = Literal["dense", "sparse"]


def number(value: float, grad: bool = True) -> vt.Tensor:
    return vt.tensor(value, dtype=vt.float64, requires_grad=grad)


def iterate(a: vt.Tensor, s: vt.Tensor) -> vt.Tensor:
    x = vt.zeros(3, dtype=vt.float64)
    for _ in range(200):
        x = vt.cos(a * x) * s
    return x


@pytest.mark.parametrize("linear", ["dense", "sparse"])
def test_a_fixed_point_has_the_derivatives_of_its_iteration(linear: Kind) -> None:
    solve = optim.implicit(iterate, lambda x, a, s: x - vt.cos(a * x) * s, linear=linear)
    a = vt.tensor([0.3, 0.5, 0.7], dtype=vt.float64, requires_grad=True)
    s = number(0.8)
    if linear == "dense":
        assert vt.autograd.gradcheck(
            solve, (a, s), check_forward_ad=True, check_batched_grad=True,
            check_batched_forward_grad=True,
        )  # fmt: skip
        assert vt.autograd.gradgradcheck(solve, (a, s), check_fwd_over_rev=True)
    else:
        assert vt.autograd.gradcheck(solve, (a, s), check_forward_ad=True)
        assert vt.autograd.gradgradcheck(solve, (a, s))
    found = vt.func.hessian(lambda a: solve(a, s.detach()).sum())(a.detach())
    wanted = vt.func.hessian(lambda a: iterate(a, s.detach()).sum())(a.detach())
    assert vt.allclose(found, wanted, atol=1e-12)
    # The third derivative, once by each way.
    ours = number(0.8, grad=False)
    third = [
        vt.func.grad(vt.func.grad(vt.func.grad(f)))(ours)
        for f in (lambda s: solve(a.detach(), s).sum(), lambda s: iterate(a.detach(), s).sum())
    ]
    assert vt.allclose(third[0], third[1], atol=1e-9)


def test_samples_of_vmap_are_solved_one_by_one() -> None:
    def newton(a: vt.Tensor) -> vt.Tensor:
        x = a.clone()
        while (x * x - a).abs().item() > 1e-13:
            x = (x + a / x) / 2
        return x

    root = optim.implicit(newton, lambda x, a: x * x - a)
    batch = vt.tensor([1.0, 4.0, 9.0], dtype=vt.float64, requires_grad=True)
    found = vt.vmap(root)(batch)
    assert vt.allclose(found, vt.tensor([1.0, 2.0, 3.0], dtype=vt.float64))
    found.sum().backward()
    assert batch.grad is not None
    assert vt.allclose(batch.grad, 0.5 / batch.detach().sqrt())
    slopes = vt.vmap(vt.func.grad(vt.func.grad(root)))(batch.detach())
    assert vt.allclose(slopes, -0.25 * batch.detach() ** -1.5)


def test_a_bilevel_problem() -> None:
    # The outer problem chooses how much the ridge of the inner one weighs.
    rng = np.random.default_rng(0)
    rows = vt.tensor(rng.normal(size=(12, 3)))
    targets = vt.tensor(rng.normal(size=12))
    test_rows, test_targets = vt.tensor(rng.normal(size=(9, 3))), vt.tensor(rng.normal(size=9))

    def inner(p: dict[str, vt.Tensor], weight: vt.Tensor) -> vt.Tensor:
        error = rows @ p["w"] - targets
        return (error * error).sum() + weight.exp() * (p["w"] ** 2).sum()

    def train(weight: vt.Tensor) -> dict[str, vt.Tensor]:
        start = {"w": vt.zeros(3, dtype=vt.float64)}
        return optim.minimize(lambda p: inner(p, weight), start, tol=1e-12).x

    fitted = optim.implicit(train, vt.func.grad(inner))

    def outer(weight: vt.Tensor) -> vt.Tensor:
        error = test_rows @ fitted(weight)["w"] - test_targets
        return (error * error).sum()

    def closed(weight: vt.Tensor) -> vt.Tensor:
        matrix = rows.T @ rows + weight.exp() * vt.eye(3, dtype=vt.float64)
        error = test_rows @ vt.linalg.solve(matrix, rows.T @ targets) - test_targets
        return (error * error).sum()

    at = number(0.3, grad=False)
    for derivative in (vt.func.grad, vt.func.hessian):
        found, wanted = derivative(outer)(at), derivative(closed)(at)
        assert abs(found.item() - wanted.item()) < 1e-5 * max(1.0, abs(wanted.item()))
    best = optim.minimize(outer, at, record=False)
    assert best.success
    assert abs(vt.func.grad(closed)(best.x).item()) < 1e-4


def test_the_steady_state_of_an_ode() -> None:
    # Two species, a' = k1 - k2 a b and b' = k2 a b - k3 b: at rest a = k3 / k2, b = k1 / k3.
    def slope(y: tuple[vt.Tensor, vt.Tensor], k: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        a, b = y
        meet = k[1] * a * b
        return k[0] - meet, meet - k[2] * b

    def settle(k: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        a, b = number(1.0, grad=False), number(1.0, grad=False)
        for _ in range(4000):
            da, db = slope((a, b), k)
            a, b = a + 0.02 * da, b + 0.02 * db
        return a, b

    steady = optim.implicit(settle, slope, tol=1e-8)
    k = vt.tensor([1.0, 0.5, 0.8], dtype=vt.float64)
    found = vt.func.jacrev(lambda k: vt.stack(steady(k)))(k)
    wanted = vt.func.jacrev(lambda k: vt.stack([k[2] / k[1], k[0] / k[2]]))(k)
    assert vt.allclose(found, wanted, atol=1e-8)
    forward = vt.func.jacfwd(lambda k: vt.stack(steady(k)))(k)
    assert vt.allclose(forward, wanted, atol=1e-8)


def test_zero_and_partly_zero_cotangents_and_arguments_that_are_no_parameters() -> None:
    def scale(a: vt.Tensor, power: int, *, keep: str = "x") -> dict[str, vt.Tensor]:
        return {keep: a**power}

    solve = optim.implicit(scale, lambda x, a, power, keep="x": x[keep] - a**power)
    a = vt.tensor([2.0, 3.0], dtype=vt.float64, requires_grad=True)
    x = solve(a, 2, keep="y")["y"]
    (zero,) = vt.autograd.grad(x, a, vt.zeros(2, dtype=vt.float64), retain_graph=True)
    (part,) = vt.autograd.grad(x, a, vt.tensor([1.0, 0.0], dtype=vt.float64))
    assert zero is not None
    assert part is not None
    assert (zero.tolist(), part.tolist()) == ([0.0, 0.0], [4.0, 0.0])
    with vt.no_grad():
        assert not solve(a, 2)["x"].requires_grad


def test_single_precision_stays_single() -> None:
    root = optim.implicit(vt.sqrt, lambda x, a: x * x - a)
    a = vt.tensor([4.0, 9.0], requires_grad=True)
    x = root(a)
    x.sum().backward()
    assert a.grad is not None
    assert (x.dtype, a.grad.dtype) == (vt.float32, vt.float32)
    assert vt.allclose(a.grad, vt.tensor([0.25, 1 / 6]))


def test_a_replay_differentiates_on_new_values() -> None:
    solve = optim.implicit(iterate, lambda x, a, s: x - vt.cos(a * x) * s)

    @vt.jit.replay
    def slope(a: vt.Tensor, s: vt.Tensor) -> vt.Tensor:
        found = vt.func.grad(lambda a: solve(a, s).sum())(a)
        assert isinstance(found, vt.Tensor)
        return found.detach()

    for factor in (0.2, 0.3, 0.4, 0.5):
        a = vt.tensor([0.3, 0.5, 0.7], dtype=vt.float64) * factor
        s = number(0.5 + factor, grad=False)
        wanted = vt.func.grad(lambda a: iterate(a, s).sum())(a)  # noqa: B023 - called at once
        assert vt.allclose(slope(a, s), wanted)
    assert slope.recordings == 1
    assert slope.traces


def test_what_is_wrong_is_refused() -> None:
    a = number(4.0)
    outside = number(1.0)
    lost = optim.implicit(vt.sqrt, lambda x, a: x * x - a * outside)
    with pytest.raises(ValueError, match="requires grad and is no real argument"):
        lost(a)

    def captured(a: vt.Tensor) -> vt.Tensor:
        return optim.implicit(lambda: vt.sqrt(a.detach()), lambda x: x * x - a)()

    plain = a.detach()
    for transform in (
        lambda: vt.func.jvp(captured, (plain,), (plain,)),
        lambda: vt.func.grad(captured)(plain),
        lambda: vt.vmap(captured)(vt.stack([plain, plain])),
    ):
        with pytest.raises(ValueError, match="derivative would be lost"):
            transform()
    turn = optim.implicit(lambda z: z.real * 1, lambda x, z: x - z.real)
    with pytest.raises(ValueError, match="derivative would be lost"):
        turn(vt.tensor(2 + 1j, requires_grad=True))
    far = optim.implicit(lambda a: a * 1, lambda x, a: x * x - a, tol=1e-6)
    with pytest.raises(ValueError, match="tol is"):
        far(a)
    short = optim.implicit(vt.sqrt, lambda x, a: vt.stack([x, a]))
    with pytest.raises(vt.errors.ShapeError, match="2 elements"):
        short(a)
    with pytest.raises(TypeError, match="solution must be"):
        optim.implicit(lambda a: 3.0, lambda x, a: x)(a)
    flat = optim.implicit(lambda a: a * 0, lambda x, a: x * x - a * 0)
    with pytest.raises(vt.errors.LinAlgError, match="singular"):
        flat(a).backward()
    with pytest.raises(ValueError, match="linear"):
        optim.implicit(vt.sqrt, vt.sqrt, linear="cg")  # type: ignore[arg-type]  # no such solver
    with pytest.raises(TypeError, match="residual"):
        optim.implicit(vt.sqrt, 3)  # type: ignore[arg-type]  # no function


def test_a_solution_that_is_written_afterwards_is_refused_in_backward() -> None:
    root = optim.implicit(vt.sqrt, lambda x, a: x * x - a)
    a = vt.tensor([4.0], dtype=vt.float64, requires_grad=True)
    kept = root(a)
    with vt.no_grad():
        a.mul_(2)
    with pytest.raises(vt.errors.StaleSavedError):
        kept.sum().backward()


@pytest.mark.parametrize("linear", ["dense", "sparse"])
def test_half_precision(linear: Kind) -> None:
    root = optim.implicit(lambda b: b.sqrt(), lambda x, b: x * x - b, linear=linear)
    b = vt.tensor([4.0, 16.0], dtype=vt.float16, requires_grad=True)
    (found,) = vt.autograd.grad(root(b).sum(), b)
    assert (found.dtype, found.tolist()) == (vt.float16, [0.25, 0.125])


@pytest.mark.parametrize(
    ("solution", "residual"),
    [
        (lambda b: b.mul_(2), lambda x, b: x - 2 * b),
        (lambda b: b * 2, lambda x, b: x.sub_(2 * b)),
        (lambda b: b * 2, lambda x, b: b.sub_(x / 2)),
    ],
)
def test_what_is_read_is_not_written(
    solution: Callable[[vt.Tensor], vt.Tensor], residual: Callable[..., vt.Tensor]
) -> None:
    b = vt.tensor([1.0, 2.0])
    with pytest.raises(vt.errors.ReadOnlyError):
        optim.implicit(solution, residual)(b)
    assert (b.tolist(), b._version) == ([1.0, 2.0], 0)
