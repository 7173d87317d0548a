"""A type variable for the functions that users call. This file is never compiled.

NOTE [ Arguments arrive unchecked ]

Where a parameter is annotated with a native class, compiled code looks at the argument before the
function begins, and raises a TypeError of its own. The functions that users call are to raise
their own errors, which say more (Note [Arguments are looked at when a call has failed]), and the
same in both builds. So the first tensor of such a function has this type variable. A type checker
sees a bound that is a `TensorBase` either way, and compiled code a union with something that it
does not know, so it asks nothing.
"""

from __future__ import annotations

from typing import TypeVar

from .tensor_base import TensorBase

__all__ = ["T"]


class _Interpreted(TensorBase):
    """Never made; stands for a class of tensors that is not native."""

    __slots__ = ()


T = TypeVar("T", bound=TensorBase | _Interpreted)
