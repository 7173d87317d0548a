"""How a view came to be, and what that forbids.

NOTE [ Creation of views ]

A write through a view gives its base a new producer, and every other view of that base must then
be able to find its own producer again. Some views cannot: those that are one of several results
of a node, those made while nothing was recorded, and those made inside custom code. Each view
remembers how it was made, a view of a view inherits the reason that its parent had, and the one
table here says what happens when such a view, or the base under it, is written.
"""

from __future__ import annotations

import enum
from typing import Final

from ..errors import (
    CustomFunctionViewError,
    InferenceViewError,
    MultiOutputViewError,
    NoGradViewError,
    ViewInvalidError,
)

__all__ = ["CreationMeta", "propagate", "refuse_if_restricted"]


class CreationMeta(enum.Enum):
    """How a view was made."""

    DEFAULT = 0
    IN_CUSTOM_FUNCTION = 1
    MULTI_OUTPUT_NODE = 2
    NO_GRAD_MODE = 3
    MULTI_OUTPUT_SAFE = 4
    INFERENCE_MODE = 5


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
}


def propagate(parent: CreationMeta, own: CreationMeta) -> CreationMeta:
    """What a view of a view remembers: its own reason, else its parent's."""
    return parent if own is CreationMeta.DEFAULT else own


def refuse_if_restricted(creation: CreationMeta, *, modified: bool, producer: str) -> None:
    """Raise if a view that was made this way may not be written.

    Parameters
    ----------
    creation : CreationMeta
        How the view was made.
    modified : bool
        False if the view is about to be written; True if its base has been, and the view's
        producer is asked for.
    producer : str
        The view's producer, for the message.

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
    raise kind(
        f"a view ({producer}) {what}: {reason}. {advice[0].upper()}{advice[1:]}",
        modified=modified,
        creation=creation.name,
        producer=producer,
    )
