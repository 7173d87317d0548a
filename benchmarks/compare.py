"""Two commits side by side: which of the small programs have become slower.

    python -m benchmarks.compare REV      the files here beside the commit REV

Each round runs three processes, REV, the files here, and REV again, each of which measures all
programs of `benchmarks.small_groups`. The programs are those of this folder, in all three. A row
shows the median of the rounds' ratios, now to then, and the *spread*: the largest difference that
two runs of REV have shown in any round. A ratio that exceeds the spread makes the exit code 1.

If vtgrad has its loops in C here (`vtgrad.__loops__`), they are built for REV too, and if not, they
are switched off for both.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import vtgrad

__all__ = ["Compared", "Figures", "compared"]

ROOT = Path(__file__).resolve().parent.parent
# Where code happens to lie in memory makes this difference between equal programs.
LEAST_SPREAD = 0.02

Figures: TypeAlias = dict[str, float]
"""CPU seconds of each program, in one process."""


@dataclass(frozen=True)
class Compared:
    """One program in two commits.

    Attributes
    ----------
    name : str
        Its group and its name.
    seconds : float
        The shortest time with the older commit.
    ratio : float
        The time now, in times of the older commit.
    spread : float
        By how much two runs of the older commit differ.
    """

    name: str
    seconds: float
    ratio: float
    spread: float

    @property
    def slower(self) -> bool:
        """Whether the difference is one of the commits, and for the worse."""
        return self.ratio > 1 + self.spread

    @property
    def faster(self) -> bool:
        """Whether it is one for the better."""
        return self.ratio < 1 / (1 + self.spread)


def compared(
    then: Sequence[Figures], now: Sequence[Figures], again: Sequence[Figures]
) -> list[Compared]:
    """Every program that was measured in all processes, from the figures of each round.

    Parameters
    ----------
    then, again : sequence of dict
        The figures of the older commit, before and after those of `now`.
    now : sequence of dict
        The figures of the files here, round by round.
    """
    common = [name for name in now[0] if all(name in run for run in (*then, *now, *again))]
    rows = []
    for name in common:
        rounds = [(a[name], b[name], c[name]) for a, b, c in zip(then, now, again, strict=True)]
        # The mean of what lies before and after cancels a steady drift of the machine.
        ratio = statistics.median(b / math.sqrt(a * c) for a, b, c in rounds)
        spread = max(math.exp(abs(math.log(c / a))) - 1 for a, _, c in rounds)
        seconds = min(min(a, c) for a, _, c in rounds)
        rows.append(Compared(name, seconds, ratio, max(spread, LEAST_SPREAD)))
    return rows


def shown(rows: Sequence[Compared]) -> Iterator[str]:
    """The lines of the table, then what has become slower and faster."""
    for row in rows:
        mark = "  SLOWER" if row.slower else "  faster" if row.faster else ""
        time = f"{row.seconds * 1e6:12.2f} us"
        yield f"  {row.name:58s}{time}{row.ratio:8.3f} ±{row.spread:.3f}{mark}"
    yield ""
    for group in dict.fromkeys(row.name.partition(":")[0] for row in rows):
        ratios = [row.ratio for row in rows if row.name.startswith(f"{group}:")]
        yield f"  {group:58s}{'':15s}{statistics.geometric_mean(ratios):8.3f}"
    slower = [row.name for row in rows if row.slower]
    yield ""
    yield f"slower beyond the spread: {'; '.join(slower) or 'nothing'}"


def _git(*arguments: str) -> str:
    return subprocess.check_output(["git", *arguments], cwd=ROOT, text=True).strip()


@contextmanager
def _checked_out(revision: str, folder: Path) -> Iterator[Path]:
    """The files of a commit, with the loops in C if there are any here."""
    tree = folder / "tree"
    _git("worktree", "add", "--quiet", "--detach", str(tree), revision)
    try:
        if vtgrad.__loops__ and (tree / "vtgrad" / "_loops.c").exists():
            command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
            subprocess.run(command, cwd=tree, env=os.environ | {"VTGRAD_LOOPS": "1"}, check=True)
        yield tree
    finally:
        _git("worktree", "remove", "--force", str(tree))


def _path_of(tree: Path, folder: Path) -> str:
    """A path on which `vtgrad` is that of a tree, and `benchmarks` is this folder."""
    folder.mkdir()
    (folder / "vtgrad").symlink_to(tree / "vtgrad")
    (folder / "benchmarks").symlink_to(ROOT / "benchmarks")
    return str(folder)


def _measure(path: str, options: Sequence[str]) -> Figures:
    """The figures of one process."""
    settings = {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    if not vtgrad.__loops__:
        settings["VTGRAD_LOOPS"] = "0"
    command = [sys.executable, "-m", "benchmarks.small_groups", *options]
    found = json.loads(subprocess.check_output(command, env=os.environ | settings, text=True))
    if Path(found["library"]) != Path(path) / "vtgrad":
        raise RuntimeError(f"measured {found['library']} instead of {path}")
    rows: Figures = found["rows"]
    return rows


def _run(revision: str, rounds: int, options: Sequence[str]) -> list[Compared]:
    then: list[Figures] = []
    now: list[Figures] = []
    again: list[Figures] = []
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        with _checked_out(revision, folder) as tree:
            before, here = _path_of(tree, folder / "then"), _path_of(ROOT, folder / "now")
            for _ in range(rounds):
                for path, kept in ((before, then), (here, now), (before, again)):
                    kept.append(_measure(path, options))
    return compared(then, now, again)


def main() -> int:
    """Compare, and return 1 if something has become slower."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("revision", metavar="REV", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", metavar="GROUP", nargs="+", help="these groups of programs")
    options = parser.parse_args()
    commit = _git("rev-parse", "--verify", f"{options.revision}^{{commit}}")
    loops = "with" if vtgrad.__loops__ else "without"
    print(f"the files here beside {commit[:12]}, {loops} loops in C, {options.rounds} rounds")
    only = ["--only", *options.only] if options.only else []
    rows = _run(commit, options.rounds, only)
    print(*shown(rows), sep="\n")
    return int(any(row.slower for row in rows))


if __name__ == "__main__":
    sys.exit(main())
