"""Hypothesis is a dependency of those who generate programs, not of those who import vtgrad."""

import subprocess
import sys

import pytest

QUESTION = "import sys, {}; print('hypothesis' in sys.modules)"


def imports_hypothesis(module: str) -> bool:
    command = [sys.executable, "-c", QUESTION.format(module)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return found.stdout.strip() == "True"


@pytest.mark.slow
def test_only_machine_and_checking_import_hypothesis() -> None:
    assert not imports_hypothesis("vtgrad")
    assert not imports_hypothesis("vtgrad.testing.session")
    assert not imports_hypothesis("vtgrad.testing.writer")
    assert imports_hypothesis("vtgrad.testing.machine")
    assert imports_hypothesis("vtgrad.testing.checking")
    assert not imports_hypothesis("vtgrad.testing.custom")
