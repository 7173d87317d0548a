"""What is removed when the program ends, if it is not removed before."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from typing import TypeVar

__all__ = ["remove_at_exit"]

E = TypeVar("E")


def remove_at_exit(left: set[E], remove: Callable[[E], None]) -> Callable[[], None]:
    """Have everything in a set removed when the program ends, whatever is raised meanwhile.

    Parameters
    ----------
    left : set
        What is not removed yet, as files or folders.
    remove : callable
        Removes one, also from the set.

    Returns
    -------
    callable
        What Python calls at the end. It raises the last error.
    """

    def remove_all() -> None:
        failure: BaseException | None = None
        for one in tuple(left):
            try:
                remove(one)
            except BaseException as error:  # noqa: BLE001  # it is raised below
                failure = error
        if failure is not None:
            raise failure

    # Twice: what interrupts the first call outside of its `try` does not interrupt the second,
    # which also tries what was interrupted again. Python prints what they raise.
    atexit.register(remove_all)
    atexit.register(remove_all)
    return remove_all
