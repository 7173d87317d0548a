"""What the tables say of an operator and batches."""

from __future__ import annotations

__all__ = ["BatchRule"]


class BatchRule:
    """How an operator is called for a batch, in one row of the generated list.

    Attributes
    ----------
    spoken : str
        What users call the operator.
    rule : str
        The rule's name in a list ``RULES`` of `vtgrad.ops.batching.rules`.
    option : str
        What the table says behind the name of the rule; empty if nothing.
    parameters : tuple of str
        The parameters in their order.
    positional : tuple of str
        Those of them that are passed by position.
    writes : bool
        Whether the result is the first argument.
    """

    __slots__ = ("option", "parameters", "positional", "rule", "spoken", "writes")

    spoken: str
    rule: str
    option: str
    parameters: tuple[str, ...]
    positional: tuple[str, ...]
    writes: bool

    def __init__(self, spoken: str, rule: str, parameters: str, writes: bool = False) -> None:
        self.spoken = spoken
        self.rule, _, self.option = rule.partition(" ")
        positional, _, by_keyword = parameters.partition("*")
        self.positional = tuple(positional.split())
        self.parameters = (*self.positional, *by_keyword.split())
        self.writes = writes
