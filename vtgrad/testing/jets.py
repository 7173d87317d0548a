"""Values with their exact first and second derivatives: the arithmetic of the oracle.

Note [An oracle without a graph]

The model keeps, beside each buffer's values, the dense Jacobian of every cell with respect to
every *variable* of the program, and the Hessian with respect to the leaves. An operator maps
values, Jacobian and Hessian forward; a write replaces rows; a view reads rows. Whatever the
library does between ``backward`` and ``.grad``, a gradient must come out as the cotangent times
the Jacobian: with small integers in float64, exactly.

A variable is a leaf, or one *grad_fn* of one tensor: a tensor gets a new variable each time its
grad_fn is replaced. So hooks, ``retain_grad`` and gradients with respect to intermediate values
are columns of the same Jacobian. Variables are numbered as they are made, and no value depends
on a younger variable: hooks that change gradients are therefore rank updates, youngest first.

Note [Gradients along a tangent]

While a level of forward mode is open, the model also keeps how the Jacobian changes along the
tangents: the sum of the second derivatives of an operator, times the tangents of its operands, by
the chain rule. A gradient is the cotangent times the Jacobian, so its tangent is the cotangent
times that change. What was kept at one level is nothing at the next: see `Along`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vtgrad.testing.geometry import IntArray

__all__ = [
    "Along",
    "Bilinear",
    "Derivatives",
    "FloatArray",
    "Jet",
    "Linear",
    "Paths",
    "Save",
    "Variable",
    "Variables",
    "Void",
    "along_of_rows",
    "carried",
    "combine",
    "merge_paths",
]

FloatArray = npt.NDArray[np.float64]

#: Stands in the paths for a gradient that flows nowhere: out of a view made under ``no_grad``.
Void = -1


@dataclass(eq=False)
class Save:
    """One value that a node keeps for backward.

    Attributes
    ----------
    failure : callable or None
        Says why the value could not be used now (an error kind), or returns None. Values that no
        user can write (an index, a mask, a number) have no such function.
    buffer : int
        The buffer that holds the value, -1 for a private one; a write to it that bypasses the
        version counter makes gradients unpredictable.
    uncertain : bool
        Whether it is unknown if the value is kept at all; see `possible`.
    """

    failure: "SaveCheck | None" = None
    buffer: int = -1
    counter: int = -1
    freed: bool = False
    spoiled: bool = False
    uncertain: bool = False

    def problems(self) -> tuple[str, ...]:
        """Return the kinds of error that using the value would raise; any may be the one."""
        return () if self.uncertain else self._failures()

    def possible(self) -> tuple[str, ...]:
        """Return the kinds of error that using the value may raise, where that is unknown."""
        failure = self.failure
        besides = () if self.freed or failure is None else failure.possible()
        if self.spoiled:  # which audit notices
            besides = (*besides, "unseen-write")
        if not self.uncertain:
            return besides
        # Of one call there may be several nodes, of which not all are freed.
        stale = failure.problems() if self.freed and failure is not None else ()
        return (*self._failures(), *stale, *besides)

    def _failures(self) -> tuple[str, ...]:
        if self.freed:
            return ("graph-freed",)
        return self.failure.problems() if self.failure is not None else ()


class SaveCheck:
    """What :class:`Save` asks of the saved tensor."""

    def problems(self) -> tuple[str, ...]:
        """Return the kinds of error that using the saved tensor would raise."""
        raise NotImplementedError

    def possible(self) -> tuple[str, ...]:
        """Return the kinds of error that using the saved tensor may raise besides."""
        return ()


#: What lies between a value and each variable below it: everything that the nodes on the way keep.
#: A pass to the variable needs it all, and frees it.
Paths = Mapping[int, frozenset[Save]]


def merge_paths(many: Iterable[Paths]) -> dict[int, frozenset[Save]]:
    """Unite paths by variable."""
    merged: dict[int, frozenset[Save]] = {}
    for paths in many:
        for variable, saves in paths.items():
            merged[variable] = merged.get(variable, frozenset()) | saves
    return merged


@dataclass(frozen=True, eq=False)
class Along:
    """How Jacobians change along the tangents of a level; see Note [Gradients along a tangent].

    Attributes
    ----------
    level : int
        The level; at any other one the change is zero.
    jac : ndarray
        The change of each row of a Jacobian.
    """

    level: int
    jac: FloatArray


def along_of_rows(along: Along | None, rows: IntArray) -> Along | None:
    """Return the change of some rows of a Jacobian."""
    return None if along is None else Along(along.level, along.jac[rows])


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Derivatives of the elements of a result."""

    jac: FloatArray
    hes: FloatArray
    along: Along | None


@dataclass(eq=False)
class Variable:
    """A leaf, or one grad_fn of one tensor; see Note [An oracle without a graph].

    Attributes
    ----------
    jac : ndarray
        Derivatives of the variable's own elements with respect to older variables.
    below : frozenset of int
        Variables that its node reaches.
    saves : frozenset of Save
        What its node keeps.
    siblings : frozenset of int
        Variables of the same node, itself included: pieces of one split.
    perhaps : frozenset of int
        Results of one call of a user's operator, itself included, which may be of one node or not.
    marked : bool
        Of a view: whether its gradient is or was retained at this variable.
    detached : bool
        Whether its tensor was detached in place.
    along : Along or None
        How `jac` changes along the tangents.
    """

    index: int
    start: int
    numel: int
    is_leaf: bool
    name: str
    jac: FloatArray
    below: frozenset[int]
    hooks: list[tuple[str, float]] = field(default_factory=list)
    saves: frozenset[Save] = frozenset()
    siblings: frozenset[int] = frozenset()
    perhaps: frozenset[int] = frozenset()
    marked: bool = False
    detached: bool = False
    along: Along | None = None

    @property
    def columns(self) -> slice:
        """The columns of the Jacobian that belong to the variable."""
        return slice(self.start, self.start + self.numel)


class Variables:
    """All variables of a program, and the shape of Jacobians and Hessians now.

    Attributes
    ----------
    level : int
        The number of the open level of forward mode, 0 for none.
    """

    def __init__(self) -> None:
        self.level: int = 0
        self.all: list[Variable] = []
        self.width: int = 0
        self.leaf_columns: list[int] = []

    def new(
        self, numel: int, name: str, *, is_leaf: bool, jac: FloatArray, below: Iterable[int]
    ) -> Variable:
        """Append a variable of `numel` elements."""
        made = Variable(len(self.all), self.width, numel, is_leaf, name, jac, frozenset(below))
        self.all.append(made)
        if is_leaf:
            self.leaf_columns.extend(range(self.width, self.width + numel))
        self.width += numel
        return made

    def wide(self, jac: FloatArray) -> FloatArray:
        """Return the Jacobian with columns of zeros for the variables that are younger."""
        rows, known = jac.shape
        if known == self.width:
            return jac
        # Without `np.pad`, which takes forty times as long.
        made = np.zeros((rows, self.width))
        made[:, :known] = jac
        return made

    def deep(self, hes: FloatArray) -> FloatArray:
        """Return the Hessian with zeros for the leaves that are younger."""
        rows, known, _ = hes.shape
        leaves = len(self.leaf_columns)
        if known == leaves:
            return hes
        made = np.zeros((rows, leaves, leaves))
        made[:, :known, :known] = hes
        return made

    def along(self, kept: Along | None) -> FloatArray | None:
        """Return the change of a Jacobian along the tangents of the open level; None for zero."""
        return self.wide(kept.jac) if kept is not None and kept.level == self.level else None

    def constants(self, numel: int) -> tuple[FloatArray, FloatArray]:
        """Jacobian and Hessian of `numel` constants."""
        leaves = len(self.leaf_columns)
        return np.zeros((numel, self.width)), np.zeros((numel, leaves, leaves))


@dataclass(frozen=True)
class Jet:
    """What an operator reads: values, derivatives, and what backward through it will meet.

    Attributes
    ----------
    edge : bool
        Whether a gradient can flow into it. A view made under ``no_grad`` of a tensor that
        requires grad says ``requires_grad`` and has no edge.
    """

    shape: tuple[int, ...]
    values: FloatArray
    jac: FloatArray
    hes: FloatArray
    paths: Paths
    requires: bool = False
    edge: bool = False
    along: Along | None = None


@dataclass(frozen=True)
class Linear:
    """First derivatives: ``out[rows] += coefficient * operand[columns]``."""

    operand: int
    rows: IntArray
    columns: IntArray
    coefficient: FloatArray


@dataclass(frozen=True)
class Bilinear:
    """Second derivatives of ``out[rows]`` by ``one[columns_one]`` and ``other[columns_other]``."""

    one: int
    other: int
    rows: IntArray
    columns_one: IntArray
    columns_other: IntArray
    coefficient: FloatArray


def combine(
    variables: Variables,
    operands: Sequence[Jet],
    numel: int,
    first: Sequence[Linear],
    second: Sequence[Bilinear],
    tangents: Sequence[FloatArray | None] = (),
) -> Derivatives:
    """Chain rule: derivatives of a result from those of its operands.

    Parameters
    ----------
    tangents
        Those of the operands at the open level of forward mode, flat, if one is open.
    """
    jac, hes = variables.constants(numel)
    jacs = [variables.wide(operand.jac) for operand in operands]
    hess = [variables.deep(operand.hes) for operand in operands]
    alongs = [variables.along(operand.along) for operand in operands]
    change = np.zeros_like(jac)
    for term in first:
        if not operands[term.operand].edge:
            continue
        local = np.zeros((numel, operands[term.operand].values.size))
        np.add.at(local, (term.rows, term.columns), term.coefficient)
        jac += local @ jacs[term.operand]
        hes += np.tensordot(local, hess[term.operand], axes=1)
        below = alongs[term.operand]
        if below is not None:
            change += local @ below
    leaves = np.array(variables.leaf_columns, dtype=np.intp)
    for pair in second:
        if not operands[pair.one].edge:
            continue
        tangent = tangents[pair.other] if tangents else None
        if tangent is not None:
            local = np.zeros((numel, operands[pair.one].values.size))
            slopes = pair.coefficient * tangent[pair.columns_other]
            np.add.at(local, (pair.rows, pair.columns_one), slopes)
            change += local @ jacs[pair.one]
        if not operands[pair.other].edge:
            continue
        one = jacs[pair.one][pair.columns_one][:, leaves]
        other = jacs[pair.other][pair.columns_other][:, leaves]
        outer = pair.coefficient[:, None, None] * one[:, :, None] * other[:, None, :]
        np.add.at(hes, pair.rows, outer)
    along = Along(variables.level, change) if variables.level else None
    return Derivatives(jac, hes, along)


def carried(
    first: Sequence[Linear], numel: int, tangents: Sequence[FloatArray | None]
) -> FloatArray | None:
    """Chain rule for tangents: that of a result of `numel` elements.

    None if no operand has one; see Note [Tangents of the model].
    """
    if all(tangent is None for tangent in tangents):
        return None
    result = np.zeros(numel)
    for term in first:
        tangent = tangents[term.operand]
        if tangent is not None:
            np.add.at(result, term.rows, term.coefficient * tangent[term.columns])
    return result
