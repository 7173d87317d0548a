"""A function and arguments, recorded and made ready for calls."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from vtgrad.jit.call import Call
from vtgrad.jit.containers import flatten
from vtgrad.jit.record import record
from vtgrad.jit.recording import Recording, Same
from vtgrad.jit.runner import prepare
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
) -> Call:
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
        # A recording knows a tensor by its impl; a result from outside is the handle itself.
        handles.clear()
        handles.update(
            {leaf._impl: leaf for leaf in flatten(result) if isinstance(leaf, TensorBase)}
        )
        return result

    recording = run_with(changed(records_calls=True), record, recorded, args, dict(kwargs))
    kept = {impl: handles[impl] for impl in _returned_from_outside(recording)}
    name = getattr(function, "__name__", type(function).__name__)
    return Call(recording, prepare(recording.program), leaves, kept, name)


def _returned_from_outside(recording: Recording) -> list[TensorImpl]:
    """The tensors from outside that are results themselves."""
    return [
        leaf.source.holder
        for leaf in flatten(recording.result)
        if isinstance(leaf, Same)
        and isinstance(leaf.source.holder, TensorImpl)
        and not leaf.source.is_grad
    ]
