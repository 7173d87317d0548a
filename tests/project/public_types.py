"""Is every public symbol of the package typed? ``python -m tests.project.public_types``.

pyright reads the package as an importer would: only the parts that ``py.typed`` vouches for.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.project.tree import ROOT


@dataclass(frozen=True)
class Completeness:
    """What ``pyright --verifytypes`` found."""

    known: int
    ambiguous: int
    unknown: int
    gaps: list[str]

    @property
    def score(self) -> float:
        """The share of public symbols whose type is known; nothing known counts as zero."""
        total = self.known + self.ambiguous + self.unknown
        return self.known / total if total else 0.0


def run_pyright(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pyright at the root, with the environment of this interpreter and no other."""
    # It asks the first `python` on the path where packages are, and with `--verifytypes` it
    # heeds no `--pythonpath`: with another interpreter it would see neither NumPy nor us.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "pyright", *arguments],
        cwd=ROOT,
        # The second variable keeps it from asking the package index for a newer version.
        env=os.environ | {"PATH": path, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def measure() -> Completeness:
    """Count the public symbols of the package as it is installed.

    Raises
    ------
    RuntimeError
        If pyright could not find or read the package.
    """
    run = run_pyright("--verifytypes", "vtgrad", "--ignoreexternal", "--outputjson")
    try:
        report = json.loads(run.stdout)["typeCompleteness"]
    except (ValueError, KeyError) as error:
        raise RuntimeError(f"pyright gave no report: {run.stdout}{run.stderr}") from error
    counts = report["exportedSymbolCounts"]
    gaps = [
        f"{symbol['name']}: {diagnostic['message']}"
        for symbol in report["symbols"]
        if symbol["isExported"] and not symbol["isTypeKnown"]
        for diagnostic in symbol["diagnostics"]
        # Warnings are about docstrings, which Ruff looks after.
        if diagnostic["severity"] == "error"
    ]
    return Completeness(
        counts["withKnownType"], counts["withAmbiguousType"], counts["withUnknownType"], gaps
    )


def main() -> int:
    """Print the gaps, and return 1 if there are any."""
    found = measure()
    for gap in found.gaps:
        print(gap)
    print(f"public symbols with a known type: {found.known} ({found.score:.1%})")
    return 0 if found.score == 1.0 else 1


if __name__ == "__main__":
    sys.exit(main())
