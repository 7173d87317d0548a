"""Whether a function can be sent to another process, and why not."""

from __future__ import annotations

import os
import pickle
import sys
from typing import Final, NoReturn

from vtgrad.errors import NotPicklableError

__all__ = ["check_main", "pickled", "refuse"]

_WAYS: Final = (
    "Define it by def at the top of a module; what else it needs belongs into the shards, the "
    "parameters or functools.partial"
)


def pickled(thing: object, what: str, function: object = None) -> bytes:
    """The bytes that are sent for an object.

    Parameters
    ----------
    thing : object
        What is sent.
    what : str
        What it is, for the message.
    function : object, optional
        The user's function, if it is in it.

    Raises
    ------
    NotPicklableError
        If it cannot be pickled; the message says why.
    """
    try:
        return pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001  # raised again as the cause
        refuse(error, what, function)


def refuse(error: BaseException, what: str, function: object = None) -> NoReturn:
    """Raise the error that says why something cannot be sent.

    Raises
    ------
    NotPicklableError
        Always.
    """
    found = _reason(function)
    reason = f"{found}. {_WAYS}" if found is not None else f"{type(error).__name__}: {error}"
    raise NotPicklableError(
        f"{what} cannot be sent to another process: {reason}", reason=found or str(error)
    ) from error


def _reason(function: object) -> str | None:
    name = getattr(function, "__qualname__", None)
    if not isinstance(name, str):
        return None
    if "<lambda>" in name:
        return "it is a lambda, and pickle sends functions by their names"
    if "<locals>" in name:
        outer = name.split(".<locals>")[0]
        return f"it is defined inside of {outer}, and pickle sends functions by their names"
    return None


def check_main(function: object) -> None:
    """Refuse a main module that another process cannot import.

    Raises
    ------
    NotPicklableError
        If the program came through a pipe, or the function was typed in, or by ``python -c``.
    """
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if getattr(main, "__spec__", None) is not None or main is None:
        return
    if file is not None and not os.path.exists(file):
        raise NotPicklableError(
            f"a process that is started anew imports the main module, and there is no file {file}: "
            "write the program to a file, or pass start_method='fork' where there are forks",
            reason="the main module has no file",
        )
    if file is None and getattr(function, "__module__", None) == "__main__":
        raise NotPicklableError(
            "the function cannot be sent to a process that is started anew: it was typed in, and "
            "its main module has no file to import. Write it to a module, or pass "
            "start_method='fork' where there are forks",
            reason="the main module has no file",
        )
