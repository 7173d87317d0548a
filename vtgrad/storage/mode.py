"""In which mode operators run: whether they record, and whether they make inference tensors.

NOTE [ Switching a mode ]

A mode is switched for a block, and what the block does may be interrupted: the handler of a signal,
Ctrl-C's among them, runs after any call, at the beginning of any function and when a loop goes
round, and may raise there. Whatever happens, the mode of before must come back. So a mode is one
immutable object, kept in one attribute of the thread, and every switch has this form, of which
nothing may be made a function:

    before, ident = thread.mode.grad, thread.ident
    try:
        thread.mode = switched.silent[ident] = thread.mode.by_grad[wanted]
        ...
    finally:
        thread.mode = switched.silent[ident] = thread.mode.by_grad[before]
        settle(ident)

What was before is read before ``try``; it comes back by stores alone, between which no handler
runs. `settle` may be interrupted: see Note [Reading the mode].

NOTE [ Reading the mode ]

Every operator asks whether it should record, every new tensor whether it is an inference tensor,
and a thread-local read is a good part of a small operator's time. So `switched` has the threads on
which the answer may not be the usual one; while it has none the thread-local is not read. A
thread is in it whenever its mode says so, because both are stored together. It may be in it for
longer (`settle` was interrupted, or the thread ended in the mode), which costs time, until it
settles again, and nothing else.
"""

from __future__ import annotations

from typing import Final

__all__ = ["Mode", "mode_of", "switched"]


class Mode:
    """A state of both switches.

    Attributes
    ----------
    grad : bool
        Whether users want operators recorded.
    inference : bool
        Whether this is inference mode; see Note [Inference tensors].
    records : bool
        Whether operators are recorded: never in inference mode.
    by_grad : tuple of Mode
        The mode that differs in `grad` at most: the one without it first.
    """

    __slots__ = ("by_grad", "grad", "inference", "records")

    grad: bool
    inference: bool
    records: bool
    by_grad: tuple[Mode, ...]

    def __init__(self, grad: bool, inference: bool) -> None:
        self.grad = grad
        self.inference = inference
        self.records = grad and not inference
        self.by_grad = ()


def _both(inference: bool) -> tuple[Mode, Mode]:
    modes = Mode(False, inference), Mode(True, inference)
    for mode in modes:
        mode.by_grad = modes
    return modes


_OUTSIDE: Final = _both(False)
_INFERENCE: Final = _both(True)


def mode_of(grad: bool, inference: bool) -> Mode:
    """The mode with these switches; there is one object for each."""
    modes = _INFERENCE if inference else _OUTSIDE
    return modes[1] if grad else modes[0]


class Switched:
    """Which threads may be in another mode than the usual one; see Note [Reading the mode].

    Attributes
    ----------
    silent : dict of int to Mode
        Threads on which operators may not be recorded. The modes mean nothing.
    inference : dict of int to Mode
        Threads that may be in inference mode.
    """

    __slots__ = ("inference", "silent")

    silent: dict[int, Mode]
    inference: dict[int, Mode]

    def __init__(self) -> None:
        self.silent = {}
        self.inference = {}


switched: Final[Switched] = Switched()
