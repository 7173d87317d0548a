"""Refusing names of dimensions, in functions that have no rule for them."""

from __future__ import annotations

from vtgrad.errors import NamesNotSupportedError
from vtgrad.ops.calling.take_over import is_named
from vtgrad.storage.names import shown
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["refuse_names"]


def refuse_names(function: str, *operands: object) -> None:
    """Raise if a tensor among the operands has names; see Note [Names follow a rule].

    Raises
    ------
    NamesNotSupportedError
        If there is one.
    """
    for x in operands:
        if isinstance(x, TensorBase) and is_named(x):
            raise NamesNotSupportedError(
                f"{function}() has no rule for names of dimensions, and got a tensor with "
                f"{shown(x._impl.names)}; drop the names with rename(None), and name the result",
                operator=f"{function}()",
                names=x._impl.names,
            )
