"""What the tables say of an operator and batches."""

from __future__ import annotations

from typing import Final

__all__ = ["DIMENSIONS", "SIZES", "BatchRule"]

# The parameters that say which dimensions are meant, and those that say sizes.
DIMENSIONS: Final = frozenset({"dim", "dims", "dim0", "dim1", "dim2", "dimension"})
SIZES: Final = frozenset({"size", "sizes", "input_sizes", "self_sizes"})


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
    integers : tuple of str
        Those of them that are one integer; the tables have a ``#`` behind.
    dims : tuple of int
        The positions of dimensions, if they are all that says something of dimensions or sizes.
    """

    __slots__ = (
        "dims",
        "integers",
        "option",
        "parameters",
        "positional",
        "rule",
        "spoken",
        "writes",
    )

    spoken: str
    rule: str
    option: str
    parameters: tuple[str, ...]
    positional: tuple[str, ...]
    integers: tuple[str, ...]
    writes: bool
    dims: tuple[int, ...]

    def __init__(self, spoken: str, rule: str, parameters: str, writes: bool = False) -> None:
        self.spoken = spoken
        self.rule, _, self.option = rule.partition(" ")
        self.integers = tuple([one[:-1] for one in parameters.split() if one.endswith("#")])
        positional, _, by_keyword = parameters.replace("#", "").partition("*")
        self.positional = tuple(positional.split())
        self.parameters = (*self.positional, *by_keyword.split())
        self.writes = writes
        about = [name in DIMENSIONS for name in self.positional]
        others = SIZES.intersection(self.parameters) or DIMENSIONS.intersection(by_keyword.split())
        self.dims = () if others else tuple([nr for nr, is_one in enumerate(about) if is_one])
