"""Whole programs: what they say, and that they leave no process behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.project.tree import ROOT

pytestmark = [
    pytest.mark.xdist_group("distributed"),
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs groups of processes"),
]

_HEAD = """
import os, sys, time
import vtgrad as vt
from vtgrad.distributed import value_and_grad

def f(p, shard):
    return (p * shard).sum()

def sleep(p, shard):
    os.write(1, b"begun %d\\n" % os.getpid())
    time.sleep(shard)
    return p.sum()
"""

_UNGUARDED = """
print(value_and_grad(f, vt.ones(1), [1.0, 2.0], workers=1))
"""

# The sum is not closed: the end of the program ends its processes. A fork has its own.
_FORKED = """
if __name__ == "__main__":
    total = value_and_grad(f, shards=[1.0, 2.0], workers=2)
    assert total(vt.ones(1))[0].item() == 3.0
    child = os.fork()
    if not child:
        assert total(vt.ones(2))[0].item() == 6.0
        total.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert total(vt.ones(3))[0].item() == 9.0
    print("right")
"""

_LONG = """
if __name__ == "__main__":
    with value_and_grad(sleep, shards=[SECONDS] * 4, workers=2, start_method="fork") as total:
        total(vt.ones(1))
"""


def start(path: Path, text: str) -> subprocess.Popen[str]:
    """Run a program in a group of its own."""
    file = path / "program.py"
    file.write_text(_HEAD + text, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", str(file)],
        env=os.environ | {"PYTHONPATH": os.environ.get("PYTHONPATH", str(ROOT))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def nothing_is_left(group: int) -> bool:
    """Whether all processes of a group end soon."""
    for _ in range(1000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    os.killpg(group, signal.SIGKILL)
    return False


def test_a_main_module_without_a_guard_is_named(tmp_path: Path) -> None:
    program = start(tmp_path, _UNGUARDED)
    out, error = program.communicate(timeout=120)
    assert out == ""
    assert "vtgrad.errors.MainGuardError: a worker imports the main module" in error
    assert error.count("Traceback") == 1
    assert nothing_is_left(program.pid)


def test_the_end_of_a_program_ends_its_workers_and_those_of_its_forks(tmp_path: Path) -> None:
    program = start(tmp_path, _FORKED)
    out, error = program.communicate(timeout=120)
    assert (out, error) == ("right\n", "")
    assert nothing_is_left(program.pid)


@pytest.mark.parametrize("how", ["terminal", "killed"])
def test_ctrl_c_and_the_death_of_the_program_end_all_workers(tmp_path: Path, how: str) -> None:
    program = start(tmp_path, _LONG.replace("SECONDS", "60" if how == "terminal" else "0.5"))
    assert program.stdout is not None
    workers = {program.stdout.readline().split()[1] for _ in range(2)}
    assert len(workers) == 2
    if how == "terminal":
        # A terminal sends the signal to each process of the group.
        os.killpg(program.pid, signal.SIGINT)
        _, error = program.communicate(timeout=120)
        assert error.count("KeyboardInterrupt") == 1
        assert error.count("Traceback") == 1
    else:
        # A worker notices after its shard.
        program.kill()
        program.communicate(timeout=120)
    assert nothing_is_left(program.pid)
