# Compiled by mypyc.
"""Results of in-place operators that are saved under hooks.

Note [Packed results of writes]

A pack function gets a result with its producer. An in-place operator's result has its producer only
when everything else is done, and the function may raise. So the result is first saved without hooks
and the tensor gets its producer; then the result is packed. If that raises, the write stays, with
its record, and the gradient is that of a value that was saved without hooks.
"""

from __future__ import annotations

from ..storage.tensor_base import TensorBase
from .node import Node
from .packing import packing

__all__ = ["pack_result_of_write", "save_result_of_write"]


def save_result_of_write(node: Node, result: TensorBase) -> None:
    """Save the result without hooks."""
    hooks = packing.pair
    try:
        packing.pair = None
        node.save_results(result)
    finally:
        packing.pair = hooks


def pack_result_of_write(node: Node, result: TensorBase) -> None:
    """Pack the saved result, if there are hooks."""
    if packing.pair is not None:
        node.save_results(result)
