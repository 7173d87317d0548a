"""The work for a chain of partial views grows with its steps, not with their square.

Work is counted in calls of functions, Python's and NumPy's, which is the same in each run.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import FrameType

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.autograd import forward_ad

Build = Callable[[vt.Tensor], vt.Tensor]


def _rest(x: vt.Tensor) -> vt.Tensor:
    for _ in range(len(x) - 1):
        x = x[1:]
    return x.sum()


def _heads(x: vt.Tensor) -> vt.Tensor:
    total = vt.zeros(())
    for _ in range(len(x)):
        total = total + x[0]
        x = x[1:]
    return total


def _tails(x: vt.Tensor) -> vt.Tensor:
    total = vt.zeros(())
    for _ in range(len(x)):
        total = total + x[-1] * x[-1]
        x = x[:-1]
    return total


def _select_narrow_transpose(x: vt.Tensor) -> vt.Tensor:
    rows, total = x.view(-1, 2), vt.zeros(())
    for _ in range(len(rows)):
        total = total + rows.select(0, 0).sum()
        rows = rows.t().narrow(1, 1, rows.shape[0] - 1).t()
    return total


def _reshaped_between(x: vt.Tensor) -> vt.Tensor:
    total = vt.zeros(())
    for _ in range(len(x) - 1):
        total = total + x[:1].expand(3).sum()
        x = x.view(-1, 1)[1:].view(-1)
    return total


def _written_at_each_step(x: vt.Tensor) -> vt.Tensor:
    base = x * 1
    rest = base
    for _ in range(len(x)):
        rest[0] = rest[0] * 2
        rest = rest[1:]
    return base.sum()


def _base_written_at_each_step(x: vt.Tensor) -> vt.Tensor:
    base = x * 1
    rest, total = base, vt.zeros(())
    for _ in range(len(x)):
        total = total + rest[0]
        base[0] = total
        rest = rest[1:]
    return total


def _stale_views(x: vt.Tensor) -> vt.Tensor:
    base = x * 1
    rests = [base]
    for _ in range(len(x) - 1):
        rests.append(rests[-1][1:])
    base.mul_(2)
    return sum([rest[0] for rest in rests], vt.zeros(()))


def _divided(x: vt.Tensor) -> vt.Tensor:
    if len(x) == 1:
        return x[0]
    middle = len(x) // 2
    return _divided(x[:middle]) + _divided(x[middle:])


def _even_and_odd(x: vt.Tensor) -> vt.Tensor:
    def transform(part: vt.Tensor) -> vt.Tensor:
        if len(part) == 1:
            return part
        even, odd = transform(part[::2]), transform(part[1::2])
        return vt.cat([even + odd, even - odd])

    return transform(x)[1]


def _with_observers(x: vt.Tensor) -> vt.Tensor:
    total = vt.zeros(())
    for nr in range(len(x) - 1):
        total = total + x[0]
        x = x[1:]
        if not x.requires_grad:
            continue
        if nr % 4 == 0:
            x.retain_grad()
        if nr % 4 == 2:
            x.register_hook(lambda grad: None)
    return total


def _as_real(x: vt.Tensor) -> vt.Tensor:
    rest, total = vt.view_as_real(vt.complex(x, x)), vt.zeros(())
    for _ in range(len(x) - 1):
        rest = rest[1:]
        rest[0].mul_(2)
        total = total + rest[0].sum()
    return total


CHAINS: list[Build] = [
    _rest,
    _heads,
    _tails,
    _select_narrow_transpose,
    _reshaped_between,
    _written_at_each_step,
    _base_written_at_each_step,
    _stale_views,
    _divided,
    _even_and_odd,
    _with_observers,
    _as_real,
]


def _plain(build: Build, x: vt.Tensor) -> None:
    build(x.requires_grad_()).backward()


def _twice(build: Build, x: vt.Tensor) -> None:
    x.requires_grad_()
    (grad,) = vt.autograd.grad(build(x), x, create_graph=True)
    if grad.requires_grad:
        grad.sum().backward()


def _forward(build: Build, x: vt.Tensor) -> None:
    with forward_ad.dual_level():
        build(forward_ad.make_dual(x, vt.ones_like(x)))


def _rewound(build: Build, x: vt.Tensor) -> None:
    with vt.autograd.graph.allow_mutation_on_saved_tensors():
        _plain(build, x)


def _with_anomaly_mode(build: Build, x: vt.Tensor) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with vt.autograd.detect_anomaly():
            _plain(build, x)


WAYS = [_plain, _twice, _forward, _rewound, _with_anomaly_mode]


def _calls(program: Callable[[], None]) -> int:
    count = 0

    def look(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        program()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.skipif(vt.__compiled__, reason="native functions are not seen by a profiler")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("build", CHAINS)
def test_the_work_is_linear_in_the_steps(
    build: Build, way: Callable[[Build, vt.Tensor], None]
) -> None:
    way(build, vt.ones(8))
    fewer = _calls(lambda: way(build, vt.ones(32)))
    more = _calls(lambda: way(build, vt.ones(64)))
    # An exponent of 1.1 is a factor of 2.14; a fixed part makes it smaller. The tree of even and
    # odd halves has n log n.
    assert more < 2.3 * fewer


@pytest.mark.parametrize("build", CHAINS)
def test_the_gradient_is_that_of_the_recorded_pass(build: Build) -> None:
    x = vt.arange(1, 17, dtype=vt.float64, requires_grad=True)
    (fast,) = vt.autograd.grad(build(x), x)
    (recorded,) = vt.autograd.grad(build(x), x, create_graph=True)
    assert fast.tolist() == recorded.tolist()
    step = 1e-6
    found = []
    for nr in range(16):
        ahead, behind = x.detach().clone(), x.detach().clone()
        ahead[nr] += step
        behind[nr] -= step
        found.append((build(ahead).item() - build(behind).item()) / (2 * step))
    np.testing.assert_allclose(fast.numpy(), found, rtol=1e-5, atol=1e-6)


def test_a_long_chain_is_freed_and_summed_without_recursion() -> None:
    x = vt.ones(20_000, requires_grad=True)
    total = _heads(x)
    total.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0] * 20_000
