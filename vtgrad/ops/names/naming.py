"""What the tables say of an operator and names of dimensions."""

from __future__ import annotations

__all__ = ["Naming"]


class Naming:
    """The names of an operator's results, in one row of the generated list.

    Attributes
    ----------
    spoken : str
        What users call the operator.
    rule : str or None
        How the names follow from those of the operands, see `vtgrad.ops.names.rules`; None if the
        operator refuses names.
    parameters : tuple of str
        The parameters in their order.
    writes : bool
        Whether the result is the first argument.
    """

    __slots__ = ("parameters", "rule", "spoken", "writes")

    spoken: str
    rule: str | None
    parameters: tuple[str, ...]
    writes: bool

    def __init__(
        self, spoken: str, rule: str | None, parameters: str, writes: bool = False
    ) -> None:
        self.spoken = spoken
        self.rule = rule
        self.parameters = tuple(parameters.split())
        self.writes = writes
