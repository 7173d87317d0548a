"""Where PyTorch's gradient is wrong: its number and ours, with finite differences as the judge.

Every case says what PyTorch returns, so that a PyTorch that was mended is noticed, and whether
vtgrad returns what finite differences say or refuses.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

import vtgrad

Library = Any  # torch or vtgrad: the programs below run on both
Tensor = Any
Numbers = list[complex] | list[float]


def _found(library: Library, y: Tensor, x: Tensor) -> object:
    (gradient,) = library.autograd.grad(y, x)
    return gradient.tolist()


@dataclass(frozen=True)
class Case:
    """A program, and what becomes of it.

    Attributes
    ----------
    value : callable
        The program: from a library and a leaf to one number.
    start : list
        The values of the leaf.
    wrong : list or None
        What PyTorch takes the gradient for.
    gradient : callable
        How the gradient is asked for; with ``autograd.grad`` unless it says otherwise.
    refusal : type, optional
        The error with which vtgrad refuses; without one it returns the right gradient.
    needs : str, optional
        What of ``autograd.graph`` the program is written with, if vtgrad does not have it yet.
    """

    value: Callable[[Library, Tensor], Tensor]
    start: Sequence[Any]
    wrong: object
    gradient: Callable[[Library, Tensor, Callable[..., Tensor]], object] = (
        lambda library, x, value: _found(library, value(library, x), x)
    )
    refusal: type[Exception] | None = None
    needs: str | None = None

    def leaf(self, library: Library, values: Sequence[Any] | None = None) -> Tensor:
        """The leaf, at the start or elsewhere."""
        wide = library.complex128 if isinstance(self.start[0], complex) else library.float64
        return library.tensor(list(values or self.start), dtype=wide, requires_grad=True)

    def differences(self, library: Library) -> Numbers:
        """The gradient of the value by central differences, forward only."""

        def at(values: Sequence[Any]) -> float:
            return float(self.value(library, self.leaf(library, values)).detach())

        slopes: list[Any] = []
        for operand, number in enumerate(self.start):
            step, slope = 1e-6, 0.0 + 0.0j
            for way in (1, 1j) if isinstance(number, complex) else (1,):
                ends = [list(self.start), list(self.start)]
                ends[0][operand] += step * way
                ends[1][operand] -= step * way
                slope += way * (at(ends[0]) - at(ends[1])) / (2 * step)
            slopes.append(slope if isinstance(number, complex) else slope.real)
        return slopes


# -- the programs ------------------------------------------------------------------------------


def _ramp(library: Library, *shape: int) -> Tensor:
    count = int(np.prod(shape))
    return library.arange(1.0, 1.0 + count, dtype=library.float64).reshape(shape)


def _turned_complex(library: Library, a: Tensor) -> Tensor:
    b = library.view_as_real(a.clone())
    b.transpose_(0, 1)
    b += 1
    return (b * _ramp(library, 2, 2)).sum()


def _overlapping_windows(library: Library, a: Tensor) -> Tensor:
    b = a.clone()
    b.unfold(0, 2, 1).mul_(2)
    return (b * _ramp(library, 4)).sum()


def _overwritten_duplicate(library: Library, s: Tensor) -> Tensor:
    b = _ramp(library, 3).clone()
    b[[0, 0]] = s
    return b.sum()


def _function(library: Library, forward: Callable[..., Any], backward: Callable[..., Any]) -> Any:
    made = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (library.autograd.Function,), made)


def _greedy(library: Library) -> Any:
    """Ten times its input backward, which it writes into the gradient that it is given."""
    return _function(library, lambda ctx, x: x * 10, lambda ctx, g: g.mul_(10))


def _written_gradient(library: Library, a: Tensor) -> Tensor:
    other = a.exp().log()
    return ((_greedy(library).apply(a) + other) * _ramp(library, 2)).sum()


def _caller_reuses_gradient(library: Library, x: Tensor) -> Tensor:
    return (x.view(3) * _ramp(library, 3)).sum()


def _reused(library: Library, x: Tensor, value: object) -> object:
    passed = _ramp(library, 3).clone()
    x.view(3).backward(passed)
    passed.zero_()
    return x.grad.tolist()


def _read_part(library: Library, a: Tensor) -> Tensor:
    b = a.clone()
    y = (b[0:2] * 4).sum()
    b[2] = 0.0
    return y


def _retained(library: Library, a: Tensor, value: object) -> object:
    b = a.clone()
    v = b[0:2]
    v.retain_grad()
    y = (v * 4).sum()
    b[2] = 0.0
    assert v.grad_fn is not None  # reading it is what loses the gradient
    y.backward()
    # The rest of b, and so of a, is not in the view.
    return None if v.grad is None else [*v.grad.tolist(), 0.0]


def _undeclared_write(library: Library, a: Tensor) -> Tensor:
    def forward(ctx: Any, x: Tensor) -> Tensor:
        x.mul_(3)
        return x * 1

    b = a.clone()
    _function(library, forward, lambda ctx, g: g * 3).apply(b)
    return b.sum()


def _hooked_save(library: Library, x: Tensor) -> Tensor:
    c = _ramp(library, 2).clone()
    with library.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = (x * c).sum()
    c.mul_(5)
    return y


def _negated(library: Library, a: Tensor) -> Tensor:
    b = a.clone()
    b.logical_not_()
    return b.sum()


def _variance_of_nothing(library: Library, x: Tensor) -> Tensor:
    return x.var(dim=()).sum()


def _last_copied(library: Library, x: Tensor) -> Tensor:
    return library.narrow_copy(x, 0, -1, 1).sum()


def _part_replaced(library: Library, x: Tensor) -> Tensor:
    part = library.tensor([5.0, 6.0], dtype=library.float64)
    return library.as_strided_scatter(x, part, (2,), (2,), 0).sum()


def _real_parts_multiplied(library: Library, z: Tensor) -> Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # imaginary parts are dropped on purpose
        return z.cumprod(0, dtype=library.float64).sum()


def _lengths_of_nothing(library: Library, x: Tensor) -> Tensor:
    return library.polar(x, _ramp(library, 2) - 1).real[0]


def _gradient_of_a_running_sum(library: Library, a: Tensor) -> Tensor:
    least = a.logcumsumexp(0).amin(0)
    (gradient,) = library.autograd.grad(least * least, a, create_graph=True)
    return gradient.sum()


CASES: dict[str, Case] = {
    "a complex view that is turned in place": Case(
        _turned_complex,
        [1.0 + 2.0j, 3.0 + 4.0j],
        [1.0 + 2.0j, 3.0 + 4.0j],
    ),
    "a write through overlapping windows": Case(
        _overlapping_windows,
        [1.0, 2.0, 3.0, 4.0],
        [2.0, 4.0, 6.0, 8.0],
        refusal=vtgrad.errors.SelfOverlapError,
    ),
    "a value that another overwrites": Case(_overwritten_duplicate, [1.0, 2.0], [1.0, 1.0]),
    "a backward that writes to its gradient": Case(
        _written_gradient,
        [1.0, 2.0],
        [20.0, 40.0],
    ),
    "a gradient that the caller uses again": Case(
        _caller_reuses_gradient, [1.0, 2.0, 3.0], [0.0, 0.0, 0.0], _reused
    ),
    "a retained gradient and an unrelated write": Case(
        _read_part, [1.0, 2.0, 3.0], None, _retained
    ),
    "a write in a custom forward that is not declared": Case(
        _undeclared_write,
        [1.0, 2.0],
        [1.0, 1.0],
        refusal=vtgrad.errors.UndeclaredWriteError,
    ),
    "a saved value behind hooks that is overwritten": Case(
        _hooked_save,
        [1.0, 2.0],
        [5.0, 10.0],
        refusal=vtgrad.errors.StaleSavedError,
        needs="saved_tensors_hooks",
    ),
    "a logical operator in place": Case(_negated, [1.0, 2.0, 3.0], [1.0, 1.0, 1.0]),
    "a variance over no dimension": Case(
        _variance_of_nothing, [1.0, 2.0, 3.0], [-np.inf, np.nan, np.inf]
    ),
    "a copied part whose start is negative": Case(_last_copied, [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]),
    "a part replaced that is named by its strides": Case(
        _part_replaced, [1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 1.0, 0.0]
    ),
    "a running product of real parts": Case(
        _real_parts_multiplied, [3.0 + 4.0j, 2.0 + 0.0j], [1.08 + 1.44j, 3.0 + 0.0j]
    ),
    "a second derivative where a first one is zero": Case(
        _gradient_of_a_running_sum, [3.0, -1.0, 1.0, 1.0], [6.0, 0.0, 0.0, 0.0]
    ),
    "a magnitude of zero": Case(_lengths_of_nothing, [0.0, 0.0], [0.0, 0.0]),
}

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@every_case
def test_pytorch_returns_a_wrong_number(case: Case) -> None:
    x = case.leaf(torch)
    found = case.gradient(torch, x, case.value)
    assert found == pytest.approx(case.wrong, nan_ok=True) if found else found is case.wrong
    right = case.differences(torch)
    assert found is None or not np.allclose(np.asarray(found), np.asarray(right), atol=1e-4)


@every_case
def test_vtgrad_returns_the_right_one_or_refuses(case: Case) -> None:
    if case.needs is not None and not hasattr(vtgrad.autograd.graph, case.needs):
        pytest.skip(f"vtgrad has no {case.needs} yet")
    x = case.leaf(vtgrad)
    if case.refusal is not None:
        with pytest.raises(case.refusal):
            case.gradient(vtgrad, x, case.value)
        assert x.tolist() == case.start
        assert x.grad is None
        return
    found = np.asarray(case.gradient(vtgrad, x, case.value))
    np.testing.assert_allclose(found, case.differences(torch), atol=1e-6)
    np.testing.assert_allclose(found, case.differences(vtgrad), atol=1e-6)


# -- values ------------------------------------------------------------------------------------


def _squeezed_in_place(library: Library) -> tuple[object, object]:
    base = library.tensor([[1.0, 2.0], [3.0, 4.0]])
    view = base._neg_view()[:, 1:2]
    return view.squeeze_(-1).tolist(), base.tolist()


def test_squeezing_a_negative_view_overwrites_its_base_in_pytorch() -> None:
    with pytest.warns(UserWarning, match="resized"):
        assert _squeezed_in_place(torch) == ([-2, -4], [[1, 2], [4, 4]])
    assert _squeezed_in_place(vtgrad) == ([-2, -4], [[1, 2], [3, 4]])


def test_setting_a_negative_view_to_a_storage_overwrites_its_base_in_pytorch() -> None:
    def set_to_a_storage(library: Library) -> tuple[object, object]:
        base, other = library.tensor([1.0, 2.0, 3.0]), library.tensor([7.0, 8.0])
        view = base._neg_view()
        return view.set_(other.untyped_storage()).tolist(), base.tolist()

    with pytest.warns(UserWarning, match="resized"):
        assert set_to_a_storage(torch) == ([7, 8], [-7, -8, 3])
    assert set_to_a_storage(vtgrad) == ([-7, -8], [1, 2, 3])


def test_a_negative_view_copied_into_float16_loses_its_sign_in_pytorch() -> None:
    def copied(library: Library) -> object:
        negative = library.tensor([1.0, 2.0])._neg_view()
        return library.zeros(2, dtype=library.float16).copy_(negative).tolist()

    assert copied(torch) == [1, 2]
    assert copied(vtgrad) == [-1, -2]


# -- crashes and leaks -------------------------------------------------------------------------

HOOK_ON_STALE_VIEW = """
import {library} as vt
b = vt.ones(3, requires_grad=True).clone()
v = b[0:2]
b.detach().mul_(2)
v.register_hook(lambda gradient: print(gradient.tolist()))
(v * 7).sum().backward()
"""


WRITTEN_SECOND_RESULT = """
import {library} as vt
a, b = vt.unsafe_split(vt.ones(4, requires_grad=True).clone(), 2)
b.retain_grad()
b[0] = 3.0
b.sum().backward()
print(b.grad.tolist())
"""


def _run(program: str, library: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program.format(library=library)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="a crash ends differently there")
@pytest.mark.parametrize(
    ("program", "seen"),
    [(HOOK_ON_STALE_VIEW, "[7.0, 7.0]"), (WRITTEN_SECOND_RESULT, "[1.0, 1.0]")],
    ids=["a hook on a stale view", "a retained gradient of a second result written in part"],
)
def test_pytorch_crashes_and_vtgrad_does_not(program: str, seen: str) -> None:
    assert _run(program, "torch").returncode < 0  # killed by a signal
    ours = _run(program, "vtgrad")
    assert (ours.returncode, ours.stdout.strip()) == (0, seen)


class _Mark:
    """Something that a context holds."""


def _saves_a_view_of_its_result(library: Library) -> weakref.ref[_Mark]:
    """Apply a Function that saves a view of what it returns, and forget all of it."""
    alive: list[weakref.ref[_Mark]] = []

    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.mark = _Mark()
        alive.append(weakref.ref(ctx.mark))
        y = x * 2
        ctx.save_for_backward(y.view(-1))
        return y

    x = library.ones(2, requires_grad=True)
    _function(library, forward, lambda ctx, g: g * 2).apply(x)
    return alive[0]


def test_a_saved_view_of_a_result_leaks_in_pytorch_and_not_in_vtgrad() -> None:
    kept = _saves_a_view_of_its_result(torch)
    gc.collect()
    assert kept() is not None
    freed = _saves_a_view_of_its_result(vtgrad)
    assert freed() is None
