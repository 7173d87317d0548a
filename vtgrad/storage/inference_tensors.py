# Compiled by mypyc.
"""Tensors that never take part in a backward pass.

Note [Inference tensors]

A tensor made in inference mode is an inference tensor: nothing that is recorded may depend on its
values staying as they are, so its writes are not counted. Instead of a version counter it has
`INFERENCE`, one object for all inference tensors, which is passed to their views as counters are.
The value of `INFERENCE` means nothing and is never read: code that would have to read it (a saved
value, the version attribute) raises an error. Writes outside of inference mode are refused before
any other check, so that a graph never holds an inference tensor whose values change.

The mode is a switch of each thread, see Note [Reading the mode].
"""

from __future__ import annotations

from vtgrad.errors import InferenceWriteError
from vtgrad.storage.extra_meta import ExtraMeta
from vtgrad.storage.mode import switched
from vtgrad.storage.thread_mode import thread
from vtgrad.storage.version_counter import INFERENCE, VersionCounter

__all__ = [
    "counter_of_new",
    "extra_of_new",
    "is_inference_mode_enabled",
    "refuse_outside_inference_mode",
]


def is_inference_mode_enabled() -> bool:
    """Whether new tensors of this thread are inference tensors.

    Returns
    -------
    bool
        False at first, in every thread; `inference_mode` switches it.

    Examples
    --------
    >>> with vt.inference_mode():
    ...     vt.is_inference_mode_enabled()
    True
    """
    return bool(switched.inference) and thread.mode.inference


def counter_of_new() -> VersionCounter | None:
    """The first counter of a tensor made on this thread."""
    return INFERENCE if is_inference_mode_enabled() else None


def extra_of_new() -> ExtraMeta | None:
    """The rare properties of a tensor made on this thread; see Note [Tensors made on a lane]."""
    return thread.extra_of_new


def refuse_outside_inference_mode() -> None:
    """Raise if an inference tensor may not be written now.

    Raises
    ------
    InferenceWriteError
        Outside of inference mode, also while nothing is recorded.
    """
    if not is_inference_mode_enabled():
        raise InferenceWriteError(
            "cannot write to an inference tensor outside of inference mode: its writes "
            "are not counted, so a graph that uses it could not tell. Write inside "
            "inference_mode, or to a clone, which is a normal tensor"
        )
