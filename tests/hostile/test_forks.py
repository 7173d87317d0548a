"""A process that is forked while another thread is at work can work itself.

What breaks it: a lock that a thread held which the new process does not have.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings

import pytest

import vtgrad as vt
from vtgrad.storage.mode import switched

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this platform"),
    pytest.mark.slow,
]


def child() -> int:
    """What the new process does; its exit code."""
    if switched.silent:
        return 2
    x = vt.ones(4, requires_grad=True)
    with vt.no_grad():
        c = vt.ones(4) * 3
    for _ in range(3):
        (x * c).sum().backward()
    with vt.inference_mode():
        c = vt.rand(4)
    return 0 if x.grad is not None and x.grad.tolist() == [9, 9, 9, 9] else 1


def test_a_fork_during_the_backward_of_another_thread() -> None:
    x = vt.ones(300_000, requires_grad=True)
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            (x * 2).sum().backward()
            with vt.inference_mode(), vt.no_grad():
                vt.ones(2)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    codes = []
    try:
        for nr in range(20):
            time.sleep(0.002 * (nr % 5))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
                pid = os.fork()
            if pid == 0:
                signal.alarm(10)
                code = 3
                try:
                    code = child()
                finally:
                    os._exit(code)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert codes == [0] * 20
