"""The value and the gradients, by every kind of worker."""

from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.distributed.programs import (
    COUNT,
    Counted,
    Marked,
    Pair,
    Weights,
    by_default_dtype,
    command,
    constant,
    pairs,
    replayed_squares,
    squares,
    weights,
)
from tests.support import needs_global_lock
from vtgrad import Tensor
from vtgrad.distributed import SumOverShards, foreign, value_and_grad
from vtgrad.distributed.recordable import are_recordable
from vtgrad.distributed.sent import Held, without_rest

pytestmark = [
    pytest.mark.xdist_group("distributed"),
    # Python 3.12 warns of each fork beside other threads, which are those of the executors here.
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]

Total = SumOverShards[Weights, Pair]


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(3) as executor:
        yield executor


@pytest.fixture(scope="module")
def totals(
    processes: ProcessPoolExecutor, threads: ThreadPoolExecutor
) -> Iterator[dict[str, Total]]:
    """The same sum, by each kind of worker."""
    shards = pairs()
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(total)
            for name, total in {
                "one process": value_and_grad(squares, shards=shards, workers=1),
                "two processes": value_and_grad(squares, shards=shards, workers=2),
                "forks": value_and_grad(squares, shards=shards, workers=3, start_method="fork"),
                "replayed": value_and_grad(replayed_squares, shards=shards, workers=1),
                "never recorded": value_and_grad(squares, shards=shards, workers=1, record=False),
                "threads": value_and_grad(squares, shards=shards, executor=threads),
                "executor": value_and_grad(squares, shards=shards, executor=processes),
            }.items()
        }


def in_a_loop(p: Weights) -> tuple[Tensor, Weights]:
    """The sum as a program without workers, added in the order of the shards."""
    value: Tensor | None = None
    total: Weights = {}
    for shard in pairs():
        gradients, one = vt.func.grad_and_value(squares)(p, shard)
        value = one if value is None else value + one
        total = {k: g if k not in total else total[k] + g for k, g in gradients.items()}
    assert value is not None
    return value, total


def as_numbers(result: tuple[Tensor, Weights]) -> list[object]:
    value, gradients = result
    return [value.item(), gradients["w"].tolist(), gradients["b"].item()]


NAMES = [
    "one process",
    "two processes",
    "forks",
    "replayed",
    "never recorded",
    "threads",
    "executor",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_workers_give_the_same_bits_on_new_values(totals: dict[str, Total], name: str) -> None:
    total = totals[name]
    p = weights()
    for _ in range(4):
        assert as_numbers(total(p)) == as_numbers(in_a_loop(p))
        p["w"] += 0.5


@pytest.mark.slow
def test_the_value_has_a_history_if_the_parameters_require_grad(totals: dict[str, Total]) -> None:
    p = {name: tensor.requires_grad_() for name, tensor in weights().items()}
    value, gradients = totals["two processes"](p)
    (value * 2).backward()
    for name, tensor in p.items():
        assert tensor.grad is not None
        assert tensor.grad.tolist() == (2 * gradients[name]).tolist()
        assert not gradients[name].requires_grad
    with vt.no_grad():
        assert not totals["two processes"](p)[0].requires_grad


@pytest.mark.slow
def test_what_other_processes_cannot_give_is_refused(totals: dict[str, Total]) -> None:
    total = totals["two processes"]
    p = {name: tensor.requires_grad_() for name, tensor in weights().items()}
    (first,) = vt.autograd.grad(total(p)[0], [p["w"]], create_graph=True)
    with pytest.raises(vt.errors.NoDerivativeError):
        first.sum().backward()
    plain = weights()
    with pytest.raises(vt.errors.ForwardModeError):
        vt.func.jvp(lambda w: total({"w": w, "b": plain["b"]})[0], (plain["w"],), (plain["w"],))
    with pytest.raises(vt.errors.BatchedTensorError):
        vt.vmap(lambda w: total({"w": w, "b": plain["b"]})[0])(vt.ones(2, 3, dtype=vt.float64))
    with pytest.raises(vt.errors.RecordingError):
        vt.jit.trace(lambda w: total({"w": w, "b": plain["b"]})[0], plain["w"])
    assert as_numbers(total(plain)) == as_numbers(in_a_loop(plain))


@pytest.mark.slow
def test_func_grad_takes_the_gradient_that_was_computed(totals: dict[str, Total]) -> None:
    total = totals["two processes"]
    found: Any = vt.func.grad(lambda p: total(p)[0])(weights())
    assert found["w"].tolist() == in_a_loop(weights())[1]["w"].tolist()


@needs_global_lock
def test_one_call_takes_the_parameters_and_gives_their_containers(
    threads: ThreadPoolExecutor,
) -> None:
    def f(p: tuple[Tensor, list[Tensor]], shard: float) -> Tensor:
        x, (y, _) = p
        return (x * y * shard).sum()

    p = (vt.tensor([1.0, 2.0]), [vt.tensor(3.0), vt.ones(0)])
    value, gradients = value_and_grad(f, p, iter([1.0, 10.0]), threads)
    assert value.item() == 99.0
    x, (y, unused) = gradients
    assert (x.tolist(), y.item(), unused.shape) == ([33.0, 33.0], 33.0, (0,))


@needs_global_lock
def test_complex_parameters_and_shards_of_other_dtypes(threads: ThreadPoolExecutor) -> None:
    def f(z: Tensor, shard: Tensor) -> Tensor:
        return (z * z.conj()).real.sum() * shard.sum()

    z = vt.tensor([1 + 2j], dtype=vt.complex128)
    shards = [vt.tensor([1, 2]), vt.tensor([], dtype=vt.int64), vt.tensor(4.0)]
    value, gradient = value_and_grad(f, z, shards, threads)
    assert (value.item(), gradient.tolist()) == (35.0, [14 + 28j])


@needs_global_lock
def test_gradients_are_of_the_class_and_on_the_device_of_the_parameters(
    threads: ThreadPoolExecutor,
) -> None:
    p = {
        "marked": vt.ones(2).as_subclass(Marked),
        "named": vt.ones(2, names=("n",)),
        "lane": vt.ones(2).to("lane:0"),
        "half": vt.ones(2, dtype=vt.float16),
    }

    def f(p: dict[str, Tensor], shard: float) -> Tensor:
        whole = [x.rename(None).double() for x in p.values()]
        return shard * (whole[0] * whole[1] * whole[2] * whole[3]).sum()

    value, gradients = value_and_grad(f, p, [1.0, 2.0], threads)
    expected: Any = vt.func.grad(f)({k: x.cpu() for k, x in p.items()}, 3.0)
    assert value.item() == 6.0
    for name, tensor in p.items():
        found = gradients[name]
        assert (type(found), found.device, found.dtype) == (
            type(expected[name]),
            tensor.device,
            tensor.dtype,
        )
        assert found.tolist() == [3.0, 3.0]


@needs_global_lock
def test_nan_of_one_shard_is_in_the_sum(threads: ThreadPoolExecutor) -> None:
    value, gradient = value_and_grad(
        lambda p, shard: (p * shard).sum(),
        vt.ones(2),
        [vt.ones(2), vt.tensor([np.nan, 1])],
        threads,
    )
    assert np.isnan(value.item())
    assert np.isnan(gradient[0].item())
    assert gradient[1].item() == 2.0


@pytest.mark.slow
def test_shards_are_sent_once_with_the_own_processes() -> None:
    Counted.pickled = 0
    with value_and_grad(constant, shards=[Counted() for _ in range(5)], workers=2) as total:
        for _ in range(3):
            value, gradient = total(vt.ones(2))
    assert (value.item(), gradient.tolist(), Counted.pickled) == (20.0, [10.0, 10.0], 5)


@pytest.mark.slow
def test_an_executor_sends_again_what_a_worker_misses(processes: ProcessPoolExecutor) -> None:
    Counted.pickled = 0
    shards = [Counted() for _ in range(4)]
    with value_and_grad(constant, shards=shards, executor=processes) as total:
        for _ in range(12):
            total(vt.ones(2))
    # Far fewer than four in each call: what a worker has seen is not sent again.
    assert 4 <= Counted.pickled < 24


class Forgetful(Executor):
    """Runs calls at once, in a worker that keeps nothing."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        foreign._kept.clear()
        self.calls.append(len(args[0].sent))
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


def test_a_worker_without_a_shard_asks_for_it() -> None:
    executor = Forgetful()
    total = value_and_grad(squares, shards=pairs(), executor=executor, workers=2)
    for _ in range(2):
        assert as_numbers(total(weights())) == as_numbers(in_a_loop(weights()))
    # The first call has the shards with it. The second one has not, and is repeated with them.
    assert executor.calls in ([4, 3, 0, 0, 4, 3], [4, 3, 0, 0, 3, 4])


@needs_global_lock
def test_a_worker_keeps_a_few_sums_only(threads: ThreadPoolExecutor) -> None:
    totals = [
        value_and_grad(squares, shards=pairs(), executor=threads) for _ in range(foreign.LIMIT + 3)
    ]
    for total in [*totals, *totals]:
        assert as_numbers(total(weights())) == as_numbers(in_a_loop(weights()))
        assert len(foreign._kept) <= foreign.LIMIT
    keys = {total._backend._key for total in totals}  # type: ignore[union-attr]  # of an executor
    assert keys & foreign._kept.keys()
    totals.pop().close()
    del total, totals[:]
    assert not keys & foreign._kept.keys()


@pytest.mark.slow
def test_the_default_dtype_is_that_of_the_caller() -> None:
    one = vt.ones((), dtype=vt.float64)
    with value_and_grad(by_default_dtype, shards=[one * 1, one * 2], workers=1) as total:
        vt.set_default_dtype(vt.float64)
        try:
            third = vt.full((), 1 / 3)
            assert total(third)[0].item() == 1 / 3 + 2 / 3
            assert total(third)[0].dtype is vt.float64
        finally:
            vt.set_default_dtype(vt.float32)


@pytest.mark.slow
def test_a_recorded_program_is_recorded_once_a_worker(tmp_path: Path) -> None:
    path = tmp_path / "runs"
    shards = [("append", str(path))] * 6
    with value_and_grad(command, shards=shards, workers=2) as total:
        total(vt.ones(1))
        assert len(path.read_text("utf-8")) == 6  # a single call is not recorded
        for _ in range(3):
            assert total(vt.full((1,), 2.0))[0].item() == 24.0
        runs = len(path.read_text("utf-8"))
        for n in range(3):
            value, gradient = total(vt.full((1,), float(n)))
            assert (value.item(), gradient.item()) == (6.0 * n * n, 12.0 * n)
        assert len(path.read_text("utf-8")) == runs
    path.unlink()
    with value_and_grad(command, shards=shards, workers=1, record=False) as total:
        for _ in range(3):
            total(vt.ones(1))
    assert len(path.read_text("utf-8")) == 18


@pytest.mark.slow
def test_what_cannot_be_recorded_runs_and_with_true_it_raises() -> None:
    with value_and_grad(constant, shards=[Counted(), 1], workers=1) as total:
        for _ in range(3):
            assert total(vt.ones(1))[0].item() == 4.0
    with pytest.raises(vt.errors.ShardError) as caught:
        value_and_grad(constant, vt.ones(1), [Counted()], workers=1, record=True)
    assert isinstance(caught.value.__cause__, vt.errors.RecordingError)


@needs_global_lock
def test_threads_share_memory_and_record_nothing(threads: ThreadPoolExecutor) -> None:
    runs: list[int] = []

    def f(p: Tensor, shard: Tensor) -> Tensor:
        runs.append(1)
        return (p * shard).sum()

    total = value_and_grad(f, shards=[vt.ones(3)] * 4, executor=threads)
    for _ in range(3):
        total(vt.ones(3))
    assert len(runs) == 12
    with pytest.raises(vt.errors.ShardError) as caught:
        value_and_grad(f, vt.ones(3), [vt.ones(3)], threads, record=True)
    assert isinstance(caught.value.__cause__, vt.errors.RecordingError)


def test_shards_of_many_shapes_are_not_recorded() -> None:
    assert are_recordable([vt.ones(n) for n in range(8)] * 3)
    assert not are_recordable([vt.ones(n) for n in range(9)])
    assert not are_recordable([("file", n) for n in range(9)])
    assert not are_recordable([object()])


def test_a_row_of_a_table_is_sent_without_the_table() -> None:
    table = vt.zeros(1000, 3)
    row, whole = without_rest((table[5], table))
    assert row._impl.storage.nbytes() == 12
    assert whole._impl.storage is table._impl.storage


def test_what_a_worker_holds_is_read_only_and_shares_memory() -> None:
    array, tensor, named = np.ones(3), vt.ones(3), vt.ones(3, names=("n",))
    marked, conjugated = vt.ones(3).as_subclass(Marked), vt.ones(3, dtype=vt.complex64).conj()
    tensors = [tensor, named, marked, conjugated]
    held = Held((array, tensors, "text"))
    one, (plain, with_names, subclass, conjugate), text = held.tree
    assert text == "text"
    assert (one.flags.writeable, array.flags.writeable) == (False, True)
    for given, found in zip(tensors, (plain, with_names, subclass, conjugate), strict=True):
        assert type(found) is type(given)
        assert found.names == given.names
        assert found.is_conj() == given.is_conj()
        assert found.data_ptr() == given.data_ptr()
        with pytest.raises(vt.errors.ReadOnlyError):
            found.mul_(2)
        given.mul_(3)
        assert found.tolist() == [3.0, 3.0, 3.0]
    array[0] = 5.0
    assert one[0] == 5.0


@needs_global_lock
def test_progress_counts_the_shards_on_the_calling_thread(threads: ThreadPoolExecutor) -> None:
    seen: list[tuple[int, int]] = []
    total = value_and_grad(
        squares, shards=pairs(), executor=threads, progress=lambda done, n: seen.append((done, n))
    )
    total(weights())
    assert seen == [(n, COUNT) for n in range(1, COUNT + 1)]
    assert len(total) == COUNT
    assert repr(total) == "SumOverShards(squares, 7 shards)"


@needs_global_lock
def test_two_threads_may_call_one_sum(threads: ThreadPoolExecutor) -> None:
    expected = as_numbers(in_a_loop(weights()))
    total = value_and_grad(squares, shards=pairs(), executor=threads)
    with ThreadPoolExecutor(4) as callers:
        found = [callers.submit(total, weights()) for _ in range(12)]
        assert [as_numbers(f.result()) for f in found] == [expected] * 12


@pytest.mark.slow
def test_two_threads_may_call_one_pool(totals: dict[str, Total]) -> None:
    expected = as_numbers(in_a_loop(weights()))
    with ThreadPoolExecutor(4) as callers:
        found = [callers.submit(totals["two processes"], weights()) for _ in range(12)]
        assert [as_numbers(f.result()) for f in found] == [expected] * 12
