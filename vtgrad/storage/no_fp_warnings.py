"""Running kernels without NumPy's floating-point warnings.

Note [Floating-point warnings]

Division by zero raises no warning in this library: the result is inf or nan, as in PyTorch. NumPy's
warnings are configured in a context variable, and entering `np.errstate` for every operator costs
several times a small addition. So each thread keeps one `contextvars.Context` in which the warnings
are off, and runs kernels inside it. The user's own setting is never changed.

A context cannot be entered twice. Kernels call no user code, but Python may run a signal handler or
a finalizer during a kernel. An operator called there is refused by the context before it has done
anything. The operator catches the error, `renew_context` gives the thread another context, and the
operator begins again; an operator that is not refused pays nothing for that.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable
from itertools import count
from typing import Final, ParamSpec, Protocol, TypeVar, cast

import numpy as np

from vtgrad.storage.thread_state import made, own, part_of_thread

__all__ = [
    "KernelThread",
    "KernelRunner",
    "no_fp_warnings",
    "no_fp_warnings_runner",
    "renew_context",
    "run_without_warnings",
]

P = ParamSpec("P")
R = TypeVar("R")

# Prefixes of the names of this package's files; native functions have short names in tracebacks.
_PACKAGE: Final = (os.path.dirname(os.path.dirname(__file__)) + os.sep, "vtgrad" + os.sep)

_numbers: Final = count(1)


def _silence() -> None:
    np.seterr(all="ignore")


def _context_without_warnings() -> contextvars.Context:
    """A fresh context in which floating-point warnings are off."""
    context = contextvars.Context()
    context.run(_silence)
    return context


class KernelRunner(Protocol):
    """Calls a function in a context."""

    def __call__(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; its result."""
        ...


def no_fp_warnings_runner() -> KernelRunner:
    """A runner of a fresh context in which floating-point warnings are off."""
    return cast("KernelRunner", _context_without_warnings().run)


class KernelThread:
    """The runner and the numbers of one thread, in one thread-local look-up.

    Attributes
    ----------
    run : KernelRunner
        Calls a kernel with floating-point warnings off.
    ident : int
        The thread, as `threading.get_ident` numbers it.
    number : int
        A number that no other thread has, not even one of a child process.
    """

    __slots__ = ("ident", "number", "run")

    run: KernelRunner
    ident: int
    number: int

    def __init__(self, number: int) -> None:
        # The bound method itself, so that a call costs no frame.
        self.run = no_fp_warnings_runner()
        self.ident = threading.get_ident()
        self.number = number


class _NoFpWarnings:
    """``no_fp_warnings.run(kernel, ...)`` calls a kernel with floating-point warnings off.

    See Note [The state of a thread].
    """

    thread: KernelThread = own(made(lambda: KernelThread(next(_numbers))))
    # The runner of `thread`, so that a call of a kernel takes one look-up.
    run: KernelRunner = own(made(lambda: no_fp_warnings.thread.run))


no_fp_warnings: _NoFpWarnings = part_of_thread(_NoFpWarnings)


def renew_context(error: BaseException) -> bool:
    """Whether a call failed because a kernel was running on this thread; a second call succeeds.

    Parameters
    ----------
    error : BaseException
        The error that `no_fp_warnings.run` raised, before it leaves this package.
    """
    if type(error) is not RuntimeError or not str(error).startswith("cannot enter context"):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None and not trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        # Raised by the user's code, which has contexts of its own.
        return False
    fresh = KernelThread(no_fp_warnings.thread.number)
    no_fp_warnings.thread = fresh
    no_fp_warnings.run = fresh.run
    return True


def run_without_warnings(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a kernel with floating-point warnings off; for calls whose speed does not matter."""
    try:
        return no_fp_warnings.run(function, *args, **kwargs)
    except RuntimeError as error:
        if not renew_context(error):
            raise
    return no_fp_warnings.run(function, *args, **kwargs)
