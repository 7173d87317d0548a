"""Writing `record`: how a node is made, and what it saves of the inputs."""

from collections.abc import Sequence

from .formula import Formula
from .language import Argument, Operator
from .parameters import INTEGER_TYPES, argument_type, has_keyword_only, signature
from .template import fill, tuple_of

__all__ = ["emit_record"]

_RECORD = """
@staticmethod
def record($parameters) -> $node:
    $edges
    node = $made
    $saved
    $metadata
    $arguments
    return node

"""

_TYPES = {
    "Tensor": "TensorBase",
    "Tensor | Number": "TensorBase | Number",
    "Tensor | None": "TensorBase | None",
    "Tensors": "Sequence[TensorBase]",
}


def _record_type(argument: Argument) -> str:
    """The type of an argument where only `TensorBase` is known."""
    kind = argument.type
    return _TYPES.get(kind) or INTEGER_TYPES.get(kind) or argument_type(kind)


def emit_record(
    operator: Operator,
    formulas: dict[str, Formula],
    saved: Sequence[Argument],
    metadata: Sequence[tuple[str, str]],
    plain: Sequence[Argument],
) -> str:
    """The method, as Python text."""
    parameters = signature(operator.arguments, [_record_type(a) for a in operator.arguments])
    options = ["inplace"] if operator.can_be_inplace else ["copy"] if operator.has_copy else []
    if options and not has_keyword_only(operator):
        parameters += ", *"
    parameters += "".join(f", {name}: bool = False" for name in options)
    values = [_saved_value(operator, formulas, saved, a) for a in saved]
    edges, made = _made(operator, any("edge" in value for value in values))
    return fill(
        _RECORD,
        parameters=parameters,
        node=str(operator.node),
        edges="\n".join(edges),
        made=made,
        saved="\n".join(
            f"node.saved_{a.name} = {value}" for a, value in zip(saved, values, strict=True)
        ),
        metadata="\n".join(_metadata_line(operator, name, what) for name, what in metadata),
        arguments="\n".join(f"node.{a.name} = {_kept(a)}" for a in plain),
    )


def _made(operator: Operator, asked: bool) -> tuple[list[str], str]:
    """The edges, each under a name if it is asked for, and the call that makes the node."""
    if any(a.is_list for a in operator.edged):
        names = [a.name for a in operator.edged]
        return [f"edges = collect_next_edges(*{names[0]})"], f"{operator.node}(edges)"
    edges = [f"gradient_edge({a.name})" for a in operator.edged]
    lines: list[str] = []
    if asked:
        lines = [f"edge{nr} = {edge}" for nr, edge in enumerate(edges)]
        edges = [f"edge{nr}" for nr in range(len(edges))]
    made = f"{operator.node}({tuple_of(edges)})"
    if operator.has_copy:
        lines.append(f"edges = {tuple_of(edges)}")
        made = f"{operator.node}_copy(edges) if copy else {operator.node}(edges)"
    return lines, made


def _guard(operator: Operator, formulas: dict[str, Formula], name: str) -> int | None:
    """The edge without which `name` need not be saved; None if it is saved in any case.

    As in PyTorch: only with several derivatives, and only if exactly one of them uses it.
    """
    users = [n for n, f in formulas.items() if name in f.tensors]
    if len(formulas) < 2 or len(users) != 1 or any(a.is_list for a in operator.edged):
        return None
    return [a.name for a in operator.edged].index(users[0])


def _saved_value(
    operator: Operator, formulas: dict[str, Formula], saved: Sequence[Argument], a: Argument
) -> str:
    """What a node keeps of one tensor."""
    if a.is_list:
        return f"save_list({a.name}, {'edges' if a in operator.edged else 'None'})"
    edge = f"edge{operator.edged.index(a)}" if a in operator.edged else "None"
    guard = _guard(operator, formulas, a.name)
    value = f"SavedVariable({a.name}, {edge})"
    if a.type == "Tensor | Number":
        value += f" if isinstance({a.name}, TensorBase) else {a.name}"
    elif a.type == "Tensor | None":
        value += f" if {a.name} is not None else None"
    elif a.name == "self" and operator.can_be_inplace:
        value = f"SavedVariable.of_copy(self, {edge}) if inplace else {value}"
    first = saved[0]
    guards = {guard is None, _guard(operator, formulas, first.name) is None}
    if operator.edged == (first, a) and len(guards) == 1:
        # `x * x` saves `x` once: both operands have the same edge, so that the guards agree. Hooks
        # pack each of the two.
        same = f"{a.name} is {first.name} and not saves_observed.reasons"
        if operator.can_be_inplace:
            same += " and not inplace"
        value = f"node.saved_{first.name} if {same} else {value}"
    return value if guard is None else f"UNSAVED if edge{guard} is None else {value}"


def _metadata_line(operator: Operator, name: str, what: str) -> str:
    plainly = {a.name for a in operator.tensors if a.type == "Tensor"}
    value = f"{what}_of_operand({name})"
    if name in plainly and what in {"shape", "dtype", "ndim"}:
        value = f"{name}._impl.array.{what}"
    return f"node.{name}_{what} = {value}"


def _kept(argument: Argument) -> str:
    """An argument as a node keeps it: Python's integers, whatever is one to the user."""
    name = argument.name
    if argument.type in INTEGER_TYPES:
        known = "" if argument.type == "int" else f"{name} is None or "
        return f"{name} if {known}type({name}) is int else integer({name})"
    if argument.type in {"Dims", "Shape"} or "Sequence[int]" in argument.type:
        return f"integers({name})"
    return name
