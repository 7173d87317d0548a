"""Breaks the library off in the middle of a call: before each call that its kernels make."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Final

import vtgrad as vt

if TYPE_CHECKING:
    from _typeshed import TraceFunction

__all__ = ["Breaker", "InjectedError", "Stack", "Watcher", "broken_off"]

#: The functions that are being called, each with the line it is at, from the innermost on.
Stack = tuple[tuple[CodeType, int], ...]

_ROOT: Final = Path(vt.__file__).parent

#: Where the work is done: everything that computes or writes elements or works out a geometry.
_WORKERS: Final = (
    "ops/kernels/",
    "ops/formulas/",
    "ops/view_impls/views.py",
    "storage/geometry.py",
    "storage/shapes.py",
    "storage/strides.py",
    "storage/storage.py",
    "views/store_inplace_result.py",
)


class InjectedError(Exception):
    """An error that no code expects."""


@functools.cache
def _calls(filename: str, files: tuple[str, ...] = _WORKERS) -> frozenset[int]:
    """The lines of a worker that call or compute something; none for other files."""
    path = Path(filename)
    if not path.is_relative_to(_ROOT):
        return frozenset()
    name = path.relative_to(_ROOT).as_posix()
    if not name.startswith(files):
        return frozenset()
    kinds = ast.Call | ast.BinOp | ast.AugAssign | ast.Subscript | ast.UnaryOp
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(
        node.lineno
        for statement in ast.walk(tree)
        if isinstance(statement, ast.stmt) and not isinstance(statement, ast.FunctionDef)
        for node in ast.walk(statement)
        if isinstance(node, kinds)
    )


class Breaker:
    """Raises at the `at`-th place where a worker is about to call something.

    Workers are all files whose name begins with one of `files`.

    Attributes
    ----------
    passed : int
        How many such places there were.
    """

    def __init__(
        self,
        at: int,
        error: type[BaseException] = InjectedError,
        files: tuple[str, ...] = _WORKERS,
    ) -> None:
        self.at = at
        self.error = error
        self.files = files
        self.passed = 0

    def __enter__(self) -> Breaker:
        self._before = sys.gettrace()
        sys.settrace(self._entered)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sys.settrace(self._before)

    def _entered(self, frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        return self._line if _calls(frame.f_code.co_filename, self.files) else None

    def _line(self, frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        if event == "line" and frame.f_lineno in _calls(frame.f_code.co_filename, self.files):
            self.passed += 1
            if self.passed == self.at:
                raise self.error(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        return self._line


class Watcher(Breaker):
    """Breaks nothing off.

    Attributes
    ----------
    stacks : list of Stack
        From where each of the places was reached.
    """

    def __init__(self, files: tuple[str, ...] = _WORKERS) -> None:
        super().__init__(sys.maxsize, files=files)
        self.stacks: list[Stack] = []

    def __enter__(self) -> Watcher:
        self._caller = sys._getframe(1)
        super().__enter__()
        return self

    def _line(self, frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        traced = super()._line(frame, event, argument)
        if self.passed > len(self.stacks):
            self.stacks.append(tuple(self._called(frame)))
        return traced

    def _called(self, frame: FrameType) -> Iterator[tuple[CodeType, int]]:
        found: FrameType | None = frame
        while found is not None and found is not self._caller:
            yield found.f_code, found.f_lineno
            found = found.f_back


def broken_off(
    call: Callable[[], object],
    at: int,
    error: type[BaseException],
    files: tuple[str, ...] = _WORKERS,
) -> bool:
    """Call; break off at place number `at`. Returns False if the call was over before."""
    with Breaker(at, error, files) as breaker:
        try:
            call()
        except error:
            return True
        except Exception:
            # A kernel may answer an error with a better one.
            if breaker.passed < at:
                raise
            return True
    return breaker.passed >= at
