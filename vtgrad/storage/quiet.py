"""Running kernels without NumPy's floating-point warnings.

NOTE [ Floating-point warnings ]

Dividing by zero is not an event in this library: the result is inf or nan, as in PyTorch. NumPy's
warnings are configured in a context variable, and entering `np.errstate` for every operator
costs several times a small addition. So each thread keeps one `contextvars.Context` in which the
warnings are off, and runs kernels inside it. The user's own setting is never touched. A context
cannot be entered twice. Kernels call no user code, but Python may run some while one is at work: a
signal handler or a finalizer that calls an operator just then gets a RuntimeError.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar, cast

import numpy as np

__all__ = ["QuietThread", "Runner", "quiet", "quiet_runner"]

P = ParamSpec("P")
R = TypeVar("R")


def _silence() -> None:
    np.seterr(all="ignore")


def _quiet_context() -> contextvars.Context:
    """A fresh context in which floating-point warnings are off."""
    context = contextvars.Context()
    context.run(_silence)
    return context


class Runner(Protocol):
    """Calls a function in a context."""

    def __call__(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the function returns."""


def quiet_runner() -> Runner:
    """Runs functions in a fresh context in which floating-point warnings are off."""
    return cast("Runner", _quiet_context().run)


class QuietThread:
    """What a thread needs to run a kernel and to say who it is, for one look-up.

    Attributes
    ----------
    run : Runner
        Calls a kernel with floating-point warnings off.
    ident : int
        The thread, as `threading.get_ident` numbers it.
    """

    __slots__ = ("ident", "run")

    run: Runner
    ident: int

    def __init__(self) -> None:
        # The bound method itself, so that a call costs no frame.
        self.run = quiet_runner()
        self.ident = threading.get_ident()


class _Quiet(threading.local):
    """``quiet.run(kernel, ...)`` calls a kernel with floating-point warnings off."""

    def __init__(self) -> None:
        self.thread: QuietThread = QuietThread()
        self.run: Runner = self.thread.run


quiet: _Quiet = _Quiet()
