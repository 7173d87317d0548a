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
The functions that belong to a row are found by the name of the row, when they are first needed. So
is what the record says of parameters, tangents and patterns: it keeps the text of the row, because
`import vtgrad` makes five hundred records, and a program asks few of them.

It also says what a failed call needs to know, see Note [A failed call]: the types of parameters,
what errors call them, and whether a number may stand first.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from vtgrad.storage.key_set import BATCHED, DUAL

__all__ = ["DIMENSIONS", "SIZES", "Operator", "Pattern", "Tangent", "described"]

# The parameters that say which dimensions are meant, and those that say sizes.
DIMENSIONS: Final = frozenset({"dim", "dims", "dim0", "dim1", "dim2", "dimension"})
SIZES: Final = frozenset({"size", "sizes", "input_sizes", "self_sizes"})
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


class Parameters(NamedTuple):
    """The parameters of an operator.

    Attributes
    ----------
    names : tuple of str
        All, in their order.
    positional, integers, dims
        As in `Operator`.
    """

    names: tuple[str, ...]
    positional: tuple[str, ...]
    integers: tuple[str, ...]
    dims: tuple[int, ...]


@lru_cache(maxsize=1024)
def _parameters(stated: str) -> Parameters:
    """What a record says of parameters."""
    marked = [one.partition(":") for one in stated.split()]
    names = [name.partition("=")[0] for name, _, _ in marked]
    integers = [name for name, (_, _, kind) in zip(names, marked, strict=True) if kind in _INTEGERS]
    positional, by_keyword = names, names[:0]
    if "*" in names:
        star = names.index("*")
        positional, by_keyword = names[:star], names[star + 1 :]
        names = positional + by_keyword
    dims: list[int] = []
    if SIZES.isdisjoint(names) and DIMENSIONS.isdisjoint(by_keyword):
        dims = [nr for nr, one in enumerate(positional) if one in DIMENSIONS]
    return Parameters(tuple(names), tuple(positional), tuple(integers), tuple(dims))


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


@lru_cache(maxsize=1024)
def _tangent(kind: str, differentiable: str, reads_result: bool, reads_first: str) -> Tangent:
    """What a record says of tangents."""
    return Tangent(kind, tuple(differentiable.split()), reads_result, tuple(reads_first.split()))


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


@lru_cache(maxsize=1024)
def _pattern(rule: str, derivatives: str, targets: str, constants: str) -> Pattern:
    """What a record says of patterns."""
    return Pattern(
        rule, tuple(derivatives.split()), tuple(targets.split()), tuple(constants.split())
    )


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
    writes : bool
        Whether the result is the first argument, with another value.
    overwrites : bool
        Whether it writes the first argument without reading it.
    changes_geometry : bool
        Whether the result is the first argument, with another geometry.
    batch : str
        The rule by which it is called for a batch, a name in a list ``RULES`` of
        `vtgrad.ops.rules.batches.by_family`; empty if the operators that it calls have one.
    batch_option : str
        What the tables say behind the name of that rule; empty if nothing.
    names : str or None
        How names of dimensions follow, see `vtgrad.ops.rules.names.rules`; None if it refuses them.
    lacks : int
        The keys that hand the call over to the next one, because there is no rule for them.
    """

    __slots__ = (
        "_pattern",
        "_tangent",
        "batch",
        "batch_option",
        "changes_geometry",
        "lacks",
        "name",
        "names",
        "number_first",
        "overwrites",
        "results",
        "row",
        "spoken",
        "stated",
        "takes_numbers",
        "writes",
    )

    name: str
    row: str
    spoken: str
    stated: str
    results: int
    number_first: str
    takes_numbers: bool
    writes: bool
    overwrites: bool
    changes_geometry: bool
    batch: str
    batch_option: str
    names: str | None
    lacks: int
    # What `tangent` and `pattern` are made of.
    _tangent: tuple[str, str, bool, str] | None
    _pattern: tuple[str, str, str, str] | None

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
        self.writes = self.overwrites = writes
        self.changes_geometry = changes_geometry
        self._tangent = None
        if tangent is not None:
            kind = tangent or ("formula" if differentiable else "none")
            self._tangent = (kind, differentiable, reads_result, reads_first)
        self.batch, _, self.batch_option = batch.partition(" ")
        self.names = names
        self._pattern = None
        if pattern is not None:
            if derivatives is None:
                derivatives = "" if tangent == "zero" else differentiable
            self._pattern = (pattern, derivatives, targets, constants)
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

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters in their order."""
        return _parameters(self.stated).names

    @property
    def positional(self) -> tuple[str, ...]:
        """Those of them that are passed by position."""
        return _parameters(self.stated).positional

    @property
    def integers(self) -> tuple[str, ...]:
        """Those of them that are one integer."""
        return _parameters(self.stated).integers

    @property
    def dims(self) -> tuple[int, ...]:
        """The positions of dimensions, if they are all that says something of dims or sizes."""
        return _parameters(self.stated).dims

    @property
    def tangent(self) -> Tangent | None:
        """How its tangents follow; None if they follow from the operators that it calls."""
        return None if self._tangent is None else _tangent(*self._tangent)

    @property
    def pattern(self) -> Pattern | None:
        """Which elements its result depends on; None as for `tangent`."""
        return None if self._pattern is None else _pattern(*self._pattern)

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
