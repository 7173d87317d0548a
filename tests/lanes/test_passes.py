"""Backward on lanes: which thread runs what, what user code sees, and that no thread stays."""

from __future__ import annotations

import contextlib
import contextvars
import gc
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator

import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.autograd.function import FunctionCtx
from vtgrad.lanes.device_threads import _queues, runs_on_lanes
from vtgrad.storage.mode import switched
from vtgrad.utils.checkpoint import checkpoint

LANES = ("lane:0", "lane:1")


def branches(*leaves: vt.Tensor) -> list[vt.Tensor]:
    """For each leaf a result on a lane of its own."""
    return [(x.to(LANES[nr % 2]) * (nr + 2)).sin() for nr, x in enumerate(leaves)]


def joined(parts: list[vt.Tensor]) -> vt.Tensor:
    return sum([part.sum().cpu() for part in parts], vt.zeros(()))


def threads_of_the_process() -> int:
    """How many there are, once those that have ended are gone."""
    for _ in range(100):
        count = len(os.listdir("/proc/self/task"))
        if count <= threads_of_the_process_before[0]:
            break
        time.sleep(0.01)
    return count


threads_of_the_process_before = [0]


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """After each test no queue, no pass and no thread of a lane is left, nor a switched mode."""
    vt.ones(8, 8) @ vt.ones(8, 8)  # may start threads of the BLAS
    on_linux = os.path.isdir("/proc/self/task")
    if on_linux:
        threads_of_the_process_before[0] = len(os.listdir("/proc/self/task"))
    yield
    assert not _queues
    assert not runs_on_lanes
    assert not switched.silent
    assert not switched.inference
    if on_linux:
        # Fewer if a thread of an earlier test was about to end.
        assert threads_of_the_process() <= threads_of_the_process_before[0]


def leaf(value: float = 1.0) -> vt.Tensor:
    return vt.full((3,), value, requires_grad=True)


def test_hooks_run_on_the_thread_of_their_lane() -> None:
    x, y = leaf(), leaf()
    seen: dict[str, int] = {}

    def note(name: str) -> Callable[[vt.Tensor], None]:
        def hook(grad: vt.Tensor) -> None:
            seen[f"{name} {grad.device}"] = threading.get_ident()

        return hook

    parts = branches(x, y)
    for part in parts:
        part.register_hook(note("part"))
    x.register_hook(note("leaf"))
    joined(parts).backward()
    assert seen.keys() == {"part lane:0", "part lane:1", "leaf cpu"}
    assert seen["leaf cpu"] == threading.get_ident()
    assert len(set(seen.values())) == 3


def test_without_threads_all_runs_here() -> None:
    x = leaf()
    seen: list[int] = []
    (part,) = branches(x)
    part.register_hook(lambda grad: seen.append(threading.get_ident()))
    with vt.autograd.set_multithreading_enabled(False):
        joined([part]).backward()
    assert seen == [threading.get_ident()]


@pytest.mark.parametrize(
    "around",
    [vt.enable_grad, vt.no_grad, vt.autograd.detect_anomaly],
    ids=lambda f: str(f.__name__),
)
@pytest.mark.filterwarnings("ignore:anomaly mode")
def test_gradients_are_those_of_one_thread(around: Callable[[], vt.no_grad]) -> None:
    x, y = leaf(1.5), leaf(2.5)
    loss = joined(branches(x, y))
    expected = [(2 * (x * 2).cos()).tolist(), (3 * (y * 3).cos()).tolist()]
    with around():
        loss.backward()
    assert [x.grad.tolist(), y.grad.tolist()] == [pytest.approx(e, rel=1e-6) for e in expected]  # type: ignore[union-attr]  # both are set
    assert str(x.grad.device) == "cpu"  # type: ignore[union-attr]


def test_gradients_of_leaves_on_lanes_are_there() -> None:
    x = vt.ones(2, device="lane:1", requires_grad=True)
    (x * 3).sum().backward()
    (x * 3).sum().backward()
    assert x.grad is not None
    assert (str(x.grad.device), x.grad.tolist()) == ("lane:1", [6, 6])
    (grad,) = vt.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = vt.autograd.grad(grad.sum(), x)
    assert (str(second.device), second.tolist()) == ("lane:1", [6, 6])


def test_user_code_has_the_state_of_the_calling_thread() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    x = leaf()
    seen: list[object] = []

    def hook(grad: vt.Tensor) -> None:
        seen.append((variable.get(), vt.is_grad_enabled(), vt.is_inference_mode_enabled()))
        vt.autograd.Variable._execution_engine.queue_callback(lambda: seen.append("called back"))

    (part,) = branches(x)
    part.register_hook(hook)
    variable.set(7)
    joined([part]).backward()
    assert seen == [(7, False, False), "called back"]


def test_nodes_recorded_in_hooks_are_numbered_as_by_the_calling_thread() -> None:
    def numbers(threads: bool) -> list[int]:
        found: list[int] = []

        def hook(grad: vt.Tensor) -> None:
            with vt.enable_grad():
                made = grad.detach().requires_grad_() * 2
            assert made.grad_fn is not None
            found.append(made.grad_fn._sequence_nr() - first)

        x, y = leaf(), leaf()
        first = (x * 1).grad_fn._sequence_nr()  # type: ignore[union-attr]  # it is recorded
        parts = branches(x, y)
        for part in parts:
            part.register_hook(hook)
        with vt.autograd.set_multithreading_enabled(threads):
            joined(parts).backward()
        return found

    assert numbers(True) == numbers(False)


def test_user_code_finds_the_leaves_filled_that_came_before() -> None:
    def filled(threads: bool) -> list[object]:
        x, y = leaf(), leaf()
        seen: list[object] = []

        def look(_: object) -> None:
            seen.append([None if z.grad is None else z.grad.tolist() for z in (x, y)])

        parts = branches(x, y)
        for part in parts:
            part.register_hook(look)
        x.register_post_accumulate_grad_hook(look)
        y.register_post_accumulate_grad_hook(look)
        with vt.autograd.set_multithreading_enabled(threads):
            joined(parts).backward()
        return seen

    assert filled(True) == filled(False)


def test_a_hook_that_is_registered_in_a_hook_is_called_in_its_turn() -> None:
    x = leaf()
    seen: list[str] = []
    a = x.to("lane:0") * 2
    b = a * 3

    def first(_: vt.Tensor) -> None:
        seen.append("first")
        a.register_hook(lambda grad: seen.append("second"))

    b.register_hook(first)
    joined([b]).backward()
    assert seen == ["first", "second"]


class _Fails(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor, text: str) -> vt.Tensor:
        ctx.__dict__["text"] = text
        return x.clone()

    @staticmethod
    def backward(ctx: FunctionCtx, grad: vt.Tensor) -> tuple[vt.Tensor, None]:
        raise ValueError(ctx.__dict__["text"])


def test_an_error_on_a_lane_is_raised_here_with_its_traceback() -> None:
    x, y = leaf(), leaf()
    loss = joined([*branches(x), _Fails.apply(y.to("lane:1"), "on a lane")])
    with pytest.raises(ValueError, match="on a lane") as caught:
        loss.backward()
    names = [entry.name for entry in caught.traceback]
    assert "backward" in names[-1]
    assert names[0] == "test_an_error_on_a_lane_is_raised_here_with_its_traceback"
    assert (x.grad, y.grad) == (None, None)


@pytest.mark.parametrize("repeat", range(5))
def test_of_several_errors_the_first_of_one_thread_is_raised(repeat: int) -> None:
    x, y = leaf(), leaf()
    # The one that was recorded last runs first.
    one = _Fails.apply(x.to("lane:0"), "second")
    two = _Fails.apply(y.to("lane:1"), "first")
    with pytest.raises(ValueError, match="first"):
        joined([one, two]).backward()


@pytest.mark.parametrize("fails", [False, True])
def test_all_is_freed_without_the_collector(fails: bool) -> None:
    x, y = leaf(), leaf()
    parts = [*branches(x, y), _Fails.apply(y.to("lane:1"), "failed") if fails else y * 1]
    parts[0].register_hook(lambda grad: None)
    left = [weakref.ref(z) for z in (x, y)]
    loss = joined(parts)
    del x, y, parts
    gc.disable()
    try:
        with contextlib.suppress(ValueError):
            loss.backward()
        del loss
        assert [z() for z in left] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("inner", LANES)
@pytest.mark.parametrize("outer", [*LANES, "cpu"])
def test_a_backward_in_a_hook(outer: str, inner: str) -> None:
    x, y = leaf(), leaf()

    def hook(grad: vt.Tensor) -> None:
        with vt.enable_grad():
            loss = (y.to(inner) * 2).to(outer).sum()
        loss.backward()

    part = x.to(outer) * 5
    part.register_hook(hook)
    other = x.to("lane:1") * 7
    other.register_hook(hook)
    joined([part, other]).backward()
    assert x.grad is not None
    assert y.grad is not None
    assert (x.grad.tolist(), y.grad.tolist()) == ([12, 12, 12], [4, 4, 4])


def test_a_backward_deep_inside_others() -> None:
    y = vt.ones(1, device="lane:1", requires_grad=True)

    def nested(depth: int) -> None:
        with vt.enable_grad():
            x = y * 1
        if depth:
            x.register_hook(lambda grad: nested(depth - 1))
        x.backward()

    nested(100)
    assert y.grad is not None
    assert y.grad.tolist() == [101]


@needs_global_lock
def test_eight_threads_on_one_graph() -> None:
    x, y = leaf(), leaf()
    parts = branches(x, y)
    loss = joined(parts)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(10):
                loss.backward(retain_graph=True)
        except BaseException as error:  # shown below
            failures.append(error)

    loss.backward(retain_graph=True)
    assert x.grad is not None
    once = x.grad[0].item()
    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures
    assert x.grad[0].item() == pytest.approx(81 * once)


def test_a_checkpoint_on_a_lane() -> None:
    x = leaf(0.5)
    part = checkpoint(lambda z: (z * 2).sin() * z, x.to("lane:0"), use_reentrant=False)
    joined([part, *branches(x)]).backward()
    plain = leaf(0.5)
    joined([(plain * 2).sin() * plain, *branches(plain)]).backward()
    assert x.grad is not None
    assert plain.grad is not None
    assert x.grad.tolist() == plain.grad.tolist()


def test_written_parts_and_views_on_lanes() -> None:
    x = leaf(0.5)
    table = vt.zeros(3, 3, device="lane:0") * x.to("lane:0")
    table[1] = x.to("lane:0") * 4
    table[:, 0].mul_(2)
    joined([table]).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [8, 4, 4]


def test_gradients_of_another_device_are_refused() -> None:
    x = leaf()
    part = x.to("lane:0") * 2
    handle = part.register_hook(lambda grad: grad.cpu())
    with pytest.raises(vt.errors.HookError, match="lane:0"):
        joined([part]).backward()
    handle.remove()
    part = x.to("lane:0") * 2
    assert part.grad_fn is not None
    part.grad_fn.register_hook(lambda outgoing, incoming: (outgoing[0].to("lane:1"), None))
    with pytest.raises(vt.errors.HookError, match="lane:1"):
        joined([part]).backward()
    with pytest.raises(vt.errors.DeviceError, match="its root on lane:0"):
        (x.to("lane:0") * 2).backward(vt.ones(3))
    assert x.grad is None


class _Elsewhere(vt.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        return grad.cpu()


def test_the_backward_of_a_function_answers_on_the_device_of_its_argument() -> None:
    x = vt.ones(3, device="lane:0", requires_grad=True)
    with pytest.raises(vt.errors.DeviceError, match="argument 0"):
        _Elsewhere.apply(x).sum().backward()
    one = vt.ones((), device="lane:0", requires_grad=True)
    _Elsewhere.apply(one).backward()
    assert one.grad is not None
    assert str(one.grad.device) == "lane:0"
