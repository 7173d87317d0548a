"""Writing the functions: out of place, ``out=``, in place, views and metadata operators."""

import dataclasses
import re
from collections.abc import Sequence, Set

from .docstrings import docstring, inplace_docstring
from .language import Argument, Operator
from .parameters import has_keyword_only, passed, signature, unchecked
from .template import fill

__all__ = [
    "EXPLAINED",
    "FUNCTION_IMPORTS",
    "NUMBER_COMES_LATE",
    "emit_function",
    "emit_overloads",
    "function_names",
    "result_class",
]

FUNCTION_IMPORTS = """\
from collections.abc import Sequence
from typing import Generic, NamedTuple, overload

import numpy as np

from vtgrad.graph.set_history import requires_grad, set_history, set_history_of_each
from vtgrad.graph.recording import is_recording
from vtgrad.ops import kernels as k
from vtgrad.ops import view_impls
from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.arguments import (
    NOT_GIVEN,
    array_of,
    array_or_none,
    arrays_of,
    numpy_or_none,
    operand_of,
    refuse_array,
)
from vtgrad.ops.calling.explain import explain
from vtgrad.ops.calling.numbers import (
    as_first_operand,
    as_number,
    has_number_tensor,
    refuse_tensor,
)
from vtgrad.ops.calling.quick import quick_binary
from vtgrad.ops.calling.reduction_arguments import (
    check_flag, check_pair, checked_dim, checked_dims,
)
$types
from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape
from vtgrad.ops.composites.support.undifferentiable import NotImplemented as NotImplementedNode
from vtgrad.ops.composites.support.undifferentiable import without_derivative
from vtgrad.ops.saving.read_first import read_first
from vtgrad.storage.dtypes import DType
from vtgrad.storage.integers import integer
from vtgrad.storage.quiet import quiet, renewed
from vtgrad.storage.tensor_base import TensorBase, handle_like, wrap_like
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.unchecked import AnyBool, AnyFloat, AnyInt, AnyStr, AnyTensor, T
from vtgrad.views.make_view import make_view, make_views
from vtgrad.views.unsafe_split import make_copies, make_unsafe_split
from vtgrad.views.store_inplace_result import store_quietly, store_result, store_ufunc
from vtgrad.views.view_info import ViewFunction
from vtgrad.views.write import write, write_geometry, write_ufunc
from vtgrad.views.write_out import check_out, write_out, write_outs
"""


_OUT_OF_PLACE = """
$result_class
$overloads
def $name($late$parameters) -> $returned:
    $doc
    $computed
    $stored
    $recorded
    return $returned_value
"""

_RESULT_CLASS = '''
class $name(NamedTuple, Generic[T]):
    """Results of `$operator`."""

    $fields


'''

_OVERLOADS = """
@overload
def $name($parameters) -> T: ...
@overload
def $name($turned) -> T: ...
"""

# Statements that may fail; see Note [Arguments are looked at when a call has failed].
EXPLAINED = """
try:
    $body
except Exception as error:
    $again
    explain(error, "$types", $values)
    raise
"""

# What may be a ufunc's call and nothing else.
_QUICK = """
if $condition:
    result = quick_binary(np.$ufunc, $first, $second$inexact)
if result is None:
    $body
"""

_CHECKED_OUT = """
if out is not None:
    $taken_apart
    $checks
"""

_STORED = """
$out
result = wrap_like($source, array)
$strides
"""
_STRIDES = """
if not array.size:
    result._impl.state_strides_in(memory_format, $source._impl)
"""
_WRITTEN_OUT = """
if out is not None:
    return $written
"""
_STORED_EACH = """
$out
results = $returned($results)
"""
_WRITTEN_OUT_EACH = """
if out is not None:
    return $returned(*write_outs(out, arrays$options))
"""
_UNLESS_QUICK = """
if result is None:
    $stored
"""

_RECORDED = """
if $condition:
    node = $node.record($arguments)
    $set_history
    $save_results
"""

_INPLACE = """
$writers


def $name($parameters) -> T:
    $doc
    $written
"""
_WRITTEN = """
$checks
return write($first, $recorder, $writer$rest$options)
"""
_WRITTEN_BY_UFUNC = """
if write_ufunc($first._impl, np.$ufunc, $second, "$spoken"$inexact):
    return $first
return write($first, $recorder, $writer, $second, operator="$spoken")
"""
_WRITTEN_BY_UFUNC_IF = """
if $condition:
    $quick
$general
"""

_GEOMETRY = """
def $name($parameters) -> T:
    $doc
    $written
"""
_WRITTEN_GEOMETRY = """
return write_geometry($first, $node.record, view_impls.$kernel$rest, operator="$spoken")
"""

_VIEW = """
def $name($parameters) -> $returned:
    $doc
    $viewed
    node = $node.record($arguments) if $condition else None
    return $made($first, $aliases, node$replay)


$replayed
"""
_VIEWED = """
$aliases = view_impls.$kernel($first._impl$rest)
"""
_REPLAYED = """
_replay_$stem: ViewFunction = $name
"""

# What is passed as a number, or as a 0-d tensor in its place.
_NUMBERS = ("Number", "float")
_OWN_TYPES = {"Tensor": "T", "Tensors": "Sequence[T]"}
# What turns the aliases of an operator into its results.
_MADE_BY = {
    "View": "make_view",
    "Views": "make_views",
    "Copies": "make_copies",
    "UnsafeSplit": "make_unsafe_split",
}

# The first parameter of an operator that takes a number there is still a tensor to its body.
NUMBER_COMES_LATE = (
    "  # type: ignore[misc]  # pyright: ignore[reportInconsistentOverload]"
    "  # a number there is met when the call has failed\n    "
)


def function_names(operator: Operator) -> list[str]:
    """The functions that come from one entry."""
    names = [operator.name]
    if operator.inplace is not None:
        names.append(operator.inplace)
    return names


def _as_users_call_it(operator: Operator) -> Operator:
    """The operator with its first argument called as in PyTorch's functions."""
    first, *rest = operator.arguments
    if operator.is_helper or first.name != "self":
        return operator
    renamed = dataclasses.replace(first, name="input")
    return dataclasses.replace(operator, arguments=(renamed, *rest))


def emit_function(operator: Operator, storing: Set[str], plain: Set[str]) -> str:
    """All functions of one entry, as Python text.

    Parameters
    ----------
    operator : Operator
        The entry.
    storing : set of str
        The kernels that take ``out=``.
    plain : set of str
        The writers that compute nothing.
    """
    operator = _as_users_call_it(operator)
    if operator.returns == "Self":
        writer = _writer(operator.writer or operator.kernel, plain)
        return _inplace(operator, operator.name, writer)
    if operator.returns == "Geometry":
        return _geometry(operator)
    if operator.returns in _MADE_BY:
        return _view(operator)
    text = _out_of_place(operator)
    if operator.inplace is None:
        return text
    if operator.writer is not None:
        writer = _writer(operator.writer, plain)
    else:
        # What is stored by the kernel itself must not be refused by it; an integer may be.
        total = not operator.refuses_floats and all(a.type != "int" for a in operator.arguments)
        kernel, extra = operator.kernel, "" if total else ", total=False"
        writer = f"store_result(k.{kernel}, direct={kernel in storing}{extra})"
    return text + _inplace(operator, operator.inplace, writer)


def _writer(name: str, plain: Set[str]) -> str:
    """A kernel as a writer, as Python text."""
    return f"k.{name}" if name in plain else f"store_quietly(k.{name})"


# -- arguments -----------------------------------------------------------------------------------


def _owner(operator: Operator) -> Argument:
    """The argument whose class the results have."""
    for kind in ("Tensor", "Tensors"):
        for a in operator.arguments:
            if a.type == kind:
                return a
    raise AssertionError(f"{operator.where}: no tensor argument")


def _parameters(operator: Operator) -> str:
    owner = _owner(operator)
    types = [
        _OWN_TYPES[a.type]
        if a is owner
        else "Sequence[TensorBase]"
        if a.type == "Tensors"
        else unchecked(a.type)
        for a in operator.arguments
    ]
    return signature(operator.arguments, types)


def _passed(operator: Operator, *, out: bool = False) -> str:
    """The arguments, handed on as they are."""
    text = passed(operator.arguments, [a.name for a in operator.arguments])
    return text + (", out=out" if out and operator.out else "")


def _rest(operator: Operator) -> str:
    """The arguments behind the first one, handed on after a comma."""
    rest = operator.arguments[1:]
    text = passed(rest, [a.name for a in rest])
    return f", {text}" if text else ""


def _converted(argument: Argument) -> str:
    """An argument as a kernel takes it."""
    name = argument.name
    operand = (
        f"{name}._impl.array"
        f" if isinstance({name}, TensorBase) and not {name}._impl.is_wrapped_number"
        f' else operand_of({name}, "{name}")'
    )
    forms = {
        "Tensor": f"{name}._impl.array",
        "Tensor | Number": operand,
        "Tensor | None": f'array_or_none({name}, "{name}")',
        "Tensors": f'arrays_of({name}, "{name}")',
        "DType | None": f"numpy_or_none({name})",
    }
    return forms.get(argument.type, name)


def _tensor_names(operator: Operator) -> str:
    return ", ".join(f"*{a.name}" if a.is_list else a.name for a in operator.tensors)


# -- what is tried again, and explained ------------------------------------------------------------


def _explained(operator: Operator, body: str, name: str = "", *, out: bool = True) -> str:
    """A ``try`` around statements."""
    name = name or operator.name
    body = _checked_arguments(operator) + body
    types = [f"{a.name}: {a.type}" for a in operator.arguments]
    values = [a.name for a in operator.arguments]
    if out and operator.out:
        types.append(f"out: {'Tensor' if len(operator.results) == 1 else 'Pair'} | None")
        values.append("out")
    again = [
        _renewed(operator, body, name, out),
        _with_numbers(operator, name, out),
        _turned(operator) if out and operator.number_first else "",
    ]
    return fill(
        EXPLAINED,
        body=body,
        again="".join(again),
        types=", ".join(types),
        values=", ".join(values),
    )


def _checked_arguments(operator: Operator) -> str:
    """Dimensions and flags as kernels take them."""
    lines: list[str] = []
    for a in operator.arguments:
        if not a.checked:
            continue
        if a.type == "bool":
            value = f'check_flag({a.name}, "{a.name}")'
        else:
            function = "checked_dims" if a.type == "Dims" else "checked_dim"
            name = "" if a.name == "dim" else f', "{a.name}"'
            value = f"{function}({a.name}{name})"
        if "None" in a.type:
            value = f"None if {a.name} is None else {value}"
        lines.append(f"{a.name} = {value}\n")
    return "".join(lines)


_AGAIN = """
if $condition:
    return $name($arguments)
"""

_TURNED = """
turned = as_first_operand($first, $second$inexact)
if turned is not None:
    return $name(turned$rest)
"""


def _renewed(operator: Operator, body: str, name: str, out: bool) -> str:
    """The call again, where floating-point warnings were on; see its Note."""
    if not any(word in body for word in ("quiet.run(", "quick_binary(", "write(", "write_ufunc(")):
        return ""
    return fill(_AGAIN, condition="renewed(error)", name=name, arguments=_passed(operator, out=out))


def _with_numbers(operator: Operator, name: str, out: bool) -> str:
    """The call again, with numbers for 0-d tensors."""
    numbers = [a.name for a in operator.arguments if a.type.removesuffix(" | None") in _NUMBERS]
    # Random numbers drawn twice are not the same call again; in place, none has been drawn.
    drawn = out and any("Generator" in a.type for a in operator.arguments)
    if not numbers or drawn:
        return ""
    values = [f"as_number({a.name})" if a.name in numbers else a.name for a in operator.arguments]
    arguments = passed(operator.arguments, values) + (", out=out" if out and operator.out else "")
    condition = f"has_number_tensor({', '.join(numbers)})"
    return fill(_AGAIN, condition=condition, name=name, arguments=arguments)


def _turned(operator: Operator) -> str:
    """The call again, with a tensor for a number in the first place."""
    return fill(
        _TURNED,
        first=operator.arguments[0].name,
        second=operator.arguments[1].name,
        inexact=", inexact=True" if operator.number_first == "float" else "",
        name=operator.name,
        rest=_rest(operator) + (", out=out" if operator.out else ""),
    )


# -- out of place ----------------------------------------------------------------------------------


def _out_of_place(operator: Operator) -> str:
    several = operator.returns == "tuple"
    returned = "T"
    header = ""
    if several:
        name = result_class(operator)
        returned = f"{name}[T]"
        fields = "\n".join(f"{name}: T" for name in operator.results)
        header = fill(_RESULT_CLASS, name=name, operator=operator.name, fields=fields)
    parameters = _parameters(operator)
    if operator.out:
        star = "" if has_keyword_only(operator) else "*, "
        parameters += f", {star}out: {'Sequence[T]' if several else 'T'} | None = None"
    body = _computation(operator, several=several)
    stored = _stored(operator, returned)
    head = ""
    if operator.ufunc is not None:
        first, second = (a.name for a in operator.arguments[:2])
        condition = "out is None"
        if operator.ufunc_if is not None:
            condition += f" and {operator.ufunc_if}"
        inexact = ", True" if operator.ufunc_inexact else ""
        body = fill(
            _QUICK,
            condition=condition,
            ufunc=operator.ufunc,
            first=first,
            second=second,
            inexact=inexact,
            body=body,
        )
        head = "result: T | None = None\n"
        stored = fill(_UNLESS_QUICK, stored=stored)
    overloads = ""
    if operator.number_first:
        overloads = emit_overloads(operator.name, parameters, [a.name for a in operator.arguments])
    return fill(
        _OUT_OF_PLACE,
        result_class=header,
        overloads=overloads,
        name=operator.name,
        late=NUMBER_COMES_LATE if operator.number_first else "",
        parameters=parameters,
        returned=returned,
        doc=docstring(operator.doc),
        computed=head + _explained(operator, body),
        stored=stored,
        recorded=_recorded(operator, several=several),
        returned_value=_undifferentiable(operator, "results" if several else "result"),
    )


def result_class(operator: Operator) -> str:
    """The class of several results."""
    return "".join(part.capitalize() for part in operator.name.split("_")) + "Result"


def emit_overloads(name: str, parameters: str, names: Sequence[str]) -> str:
    """The signatures of what takes a tensor or a number first, for type checkers."""
    first, second = names[:2]
    turned = parameters.replace(f"{first}: T", f"{first}: Number")
    turned = turned.replace(f"{second}: AnyTensor | Number", f"{second}: T")
    return fill(_OVERLOADS, name=name, parameters=parameters, turned=turned)


def _computation(operator: Operator, *, several: bool) -> str:
    """The kernel's call, after a look at what it is to be stored in."""
    checks = ""
    if operator.out:
        outs = [f"out_{i}" for i in range(len(operator.results))] if several else ["out"]
        differentiable = operator.node is not None and not operator.real_result
        options = "" if differentiable else ", differentiable=False"
        operands = _tensor_names(operator)
        pair = operator.results == ("values", "indices")
        first = operator.arguments[0].name
        checks = f'check_pair(out, array_of({first}, "{first}").dtype)\n' if pair else ""
        checks += fill(
            _CHECKED_OUT,
            # Fails for another number of tensors, and `explain` says so.
            taken_apart=f"{', '.join(outs)} = out" if several else "",
            checks="\n".join(f"check_out({one}, {operands}{options})" for one in outs),
        )
    if operator.copies_view:
        first = operator.arguments[0].name
        viewed = f"view_impls.{operator.kernel}({first}._impl{_rest(operator)})"
        call = f"k.contiguous({viewed}.array)"
    else:
        arguments = passed(operator.arguments, [_converted(a) for a in operator.arguments])
        call = f"quiet.run(k.{operator.kernel}, {arguments})"
    return checks + f"{'arrays' if several else 'array'} = {call}\n"


def _stored(operator: Operator, returned: str) -> str:
    """The results, as tensors of their own or in those of ``out=``."""
    owner = _owner(operator)
    source = f"{owner.name}[0]" if owner.is_list else owner.name
    options = f', "{operator.base}"'
    if operator.exact_out is not None:
        exact = "True"
        if operator.exact_out == "exact for real":
            # Of complex operands it may also have theirs, but no other complex one.
            own, given = f"{source}._impl.dtype", "out._impl.dtype"
            exact = f'{own}.kind != "c" or ({given}.kind == "c" and {given} != {own})'
        options += f", exact={exact}"
    if operator.returns == "tuple":
        made = returned.removesuffix("[T]")
        numbers = range(len(operator.results))
        out = fill(_WRITTEN_OUT_EACH, returned=made, options=options) if operator.out else ""
        results = ", ".join(f"wrap_like({source}, arrays[{nr}])" for nr in numbers)
        return fill(_STORED_EACH, out=out, returned=made, results=results)
    if len(operator.tensors) > 1 and not any(a.is_list for a in operator.tensors):
        options += f", inputs=({_tensor_names(operator)})"
    written = f"write_out(out, array{options})"
    formatted = any(a.name == "memory_format" for a in operator.arguments)
    return fill(
        _STORED,
        out=fill(_WRITTEN_OUT, written=_undifferentiable(operator, written))
        if operator.out
        else "",
        source=source,
        strides=fill(_STRIDES, source=source) if formatted else "",
    )


def _undifferentiable(operator: Operator, result: str) -> str:
    """The result, and if the operator has no derivative, so that backward says so."""
    if not operator.undifferentiable:
        return result
    return f"without_derivative({result}, {_tensor_names(operator)})"


def _recorded(operator: Operator, *, several: bool) -> str:
    if operator.node is None:
        return ""
    condition = _recording(operator)
    if operator.real_result:
        condition += ' and array.dtype.kind in "fc"'
    saved = ""
    words = {word for text in operator.formulas.values() for word in re.findall(r"\w+", text)}
    if not words.isdisjoint(operator.results):
        saved = f"node.save_results({'*results' if several else 'result'})"
    stored = "set_history_of_each(results, node)" if several else "set_history(result, node)"
    return fill(
        _RECORDED,
        condition=condition,
        node=_view_node(operator),
        arguments=_passed(operator) + (", copy=True" if operator.copies_view else ""),
        set_history=stored,
        save_results=saved,
    )


def _view_node(operator: Operator) -> str:
    """The class that records a call; that of a view also records the view's copy."""
    node = str(operator.node)
    return node.removesuffix("_copy") if operator.copies_view else node


def _recording(operator: Operator) -> str:
    """The condition on which a call is recorded; it costs little where no operand has metadata."""
    asked = "{0}._impl.autograd_meta is not None and {0}._impl.autograd_meta.requires_grad()"
    inline = {"Tensor": asked, "Tensor | Number": f"isinstance({{0}}, TensorBase) and {asked}"}
    if not all(a.type in inline for a in operator.tensors):
        return f"is_recording() and requires_grad({_tensor_names(operator)})"
    parts = [inline[a.type].format(a.name) for a in operator.tensors]
    first = parts[0] if len(parts) == 1 else "(" + " or ".join(f"({p})" for p in parts) + ")"
    return f"{first} and is_recording()"


# -- in place --------------------------------------------------------------------------------------


def _inplace(operator: Operator, name: str, made: str) -> str:
    writer, quick = f"_{name}writer", f"_{name}ufunc_writer"
    writers = f"{writer} = {made}\n"
    own = name == operator.name
    # A table's in-place operator may be one on its own, whose writer is no ufunc.
    ufunc = None if own else operator.ufunc
    inexact = operator.ufunc_inexact
    if ufunc is not None:
        extra = ", inexact=True" if inexact else ""
        writers += f"{quick} = store_ufunc(np.{ufunc}, {writer}{extra})\n"
    spoken = operator.spoken_inplace
    body = _written(operator, writer, spoken)
    if ufunc is not None:
        short = fill(
            _WRITTEN_BY_UFUNC,
            first=operator.arguments[0].name,
            second=operator.arguments[1].name,
            ufunc=ufunc,
            spoken=spoken,
            inexact=", True" if inexact else "",
            recorder=_recorder(operator),
            writer=quick,
        )
        condition = operator.ufunc_if
        if condition is None:
            body = _checks(operator) + short
        else:
            body = fill(_WRITTEN_BY_UFUNC_IF, condition=condition, quick=short, general=body)
    return fill(
        _INPLACE,
        writers=writers,
        name=name,
        parameters=_parameters(operator),
        doc=docstring(operator.doc) if own else inplace_docstring(spoken, operator.doc),
        written=_explained(operator, body, name, out=False),
    )


def _recorder(operator: Operator) -> str:
    if operator.undifferentiable:
        return "NotImplementedNode.record"
    return "None" if operator.inplace_node is None else f"{operator.inplace_node}.record"


def _checks(operator: Operator) -> str:
    lines = []
    for a in operator.arguments[1:]:
        if a.type == "Tensor":
            lines.append(f'array_of({a.name}, "{a.name}")\n')
            if a.name == operator.read_first:
                target = operator.arguments[0].name
                lines.append(f"{a.name} = read_first({a.name}, {target})\n")
        elif (
            operator.is_public and not a.keyword_only and a.type.removesuffix(" | None") in _NUMBERS
        ):
            # The funnel would take a tensor's array, which a kernel may take for the number.
            lines.append(f"refuse_tensor({a.name})\n")
    return "".join(lines)


def _written(operator: Operator, writer: str, spoken: str) -> str:
    options = f', operator="{spoken}"'
    if operator.overlap != "refused":
        options += f', overlap="{operator.overlap}"'
    if operator.distinct:
        options += ", distinct=True"
    return fill(
        _WRITTEN,
        checks=_checks(operator),
        first=operator.arguments[0].name,
        recorder=_recorder(operator),
        writer=writer,
        rest=_rest(operator),
        options=options,
    )


# -- views and geometry ----------------------------------------------------------------------------


def _geometry(operator: Operator) -> str:
    written = fill(
        _WRITTEN_GEOMETRY,
        first=operator.arguments[0].name,
        node=str(operator.node),
        kernel=operator.kernel,
        rest=_rest(operator),
        spoken=operator.base,
    )
    return fill(
        _GEOMETRY,
        name=operator.name,
        parameters=_parameters(operator),
        doc=docstring(operator.doc),
        written=_explained(operator, written),
    )


def _view(operator: Operator) -> str:
    first = operator.arguments[0].name
    several = operator.returns != "View"
    aliases = "impls" if several else "impl"
    stem = operator.name.strip("_")
    viewed = fill(
        _VIEWED, aliases=aliases, kernel=operator.kernel, first=first, rest=_rest(operator)
    )
    return fill(
        _VIEW,
        name=operator.name,
        parameters=_parameters(operator),
        returned="tuple[T, ...]" if several else "T",
        doc=docstring(operator.doc),
        viewed=_explained(operator, viewed),
        node=_view_node(operator),
        arguments=_passed(operator) + (", copy=True" if operator.copies_view else ""),
        condition=_recording(operator),
        made=_MADE_BY[operator.returns],
        first=first,
        aliases=aliases,
        replay=f", view_fn=_replay_{stem}" if operator.replay else "",
        replayed=fill(_REPLAYED, stem=stem, name=operator.name) if operator.replay else "",
    )
