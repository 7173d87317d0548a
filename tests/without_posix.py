"""Takes from Python what it does not have on Windows: ``python -m pytest -p tests.without_posix``.

Tests that need it are left out by name, as they are there, and everything else passes. How paths
are written, how long a C `long` is, and how often clocks tick stays as it is here.
"""

from __future__ import annotations

import os
import signal
import sys
import types
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

__all__ = ["MODULES", "OF_OS", "OF_SIGNAL", "take_away"]

#: Modules of Python that are not there.
MODULES: Final = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")

#: Functions and constants of `os` that are not there.
OF_OS: Final = """
WEXITSTATUS WIFEXITED WIFSIGNALED WNOHANG WTERMSIG chown chroot ctermid fchown fork forkpty
getegid geteuid getgid getgroups getloadavg getpgid getpgrp getpriority getsid getuid initgroups
killpg lchown memfd_create mkfifo mknod nice openpty pathconf posix_spawn posix_spawnp pread
pwrite readv register_at_fork sched_getaffinity sched_setaffinity sched_yield sendfile setegid
seteuid setgid setpgid setpriority setsid setuid statvfs sync sysconf tcgetpgrp ttyname uname
wait wait3 wait4 waitid writev
""".split()

#: Functions of `signal` that are not there; so are all signals but six.
OF_SIGNAL: Final = """
ITIMER_PROF ITIMER_REAL ITIMER_VIRTUAL ItimerError alarm getitimer pause pthread_kill
pthread_sigmask setitimer siginterrupt sigpending sigtimedwait sigwait sigwaitinfo
""".split()
_SIGNALS: Final = {"SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM"}

#: Modules of Python and of others that are written for the system that runs: they keep what they
#: have, as do all that are loaded before, pytest among them.
_KEEP: Final = """
concurrent.futures.process multiprocessing.popen_spawn_posix multiprocessing.resource_tracker numpy
shutil subprocess tempfile zipfile
""".split()


def _in_use(path: object) -> bool:
    """Whether this process has a file open or mapped, so that Windows would not remove it."""
    try:
        whole = os.path.realpath(os.fspath(path))  # type: ignore[call-overload]
        opened = {os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")}
        mapped = Path("/proc/self/maps").read_text("utf-8", errors="replace")
    except (OSError, TypeError):
        return False
    return whole in opened or f" {whole}\n" in mapped


def _unless_in_use(function: Callable[..., None]) -> Callable[..., None]:
    def remove(path: object, *others: object, **options: object) -> None:
        for one in (path, *others):
            if _in_use(one):
                raise PermissionError(13, "the file is used by another process", one)
        function(path, *others, **options)

    return remove


def _no_link(*_: object, **__: object) -> None:
    raise OSError(1314, "a required privilege is not held by the client")


def _instead(module: types.ModuleType) -> types.ModuleType:
    """A copy for modules that are loaded already."""
    copy = types.ModuleType(module.__name__)
    vars(copy).update(vars(module))
    return copy


def take_away() -> None:
    """Take it all from this process."""
    for name in _KEEP:
        import_module(name)
    changed: Any = os
    for name in ("remove", "unlink", "rename", "replace"):
        setattr(changed, name, _unless_in_use(getattr(os, name)))
    changed.symlink = changed.link = _no_link
    copies = {id(module): _instead(module) for module in (os, signal)}
    for name, module in tuple(sys.modules.items()):
        if name.split(".")[0] not in ("vtgrad", "tests", "conftest"):
            for field, value in tuple(vars(module).items()):
                if isinstance(value, types.ModuleType) and id(value) in copies:
                    setattr(module, field, copies[id(value)])
    for name in OF_OS:
        if hasattr(os, name):
            delattr(os, name)
    others = {name for name in vars(signal) if name.startswith("SIG") and name[3].isalpha()}
    for name in (*OF_SIGNAL, *(others - _SIGNALS)):
        if hasattr(signal, name):
            delattr(signal, name)
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Before the library is imported, where this file is a plugin of pytest."""
    take_away()
