"""Whether the pattern of a Jacobian is being found."""

from __future__ import annotations

from vtgrad.graph.tracer import current_tracer
from vtgrad.storage.key_set import keys

__all__ = ["is_traced"]


def is_traced() -> bool:
    """Whether a tracer follows the operators of this thread."""
    return bool(keys.modes) and current_tracer() is not None
