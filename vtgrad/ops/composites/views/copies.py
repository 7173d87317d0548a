"""Copies of what a view shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["squeeze_copy", "view_copy"]


T = TypeVar("T", bound=TensorBase)


def squeeze_copy(input: T, dim: int | Sequence[int] | None = None, *, out: T | None = None) -> T:
    """What `squeeze` shows, as a copy."""
    if dim is None:
        return F._squeeze_all_copy(input, out=out)
    if isinstance(dim, Sequence):
        return F._squeeze_dims_copy(input, tuple(dim), out=out)
    return F._squeeze_dim_copy(input, dim, out=out)


def view_copy(input: T, size: Sequence[int], *, out: T | None = None) -> T:
    """The same elements in another shape, as a copy."""
    return F._view_copy(input, size, out=out)
