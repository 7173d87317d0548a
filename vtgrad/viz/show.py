"""Looking at a tensor's memory from a debugger."""

from __future__ import annotations

import sys

from vtgrad.tensor.tensor import Tensor
from vtgrad.viz.storage_map import storage_map

__all__ = ["show"]


def show(*tensors: Tensor, **named: Tensor) -> None:
    """Print which elements of their memory tensors show, what else is there, and the last writes.

    The same as printing a `storage_map`, in few letters: for a debugger.

    Parameters
    ----------
    *tensors : Tensor
        Tensors, which are called by their `Tensor.name`, or numbered.
    **named : Tensor
        Tensors under names.

    Raises
    ------
    ArgumentTypeError
        If an argument is no tensor.

    Examples
    --------
    >>> x = vt.zeros(4)
    >>> tail = x[2:].add_(1)
    >>> vt.viz.show(x=x, tail=tail)
    storage 1: 16 bytes, version 1
      x     ####  float32 [4]
      tail  ..##  float32 [2], view of x at offset 2
      version 1: add_ at ...:1 in <module>, through a view of shape [2] at offset 2
    """
    sys.stdout.write(f"{storage_map(*tensors, **named)}\n")
