"""What the tables say of an operator and index sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

__all__ = ["LocalPattern", "Targets"]

# Called with the arguments by name, and with the number of each element of the result; returns for
# each element of an operand the number of the one that it goes to.
Targets: TypeAlias = Callable[[Mapping[str, object], object], object]


class LocalPattern:
    """Which elements of its operands an element of an operator's result depends on.

    Attributes
    ----------
    rule : str
        ``elementwise``: those at the same index, after broadcasting. ``reduction``: all along the
        dimensions that the call names. ``along dim``: all along one dimension. ``cumulative``:
        those along it up to the same index. ``across dim``: all with the same index in it.
        ``moves``: at most one, which the operator itself finds. ``dense``: all. ``reads``: the
        values decide on the result's shape. ``view``: the memory is the same. ``memory a -> b``:
        those at the same position, where `a` and `b` are the geometries of the operand and of the
        result in one memory. Or a letter for each dimension, as in ``ik, kj -> ij``: all where
        letters that both have agree.
    derivatives : tuple of str
        The parameters with a derivative that is not zero everywhere.
    targets : mapping of str to callable
        For parameters whose elements each go to one of the result; see `Targets`.
    constants : tuple of str
        Of an operator that moves elements: the parameters whose numbers are stored beside them.
    overwrites : bool
        Whether the first argument is written and not read.
    """

    __slots__ = ("constants", "derivatives", "overwrites", "rule", "targets")

    rule: str
    derivatives: tuple[str, ...]
    targets: Mapping[str, Targets]
    constants: tuple[str, ...]
    overwrites: bool

    def __init__(
        self,
        rule: str,
        derivatives: str,
        targets: Mapping[str, Targets] | None = None,
        constants: str = "",
        overwrites: bool = False,
    ) -> None:
        self.rule = rule
        self.derivatives = tuple(derivatives.split())
        self.targets = {} if targets is None else targets
        self.constants = tuple(constants.split())
        self.overwrites = overwrites
