"""Copies of what a view shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["view_copy"]


T = TypeVar("T", bound=TensorBase)


def view_copy(input: T, size: Sequence[int], *, out: T | None = None) -> T:
    """The same elements in another shape, as a copy."""
    return F._view_copy(input, size, out=out)
