"""Joining tensors by names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.ops.calling.sequences import sequence_of_tensors
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

from .views.shaping import at_least

__all__ = ["column_stack", "concat", "concatenate", "dstack", "hstack", "row_stack", "vstack"]


T = TypeVar("T", bound=TensorBase)


def concat(tensors: Sequence[T], dim: int = 0, *, out: T | None = None) -> T:
    """Another name of `cat`."""
    return F.cat(tensors, dim, out=out)


def concatenate(tensors: Sequence[T], dim: int = 0, *, out: T | None = None) -> T:
    """Another name of `cat`."""
    return F.cat(tensors, dim, out=out)


def hstack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """The tensors side by side: along dimension 1, vectors and numbers along their only one."""
    each = _each_at_least(tensors, 1, "hstack")
    return F.cat(each, 0 if each[0].ndim == 1 else 1, out=out)


def vstack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """The tensors below each other along dimension 0, vectors as rows."""
    return F.cat(_each_at_least(tensors, 2, "vstack"), 0, out=out)


def row_stack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """Another name of `vstack`."""
    return vstack(tensors, out=out)


def dstack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """The tensors behind each other along dimension 2."""
    return F.cat(_each_at_least(tensors, 3, "dstack"), 2, out=out)


def column_stack(tensors: Sequence[T], *, out: T | None = None) -> T:
    """The tensors side by side along dimension 1, vectors as columns."""
    each = sequence_of_tensors(tensors, "column_stack")
    return F.cat([F.reshape(x, x.numel(), 1) if x.ndim < 2 else x for x in each], 1, out=out)


def _each_at_least(tensors: Sequence[T], ndim: int, name: str) -> list[T]:
    return [at_least(x, ndim) for x in sequence_of_tensors(tensors, name)]
