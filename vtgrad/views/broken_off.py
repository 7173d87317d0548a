"""Whether a write that was broken off had been done by then.

NOTE [ Interrupted writes ]

Ctrl-C waits until the call that Python is in returns; during a write of much memory that is mostly
the call that stores, and then nothing of the write is left to do but to return. Such a write has
happened, and its version and history stay. All others are taken back.

Which it was is seen from where the error came up: kernels store with their last call (see Note
[The write funnel]), so that the write is over if, in each function on the way from the funnel to
the interrupted one, nothing follows but its return.
"""

from __future__ import annotations

from opcode import opmap
from types import CodeType
from typing import Final

__all__ = ["was_over"]

# By the numbers of this interpreter, which has not all of them.
_CALLS: Final = frozenset(
    opmap[name]
    for name in ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "CALL_FUNCTION_KW")
    if name in opmap
)
_CACHE: Final = opmap["CACHE"]
_PRECALL: Final = opmap.get("PRECALL", -1)
_JUMP: Final = opmap["JUMP_FORWARD"]
_RETURNS: Final = frozenset(opmap[name] for name in opmap if name.startswith("RETURN_"))
# What moves values around, which no error can come out of.
_MOVES: Final = frozenset(
    opmap[name]
    for name in opmap
    if name in ("CACHE", "NOP", "NOT_TAKEN", "POP_TOP", "SWAP")
    or name.startswith(("LOAD_CONST", "LOAD_FAST", "LOAD_SMALL_INT", "STORE_FAST"))
)


def was_over(error: BaseException) -> bool:
    """Whether nothing was left to do but to return, in all functions that an error came out of.

    Parameters
    ----------
    error : BaseException
        What was caught; the function that has caught it counts too. It is no `Exception`, which
        kernels may raise themselves.
    """
    seen = False
    trace = error.__traceback__
    while trace is not None:
        code, place = trace.tb_frame.f_code, trace.tb_lasti
        # Compiled functions have no instructions, and are not interrupted themselves.
        if place >= 0 and len(code.co_code) > place:
            if not _returns_after(code, place):
                return False
            seen = True
        trace = trace.tb_next
    return seen


def _returns_after(code: CodeType, place: int) -> bool:
    """Whether the instruction is a call, and the function returns after it."""
    instructions = code.co_code
    while instructions[place] == _CACHE:
        # Places inside of an instruction stand for it.
        place -= 2
    if instructions[place] == _PRECALL:
        # Of the pair that Python 3.11 makes of a call, the first may do all of it.
        while instructions[place] not in _CALLS:
            place += 2
    if instructions[place] not in _CALLS:
        return False
    while True:
        place += 2
        following = instructions[place]
        if following == _JUMP:
            place += 2 * instructions[place + 1]
        elif following in _RETURNS:
            return True
        elif following not in _MOVES:
            return False
