"""`trace` and `replay`: recorded, compared, recorded anew, given up, and what they refuse."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from tests.support import needs_global_lock
from vtgrad.errors import RecordingError, ReplayGuardError
from vtgrad.jit.call import Computed, Replay
from vtgrad.jit.entry import Mismatch


def doubles(*values: float) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.float64)


def loss_and_slope(a: vt.Tensor, x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    """rate() recurrence into rows, and its gradient."""
    a = a.detach().requires_grad_()
    state = vt.zeros(6, 2, dtype=vt.float64)
    for t in range(5):
        state[t + 1] = a * state[t] + x
    loss = (state[-1] ** 2).sum()
    loss.backward()
    assert a.grad is not None
    return loss.detach(), a.grad


# New in each test: the suite hides what exists before from the collector, by which a recording
# finds tensors.
def rate() -> vt.Tensor:
    return doubles(0.5, 0.25)


def drive() -> vt.Tensor:
    return doubles(1.0, 2.0)


def same(one: object, other: object) -> bool:
    assert isinstance(one, vt.Tensor)
    assert isinstance(other, vt.Tensor)
    return one.dtype is other.dtype and one.numpy().tobytes() == other.numpy().tobytes()


def test_a_trace_has_the_bits_of_the_function_on_other_values() -> None:
    fast = vt.jit.trace(loss_and_slope, rate(), drive())
    assert fast.__name__ == "loss_and_slope"  # type: ignore[attr-defined]  # set by functools
    for seed in range(5):
        rng = np.random.default_rng(seed)
        a, x = (vt.from_numpy(rng.standard_normal(2)) for _ in range(2))
        for one, other in zip(fast(a, x), loss_and_slope(a, x), strict=True):
            assert same(one, other)


def test_results_belong_to_the_caller() -> None:
    fast = vt.jit.trace(loss_and_slope, rate(), drive())
    _, first = fast(rate(), drive())
    kept = first.clone()
    first.add_(1)
    assert same(fast(rate(), drive())[1], kept)


def test_a_replay_runs_both_ways_twice_and_then_without_the_function() -> None:
    calls: list[int] = []

    def program(a: vt.Tensor, x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        calls.append(1)
        return loss_and_slope(a, x)

    fast = vt.jit.replay(program)
    fast(rate(), drive())
    recorded = len(calls)
    assert recorded > 2
    fast(rate(), drive())
    fast(rate(), drive())
    assert len(calls) == recorded + 2
    for _ in range(5):
        assert same(fast(rate(), drive())[0], loss_and_slope(rate(), drive())[0])
    assert (len(calls), fast.recordings) == (recorded + 2, 1)


def test_what_a_training_step_changes_is_changed_once_in_each_call() -> None:
    x, y = doubles(1.0, 2.0), doubles(3.0)

    def step(w: vt.Tensor) -> vt.Tensor:
        loss = ((w * x).sum() - y).pow(2).sum()
        (slope,) = vt.autograd.grad(loss, w)
        with vt.no_grad():
            w.sub_(slope * 0.05)
        return loss.detach()

    fast_w, slow_w = (doubles(0.1, 0.2).requires_grad_() for _ in range(2))
    fast = vt.jit.replay(step)
    for count in range(1, 7):
        assert same(fast(fast_w), step(slow_w))
        assert same(fast_w.detach(), slow_w.detach())
        assert (fast_w._version, slow_w._version) == (count, count)
    assert fast.recordings == 1
    write = fast_w.writes()[-1]
    assert write.operator.startswith("replay of step, line ")
    assert write.filename == __file__


def test_gradients_of_closures_are_kept_and_added_to() -> None:
    w = doubles(1.0, 2.0).requires_grad_()

    def program(x: vt.Tensor) -> vt.Tensor:
        loss = (w * w * x).sum()
        loss.backward()
        return loss.detach()

    fast = vt.jit.replay(program)
    x = doubles(1.0, 1.0)
    for count in range(1, 8):
        fast(x)
        assert w.grad is not None
        assert w.grad.tolist() == [2.0 * count, 4.0 * count]
    # Without a .grad before, and with one.
    assert fast.recordings == 2


def test_nothing_changes_while_it_is_recorded() -> None:
    w = doubles(1.0, 2.0).requires_grad_()

    def program(x: vt.Tensor) -> vt.Tensor:
        loss = (w * x).sum()
        loss.backward()
        x.add_(1)
        return loss.detach()

    x = doubles(1.0, 1.0)
    vt.jit.trace(program, x)
    assert (x.tolist(), x._version, w.grad) == ([1.0, 1.0], 0, None)


def test_other_arguments_are_recorded_anew_up_to_eight_times() -> None:
    def program(x: vt.Tensor, n: int) -> vt.Tensor:
        return x * n

    fast = vt.jit.replay(program)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(2, 10):
            assert fast(drive(), n).tolist() == [n, 2.0 * n]
        # All of them are kept.
        assert fast(drive(), 2).tolist() == [2.0, 4.0]
    assert fast.recordings == 8
    with pytest.warns(UserWarning, match="recorded 8 times.*argument 2 is 10, and was 2"):
        assert fast(drive(), 10).tolist() == [10.0, 20.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fast(drive(), 11).tolist() == [11.0, 22.0]
    assert fast.recordings == 8


def branching(x: vt.Tensor) -> vt.Tensor:
    y = x * 2
    if y[0] > 0:
        return y + 1
    return y - 1


def test_branches_are_recorded_apart_and_chosen_by_value() -> None:
    fast = vt.jit.replay(branching)
    for _ in range(4):
        for sign in (1.0, -1.0):
            x = doubles(sign, 2.0)
            assert same(fast(x), branching(x))
    assert fast.recordings == 2


def test_a_trace_raises_where_a_value_left_it() -> None:
    fast = vt.jit.trace(branching, doubles(1.0, 2.0))
    with pytest.raises(ReplayGuardError, match=r"test_api\.py:\d+") as caught:
        fast(doubles(-1.0, 2.0))
    line = caught.value.line
    assert line is not None
    assert line[1] == branching.__code__.co_firstlineno + 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda a, x: (doubles(1, 2, 3), x), r"argument 1 has shape \[3\], and had \[2\]"),
        (lambda a, x: (a.float(), x), "argument 1 is float32, and was float64"),
        (lambda a, x: (a.requires_grad_(), x), "inside of the function"),
        (lambda a, x: ([a], x), "nested otherwise"),
        (lambda a, x: (a,), "nested otherwise"),
        (lambda a, x: (a, 1.0), "argument 2 is of type float, and was Tensor"),
    ],
)
def test_a_trace_says_which_argument_differs(
    arguments: Callable[[vt.Tensor, vt.Tensor], tuple[object, ...]], message: str
) -> None:
    fast: Callable[..., object] = vt.jit.trace(loss_and_slope, rate(), drive())
    with pytest.raises(ReplayGuardError, match=message):
        fast(*arguments(rate(), drive()))


class Pair(NamedTuple):
    first: vt.Tensor
    second: object


def test_arguments_and_results_may_be_nested() -> None:
    def program(tree: dict[str, object], pair: Pair) -> dict[str, object]:
        x, rows = tree["x"], tree["rows"]
        assert isinstance(x, vt.Tensor)
        assert isinstance(rows, list)
        return {"sum": [x + rows[0], rows[1] * 2], "pair": Pair(pair.first * 3, "text"), "n": 5}

    tree: dict[str, object] = {"x": drive(), "rows": [rate(), drive().clone()]}
    pair = Pair(rate().clone(), None)
    fast = vt.jit.trace(program, tree, pair=pair)
    found, expected = fast(tree, pair=pair), program(tree, pair)
    assert list(found) == ["sum", "pair", "n"]
    assert found["n"] == 5
    assert isinstance(found["pair"], Pair)
    assert isinstance(expected["pair"], Pair)
    assert same(found["pair"].first, expected["pair"].first)
    assert found["pair"].second == "text"
    for one, other in zip(found["sum"], expected["sum"], strict=True):  # type: ignore[call-overload]
        assert same(one, other)
    with pytest.raises(ReplayGuardError, match="nested otherwise"):
        fast({"x": drive(), "rows": (rate(), drive())}, pair=pair)


def test_a_result_that_is_an_argument_or_a_closure_is_that_object() -> None:
    w = doubles(1.0, 2.0)

    def program(x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        return x.add_(1), w

    fast = vt.jit.trace(program, doubles(1.0, 2.0))
    x = doubles(5.0, 6.0)
    first, second = fast(x)
    assert first is x
    assert second is w
    assert x.tolist() == [6.0, 7.0]


def test_random_numbers_are_drawn_anew_and_once() -> None:
    def program(x: vt.Tensor) -> vt.Tensor:
        return x + vt.rand(2, dtype=vt.float64)

    vt.manual_seed(1)
    expected = [program(drive()).tolist() for _ in range(6)]
    fast = vt.jit.replay(program)
    vt.manual_seed(1)
    assert [fast(drive()).tolist() for _ in range(6)] == expected


def test_a_failed_guard_takes_no_random_numbers() -> None:
    def program(x: vt.Tensor) -> vt.Tensor:
        y = x + vt.rand(2, dtype=vt.float64)
        return y * 2 if y[0] > 0 else y

    fast = vt.jit.trace(program, drive())
    vt.manual_seed(3)
    before = vt.get_rng_state()
    with pytest.raises(ReplayGuardError):
        fast(doubles(-5.0, 0.0))
    assert vt.get_rng_state().equal(before)


# -- what is refused, or runs as it is -----------------------------------------------------------


def test_a_result_with_a_graph_is_refused_with_what_to_do() -> None:
    w = doubles(1.0, 2.0).requires_grad_()
    with pytest.raises(RecordingError, match=r"put backward\(\) or grad into the function"):
        vt.jit.trace(lambda x: (w * x).sum(), drive())
    with pytest.raises(RecordingError, match=r"put backward\(\) or grad into the function"):
        vt.jit.replay(lambda x: (w * x).sum())(drive())


def test_the_gradient_of_a_trace_says_to_put_it_inside() -> None:
    fast = vt.jit.trace(lambda x: (x * x).sum(), drive())
    with pytest.raises(ReplayGuardError, match="inside of the function"):
        vt.func.grad(fast)(drive())
    inside = vt.jit.trace(vt.func.grad(lambda x: (x * x).sum()), drive())
    assert inside(drive()).tolist() == [2.0, 4.0]


def test_results_that_share_memory_are_refused() -> None:
    def program(x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        y = x * 2
        return y, y[0]

    with pytest.raises(RecordingError, match="result 2 shares memory with result 1"):
        vt.jit.trace(program, drive())


def test_arguments_of_unknown_types_are_refused_by_name() -> None:
    class Model:
        """Its state is not known."""

    def program(x: vt.Tensor, model: Model) -> vt.Tensor:
        return x * 2

    with pytest.raises(RecordingError, match="argument 2 of program is of type Model"):
        vt.jit.trace(program, drive(), Model())


def test_an_argument_with_a_history_is_refused() -> None:
    w = doubles(1.0, 2.0).requires_grad_()
    with pytest.raises(RecordingError, match="argument 1 of <lambda> is the result of recorded"):
        vt.jit.trace(lambda x: x.detach() * 2, w * 2)


def test_modes_in_which_nothing_is_replayed() -> None:
    fast = vt.jit.trace(lambda x: x * 2.5, drive())
    loose = vt.jit.replay(lambda x: x * 2.5)
    with vt.inference_mode():
        with pytest.raises(ReplayGuardError, match="inference mode is on"):
            fast(drive())
        with pytest.raises(RecordingError, match="inference mode is on"):
            vt.jit.trace(lambda x: x * 2.5, drive())
        assert loose(drive()).tolist() == [2.5, 5.0]
    assert vt.vmap(loose)(vt.stack([drive(), rate()])).shape == (2, 2)
    with pytest.raises(ReplayGuardError, match="vmap runs the call"):
        vt.vmap(fast)(vt.stack([drive(), rate()]))
    with pytest.warns(UserWarning, match="slower"), vt.autograd.detect_anomaly(check_nan=False):
        assert loose(drive()).tolist() == [2.5, 5.0]
    with vt.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        assert loose(drive()).tolist() == [2.5, 5.0]
    assert loose.recordings == 0


@needs_global_lock
def test_hooks_and_levels_of_other_threads_are_no_obstacle() -> None:
    fast = vt.jit.trace(lambda x: x * 2.5, drive())
    opened, over = threading.Event(), threading.Event()

    def work() -> None:
        with (
            vt.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x),
            vt.autograd.forward_ad.dual_level(),
        ):
            vt.autograd.forward_ad.make_dual(rate(), drive())
            opened.set()
            over.wait(30)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert opened.wait(30)
        assert fast(drive()).tolist() == [2.5, 5.0]
    finally:
        over.set()
        thread.join()


def test_a_tangent_is_not_carried_and_a_transform_goes_inside() -> None:
    fast = vt.jit.trace(lambda x: x * 2.5, drive())
    with pytest.raises(ReplayGuardError, match=r"has a tangent.*inside of the function"):
        vt.func.jvp(fast, (drive(),), (rate(),))
    inside = vt.jit.trace(lambda x, t: vt.func.jvp(lambda y: y * y, (x,), (t,))[1], drive(), rate())
    assert inside(drive(), rate()).tolist() == [1.0, 1.0]


def test_recording_inside_recording_is_refused_and_calls_are_inlined() -> None:
    inner = vt.jit.replay(lambda x: x * 2.5)
    with pytest.raises(RecordingError, match="while another function is being recorded"):
        vt.jit.trace(lambda x: vt.jit.trace(lambda y: y * 2.5, x)(x), drive())
    outer = vt.jit.trace(lambda x: inner(x) + 1.5, drive())
    assert outer(rate()).tolist() == [2.75, 2.125]
    assert inner.recordings == 0


def test_is_tracing_is_true_while_a_function_is_recorded() -> None:
    seen: list[bool] = []

    def program(x: vt.Tensor) -> vt.Tensor:
        seen.append(vt.jit.is_tracing())
        return x * 2.5

    fast = vt.jit.replay(program)
    fast(drive())
    assert (seen[0], seen[-1], vt.jit.is_tracing()) == (True, False, False)


def test_a_number_of_a_closure_that_changes_is_noticed_while_it_is_compared() -> None:
    scale = [1.5]
    fast = vt.jit.replay(lambda x: x * scale[0])
    fast(drive())
    scale[0] = 2.5
    with pytest.warns(UserWarning, match="result 1 differs.*not replayed any more"):
        assert fast(drive()).tolist() == [2.5, 5.0]
    assert fast(drive()).tolist() == [2.5, 5.0]


def test_a_call_that_runs_while_another_one_gives_up_is_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = 0

    def program(x: vt.Tensor) -> vt.Tensor:
        nonlocal runs
        runs += 1
        return x * 2

    fast = vt.jit.replay(program)
    fast(vt.ones(2))
    before, run = runs, Replay.run

    def given_up(self: Replay, leaves: Sequence[object]) -> Computed | Mismatch:
        """What another thread does in the midst of this call."""
        found = run(self, leaves)
        fast._give_up("another thread gives up")
        return found

    monkeypatch.setattr(Replay, "run", given_up)
    with pytest.warns(UserWarning, match="another thread gives up"):
        assert fast(vt.ones(2)).tolist() == [2, 2]
    assert runs == before + 1


@needs_global_lock
def test_two_threads_have_the_bits_of_one() -> None:
    fast = vt.jit.trace(loss_and_slope, rate(), drive())
    inputs = [vt.from_numpy(np.random.default_rng(n).standard_normal(2)) for n in range(40)]
    expected = [loss_and_slope(a, drive())[1].tolist() for a in inputs]
    found: list[list[object]] = [[], []]

    def work(mine: list[object]) -> None:
        mine.extend(fast(a, drive())[1].tolist() for a in inputs)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected, expected]


# -- what a trace shows ----------------------------------------------------------------------------


def test_operators_are_listed_and_nothing_changes() -> None:
    w = doubles(1.0, 2.0).requires_grad_()

    def program(x: vt.Tensor) -> vt.Tensor:
        x.add_(1)
        (w * x).sum().backward()
        w.grad = None
        return x * 2

    x = doubles(3.0, 4.0)
    fast = vt.jit.trace(program, x)
    assert [str(o) for o in fast.operators if o.kind == "operator"] == [
        "%0 = aten::add_(%0, 1)  # writes %0",
        "%2 = aten::mul(%1, %0)",
        "%3 = aten::sum(%2)",
        "%4 = aten::ones_like()",
        "vtgrad::fill_grads()",
        "%7 = aten::mul(%0, 2)",
    ]
    assert (x.tolist(), x._version, w.grad) == ([3.0, 4.0], 0, None)
    assert fast.operators is fast.operators


def test_code_takes_the_arguments_by_name_and_has_the_same_bits() -> None:
    fast = vt.jit.trace(loss_and_slope, rate(), drive())
    namespace: dict[str, Callable[..., tuple[object, object]]] = {}
    exec(fast.code, namespace)
    a, x = np.array([0.25, -1.5]), np.array([3.0, 0.125])
    loss, slope = namespace["replay"](a=a, x=x)
    expected = loss_and_slope(vt.from_numpy(a), vt.from_numpy(x))
    np.testing.assert_array_equal(np.asarray(loss), expected[0].numpy())
    np.testing.assert_array_equal(np.asarray(slope), expected[1].numpy())


def test_an_exported_module_has_what_the_function_closes_over(tmp_path: Path) -> None:
    w = doubles(2.0, 3.0)
    path = vt.jit.trace(lambda x: x * w, drive()).export(tmp_path / "product.py")
    script = (
        "import sys, numpy as np; import product; "
        "print(product.replay(np.array([1.0, 10.0])).tolist(), 'vtgrad' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=path.parent,
        # The compiled build is tested with the folder off the path.
        env={**os.environ, "PYTHONSAFEPATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[2.0, 30.0] False\n"


def test_an_error_while_it_is_recorded_leaves_all_as_it_was() -> None:
    w = doubles(1.0, 2.0).requires_grad_()

    def program(x: vt.Tensor) -> vt.Tensor:
        x.add_(1)
        (w * x).sum().backward()
        raise KeyboardInterrupt

    x = doubles(3.0, 4.0)
    for wrapper in (vt.jit.replay(program), lambda x: vt.jit.trace(program, x)):
        with pytest.raises(KeyboardInterrupt):
            wrapper(x)
        assert (x.tolist(), x._version, w.grad) == ([3.0, 4.0], 0, None)
        assert not vt.jit.is_tracing()


@needs_global_lock
def test_two_threads_record_at_once() -> None:
    slow, fast = vt.jit.replay(loss_and_slope), vt.jit.replay(loss_and_slope)
    expected = loss_and_slope(rate(), drive())[1].tolist()
    found: list[object] = []

    def work(function: Callable[..., tuple[vt.Tensor, vt.Tensor]]) -> None:
        found.extend(function(rate(), drive())[1].tolist() for _ in range(20))

    threads = [threading.Thread(target=work, args=(function,)) for function in (slow, fast)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 40


# -- dataclasses and methods -----------------------------------------------------------------------


@dataclass(frozen=True)
class Filtered:
    """A result with names."""

    mean: vt.Tensor
    parts: list[vt.Tensor]
    count: int = 0


def test_dataclasses_are_containers() -> None:
    def program(given: Filtered) -> Filtered:
        return Filtered(given.mean * 2, [part + 1 for part in given.parts], given.count)

    fast = vt.jit.trace(program, Filtered(rate(), [drive()], 3))
    found = fast(Filtered(doubles(3.0, 4.0), [doubles(5.0, 6.0)], 3))
    assert type(found) is Filtered
    assert (found.mean.tolist(), found.parts[0].tolist(), found.count) == (
        [6.0, 8.0],
        [6.0, 7.0],
        3,
    )
    with pytest.raises(ReplayGuardError, match="argument 3 is 4, and was 3"):
        fast(Filtered(rate(), [drive()], 4))
    with pytest.raises(ReplayGuardError, match="nested otherwise"):
        fast(Filtered(rate(), [drive(), drive()], 3))


class Model:
    """Weights, and a step that is replayed."""

    def __init__(self, scale: float) -> None:
        self.w = doubles(scale, scale)

    @vt.jit.replay
    def step(self, x: vt.Tensor) -> vt.Tensor:
        self.w.add_(x)
        return self.w * x


def test_methods_are_recorded_for_each_object() -> None:
    one, two = Model(1.0), Model(10.0)
    for count in range(1, 6):
        assert one.step(doubles(1.0, 2.0)).tolist() == [1.0 + count, 2.0 * (1 + 2 * count)]
    assert two.step(doubles(1.0, 2.0)).tolist() == [11.0, 24.0]
    assert (one.step.recordings, two.step.recordings) == (1, 1)
    # A copy has a recording of its own.
    other = copy.copy(one)
    other.w = doubles(0.0, 0.0)
    assert other.step(doubles(1.0, 2.0)).tolist() == [1.0, 4.0]
    gone = weakref.ref(one)
    del one
    assert gone() is None


def test_a_gradient_that_is_returned_is_the_gradient() -> None:
    w = doubles(1.0, 2.0).requires_grad_()

    def program(x: vt.Tensor) -> vt.Tensor | None:
        w.grad = None
        (w * x).sum().backward()
        return w.grad

    fast = vt.jit.replay(program)
    for _ in range(5):
        found = fast(drive())
        assert found is not None
        assert found is w.grad
        assert found.tolist() == [1.0, 2.0]
    with pytest.raises(RecordingError, match=r"shares memory with a \.grad"):
        vt.jit.trace(lambda x: program(x)[0], drive())  # type: ignore[index]  # not None


def test_gradients_in_place_are_of_the_live_gradient() -> None:
    w = doubles(1.0, 2.0).requires_grad_()
    w.grad = doubles(5.0, 5.0)
    kept = w.grad

    def program(x: vt.Tensor) -> vt.Tensor | None:
        assert w.grad is not None
        w.grad.mul_(2)
        (w * x).sum().backward()
        return w.grad

    fast = vt.jit.trace(program, drive())
    assert kept._version == 0
    assert fast(drive()) is kept
    assert (kept.tolist(), kept._version) == ([11.0, 12.0], 2)


def gradient_of(x: vt.Tensor) -> vt.Tensor:
    assert x.grad is not None
    return x.grad


@NEEDS_TRACE
def test_an_interrupt_of_a_training_step_leaves_all_or_nothing() -> None:
    w = doubles(1.0, 2.0).requires_grad_()

    def step(x: vt.Tensor) -> vt.Tensor:
        w.grad = None
        loss = (w * x * vt.rand(2, dtype=vt.float64)).sum()
        loss.backward()
        with vt.no_grad():
            w.sub_(gradient_of(w) * 0.5)
        return loss.detach()

    x = doubles(1.0, 1.0)
    step(x)
    fast = vt.jit.trace(step, x)
    before: list[object] = []

    def state() -> list[object]:
        return [w.tolist(), w._version, id(w.grad), vt.get_rng_state().tolist()]

    def prepare() -> Callable[[], object]:
        before[:] = state()
        return lambda: fast(x)

    def check(over: bool) -> None:
        values, version, grad, stream = state()
        assert (values == before[0]) is (grad == before[2])
        # A draw that is not undone shows in the stream, a write in the version.
        if grad == before[2]:
            assert not over
            assert stream == before[3]
        else:
            assert stream != before[3]
            assert version == before[1] + 1  # type: ignore[operator]  # a number

    assert interrupted_everywhere(prepare, check, step=3) > 30


@NEEDS_TRACE
@pytest.mark.parametrize("was_saved", [False, True])
def test_what_a_handler_saves_while_an_argument_is_written_is_new_or_stale(was_saved: bool) -> None:
    fast = vt.jit.trace(lambda x: x.add_(1.0), doubles(1.0, 2.0))
    leaf = doubles(3.0, 4.0).requires_grad_()
    made: list[tuple[vt.Tensor, list[tuple[list[float], vt.Tensor]], list[vt.Tensor]]] = []
    outcomes: set[bool] = set()

    def prepare() -> Callable[[], object]:
        x = doubles(1.0, 2.0)
        made[:] = [(x, [], [leaf * x] if was_saved else [])]
        return lambda: fast(x)

    def save() -> None:
        ((x, found, _),) = made
        found.append((x.tolist(), leaf * x))

    def check(over: bool) -> None:
        assert over
        ((x, found, earlier),) = made
        assert (x.tolist(), x._version) == ([2.0, 3.0], 1)
        for values, product in found:
            outcomes.add(values == [2.0, 3.0])
            if values == [2.0, 3.0] and not was_saved:
                (slope,) = vt.autograd.grad(product.sum(), leaf)
                assert slope.tolist() == values
            elif values != [2.0, 3.0]:
                # With a log, what is saved before the write has ended counts as older than it.
                with pytest.raises(RuntimeError, match="replay of <lambda>"):
                    product.sum().backward()
        for product in earlier:
            with pytest.raises(RuntimeError, match="replay of <lambda>"):
                product.sum().backward()

    assert interrupted_everywhere(prepare, check, save) > 30
    assert outcomes == {True, False}


def test_bytes_that_are_written_backwards_stay_in_their_order() -> None:
    def program(data: NDArray[np.uint8], x: vt.Tensor) -> vt.Tensor:
        data[::-1] += 1
        return x * 2

    data = np.arange(4, dtype=np.uint8)
    traced = vt.jit.trace(program, data, vt.ones(2))
    traced(data, vt.ones(2))
    assert data.tolist() == [1, 2, 3, 4]


@vt.jit.replay
def decorated(x: vt.Tensor) -> vt.Tensor:
    return x * 2


def not_decorated(x: vt.Tensor) -> vt.Tensor:
    return x * 3


def test_a_replayed_function_is_pickled_by_name_or_as_a_new_one_of_its_function() -> None:
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    made = vt.jit.replay(not_decorated)
    made(vt.ones(2))
    read = pickle.loads(pickle.dumps(made))
    assert (made.recordings, read.recordings) == (1, 0)
    assert read(vt.ones(2)).tolist() == [3.0, 3.0]
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(vt.jit.replay(lambda x: x))
