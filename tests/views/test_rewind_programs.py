"""Random programs under rewind, against the same programs with a clone before every save.

What breaks it: bytes that are kept too late or of the wrong place, a value that is restored to the
wrong moment.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vtgrad as vt
from vtgrad.autograd.graph import allow_mutation_on_saved_tensors, set_audit
from vtgrad.errors import StaleSavedError

ROWS, COLUMNS = 4, 3

Write = Callable[[vt.Tensor, vt.Tensor], Any]

#: Regions of the table, as functions of it.
REGIONS: list[Callable[[vt.Tensor], vt.Tensor]] = [
    lambda x: x,
    lambda x: x[1],
    lambda x: x[:, 0],
    lambda x: x[::2, 1:],
    lambda x: x.t()[1:],
    lambda x: x[1:3],
    lambda x: x.view(-1)[2::5],
    lambda x: x.diagonal(),
    lambda x: x[3, 1],
    lambda x: x.as_strided((2, 2), (5, 1), 1),
]

#: What is saved, and how: functions of a region with a derivative that needs it.
SAVES: list[Callable[[vt.Tensor], vt.Tensor]] = [
    lambda v: (v * v).sum(),
    lambda v: v.sin().sum(),
    lambda v: (v * v * v).mean(),
    lambda v: v.exp().sum(),
    lambda v: v.prod(),
    lambda v: (v / (1 + v * v)).sum(),
]

#: Writes to a region, given a factor that is differentiated too. The first entry writes in place,
#: the second says what it stores.
WRITES: list[tuple[Write, Write | None]] = [
    (lambda v, f: v.mul_(f), lambda v, f: v * f),
    (lambda v, f: v.sin_(), lambda v, f: v.sin()),
    (lambda v, f: v.tanh_(), lambda v, f: v.tanh()),
    (lambda v, f: v.add_(v.sin()), lambda v, f: v + v.sin()),
    (lambda v, f: v.fill_(0.5), lambda v, f: v * 0 + 0.5),
    (lambda v, f: v.copy_(f * 0.7), lambda v, f: v * 0 + f * 0.7),
    (lambda v, f: v.mul_(v), lambda v, f: v * v),
    (lambda v, f: v.masked_fill_(v.detach() > 0.4, 0.3), None),
    (
        lambda v, f: v.view_as(v).index_fill_(0, vt.tensor([0]), 0.25) if v.dim() else v.zero_(),
        None,
    ),
    (lambda v, f: v.__setitem__(vt.tensor([0, 0]), f) if v.dim() else v.mul_(f), None),
]

STEPS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 99), st.integers(0, 99)), min_size=2, max_size=14
)


def program(steps: list[tuple[bool, int, int]], a: vt.Tensor, rewinds: bool) -> vt.Tensor:
    """Save and write; without rewind every save is of a clone, every write of a computed value."""
    x = (a[: ROWS * COLUMNS] * 1.0).clone().view(ROWS, COLUMNS)
    f = a[ROWS * COLUMNS]
    total = f * 0.0
    with allow_mutation_on_saved_tensors() if rewinds else nullcontext():
        for is_save, what, where in steps:
            v = REGIONS[where % len(REGIONS)](x)
            if is_save:
                total = total + SAVES[what % len(SAVES)](v if rewinds else v.clone())
                continue
            writes, computes = WRITES[what % len(WRITES)]
            if rewinds or computes is None:
                writes(v, f)
            else:
                v.copy_(computes(v.clone(), f))
        return total + (x * (x if rewinds else x.clone())).sum()


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_gradients_are_those_of_the_program_with_clones(
    steps: list[tuple[bool, int, int]],
) -> None:
    start = np.linspace(0.1, 0.9, ROWS * COLUMNS + 1)
    found: list[list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]] = []
    for rewinds in (True, False):
        a = vt.tensor(start, requires_grad=True)
        with set_audit(True):
            y = program(steps, a, rewinds)
            (first,) = vt.autograd.grad(y, a, create_graph=True)
            (again,) = vt.autograd.grad(y, a, retain_graph=True)
            (second,) = vt.autograd.grad((first * first).sum(), a)
        np.testing.assert_allclose(again.numpy(), first.detach().numpy(), rtol=1e-13)
        found.append([first.detach().numpy(), second.numpy()])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_what_the_exact_rule_accepts_has_that_gradient_too(
    steps: list[tuple[bool, int, int]],
) -> None:
    start = np.linspace(0.1, 0.9, ROWS * COLUMNS + 1)
    a = vt.tensor(start, requires_grad=True)
    x = (a[: ROWS * COLUMNS] * 1.0).clone().view(ROWS, COLUMNS)
    f = a[ROWS * COLUMNS]
    total = f * 0.0
    for is_save, what, where in steps:
        v = REGIONS[where % len(REGIONS)](x)
        if is_save:
            total = total + SAVES[what % len(SAVES)](v)
        else:
            WRITES[what % len(WRITES)][0](v, f)
    total = total + (x * x).sum()
    try:
        (grad,) = vt.autograd.grad(total, a)
    except StaleSavedError:
        assert not all(is_save for is_save, _, _ in steps)
        return
    b = vt.tensor(start, requires_grad=True)
    (expected,) = vt.autograd.grad(program(steps, b, False), b)
    np.testing.assert_allclose(grad.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


def test_the_regions_are_no_copies() -> None:
    x = vt.zeros(ROWS, COLUMNS, dtype=vt.float64)
    for region in REGIONS:
        assert region(x).data_ptr() - x.data_ptr() < ROWS * COLUMNS * 8
    with pytest.raises(IndexError):
        x[ROWS]
