# Compiled by mypyc.
"""The keys by which a tensor takes over the operators that are called with it.

Note [Keys]

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

Three keys follow from the moment, not from the tensor alone. A tensor is *dual* if it has a tangent
at an open level of forward mode, and so is an old view of a base that got one: no field of the view
has changed. While a thread traces, each tensor that it uses is *traced*; and while a mode sees the
functions of a thread, each tensor has the key of that. So `keys.modes` lists the open levels at
which there is a tangent, the tracers, and the blocks of such modes; while it is not empty, the
shortest ways decline every call, and `is_keyed` asks each operand. It is a dict, so that entering
and leaving is one store. All open levels are in `keys.levels`: a level without a tangent is to no
operator different from none, and costs none of them anything.

Which keys the thread excludes at this moment is `thread.excluded_keys`. It is switched in the form
of Note [Switching a mode], with one store each way, as `run_excluding` does:

    before = thread.excluded_keys
    try:
        thread.excluded_keys = before | NAMED
        ...
    finally:
        thread.excluded_keys = before
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "BATCHED",
    "DUAL",
    "FUNCTION_MODE",
    "LANE",
    "NAMED",
    "OVERRIDES",
    "TORCH_FUNCTION",
    "TORCH_FUNCTION_OF_OTHERS",
    "TRACED",
    "keys",
]

# The bits of a key set. Of several keys the highest takes over first, so it is the outermost.
# Tracing is last but one: what it follows are operators of arrays, into which the others are taken
# apart.
LANE: Final = 1
TRACED: Final = 2
DUAL: Final = 4
BATCHED: Final = 8
NAMED: Final = 16
TORCH_FUNCTION: Final = 32
# No key of a tensor: what a thread excludes with it are objects that are no tensors, and have
# ``__torch_function__``.
TORCH_FUNCTION_OF_OTHERS: Final = 64
# What each tensor has while a mode sees the functions of its thread; see Note [Function modes].
FUNCTION_MODE: Final = 128
# The keys for which code of users takes an operator over.
OVERRIDES: Final = TORCH_FUNCTION | FUNCTION_MODE


class Keys:
    """What operators ask before they look at their operands.

    Attributes
    ----------
    active : bool
        Whether a tensor with a key was ever made in this process, or a mode entered.
    levels : dict of int to object
        The open levels of forward mode, by a number that is never used again.
    modes : dict of int to object
        Those of them at which there was a tangent, the tracers, and, by negative numbers, the open
        blocks of function modes.
    """

    __slots__ = ("active", "levels", "modes")

    active: bool
    levels: dict[int, object]
    modes: dict[int, object]

    def __init__(self) -> None:
        self.active = False
        self.levels = {}
        self.modes = {}


keys: Final[Keys] = Keys()
