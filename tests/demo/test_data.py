"""The shipped numbers are the published ones, and damage to them is noticed."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from vtgrad.demo import verify_source
from vtgrad.demo.data import (
    NILE_SHA256,
    NileDataError,
    NileSeries,
    canonical_text,
    fingerprint,
    load_nile,
    parse_csv,
)

ROWS = canonical_text(load_nile()).splitlines()


def test_series_has_the_published_numbers() -> None:
    series = load_nile()
    assert series.years == tuple(range(1871, 1971))
    assert series.flows[:5] == (1120.0, 1160.0, 963.0, 1210.0, 1160.0)
    assert series.flows[-5:] == (746.0, 919.0, 718.0, 714.0, 740.0)
    assert series.flows[series.years.index(1913)] == 456.0 == min(series.flows)
    assert sum(series.flows) == 91935.0


def test_fingerprint_is_the_one_computed_from_statsmodels() -> None:
    expected = "15ee17272bfb03070ca5c71638cba01960bb27270658b7df249e8a57c78e5c13"
    assert fingerprint(load_nile()) == NILE_SHA256 == expected


def test_one_changed_flow_changes_the_fingerprint() -> None:
    series = load_nile()
    changed = NileSeries(series.years, (1121.0, *series.flows[1:]))
    assert fingerprint(changed) != NILE_SHA256


def test_comments_and_blank_lines_are_skipped() -> None:
    assert parse_csv(["# source", "", "year,volume", "# more", *ROWS]) == load_nile()


@pytest.mark.parametrize(
    ("lines", "part"),
    [
        ([], "header"),
        (ROWS, "header"),
        (["year,volume", *ROWS[:-1]], "years"),
        (["year,volume", ROWS[1], ROWS[0], *ROWS[2:]], "years"),
        (["year,volume", *ROWS, "1971,800"], "years"),
        (["year,volume", "1871", *ROWS[1:]], "row"),
        (["year,volume", "1871,1120,3", *ROWS[1:]], "row"),
        (["year,volume", "1871.0,1120", *ROWS[1:]], "row"),
        (["year,volume", "1871,nan", *ROWS[1:]], "row"),
        (["year,volume", "1871,inf", *ROWS[1:]], "row"),
        (["year,volume", "1871,-1120", *ROWS[1:]], "row"),
    ],
)
def test_damaged_file_is_refused(lines: list[str], part: str) -> None:
    with pytest.raises(NileDataError) as caught:
        parse_csv(lines)
    assert (caught.value.kind, caught.value.part) == ("nile-data", part)
    assert isinstance(caught.value, ValueError)


def test_altered_numbers_are_refused_on_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vtgrad.demo.data.NILE_SHA256", "0" * 64)
    with pytest.raises(NileDataError) as caught:
        load_nile()
    assert caught.value.part == "fingerprint"


def _install_statsmodels(monkeypatch: pytest.MonkeyPatch, flows: tuple[float, ...]) -> None:
    """Put a stand-in for ``statsmodels.datasets.nile`` in place, with these flows."""
    years = [float(year) for year in load_nile().years]
    columns = {"year": years, "volume": list(flows)}
    dataset = ModuleType("statsmodels.datasets.nile")
    dataset.__dict__["load_pandas"] = lambda: SimpleNamespace(data=columns)
    for name in ("statsmodels", "statsmodels.datasets"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, dataset.__name__, dataset)


def test_source_check_accepts_the_same_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _install_statsmodels(monkeypatch, load_nile().flows)
    assert verify_source.main() == 0
    assert "the same in all 100 years" in capsys.readouterr().out


def test_source_check_names_the_year_that_differs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flows = load_nile().flows
    _install_statsmodels(monkeypatch, (*flows[:42], 457.0, *flows[43:]))
    assert verify_source.main() == 1
    assert "differs: 1913: ours 456.0, theirs 457.0" in capsys.readouterr().out


def test_source_check_without_statsmodels_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    monkeypatch.delitem(sys.modules, "statsmodels.datasets", raising=False)
    monkeypatch.delitem(sys.modules, "statsmodels.datasets.nile", raising=False)
    assert verify_source.main() == 2
    assert "install statsmodels" in capsys.readouterr().err
