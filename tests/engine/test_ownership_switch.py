"""With ownership switched off every gradient is the same, bit for bit.

Off, the engine overwrites copies; so a difference means that it overwrote an array that was
still to be read. Programs of the kind the ownership rule is for, and random ones.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

import vtgrad as vt
from vtgrad.engine.input_buffer import use_ownership
from vtgrad.graph.large import LARGE, large
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.machine import PROFILES, ViewsAndWrites
from vtgrad.testing.statistics import Statistics
from vtgrad.testing.steps import Step

N = 9

Program = Callable[[vt.Tensor, vt.Tensor], vt.Tensor]


@pytest.fixture(autouse=True)
def _usual_settings() -> Iterator[None]:
    yield
    large.elements = LARGE
    use_ownership(True)


def rows_with_reads(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    buffer = vt.zeros(N, N, dtype=vt.float64)
    buffer[0] = x[0]
    for i in range(1, N):
        buffer[i] = (buffer[i - 1].clone() * w[i] + x[i]).sin()
        if i % 3 == 0:
            buffer[i - 2 : i].mul_(0.5)
    return buffer


def nested_views(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    buffer = (x * w).t()
    block = buffer[1:-1][:, 1:-1]
    for i in range(N - 2):
        block[i].mul_(w[i, 1:-1])
        block.t()[i].add_(x[1:-1, i].exp())
    return buffer.tanh() + block.sum()


def columns(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    buffer = x.clone()
    for i in range(N):
        buffer[:, i] = buffer[:, i - 1].clone() * w[:, i] + buffer[i]
    return buffer


def elimination(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    a = x.clone() + 4 * vt.eye(N, dtype=vt.float64)
    b = w[0].clone()
    for i in range(N - 1):
        factor = a[i + 1 :, i].clone() / a[i, i].clone()
        a[i + 1 :] -= factor.unsqueeze(1) * a[i].clone()
        b[i + 1 :] -= factor * b[i].clone()
    for i in reversed(range(N)):
        b[i] = (b[i] - (a[i, i + 1 :] * b[i + 1 :].clone()).sum()) / a[i, i]
    return b * w[1]


def stencil(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    heat = x.clone()
    for _ in range(4):
        flow = heat[:-2, 1:-1] + heat[2:, 1:-1] + heat[1:-1, :-2] + heat[1:-1, 2:]
        heat[1:-1, 1:-1] += w[1:-1, 1:-1] * (flow - 4 * heat[1:-1, 1:-1])
    return heat


def elementwise(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    y = x
    for _ in range(3):
        y = (y * w + w.t()).tanh()
        y = vt.maximum(y, x) ** 2 / (1 + y.exp()) - y.clamp(-0.5, 0.5).cos()
    return y + y.sum(0) + y.mean(1, keepdim=True)


def layers(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    hidden = (x @ w + w[0]).relu()
    return (hidden @ w.t() + x[1]).softmax(1).log()


def squares(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    y = x * x - x
    z = (y * y).sin() * w
    return z * z + vt.stack([v.dot(v) for m in (z, z * w) for v in m.t()]).sum() * (w * w)


def sums_meet(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    # Both gradients that reach `y` first are one value each, expanded: neither may be added into.
    y = x * w
    return y.sin() * w + (-y).sum() - (y * 2).mean()


def written_with_numbers(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    y = x * 0.5
    y += 1.0
    y[: N // 2] *= 2.0
    y[N // 2 :] += 0.25
    y[:, 1] /= w[0, 0].item()
    y[2:5].neg_().mul_(w[2:5].detach())
    y[1:3].mul_(w[1:3])
    y.view(-1)[:N].sub_(1).exp_()
    return vt.exp(-y) + y[:4].sum()


PROGRAMS: dict[str, Program] = {
    f.__name__: f
    for f in (
        rows_with_reads,
        nested_views,
        columns,
        elimination,
        stencil,
        elementwise,
        layers,
        squares,
        sums_meet,
        written_with_numbers,
    )
}


def gradients(program: Program, *, owned: bool, size: int) -> list[tuple[bytes, tuple[int, ...]]]:
    """Bytes and strides of all gradients, of two passes, the second adding to the first."""
    large.elements = size
    use_ownership(owned)
    generator = np.random.default_rng(4)
    leaves = [vt.tensor(generator.normal(size=(N, N)), requires_grad=True) for _ in range(2)]
    found = []
    for _ in range(2):
        y = program(*leaves)
        y.backward(vt.tensor(generator.normal(size=y.shape)))
        program(*leaves).sum().backward()
        for x in leaves:
            assert x.grad is not None
            found.append((x.grad.numpy().tobytes(), x.grad.numpy().strides))
    return found


@pytest.mark.parametrize("size", [0, N, LARGE])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_gradients_are_the_same_bit_for_bit(program: Program, size: int) -> None:
    on = gradients(program, owned=True, size=size)
    off = gradients(program, owned=False, size=size)
    assert on == off


@pytest.mark.parametrize("program", [squares, written_with_numbers])
def test_what_is_spared_for_large_arrays_changes_no_bit(program: Program) -> None:
    reused = gradients(program, owned=True, size=0)
    assert reused == gradients(program, owned=True, size=LARGE)


def state_after(steps: list[Step], *, owned: bool, size: int) -> dict[str, object]:
    """All that a program leaves, to the bit: values, gradients, what was returned and heard."""
    large.elements = size
    use_ownership(owned)
    names: dict[str, Any] = {"vt": vt, "seen": []}
    found: dict[str, object] = {}
    for nr, step in enumerate(steps):
        for line in step.source(False):
            try:
                exec(_compiled(line), names)
            except vt.errors.VtgradError as error:
                found[f"error {nr}"] = type(error)
                break
        _see(found, nr, names)
    return found


# Each program runs several times.
@lru_cache(maxsize=256)
def _compiled(line: str) -> CodeType:
    return compile(line, "<program>", "exec")


def _see(found: dict[str, object], nr: int, names: Mapping[str, object]) -> None:
    for name, value in names.items():
        if isinstance(value, (vt.Tensor, tuple, list)):
            found[f"{name} after {nr}"] = _bits(value)


def _bits(value: object) -> object:
    if isinstance(value, vt.Tensor):
        array = value.detach().numpy()
        grad = value.grad if _is_leaf(value) else None
        return array.tobytes(), array.strides, None if grad is None else _bits(grad)
    if isinstance(value, (tuple, list)):
        return [_bits(x) for x in value]
    return value


def _is_leaf(tensor: vt.Tensor) -> bool:
    try:
        return tensor.is_leaf
    except (
        vt.errors.VtgradError
    ):  # a view that was made in a way that forbade the write of its base
        return False


class OnAndOff(ViewsAndWrites):
    """Random programs that agree with the model, run again with ownership on and off."""

    library = vtgrad_library(vt)
    statistics = Statistics()

    def __init__(self) -> None:
        super().__init__()
        large.elements = 0

    def teardown(self) -> None:
        """Compare the two to the bit, then with the model."""
        steps = list(self.session.steps)
        if not self.failed:
            off = state_after(steps, owned=False, size=LARGE)
            for size in (0, LARGE):
                assert state_after(steps, owned=True, size=size) == off
        large.elements = 0
        use_ownership(True)
        super().teardown()


@pytest.mark.stateful
@pytest.mark.slow
def test_random_programs_are_the_same_bit_for_bit() -> None:
    quick = os.environ.get("HYPOTHESIS_PROFILE") == "quick"
    # Each program runs four times here.
    profile = PROFILES["quick"] if quick else settings(PROFILES["ci"], max_examples=300)
    run_state_machine_as_test(OnAndOff, settings=profile)
