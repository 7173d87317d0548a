"""A story changes nothing of the program: results, versions, lifetimes, switches."""

from __future__ import annotations

import gc
import random
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from tests.support import collector_off, needs_global_lock, ones_leaf
from tests.viz.story_states import states
from tests.viz.test_story import raise_from
from vtgrad.graph.observer import observers
from vtgrad.profiler import tables
from vtgrad.tensor.tensor import Tensor
from vtgrad.viz import Story, story


def program(seed: int) -> list[object]:
    """What a random program of views, writes and passes computes, with its versions and errors."""
    chosen = random.Random(seed)
    w = vt.arange(12.0, dtype=vt.float64).view(3, 4).requires_grad_()
    known = [w * 1.5]
    seen: list[object] = []
    for _ in range(25):
        x = chosen.choice(known)
        y = chosen.choice(known)
        try:
            match chosen.randrange(9):
                case 0:
                    known.append(x[chosen.randrange(3)])
                case 1:
                    known.append(x.t() if x.dim() == 2 else x.view(-1)[::2])
                case 2:
                    x.mul_(chosen.randrange(1, 4))
                case 3:
                    x[chosen.randrange(3)] = chosen.randrange(5)
                case 4:
                    known.append(x * x)
                case 5:
                    known.append(x + y)
                case 6:
                    x.masked_fill_(x > 20, 1)
                case 7:
                    (x * x).sum().backward(retain_graph=chosen.random() < 0.5)
                case _:
                    known.pop(0) if len(known) > 3 else known.append(x.detach())
        except (RuntimeError, IndexError) as error:
            seen.append((type(error), str(error).splitlines()[0]))
        seen.append([(t.tolist(), t._version, t.requires_grad, t.is_leaf) for t in known])
        seen.append(None if w.grad is None else w.grad.tolist())
    seen.append([None if t.grad_fn is None else t.grad_fn.name() for t in known])
    return seen


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rewinds", [False, True])
def test_random_programs_compute_the_same(seed: int, rewinds: bool) -> None:
    def run() -> list[object]:
        if not rewinds:
            return program(seed)
        with vt.autograd.graph.allow_mutation_on_saved_tensors():
            return program(seed)

    plain = run()
    with story(limit=60) as found:
        told = run()
    assert told == plain
    after = states(found)
    assert len(after) == len(found.steps) > 20


def test_the_states_of_a_story_are_those_at_each_step() -> None:
    versions: list[int] = []
    values: list[list[str]] = []

    def run(x: vt.Tensor) -> None:
        for number in range(8):
            x[number % 4] += number
            versions.append(x._version)
            values.append([f"{value:.4g}" for value in x.numpy().tolist()])

    found = story(run, vt.zeros(4))
    writes = [nr for nr, step in enumerate(found.steps) if step.text.startswith("x[")]
    writes = [nr for nr in writes if found.steps[nr].kind == "write"]
    after = [states(found)[nr]["storages"]["s0"] for nr in writes]
    assert [record["values"] for record in after] == values
    assert [record["version"] for record in after] == versions


def test_nothing_lives_longer() -> None:
    alive: list[tuple[bool, ...]] = []
    kept: list[weakref.ref[vt.Tensor]] = []

    def run(w: vt.Tensor) -> None:
        x = w * 2
        row = x[0]
        kept.extend([weakref.ref(x), weakref.ref(row)])
        del row
        w + 1
        alive.append(tuple(reference() is not None for reference in kept))
        del x
        w + 1
        alive.append(tuple(reference() is not None for reference in kept))
        y = w * 3
        kept.append(weakref.ref(y))

    with collector_off():
        gc.collect()
        w = ones_leaf(2, 3)
        kept.append(weakref.ref(w))
        found = story(run, w)
        assert alive == [(True, True, False), (True, False, False)]
        assert [reference() is not None for reference in kept] == [True, False, False, False]
        del w
        assert kept[0]() is None
    assert len(found.steps) == 6


def test_an_error_that_a_story_keeps_holds_no_tensor() -> None:
    kept: list[weakref.ref[vt.Tensor]] = []

    def run() -> None:
        x = vt.ones(2)
        kept.append(weakref.ref(x))
        try:
            x.view(3)
        except RuntimeError as error:
            raise ValueError("mine") from error

    with collector_off():
        found = story(run)
        assert isinstance(found.error, ValueError)
        assert found.error.__cause__ is not None
        assert kept[0]() is None


def test_the_result_of_locals_keeps_its_names() -> None:
    def run() -> None:
        x = vt.ones(2)
        names = locals()
        x * 2
        assert names["x"] is x

    found = story(run)
    assert found.error is None


@needs_global_lock
def test_other_threads_are_not_told() -> None:
    def run() -> None:
        thread = threading.Thread(target=lambda: vt.ones(2) * 2)
        thread.start()
        thread.join()
        vt.zeros(1)

    assert [step.text for step in story(run).steps[1:]] == [
        "zeros(1) makes a temporary, float32 [1]"
    ]


def test_a_deep_pass_on_a_helper_thread_is_told() -> None:
    class Nested(vt.autograd.Function):
        @staticmethod
        def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor, depth: int) -> vt.Tensor:
            ctx.depth = depth  # type: ignore[attr-defined]  # any attribute may be set
            return x * 2

        @staticmethod
        def backward(
            ctx: vt.autograd.function.FunctionCtx, *grads: vt.Tensor | None
        ) -> tuple[vt.Tensor | None, None]:
            depth = ctx.depth  # type: ignore[attr-defined]  # set above
            if depth:
                with vt.enable_grad():
                    x = vt.ones(1, requires_grad=True)
                    Nested.apply(x, depth - 1).sum().backward()
            return grads[0], None

    def run(w: vt.Tensor) -> None:
        Nested.apply(w, 21).sum().backward()

    found = story(run, ones_leaf(1), limit=1000)
    assert found.error is None
    states(found)
    assert sum(step.text.startswith("NestedBackward runs") for step in found.steps) == 22


class _Interrupt:
    """Raise KeyboardInterrupt at the n-th line event in the files of a package."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, frame: FrameType, event: str, argument: object) -> _Interrupt | None:
        if "vtgrad" not in frame.f_code.co_filename:
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self


def interrupted(call: Callable[[], object], at: int) -> bool:
    """Whether an interrupt at a line was raised in a call."""
    before = sys.gettrace()
    try:
        sys.settrace(_Interrupt(at))
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def _places(call: Callable[[], object]) -> Iterator[int]:
    """Some of the lines of a call, the more the nearer to its begin, and all of its end."""
    call()
    counted = _Interrupt(0)
    before = sys.gettrace()
    try:
        sys.settrace(counted)
        call()
    finally:
        sys.settrace(before)
    at, last = 1, -counted.left
    while at < last - 60:
        yield at
        at += 1 + at // 2
    yield from range(max(last - 20, 1), last + 1)


def test_interrupts_leave_nothing_switched_on() -> None:
    def run(w: vt.Tensor) -> None:
        x = w.clone()
        x[0].mul_(2)
        (x * x).sum().backward()

    bases = Tensor.__bases__
    stopped = 0
    for at in _places(lambda: story(run, ones_leaf(2, 2))):
        w = ones_leaf(2, 2)
        found = interrupted(lambda w=w: story(run, w), at)  # type: ignore[misc]  # called at once
        stopped += found
        assert not observers, at
        assert Tensor.__bases__ == bases, at
        assert (w * 2).sum().item() == 8
    assert stopped > 20


@NEEDS_TRACE
@pytest.mark.parametrize("of_a_function", [False, True])
def test_an_interrupt_at_any_place_leaves_no_story_open(
    monkeypatch: pytest.MonkeyPatch, of_a_function: bool
) -> None:
    # The tables of 1,000 modules have a test of their own.
    monkeypatch.setattr(tables, "_modules", list[ModuleType])
    bases = Tensor.__bases__

    def block() -> None:
        with story():
            pass

    def prepare() -> Callable[[], object]:
        return (lambda: story(list)) if of_a_function else block

    def check(over: bool) -> None:
        assert not observers
        assert Tensor.__bases__ == bases

    prepare()()
    assert interrupted_everywhere(prepare, check) > 50


def test_a_story_that_was_interrupted_can_be_read() -> None:
    found = Story()
    with pytest.raises(KeyboardInterrupt), found:
        raise_from(vt.ones(2), KeyboardInterrupt())
    assert [step.kind for step in found.steps] == ["start", "operator", "error"]
