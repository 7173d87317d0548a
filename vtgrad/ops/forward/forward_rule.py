"""What the tables say of an operator and tangents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

__all__ = ["FormulaOnto", "FormulaOverArrays", "ForwardFormula", "ForwardRule"]

# Called with the arguments by name, with those tangents that there are, and with the result;
# returns the tangent of the result, or a tuple of those of several results.
ForwardFormula: TypeAlias = Callable[[Mapping[str, object], Mapping[str, object], object], object]

# The same over arrays. The last argument is 1 if the tangent of the first argument may be written.
FormulaOverArrays: TypeAlias = Callable[
    [Mapping[str, object], Mapping[str, object], object, int], object
]

# Called with the arguments and tangents by name; writes to the tangent of the first argument.
FormulaOnto: TypeAlias = Callable[[Mapping[str, object], Mapping[str, object]], object]


class ForwardRule:
    """How the tangents of an operator's results follow, in one row of the generated list.

    Attributes
    ----------
    spoken : str
        What users call the operator.
    kind : str
        ``formula``: `formula` computes the tangent. ``zero``: the result has the tangent zero.
        ``view``: it is the view of a tangent. ``none``: it has no tangent. ``refused``: the
        operator has no formula, and refuses duals.
    parameters : tuple of str
        The parameters in their order.
    differentiable : tuple of str
        The parameters whose tangents the formula takes.
    writes : bool
        Whether the result is the first argument.
    uses : tuple of str
        The arguments that the formula reads, and ``result`` if it reads that.
    formula : callable or None
        See `ForwardFormula`.
    over_arrays : callable or None
        The same over arrays; see Note [Tangents over arrays].
    reads_first : tuple of str
        For a rule that writes, the parameters whose part of the tangent reads the value of the
        first argument.
    onto : callable or None
        For a rule that writes one value also where the first argument overlaps itself: called with
        the arguments and tangents by name, writes the tangent of the first argument in place.
    """

    __slots__ = (
        "differentiable",
        "formula",
        "kind",
        "onto",
        "over_arrays",
        "parameters",
        "reads_first",
        "spoken",
        "uses",
        "writes",
    )

    spoken: str
    kind: str
    parameters: tuple[str, ...]
    differentiable: tuple[str, ...]
    writes: bool
    uses: tuple[str, ...]
    formula: ForwardFormula | None
    over_arrays: FormulaOverArrays | None
    reads_first: tuple[str, ...]
    onto: FormulaOnto | None

    def __init__(
        self,
        spoken: str,
        kind: str,
        parameters: str,
        differentiable: str = "",
        uses: str = "",
        formula: ForwardFormula | None = None,
        over_arrays: FormulaOverArrays | None = None,
        reads_first: str = "",
        onto: FormulaOnto | None = None,
        writes: bool = False,
    ) -> None:
        self.spoken = spoken
        self.kind = kind
        self.parameters = tuple(parameters.split())
        self.differentiable = tuple(differentiable.split())
        self.uses = tuple(uses.split())
        self.formula = formula
        self.over_arrays = over_arrays
        self.reads_first = tuple(reads_first.split())
        self.onto = onto
        self.writes = writes
