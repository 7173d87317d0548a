"""A process that has imported the library, from which programs are forked.

The import takes most programs of the documentation longer than what they do. A forked program has
what a started one has of its own: ``__main__``, arguments, current folder, outputs, an end.
Where a system cannot fork, a new interpreter runs each program.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

from tests.project import waiting
from tests.project.tree import ROOT

__all__ = ["Done", "Ready"]

_PYTHON: Final = (sys.executable, "-W", "error")


class Done(NamedTuple):
    """What a program leaves behind."""

    code: int
    printed: str
    errors: str


class Ready:
    """The process that waits for programs; it ends when this end of its input is closed."""

    def __init__(self) -> None:
        # The profile of these tests is none of the reader's.
        self._env = {k: v for k, v in os.environ.items() if k != "HYPOTHESIS_PROFILE"}
        # Where Hypothesis keeps the constants of 600 modules, which it takes seconds to find.
        self._env["HYPOTHESIS_STORAGE_DIRECTORY"] = str(ROOT / ".hypothesis")
        self._process: subprocess.Popen[str] | None = None
        if hasattr(os, "fork"):
            self._process = subprocess.Popen(
                [*_PYTHON, waiting.__file__],
                env=self._env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
            )

    def close(self) -> None:
        """Let the process end."""
        if self._process is not None:
            self._process.communicate()

    def run(self, program: Path, outputs: Path) -> Done:
        """Run a program in its folder; where its outputs are files, they are in `outputs`."""
        if self._process is None:
            return self._started(program)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        files = [outputs / "printed", outputs / "errors"]
        print(program, *files, sep="\t", file=self._process.stdin)
        answer = self._process.stdout.readline()
        assert answer, "the process that waits for programs has ended"
        return Done(int(answer), *(path.read_text("utf-8") for path in files))

    def _started(self, program: Path) -> Done:
        run = subprocess.run(
            [*_PYTHON, str(program)],
            cwd=program.parent,
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(run.returncode, run.stdout, run.stderr)
