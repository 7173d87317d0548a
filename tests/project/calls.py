"""Which functions of the package a statement calls."""

import ast
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

import vtgrad as vt
from vtgrad.lanes import device_threads

_HOME = Path(vt.__file__).parent
# They are functions of their own in Python 3.11 and no longer in 3.12.
_PART_OF_A_FUNCTION = ("<listcomp>", "<dictcomp>", "<setcomp>")
_thread_init = device_threads.thread_init


def _noted_thread(note: Callable[..., None], queue: device_threads.SharedReadyQueue) -> None:
    """The work of a lane's thread, whose calls are noted too."""
    sys.setprofile(note)
    _thread_init(queue)


def calls_of_the_last_statement(program: str) -> list[tuple[str, str]]:
    """Every function of vtgrad that the last statement calls: its name and its module."""
    *before, last = ast.parse(program).body
    calls: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        path = Path(code.co_filename)
        inside = code.co_name not in _PART_OF_A_FUNCTION and path.is_relative_to(_HOME)
        if event == "call" and inside:
            calls.append((code.co_qualname, path.relative_to(_HOME).with_suffix("").as_posix()))

    for _ in range(2):  # What is made on first use would be called in the first round only.
        namespace: dict[str, object] = {}
        exec(compile(ast.Module(before, []), "walk", "exec"), namespace)
        calls.clear()
        walk = compile(ast.Module([last], []), "walk", "exec")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(device_threads, "thread_init", partial(_noted_thread, note))
            sys.setprofile(note)
            try:
                exec(walk, namespace)
            finally:
                sys.setprofile(None)
    return calls
