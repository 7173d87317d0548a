"""The time that ``import vtgrad`` adds to ``import numpy``, in fresh interpreters."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.results import Bar, Result

SECTION = "import"
# Processor time since the interpreter was started.
_PROGRAM = "import time, numpy{}; print(time.process_time())"


def _milliseconds(beside: str, cache: str) -> float:
    # Bytecode is cached in any case: the user's environment may forbid writing it.
    environment = os.environ | {"PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", _PROGRAM.format(beside)]
    return 1000 * float(subprocess.check_output(command, text=True, env=environment))


def rows(bench: Bench) -> Iterator[Result]:
    """The difference of two interpreters, in alternating runs."""
    names = [name for name in bench.libraries if not (bench.quick and name == "torch")]
    found: dict[str, list[float]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(1 + bench.rounds):
            alone = _milliseconds("", cache)
            for name in names:
                found[name].append(_milliseconds(f", {name}", cache) - alone)
    # The first run compiled the bytecode.
    for turns in found.values():
        del turns[0]
    yield Result(SECTION, "beside numpy, ms", "ms", found, Bar(60.0, 60.0, against=""))
