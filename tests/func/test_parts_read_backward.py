"""Derivatives of views with negative steps, in each mode and order: all are those of `flip`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

import vtgrad as vt
from vtgrad import func

Function = Callable[[vt.Tensor], vt.Tensor]


def _written_later(x: vt.Tensor) -> vt.Tensor:
    y = x.clone()
    part = y[::-1]
    y[0] = 5 * x[1]
    return part * 1


def _written_through(x: vt.Tensor) -> vt.Tensor:
    y = x.clone()
    part = y[::-1]
    part[0] = 5 * x[1]
    part *= x
    return y * 1


PROGRAMS: Final[dict[str, Function]] = {
    "argument": lambda x: x[::-1] * x,
    "result": lambda x: x.clone()[::-1] * x,
    "two": lambda x: x[::-1, ::-1] * x,
    "view of it": lambda x: x[::-1].t()[::-2].sum(0) * x[:, 0],
    "part": lambda x: x.clone()[:0:-1] * 2,
    "empty": lambda x: x[:, :0][::-1] * 2,
    "written later": _written_later,
    "written through": _written_through,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_modes_agree_in_all_orders(name: str) -> None:
    f = PROGRAMS[name]
    x = vt.arange(1.0, 7.0, dtype=vt.float64).reshape(3, 2)
    by_rows = func.jacrev(f)(x)
    assert func.jacfwd(f)(x).tolist() == by_rows.tolist()
    assert func.linearize(f, x)[1](x).tolist() == func.jvp(f, (x,), (x,))[1].tolist()

    def total(x: vt.Tensor) -> vt.Tensor:
        return (f(x) ** 2).sum()

    wanted = func.jacrev(func.jacrev(total))(x)
    for second in (func.hessian(total), func.jacfwd(func.jacfwd(total))):
        assert vt.allclose(second(x), wanted)
    assert vt.autograd.gradcheck(f, (x.clone().requires_grad_(),))


@pytest.mark.parametrize("name", PROGRAMS)
def test_samples_are_those_of_a_loop(name: str) -> None:
    rows = vt.arange(1.0, 13.0, dtype=vt.float64).reshape(2, 3, 2)
    for g in (PROGRAMS[name], func.jacfwd(PROGRAMS[name])):
        wanted = vt.stack([g(row) for row in rows])
        assert vt.vmap(g)(rows).tolist() == wanted.tolist()
        moved = vt.vmap(g, in_dims=2)(rows.permute(1, 2, 0))
        assert moved.tolist() == wanted.tolist()
