"""Every operator on small operands, in several layouts, without grad: those that are over the bar.

First all calls are looked at quickly. Of each operator the worst call that is near the bar is then
measured as the rows of other sections are, and is a row if it is over the bar.
"""

import gc
import math
import time
from collections.abc import Callable, Iterator

import vtgrad
from benchmarks.bench import Bench
from benchmarks.measure import steady
from benchmarks.operator_calls import Call, calls
from benchmarks.results import Bar, Result

SECTION = "operators over the bar, small operands"
BAR = Bar(3.0, 2.0)

# The approximate length of a quick look, and the part of the bar from which it is not enough.
_LOOK_SECONDS = 0.0004
_NEAR = 0.9
_SAMPLES, _QUICK_SAMPLES = 6, 2


def rows(bench: Bench) -> Iterator[Result]:
    """The mean over all calls, and the operators that are over the bar, the worst first."""
    if "torch" not in bench.libraries:
        return
    bar = BAR.of(getattr(vtgrad, "__compiled__", False))
    means: list[list[float]] = [[] for _ in range(bench.rounds)]
    worst: dict[str, tuple[float, Call]] = {}
    for call in calls(bench.libraries, _QUICK_SAMPLES if bench.quick else _SAMPLES):
        found = _ratios(call, bench.rounds)
        for logarithms, ratio in zip(means, found, strict=True):
            logarithms.append(math.log(ratio))
        middle = sorted(found)[len(found) // 2]
        if middle > worst.get(call.operator, (0.0, call))[0]:
            worst[call.operator] = middle, call
    mean = [math.exp(math.fsum(logs) / len(logs)) for logs in means]
    yield Result(SECTION, f"mean of {len(means[0])} calls, to torch", "times", {"vtgrad": mean})
    gc.collect()
    gc.freeze()
    results = [
        bench.compare(
            SECTION, call.row, {name: steady(run) for name, run in call.programs.items()}, BAR
        )
        for ratio, call in worst.values()
        if ratio > _NEAR * bar
    ]
    yield from sorted((one for one in results if _judged(one) > bar), key=_judged, reverse=True)


def _judged(result: Result) -> float:
    found = result.judged()
    assert found is not None  # there is a bar, and its peer was measured
    return found.value


def _ratios(call: Call, rounds: int) -> list[float]:
    """The time in times of PyTorch's, of each round."""
    repeats = {name: _repeats(run) for name, run in call.programs.items()}
    found = []
    for _ in range(rounds):
        spent = {name: _time(run, repeats[name]) for name, run in call.programs.items()}
        found.append(spent["vtgrad"] / spent["torch"])
    return found


def _repeats(run: Callable[[], object]) -> int:
    """How many calls fill a quick look."""
    count = 1
    while True:
        spent = _time(run, count) * count
        if spent > _LOOK_SECONDS / 2:
            return max(1, round(count * _LOOK_SECONDS / spent))
        count *= 2


def _time(run: Callable[[], object], repeats: int) -> float:
    """CPU seconds per call."""
    start = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - start) / repeats
