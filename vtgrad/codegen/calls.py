"""How generated functions take their arguments, hand them on, and say what is wrong with them."""

from vtgrad.codegen.language import Argument, Operator, record_name
from vtgrad.codegen.parameters import INTEGER_TYPES, passed, signature
from vtgrad.codegen.template import fill

__all__ = [
    "NUMBERS",
    "converted",
    "owner_of",
    "parameters_of",
    "passed_on",
    "record_of",
    "recording",
    "recovered",
    "rest_of",
    "taken_over",
    "tensor_names",
    "view_node",
]

# What is passed as a number, or as a 0-d tensor in its place.
NUMBERS = ("Number", "float")

_OWN_TYPES = {"Tensor": "T", "Tensors": "Sequence[T]"}

# Statements that may fail; see Note [A failed call].
_RECOVERED = """
try:
    $body
except Exception as error:
    return recover(error, $record, $name, $arguments)
"""

_TAKEN_OVER = """
if keys.active and $is_keyed($operands):
    return take_over($record, $name, $arguments)
"""


def record_of(function: str) -> str:
    """The record of a function, as functions of families spell it."""
    return f"op.{record_name(function)}"


def owner_of(operator: Operator) -> Argument:
    """The argument whose class the results have."""
    for kind in ("Tensor", "Tensors"):
        for a in operator.arguments:
            if a.type == kind:
                return a
    raise AssertionError(f"{operator.where}: no tensor argument")


def parameters_of(operator: Operator) -> str:
    """The parameters, with the types that users see."""
    owner = owner_of(operator)

    def type_of(a: Argument) -> str:
        if a is owner:
            return _OWN_TYPES[a.type]
        if a.type == "Tensors":
            return "Sequence[TensorBase]"
        # What chooses among overloads by a condition has an integer of no class.
        if a.type == "int" and a.checked and operator.overload is not None:
            return INTEGER_TYPES[a.type]
        return a.type

    return signature(operator.arguments, [type_of(a) for a in operator.arguments])


def passed_on(operator: Operator, *, out: bool = False) -> str:
    """The arguments, handed on as they are."""
    text = passed(operator.arguments, [a.name for a in operator.arguments])
    return text + (", out=out" if out and operator.out else "")


def rest_of(operator: Operator) -> str:
    """The arguments behind the first one, handed on after a comma."""
    rest = operator.arguments[1:]
    text = passed(rest, [a.name for a in rest])
    return f", {text}" if text else ""


def converted(argument: Argument) -> str:
    """An argument as a kernel takes it."""
    name = argument.name
    operand = (
        f'{name}._impl.array if isinstance({name}, TensorBase) else operand_of({name}, "{name}")'
    )
    forms = {
        "Tensor": f"{name}._impl.array",
        "Tensor | Number": operand,
        "Tensor | None": f'array_or_none({name}, "{name}")',
        "Tensors": f'arrays_of({name}, "{name}")',
        "DType | None": f"numpy_or_none({name})",
    }
    return forms.get(argument.type, name)


def tensor_names(operator: Operator) -> str:
    """The tensors among the arguments, handed on one by one."""
    return ", ".join(f"*{a.name}" if a.is_list else a.name for a in operator.tensors)


def recording(operator: Operator) -> str:
    """The condition on which a call is recorded; it costs little where no operand has metadata."""
    asked = "(meta := {0}._impl.autograd_meta) is not None and meta.needs_gradient()"
    inline = {"Tensor": asked, "Tensor | Number": f"isinstance({{0}}, TensorBase) and {asked}"}
    if not all(a.type in inline for a in operator.tensors):
        return f"is_recording() and requires_grad({tensor_names(operator)})"
    parts = [inline[a.type].format(a.name) for a in operator.tensors]
    first = parts[0] if len(parts) == 1 else "(" + " or ".join(f"({p})" for p in parts) + ")"
    # The first test of `is_recording`, inline to save a call.
    return f"{first} and (not switched.silent or is_recording())"


def view_node(operator: Operator) -> str:
    """The class that records a call; that of a view also records the view's copy."""
    node = str(operator.node)
    return node.removesuffix("_copy") if operator.copies_view else node


def taken_over(operator: Operator, name: str = "", *, out: bool = True) -> str:
    """The statement by which a tensor's key takes the call over, see Note [Keys]."""
    stored = out and (operator.out or operator.returns == "Copies")
    operands = [a.name for a in operator.tensors] + ["out"] * stored
    arguments = passed_on(operator) + ", out=out" * stored
    draws = operator.batch is not None and operator.batch.startswith("random")
    return fill(
        _TAKEN_OVER,
        is_keyed="is_drawn_in_batch" if draws else "is_keyed",
        operands=", ".join(operands),
        record=record_of(name or operator.name),
        name=name or operator.name,
        arguments=arguments,
    )


def recovered(operator: Operator, body: str, name: str = "", *, out: bool = True) -> str:
    """A ``try`` around statements."""
    name = name or operator.name
    return fill(
        _RECOVERED,
        body=_checked_arguments(operator) + body,
        record=record_of(name),
        name=name,
        arguments=passed_on(operator, out=out),
    )


def _checked_arguments(operator: Operator) -> str:
    """Dimensions and flags as kernels take them."""
    lines: list[str] = []
    for a in operator.arguments:
        if not a.checked:
            continue
        spoken = _spoken(operator, a)
        if a.type == "bool | None":
            # A condition on None would let compiled code look at what is left of the type.
            lines.append(f'{a.name} = check_optional_flag({a.name}, "{spoken}")\n')
            continue
        if a.type == "bool":
            value = f'check_flag({a.name}, "{spoken}")'
        else:
            function = "checked_dims" if a.type == "Dims" else "checked_dim"
            name = "" if spoken == "dim" else f', "{spoken}"'
            value = f"{function}({a.name}{name})"
        if "None" in a.type:
            value = f"None if {a.name} is None else {value}"
        lines.append(f"{a.name} = {value}\n")
    return "".join(lines)


def _spoken(operator: Operator, argument: Argument) -> str:
    """What errors call an argument, which is what users call it."""
    return operator.called.get(argument.name, argument.name)
