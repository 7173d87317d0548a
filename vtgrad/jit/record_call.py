"""A function and arguments, recorded and made ready for calls."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import TypeVar

import numpy as np

from vtgrad.errors import RecordingError
from vtgrad.jit.call import Replay
from vtgrad.jit.containers import flatten
from vtgrad.jit.record import record
from vtgrad.jit.recording import Recording, Same
from vtgrad.jit.runner import prepare
from vtgrad.jit.steps import Line
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import changed, run_with

__all__ = ["record_call"]

R = TypeVar("R")


def record_call(
    function: Callable[..., R],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    leaves: Sequence[object],
) -> Replay:
    """Record a function; memory, versions, ``.grad`` and generators are then as before.

    Parameters
    ----------
    function : callable
        What is recorded; it runs several times.
    args, kwargs : tuple and mapping
        Its arguments.
    leaves : sequence of object
        The same, as `containers.flatten` lists them.

    Raises
    ------
    RecordingError
        If it does what is not recorded.
    """
    handles: dict[TensorImpl, TensorBase] = {}

    @functools.wraps(function)
    def recorded(*args: object, **kwargs: object) -> R:
        result = function(*args, **kwargs)
        check_results(result)
        # A recording knows a tensor by its impl; a result from outside is the handle itself.
        handles.clear()
        handles.update(
            {leaf._impl: leaf for leaf in flatten(result) if isinstance(leaf, TensorBase)}
        )
        return result

    recording: Recording = run_with(
        changed(records_calls=True), record, recorded, args, dict(kwargs)
    )
    kept = {impl: handles[impl] for impl in _returned_from_outside(recording)}
    recording.line = recording.line or line_of(function)
    name = getattr(function, "__name__", type(function).__name__)
    return Replay(recording, prepare(recording.program), leaves, kept, name)


def line_of(function: object) -> Line | None:
    """The line at which a function is defined, if it has one."""
    for name in ("__wrapped__", "__func__", "func"):
        function = getattr(function, name, function)
    code = getattr(function, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if isinstance(code, CodeType) else None


def check_results(result: object) -> None:
    """Refuse results that a replay could not make as the function does.

    Raises
    ------
    RecordingError
        If a graph is alive behind a result, or results share memory.
    """
    found: list[tuple[int, object, Array]] = []
    for number, leaf in enumerate(flatten(result), 1):
        if isinstance(leaf, TensorBase):
            meta = leaf._impl.autograd_meta
            if meta is not None and meta.needs_gradient() and meta.was_produced():
                raise _refused(
                    f"result {number} is connected to a graph, in which a replay takes no part: "
                    "put backward() or grad into the function and return the gradients, or return "
                    "detach()",
                    "graph",
                )
        array = leaf._impl.array if isinstance(leaf, TensorBase) else leaf
        if isinstance(array, np.ndarray) and array.size:
            for other, known, memory in found:
                if known is leaf or np.may_share_memory(memory, array):
                    raise _refused(
                        f"result {number} shares memory with result {other}: return a copy, by "
                        "clone()",
                        "shared results",
                    )
            found.append((number, leaf, array))


def _refused(text: str, reason: str) -> RecordingError:
    return RecordingError(text, reason=reason, library=None, line=None)


def _returned_from_outside(recording: Recording) -> list[TensorImpl]:
    """The tensors from outside that are results themselves."""
    return [
        leaf.source.holder
        for leaf in flatten(recording.result)
        if isinstance(leaf, Same)
        and isinstance(leaf.source.holder, TensorImpl)
        and not leaf.source.is_grad
    ]
