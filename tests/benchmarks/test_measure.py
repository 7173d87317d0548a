"""The arithmetic of the measurements, on figures that are known. Nothing here is timed."""

import gc
import json
from collections.abc import Callable

import numpy as np
import pytest

from benchmarks import (
    chains,
    checkpoints,
    filling,
    growth,
    measure,
    peak_memory,
    reading_back,
    rewinding,
    shards,
    slices_of_one_base,
)
from benchmarks.bench import Bench
from benchmarks.libraries import load
from benchmarks.measure import Figure, figure, growth_exponent, interleaved, ratios
from benchmarks.results import Bar, Result
from benchmarks.suite import SECTIONS


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_growth_exponent_of_a_power_is_the_power(power: float) -> None:
    sizes = [250, 1000, 4000, 16_000]
    assert growth_exponent(sizes, [3e-6 * n**power for n in sizes]) == pytest.approx(power)


def test_the_growth_exponent_fits_all_points() -> None:
    # Two doublings at the price of one and of four: on the whole quadratic.
    assert growth_exponent([1, 2, 4], [1.0, 1.0, 16.0]) == pytest.approx(2.0)
    # Not the slope between the ends, which is 0.
    assert growth_exponent([1, 2, 4, 8], [1.0, 2.0, 4.0, 1.0]) == pytest.approx(0.1)


def test_a_figure_is_the_median_and_half_the_distance_of_the_quartiles() -> None:
    assert figure([5.0, 1.0, 2.0, 4.0, 3.0]) == Figure(3.0, 1.0)
    assert figure([2.0, 2.0]) == Figure(2.0, 0.0)


def test_ratios_are_taken_round_by_round() -> None:
    # The second round met a machine that was ten times slower, and the ratio stays.
    result = Result("", "", "s", {"vtgrad": [1.0, 10.0, 1.0], "torch": [2.0, 20.0, 2.0]})
    assert ratios([1.0, 10.0], [2.0, 20.0]) == [0.5, 0.5]
    assert result.beside("torch") == Figure(0.5, 0.0)
    assert result.beside("mygrad") is None
    with pytest.raises(ValueError, match="zip"):
        ratios([1.0], [1.0, 2.0])


def test_a_bar_applies_to_the_ratio_or_to_the_figure_itself() -> None:
    rounds = {"vtgrad": [3.0, 3.0], "torch": [4.0, 4.0]}
    beside_torch = Result("", "", "s", rounds, Bar(0.8, 0.5))
    assert not beside_torch.over(compiled=False)
    assert beside_torch.over(compiled=True)
    alone = Result("", "", "exponent", rounds, Bar(1.1, 1.1, against=""))
    assert alone.over(compiled=False)
    assert alone.beside("torch") == Figure(4.0, 0.0)
    without = Result("", "", "s", {"vtgrad": [3.0, 3.0]}, Bar(0.1, 0.1))
    assert without.judged() is None
    assert not without.over(compiled=False)


@pytest.mark.slow
def test_programs_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "_TARGET_SECONDS", 0.0)
    calls: list[str] = []

    def prepare(name: str) -> measure.Prepare:
        def made() -> Callable[[], object]:
            calls.append(f"prepare {name}")
            return lambda: calls.append(name)

        return made

    found = interleaved({"a": prepare("a"), "b": prepare("b")}, 3)
    assert calls[-12:] == ["prepare a", "a", "prepare b", "b"] * 3
    assert {name: len(rounds) for name, rounds in found.items()} == {"a": 3, "b": 3}


@pytest.mark.slow
@pytest.mark.parametrize(
    "section",
    [
        "small_operators",
        "views_and_writes",
        "filling",
        "reading_back",
        "rewinding",
        "slices_of_one_base",
        "factorisations",
        "stencil",
        "checkpoints",
        "mlp",
        "convolution",
        "lstm",
        "lanes",
        "shards",
        "peak_memory",
        "growth",
    ],
)
def test_a_section_yields_its_rows(section: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "_TARGET_SECONDS", 0.0)
    # Walking through all that the tests have imported, again and again, takes seconds.
    monkeypatch.setattr(gc, "collect", lambda: 0)
    for lengths in (filling, reading_back, rewinding):
        monkeypatch.setattr(lengths, "LENGTHS", (4, 8, 16))
    monkeypatch.setattr(slices_of_one_base, "COUNTS", (4, 8, 16))
    monkeypatch.setattr(growth, "SIZES", (4, 8, 16))
    monkeypatch.setattr(peak_memory, "ELEMENTS", 1000)
    monkeypatch.setattr(checkpoints, "QUICK_STEPS", 30)
    monkeypatch.setattr(shards, "ROWS", 80)
    bench = Bench({"vtgrad": load("vtgrad")}, rounds=2, quick=True)
    found = list(SECTIONS[section].rows(bench))
    assert found
    assert len({row.row for row in found}) == len(found)
    assert {row.section for row in found} == {SECTIONS[section].SECTION}
    for row in found:
        assert np.isfinite(row.own().value)


def test_operators_are_compared_with_pytorch_only() -> None:
    bench = Bench({"vtgrad": load("vtgrad")}, rounds=2, quick=True)
    assert not list(SECTIONS["every_operator"].rows(bench))


def test_a_library_that_cannot_write_takes_no_part_in_writes() -> None:
    class Frozen:
        writes = False

    both = {"vtgrad": load("vtgrad"), "frozen": Frozen()}
    bench = Bench(both, rounds=2, quick=True)  # type: ignore[arg-type]  # only `writes` is asked
    assert set(bench.able(writes=True)) == {"vtgrad"}
    assert set(bench.able(writes=False)) == {"vtgrad", "frozen"}
    assert set(bench.able(writes=False, without=["frozen"])) == {"vtgrad"}


@pytest.mark.slow
def test_the_program_for_a_fresh_interpreter_prints_every_size(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["chains", "vtgrad", "2000", "1000"])
    chains.main()
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["2000", "1000"]
    assert set(found["1000"]) == {"forward", "backward", "free", "bytes"}


def test_the_peak_is_at_least_the_minimum() -> None:
    array = np.linspace(-2.0, 2.0, 50_000, dtype=np.float32)
    library = load("vtgrad")
    least = peak_memory.minimum(array)
    assert peak_memory.peak(library, peak_memory.net, array) >= 0.99 * least
    for way in peak_memory.WAYS:
        kept = peak_memory.overwritten(array)
        assert peak_memory.peak(library, peak_memory.swing, array, way) >= 0.99 * kept
