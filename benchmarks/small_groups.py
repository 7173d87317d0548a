"""The rows of `benchmarks` whose time is the library's own, for `benchmarks.compare`.

    python -m benchmarks.small_groups     prints the CPU seconds of each program, as JSON

One process measures one build of vtgrad, the first on its path. A figure is the minimum of some
rounds: what disturbs a short program only makes it slower.
"""

import os

# As in `benchmarks.__main__`.
os.environ.update({f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")})

import argparse
import gc
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import (
    chains,
    cliffs,
    factorisations,
    filling,
    lstm,
    mlp,
    slices_of_one_base,
    small_operators,
    stencil,
    views_and_writes,
)
from benchmarks.bench import prepared
from benchmarks.libraries import Array, Library, load
from benchmarks.measure import Prepare, interleaved, steady

__all__ = ["groups"]

COUNT = 256
STEPS = 250


def _operators(library: Library) -> Iterator[tuple[str, dict[str, Prepare]]]:
    square = np.linspace(0.5, 1.5, 16).reshape(4, 4)
    x, w = library.constant(square), library.constant(0 * square)
    alone = small_operators.operations(x)
    # Zero is added, as in `small_operators`.
    writes = small_operators.writes(w, x * 0, library.constant(square[0]))
    yield "without grad", _steady(alone | writes)
    yield "with grad", _steady(small_operators.operations(library.leaf(square)))


def _steady(calls: Mapping[str, Callable[[], Array]]) -> dict[str, Prepare]:
    return {name: steady(call) for name, call in calls.items()}


def _views(library: Library) -> dict[str, Prepare]:
    found: dict[str, Prepare] = {}
    arrays = views_and_writes.inputs()
    for name, (body, _) in views_and_writes.PROGRAMS.items():
        found[name] = prepared(library, body, arrays, "forward")
        both = prepared(library, views_and_writes.summed(body), arrays, "both")
        found[f"{name}, backward"] = both
    return found


def _writes(library: Library) -> dict[str, Prepare]:
    bodies = slices_of_one_base.PROGRAMS | slices_of_one_base.READS
    arrays = slices_of_one_base.inputs()
    return {
        name: prepared(library, partial(body, count=COUNT), arrays, "both")
        for name, body in bodies.items()
    }


def groups(library: Library) -> dict[str, dict[str, Prepare]]:
    """The programs of each group, by name."""
    recurrence = partial(filling.march, length=STEPS)
    network, samples = mlp.inputs(*mlp.SMALL[1:]), mlp.samples(*mlp.SMALL[:2])
    cells, sequence = lstm.inputs(32), lstm.sequence(50, 16, 32)
    return {
        **dict(_operators(library)),
        "views and writes": _views(library),
        "chains": {
            "forward": prepared(library, chains.chain, chains.inputs(), "forward"),
            "backward": prepared(library, chains.chain, chains.inputs(), "backward"),
        },
        "recurrence": {
            "forward": prepared(library, recurrence, filling.inputs(), "forward"),
            "backward": prepared(library, recurrence, filling.inputs(), "backward"),
        },
        "writes into one base": _writes(library),
        "factorisations": {
            name: prepared(library, body, factorisations.inputs(32), "both")
            for name, body in factorisations.PROGRAMS.items()
        },
        "stencil": {"n = 64": prepared(library, stencil.heat, stencil.inputs(64), "both")},
        "network": {"one step": prepared(library, mlp.step, network, "both", samples)},
        "LSTM": {"50 steps": prepared(library, lstm.loop, cells, "both", sequence)},
        "cliffs": _steady(cliffs.programs(library)),
    }


def measured(only: list[str] | None, rounds: int) -> dict[str, float]:
    """The CPU seconds of each program, by group and name."""
    library = load("vtgrad")
    found: dict[str, float] = {}
    for group, programs in groups(library).items():
        if only and group not in only:
            continue
        for name, seconds in interleaved(programs, rounds).items():
            found[f"{group}: {name}"] = min(seconds)
    return found


def main() -> None:
    """Measure, and print the figures and what was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small_groups", description=__doc__)
    parser.add_argument("--only", metavar="GROUP", nargs="+", help="these groups")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    gc.collect()
    gc.freeze()
    rows = measured(options.only, options.rounds)
    # So that a caller can see that it has measured what it wanted to.
    library = Path(sys.modules["vtgrad"].__file__ or "").parent
    print(json.dumps({"library": str(library), "rows": rows}))


if __name__ == "__main__":
    main()
