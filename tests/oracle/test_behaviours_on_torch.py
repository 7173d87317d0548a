"""The behaviour tests, run on PyTorch itself: their literal numbers are PyTorch's own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_pytorch_behaves_as_the_behaviour_tests_say() -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["VTGRAD_BEHAVIOUR_BACKEND"] = "torch"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/behaviour"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|skipped)", run.stdout)}
    # An empty collection, or one that is skipped for the most part, would show nothing.
    assert counts["passed"] > 500
    assert counts.get("skipped", 0) < counts["passed"] // 5
