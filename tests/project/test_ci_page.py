"""What the page about continuous integration shows works as it stands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.project.tree import ROOT

PAGE = (ROOT / "docs" / "howto" / "testing-in-ci.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


def test_the_test_file_is_one_that_the_type_checker_accepts() -> None:
    checked = ROOT / "tests" / "typing" / "pass" / "operators_in_ci.py"
    assert checked.read_text(encoding="utf-8") == blocks("python")[0]


def test_the_workflow_runs_profiles_that_there_are() -> None:
    (text,) = blocks("yaml")
    workflow = yaml.safe_load(text)
    steps = workflow["jobs"]["tests"]["steps"]
    assert [step["run"].split()[2] for step in steps if "run" in step] == ["pip", "mypy", "pytest"]
    profiles = re.findall(r'register_profile\("(\w+)"', blocks("python")[1])
    named = re.findall(r"'(\w+)'", workflow["jobs"]["tests"]["env"]["HYPOTHESIS_PROFILE"])
    assert set(named) - {"schedule"} == {"night", "ci"} <= set(profiles)
    paths = {step["with"]["path"] for step in steps if "cache" in step.get("uses", "")}
    assert paths == {".hypothesis/examples"}
    assert f'"{paths.pop()}"' in blocks("python")[1]


@pytest.mark.slow
def test_the_files_run_in_a_profile_of_the_page(tmp_path: Path) -> None:
    test_file, conftest = blocks("python")
    (tmp_path / "test_operators.py").write_text(test_file, encoding="utf-8")
    # Fewer programs, which is all that is changed.
    few = re.sub(r"max_examples=\w+", "max_examples=5", conftest)
    (tmp_path / "conftest.py").write_text(few, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "HYPOTHESIS_PROFILE": "ci"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert "2 passed" in run.stdout
