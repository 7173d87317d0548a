"""The layout of generated files: as ruff formats them, with one name on each line of a list."""

import subprocess
import sys
from pathlib import Path

__all__ = ["formatted"]

ROOT = Path(__file__).resolve().parents[2]
# One call or condition fills one line as long as it can be read. Stubs keep to the width of all
# other files, and a table has one record on each line, however long: the most that ruff takes.
LINE_LENGTH = 140
WIDTH = 100
TABLE_LENGTH = 320
TABLES = ("ops/generated/operators.py", "ops/generated/forward_formulas.py")
# By its path, because `python -m ruff` starts an interpreter first, and a run of the generator has
# more than a hundred calls.
_RUFF = Path(sys.executable).parent / "ruff"

_STEPS = (
    ["check", "--quiet", "--fix-only", "--select", "F401,I,UP", "--exit-zero"],
    ["format", "--quiet"],
)

# The files of `ops/generated` that are not compiled; see Note [One source, two builds].
_INTERPRETED = frozenset(
    "__init__ forward_formulas functional methods operators patterns public random random_nodes "
    "result_classes".split()
)
_MARK = "# Compiled by mypyc.\n"


def formatted(name: str, text: str) -> str:
    """The text as it stands in a generated file; imports that it does not use are removed.

    Parameters
    ----------
    name : str
        The path of the file under the package.
    text : str
        What the emitters wrote.
    """
    length = WIDTH if name.endswith(".pyi") else TABLE_LENGTH if name in TABLES else LINE_LENGTH
    for step in _STEPS:
        options = ["--line-length", str(length), "--stdin-filename", f"vtgrad/{name}", "-"]
        done = subprocess.run(
            [_RUFF, *step, *options],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        text = done.stdout
    path = Path(name)
    if path.parent.name == "generated" and path.stem not in _INTERPRETED:
        text = _MARK + text
    return text
