"""The functions that compute an operator's tangents, by the name of its row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from vtgrad.ops.generated import forward_formulas
from vtgrad.ops.operator import Operator

__all__ = [
    "FormulaOnto",
    "FormulaOverArrays",
    "ForwardFormula",
    "TangentFunctions",
    "add_functions",
    "functions_of",
]

# Called with the arguments by name, with those tangents that there are, and with the result;
# returns the tangent of the result, or a tuple of those of several results.
ForwardFormula: TypeAlias = Callable[[Mapping[str, object], Mapping[str, object], object], object]

# The same over arrays. The last argument is 1 if the tangent of the first argument may be written.
FormulaOverArrays: TypeAlias = Callable[
    [Mapping[str, object], Mapping[str, object], object, int], object
]

# Called with the arguments and tangents by name; writes to the tangent of the first argument.
FormulaOnto: TypeAlias = Callable[[Mapping[str, object], Mapping[str, object]], object]


class TangentFunctions(NamedTuple):
    """The functions of one row.

    Attributes
    ----------
    formula : callable or None
        See `ForwardFormula`; None if the kind of the tangent is no formula.
    over_arrays : callable or None
        The same over arrays; see Note [Tangents over arrays].
    onto : callable or None
        For an operator that writes one value also where the first argument overlaps itself: called
        with the arguments and tangents by name, writes the tangent of the first argument in place.
    """

    formula: ForwardFormula | None
    over_arrays: FormulaOverArrays | None
    onto: FormulaOnto | None


_found: Final[dict[str, TangentFunctions]] = {}


def add_functions(row: str, functions: TangentFunctions) -> None:
    """State the functions of an operator that is no row of the tables."""
    _found[row] = functions


def functions_of(operator: Operator) -> TangentFunctions:
    """The functions of an operator's row; see Note [One record for each operator]."""
    row = operator.row
    functions = _found.get(row)
    if functions is None:
        tangent = operator.tangent
        has_formula = tangent is not None and tangent.kind == "formula"
        functions = _found[row] = TangentFunctions(
            forward_formulas.TANGENTS[row] if has_formula else None,
            forward_formulas.OVER_ARRAYS.get(row),
            forward_formulas.ONTO.get(row),
        )
    return functions
