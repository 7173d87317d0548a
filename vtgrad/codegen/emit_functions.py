"""Writing the functions: out of place, ``out=``, in place, views and metadata operators."""

import dataclasses
import re
from collections.abc import Set

from .emit_nodes import has_keyword_only, signature, unchecked
from .language import Argument, Operator

__all__ = ["FUNCTION_IMPORTS", "emit_function", "function_names"]

FUNCTION_IMPORTS = """\
from collections.abc import Sequence
from typing import Generic, NamedTuple, overload

import numpy as np

from vtgrad.graph.functions import requires_grad, set_history, set_history_of_each
from vtgrad.graph.recording import is_recording
from vtgrad.ops import kernels as k
from vtgrad.ops import view_impls
from vtgrad.ops.calling.arguments import (
    array_of,
    array_or_none,
    arrays_of,
    numpy_or_none,
    operand_of,
)
from vtgrad.ops.calling.explain import explain
from vtgrad.ops.calling.numbers import (
    as_first_operand,
    as_number,
    has_number_tensor,
    refuse_tensor,
)
from vtgrad.ops.calling.quick import quick_binary
{types}from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape
from vtgrad.storage.dtypes import DType
from vtgrad.storage.quiet import quiet, renewed
from vtgrad.storage.tensor_base import TensorBase, handle_like, wrap_like
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.unchecked import AnyBool, AnyFloat, AnyInt, AnyStr, AnyTensor, T
from vtgrad.views.make_view import make_view, make_views
from vtgrad.views.unsafe_split import make_copies, make_unsafe_split
from vtgrad.views.store_result import store_quietly, store_result, store_ufunc
from vtgrad.views.view_info import ViewFunction
from vtgrad.views.write import write, write_geometry, write_ufunc
from vtgrad.views.write_out import check_out, write_out, write_outs
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


def function_names(operator: Operator) -> list[str]:
    """The functions that come from one entry."""
    names = [operator.name]
    if operator.inplace is not None:
        names.append(operator.inplace)
    return names


def _as_users_call_it(operator: Operator) -> Operator:
    """The operator with its first argument called as in PyTorch's functions."""
    first, *rest = operator.arguments
    public = operator.method or (operator.copies_view and not operator.name.startswith("_"))
    if not public or first.name != "self":
        return operator
    renamed = dataclasses.replace(first, name="input")
    return dataclasses.replace(operator, arguments=(renamed, *rest))


# The first parameter of an operator that takes a number there is still a tensor to its body.
_NUMBER_COMES_LATE = (
    "  # type: ignore[misc]  # pyright: ignore[reportInconsistentOverload]"
    "  # a number there is met when the call has failed\n    "
)

# Operators that users mostly call by another name.
_SPOKEN = {"true_divide": "div", "linalg_vector_norm": "norm"}


def _spoken(name: str, users: Set[str]) -> str:
    """What users call an operator: the table has one of its own for every overload."""
    end = "_" if name.endswith("_") else ""
    plain = name.rstrip("_")
    words = _SPOKEN.get(plain, plain).split("_")
    for count in range(len(words), 0, -1):
        shorter = "_".join(words[:count]) + end
        if shorter in users:
            return shorter
    return name


def emit_function(operator: Operator, storing: Set[str], plain: Set[str], users: Set[str]) -> str:
    """All functions of one entry, as Python text.

    Parameters
    ----------
    operator : Operator
        The entry.
    storing : set of str
        The kernels that take ``out=``.
    plain : set of str
        The writers that compute nothing.
    users : set of str
        The functions and methods that users see.
    """
    operator = _as_users_call_it(operator)
    if operator.returns == "Self":
        writer = _writer(operator.writer or operator.kernel, plain)
        return _inplace(operator, operator.name, writer, users)
    if operator.returns == "Geometry":
        return _geometry(operator, users)
    if operator.returns in {"View", "Views", "Copies", "UnsafeSplit"}:
        return _view(operator)
    text = _out_of_place(operator, users)
    if operator.inplace is not None:
        kernel = operator.kernel
        # What is stored by the kernel itself must not be refused by it; an integer may be.
        total = not operator.refuses_floats and all(a.type != "int" for a in operator.arguments)
        extra = "" if total else ", total=False"
        text += _inplace(
            operator,
            operator.inplace,
            f"store_result(k.{kernel}, direct={kernel in storing}{extra})"
            if operator.writer is None
            else _writer(operator.writer, plain),
            users,
        )
    return text


def _writer(name: str, plain: Set[str]) -> str:
    """A kernel as a writer, as Python text."""
    return f"k.{name}" if name in plain else f"store_quietly(k.{name})"


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


def _passed(operator: Operator, *, skip_first: bool = False, converted: bool = False) -> str:
    parts = []
    for a in operator.arguments[1 if skip_first else 0 :]:
        value = a.name
        if converted:
            value = {
                "Tensor": f"{a.name}._impl.array",
                "Tensor | Number": _operand(a.name),
                "Tensor | None": f'array_or_none({a.name}, "{a.name}")',
                "Tensors": f'arrays_of({a.name}, "{a.name}")',
                "DType | None": f"numpy_or_none({a.name})",
            }.get(a.type, a.name)
        parts.append(f"{a.name}={value}" if a.keyword_only else value)
    return ", ".join(parts)


def _operand(name: str) -> str:
    """What a kernel takes for a tensor or number."""
    return (
        f"{name}._impl.array"
        f" if isinstance({name}, TensorBase) and not {name}._impl.is_wrapped_number"
        f' else operand_of({name}, "{name}")'
    )


def _recording(operator: Operator) -> str:
    """The condition on which a call is recorded; it costs little where no operand has metadata."""
    asked = "{0}._impl.autograd_meta is not None and {0}._impl.autograd_meta.requires_grad()"
    inline = {"Tensor": asked, "Tensor | Number": f"isinstance({{0}}, TensorBase) and {asked}"}
    if not all(a.type in inline for a in operator.tensors):
        return f"is_recording() and requires_grad({_tensor_names(operator)})"
    parts = [inline[a.type].format(a.name) for a in operator.tensors]
    first = parts[0] if len(parts) == 1 else "(" + " or ".join(f"({p})" for p in parts) + ")"
    return f"{first} and is_recording()"


def _saves_results(operator: Operator) -> bool:
    """Whether a derivative needs a result; then the node is told of them."""
    words = {word for text in operator.formulas.values() for word in re.findall(r"\w+", text)}
    return not words.isdisjoint(operator.results)


def _tensor_names(operator: Operator) -> str:
    return ", ".join(f"*{a.name}" if a.is_list else a.name for a in operator.tensors)


def _doc(operator: Operator, fallback: str) -> str:
    text = operator.doc or fallback
    if "\n" not in text:
        return f'    """{text}"""\n'
    indented = "\n".join(f"    {line}".rstrip() for line in text.splitlines())
    return f'    """{indented.strip()}\n    """\n'


def _out_of_place(operator: Operator, users: Set[str]) -> str:
    owner = _owner(operator)
    source = f"{owner.name}[0]" if owner.is_list else owner.name
    multiple = operator.returns == "tuple"
    extra = f', "{_spoken(operator.name, users)}"'
    if operator.exact_out is not None:
        exact = "True"
        if operator.exact_out == "exact for real":
            # Of complex operands it may also have theirs, but no other complex one.
            own, given = f"{source}._impl.dtype", "out._impl.dtype"
            exact = f'{own}.kind != "c" or ({given}.kind == "c" and {given} != {own})'
        extra += f", exact={exact}"
    header = ""
    returned = "T"
    if multiple:
        returned = "".join(part.capitalize() for part in operator.name.split("_")) + "Result"
        fields = "\n".join(f"    {name}: T" for name in operator.results)
        header = (
            f"class {returned}(NamedTuple, Generic[T]):\n"
            f'    """Results of `{operator.name}`."""\n\n{fields}\n\n\n'
        )
        returned += "[T]"
    params = _parameters(operator)
    if operator.out:
        star = "" if has_keyword_only(operator) else "*, "
        kind = "Sequence[T]" if multiple else "T"
        params += f", {star}out: {kind} | None = None"
    text = header
    ignored = ""
    if operator.number_first:
        first, second = (a.name for a in operator.arguments[:2])
        other_way = params.replace(f"{first}: T", f"{first}: Number").replace(
            f"{second}: AnyTensor | Number", f"{second}: T"
        )
        text += f"@overload\ndef {operator.name}({params}) -> T: ...\n"
        text += f"@overload\ndef {operator.name}({other_way}) -> T: ...\n"
        ignored = _NUMBER_COMES_LATE
    text += f"def {operator.name}({ignored}{params}) -> {returned}:\n"
    text += _doc(operator, f"See `{operator.name}` of PyTorch; the result is a new tensor.")
    body = ""
    if operator.out:
        outs = [f"out_{i}" for i in range(len(operator.results))] if multiple else ["out"]
        body += "    if out is not None:\n"
        if multiple:
            # Fails for another number of tensors, and `explain` says so.
            body += f"        {', '.join(outs)} = out\n"
        for one in outs:
            kind = "" if _differentiable(operator) else ", differentiable=False"
            body += f"        check_out({one}, {_tensor_names(operator)}{kind})\n"
    if operator.copies_view:
        rest = _passed(operator, skip_first=True)
        shown = f"view_impls.{operator.kernel}({owner.name}._impl{', ' if rest else ''}{rest})"
        call = f"k.contiguous({shown}.array)"
    else:
        call = f"quiet.run(k.{operator.kernel}, {_passed(operator, converted=True)})"
    body += f"    {'arrays' if multiple else 'array'} = {call}\n"
    if operator.ufunc is not None:
        condition = "out is None"
        if operator.ufunc_if is not None:
            condition += f" and {operator.ufunc_if}"
        first, second = (a.name for a in operator.arguments[:2])
        inexact = ", True" if operator.ufunc_inexact else ""
        text += "    result: T | None = None\n"
        body = (
            f"    if {condition}:\n"
            f"        result = quick_binary(np.{operator.ufunc}, {first}, {second}{inexact})\n"
            "    if result is None:\n" + "".join(f"    {line}\n" for line in body.splitlines())
        )
    text += _explained(operator, body)
    if multiple:
        if operator.out:
            text += "    if out is not None:\n"
            text += f"        return {returned[:-3]}(*write_outs(out, arrays{extra}))\n"
        wrapped = ", ".join(
            f"wrap_like({source}, arrays[{i}])" for i in range(len(operator.results))
        )
        text += f"    results = {returned[:-3]}({wrapped})\n"
    else:
        ending = ""
        if operator.out:
            if len(operator.tensors) > 1 and not any(a.is_list for a in operator.tensors):
                extra += f", inputs=({_tensor_names(operator)})"
            ending = "    if out is not None:\n        return write_out(out, array" + extra + ")\n"
        ending += f"    result = wrap_like({source}, array)\n"
        if any(a.name == "memory_format" for a in operator.arguments):
            ending += "    if not array.size:\n"
            ending += f"        result._impl.state_strides_in(memory_format, {source}._impl)\n"
        if operator.ufunc is None:
            text += ending
        else:
            text += "    if result is None:\n"
            text += "".join(f"    {line}\n" for line in ending.splitlines())
    if operator.node is not None:
        condition = _recording(operator)
        if operator.real_result:
            condition += ' and array.dtype.kind in "fc"'
        text += f"    if {condition}:\n"
        text += f"        node = {operator.node}.record({_passed(operator)})\n"
        if multiple:
            text += "        set_history_of_each(results, node)\n"
        else:
            text += "        set_history(result, node)\n"
        if _saves_results(operator):
            text += f"        node.save_results({'*results' if multiple else 'result'})\n"
    text += f"    return {'results' if multiple else 'result'}\n\n\n"
    return text


def _explained(operator: Operator, body: str, name: str = "", *, out: bool = True) -> str:
    """A ``try`` around statements; see Note [Arguments are looked at when a call has failed]."""
    retried = _retried_with_numbers(operator, name or operator.name, out)
    if any(word in body for word in ("quiet.run(", "quick_binary(", "write(", "write_ufunc(")):
        # See Note [Floating-point warnings].
        same = ", ".join(
            f"{a.name}={a.name}" if a.keyword_only else a.name for a in operator.arguments
        )
        same += ", out=out" if out and operator.out else ""
        again = f"            return {name or operator.name}({same})\n"
        retried = f"        if renewed(error):\n{again}{retried}"
    if out and operator.number_first:
        first, second = (a.name for a in operator.arguments[:2])
        passed = f"turned, {_passed(operator, skip_first=True)}{', out=out' * operator.out}"
        inexact = ", inexact=True" if operator.number_first == "float" else ""
        retried += (
            f"        turned = as_first_operand({first}, {second}{inexact})\n"
            "        if turned is not None:\n"
            f"            return {operator.name}({passed})\n"
        )
    types = [f"{a.name}: {a.type}" for a in operator.arguments]
    names = [a.name for a in operator.arguments]
    if out and operator.out:
        types.append(f"out: {'Tensor' if len(operator.results) == 1 else 'Pair'} | None")
        names.append("out")
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    return (
        f"    try:\n{indented}"
        "    except Exception as error:\n"
        f"{retried}"
        f'        explain(error, "{", ".join(types)}", {", ".join(names)})\n'
        "        raise\n"
    )


def _retried_with_numbers(operator: Operator, name: str, out: bool) -> str:
    """The call again, with numbers for 0-d tensors."""
    plain = [a.name for a in operator.arguments if a.type.removesuffix(" | None") in _NUMBERS]
    # Random numbers drawn twice are not the same call again; in place, none has been drawn.
    drawn = out and any("Generator" in a.type for a in operator.arguments)
    if not plain or drawn:
        return ""
    passed = ", ".join(
        (f"{a.name}=" if a.keyword_only else "")
        + (f"as_number({a.name})" if a.name in plain else a.name)
        for a in operator.arguments
    )
    if out and operator.out:
        passed += ", out=out"
    return (
        f"        if has_number_tensor({', '.join(plain)}):\n            return {name}({passed})\n"
    )


def _differentiable(operator: Operator) -> bool:
    """Whether the results of the function have a gradient."""
    return operator.node is not None and not operator.real_result


def _inplace(operator: Operator, name: str, made: str, users: Set[str]) -> str:
    writer, quick = f"_{name}writer", f"_{name}ufunc_writer"
    # A table's in-place operator may be one on its own, whose writer is no ufunc.
    ufunc = operator.ufunc if name != operator.name else None
    text = f"{writer} = {made}\n"
    if ufunc is not None:
        extra = ", inexact=True" if operator.ufunc_inexact else ""
        text += f"{quick} = store_ufunc(np.{ufunc}, {writer}{extra})\n"
    text += f"\n\ndef {name}({_parameters(operator)}) -> T:\n"
    base = name.rstrip("_")
    text += _doc(
        operator if name == operator.name else _undocumented(operator),
        f"Write the result of `{base}` into the tensor itself, which is returned.",
    )
    body = ""
    for a in operator.arguments[1:]:
        if a.type == "Tensor":
            body += f'    array_of({a.name}, "{a.name}")\n'
        elif operator.method and not a.keyword_only and a.type.removesuffix(" | None") in _NUMBERS:
            # The funnel would take a tensor's array, which a kernel may take for the number.
            body += f"    refuse_tensor({a.name})\n"
    rest = _passed(operator, skip_first=True)
    spoken = _spoken(name, users)
    extra = f', operator="{spoken}"'
    if operator.overlap != "refused":
        extra += f', overlap="{operator.overlap}"'
    if operator.distinct:
        extra += ", distinct=True"
    comma = ", " if rest else ""
    recorder = "None" if operator.inplace_node is None else f"{operator.inplace_node}.record"
    head = f"return write({operator.arguments[0].name}, {recorder}, "
    general = f"{head}{writer}{comma}{rest}{extra})\n"
    if ufunc is None:
        body += f"    {general}"
    else:
        first, second = (a.name for a in operator.arguments[:2])
        call = f'{head}{quick}, {second}, operator="{spoken}")\n'
        inexact = ", True" if operator.ufunc_inexact else ""
        done = f'write_ufunc({first}._impl, np.{ufunc}, {second}, "{spoken}"{inexact})'
        if operator.ufunc_if is None:
            body += f"    if {done}:\n        return {first}\n    {call}"
        else:
            body += (
                f"    if {operator.ufunc_if}:\n        if {done}:\n            return {first}\n"
                f"        {call}    {general}"
            )
    return text + _explained(operator, body, name, out=False) + "\n\n"


def _undocumented(operator: Operator) -> Operator:
    return dataclasses.replace(operator, doc="")


def _geometry(operator: Operator, users: Set[str]) -> str:
    rest = _passed(operator, skip_first=True)
    comma = ", " if rest else ""
    text = f"def {operator.name}({_parameters(operator)}) -> T:\n"
    text += _doc(operator, "Look at the same memory through another geometry from now on.")
    view = f"view_impls.{operator.kernel}"
    first = operator.arguments[0].name
    spoken = f'operator="{_spoken(operator.name, users)}"'
    call = f"write_geometry({first}, {operator.node}.record, {view}{comma}{rest}, {spoken})"
    body = f"    return {call}\n"
    return text + _explained(operator, body) + "\n\n"


def _view(operator: Operator) -> str:
    rest = _passed(operator, skip_first=True)
    comma = ", " if rest else ""
    several = operator.returns != "View"
    returned = "tuple[T, ...]" if several else "T"
    text = f"def {operator.name}({_parameters(operator)}) -> {returned}:\n"
    text += _doc(operator, f"See `{operator.name}` of PyTorch; the result is a view.")
    first = operator.arguments[0].name
    name = "impls" if several else "impl"
    body = f"    {name} = view_impls.{operator.kernel}({first}._impl{comma}{rest})\n"
    text += _explained(operator, body)
    text += f"    node = {operator.node}.record({_passed(operator)})"
    text += f" if {_recording(operator)} else None\n"
    how = f", view_fn=_replay_{operator.name.strip('_')}" if operator.replay else ""
    made = _MADE_BY[operator.returns]
    text += f"    return {made}({first}, {name}, node{how})\n\n\n"
    if operator.replay:
        text += f"_replay_{operator.name.strip('_')}: ViewFunction = {operator.name}\n\n\n"
    return text
