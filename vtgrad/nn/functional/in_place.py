"""The switch `inplace` of functions that are made of operators.

Note [In place by a copy]

A function of `vtgrad.nn.functional` that is asked to write in place computes its result from a copy
of the operand, and then copies the result into the operand. That is one write, by one operator, so
all rules for writes hold: what may not be written is refused, and an error on the way leaves the
operand as it was. What the function saves belongs to the copy, and is never stale. Where nothing is
recorded or followed, the function reads the operand itself.
"""

from __future__ import annotations

from collections.abc import Callable

from vtgrad.later.is_plain import is_plain
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["in_place"]


def in_place(input: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """The operand, with the results of a function in it; see Note [In place by a copy]."""
    array_of(input, "input")
    return F.copy_(input, function(input if is_plain(input) else F.clone(input)))
