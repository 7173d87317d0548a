"""The base of the classes that give `Tensor` its methods.

Note [The bases of Tensor]

To type checkers a class of methods inherits from `TensorBase`. When the program runs its base is
an empty class, so that `TensorBase` stands before all of them in the order of the classes of
`Tensor`, behind the Python operators only. Whether a tensor is a `TensorBase` Python finds by a
walk along this order, and the compiled build asks for each argument, attribute and result.

A member that `TensorBase` has too would be hidden by it: `Tensor` names such a one itself.

This file is never compiled: mypyc believes type checkers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["TensorMixin"]

if TYPE_CHECKING:
    from vtgrad.storage.tensor_base import TensorBase as TensorMixin
else:

    class TensorMixin:
        """No members: those of a tensor come from the other bases of `Tensor`."""

        __slots__ = ()
