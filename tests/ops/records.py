"""The records of operators, by the names of their functions."""

from typing import Final

from vtgrad.ops.generated import operators
from vtgrad.ops.operator import Operator, Pattern, Tangent

__all__ = ["RECORDS", "pattern_of", "tangent_of"]

RECORDS: Final = {one.name: one for one in vars(operators).values() if isinstance(one, Operator)}


def tangent_of(name: str) -> Tangent:
    """What the record of a function of the tables says of tangents."""
    tangent = RECORDS[name].tangent
    assert tangent is not None, name
    return tangent


def pattern_of(name: str) -> Pattern:
    """What the record of a function of the tables says of patterns."""
    pattern = RECORDS[name].pattern
    assert pattern is not None, name
    return pattern
