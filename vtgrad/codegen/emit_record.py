"""Writing `record`: how a node is made, and what it saves of the inputs."""

from collections.abc import Sequence

from vtgrad.codegen.formula import Formula
from vtgrad.codegen.language import Argument, Operator
from vtgrad.codegen.parameters import INTEGER_TYPES, argument_type, has_keyword_only, signature
from vtgrad.codegen.template import fill, tuple_of

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

# Of a node that keeps nothing.
_RECORD_EDGES = """
@staticmethod
def record($parameters) -> $node:
    $edges
    return $made

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
    stored = [_stored(a.name, _saved_values(operator, formulas, saved, a)) for a in saved]
    edges, made = _made(operator, operator.has_copy or any("edge" in lines for lines in stored))
    return fill(
        _RECORD if stored or metadata or plain else _RECORD_EDGES,
        parameters=parameters,
        node=str(operator.node),
        edges="\n".join(edges),
        made=made,
        saved="".join(stored),
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
    # See Note [Edges in fields].
    passed = ", ".join(["None", *edges]) if operator.arity else tuple_of(edges)
    made = f"{operator.node}({passed})"
    if operator.has_copy:
        made = f"{operator.node}_copy({passed}) if copy else {made}"
    return lines, made


def _guard(operator: Operator, formulas: dict[str, Formula], name: str) -> int | None:
    """The edge without which `name` need not be saved; None if it is saved in any case.

    As in PyTorch: only with several derivatives, and only if exactly one of them uses it.
    """
    users = [n for n, f in formulas.items() if name in f.tensors]
    if len(formulas) < 2 or len(users) != 1 or any(a.is_list for a in operator.edged):
        return None
    return [a.name for a in operator.edged].index(users[0])


def _saved_values(
    operator: Operator, formulas: dict[str, Formula], saved: Sequence[Argument], a: Argument
) -> list[tuple[str, str]]:
    """What a node keeps of one tensor: conditions with values, and what holds otherwise at last."""
    if a.is_list:
        return [("", f"save_list({a.name}, {'edges' if a in operator.edged else 'None'})")]
    values: list[tuple[str, str]] = []
    edge = f"edge{operator.edged.index(a)}" if a in operator.edged else "None"
    guard = _guard(operator, formulas, a.name)
    if guard is not None:
        values.append((f"edge{guard} is None", "UNSAVED"))
    first = saved[0]
    guards = {guard is None, _guard(operator, formulas, first.name) is None}
    if operator.edged == (first, a) and len(guards) == 1:
        # `x * x` saves `x` once: both operands have the same edge, so that the guards agree. Hooks
        # pack each of the two.
        same = f"{a.name} is {first.name} and not saves_observed.reasons"
        if operator.can_be_inplace:
            same += " and not inplace"
        values.append((same, f"node.saved_{first.name}"))
    if a.type == "Tensor | Number":
        values.append((f"not isinstance({a.name}, TensorBase)", a.name))
    elif a.type == "Tensor | None":
        values.append((f"{a.name} is None", "None"))
    elif a.name == "self" and operator.can_be_inplace:
        values.append(("inplace", f"SavedVariable.of_copy(self, {edge})"))
    return [*values, ("", f"SavedVariable.of_input({a.name}, {edge})")]


def _stored(name: str, values: Sequence[tuple[str, str]]) -> str:
    """The statement that stores one of several values in a field for a saved tensor."""
    field = f"node.saved_{name}"
    if len(values) == 1:
        return f"{field} = {values[0][1]}\n"
    if len(values) == 2:
        (condition, value), (_, otherwise) = values
        if condition.startswith("not "):
            condition, value, otherwise = condition.removeprefix("not "), otherwise, value
        return f"{field} = {value} if {condition} else {otherwise}\n"
    word, text = "if", ""
    for condition, value in values:
        text += f"{word} {condition}:\n" if condition else "else:\n"
        text += f"    {field} = {value}\n"
        word = "elif"
    return text


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
