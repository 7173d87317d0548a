"""Whether the garbage collector can find every tensor.

Note [Frozen objects are not found]

`gc.get_referrers` finds what refers to an object. It searches all objects except those that
``gc.freeze()`` has put aside. The count of frozen objects does not tell whether a tensor is among
them: Python 3.12.1 starts with some hundred, a program may freeze its modules before it imports
this library, and frozen objects that die leave the count.

So one list stands for all tensors. The list is older than any tensor, and ``gc.freeze()`` puts
aside every object that exists: if a tensor is hidden, the list is hidden too.
"""

from __future__ import annotations

import gc
from typing import Final

__all__ = ["may_hide_tensors"]

_HELD: Final = object()
_HOLDER: Final = [_HELD]


def may_hide_tensors() -> bool:
    """Whether ``gc.freeze()`` was called since the library was imported, and not undone.

    See Note [Frozen objects are not found].
    """
    if not gc.get_freeze_count():
        return False
    return all(holder is not _HOLDER for holder in gc.get_referrers(_HELD))
