"""What other threads save from a buffer, while one thread is in the midst of a write to it.

What breaks it: a save that counts as older than what its own thread has written, because another
thread is at a write; a mark of such a write that a child process keeps for good.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Final

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere

pytestmark = [pytest.mark.slow, NEEDS_TRACE]

#: 3 of the product; of the root of 3 w half of the root of 3.
EXPECTED: Final = [3.866, 3.866]

Write = Callable[[vt.Tensor], object]

WRITES: dict[str, Write] = {
    "in place": lambda row: row.fill_(1),
    "out=": lambda row: vt.exp(vt.zeros(2, dtype=vt.float64), out=row),
    "two results": lambda row: vt.max(
        vt.ones(2, 2, dtype=vt.float64), 1, out=(row, vt.zeros(2, dtype=vt.int64))
    ),
}


def in_another_thread(work: Callable[[], object]) -> None:
    other = threading.Thread(target=work)
    other.start()
    other.join()


def write_and_save(row: vt.Tensor) -> object:
    """Write a row, read it, and ask for a derivative; then the same with a saved result."""
    w = vt.ones(2, requires_grad=True, dtype=vt.float64)
    row[:] = 3.0
    (w * row).sum().backward()
    assert w.grad is not None
    kept = row.detach()
    kept.mul_(w).sqrt_()
    kept.sum().backward()
    return w.grad.numpy().round(4).tolist()


@pytest.mark.parametrize("saved_before", [False, True])
@pytest.mark.parametrize("form", WRITES)
def test_another_thread_writes_and_saves_another_row(form: str, saved_before: bool) -> None:
    found: list[object] = []
    tables: list[vt.Tensor] = []

    def prepare() -> Callable[[], object]:
        table = vt.zeros(2, 2, dtype=vt.float64)
        tables.append(table)
        if saved_before:
            _ = vt.ones(2, requires_grad=True) * table[1]
        row = table[0]
        return lambda: WRITES[form](row)

    def act() -> None:
        # Not before the mark, which is made under a lock that the other thread needs.
        if tables[-1]._version:
            row = tables[-1][1]
            in_another_thread(lambda: found.append(write_and_save(row)))

    interrupted_everywhere(prepare, lambda over: None, act)
    assert len(found) > 3
    assert found == [EXPECTED] * len(found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this platform")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_process_saves_what_was_being_written() -> None:
    tables: list[vt.Tensor] = []
    codes: list[int] = []

    def prepare() -> Callable[[], object]:
        table = vt.zeros(2, 2, dtype=vt.float64)
        tables.append(table)
        return lambda: table[0].fill_(1)

    def fork() -> None:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                found: list[object] = []
                row = tables[-1][1]
                found.append(write_and_save(row))
                # A thread of the child may get the name of one that the child does not have.
                in_another_thread(lambda: found.append(write_and_save(row)))
                code = 0 if found == [EXPECTED] * 2 else 2
            finally:
                os._exit(code)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    def act() -> None:
        if tables[-1]._impl.counter.storing and not codes:
            in_another_thread(fork)

    interrupted_everywhere(prepare, lambda over: None, act)
    assert codes == [0]
