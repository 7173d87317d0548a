# Compiled by mypyc.
"""How a view was made, and the writes that this forbids.

Note [Creation of views]

A write through a view gives its base a new producer, and every other view of that base must then
be able to find its own producer again. Some views cannot: those that are one of several results
of a node, those made while nothing was recorded, and those made inside custom code. The argument of
a function that is differentiated (`TRANSFORM_ARGUMENT`) could, but a write would change the tensor
of the caller, which only an argument that is no leaf would allow. Each view
records how it was made, a view of a view inherits its parent's restriction, and the one table here
defines what happens when such a view, or its base, is written.

`MULTI_OUTPUT_SAFE` is the mark of a view that is one of several, though each could be written
alone; PyTorch declares it, and no operator there or here gives it.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final

from vtgrad.errors import (
    CustomFunctionViewError,
    InferenceViewError,
    MultiOutputViewError,
    NoGradViewError,
    TransformArgumentError,
    ViewInvalidError,
)
from vtgrad.storage.inference_tensors import is_inference_mode_enabled
from vtgrad.storage.recent_writes import CallSite, Write, quoted
from vtgrad.storage.version_counter import Site

__all__ = ["CreationMeta", "made_unrecorded", "propagate", "refuse_if_restricted"]


class CreationMeta(enum.Enum):
    """How a view was made."""

    DEFAULT = 0
    IN_CUSTOM_FUNCTION = 1
    MULTI_OUTPUT_NODE = 2
    NO_GRAD_MODE = 3
    MULTI_OUTPUT_SAFE = 4
    INFERENCE_MODE = 5
    TRANSFORM_ARGUMENT = 6


_REFUSALS: Final[dict[CreationMeta, tuple[type[ViewInvalidError], str, str]]] = {
    CreationMeta.IN_CUSTOM_FUNCTION: (
        CustomFunctionViewError,
        "it was made inside a custom Function, or is an input that one returned unchanged",
        "clone the Function's result before writing to it",
    ),
    CreationMeta.MULTI_OUTPUT_NODE: (
        MultiOutputViewError,
        "it is one of several views that a single operator returned",
        "use select, narrow or tensor_split, whose results may be written, or clone it first",
    ),
    CreationMeta.NO_GRAD_MODE: (
        NoGradViewError,
        "it was made under no_grad, so its base does not know of it",
        "make the view with recording on, or write under no_grad as well",
    ),
    CreationMeta.MULTI_OUTPUT_SAFE: (
        MultiOutputViewError,
        "it is one of several views that a single operator returned",
        "use select, narrow or tensor_split, whose results may be written, or clone it first",
    ),
    CreationMeta.INFERENCE_MODE: (
        InferenceViewError,
        "it was made in inference mode, so its base does not know of it",
        "make the view outside of inference mode, or write inside it as well",
    ),
    CreationMeta.TRANSFORM_ARGUMENT: (
        TransformArgumentError,
        "it is, or is a view of, the argument by which a function is differentiated",
        "write to a clone of the argument",
    ),
}


def propagate(parent: CreationMeta, own: CreationMeta) -> CreationMeta:
    """The record of a view of a view: its own restriction, otherwise its parent's.

    A parent made in inference mode takes precedence over the mode and the operator of the view
    itself: recorded history ends at the parent.
    """
    if own is CreationMeta.DEFAULT:
        return parent
    if parent is CreationMeta.INFERENCE_MODE and own is not CreationMeta.IN_CUSTOM_FUNCTION:
        return parent
    return own


def made_unrecorded() -> CreationMeta:
    """The record of a view made of a normal tensor while nothing is recorded."""
    if is_inference_mode_enabled():
        return CreationMeta.INFERENCE_MODE
    return CreationMeta.NO_GRAD_MODE


def refuse_if_restricted(
    creation: CreationMeta,
    *,
    modified: bool,
    producer: str,
    made_at: Site | None = None,
    writes: Sequence[Write] = (),
) -> None:
    """Raise if a view that was made this way may not be written.

    Parameters
    ----------
    creation : CreationMeta
        How the view was made.
    modified : bool
        False before a write to the view; True after a write to its base, when the view's producer
        is read.
    producer : str
        The view's producer, for the message.
    made_at : Site, optional
        The line that made the view.
    writes : sequence of Write
        The known writes since the producer was valid.

    Raises
    ------
    ViewInvalidError
        The subclass that the table names.
    """
    if creation is CreationMeta.DEFAULT:
        return
    kind, reason, advice = _REFUSALS[creation]
    what = (
        "cannot be used any more, because its base, or another view of it, was written in place"
        if modified
        else "cannot be written in place while recording"
    )
    text = f"a view ({producer}) {what}: {reason}. {advice[0].upper()}{advice[1:]}"
    call_site = CallSite.of(made_at)
    if call_site is not None:
        text += quoted(f"made at {call_site}", call_site)
    # The first of them made the view invalid.
    write = writes[0] if modified and writes else None
    if write is not None:
        text += quoted(f"written by {write.described}", write.place)
    raise kind(
        text,
        modified=modified,
        creation=creation.name,
        producer=producer,
        filename=None if call_site is None else call_site.filename,
        lineno=None if call_site is None else call_site.lineno,
        write=write,
    )
