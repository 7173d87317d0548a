"""No file is left at the end of the program, whatever a signal handler raises meanwhile.

What breaks it: a loop over all files that ends at the first exception.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, Interrupted, interrupted_everywhere
from vtgrad.autograd import save_to_disk
from vtgrad.utils.checkpoint import snapshots

Call = Callable[[], object]

_ENDING = """
import sys
from pathlib import Path
import vtgrad as vt
from vtgrad.utils.checkpoint.snapshots import Snapshots

folder = Path(sys.argv[1])
x = vt.ones(3, requires_grad=True)
kept = []
for _ in range(4):
    with vt.autograd.graph.save_to_disk(folder):
        kept.append((x.exp() * x).sum())
for _ in range(3):
    snapshots = Snapshots(folder)
    snapshots._path(0).write_bytes(b"state")
    kept.append(snapshots)
assert len(list(folder.iterdir())) > 6

left = int(sys.argv[2])
def audited(event, args):
    global left
    if event in ("os.remove", "os.rmdir") and left and str(args[0]).startswith(str(folder)):
        left -= 1
        raise KeyboardInterrupt
sys.addaudithook(audited)
"""


@pytest.mark.slow
@pytest.mark.parametrize("interrupts", [1, 3])
def test_no_file_is_left_when_the_end_of_the_program_is_interrupted(
    tmp_path: Path, interrupts: int
) -> None:
    arguments = [sys.executable, "-c", _ENDING, str(tmp_path), str(interrupts)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=600, check=True)
    assert "KeyboardInterrupt" in done.stderr
    assert not list(tmp_path.iterdir())


# An interrupted search of a folder leaves its iterator open, about which Python warns.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@NEEDS_TRACE
@pytest.mark.parametrize("module", [save_to_disk, snapshots])
def test_no_file_is_left_wherever_the_end_of_the_program_is_interrupted(
    tmp_path: Path, module: ModuleType
) -> None:
    kept: list[object] = []

    def ending() -> None:
        """What Python does with the two registered calls."""
        try:  # noqa: SIM105  # `suppress` could be interrupted itself
            module._remove_all()
        except Interrupted:
            pass
        try:  # noqa: SIM105  # `suppress` could be interrupted itself
            module._remove_all()
        except Interrupted:
            pass

    def prepare() -> Call:
        kept.clear()
        if module is snapshots:
            for _ in range(2):
                kept.append(snapshots.Snapshots(tmp_path))
                kept[-1]._path(0).write_bytes(b"state")  # type: ignore[attr-defined]  # the line above
        else:
            x = vt.ones(3, requires_grad=True)
            with vt.autograd.graph.save_to_disk(tmp_path):
                kept.append(x.exp().sin())
        assert len(list(tmp_path.iterdir())) > 1
        return ending

    def check(over: bool) -> None:
        # At the first place nothing of the library has begun.
        if over:
            assert not list(tmp_path.iterdir())

    assert interrupted_everywhere(prepare, check) > 10
