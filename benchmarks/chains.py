"""Chains of small operators: the cost of a node, in chains of up to a million nodes.

Long chains are measured in fresh interpreters that import one library and nothing else: the cost of
the garbage collector depends on all live objects, and memory is the increase of the process's.
"""

import argparse
import gc
import json
import mmap
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Library, Real, Toolkit, load
from benchmarks.results import Bar, Result

SECTION = "chains"
PASSES = ("forward", "backward", "free")
# MyGrad and HIPS autograd spend minutes of a million nodes in the garbage collector.
_LONG = ("vtgrad", "torch")


def chain(lib: Toolkit, x: Array, nodes: int = 1000) -> Array:
    """A product with one factor for each node, close to one so that nothing overflows."""
    del lib
    y = x
    for _ in range(nodes):
        y = y * 1.000001
    return y.sum()


def inputs() -> list[Real]:
    """The first factor."""
    return [np.linspace(0.5, 1.5, 4)]


def _resident() -> int:
    """Bytes of memory that this process occupies now."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        raise NotImplementedError("the memory of a process is measured on Linux only")
    return int(statm.read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE


def _measure(library: Library, nodes: int) -> dict[str, float]:
    """Seconds per node of each pass, and bytes per node, averaged over enough chains."""
    leaf = library.leaf(inputs()[0])
    repeats = max(1, 20_000 // nodes)
    spent = dict.fromkeys(PASSES, 0.0)
    gc.collect()
    before = _resident()
    gained = 0
    for _ in range(repeats):
        start = time.process_time()
        root = chain(library, leaf, nodes)
        spent["forward"] += time.process_time() - start
        gained = max(gained, _resident() - before)
        start = time.process_time()
        root.backward()
        spent["backward"] += time.process_time() - start
        start = time.process_time()
        del root
        spent["free"] += time.process_time() - start
        leaf.grad = None
    per_node = {name: seconds / nodes / repeats for name, seconds in spent.items()}
    return per_node | {"bytes": gained / nodes}


def _in_fresh_interpreter(library: str, sizes: Sequence[int]) -> dict[int, dict[str, float]]:
    command = [sys.executable, "-m", __spec__.name, library, *map(str, sizes)]
    printed = subprocess.check_output(command, text=True)
    return {int(nodes): found for nodes, found in json.loads(printed).items()}


def rows(bench: Bench) -> Iterator[Result]:
    """A thousand nodes beside the peers; then how the cost of a node changes with their number."""
    bars = {"forward": Bar(1.1, 0.5), "backward": Bar(0.5, 0.25)}
    yield bench.compare_body(
        SECTION, "1,000 nodes, forward", chain, inputs(), "forward", bars["forward"]
    )
    yield bench.compare_body(
        SECTION, "1,000 nodes, backward", chain, inputs(), "backward", bars["backward"]
    )
    # The longest first, while the process has no freed memory in reserve.
    sizes = [10_000, 1000, 100] if bench.quick else [1_000_000, 100_000, 10_000, 1000, 100]
    names = [name for name in _LONG if name in bench.libraries]
    turns = [
        {name: _in_fresh_interpreter(name, sizes) for name in names}
        for _ in range(2 if bench.quick else 3)
    ]
    for part in PASSES:
        for nodes in sorted(sizes):
            yield Result(
                SECTION,
                f"{nodes:,} nodes, {part} of one",
                "s",
                {name: [turn[name][nodes][part] for turn in turns] for name in names},
            )
        longest = sizes[0]
        relative = {
            name: [turn[name][longest][part] / turn[name][1000][part] for turn in turns]
            for name in names
        }
        row = f"{part}, a node of {longest:,} / of 1,000"
        yield Result(SECTION, row, "times", relative, Bar(2.0, 2.0, against=""))
    yield Result(
        SECTION,
        f"{sizes[0]:,} nodes, bytes per node",
        "B",
        {name: [turn[name][sizes[0]]["bytes"] for turn in turns] for name in names},
        Bar(1.0, 1.0),
    )


def main() -> None:
    """Measure one library, and print the figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chains", description=__doc__)
    parser.add_argument("library", choices=_LONG)
    parser.add_argument("nodes", nargs="+", type=int)
    options = parser.parse_args()
    library = load(options.library)
    print(json.dumps({nodes: _measure(library, nodes) for nodes in options.nodes}))


if __name__ == "__main__":
    main()
