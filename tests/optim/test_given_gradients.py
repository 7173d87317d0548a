"""Functions that return their gradient: pairs with ``jac=True``, and sums over shards."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
from tests.distributed.conftest import tests_can_be_imported_by_workers
from tests.distributed.programs import Pair, Weights, pairs, squares, weights
from tests.support import needs_global_lock
from vtgrad import optim
from vtgrad.distributed import SumOverShards, value_and_grad

# For the workers of these tests.
__all__ = ["tests_can_be_imported_by_workers"]

so = pytest.importorskip("scipy.optimize")

pytestmark = pytest.mark.xdist_group("distributed")

CALLED_AS_IT_IS: Final = "the function returns its gradient itself, and is called as it is"
TAKE_NO_HESSIAN: Final = (
    "CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "Newton-CG", "trust-constr", "Nelder-Mead", "Powell",
    "COBYQA",
)  # fmt: skip
Total = SumOverShards[Weights, Pair]


@pytest.fixture(scope="module")
def total() -> Iterator[Total]:
    with (
        ThreadPoolExecutor(2) as executor,
        value_and_grad(squares, shards=pairs(), executor=executor) as total,
    ):
        yield total


def solution() -> Weights:
    """The solution of the normal equations, with the parameter that has no column in row 0."""
    rows, wanted = [], []
    for x, y in pairs():
        shifts = np.ones(len(y))
        shifts[0] = 0
        rows.append(np.column_stack([x.numpy(), shifts]))
        wanted.append(y.numpy())
    found = np.linalg.lstsq(np.concatenate(rows), np.concatenate(wanted))[0]
    return {"w": vt.from_numpy(found[:3]), "b": vt.from_numpy(found[3:]).reshape(())}


@needs_global_lock
@pytest.mark.parametrize("method", TAKE_NO_HESSIAN)
def test_a_sum_over_shards_is_minimised_as_it_is(total: Total, method: str) -> None:
    quick = {"Nelder-Mead": 1e-4, "Powell": 1e-8}
    fit = optim.minimize(total, weights(), method, tol=quick.get(method, 1e-10))
    assert (fit.recorded, fit.reason) == (False, CALLED_AS_IT_IS)
    at_best, _ = total(solution())
    assert fit.fun == total(fit.x)[0].item() == pytest.approx(at_best.item(), rel=1e-6)
    assert {name: x.dtype for name, x in fit.x.items()} == {"w": vt.float64, "b": vt.float64}
    assert weights()["b"].item() == 0.1


@needs_global_lock
def test_bounds_and_constraints_of_a_sum_over_shards(total: Total) -> None:
    bounded = optim.minimize(total, weights(), bounds={"b": (0.5, None)})
    assert bounded.x["b"].item() == 0.5
    tied = optim.minimize(
        total,
        weights(),
        constraints={"type": "eq", "fun": lambda p, c: p["w"][0] - c, "args": (0.25,)},
        tol=1e-12,
    )
    assert tied.x["w"][0].item() == pytest.approx(0.25)
    assert tied.reason == CALLED_AS_IT_IS


@needs_global_lock
def test_own_processes_give_the_same_search(total: Total) -> None:
    with value_and_grad(squares, shards=pairs(), workers=1) as processes:
        other = optim.minimize(processes, weights())
    fit = optim.minimize(total, weights())
    assert fit.history == other.history
    assert fit.x["w"].tolist() == other.x["w"].tolist()


@pytest.mark.parametrize("method", ["trust-ncg", "trust-krylov", "trust-exact", "dogleg"])
def test_methods_that_need_a_hessian_are_refused(total: Total, method: str) -> None:
    with pytest.raises(vt.errors.ArgumentValueError, match=f"{method} needs the Hessian"):
        optim.minimize(total, weights(), method)
    with pytest.raises(vt.errors.ArgumentValueError, match=f"{method} needs the Hessian"):
        optim.minimize(lambda x: (x.sum(), x), vt.ones(2), method, jac=True)


@needs_global_lock
def test_what_a_function_with_its_gradient_cannot_have(total: Total) -> None:
    hessians: list[Any] = ["product", "dense"]
    for hess in hessians:
        with pytest.raises(vt.errors.ArgumentValueError, match="not differentiated"):
            optim.minimize(total, weights(), "Newton-CG", hess=hess)
    with pytest.raises(vt.errors.RecordingError, match="as it is"):
        optim.minimize(total, weights(), record=True)
    for search in (optim.least_squares, optim.root):
        with pytest.raises(vt.errors.ArgumentTypeError, match="as minimize takes it"):
            search(total, weights())
    for args in ({}, {"args": (1,)}):
        with pytest.raises(vt.errors.ArgumentTypeError, match="as minimize takes it"):
            optim.minimize(total, weights(), constraints={"type": "ineq", "fun": total} | args)
    with pytest.raises(vt.errors.ArgumentTypeError, match="jac=True"):
        optim.minimize(lambda p: total(p), weights())


@needs_global_lock
def test_a_function_of_a_sum_is_not_recorded(total: Total) -> None:
    def penalised(p: Weights) -> vt.Tensor:
        return total(p)[0] + (p["w"] ** 2).sum()

    fit = optim.minimize(penalised, weights())
    assert fit.success
    assert not fit.recorded
    assert "sum over shards" in str(fit.reason)
    gradients = vt.func.grad(penalised)(fit.x)
    assert max(x.abs().max().item() for x in gradients.values()) < 1e-3


@needs_global_lock
def test_an_error_of_a_shard_ends_the_search() -> None:
    def bad(p: vt.Tensor, shard: vt.Tensor) -> vt.Tensor:
        if shard.item() == 2:
            raise ValueError("this shard is bad")
        return p * shard

    with ThreadPoolExecutor(1) as executor:
        total = value_and_grad(bad, shards=list(vt.arange(4.0)), executor=executor)
        with pytest.raises(vt.errors.ShardError, match="shard 2"):
            optim.minimize(total, vt.ones(()))


@pytest.mark.parametrize(
    ("returned", "error"),
    [
        (lambda x: x.sum(), vt.errors.ArgumentTypeError),
        (lambda x: (x, x), vt.errors.ArgumentTypeError),
        (lambda x: (1j, x), vt.errors.ArgumentTypeError),
        (lambda x: ("3", x), vt.errors.ArgumentTypeError),
        (lambda x: (x.sum(), x[:1]), vt.errors.ArgumentValueError),
        (lambda x: (x.sum(), x.numpy()), vt.errors.ArgumentValueError),
        (lambda x: (x.sum(), x.to(vt.complex64)), vt.errors.ArgumentValueError),
    ],
)
def test_pairs_that_are_none(returned: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        optim.minimize(returned, vt.ones(2), jac=True)


def test_the_value_of_a_pair_may_be_any_real_number() -> None:
    for kind in (float, np.float32, np.array, vt.tensor):
        fit = optim.minimize(
            lambda x, kind=kind: (kind(((x - 1) ** 2).sum().item()), 2 * (x - 1)),  # type: ignore[misc]
            vt.zeros(2, dtype=vt.float64),
            jac=True,
        )
        np.testing.assert_allclose(fit.x.numpy(), 1.0)
        assert (fit.recorded, fit.reason) == (False, CALLED_AS_IT_IS)


def test_searches_do_not_import_sums_over_shards() -> None:
    program = (
        "import sys; from vtgrad import optim; import vtgrad as vt;"
        "optim.minimize(lambda x: (x * x).sum(), vt.ones(2));"
        "sys.exit('vtgrad.distributed' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
