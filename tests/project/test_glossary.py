"""Every place that the glossary names exists."""

import re
from collections import Counter
from pathlib import Path
from pkgutil import resolve_name

import pytest

from tests.project.tree import ROOT
from tests.sweeping import at_once, sweep

_PAGE = ROOT / "docs" / "glossary.md"
_ROW = re.compile(r"^\| (.+?) \| (.+?) \|(?: (.*?))? \|$", re.MULTILINE)
_PLACE = re.compile(r"`([\w.]+(?::[\w.]+)?)`")
_WITHOUT_PLACE = ("none",)


def _rows(page: Path = _PAGE) -> list[tuple[str, str, str]]:
    """Names, place and remarks of each entry."""
    rows: list[tuple[str, str, str]] = _ROW.findall(page.read_text("utf-8"))
    return [row for row in rows if row[0] != "name" and set(row[0]) != {"-", " "} - {" "}]


def _places() -> list[str]:
    return sorted({place for _, places, _ in _rows() for place in _PLACE.findall(places)})


def test_there_are_entries() -> None:
    assert len(_rows()) > 150
    assert len(_places()) > 120


def test_every_line_of_a_table_is_an_entry() -> None:
    lines = [line for line in _PAGE.read_text("utf-8").split("\n") if line.startswith("|")]
    heads = sum(line.startswith(("| name |", "| --- |")) for line in lines)
    assert len(lines) == len(_rows()) + heads


@sweep(_places(), row=at_once)
def test_a_place_exists(place: str) -> None:
    resolve_name(place)


def test_a_place_that_is_gone_is_found() -> None:
    for gone in ("vtgrad.graph.node:Node.gone", "vtgrad.graph.gone:Node"):
        with pytest.raises((AttributeError, ImportError)):
            resolve_name(gone)


def test_an_entry_has_a_place_or_a_reason() -> None:
    without = [row for row in _rows() if _PLACE.sub("", row[1]).strip(", ") != ""]
    assert {places for _, places, _ in without} == set(_WITHOUT_PLACE)
    assert [name for name, _, reason in without if not reason.strip()] == []


def test_no_name_has_two_entries() -> None:
    assert [name for name, n in Counter(name for name, _, _ in _rows()).items() if n > 1] == []
