"""Lists in an index expression that hold tensors of one sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.graph.batch import is_batched
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.indexing.parse_index import TUPLE_LIMIT
from vtgrad.storage import making
from vtgrad.storage.tensor_base import TensorBase, handle_like
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["with_stacked_lists"]


def with_stacked_lists(expression: object) -> object:
    """An index expression in which such lists are tensors: ``x[:, [i, 0]]`` with a batched ``i``.

    A short list that is the whole expression is read like a tuple.
    """
    if not thread.batch_levels:
        return expression
    if isinstance(expression, tuple):
        return tuple([_as_tensor(part) for part in expression])
    if not isinstance(expression, list):
        return expression
    if len(expression) >= TUPLE_LIMIT:
        return _as_tensor(expression)
    return [_as_tensor(part) for part in expression]


def _as_tensor(part: object) -> object:
    found = _first_batched(part) if isinstance(part, list) else None
    return part if found is None else _stacked(part, found)


def _first_batched(items: Sequence[object]) -> TensorBase | None:
    for item in items:
        if isinstance(item, TensorBase) and is_batched(item):
            return item
        if isinstance(item, list):
            found = _first_batched(item)
            if found is not None:
                return found
    return None


def _stacked(item: object, like: TensorBase) -> TensorBase:
    """A nested list as a tensor; numbers in it are integers."""
    if isinstance(item, TensorBase):
        return item
    if isinstance(item, list):
        return F.stack([_stacked(one, like) for one in item])
    return handle_like(like, TensorImpl(making.array(item, np.int64)))
