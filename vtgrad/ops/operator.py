"""What the library knows of one operator, besides how it computes.

Note [One record for each operator]

The tables say of each operator how its tangents follow, how it is called for a batch, how names of
dimensions follow, and which elements of operands a result depends on. The generator writes that
into one record, in `vtgrad.ops.generated.operators`. A function with an operand that has a key
hands over its record (`take_over`), and the key's handler reads its part of it.

The operator that writes the result into the first argument follows the same rules, so its record
is derived from that of the operator (`Operator.in_place`). Operators that only write, and those
that change a geometry, have rows of their own. A function that is written by hand and hands over a
call has a record too; what it has no rule for is done by the operators that it calls.

A record names its rules and holds no function, so that it can be made before any rule is loaded.
The functions that belong to a row are found by the name of the row, when they are first needed.

It also says what a failed call needs to know, see Note [A failed call]: the types of parameters,
what errors call them, and whether a number may stand first.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from vtgrad.storage.key_set import BATCHED, DUAL

__all__ = ["DIMENSIONS", "SIZES", "Operator", "Pattern", "Tangent", "described"]

# The parameters that say which dimensions are meant, and those that say sizes.
DIMENSIONS: Final = frozenset({"dim", "dims", "dim0", "dim1", "dim2", "dimension"})
SIZES: Final = frozenset({"size", "sizes", "input_sizes", "self_sizes"})
# What stands behind the name of a parameter.
_MARKS: Final = re.compile(r"[=:]\S+")
# The types of what is one integer.
_INTEGERS: Final = ("int", "int|None")


@lru_cache(maxsize=1024)
def described(parameters: str) -> tuple[tuple[str, str], ...]:
    """What errors call each parameter, and its type.

    Parameters
    ----------
    parameters : str
        As they are stated in a record, see `Operator`.
    """
    found: list[tuple[str, str]] = []
    for one in parameters.split():
        if one != "*":
            name, _, kind = one.partition(":")
            found.append((name.rpartition("=")[2], kind or "Tensor"))
    return tuple(found)


class Tangent(NamedTuple):
    """How the tangents of an operator's results follow.

    Attributes
    ----------
    kind : str
        ``formula``: the formula of the row computes the tangent. ``zero``: the result has the
        tangent zero. ``view``: it is the view of a tangent. ``none``: it has no tangent.
        ``refused``: the operator has no formula, and refuses duals.
    differentiable : tuple of str
        The parameters whose tangents the formula takes.
    reads_result : bool
        Whether the formula reads the result.
    reads_first : tuple of str
        For an operator that writes, the parameters whose part of the tangent reads the value of the
        first argument.
    """

    kind: str
    differentiable: tuple[str, ...]
    reads_result: bool
    reads_first: tuple[str, ...]


class Pattern(NamedTuple):
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
    targets : tuple of str
        The parameters whose elements each go to one of the result, which a function of the row
        finds.
    constants : tuple of str
        Of an operator that moves elements: the parameters whose numbers are stored beside them.
    """

    rule: str
    derivatives: tuple[str, ...]
    targets: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()


class Operator:
    """What the library knows of one operator; see Note [One record for each operator].

    Attributes
    ----------
    name : str
        The function's name, which says the overload as well: ``sum_dim_IntList``.
    row : str
        The name in the tables, by which its functions are found: that of `mul` for `mul_`.
    spoken : str
        What users call the operator.
    stated : str
        The parameters with their types, which `described` reads.
    results : int
        How many tensors it returns, except for a view.
    number_first : str
        Whether the first operand may be a number beside a tensor: ``promoted`` if it is promoted
        with the tensor, ``float`` if it becomes a floating number; empty if it may not.
    takes_numbers : bool
        Whether numbers may stand for some of its tensors, see Note [Numbers as operands].
    parameters : tuple of str
        The parameters in their order.
    positional : tuple of str
        Those of them that are passed by position.
    integers : tuple of str
        Those of them that are one integer.
    dims : tuple of int
        The positions of dimensions, if they are all that says something of dimensions or sizes.
    writes : bool
        Whether the result is the first argument, with another value.
    overwrites : bool
        Whether it writes the first argument without reading it.
    changes_geometry : bool
        Whether the result is the first argument, with another geometry.
    tangent : Tangent or None
        How its tangents follow; None if they follow from the operators that it calls.
    batch : str
        The rule by which it is called for a batch, a name in a list ``RULES`` of
        `vtgrad.ops.rules.batches.by_family`; empty if the operators that it calls have one.
    batch_option : str
        What the tables say behind the name of that rule; empty if nothing.
    names : str or None
        How names of dimensions follow, see `vtgrad.ops.rules.names.rules`; None if it refuses them.
    pattern : Pattern or None
        Which elements its result depends on; None as for `tangent`.
    lacks : int
        The keys that hand the call over to the next one, because there is no rule for them.
    """

    __slots__ = (
        "batch",
        "batch_option",
        "changes_geometry",
        "dims",
        "integers",
        "lacks",
        "name",
        "names",
        "number_first",
        "overwrites",
        "parameters",
        "pattern",
        "positional",
        "results",
        "row",
        "spoken",
        "stated",
        "takes_numbers",
        "tangent",
        "writes",
    )

    name: str
    row: str
    spoken: str
    stated: str
    results: int
    number_first: str
    takes_numbers: bool
    parameters: tuple[str, ...]
    positional: tuple[str, ...]
    integers: tuple[str, ...]
    dims: tuple[int, ...]
    writes: bool
    overwrites: bool
    changes_geometry: bool
    tangent: Tangent | None
    batch: str
    batch_option: str
    names: str | None
    pattern: Pattern | None
    lacks: int

    def __init__(
        self,
        name: str,
        parameters: str,
        differentiable: str = "",
        *,
        spoken: str = "",
        results: int = 1,
        number_first: str = "",
        tangent: str | None = "",
        reads_result: bool = False,
        reads_first: str = "",
        batch: str = "elementwise",
        names: str | None = "unify",
        pattern: str | None = "elementwise",
        derivatives: str | None = None,
        targets: str = "",
        constants: str = "",
        writes: bool = False,
        changes_geometry: bool = False,
    ) -> None:
        """A record, by default of an operator that computes element by element.

        Parameters
        ----------
        parameters : str
            The parameters in their order, those by keyword only behind a ``*``. One that is no
            tensor has its type behind a ``:``, as in ``dim:int|None``, and before it, what users
            call it, if that is not its name, as in ``count=k:int``.
        tangent : str or None
            The kind of its tangent; by default a formula if anything is differentiable.
        derivatives : str, optional
            As in `Pattern`; by default what is differentiable, if the tangent is not zero.
        """
        self.name = self.row = name
        self.spoken = spoken or name
        self.stated = parameters
        self.results = results
        self.number_first = number_first
        self.integers = ()
        if ":" in parameters:
            if ":int" in parameters:
                marked = [one.partition(":") for one in parameters.split()]
                self.integers = tuple(
                    [_MARKS.sub("", name) for name, _, kind in marked if kind in _INTEGERS]
                )
            parameters = _MARKS.sub("", parameters)
        positional, _, by_keyword = parameters.partition("*")
        self.positional = tuple(positional.split())
        self.parameters = (*self.positional, *by_keyword.split()) if by_keyword else self.positional
        self.dims = ()
        if not DIMENSIONS.isdisjoint(self.parameters):
            others = SIZES.intersection(self.parameters) or DIMENSIONS.intersection(
                by_keyword.split()
            )
            dims = [nr for nr, one in enumerate(self.positional) if one in DIMENSIONS]
            self.dims = () if others else tuple(dims)
        self.writes = self.overwrites = writes
        self.changes_geometry = changes_geometry
        self.tangent = None
        if tangent is not None:
            kind = tangent or ("formula" if differentiable else "none")
            self.tangent = Tangent(
                kind, tuple(differentiable.split()), reads_result, tuple(reads_first.split())
            )
        self.batch, _, self.batch_option = batch.partition(" ")
        self.names = names
        self.pattern = None
        if pattern is not None:
            if derivatives is None:
                derivatives = "" if tangent == "zero" else differentiable
            self.pattern = Pattern(
                pattern,
                tuple(derivatives.split()),
                tuple(targets.split()),
                tuple(constants.split()),
            )
        # Element by element a 0-d tensor is as good as any, and what joins tensors looks at each.
        self.takes_numbers = name in ("cat", "stack") or (
            pattern == "elementwise" and self.batch in ("elementwise", "lerp") and not number_first
        )
        self.lacks = (DUAL if tangent is None else 0) | (0 if batch else BATCHED)

    @classmethod
    def by_hand(
        cls,
        name: str,
        parameters: str,
        *,
        spoken: str = "",
        batch: str = "",
        names: str | None = None,
    ) -> Operator:
        """The record of a function that is written by hand: without a tangent and a pattern."""
        return cls(
            name,
            parameters,
            spoken=spoken,
            tangent=None,
            batch=batch,
            names=names,
            pattern=None,
            writes=name.endswith("_"),
        )

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def in_place(self, name: str = "", spoken: str = "") -> Operator:
        """The record of the operator that writes the result into the first argument.

        Parameters
        ----------
        name, spoken : str, optional
            As of a record; by default those of this one, with an underscore behind.
        """
        twin = Operator.__new__(Operator)
        for field in Operator.__slots__:
            setattr(twin, field, getattr(self, field))
        twin.name = name or f"{self.name}_"
        twin.spoken = spoken or f"{self.spoken}_"
        twin.writes = True
        twin.number_first = ""
        return twin
