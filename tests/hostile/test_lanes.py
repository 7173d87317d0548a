"""Interrupts and forks in the middle of a backward on lanes leave nothing half done.

What breaks it: a pass that goes on when its caller was interrupted, a thread that stays, a lock or
a queue of a thread that the child of a fork does not have.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from _thread import start_new_thread
from collections.abc import Callable
from types import FrameType

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from tests.support import needs_global_lock
from vtgrad.engine import helper_thread
from vtgrad.lanes import device_threads
from vtgrad.lanes.device_threads import _queues, runs_on_lanes
from vtgrad.lanes.lane_run import LaneRun
from vtgrad.storage.mode import switched

LANES = ("lane:0", "lane:1")

needs_forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this platform")


def graph() -> tuple[list[vt.Tensor], vt.Tensor]:
    """Three leaves, two of them on a lane."""
    leaves = [
        vt.ones(2, requires_grad=True, device=device) for device in ("cpu", "lane:0", "lane:1")
    ]
    parts = [(x.to(LANES[nr % 2]) * (nr + 2)).sum().cpu() for nr, x in enumerate(leaves)]
    return leaves, parts[0] + parts[1] + parts[2]


def gradients(leaves: list[vt.Tensor]) -> list[object]:
    return [None if x.grad is None else x.grad.tolist() for x in leaves]


def assert_nothing_stays() -> None:
    assert not _queues
    assert not runs_on_lanes
    vt.ones(1)
    with vt.no_grad(), vt.inference_mode():
        pass
    assert not switched.silent
    assert not switched.inference


EMPTY = [None, None, None]
FULL = [[2, 2], [3, 3], [4, 4]]


@NEEDS_TRACE
@pytest.mark.slow
def test_an_interrupt_anywhere_fills_all_or_none() -> None:
    made: list[tuple[list[vt.Tensor], vt.Tensor]] = []

    def prepare() -> Callable[[], object]:
        made[:] = [graph()]
        loss = made[0][1]
        return lambda: loss.backward(retain_graph=True)

    def check(over: bool) -> None:
        leaves, loss = made[0]
        found = gradients(leaves)
        assert found in (EMPTY, FULL)
        assert found == FULL or not over
        assert_nothing_stays()
        if found == EMPTY:
            loss.backward()
            assert gradients(leaves) == FULL

    assert interrupted_everywhere(prepare, check) > 100


class Interrupted(BaseException):
    """What the handler raises, as Python's own for SIGINT raises KeyboardInterrupt."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform")
def test_an_interrupt_while_the_caller_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    x = vt.ones(2, requires_grad=True)
    ran: list[str] = []

    def slow(grad: vt.Tensor) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        time.sleep(0.1)
        ran.append("slow")

    below = x.to("lane:0") * 2
    below.register_hook(lambda grad: ran.append("below"))
    part = below * 3
    part.register_hook(slow)
    loss = part.sum().cpu()
    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(Interrupted):
            loss.backward(retain_graph=True)
        # The hook that ran has ended, and nothing has begun after it.
        assert ran == ["slow"]
        assert x.grad is None
        assert_nothing_stays()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(vt.__compiled__, reason="native functions stay as they are")
@pytest.mark.parametrize("before", [True, False])
def test_an_interrupt_while_the_threads_are_left(
    monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    """A handler may run when a function is entered, before its first line, and after its end."""
    leave_threads = device_threads.leave_threads
    interrupts = [Interrupted("first"), Interrupted("second")]

    def interrupted(run: LaneRun) -> None:
        if interrupts and before:
            raise interrupts.pop(0)
        leave_threads(run)
        if interrupts:
            raise interrupts.pop(0)

    monkeypatch.setattr("vtgrad.lanes.lane_run.leave_threads", interrupted)
    leaves, loss = graph()
    with pytest.raises(Interrupted, match="first"):
        loss.backward(retain_graph=True)
    assert_nothing_stays()
    assert gradients(leaves) == EMPTY
    interrupts.clear()
    loss.backward()
    assert gradients(leaves) == FULL


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_signals_at_random() -> None:
    """As `test_an_interrupt_anywhere_fills_all_or_none`, also while threads of lanes work."""

    def handler(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handler)
    interrupted = 0
    try:
        for nr in range(400):
            leaves, loss = graph()
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.00001 * (nr % 97) + 0.0001)
                loss.backward(retain_graph=True)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupted:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert gradients(leaves) in (EMPTY, FULL)
            assert_nothing_stays()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted


def child_of(work: Callable[[], int]) -> int:
    """The exit code of a child that does some work."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        pid = os.fork()
    if pid == 0:
        signal.alarm(10)
        code = 3
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def backward_works() -> int:
    with vt.enable_grad():
        leaves, loss = graph()
    loss.backward()
    return 0 if gradients(leaves) == FULL and not _queues else 1


@needs_forks
@pytest.mark.parametrize("device", ["cpu", *LANES])
def test_a_fork_in_a_hook(device: str) -> None:
    codes: list[int] = []
    x = vt.ones(2, requires_grad=True)
    part = x.to(device) * 2
    part.register_hook(lambda grad: codes.append(child_of(backward_works)))
    ((part * 1).sum().cpu() + (x.to("lane:1") * 3).sum().cpu()).backward()
    assert codes == [0]
    assert x.grad is not None
    assert x.grad.tolist() == [5, 5]


@needs_forks
def test_the_child_of_a_fork_in_a_hook_of_the_cpu_finishes_its_pass() -> None:
    """The lanes have no node at that time, and get new threads in the child."""
    parent = os.getpid()
    codes: list[int] = []
    x = vt.ones(2, requires_grad=True)
    below = x.to("lane:0") * 2
    part = below.cpu() * 1

    def fork(grad: vt.Tensor) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            signal.alarm(10)
        else:
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    part.register_hook(fork)
    try:
        part.sum().backward()
        right = x.grad is not None and x.grad.tolist() == [2, 2] and not _queues
    finally:
        if os.getpid() != parent:
            os._exit(0 if right else 1)
    assert right
    assert codes == [0]


@needs_forks
@pytest.mark.parametrize("generations", [1, 2])
def test_a_pass_whose_nodes_are_on_a_lane_is_lost_in_the_child(
    monkeypatch: pytest.MonkeyPatch, generations: int
) -> None:
    """A handler forks while the calling thread waits."""
    parent = os.getpid()
    codes: list[int] = []
    begun: list[int] = []
    run_plain = LaneRun._run_plain
    if vt.__compiled__:
        pytest.skip("native methods stay as they are")

    def slow(self: LaneRun, *args: object) -> None:
        if threading.current_thread() is not threading.main_thread():
            os.kill(parent, signal.SIGUSR1)
            time.sleep(0.1)
        run_plain(self, *args)  # type: ignore[arg-type]  # the arguments are passed on

    x = vt.ones(2, requires_grad=True)
    loss = (x.to("lane:0") * 2).sum().cpu()
    before = signal.signal(
        signal.SIGUSR1, lambda number, frame: fork_once(begun, codes, generations)
    )
    monkeypatch.setattr(LaneRun, "_run_plain", slow)
    code = 4
    try:
        try:
            loss.backward()
            code = 5
        except vt.errors.ForkedPassError:
            monkeypatch.undo()
            code = 1 if x.grad is not None or any(codes) else backward_works()
    finally:
        signal.signal(signal.SIGUSR1, before)
        if os.getpid() != parent:
            os._exit(code)
    assert codes == [0]
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2]


@needs_forks
def test_the_child_of_a_fork_does_not_wait_for_the_end_of_a_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A handler forks while the calling thread waits for that, which the child need not do."""
    parent = os.getpid()
    codes: list[int] = []
    begun: list[int] = []
    shut_down = device_threads.SharedReadyQueue.shut_down

    def slow(self: device_threads.SharedReadyQueue, task: device_threads.NodeTask) -> bool:
        if threading.current_thread() is not threading.main_thread():
            os.kill(parent, signal.SIGUSR1)
            time.sleep(0.1)
        return shut_down(self, task)

    before = signal.signal(signal.SIGUSR1, lambda number, frame: fork_once(begun, codes))
    monkeypatch.setattr(device_threads.SharedReadyQueue, "shut_down", slow)
    leaves, loss = graph()
    right = False
    try:
        loss.backward()
        right = gradients(leaves) == FULL and not _queues and not runs_on_lanes
    finally:
        signal.signal(signal.SIGUSR1, before)
        if os.getpid() != parent:
            os._exit(0 if right else 1)
    assert right
    assert codes == [0]


@needs_forks
def test_a_pass_on_a_helper_thread_is_lost_in_the_child() -> None:
    """Deeply nested passes run there; a handler forks while the calling thread waits."""
    parent = os.getpid()
    codes: list[int] = []
    begun: list[int] = []

    def work() -> None:
        os.kill(parent, signal.SIGUSR1)
        end = time.monotonic() + 10
        while not codes and time.monotonic() < end:
            time.sleep(0.001)

    before = signal.signal(signal.SIGUSR1, lambda number, frame: fork_once(begun, codes))
    code = 4
    try:
        try:
            nested(25, work)
            code = 5
        except vt.errors.ForkedPassError:
            code = backward_works()
    finally:
        signal.signal(signal.SIGUSR1, before)
        if os.getpid() != parent:
            os._exit(code)
    assert codes == [0]


def fork_once(begun: list[int], codes: list[int], generations: int = 1) -> None:
    """Fork, unless that was done; the parent waits for the child and keeps its exit code.

    With more generations the child forks too, and so on.
    """
    if begun:
        return
    begun.append(os.getpid())
    for _ in range(generations):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid:
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            return
        signal.alarm(10)


@needs_forks
def test_the_child_of_a_fork_starts_the_helper_thread_that_was_not_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parent = os.getpid()
    codes: list[int] = []
    begun: list[int] = []

    def started(work: Callable[[], None], args: tuple[()]) -> int:
        fork_once(begun, codes)
        return start_new_thread(work, args)

    monkeypatch.setattr(helper_thread, "start_new_thread", started)
    leaves, loss = graph()
    right = False
    try:
        nested(25, loss.backward)
        right = gradients(leaves) == FULL
    finally:
        if os.getpid() != parent:
            os._exit(0 if right else 1)
    assert right
    assert codes == [0]


def nested(depth: int, innermost: Callable[[], object]) -> None:
    """Call a function inside of so many passes, each in a hook of the one around it."""
    if not depth:
        innermost()
        return
    with vt.enable_grad():
        y = vt.ones(2, requires_grad=True) * 2
        y.register_hook(lambda grad: nested(depth - 1, innermost))
        total = y.sum()
    total.backward()


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="no such signal on this platform")
@pytest.mark.parametrize("depth", [0, 25], ids=["here", "on a helper thread"])
def test_a_handler_calls_backward_while_its_thread_has_the_lock_of_lanes(
    monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    """As a finalizer may: the thread of a lane could not take a node of that pass."""
    seen: list[object] = []
    queue_of = device_threads.queue_of

    def handler(number: int, frame: FrameType | None) -> None:
        leaves, loss = graph()
        nested(depth, loss.backward)
        seen.append(gradients(leaves))

    def interrupted(run: LaneRun, device: vt.device) -> device_threads.SharedReadyQueue:
        if not seen:
            seen.append(None)
            signal.raise_signal(signal.SIGUSR1)
        return queue_of(run, device)

    before = signal.signal(signal.SIGUSR1, handler)
    monkeypatch.setattr(device_threads, "queue_of", interrupted)
    leaves, loss = graph()
    try:
        loss.backward()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [None, FULL]
    assert gradients(leaves) == FULL
    assert_nothing_stays()


@needs_forks
@needs_global_lock
def test_forks_beside_a_pass_of_another_thread() -> None:
    over = threading.Event()
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while not over.is_set():
                leaves, loss = graph()
                loss.backward()
                assert gradients(leaves) == FULL
        except BaseException as error:  # shown below
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        codes = [child_of(backward_works) for _ in range(20)]
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert codes == [0] * 20
    assert not failures
    assert_nothing_stays()


def test_the_end_of_a_thread_wakes_all_passes_that_wait_for_it() -> None:
    """Two passes that leave a lane at once both ask its thread to end, which sees one request."""
    queue = device_threads.SharedReadyQueue(vt.device(LANES[0]))
    waiters = [device_threads.SharedReadyQueue(vt.device("cpu")) for _ in range(2)]
    with device_threads.lanes_lock:
        for waiter in waiters:
            queue.push(device_threads.NodeTask(None, None, waiter))
    device_threads.thread_main(queue, None)
    assert [waiter._wake.acquire(blocking=False) for waiter in waiters] == [True, True]


@pytest.mark.slow
@needs_global_lock
def test_passes_of_several_threads_leave_the_same_lanes() -> None:
    """Their ends meet in all orders, because the interpreter switches threads all the time."""
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(300):
                leaves, loss = graph()
                loss.backward()
                assert gradients(leaves) == FULL
        except BaseException as error:  # shown below
            failures.append(error)

    interval = sys.getswitchinterval()
    threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)
    assert_nothing_stays()


def test_an_idle_interpreter_ends_after_an_error_on_a_lane() -> None:
    """Nothing keeps the process alive, and no frame of a thread keeps the graph."""
    x = vt.ones(2, requires_grad=True)
    part = x.to("lane:0") * 2

    def fail(grad: vt.Tensor) -> None:
        raise ValueError("on a lane")

    part.register_hook(fail)
    with pytest.raises(ValueError, match="on a lane"):
        part.sum().backward()
    assert_nothing_stays()
    assert x.grad is None


def test_a_finalizer_runs_backward_when_the_interpreter_ends() -> None:
    """New threads do not run any more then."""
    program = """
import sys
import vtgrad as vt

class Late:
    def __del__(self):
        x = vt.ones(2, requires_grad=True)
        (x.to("lane") * 3).sum().cpu().backward()
        print(sys.is_finalizing(), x.grad.tolist())

late = Late()
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["True", "[3.0,", "3.0]"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform")
@pytest.mark.parametrize("around", [0, 25])
@pytest.mark.parametrize("is_here", [False, True], ids=["to the process", "to this thread"])
def test_an_interrupt_reaches_passes_inside_hooks_of_lanes(around: int, is_here: bool) -> None:
    """Those run on threads of their own, for which the thread of the lane waits."""

    def handler(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    y = vt.ones(1, requires_grad=True, device="lane")
    depth = [0]

    def on_lane() -> None:
        depth[0] += 1
        if depth[0] == 60:
            if is_here:
                signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
            else:
                os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.001)
        with vt.enable_grad():
            x = y * 1
            x.register_hook(lambda grad: on_lane() if depth[0] < 2000 else None)
            result = (x * 1).cpu()
        result.backward()

    def outside(levels: int) -> None:
        with vt.enable_grad():
            x = vt.ones(1, requires_grad=True) * 1
            x.register_hook(lambda grad: outside(levels - 1) if levels else on_lane())
            result = x * 1
        result.backward()

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(Interrupted):
            outside(around)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert depth[0] < 1000
    assert_nothing_stays()
