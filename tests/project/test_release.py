"""The version, its date and what it supports are the same wherever they are written."""

import re
import tomllib
from datetime import date

import yaml

import vtgrad
from tests.project.tree import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSIONS = (ROOT / "docs" / "versions.md").read_text("utf-8")

# Version and date of each release, the newest first, as the headings have them.
RELEASES = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", CHANGELOG, re.MULTILINE)


def test_every_heading_of_the_changelog_is_a_release_with_a_date() -> None:
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert headings == ["[Unreleased]", *(f"[{version}] - {day}" for version, day in RELEASES)]
    days = [date.fromisoformat(day) for _, day in RELEASES]
    assert days == sorted(days, reverse=True)


def test_the_newest_release_is_the_one_to_cite() -> None:
    assert (CITATION["version"], CITATION["date-released"]) == RELEASES[0]


def test_the_version_is_the_newest_release_or_on_the_way_to_the_next() -> None:
    version = tuple(map(int, RELEASES[0][0].split(".")))
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(\.dev\d+)?", vtgrad.__version__)
    assert found is not None
    own = int(found[1]), int(found[2]), int(found[3])
    assert own > version if found[4] else own == version


def test_the_page_on_versions_has_what_a_release_supports() -> None:
    pythons = re.findall(r"Python :: (3\.\d+)'", str(PROJECT["classifiers"]))
    (numpy,) = [one for one in PROJECT["dependencies"] if one.startswith("numpy")]
    minor = ".".join(vtgrad.__version__.split(".")[:2])
    row = f"| {minor} | {pythons[0]} to {pythons[-1]} | {numpy.removeprefix('numpy>=')} and newer |"
    assert row in VERSIONS
    assert PROJECT["requires-python"] == f">={pythons[0]}"


def test_the_readme_names_the_newest_release() -> None:
    assert f"This is {RELEASES[0][0]}," in (ROOT / "README.md").read_text("utf-8")
