"""What is kept of a run, and the table that is made of it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.every_operator import SECTION as EVERY_OPERATOR
from benchmarks.report import header, insert_table, line, markdown, operators_over
from benchmarks.results import Bar, Result, Run
from tests.project.tree import ROOT

_SLOW = Result(
    "operators",
    "add | mul",
    "s",
    {"vtgrad": [3e-6, 3e-6], "torch": [2e-6, 2e-6], "mygrad": [6e-6, 6e-6]},
    Bar(1.0, 0.45),
)
_LINEAR = Result("growth", "rows", "exponent", {"vtgrad": [1.0, 1.04]}, Bar(1.1, 1.1, against=""))
_FREE = Result("growth", "columns", "B", {"vtgrad": [100.0, 100.0], "torch": [300.0, 300.0]})


def _run(*, compiled: bool = False, quick: bool = False) -> Run:
    return Run(
        {"processor": "a processor", "system": "a system"},
        {"Python": "3.11", "vtgrad": "0.1"},
        compiled,
        quick,
        [_SLOW, _LINEAR, _FREE],
    )


def test_a_run_is_read_as_it_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    _run(quick=True).save(path)
    assert Run.read(path) == _run(quick=True)


def test_a_line_shows_ratios_and_marks_what_is_over() -> None:
    shown = line(_SLOW, compiled=False)
    assert re.search(r"add \| mul +3 us +1\.50 ±0\.00 +- +0\.50 ±0\.00 +- +- +1 +OVER$", shown)
    assert "OVER" not in line(_LINEAR, compiled=False)
    assert len(header()) == len(line(_LINEAR, compiled=False))


def test_the_table_of_one_build() -> None:
    table = markdown(_run())
    assert "Interpreted: a processor, a system; Python 3.11, vtgrad 0.1.\n" in table
    assert (
        "### Operators\n\n|  | vtgrad | torch | autograd | mygrad | numpy | strict | bar |\n"
        in table
    )
    assert "| add \\| mul | 3 us | 1.50 ±0.00 | - | 0.50 ±0.00 | - | - | 1 **over** |\n" in table
    assert "| rows | 1.02 ±0.01 | - | - | - | - | - | 1.1 met |\n" in table
    assert "| columns | 100 B | 0.33 ±0.00 | - | - | - | - |  |\n" in table
    assert table.count("### Growth") == 1


def test_the_table_of_both_builds() -> None:
    fast = replace(_SLOW, rounds=_SLOW.rounds | {"vtgrad": [5e-7, 5e-7]})
    compiled = replace(_run(compiled=True), results=[fast, _LINEAR])
    table = markdown(_run(), compiled)
    assert "Compiled: a processor" in table
    assert "| bar | compiled | bar, compiled |\n" in table
    assert "| 1 **over** | 0.25 ±0.00 | 0.45 met |\n" in table
    # A row that the compiled run lacks.
    assert re.search(r"\| columns .* \|  \| - \|  \|\n", table)
    widths = {row.replace("\\|", "").count("|") for row in table.splitlines() if row[:1] == "|"}
    assert len(widths) == 1


def test_operators_over_the_bar_have_a_page_of_their_own() -> None:
    mean = Result(EVERY_OPERATOR, "mean of 9 calls", "times", {"vtgrad": [2.0, 2.0]})
    slow = replace(_SLOW, section=EVERY_OPERATOR, row="exp strided (3,)")
    slower = replace(slow, row="erf dense (3,)", rounds=slow.rounds | {"torch": [1e-6, 1e-6]})
    interpreted = replace(_run(), results=[_SLOW, mean, slow, slower])
    compiled = replace(_run(compiled=True), results=[replace(slower, row="exp dense (3,)")])
    table = markdown(interpreted, compiled)
    assert "| mean of 9 calls | 2.00 ±0.00 |" in table
    assert "exp strided" not in table
    rows = operators_over(interpreted, compiled).splitlines()[-3:]
    assert rows == [
        "| --- | ---: | ---: |",
        "| `erf dense (3,)` | 3.00 | - |",
        "| `exp strided (3,)` | 1.50 | 3.00 |",
    ]


def test_a_run_of_the_other_build_is_refused() -> None:
    with pytest.raises(ValueError, match="not a run of the interpreted build"):
        markdown(_run(compiled=True))
    with pytest.raises(ValueError, match="not a run of the compiled build"):
        markdown(_run(), _run())


def test_the_table_replaces_what_is_between_the_markers() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    once = insert_table(page, markdown(_run()))
    assert "a processor, a system" in once
    assert once.count("### Operators") == 1
    assert insert_table(once, markdown(_run())) == once
    outside = page[: page.index("<!-- begin")]
    assert once.startswith(outside)


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="found 0"):
        insert_table("# A page\n", "table")
