"""Groups of overloads, which users call by one name."""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

from vtgrad.codegen.language import Argument, Operator, TableError

__all__ = ["UNSET", "Group", "groups_of"]

# The default of an argument whose absence says something, where None is a value of its own.
UNSET = "UNSET"


@dataclasses.dataclass(frozen=True)
class Group:
    """Some overloads and the function that chooses among them.

    Attributes
    ----------
    name : str
        What users call it.
    rows : tuple of Operator
        All entries with this base.
    overloads : tuple of Operator
        Those among which the function chooses.
    inplace : bool
        Whether it is the function that writes to its first argument.
    """

    name: str
    rows: tuple[Operator, ...]
    overloads: tuple[Operator, ...]
    inplace: bool

    @property
    def variants(self) -> frozenset[str]:
        """Where users find the function."""
        stated = [row.variants for row in self.rows if row.is_overload and row.variants]
        if self.inplace:
            is_function = any(row.inplace_function for row in self.rows)
            return frozenset({"method", "function"} if is_function else {"method"})
        if stated:
            return stated[0]
        return frozenset({"method"} if self.name.endswith("_") else {"function", "method"})

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names of the function."""
        end = "_" if self.inplace else ""
        names = [name for row in self.rows if row.name == row.base for name in row.aliases]
        if not self.inplace:
            names = []
        names += [name for row in self.rows if row.is_overload for name in row.aliases]
        return tuple(name + end for name in names)

    @property
    def doc(self) -> str:
        """The docstring: that of the first entry, or of the one that users know as the base."""
        return next(row.doc for row in self.rows if row.is_overload or row.name == row.base)

    @property
    def has_out(self) -> bool:
        """Whether results can be stored in tensors that are given."""
        return not self.inplace and any(op.out for op in self.overloads)

    @property
    def also(self) -> Mapping[str, str]:
        """Second names of parameters."""
        return {other: name for op in self.overloads for other, name in op.also.items()}

    def without(self, name: str) -> bool:
        """Whether an overload is meant where users leave a parameter out."""
        return f"{name} is {UNSET}" in [str(op.when) for op in self.overloads]

    @property
    def casts(self) -> tuple[str, ...]:
        """The parameter for the dtype that the first tensor is cast to, if there is one."""
        return tuple(dict.fromkeys(op.cast for op in self.overloads if op.cast is not None))

    @property
    def forms(self) -> frozenset[str]:
        """What users give in several ways."""
        forms = {a.form.partition("[")[0] for op in self.overloads for a in op.arguments if a.form}
        return frozenset(forms)

    @property
    def absent(self) -> frozenset[str]:
        """The parameters whose absence says something, or that have a second name."""
        text = " and ".join(str(op.when) for op in self.overloads)
        found = set(re.findall(rf"\b(\w+) is (?:not )?{UNSET}\b", text))
        flags = {a.name for op in self.overloads for a in op.arguments if a.type == "bool"}
        found |= set(self.also.values()) - flags
        return frozenset(found | ({"dim"} if "Correction" in self.forms else set()))

    @property
    def takes_what_no_overload_takes(self) -> bool:
        """Whether users pass something in another way than any overload takes it.

        The defaults are no literals then, or arguments are of any number; so the function is not
        compiled, which would leave it without a signature.
        """
        stated = self.also or self.casts or self.forms or self.absent
        mixed = self.has_out and not all(op.out for op in self.overloads)
        return bool(stated) or mixed or any(op.called for op in self.overloads)

    def function_of(self, overload: Operator) -> str:
        """What computes one overload."""
        return str(overload.inplace) if self.inplace else overload.name

    def arguments(self) -> list[Argument]:
        """The parameters: those of the overload that has most, each with the types of all.

        Raises
        ------
        TableError
            If another overload has a parameter that this one has not, or if None, which stands for
            an argument that is not given, would be a value of it.
        """
        widest = max(self.overloads, key=lambda op: len(op.arguments))
        known = {a.name for a in widest.arguments}
        for op in self.overloads:
            if not known.issuperset(a.name for a in op.arguments):
                raise TableError(f"{op.where}: no overload has all parameters of {self.name}")
        return [self._merged(argument) for argument in widest.arguments]

    def _merged(self, argument: Argument) -> Argument:
        every = [a for op in self.overloads for a in op.arguments if a.name == argument.name]
        types = list(dict.fromkeys(part for a in every for part in a.type.split(" | ")))
        order = ["Tensor", "Number"]
        types.sort(key=lambda kind: order.index(kind) if kind in order else len(order))
        default = next((a.default for a in every if a.default is not None), None)
        if argument.name in self.absent:
            default = UNSET
        if len(every) < len(self.overloads) and default is None:
            if "None" in types:
                raise TableError(f"{self.rows[0].where}: None is a value of {argument.name!r}")
            default = "None"
            types.append("None")
        return dataclasses.replace(argument, type=" | ".join(types), default=default)


def _as_called(operator: Operator) -> Operator:
    """The operator with its parameters called as users call them."""
    arguments: list[Argument] = []
    for argument in operator.arguments:
        name = operator.called.get(argument.name, argument.name)
        if name != argument.name and argument.keyword_only:
            raise TableError(f"{operator.where}: {name!r} is called so by keyword")
        arguments.append(dataclasses.replace(argument, name=name))
    return dataclasses.replace(operator, arguments=tuple(arguments))


def groups_of(operators: Sequence[Operator], composites: Iterable[str]) -> list[Group]:
    """The groups of a table whose functions no composite is, out of place and in place."""
    by_hand = set(composites)
    found: list[Group] = []
    for base in dict.fromkeys(op.base for op in operators if op.overload is not None):
        rows = tuple(_as_called(op) for op in operators if op.base == base)
        if any(op.is_helper for op in rows):
            continue
        overloads = tuple(op for op in rows if op.overload is not None)
        writing = tuple(op for op in overloads if op.inplace is not None)
        own = [op.name for op in rows if op.overload is None]
        if base not in own and base not in by_hand:
            found.append(Group(base, rows, overloads, inplace=False))
        if writing and f"{base}_" not in by_hand:
            found.append(Group(f"{base}_", rows, writing, inplace=True))
    return found
