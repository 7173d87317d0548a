"""The ways to run a program that reads what it wrote, and the cost of each.

A program takes `clone`: whether it copies the values that it reads, before an operator saves them.
Both passes are measured together, because PyTorch's own way of keeping overwritten values ends with
its block.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Literal, TypeAlias

from benchmarks.bench import Bench
from benchmarks.libraries import Body, Library, Real
from benchmarks.measure import Prepare, growth_exponent, interleaved, ratios, steady
from benchmarks.results import Bar, Result

__all__ = ["Way", "alone", "beside_peers", "both_passes"]

Way: TypeAlias = Literal["exact", "rewind", "clone"]
"""Unchanged, by default; inside `allow_mutation_on_saved_tensors`; with copies."""

GROWTH = 1.1


def both_passes(library: Library, body: Body, arrays: Sequence[Real], way: Way) -> Prepare:
    """Both passes of a program."""
    if way == "clone":
        body = partial(body, clone=True)
    run = library.differentiate(body, arrays)
    if way != "rewind":
        return steady(run)
    keeping: Callable[[], object] = partial(_rewinding, library, run)
    return steady(keeping)


def _rewinding(library: Library, run: Callable[[], object]) -> None:
    with library.ops.autograd.graph.allow_mutation_on_saved_tensors():
        run()


@contextmanager
def _without_collector() -> Iterator[None]:
    """Switch the collector off: its passes over all live objects grow with the program."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def alone(
    bench: Bench,
    section: str,
    name: str,
    body: Body,
    arrays: Sequence[Real],
    lengths: Sequence[int],
    bars: Mapping[Way, float | None],
) -> Iterator[Result]:
    """The growth of each way with the length, and its time beside copies at the largest.

    Parameters
    ----------
    bars : mapping of Way to float or None
        The ways, and the largest time of each in units of the time with copies.
    """
    ours = bench.libraries["vtgrad"]
    ways: list[Way] = [*bars, "clone"]
    programs = {
        f"{way} {length}": both_passes(ours, partial(body, length=length), arrays, way)
        for length in lengths
        for way in ways
    }
    with _without_collector():
        costs = interleaved(programs, 3)
    for way in ways:
        turns = zip(*(costs[f"{way} {length}"] for length in lengths), strict=True)
        found = {"vtgrad": [growth_exponent(lengths, turn) for turn in turns]}
        bar = None if way == "clone" else Bar(GROWTH, GROWTH, against="")
        yield Result(section, f"{name}, {way}, T to {lengths[-1]:,}", "exponent", found, bar)
    last = lengths[-1]
    for way, most in bars.items():
        found = {"vtgrad": ratios(costs[f"{way} {last}"], costs[f"clone {last}"])}
        row = f"{name}, {way} / clone, T = {last:,}"
        limit = None if most is None else Bar(most, most, against="")
        yield Result(section, row, "times", found, limit)


def beside_peers(
    bench: Bench,
    section: str,
    name: str,
    body: Body,
    arrays: Sequence[Real],
    way: Way,
    without: Sequence[str] = (),
) -> Result:
    """A program beside the ways of the peers, at a length that takes them seconds.

    PyTorch copies beside the exact rule, and keeps overwritten values beside rewind; MyGrad runs
    the program unchanged.
    """
    length = 100 if bench.quick else 1000
    theirs: dict[str, Way] = {
        "vtgrad": way,
        "torch": "rewind" if way == "rewind" else "clone",
        "mygrad": "exact",
    }
    able = bench.able(writes=True, without=without)
    programs = {
        peer: both_passes(library, partial(body, length=length), arrays, theirs[peer])
        for peer, library in able.items()
    }
    with _without_collector():
        return bench.compare(section, f"{name}, {way}, T = {length:,}", programs, rounds=3)
