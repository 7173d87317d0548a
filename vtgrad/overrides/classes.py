"""Classes of users that have ``__torch_function__``, made ready when they are defined."""

from __future__ import annotations

from vtgrad.overrides import dispatch as dispatch  # registers the handler of the key
from vtgrad.overrides.members import add_members
from vtgrad.tensor.tensor import Tensor

__all__ = ["prepare"]


def _make_plain(_: type[Tensor]) -> Tensor:
    """The object of an operator's result; see Note [Overridden functions]."""
    return Tensor.__new__(Tensor)


def prepare(cls: type[Tensor]) -> None:
    """Let a class take over the functions that are called with its tensors.

    Parameters
    ----------
    cls : type
        A subclass of `Tensor`, as it is being made.
    """
    add_members(cls)
    cls._make = staticmethod(_make_plain)
