"""What ``import vtgrad`` costs on top of ``import numpy``."""

import statistics
import subprocess
import sys

BAR_MS = 60.0

_PROGRAM = """
import time, numpy
start = time.process_time()
import vtgrad
print(time.process_time() - start)
"""


def milliseconds() -> float:
    """Median over fresh interpreters."""
    runs = [
        float(subprocess.check_output([sys.executable, "-c", _PROGRAM], text=True))
        for _ in range(7)
    ]
    return statistics.median(runs) * 1000
