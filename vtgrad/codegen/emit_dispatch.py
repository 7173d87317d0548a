"""Writing the functions that choose among overloads."""

import dataclasses
from collections.abc import Sequence

from vtgrad.codegen.docstrings import docstring, inplace_docstring
from vtgrad.codegen.emit_functions import result_class
from vtgrad.codegen.groups import Group
from vtgrad.codegen.language import Argument, Operator, TableError
from vtgrad.codegen.parameters import as_stated, passed, signature
from vtgrad.codegen.template import fill

__all__ = ["emit_dispatch"]

_FUNCTION = """
def $name($parameters) -> $returned:
    $doc
    $choice
"""

# Of overloads of which one takes a number first.
_NUMBER_FIRST = """
@overload
def $name($tensor_first) -> T: ...
@overload
def $name($number_first) -> T: ...
def $name($parameters) -> TensorBase:
    $doc
    $choice
"""

# A condition fails if it asks a question that the argument does not answer. There is no record of
# the function, because it computes nothing.
_EXPLAINED = """
try:
    $choice
except Exception as error:
    explain(error, "$parameters", $values)
    raise
"""

_IF = """
if $condition:
    $then
$otherwise
"""

# See Note [Arrays as constants].
_IF_ARRAY = """
if is_array($name):
    $call
$otherwise
"""

_NO_TENSOR = """
raise ArgumentTypeError("at least one operand of $name must be a tensor")
"""


def emit_dispatch(group: Group) -> str:
    """The function of a group whose overloads take what users pass, as Python text."""
    arguments = [a.for_users() for a in group.arguments()]
    first = arguments[0].type
    doc = inplace_docstring(group.name) if group.inplace else docstring(group.doc)
    fields = {
        "name": group.name,
        "doc": doc,
        "choice": _choice(group, arguments),
        "returned": _returned(group),
    }
    if "Number" not in first:
        return fill(_FUNCTION, parameters=_parameters(group, arguments, "T"), **fields)
    second = arguments[1]
    turned = [arguments[0], dataclasses.replace(second, type="T"), *arguments[2:]]
    return fill(
        _NUMBER_FIRST,
        tensor_first=_parameters(group, arguments, "T"),
        number_first=_parameters(group, turned, "Number"),
        parameters=_parameters(group, arguments, "Tensor | Number", "TensorBase"),
        **fields,
    )


def _returned(group: Group) -> str:
    """The type of the results.

    Raises
    ------
    TableError
        If some overloads return several results, of which each has a type of its own.
    """
    first = group.overloads[0]
    kinds = {op.returns for op in group.overloads}
    if kinds & {"Views", "Copies", "UnsafeSplit"}:
        return "tuple[T, ...]"
    if "tuple" not in kinds:
        return "T"
    if len(group.overloads) > 1:
        raise TableError(f"{first.where}: overloads of several results")
    return f"{result_class(first)}[T]"


def _parameters(group: Group, arguments: Sequence[Argument], first: str, out: str = "T") -> str:
    types = [first, *[_type_for_users(group, a) for a in arguments[1:]]]
    text = signature(arguments, types)
    if group.has_out:
        star = "" if any(a.keyword_only for a in arguments) else "*, "
        if group.overloads[0].returns == "tuple":
            out = f"Sequence[{out}]"
        text += f", {star}out: {out} | None = None"
    return text


def _call(group: Group, overload: Operator) -> str:
    own = [a.for_users() for a in overload.arguments]
    text = passed(own, [a.name for a in own]) + (", out=out" if group.has_out else "")
    return f"return {group.function_of(overload)}({text})\n"


def _with_constant(group: Group, name: str) -> str:
    """The same call with a tensor for an array."""
    own = [a.for_users() for a in group.arguments()]
    others = ", ".join(a.name for a in own[:2] if a.name != name)
    text = passed(own, [f"constant({name}, {others})" if a.name == name else a.name for a in own])
    return f"return {group.name}({text}{', out=out' if group.has_out else ''})\n"


def _type_for_users(group: Group, argument: Argument) -> str:
    """The type of a parameter.

    Where conditions tell an integer from None or a sequence, it is `SupportsIndex`: what they leave
    of `int` is an int, at which compiled code would look. See Note [Arguments arrive unchecked].
    """
    parts = argument.type.split(" | ")
    if len(parts) > 1 and any(op.when is not None for op in group.overloads):
        parts = ["SupportsIndex" if part == "int" else part for part in parts]
    return " | ".join(parts)


def _choice(group: Group, arguments: Sequence[Argument]) -> str:
    """The statements that find the overload and call it."""
    if any(op.when is not None for op in group.overloads):
        return _explained(group, arguments, _by_conditions(group, group.overloads))
    types = {
        a.name: {_type_of(op, a.name) for op in group.overloads}
        for a in arguments
        if len({_type_of(op, a.name) for op in group.overloads}) > 1
    }
    for name, found in types.items():
        if not any("Tensor" in kind.split(" | ") for kind in found):
            raise TableError(f"{group.overloads[0].where}: nothing tells overloads by {name!r}")
    return _by_types(group, group.overloads, list(reversed(types)))


def _explained(group: Group, arguments: Sequence[Argument], choice: str) -> str:
    """The choice, in a ``try``."""
    names = [a.name for a in arguments]
    parameters = [as_stated(a.name, a.type) for a in arguments]
    if group.has_out:
        names.append("out")
        parameters.append(as_stated("out", "Tensor | None"))
    return fill(_EXPLAINED, choice=choice, parameters=" ".join(parameters), values=", ".join(names))


def _by_conditions(group: Group, overloads: Sequence[Operator]) -> str:
    """The first overload whose condition holds; one has none, and is the last."""
    last = [op for op in overloads if op.when is None]
    if len(last) != 1:
        raise TableError(f"{overloads[0].where}: all overloads but one need 'when'")
    text = _call(group, last[0])
    for op in reversed([op for op in overloads if op.when is not None]):
        text = fill(_IF, condition=str(op.when), then=_call(group, op), otherwise=text)
    return text


def _by_types(group: Group, overloads: Sequence[Operator], names: Sequence[str]) -> str:
    """The overload that has tensors where tensors are."""
    if not overloads:
        return fill(_NO_TENSOR, name=group.name)
    if not names:
        if len(overloads) > 1:
            raise TableError(f"{overloads[1].where}: nothing tells it from {overloads[0].where}")
        return _call(group, overloads[0])
    name, *rest = names
    tensors = [op for op in overloads if _type_of(op, name) == "Tensor"]
    others = [op for op in overloads if _type_of(op, name) != "Tensor"]
    otherwise = _by_types(group, others, rest)
    if not (group.inplace and name == "input"):
        otherwise = fill(
            _IF_ARRAY, name=name, call=_with_constant(group, name), otherwise=otherwise
        )
    return fill(
        _IF,
        condition=f"isinstance({name}, TensorBase)",
        then=_by_types(group, tensors, rest),
        otherwise=otherwise,
    )


def _type_of(overload: Operator, name: str) -> str:
    return next((a.type for a in overload.arguments if a.for_users().name == name), "")
