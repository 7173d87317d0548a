"""What follows the operators of a thread, as the lower layers know it. Never compiled.

Note [Tracing]

While `thread.tracer` is set, each operator of the thread with a tensor among its operands goes to
the handler of the key TRACED, which calls the operator without the key and then tells the tracer
what follows for its results. Of the keys it is the last but one: operators on names, batches and
tangents are taken apart first, and what the tracer sees are operators of arrays.

Values leave tensors in other ways too: as Python numbers, as NumPy arrays, as an index. A function
that reads values without an operator calls `read_value`; what has no operator at all calls
`refuse_traced`. Both cost one look at `keys.modes` while nothing is traced:

    if keys.modes:
        read_value(tensor)

A tracer belongs to one thread. Another thread that uses a tensor with something to follow is
refused, see `is_traced_elsewhere`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from vtgrad.errors import NotSupportedError
from vtgrad.graph.thread_levels import ThreadLevels
from vtgrad.storage.key_set import TRACED, keys
from vtgrad.storage.rewind import saves_observed
from vtgrad.storage.thread_state import changed, part_of_thread, run_with

if TYPE_CHECKING:
    from vtgrad.storage.tensor_base import TensorBase
    from vtgrad.storage.tensor_impl import TensorImpl

__all__ = [
    "Tracer",
    "current_tracer",
    "detach_traced",
    "export_value",
    "is_traced_elsewhere",
    "note_hook",
    "read_value",
    "refuse_traced",
    "run_traced",
    "thread",
    "tracing",
]

R = TypeVar("R")


class Tracer:
    """What follows the operators of a thread; see Note [Tracing].

    Attributes
    ----------
    number : int
        A key of `keys.modes`.
    opaque : bool
        Whether a function runs whose inside is not looked at, as the forward of a custom Function.
    """

    __slots__ = ("number", "opaque")

    number: int
    opaque: bool

    def __init__(self, number: int) -> None:
        self.number = number
        self.opaque = False

    def knows(self, impl: TensorImpl) -> bool:
        """Whether there is something to follow in a tensor."""
        raise NotImplementedError

    def read(self, tensor: TensorBase) -> None:
        """Note that values of a tensor leave it."""
        raise NotImplementedError

    def export(self, tensor: TensorBase, what: str) -> None:
        """Note that an array shares the memory of a tensor from now on, or refuse it."""
        raise NotImplementedError

    def detached(self, tensor: TensorBase, source: TensorBase | None) -> None:
        """Note that a tensor has no derivative, though its memory may; or one as `source` has."""
        raise NotImplementedError

    def noted(self, what: str) -> None:
        """Note that derivatives in forward mode may differ from those in reverse mode."""
        raise NotImplementedError

    def copied(self, copy: TensorImpl, source: TensorImpl) -> None:
        """Note that values were copied without an operator."""
        raise NotImplementedError

    def called(self, inputs: Sequence[TensorBase], results: Sequence[TensorBase]) -> None:
        """Note that each element of the results depends on all inputs."""
        raise NotImplementedError


class _Traced(ThreadLevels):
    """The levels of a thread and its tracer; see Note [The state of a thread].

    Attributes
    ----------
    tracer : Tracer or None
        What follows the operators of this thread; see Note [Tracing].
    """

    tracer: Tracer | None = None


thread: _Traced = part_of_thread(_Traced)


class _Tracing:
    """How many tracers are open in this process.

    Attributes
    ----------
    count : int
        0 for nearly all programs.
    """

    __slots__ = ("count",)

    count: int

    def __init__(self) -> None:
        self.count = 0


tracing: Final = _Tracing()


def current_tracer() -> Tracer | None:
    """The tracer of this thread, if it follows at this moment."""
    return None if thread.excluded_keys & TRACED else thread.tracer


def is_traced_elsewhere(impl: TensorImpl) -> bool:
    """Whether a tracer of another thread follows a tensor; callers look at `tracing` first."""
    return any(isinstance(mode, Tracer) and mode.knows(impl) for mode in tuple(keys.modes.values()))


def read_value(tensor: TensorBase) -> None:
    """Tell the tracer, if there is one, that values of a tensor are used as numbers."""
    tracer = current_tracer()
    if tracer is not None and not tracer.opaque:
        tracer.read(tensor)


def detach_traced(tensor: TensorBase, source: TensorBase | None = None) -> None:
    """Tell the tracer, if there is one, that a tensor has no derivative, or one as `source` has."""
    tracer = thread.tracer
    if tracer is not None:
        tracer.detached(tensor, source)


def note_hook() -> None:
    """Tell the tracer, if there is one, that a hook may change gradients, but no tangents."""
    tracer = current_tracer()
    if tracer is not None and not tracer.opaque:
        tracer.noted("a hook of a gradient")


def export_value(tensor: TensorBase, what: str) -> None:
    """Tell the tracer, if there is one, that an array is made on the memory of a tensor.

    Raises
    ------
    NotSupportedError
        If derivatives would be lost.
    """
    tracer = current_tracer()
    if tracer is not None and not tracer.opaque:
        tracer.export(tensor, what)


def refuse_traced(impl: TensorImpl, what: str) -> None:
    """Refuse what a tracer cannot follow.

    Parameters
    ----------
    what : str
        The beginning of the message: ``resize_``.

    Raises
    ------
    NotSupportedError
        If the tensor depends on the inputs of a traced function.
    """
    tracer = current_tracer()
    if tracer is not None and not tracer.opaque and tracer.knows(impl):
        raise NotSupportedError(
            f"{what} cannot be followed to find the pattern of a Jacobian, and the tensor depends "
            "on the inputs"
        )


def run_traced(tracer: Tracer, function: Callable[[], R]) -> R:
    """Call a function while a tracer follows the operators of this thread."""
    # A signal handler may run in the midst of an operator that another tracer follows.
    settings = changed(tracer=tracer, excluded_keys=thread.excluded_keys & ~TRACED)
    opened = False
    try:
        keys.active = True
        # Saves ask for the storage, see `SavedVariable`.
        saves_observed.reasons += 1
        tracing.count += 1
        opened = True
        keys.modes[tracer.number] = tracer
        return run_with(settings, function)
    finally:
        if opened:
            tracing.count -= 1
            saves_observed.reasons -= 1
        keys.modes.pop(tracer.number, None)
