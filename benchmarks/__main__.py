"""The command line: run the rows, print them, keep them, and write the table of the README."""

import os

# Before NumPy is imported: its matrix products use one thread, like PyTorch's.
os.environ.update({f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")})

import argparse
import gc
import platform
import sys
from pathlib import Path

import numpy as np

import vtgrad
from benchmarks import every_operator
from benchmarks.bench import Bench
from benchmarks.libraries import PEERS, Library, load
from benchmarks.report import header, insert_table, line, markdown, operators_over
from benchmarks.results import Run
from benchmarks.suite import SECTIONS

_README = Path(__file__).parent / "README.md"
_OPERATORS = Path(__file__).parent / "OPERATORS.md"


def _processor() -> str:
    """The name of the processor, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for entry in info.read_text(encoding="utf-8").splitlines():
            if entry.startswith("model name"):
                return entry.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _libraries(skipped: list[str]) -> dict[str, Library]:
    """vtgrad and every peer that can be imported; the others are named with the reason."""
    found = {"vtgrad": load("vtgrad")}
    for name in PEERS:
        if name in skipped:
            continue
        try:
            found[name] = load(name)
        except (ImportError, AttributeError) as error:
            # The second error comes from a library that was written for another NumPy.
            print(f"{name} is left out: {type(error).__name__}: {error}")
    return found


def _run(options: argparse.Namespace) -> int:
    libraries = _libraries(options.without)
    versions = {"Python": platform.python_version(), "numpy": np.__version__}
    run = Run(
        machine={"processor": _processor(), "system": f"{platform.system()} {platform.machine()}"},
        versions=versions | {name: library.version for name, library in libraries.items()},
        compiled=getattr(vtgrad, "__compiled__", False),
        quick=options.quick,
    )
    # Objects from the imports stay alive, so no collection needs to visit them.
    gc.collect()
    gc.freeze()
    bench = Bench(libraries, rounds=3 if options.quick else 7, quick=options.quick)
    print(", ".join(f"{name} {version}" for name, version in run.versions.items()))
    print("compiled" if run.compiled else "interpreted", "build;", *run.machine.values())
    print("vtgrad: its own figure; the others: vtgrad's cost over theirs, or their own exponent")
    print(header())
    try:
        _show(bench, options.only or list(SECTIONS), run)
    finally:
        # Also the rows measured before an error or an interrupt.
        if options.json is not None:
            run.save(options.json)
    over = [result for result in run.results if result.over(run.compiled)]
    judged = sum(result.judged() is not None for result in run.results)
    print(f"{judged - len(over)} of {judged} bars met")
    return 0


def _show(bench: Bench, names: list[str], run: Run) -> None:
    """Measure, and print and keep every row as soon as it is found."""
    for name in names:
        section = SECTIONS[name]
        print(section.SECTION)
        for result in section.rows(bench):
            run.results.append(result)
            print(line(result, run.compiled), flush=True)


def _write_table(interpreted: Path, compiled: Path | None) -> int:
    runs = Run.read(interpreted), Run.read(compiled) if compiled is not None else None
    page = _README.read_text(encoding="utf-8")
    _README.write_text(insert_table(page, markdown(*runs)), encoding="utf-8")
    print(f"written into {_README}")
    if any(result.section == every_operator.SECTION for result in runs[0].results):
        _OPERATORS.write_text(operators_over(*runs), encoding="utf-8")
        print(f"written into {_OPERATORS}")
    return 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", metavar="PATH", type=Path, help="keep all figures in a file")
    parser.add_argument("--only", metavar="NAME", nargs="+", choices=SECTIONS, help="these rows")
    parser.add_argument("--without", metavar="PEER", nargs="+", choices=PEERS, default=[])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, no large sizes")
    parser.add_argument(
        "--table",
        metavar=("PATH", "COMPILED"),
        nargs="+",
        type=Path,
        help="run nothing: write the tables of one kept run, or of both builds', into the pages",
    )
    options = parser.parse_args()
    if options.table is None:
        return _run(options)
    if len(options.table) > 2:
        parser.error("--table takes the run of the interpreted build and that of the compiled one")
    return _write_table(options.table[0], options.table[1] if len(options.table) == 2 else None)


if __name__ == "__main__":
    sys.exit(main())
