"""A run, line by line on a terminal and as a table for the README."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from benchmarks.every_operator import SECTION as EVERY_OPERATOR
from benchmarks.libraries import PEERS
from benchmarks.measure import Figure
from benchmarks.operator_calls import LAYOUTS
from benchmarks.results import Result, Run

__all__ = ["COLUMNS", "header", "insert_table", "line", "markdown", "operators_over"]

# By hand in two ways: the one that the bar applies to, and the one that reuses all memory; see
# `large_arrays`.
COLUMNS = (*PEERS, "numpy", "strict")
_BEGIN = "<!-- begin: python -m benchmarks --table -->"
_END = "<!-- end -->"
# What ends the name of an operator in a row of `every_operator`.
_LAYOUT = f" (?:{'|'.join(LAYOUTS)})(?: |$)"


def _rounded(value: float) -> str:
    """Two digits after the point, more if they would all be zero."""
    return f"{value:.2f}" if abs(value) >= 0.095 or value == 0 else f"{value:.2g}"


def _quantity(value: float, unit: str) -> str:
    """A figure with its unit, scaled for reading."""
    if unit == "s":
        for factor, name in ((1e9, "ns"), (1e6, "us"), (1e3, "ms")):
            if value * factor < 1000:
                return f"{value * factor:.3g} {name}"
        return f"{value:.2f} s"
    rounded = f"{value:.0f} {unit}"
    return rounded if unit in ("B", "ms", "us") else _rounded(value)


def _with_spread(found: Figure | None) -> str:
    return "-" if found is None else f"{_rounded(found.value)} ±{_rounded(found.spread)}"


def _own(result: Result) -> str:
    """vtgrad's own figure; the spread of seconds is that of the ratios."""
    own = result.own()
    quantity = _quantity(own.value, result.unit)
    return quantity if result.unit in ("s", "B") else f"{quantity} ±{_rounded(own.spread)}"


def _bar(result: Result, compiled: bool) -> str:
    return "" if result.bar is None else f"{result.bar.of(compiled):g}"


def header() -> str:
    """The heading above the lines."""
    peers = "".join(f"{name:>14s}" for name in COLUMNS)
    return f"{'':44s}{'vtgrad':>14s}{peers}{'bar':>6s}"


def line(result: Result, compiled: bool) -> str:
    """One row for a terminal."""
    peers = "".join(f"{_with_spread(result.beside(name)):>14s}" for name in COLUMNS)
    mark = "  OVER" if result.over(compiled) else ""
    return f"  {result.row:42s}{_own(result):>14s}{peers}{_bar(result, compiled):>6s}{mark}"


def markdown(interpreted: Run, compiled: Run | None = None) -> str:
    """The table of one run, or of the runs of both builds side by side.

    The operators that `operators_over` lists are left out.
    """
    other = {} if compiled is None else _by_place(compiled)
    head = ["", "vtgrad", *COLUMNS, "bar"]
    if compiled is not None:
        head += ["compiled", "bar, compiled"]
    lines = _provenances(interpreted, compiled)
    rows = [r for r in interpreted.results if r.section != EVERY_OPERATOR or r.bar is None]
    for section, found in groupby(rows, key=lambda r: r.section):
        lines += ["", f"### {section[0].upper()}{section[1:]}", "", _cells(head)]
        lines.append(_cells(["---"] + ["---:"] * (len(head) - 1)))
        for result in found:
            cells = [result.row, _own(result)]
            cells += [_with_spread(result.beside(name)) for name in COLUMNS]
            cells.append(_marked(result, False))
            if compiled is not None:
                cells += _compiled_cells(other.get((result.section, result.row)))
            lines.append(_cells(cells))
    return "\n".join(lines) + "\n"


def operators_over(interpreted: Run, compiled: Run | None = None) -> str:
    """The page of the operators that are over the bar.

    Each build has measured the worst call that it has found of an operator. The interpreted one's
    is shown; an operator that is missing in one build is within that build's bar.
    """
    slow = _operators(interpreted)
    others = {} if compiled is None else _operators(compiled)
    calls = {name: call for name, (call, _) in (others | slow).items()}
    lines = ["# Operators over the bar", ""]
    lines += ["Written by `python -m benchmarks --table`; README.md says why they are slower.", ""]
    lines += _provenances(interpreted, compiled)
    lines += [_cells(["worst call", "times PyTorch", "compiled"]), _cells(["---", "---:", "---:"])]
    for name in sorted(
        calls, key=lambda name: [-f.get(name, ("", 0.0))[1] for f in (slow, others)]
    ):
        shown = (_rounded(f[name][1]) if name in f else "-" for f in (slow, others))
        lines.append(_cells([f"`{calls[name]}`", *shown]))
    return "\n".join(lines) + "\n"


def _operators(run: Run) -> dict[str, tuple[str, float]]:
    """The rows of single operators, by operator, with the figures that their bar is for."""
    judged = [(r.row, r.judged()) for r in run.results if r.section == EVERY_OPERATOR]
    return {
        re.split(_LAYOUT, row)[0]: (row, figure.value)
        for row, figure in judged
        if figure is not None
    }


def _by_place(run: Run) -> Mapping[tuple[str, str], Result]:
    return {(r.section, r.row): r for r in run.results}


def _provenances(interpreted: Run, compiled: Run | None) -> list[str]:
    lines = [_provenance(interpreted, False)]
    return lines if compiled is None else [*lines, _provenance(compiled, True)]


def _marked(result: Result, compiled: bool) -> str:
    """The bar, with a mark if the row exceeds it."""
    bar = _bar(result, compiled)
    if not bar or result.judged() is None:
        return bar
    return f"{bar} **over**" if result.over(compiled) else f"{bar} met"


def _compiled_cells(result: Result | None) -> list[str]:
    """The figure of the compiled build to which its bar applies."""
    if result is None:
        return ["-", ""]
    judged = result.judged() or result.beside("torch") or result.own()
    return [_with_spread(judged), _marked(result, True)]


def _provenance(run: Run, compiled: bool) -> str:
    """Machine and versions of a run; refuses a run of the other build."""
    if run.compiled is not compiled:
        expected = "compiled" if compiled else "interpreted"
        raise ValueError(f"this is not a run of the {expected} build")
    build = "Compiled" if run.compiled else "Interpreted"
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    machine = ", ".join(run.machine.values())
    quick = " (`--quick`: few rounds, small sizes)" if run.quick else ""
    return f"{build}: {machine}; {versions}{quick}.\n"


def _cells(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def insert_table(page: str, table: str) -> str:
    """A page whose table, between its markers, is replaced."""
    pattern = re.compile(f"{re.escape(_BEGIN)}.*?{re.escape(_END)}", re.DOTALL)
    replaced, count = pattern.subn(lambda _: f"{_BEGIN}\n{table}{_END}", page)
    if count != 1:
        raise ValueError(f"expected one pair of markers {_BEGIN} ... {_END}, found {count}")
    return replaced
