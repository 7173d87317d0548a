"""Writing the functions of operators: out of place and with ``out=``."""

import dataclasses
import re
from collections.abc import Iterable, Set

from vtgrad.codegen.calls import (
    converted,
    owner_of,
    parameters_of,
    passed_on,
    recording,
    recovered,
    rest_of,
    taken_over,
    tensor_names,
    view_node,
)
from vtgrad.codegen.docstrings import docstring
from vtgrad.codegen.emit_inplace import emit_inplace, emit_writers
from vtgrad.codegen.emit_views import MADE_BY, emit_geometry, emit_view
from vtgrad.codegen.language import Operator
from vtgrad.codegen.parameters import has_keyword_only, passed
from vtgrad.codegen.template import fill

__all__ = [
    "FUNCTION_IMPORTS",
    "emit_function",
    "emit_function_writers",
    "emit_result_classes",
    "function_names",
    "result_class",
]

FUNCTION_IMPORTS = """\
from collections.abc import Sequence
from typing import Generic, NamedTuple, SupportsIndex, overload

import numpy as np

from vtgrad.graph.set_history import requires_grad, set_history, set_history_of_each
from vtgrad.graph.recording import is_recording
from vtgrad.ops import kernels as k
from vtgrad.ops import view_impls
from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.arguments import (
    array_of,
    array_or_none,
    arrays_of,
    leading,
    numpy_or_none,
    is_array,
    operand_of
)
from vtgrad.ops.calling.constants import constant
from vtgrad.ops.calling.explain import explain
from vtgrad.ops.calling.numbers import refuse_tensor
from vtgrad.ops.calling.quick import quick_binary
from vtgrad.ops.calling.recover import recover
from vtgrad.ops.generated import operators as op
from vtgrad.ops.calling.take_over import is_drawn_in_batch, is_keyed, take_over
from vtgrad.ops.calling.reduction_arguments import (
    check_flag, check_optional_flag, check_pair, checked_dim, checked_dims, dtype_with_out, pair_of
)
$types
from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape
from vtgrad.ops.composites.support.undifferentiable import NotImplemented as NotImplementedNode
from vtgrad.ops.composites.support.undifferentiable import without_derivative
from vtgrad.ops.saving.read_first import read_first
from vtgrad.storage.dtypes import DType
from vtgrad.storage.integers import INT, integer
from vtgrad.storage.key_set import keys
from vtgrad.storage.mode import switched
from vtgrad.storage.no_fp_warnings import no_fp_warnings
from vtgrad.storage.tensor_base import TensorBase, handle_like, wrap_like
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.argument_types import (
    AnyBool as bool, AnyFloat as float, AnyInt as int, AnyStr as str, AnyTensor as Tensor, T
)
from vtgrad.views.make_view import make_view, make_views
from vtgrad.views.unsafe_split import make_copies, make_unsafe_split, write_copies
from vtgrad.views.store_inplace_result import store_without_warnings, store_result, store_ufunc
from vtgrad.views.view_info import ViewFunction
from vtgrad.views.write import ALONE, write, write_geometry, write_ufunc
from vtgrad.views.write_out import check_out, write_out, write_outs
"""

_OUT_OF_PLACE = """
def $name($parameters) -> $returned:
    $doc
    $taken_over
    $computed
    $stored
    $recorded
    return $returned_value
"""

_RESULT_CLASS = '''
class $name(NamedTuple, Generic[T]):
    """Results of `vtgrad.$operator`."""

    $fields


'''

# What may be a ufunc's call and nothing else.
_QUICK = """
if $condition:
    result = quick_binary(np.$ufunc, $first, $second$inexact)
if result is None:
    $body
"""

_CHECKED_OUT = """
if out is not None:
    $dtype
    $taken_apart
    $checks
"""

# What `out` says of its dtype, and what is done for it.
_DTYPES_OF_OUT = {
    None: "",
    "in its dtype": "dtype = dtype_with_out(dtype, out)",
    "of its dtype": "if dtype is not None:\n    dtype_with_out(dtype, out)",
}

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
    $set_history
"""

_RECORDED_AND_SAVED = """
if $condition:
    node = $made
    $set_history
    $save_results
"""


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


def emit_function(operator: Operator) -> str:
    """All functions of one entry, as Python text."""
    operator = _as_users_call_it(operator)
    if operator.returns == "Self":
        return emit_inplace(operator, operator.name)
    if operator.returns == "Geometry":
        return emit_geometry(operator)
    if operator.returns in MADE_BY:
        return emit_view(operator)
    text = _out_of_place(operator)
    return text if operator.inplace is None else text + emit_inplace(operator, operator.inplace)


def emit_function_writers(operator: Operator, storing: Set[str], plain: Set[str]) -> str:
    """What the functions of one entry write with, as Python text.

    Parameters
    ----------
    operator : Operator
        The entry.
    storing : set of str
        The kernels that take ``out=``.
    plain : set of str
        The writers that compute nothing.
    """
    if operator.returns == "Self":
        writer = _writer(operator.writer or operator.kernel, plain)
        return emit_writers(operator, operator.name, writer)
    if operator.returns in {"Geometry", *MADE_BY} or operator.inplace is None:
        return ""
    if operator.writer is not None:
        return emit_writers(operator, operator.inplace, _writer(operator.writer, plain))
    # What is stored by the kernel itself must not be refused by it; an integer may be.
    total = not operator.refuses_floats and all(a.type != "int" for a in operator.arguments)
    kernel, extra = operator.kernel, "" if total else ", total=False"
    made = f"store_result(k.{kernel}, direct={kernel in storing}{extra})"
    return emit_writers(operator, operator.inplace, made)


def _writer(name: str, plain: Set[str]) -> str:
    """A kernel as a writer, as Python text."""
    return f"k.{name}" if name in plain else f"store_without_warnings(k.{name})"


def _out_of_place(operator: Operator) -> str:
    several = operator.returns == "tuple"
    returned = f"{result_class(operator)}[T]" if several else "T"
    parameters = parameters_of(operator)
    if operator.out:
        star = "" if has_keyword_only(operator) else "*, "
        parameters += f", {star}out: {'Sequence[T]' if several else 'T'} | None = None"
    body, keyed = _computation(operator, several=several), taken_over(operator)
    stored, recorded = _stored(operator, returned), _recorded(operator, several=several)
    value = _undifferentiable(operator, "results" if several else "result")
    head = ""
    if operator.ufunc is not None and len(operator.arguments) > 1:
        body, keyed = _quick(operator, keyed + body), ""
        head = "result: T | None = None\n"
        stored = fill(_UNLESS_QUICK, stored=_bound_there(stored))
    elif not recorded:
        stored, value = _returned_at_once(stored, value)
    return fill(
        _OUT_OF_PLACE,
        name=operator.name,
        parameters=parameters,
        returned=returned,
        doc=docstring(operator.own_doc),
        taken_over=keyed,
        computed=head + recovered(operator, body),
        stored=stored,
        recorded=recorded,
        returned_value=value,
    )


def emit_result_classes(table: Iterable[Operator]) -> str:
    """The definitions of the classes of several results: one for all overloads of an operator."""
    first = {op.base: op for op in reversed([op for op in table if op.returns == "tuple"])}
    return "".join(
        fill(
            _RESULT_CLASS,
            name=result_class(op),
            operator=base,
            fields="\n".join(f"{name}: T" for name in op.results),
        )
        for base, op in reversed(first.items())
    )


def _quick(operator: Operator, body: str) -> str:
    """A ufunc's short way before the computation."""
    first, second = (a.name for a in operator.arguments[:2])
    condition = "out is None"
    if operator.ufunc_if is not None:
        condition += f" and {operator.ufunc_if}"
    return fill(
        _QUICK,
        condition=condition,
        ufunc=str(operator.ufunc),
        first=first,
        second=second,
        inexact=", True" if operator.ufunc_inexact else "",
        body=body,
    )


def _returned_at_once(stored: str, value: str) -> tuple[str, str]:
    """The statements without the last one, if all that it does is to name the result."""
    before, _, last = stored.rstrip("\n").rpartition("\n")
    name, _, made = last.partition(" = ")
    if name not in ("result", "results"):
        return stored, value
    return before, re.sub(rf"\b{name}\b", lambda _: made, value)


def _bound_there(stored: str) -> str:
    """The lines that read an array which is bound unless the short way gave the result."""
    ignored = "  # pyright: ignore[reportPossiblyUnboundVariable]  # no result yet: it is bound"
    lines = stored.splitlines()
    return "\n".join([line + ignored * bool(re.search(r"\barray\b", line)) for line in lines])


def result_class(operator: Operator) -> str:
    """The class of several results."""
    return "".join(part.capitalize() for part in operator.base.split("_")) + "Result"


def _computation(operator: Operator, *, several: bool) -> str:
    """The kernel's call, after a look at what it is to be stored in."""
    checks = ""
    if operator.out:
        outs = [f"out_{i}" for i in range(len(operator.results))] if several else ["out"]
        differentiable = operator.node is not None and not operator.real_result
        options = "" if differentiable else ", differentiable=False"
        operands = tensor_names(operator)
        pair = operator.results == ("values", "indices")
        first = operator.arguments[0].name
        checks = f'check_pair(out, array_of({first}, "{first}").dtype)\n' if pair else ""
        given = "out" if pair else "pair_of(out)"
        checks += fill(
            _CHECKED_OUT,
            dtype=_DTYPES_OF_OUT[operator.out_dtype],
            taken_apart=f"{', '.join(outs)} = {given}" if several else "",
            checks="\n".join(f"check_out({one}, {operands}{options})" for one in outs),
        )
    if operator.copies_view:
        first = operator.arguments[0].name
        viewed = f"view_impls.{operator.kernel}({first}._impl{rest_of(operator)})"
        call = f"k.contiguous({viewed}.array)"
    else:
        arguments = passed(operator.arguments, [converted(a) for a in operator.arguments])
        call = f"no_fp_warnings.run(k.{operator.kernel}, {arguments})"
    return checks + f"{'arrays' if several else 'array'} = {call}\n"


def _stored(operator: Operator, returned: str) -> str:
    """The results, as tensors of their own or in those of ``out=``."""
    owner = owner_of(operator)
    source = f"leading({owner.name})" if owner.is_list else owner.name
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
        options += f", inputs=({tensor_names(operator)})"
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
    return f"without_derivative({result}, {tensor_names(operator)})"


def _recorded(operator: Operator, *, several: bool) -> str:
    if operator.node is None:
        return ""
    condition = recording(operator)
    if operator.real_result:
        condition += ' and array.dtype.kind in "fc"'
    saved = ""
    made = (
        f"{view_node(operator)}.record({passed_on(operator)}{', copy=True' * operator.copies_view})"
    )
    words = {word for text in operator.formulas.values() for word in re.findall(r"\w+", text)}
    if not words.isdisjoint(operator.results):
        saved = f"node.save_results({'*results' if several else 'result'})"
    stored = "set_history_of_each(results, {})" if several else "set_history(result, {})"
    template = _RECORDED_AND_SAVED if saved else _RECORDED
    return fill(
        template,
        condition=condition,
        made=made,
        set_history=stored.format("node" if saved else made),
        save_results=saved,
    )
