# Compiled by mypyc.
"""The mode of operators: whether they record, and whether they make inference tensors.

Note [Switching a mode]

A mode is switched for a block, and the block may be interrupted: a signal handler, that of Ctrl-C
included, runs after any call, at the beginning of any function and at each round of a loop, and may
raise there. The previous mode must come back in every case. So a mode is one immutable object, kept
in one attribute of the thread, and every switch has this form, no part of which may become a
function; one that encloses a call may be `run_with`, see Note [The state of a thread]:

    before, ident = thread.mode.grad, thread.ident
    try:
        thread.mode = switched.silent[ident] = thread.mode.by_grad[wanted]
        ...
    finally:
        thread.mode = switched.silent[ident] = thread.mode.by_grad[before]
        settle(ident)

The previous mode is read before ``try`` and restored by stores alone, between which no handler
runs. `settle` may be interrupted: see Note [Reading the mode].

Note [Reading the mode]

Every operator reads whether to record, every new tensor whether it is an inference tensor, and a
thread-local read is a good part of a small operator's time. So `switched` lists the threads that
may be in another mode than the usual one; while it is empty the thread-local is not read. A thread
in another mode is always listed, because mode and entry are stored together. A thread may stay
listed for longer (`settle` was interrupted, or the thread ended in the mode). Until it settles
again, that costs time and nothing else.
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
        The modes with the same `inference`, at index 0 with `grad` off, at index 1 with `grad` on.
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
    """The threads that may be in another mode than the usual one; see Note [Reading the mode].

    Attributes
    ----------
    silent : dict of int to Mode
        Threads on which operators may be not recorded. The values are not used.
    inference : dict of int to Mode
        Threads on which new tensors may differ from the usual: those that may be in inference mode,
        and those that make tensors on a lane. The values are not used.
    """

    __slots__ = ("inference", "silent")

    silent: dict[int, Mode]
    inference: dict[int, Mode]

    def __init__(self) -> None:
        self.silent = {}
        self.inference = {}


switched: Final[Switched] = Switched()
