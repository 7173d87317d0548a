"""Writing the functions that bring what users pass into the form that an overload takes."""

import ast
from collections.abc import Sequence

from vtgrad.codegen.docstrings import docstring, inplace_docstring
from vtgrad.codegen.emit_functions import result_class
from vtgrad.codegen.groups import UNSET, Group
from vtgrad.codegen.language import Argument, Operator, TableError
from vtgrad.codegen.parameters import interpreted_type, passed
from vtgrad.codegen.template import fill
from vtgrad.codegen.users_parameters import Parameter, listed, users_parameters

__all__ = ["CHOICE_IMPORTS", "emit_choice"]

CHOICE_IMPORTS = """\
from collections.abc import Sequence
from typing import overload

from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.reduction_arguments import (
    UNSET, Unset, check_flag, dims_and_correction, either, given
)
from vtgrad.ops.calling.sequences import given_integers
$types
from vtgrad.ops.composites.support.casts import in_dtype
from vtgrad.storage.argument_types import T
from vtgrad.storage.arrays import Number
from vtgrad.storage.dtypes import DType
from vtgrad.storage.tensor_base import TensorBase
"""

_FUNCTION = """
$ways
def $name($parameters) -> $returned:
    $doc
    $merged
    $choice
"""

_WAY = """
@overload
def $name($parameters) -> $returned: ...
"""

_EITHER = """
if $other is not UNSET:
    $name = either($name, $other, "$name and $other")
"""

# None says that the parameter is left out.
_EITHER_OR_NONE = """
if $other is not UNSET and $other is not None:
    $name = either($name, $other, "$name and $other")
"""

_EITHER_FLAG = """
if $other is not False:
    $name = check_flag($name, "$name") or check_flag($other, "$other")
"""

_CAST = """
if $dtype is not None:
    input = in_dtype(input, $dtype)
"""

_CORRECTION = """
dim, $name = dims_and_correction(dim, unbiased, $name)
"""

_IF = """
if $condition:
    $refusal
    $call
"""

_REFUSAL = """
if $given:
    raise ArgumentTypeError("$function() takes $names only together with $companions")
"""


def emit_choice(group: Group) -> str:
    """The function of a group, as Python text.

    Raises
    ------
    TableError
        If the rows do not say when each overload is meant.
    """
    arguments = [a.for_users() for a in group.arguments()]
    parameters = users_parameters(group, arguments)
    kinds = list(dict.fromkeys(_returned(op) for op in group.overloads))
    several = len(kinds) > 1
    return fill(
        _FUNCTION,
        ways="".join(_way(group, op) for op in group.overloads) if several else "",
        name=group.name,
        parameters=listed(parameters),
        returned=" | ".join(kinds),
        doc=inplace_docstring(group.name) if group.inplace else docstring(group.doc),
        merged=_merged(group, arguments),
        choice=_choice(group, arguments),
    )


def _returned(overload: Operator) -> str:
    """What one overload returns."""
    if overload.returns in {"Views", "UnsafeSplit"}:
        return "tuple[T, ...]"
    return f"{result_class(overload)}[T]" if overload.returns == "tuple" else "T"


def _way(group: Group, overload: Operator) -> str:
    """The signature of one overload.

    Raises
    ------
    TableError
        If users pass what would have to be in the signatures, but is in no overload.
    """
    if group.also or group.casts or group.forms:
        raise TableError(f"{overload.where}: overloads of different results take what users pass")
    parameters = [
        Parameter(
            a.name,
            "T" if a.name == "input" else interpreted_type(a.type),
            a.default,
            a.keyword_only,
        )
        for a in map(Argument.for_users, overload.arguments)
    ]
    if overload.out:
        kind = "Sequence[T]" if overload.returns == "tuple" else "T"
        parameters.append(Parameter("out", f"{kind} | None", "None", keyword_only=True))
    returned = _returned(overload)
    return fill(_WAY, name=group.name, parameters=listed(parameters), returned=returned)


def _merged(group: Group, arguments: Sequence[Argument]) -> str:
    """The statements that make one argument of several."""
    flags = {a.name for a in arguments if a.type == "bool"}
    lines = []
    for other, name in group.also.items():
        none = _EITHER_OR_NONE if group.without(name) else _EITHER
        lines.append(fill(_EITHER_FLAG if name in flags else none, name=name, other=other))
    lines += [fill(_CORRECTION, name=a.name) for a in arguments if a.form == "Correction"]
    lines += [fill(_CAST, dtype=name) for name in group.casts]
    return "".join(lines)


def _choice(group: Group, arguments: Sequence[Argument]) -> str:
    """The statements that find the overload and call it."""
    last = [op for op in group.overloads if op.when is None]
    if len(last) != 1:
        raise TableError(f"{group.overloads[0].where}: all overloads but one need 'when'")
    text = ""
    for op in [op for op in group.overloads if op.when is not None]:
        refusal, call = _refusal(group, arguments, op), _call(group, op)
        text += fill(_IF, condition=str(op.when), refusal=refusal, call=call)
    return text + _refusal(group, arguments, last[0]) + _call(group, last[0])


def _refusal(group: Group, arguments: Sequence[Argument], overload: Operator) -> str:
    """What refuses arguments that the overload does not take, and that it is not chosen by."""
    asked = {n.id for n in ast.walk(ast.parse(str(overload.when))) if isinstance(n, ast.Name)}
    own = {a.for_users().name for a in overload.arguments} | ({"out"} if overload.out else set())
    lacking = [a for a in arguments if a.name not in own]
    given = {a.name: _differs(a) for a in lacking if a.name not in asked}
    if group.has_out and "out" not in own | asked:
        given["out"] = "out is not None"
    if not given:
        return ""
    companions = [a.name for a in lacking if a.name in asked]
    if not companions:
        raise TableError(f"{overload.where}: {' and '.join(given)} would be passed in vain")
    return fill(
        _REFUSAL,
        given=" or ".join(given.values()),
        function=group.name,
        names=" and ".join(given),
        companions=" and ".join(companions),
    )


def _differs(argument: Argument) -> str:
    """The condition that an argument is not its default."""
    alone = argument.default in ("None", "True", "False", UNSET)
    return f"{argument.name} {'is not' if alone else '!='} {argument.default}"


def _call(group: Group, overload: Operator) -> str:
    own = [a.for_users() for a in overload.arguments]
    text = passed(own, [_value(group, overload, a) for a in own])
    text += ", out=out" if group.has_out and overload.out else ""
    return f"return {group.function_of(overload)}({text})\n"


def _value(group: Group, overload: Operator, argument: Argument) -> str:
    """One argument as the overload takes it: without users' UNSET, where it stands for a value."""
    name = argument.name
    if argument.form is not None and argument.form.startswith("Sizes["):
        star = argument.form.removeprefix("Sizes[").removesuffix("]")
        single = ", single=True" if "int" in argument.type.split(" | ") else ""
        named = ", named=True" if name == "dims" else ""
        return f'given_integers({star}, {name}, "{group.name}"{single}{named})'
    nothing = "Dims" in argument.type or "None" in argument.type.split(" | ")
    known = "Correction" in group.forms or group.without(name)
    if name not in group.absent or known:
        return name
    if argument.default not in (None, "None"):
        return f"{argument.default} if {name} is {UNSET} else {name}"
    if nothing:
        return f"None if {name} is {UNSET} else {name}"
    if name in group.also.values():
        return f'given({name}, "{group.name}", "{name}")'
    return name
