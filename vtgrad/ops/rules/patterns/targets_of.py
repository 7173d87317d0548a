"""Where the elements of an operand go in a result, by the function of a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from vtgrad.ops.generated import patterns
from vtgrad.ops.operator import Operator

__all__ = ["Targets", "targets_of"]

# Called with the arguments by name, and with the number of each element of the result; returns for
# each element of an operand the number of the one that it goes to.
Targets: TypeAlias = Callable[[Mapping[str, object], object], object]


def targets_of(operator: Operator, parameter: str) -> Targets:
    """The function for one of the `targets` of the operator's pattern."""
    function: Targets = getattr(patterns, f"{operator.row}_{parameter}")
    return function
