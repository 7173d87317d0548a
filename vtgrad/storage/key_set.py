"""The keys by which a tensor takes over the operators that are called with it.

NOTE [ Keys ]

Most tensors are an array and its gradient metadata. A tensor that is more than that, as one whose
dimensions have names, has a *key* for each kind of addition, a bit of `TensorImpl.key_set`. An
operator that is called with such a tensor does not compute: it hands the call to the handler of the
highest key among its operands, which checks, calls the same operator with the key excluded, and
finishes the result (`ops/calling/take_over.py`).

What a key adds is in the tensor's `ExtraMeta`, None for all others. Looking at it for every operand
would cost every program, so operators look at `keys.active` first, which is False until the first
tensor with a key is made in this process. It is never reset, and never wrong for long: it is set
before the tensor is given its metadata. The shortest ways, which compare layouts, do not even look
there: the layout of a tensor with a key is always `PECULIAR`, see Note [One look at a layout].

Which keys the thread excludes at this moment is `thread.excluded_keys`. It is switched in the form
of Note [Switching a mode], with one store each way:

    before = thread.excluded_keys
    try:
        thread.excluded_keys = before | NAMED
        ...
    finally:
        thread.excluded_keys = before
"""

from __future__ import annotations

from typing import Final

__all__ = ["LANE", "NAMED", "keys"]

# The bits of a key set. Of several keys the highest takes over first, so it is the outermost.
LANE: Final = 1
NAMED: Final = 2


class Keys:
    """What operators ask before they look at their operands.

    Attributes
    ----------
    active : bool
        Whether a tensor with a key was ever made in this process.
    """

    __slots__ = ("active",)

    active: bool

    def __init__(self) -> None:
        self.active = False


keys: Final[Keys] = Keys()
