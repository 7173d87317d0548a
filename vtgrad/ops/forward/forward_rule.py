"""What the tables say of an operator and tangents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

__all__ = ["ForwardFormula", "ForwardRule"]

# Called with the arguments by name, with those tangents that there are, and with the result;
# returns the tangent of the result, or a tuple of those of several results.
ForwardFormula: TypeAlias = Callable[[Mapping[str, object], Mapping[str, object], object], object]


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
    """

    __slots__ = ("differentiable", "formula", "kind", "parameters", "spoken", "uses", "writes")

    spoken: str
    kind: str
    parameters: tuple[str, ...]
    differentiable: tuple[str, ...]
    writes: bool
    uses: tuple[str, ...]
    formula: ForwardFormula | None

    def __init__(
        self,
        spoken: str,
        kind: str,
        parameters: str,
        differentiable: str = "",
        uses: str = "",
        formula: ForwardFormula | None = None,
        writes: bool = False,
    ) -> None:
        self.spoken = spoken
        self.kind = kind
        self.parameters = tuple(parameters.split())
        self.differentiable = tuple(differentiable.split())
        self.uses = tuple(uses.split())
        self.formula = formula
        self.writes = writes
