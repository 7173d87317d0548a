"""What users pass and no body meets: names of dimensions, and a number before a tensor.

Note [Arguments that no body meets]

A name of a dimension is a number when the body of an operator is reached, because the rules for
names come first; one that is left was of a tensor without names, and the call fails. A number in
the place of the first tensor is met when the call has failed (Note [A failed call]). So such
functions have one signature, that of the body, and type checkers have no error to ignore in it. So
it is with a number for any tensor of an operator that computes element by element
(Note [Numbers as operands]).

The operators of Python take NumPy's arrays behind a tensor, as Note [Arrays as constants] says. For
an array before a tensor NumPy's own types decide, which promise one of NumPy's arrays.
What users may pass besides stands in the stubs, and comes from the tables.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from vtgrad.codegen.emit_operators import takes_numbers
from vtgrad.codegen.language import Operator
from vtgrad.codegen.library import Library
from vtgrad.codegen.stubs.modules import Definition
from vtgrad.codegen.stubs.names import TENSOR_VARIABLE, Names
from vtgrad.codegen.stubs.signatures import Parameter, Signature

__all__ = ["UsersArguments"]

# The parameters that say which dimension is meant.
_DIMENSIONS: Final = frozenset(
    "dim dim0 dim1 dim2 dims order axes axis axis0 axis1 source destination".split()
)
# The composites that hand a dimension on to an operator that takes its name.
_HANDING_ON: Final = frozenset(
    "chunk diff moveaxis movedim nanmean narrow split swapaxes swapdims tensor_split "
    "unsafe_chunk".split()
)
# The rules for names of operators that make a dimension, which has no name yet.
_MAKING: Final = {"stack", "unsqueeze"}
_INTEGERS: Final = {"Int", "int"}
# The parameters that say where something is done.
_CONDITIONS: Final = {"condition", "mask"}
# The methods of Python's operators.
_PYTHON: Final = "vtgrad.ops.generated.python_operators"
_FOLDERS: Final = ("vtgrad.ops.generated.", "vtgrad.ops.choices.", "vtgrad.ops.composites.")


@dataclasses.dataclass(frozen=True)
class UsersArguments:
    """The functions that take more than their source says.

    Attributes
    ----------
    by_name : frozenset of str
        Those that take a dimension by its name.
    number_first : frozenset of str
        Those that take a number first if their second argument is a tensor.
    operands : mapping of str to tuple of str
        The tensors of those that take a number for any of them but one.
    """

    by_name: frozenset[str]
    number_first: frozenset[str]
    operands: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, library: Library) -> "UsersArguments":
        """What the tables say."""
        by_name = set(_HANDING_ON)
        number_first: set[str] = set()
        operands: dict[str, tuple[str, ...]] = {}
        rows: list[tuple[str, Sequence[Operator]]]
        rows = [(op.name, [op]) for op in library.operators]
        rows += [(op.inplace, [op]) for op in library.operators if op.inplace is not None]
        rows += [(group.name, group.overloads) for group in library.all_groups]
        for name, overloads in rows:
            if _takes_names(overloads):
                by_name.add(name)
            if not name.endswith("_") and all(op.number_first for op in overloads):
                number_first.add(name)
            elif found := _operands(overloads, written=name.endswith("_")):
                operands[name] = found
        return cls(frozenset(by_name), frozenset(number_first), operands)

    def signatures(self, found: Definition, one: Signature, names: Names) -> list[Signature]:
        """The ways in which users call a function whose source has one signature.

        Parameters
        ----------
        found : Definition
            The function.
        one : Signature
            What its source says.
        names : Names
            The names of the stub.
        """
        if not found.module.name.startswith(_FOLDERS):
            return [one]
        if found.module.name == _PYTHON and (
            not found.name.startswith("__r") or found.name == "__rshift__"
        ):
            return [_with_arrays(one, names)]
        if found.name in self.number_first:
            return [one, _turned(one, names)]
        if found.name in self.operands:
            return _with_numbers(one, self.operands[found.name], names)
        if found.name in self.by_name:
            return [_by_name(one, names)]
        return [one]


def _takes_names(overloads: Sequence[Operator]) -> bool:
    rules = [op.names for op in overloads if op.names is not None]
    parameters = {a.name for op in overloads for a in op.arguments}
    return bool(rules) and rules[-1] not in _MAKING and not _DIMENSIONS.isdisjoint(parameters)


def _turned(one: Signature, names: Names) -> Signature:
    """A signature with a number first, and a tensor after it."""
    first, second, *rest = one.parameters
    number = dataclasses.replace(first, types=(names.named("Number"),))
    tensor = dataclasses.replace(second, types=(TENSOR_VARIABLE,))
    return dataclasses.replace(one, parameters=(number, tensor, *rest))


def _with_arrays(one: Signature, names: Names) -> Signature:
    """A signature of an operator with NumPy's arrays where it takes tensors."""
    first, *others = one.parameters
    tensor = names.named("Tensor")
    parameters = [first]
    for parameter in others:
        if tensor in parameter.types:
            array = f"{names.use('numpy.typing', 'NDArray')}[{names.use('typing', 'Any')}]"
            parameter = dataclasses.replace(parameter, types=(*parameter.types, array))
        parameters.append(parameter)
    return dataclasses.replace(one, parameters=tuple(parameters))


def _operands(overloads: Sequence[Operator], *, written: bool) -> tuple[str, ...]:
    """The tensors of a function for which numbers may stand; none if its source says so already."""
    if any(op.arguments[0].type == "Number" for op in overloads):
        return ()  # its source has a signature for each place of a number
    found: dict[str, None] = {}
    several = False
    for op in filter(takes_numbers, overloads):
        tensors = [a for a in op.arguments if "Tensor" in a.type.split(" | ")]
        several = several or len(tensors) > 1
        found |= dict.fromkeys(
            a.for_users().name
            for nr, a in enumerate(tensors)
            if a.type != "Tensor | None" and not (nr == 0 and (written or op.returns == "Self"))
        )
    return tuple(found) if several and not _CONDITIONS & found.keys() else ()


def _with_numbers(one: Signature, operands: Sequence[str], names: Names) -> list[Signature]:
    """A signature with numbers behind a tensor, and those with numbers before the first tensor."""
    number = names.named("Number")
    numbers = 0
    found: list[Signature] = []
    while True:
        parameters = list(one.parameters)
        for nr, parameter in enumerate(parameters):
            if parameter.name in operands or nr < numbers:
                types = parameter.types if number in parameter.types else (*parameter.types, number)
                if nr < numbers:
                    types = (number,)
                elif nr == numbers:
                    types = (TENSOR_VARIABLE,)
                parameters[nr] = dataclasses.replace(parameter, types=types)
        found.append(dataclasses.replace(one, parameters=tuple(parameters)))
        numbers += 1
        before = [p.name for p in one.parameters[:numbers]]
        if not set(before) < set(operands) or one.parameters[numbers].name not in operands:
            return found


def _by_name(one: Signature, names: Names) -> Signature:
    """A signature with names for dimensions."""
    parameters = tuple(
        dataclasses.replace(p, types=(*p.types, *_names_for(p, names)))
        if p.name in _DIMENSIONS
        else p
        for p in one.parameters
    )
    return dataclasses.replace(one, parameters=parameters)


def _names_for(parameter: Parameter, names: Names) -> list[str]:
    """The types of names where a parameter takes numbers."""
    text = names.named("str")
    single = not _INTEGERS.isdisjoint(parameter.types)
    several = any(f"Sequence[{kind}]" in parameter.types for kind in _INTEGERS)
    return [text] * single + [f"Sequence[{text}]"] * several
