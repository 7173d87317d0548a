"""Recording a function."""

from __future__ import annotations

from collections.abc import Callable

from vtgrad.jit.recording import Recording

__all__ = ["record"]


def record(
    function: Callable[..., object],
    arguments: tuple[object, ...],
    keywords: dict[str, object] | None = None,
) -> Recording:
    """Record a function."""
    raise NotImplementedError("functions cannot be recorded yet")
