"""The workflows name what there is: targets of make, Pythons, files, and the gates of `.ci/run`."""

import re
from pathlib import Path
from typing import cast

import pytest
import yaml

from tests.project.tree import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def _text(name: str) -> str:
    return (ROOT / ".github" / "workflows" / name).read_text("utf-8")


def test_every_target_that_a_workflow_makes_exists() -> None:
    named = re.findall(r"make ([a-z-]+)", "".join(map(_text, (path.name for path in WORKFLOWS))))
    linux = yaml.safe_load(_text("tests.yml"))["jobs"]["linux"]["strategy"]["matrix"]
    named += linux["target"] + [entry["target"] for entry in linux["include"]]
    assert set(named) >= {"test", "oracle", "docs", "wheels", "quick"}
    assert [name for name in named if not re.search(rf"^{name}:", MAKEFILE, re.MULTILINE)] == []


def test_every_gate_of_ci_is_a_job() -> None:
    gates = set(
        re.findall(r"^(?:\w+=\S+ )?make ([a-z-]+)", (ROOT / ".ci/run").read_text("utf-8"), re.M)
    )
    text = _text("tests.yml")
    # The other Pythons and the oldest NumPy are jobs of their own there.
    assert sorted(gate for gate in gates - {"versions"} if gate not in text) == []


def test_all_supported_pythons_are_tested_and_get_wheels() -> None:
    settings = (ROOT / "pyproject.toml").read_text("utf-8")
    supported = re.findall(r"Python :: (3\.\d+)\"", settings)
    linux = yaml.safe_load(_text("tests.yml"))["jobs"]["linux"]["strategy"]["matrix"]
    assert linux["python"] == supported
    tags = " ".join(f"cp{version.replace('.', '')}-*" for version in supported)
    assert f'build = "{tags}"' in settings


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: cast("Path", path).name)
def test_a_workflow_has_no_more_rights_than_it_needs(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    rights = {
        right for job in workflow["jobs"].values() for right in job.get("permissions", {}).items()
    }
    assert rights <= {("pages", "write"), ("id-token", "write")}


def test_only_a_tag_publishes() -> None:
    workflow = yaml.safe_load(_text("wheels.yml"))
    # YAML 1.1 reads the key `on` as true.
    assert workflow[True]["push"] == {"tags": ["v*"]}
    assert workflow["jobs"]["publish"]["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert set(workflow["jobs"]["publish"]["needs"]) == {"pure", "native"}
