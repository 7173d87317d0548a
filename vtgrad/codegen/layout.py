"""The layout of generated files: as ruff formats them, with lists of names packed in lines."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

__all__ = ["formatted"]

ROOT = Path(__file__).resolve().parents[2]
# One call or condition fills one line as long as it can be read. Lists of names and stubs keep to
# the width of all other files.
LINE_LENGTH = 140
WIDTH = 100
# By its path, because `python -m ruff` starts an interpreter first, and a run of the generator has
# more than a hundred calls.
_RUFF = Path(sys.executable).parent / "ruff"

_STEPS = (
    ["check", "--quiet", "--fix-only", "--select", "F401,I,UP", "--exit-zero"],
    ["format", "--quiet", "--config", "format.skip-magic-trailing-comma=true"],
)

# The files of `ops/generated` that are not compiled; see Note [One source, two builds].
_INTERPRETED = frozenset(
    "__init__ forward_formulas functional methods operators patterns public random random_nodes "
    "result_classes".split()
)
_MARK = "# Compiled by mypyc.\n"

# An import or `__all__` with one name on each line.
_LIST = re.compile(
    r"^(?P<head>from \S+ import \(|__all__ = \[)\n(?P<names>(?:    \S.*,\n)+)(?P<tail>[)\]])$", re.M
)


def formatted(name: str, text: str) -> str:
    """The text as it stands in a generated file; imports that it does not use are removed.

    Parameters
    ----------
    name : str
        The path of the file under the package.
    text : str
        What the emitters wrote.
    """
    is_stub = name.endswith(".pyi")
    length = WIDTH if is_stub else LINE_LENGTH
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
    # In stubs, imports stay as the linter wants them.
    return _LIST.sub(
        lambda found: found[0] if is_stub and found["head"][0] == "f" else _packed(found), text
    )


def _packed(found: re.Match[str]) -> str:
    """A list of names with as many on a line as there is room for."""
    names = [line.strip().replace(" ", "\0") for line in found["names"].splitlines()]
    lines = textwrap.wrap(" ".join(names), WIDTH - 4, break_long_words=False)
    body = "".join(f"    {line}\n" for line in lines).replace("\0", " ")
    return f"{found['head']}\n{body}{found['tail']}"
