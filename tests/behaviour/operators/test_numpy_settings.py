"""What a user sets in NumPy for their own arrays does not reach into the library."""

from __future__ import annotations

import contextvars
from collections.abc import Callable

import numpy as np
import pytest

from tests.support import grad_list, leaf, vt

Op = Callable[[vt.Tensor], vt.Tensor]

# All of these overflow, divide by zero or are undefined at 0, forward or backward.
CORNERS: dict[str, Op] = {
    "log": lambda x: x.log(),
    "sqrt": lambda x: x.sqrt(),
    "reciprocal": lambda x: x.reciprocal(),
    "power": lambda x: x**-1,
    "quotient": lambda x: x / x,
    "overflow": lambda x: (x + 1e308) * 10,
    "cast": lambda x: (x + 1e300).to(vt.float32),
    "norm": lambda x: x.norm(),
    "written in place": lambda x: x.clone().log_(),
    "written region": lambda x: x.clone()[0:1].reciprocal_(),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mode", ["raise", "warn"])
@pytest.mark.parametrize("op", CORNERS.values(), ids=CORNERS)
def test_infinities_and_nans_pass_whatever_numpy_is_told_to_do_with_them(op: Op, mode: str) -> None:
    x = vt.zeros(2, dtype=vt.float64, requires_grad=True)
    with np.errstate(all=mode):  # type: ignore[arg-type]  # a literal for NumPy's stubs
        op(x).sum().backward()
        (gradient,) = vt.autograd.grad(op(x).sum(), x, create_graph=True)
        if gradient.requires_grad:
            gradient.sum().backward()
    assert x.grad is not None


def test_the_users_settings_are_as_they_were_afterwards() -> None:
    with np.errstate(divide="raise", over="ignore", under="warn", invalid="raise"):
        before = np.geterr()
        x = leaf(2)
        x.register_hook(lambda _: None)
        (x.log() / 0).sum().backward()
        assert np.geterr() == before


def test_a_hook_runs_with_the_users_settings() -> None:
    seen: list[object] = []
    x = leaf(2)
    x.register_hook(lambda _: seen.append(np.geterr()["divide"]))
    with np.errstate(divide="raise"):
        (x * 2).sum().backward()
    assert seen == ["raise"]
    assert grad_list(x) == [2, 2]


def test_what_a_hook_sets_in_the_callers_context_is_there_afterwards() -> None:
    variable = contextvars.ContextVar("variable", default="before")
    x = leaf(2)

    def hook(_: vt.Tensor) -> None:
        variable.set("hook")

    x.register_hook(hook)
    (x * 2).sum().backward()
    assert variable.get() == "hook"
