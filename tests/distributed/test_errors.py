"""Functions that fail, workers that end, and programs that cannot be sent."""

import multiprocessing
import os
import signal
import sys
import threading
import time
import types
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import vtgrad as vt
from tests.distributed.programs import (
    Unreadable,
    command,
    constant,
    raises_odd_error,
    squares,
    uses_outside,
    writes_array,
    writes_parameter,
    writes_shard,
)
from tests.hostile.interrupting import (
    NEEDS_TRACE,
    Interrupted,
    Interrupter,
    raise_interrupt,
)
from tests.support import needs_global_lock
from vtgrad import Tensor
from vtgrad.distributed import SumOverShards, value_and_grad
from vtgrad.distributed.picklable import check_main
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    NotPicklableError,
    ReadOnlyError,
    ShardError,
    WorkerDiedError,
)

pytestmark = [
    pytest.mark.xdist_group("distributed"),
    # Python 3.12 warns of each fork beside other threads, which are those of the executors here.
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]

ONE = vt.ones(1)


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


def commands(path: Path, *names: str) -> list[tuple[str, str]]:
    return [(name, str(path / f"{number}")) for number, name in enumerate(names)]


def own_processes() -> list[int | None]:
    """The processes of all pools here that are alive."""
    children = multiprocessing.active_children()
    return [child.pid for child in children if child.name == "vtgrad.distributed"]


@pytest.mark.slow
def test_an_error_names_the_shard_and_the_workers_go_on(tmp_path: Path) -> None:
    shards = commands(tmp_path, "", "", "", "raise", "", "")
    p = vt.ones(1, requires_grad=True)
    with value_and_grad(command, shards=shards, workers=2) as total:
        for _ in range(2):
            with pytest.raises(ShardError) as e:
                total(p)
            assert str(e.value) == "shard 3 failed: ValueError: this shard is bad"
            assert (e.value.shard, e.value.shards) == (3, (3,))
            assert isinstance(e.value.__cause__, ValueError)
            assert "in command" in e.value.traceback
            assert p.grad is None
        pids = own_processes()
        assert len(pids) == 2
    assert own_processes() == []


@pytest.mark.slow
def test_a_worker_that_dies_is_an_error_or_is_replaced(tmp_path: Path) -> None:
    shards = commands(tmp_path, "", "", "", "exit", "", "", "")
    with value_and_grad(command, shards=shards, workers=2) as total:
        with pytest.raises(WorkerDiedError, match="exit code 3 at shard 3; it had not") as e:
            total(ONE)
        assert (e.value.shard, e.value.shards, e.value.exit_code) == (3, (3, 5), 3)
        # The shard has a file now, and is harmless.
        value, gradient = total(ONE)
        assert (value.item(), gradient.item()) == (7.0, 14.0)
    (tmp_path / "3").unlink()
    shards[6] = ("kill", shards[6][1])
    with value_and_grad(command, shards=shards, workers=1, retries=2) as total:
        value, gradient = total(ONE)
        assert (value.item(), gradient.item()) == (7.0, 14.0)
        (tmp_path / "6").unlink()
        pids = own_processes()
        value, gradient = total(ONE)
        assert (value.item(), gradient.item()) == (7.0, 14.0)
        assert own_processes() != pids


@pytest.mark.slow
def test_retries_end_and_an_executor_names_what_is_not_finished(tmp_path: Path) -> None:
    shards = commands(tmp_path, "", "always exit")
    with pytest.raises(WorkerDiedError, match="exit code 4 at shard 1"):
        value_and_grad(command, ONE, shards, workers=1, retries=1)
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        with pytest.raises(WorkerDiedError, match="before shards 0, 1 had been finished") as e:
            value_and_grad(command, ONE, shards, executor)
    assert (e.value.shards, e.value.exit_code) == ((0, 1), None)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to a thread here")
def test_an_interrupt_ends_the_processes_and_the_next_call_starts_new_ones(tmp_path: Path) -> None:
    shards = commands(tmp_path, "sleep", "")

    def interrupt() -> None:
        while not (tmp_path / "0").exists():
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with value_and_grad(command, shards=shards, workers=2) as total:
        waiting = threading.Thread(target=interrupt)
        waiting.start()
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            total(ONE)
        assert time.monotonic() - begun < 30
        waiting.join()
        assert own_processes() == []


@NEEDS_TRACE
@pytest.mark.slow
# An interrupt inside of Python's own `socketpair` leaves its sockets to the collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_after_an_interrupt_anywhere_no_process_is_left_and_the_next_call_is_right() -> None:
    here = os.getpid()

    def f(p: Tensor, shard: float) -> Tensor:
        sys.settrace(None)  # the one of the test, which a fork has, too
        return (p * shard).sum()

    def act() -> None:
        if os.getpid() == here:
            raise_interrupt()

    def total() -> SumOverShards[Tensor, float]:
        return value_and_grad(f, shards=[1.0, 2.0, 3.0], workers=2, start_method="fork")

    with total() as whole, Interrupter(10**9, act) as counted:
        whole(ONE)
    assert counted.passed > 500
    ends = set()
    for at in range(20, counted.passed, counted.passed // 14):
        with total() as interrupted:
            try:
                with Interrupter(at, act):
                    interrupted(ONE)
                ends.add("complete")
            except Interrupted:
                ends.add("interrupted")
            assert interrupted(ONE)[0].item() == 6.0
        assert own_processes() == []
    assert "interrupted" in ends


@pytest.mark.slow
def test_an_error_of_the_callback_loses_nothing(tmp_path: Path) -> None:
    failing = True

    def report(done: int, count: int) -> None:
        if failing:
            raise KeyError(done)

    with value_and_grad(
        constant, shards=[0, 1, 2], workers=1, start_method="fork", progress=report
    ) as total:
        with pytest.raises(KeyError):
            total(ONE)
        assert own_processes() == []
        failing = False
        assert total(ONE)[0].item() == 6.0


@needs_global_lock
def test_threads_stop_after_a_failure() -> None:
    done: list[int] = []
    begun = threading.Event()

    def f(p: Tensor, shard: int) -> Tensor:
        if shard == 0:
            begun.wait(10)
            raise ValueError("no")
        done.append(shard)
        begun.set()
        time.sleep(0.02)
        return (p * shard).sum()

    with ThreadPoolExecutor(2) as executor:
        with pytest.raises(ShardError, match="shard 0"):
            value_and_grad(f, ONE, range(400), executor)
    assert 0 < len(done) < 150


@needs_global_lock
@pytest.mark.parametrize("write", [writes_shard, writes_parameter, writes_array])
def test_a_write_to_what_is_sent_is_refused(threads: ThreadPoolExecutor, write: object) -> None:
    array, tensor, p = np.ones(2), vt.ones(2), vt.ones(2)
    shard: object = {"a": array} if write is writes_array else tensor
    with pytest.raises(ShardError) as caught:
        value_and_grad(write, p, [shard], threads)  # type: ignore[call-overload]  # several kinds
    assert isinstance(caught.value.__cause__, ReadOnlyError | ValueError)
    assert (array.tolist(), tensor.tolist(), p.tolist()) == ([1, 1], [1, 1], [1, 1])


@needs_global_lock
def test_a_shard_that_was_written_later_is_refused(threads: ThreadPoolExecutor) -> None:
    table = vt.ones(4)

    def f(p: Tensor, shard: dict[str, Tensor]) -> Tensor:
        return (p * shard["x"]).sum()

    shards = [{"x": table[:2]}, {"x": table[2:]}]
    total = value_and_grad(f, shards=shards, executor=threads)
    assert total(ONE)[0].item() == 4.0
    table[3] = 5.0
    with pytest.raises(ArgumentValueError, match="the memory of shard 0 was written"):
        total(ONE)


@needs_global_lock
def test_a_gradient_that_would_be_lost_is_refused(threads: ThreadPoolExecutor) -> None:
    with pytest.raises(ArgumentValueError, match="shard 1 has a tensor that requires grad"):
        value_and_grad(constant, shards=[1, {"x": vt.ones(2, requires_grad=True)}])
    with pytest.raises(ShardError) as of_threads:
        value_and_grad(uses_outside, ONE, [1], threads)
    with value_and_grad(uses_outside, shards=[1], workers=1, record=True) as total:
        for _ in range(3):
            with pytest.raises(ShardError) as of_process:
                total(ONE)
    for caught in (of_threads, of_process):
        assert isinstance(caught.value.__cause__, ArgumentValueError)
        assert "its gradient would be lost" in str(caught.value)


def test_a_sum_is_not_called_while_it_waits() -> None:
    calls: list[SumOverShards[Tensor, int]] = []

    def report(done: int, count: int) -> None:
        calls[0](ONE)

    with value_and_grad(constant, shards=[1, 2], workers=1, progress=report) as total:
        calls.append(total)
        with pytest.raises(ArgumentValueError, match="would wait for itself"):
            total(ONE)
        # The same thread, after the call.
        with pytest.raises(ArgumentValueError, match="would wait for itself"):
            total(ONE)


@needs_global_lock
def test_a_call_that_fails_stops_no_other_call(threads: ThreadPoolExecutor) -> None:
    waiting, failed = threading.Event(), threading.Event()

    def f(p: Tensor, shard: int) -> Tensor:
        if p.item() == 0.0:
            waiting.wait(10)
            raise ValueError("no")
        if shard == 0:
            waiting.set()
            failed.wait(10)
        return (p * shard).sum()

    with ThreadPoolExecutor(2) as executor, ThreadPoolExecutor(1) as caller:
        total = value_and_grad(f, shards=range(6), executor=executor, workers=1)
        right = caller.submit(total, ONE)
        with pytest.raises(ShardError, match="ValueError: no"):
            total(0 * ONE)
        failed.set()
        assert right.result()[0].item() == 15.0


def test_what_cannot_be_pickled_is_refused_before_anything_starts() -> None:
    def inner(p: Tensor, shard: object) -> Tensor:
        return p.sum()

    executor = ProcessPoolExecutor(1, get_context("spawn"))
    for chosen in (None, executor):
        with pytest.raises(NotPicklableError, match="it is a lambda"):
            value_and_grad(lambda p, shard: p.sum(), ONE, [1], chosen)
        with pytest.raises(NotPicklableError, match="inside of test_what_cannot"):
            value_and_grad(inner, ONE, [1], chosen)
    assert own_processes() == []
    assert executor._processes in (None, {})
    with pytest.raises(NotPicklableError, match=r"shard 1 cannot be sent .*lock"):
        value_and_grad(constant, ONE, [1, threading.Lock()], workers=1)
    assert own_processes() == []


@pytest.mark.slow
def test_what_a_worker_cannot_read_is_said() -> None:
    with value_and_grad(constant, shards=[0, Unreadable()], workers=1) as total:
        with pytest.raises(NotPicklableError, match=r"cannot read .*there is no such file"):
            total(ONE)
    with pytest.raises(ShardError, match="OddError: 1 2") as caught:
        value_and_grad(raises_odd_error, ONE, [0], workers=1)
    assert caught.value.__cause__ is None
    assert "OddError: 1 2" in caught.value.traceback


def test_forks_need_nothing_picklable() -> None:
    lock = threading.Lock()

    def f(p: Tensor, shard: object) -> Tensor:
        assert shard is lock
        return p.sum()

    assert value_and_grad(f, ONE, [lock], start_method="fork", workers=1)[0].item() == 1.0


def test_a_main_module_without_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "__spec__", None)
    monkeypatch.setattr(main, "__file__", "<stdin>", raising=False)
    with pytest.raises(NotPicklableError, match="there is no file <stdin>"):
        check_main(squares)
    monkeypatch.delattr(main, "__file__")
    check_main(squares)
    monkeypatch.setattr(squares, "__module__", "__main__")
    with pytest.raises(NotPicklableError, match="it was typed in"):
        check_main(squares)


@needs_global_lock
def test_arguments_that_fit_nothing(threads: ThreadPoolExecutor) -> None:
    with pytest.raises(ArgumentTypeError):
        value_and_grad(3, ONE, [1], threads)  # type: ignore[call-overload]  # the point
    with pytest.raises(ArgumentTypeError, match="shards="):
        value_and_grad(constant, ONE)  # type: ignore[call-overload]  # the point
    with pytest.raises(ArgumentTypeError, match="executor is one of"):
        value_and_grad(constant, ONE, [1], 3)  # type: ignore[call-overload]  # the point
    with pytest.raises(ArgumentValueError, match="there are no shards"):
        value_and_grad(constant, ONE, [], threads)
    for options in (
        {"workers": 0},
        {"workers": 1.5},
        {"retries": -1},
        {"retries": None},
        {"threads": 0},
        {"record": "yes"},
        {"start_method": "thread"},
    ):
        with pytest.raises(ArgumentValueError):
            value_and_grad(constant, ONE, [1], threads, **options)
    with pytest.raises(ArgumentValueError, match="only tensors"):
        value_and_grad(constant, 1.0, [1], threads)  # type: ignore[arg-type]  # the point
    with pytest.raises(vt.errors.TransformError, match="int64"):
        value_and_grad(constant, vt.tensor([1]), [1], threads)
    with pytest.raises(ShardError, match="0-d"):
        value_and_grad(lambda p, shard: p, vt.ones(2), [1], threads)
    total = value_and_grad(constant, shards=[1], executor=threads)
    total.close()
    with pytest.raises(ArgumentValueError, match="closed"):
        total(ONE)


def test_a_bar_needs_tqdm(monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(vt.errors.MissingPackageError, match="tqdm"):
        value_and_grad(constant, ONE, [1], threads, progress=True)


@needs_global_lock
def test_a_bar_counts_shards(monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor) -> None:
    class Bar:
        made: ClassVar[list["Bar"]] = []

        def __init__(self, total: int, unit: str, leave: bool) -> None:
            self.total, self.n = total, 0
            Bar.made.append(self)

        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def update(self, by: int) -> None:
            self.n += by

    module = types.ModuleType("tqdm")
    vars(module)["tqdm"] = Bar
    monkeypatch.setitem(sys.modules, "tqdm", module)
    value_and_grad(constant, ONE, [1, 2, 3], threads, progress=True)
    assert [(bar.n, bar.total) for bar in Bar.made] == [(3, 3)]
