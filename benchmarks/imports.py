"""What ``import vtgrad`` adds to ``import numpy``, in fresh interpreters."""

import subprocess
import sys
from collections.abc import Iterator

from .bench import Bench
from .results import Bar, Result

SECTION = "import"
# Processor time since the interpreter was started. Bytecode is cached: the first turn is thrown
# away, in case it had to be written.
_PROGRAM = "import time, numpy{}; print(time.process_time())"


def _milliseconds(beside: str) -> float:
    command = [sys.executable, "-c", _PROGRAM.format(beside)]
    return 1000 * float(subprocess.check_output(command, text=True))


def rows(bench: Bench) -> Iterator[Result]:
    """The difference of two interpreters, turn by turn."""
    names = [name for name in bench.libraries if not (bench.quick and name == "torch")]
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(1 + bench.rounds):
        alone = _milliseconds("")
        for name in names:
            found[name].append(_milliseconds(f", {name}") - alone)
    for turns in found.values():
        del turns[0]
    yield Result(SECTION, "beside numpy, ms", "ms", found, Bar(60.0, 60.0, against=""))
