"""Whether recordings fit the shards, as far as that shows before a call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.jit.api import LIMIT
from vtgrad.jit.containers import flatten
from vtgrad.jit.entry import refusal
from vtgrad.jit.structure import structure_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["are_recordable"]


def are_recordable(shards: Sequence[object]) -> bool:
    """Whether every shard is tensors, arrays and values, of few enough kinds.

    A recording is for arguments of its shapes and dtypes, and Python values are a part of it.
    """
    kinds: list[tuple[object, list[object]]] = []
    for shard in shards:
        leaves = flatten(shard)
        if any(refusal(leaf) is not None for leaf in leaves if not isinstance(leaf, Tensor)):
            return False
        kind = structure_of(shard), [_kind(leaf) for leaf in leaves]
        if kind not in kinds:
            kinds.append(kind)
        if len(kinds) > LIMIT:
            return False
    return True


def _kind(leaf: object) -> object:
    if isinstance(leaf, Tensor | np.ndarray):
        return type(leaf), tuple(leaf.shape), leaf.dtype
    return type(leaf), repr(leaf)
