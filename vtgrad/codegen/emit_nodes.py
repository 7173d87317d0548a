"""Writing the node classes: one final class for each derivative in the tables."""

import ast
from collections.abc import Sequence

from .emit_large import LargeEdge, emit_large
from .formula import ARRAYS, TENSORS, Evaluation, Formula, Names, emit, parse
from .language import Argument, Operator, TableError

__all__ = ["NODE_IMPORTS", "emit_node"]

NODE_IMPORTS = """\
from collections.abc import Sequence
from operator import index as integer
from typing import ClassVar, SupportsIndex, final

from vtgrad.graph.functions import collect_next_edges, gradient_edge
from vtgrad.graph.node import FRESH, PASSED, SHARED, Node
from vtgrad.graph.region import Gradient, Region
from vtgrad.graph.saved_variable import RELEASED, SavedResult, SavedVariable
from vtgrad.ops import formulas as array_formulas
from vtgrad.ops import kernels as k
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated import large_formulas
from vtgrad.ops.generated import tensor_formulas
from vtgrad.ops.kernels.support.overwriting import over, product
{types}from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape
from vtgrad.storage.dtypes import DType
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.unchecked import AnyBool, AnyFloat, AnyInt, AnyStr
from vtgrad.ops.saving.operands import (
    array_list,
    dtype_of_operand,
    dtypes_of_operand,
    geometry_of_operand,
    integers,
    is_square,
    ndim_of_operand,
    save_list,
    shape_of_operand,
    shapes_of_operand,
    tensor_list,
)
"""

_METADATA_TYPE = {
    "shape": "Shape",
    "dtype": "NumpyDType",
    "ndim": "int",
    "geometry": "tuple[Shape, Shape, int]",
    "shapes": "list[Shape]",
    "dtypes": "list[NumpyDType]",
}
_SAVED_TYPE = {
    "Tensor": "SavedVariable | None",
    "Tensor | Number": "SavedVariable | Number | None",
    "Tensor | None": "SavedVariable | None",
    "Tensors": "list[SavedVariable]",
}
_UNCHECKED = {
    "Tensor": "AnyTensor",
    "bool": "AnyBool",
    "float": "AnyFloat",
    "int": "AnyInt",
    "str": "AnyStr",
}
_INTEGER_TYPE = {"int": "SupportsIndex", "int | None": "SupportsIndex | None"}
_RECORD_TYPE = {
    "Tensor": "TensorBase",
    "Tensor | Number": "TensorBase | Number",
    "Tensor | None": "TensorBase | None",
    "Tensors": "Sequence[TensorBase]",
}


def record_type(argument: Argument) -> str:
    """The type of an argument where only `TensorBase` is known."""
    kind = argument.type
    return _RECORD_TYPE.get(kind) or _INTEGER_TYPE.get(kind) or unchecked(kind)


def unchecked(kind: str) -> str:
    """The type that has the place of `kind` where arguments of users arrive.

    See Note [Arguments arrive unchecked].
    """
    return " | ".join([_UNCHECKED.get(part, part) for part in kind.split(" | ")])


def signature(arguments: Sequence[Argument], types: Sequence[str]) -> str:
    """Parameters as Python text."""
    parts: list[str] = []
    starred = False
    for argument, kind in zip(arguments, types, strict=True):
        if argument.keyword_only and not starred:
            parts.append("*")
            starred = True
        default = "" if argument.default is None else f" = {argument.default}"
        parts.append(f"{argument.name}: {kind}{default}")
    return ", ".join(parts)


def has_keyword_only(operator: Operator) -> bool:
    """Whether some parameter stands after the ``*``."""
    return any(a.keyword_only for a in operator.arguments)


def emit_node(operator: Operator, names: Names) -> str:
    """The class of one derivative, as Python text."""
    formulas = {name: parse(operator, text, names) for name, text in operator.formulas.items()}
    lists = [a for a in operator.edged if a.is_list]
    if lists and len(operator.edged) > 1:
        raise TableError(f"{operator.where}: a list with a derivative must be the only tensor")
    saved = _saved(operator, formulas)
    metadata = sorted({m for f in formulas.values() for m in f.metadata})
    plain = [a for a in operator.arguments if any(a.name in f.plain for f in formulas.values())]
    results = [r for r in operator.results if any(r in f.results for f in formulas.values())]
    arguments = {a.name: a for a in operator.arguments}
    is_view = operator.returns == "View" and not (operator.overlapping or operator.replay)
    if is_view:
        plain = plain_arguments(operator)

    fields: list[tuple[str, str]] = []
    fields += [(f"saved_{a.name}", _SAVED_TYPE[a.type]) for a in saved]
    fields += [(f"{n}_{m}", _METADATA_TYPE[m]) for n, m in metadata]
    fields += [(a.name, a.type if a.type in _INTEGER_TYPE else unchecked(a.type)) for a in plain]
    fields += [(f"saved_{r}", "SavedVariable") for r in results]

    lines = ["@final", f"class {operator.node}(Node):"]
    lines.append(f'    """Derivative of `{operator.name}`."""\n')
    slots = ", ".join(f'"{name}"' for name, _ in sorted(fields))
    lines.append(f"    __slots__ = ({slots}{',' if len(fields) == 1 else ''})\n")
    if not lists:
        ownership = [
            _ownership(operator, a.name, formulas.get(a.name), names) for a in operator.edged
        ]
        comma = "," if len(ownership) == 1 else ""
        lines.append(f"    ownership: ClassVar[tuple[int, ...]] = ({', '.join(ownership)}{comma})")
    if operator.returns == "View":
        lines.append("    is_view_node: ClassVar[bool] = True")
    if results:
        lines.append("    saves_results: ClassVar[bool] = True")
    large = _large(operator, formulas, saved, results, names)
    if large:
        lines.append("    overwrites: ClassVar[bool] = True")
    lines += ["", *[f"    {name}: {kind}" for name, kind in fields], ""]
    if operator.node_name is not None:
        lines += [
            "    def name(self) -> str:",
            '        """PyTorch\'s name of the same node."""',
            f'        return "{operator.node_name}"\n',
        ]
    lines += _record(operator, formulas, saved, metadata, plain)
    if results:
        lines += _save_results(operator, results)
    if is_view:
        args = "".join(f", self.{a.name}" for a in plain_arguments(operator))
        if ("self", "geometry") in metadata:
            args += ", self.self_geometry"
        passes = "True"
        if operator.region_if is not None:
            passes = emit(operator, parse(operator, operator.region_if, names), names, ARRAYS)
        lines += [
            "    def passes_regions(self) -> bool:",
            '        """Whether a region can pass through."""',
            f"        return {passes}\n",
        ]
        lines += [
            "    def view_array(self, array: Array) -> Array:",
            '        """The same view of an array."""',
            f"        return k.{operator.kernel}(array{args})\n",
        ]
        viewed = {("self", "shape"): "self_shape", ("self", "geometry"): "self_geometry[0]"}
        known = [text for pair, text in viewed.items() if pair in metadata]
        if known:
            lines += [
                "    def viewed_shape(self) -> Shape:",
                '        """The shape of what it is a view of."""',
                f"        return self.{known[0]}\n",
            ]
    kept = {f"saved_{a.name}": a.type for a in saved} | {f"saved_{r}": "Tensor" for r in results}
    if kept:
        lines += _what_is_kept(kept, optional={f"saved_{a.name}" for a in saved})
    for evaluation in (ARRAYS, TENSORS):
        lines += _apply(operator, formulas, saved, results, names, evaluation, arguments)
        lines += large if evaluation is ARRAYS else []
    return "\n".join(lines) + "\n"


def _what_is_kept(kept: dict[str, str], *, optional: set[str]) -> list[str]:
    """The methods about what a node has saved, by field and type."""
    lines = [
        "    def check_saved(self) -> None:",
        '        """Raise if a saved value cannot be used any more."""',
    ]
    for field, kind in kept.items():
        if kind == "Tensors":
            lines += [f"        for one in self.{field}:", "            one.check(self)"]
        elif kind == "Tensor | Number":
            lines += [
                f"        if isinstance(self.{field}, SavedVariable):",
                f"            self.{field}.check(self)",
            ]
        elif field in optional:
            lines += [
                f"        if self.{field} is not None:",
                f"            self.{field}.check(self)",
            ]
        else:
            lines.append(f"        self.{field}.check(self)")
    lines += [
        "",
        "    def release_variables(self) -> None:",
        '        """Let go of what was saved."""',
    ]
    for field, kind in kept.items():
        if kind == "Tensors":
            lines.append(f"        self.{field} = [RELEASED] * len(self.{field})")
        elif field in optional:
            # A number needs no freeing, but PyTorch saves it as a tensor, so that a second
            # backward through `x * 2` is an error like one through `x * y`.
            lines += [
                f"        if self.{field} is not None:",
                f"            self.{field} = RELEASED",
            ]
        else:
            lines.append(f"        self.{field} = RELEASED")
    return [*lines, ""]


def plain_arguments(operator: Operator) -> list[Argument]:
    """The arguments that are no tensors."""
    return [a for a in operator.arguments if not (a.is_tensor or a.is_list)]


def _saved(operator: Operator, formulas: dict[str, Formula]) -> list[Argument]:
    return [a for a in operator.tensors if any(a.name in f.tensors for f in formulas.values())]


def _guard(operator: Operator, formulas: dict[str, Formula], name: str) -> int | None:
    """The edge without which `name` need not be saved; None if it is saved in any case.

    As in PyTorch: only with several derivatives, and only if exactly one of them uses it.
    """
    users = [n for n, f in formulas.items() if name in f.tensors]
    if len(formulas) < 2 or len(users) != 1 or any(a.is_list for a in operator.edged):
        return None
    return [a.name for a in operator.edged].index(users[0])


def _ownership(operator: Operator, argument: str, formula: Formula | None, names: Names) -> str:
    if formula is None:
        return "SHARED"
    text = emit(operator, formula, names, ARRAYS)
    if text == "grad":
        return "PASSED"
    if argument in operator.fresh:
        return "FRESH"
    head = text.split("(")[0]
    if head.startswith("k.") and head[2:] not in names.aliasing:
        return "FRESH"
    return "SHARED"


def _record(
    operator: Operator,
    formulas: dict[str, Formula],
    saved: Sequence[Argument],
    metadata: Sequence[tuple[str, str]],
    plain: Sequence[Argument],
) -> list[str]:
    star = "" if has_keyword_only(operator) else "*, "
    params = signature(operator.arguments, [record_type(a) for a in operator.arguments])
    lines = [
        "    @staticmethod",
        f'    def record({params}, {star}inplace: bool = False) -> "{operator.node}":',
        '        """The node of one call, with its edges and what it saves of the inputs."""',
    ]
    differentiable_list = [a for a in operator.edged if a.is_list]
    if differentiable_list:
        name = differentiable_list[0].name
        lines.append(f"        edges = collect_next_edges(*{name})")
        lines.append(f"        node = {operator.node}(edges)")
    else:
        edges = []
        for i, a in enumerate(operator.edged):
            lines.append(f"        edge{i} = gradient_edge({a.name})")
            edges.append(f"edge{i}")
        comma = "," if len(edges) == 1 else ""
        lines.append(f"        node = {operator.node}(({', '.join(edges)}{comma}))")
    for a in saved:
        if a.is_list:
            what = f"save_list({a.name}, {'edges' if a in differentiable_list else 'None'})"
            lines.append(f"        node.saved_{a.name} = {what}")
            continue
        edge = f"edge{operator.edged.index(a)}" if a in operator.edged else "None"
        guard = _guard(operator, formulas, a.name)
        value = f"SavedVariable({a.name}, {edge})"
        if a.type == "Tensor | Number":
            value += f" if isinstance({a.name}, TensorBase) else {a.name}"
        elif a.type == "Tensor | None":
            value += f" if {a.name} is not None else None"
        elif a.name == "self" and _can_be_inplace(operator):
            value = f"SavedVariable.of_copy(self, {edge}) if inplace else {value}"
        first = saved[0]
        guards = {guard is None, _guard(operator, formulas, first.name) is None}
        if operator.edged == (first, a) and len(guards) == 1:
            # `x * x` saves `x` once: both operands have the same edge, so that the guards agree.
            same = f"{a.name} is {first.name}"
            if _can_be_inplace(operator):
                same += " and not inplace"
            value = f"node.saved_{first.name} if {same} else {value}"
        if guard is not None:
            value = f"None if edge{guard} is None else ({value})"
        lines.append(f"        node.saved_{a.name} = {value}")
    for name, attribute in metadata:
        plainly = {a.name for a in operator.tensors if a.type == "Tensor" and not a.is_list}
        value = f"{attribute}_of_operand({name})"
        if name in plainly and attribute in {"shape", "dtype", "ndim"}:
            value = f"{name}._impl.array.{attribute}"
        lines.append(f"        node.{name}_{attribute} = {value}")
    for a in plain:
        value = a.name
        if a.type in _INTEGER_TYPE:
            # A node keeps Python's integers, whatever is one to the user.
            known = "" if a.type == "int" else f"{a.name} is None or "
            value = f"{a.name} if {known}type({a.name}) is int else integer({a.name})"
        elif a.type in {"Dims", "Shape"} or "Sequence[int]" in a.type:
            value = f"integers({a.name})"
        lines.append(f"        node.{a.name} = {value}")
    lines.append("        return node\n")
    return lines


def _can_be_inplace(operator: Operator) -> bool:
    return operator.inplace is not None or operator.returns in {"Self", "Geometry"}


def _save_results(operator: Operator, results: Sequence[str]) -> list[str]:
    lines = [
        "    def save_results(self, *results: TensorBase) -> None:",
        '        """Save the results that the derivative needs."""',
    ]
    for r in results:
        nr = operator.results.index(r)
        lines.append(f"        self.saved_{r} = SavedResult(results[{nr}], {nr})")
    lines.append("")
    return lines


def _apply(
    operator: Operator,
    formulas: dict[str, Formula],
    saved: Sequence[Argument],
    results: Sequence[str],
    names: Names,
    evaluation: Evaluation,
    arguments: dict[str, Argument],
) -> list[str]:
    arrays = evaluation is ARRAYS
    value = "Array" if arrays else "TensorBase"
    answer = "Gradient" if arrays else "TensorBase"
    lines = [
        f"    def apply_{'arrays' if arrays else 'tensors'}(",
        f"        self, grads: Sequence[{value} | None], needs: int",
        f"    ) -> Sequence[{answer} | None]:",
        '        """Gradients of the inputs."""',
    ]
    uses_all = any("grads" in ast_names(f) for f in formulas.values())
    lists = [a for a in operator.edged if a.is_list]
    count = "len(self.next_edges)" if lists else None
    nothing = (
        f"(None,) * {count}" if count else "(" + ", ".join(["None"] * len(operator.edged)) + ",)"
    )
    if uses_all:
        lines.append("        if all(g is None for g in grads):")
        lines.append(f"            return {nothing}")
    if not uses_all or any("grad" in ast_names(f) for f in formulas.values()):
        lines.append("        grad = grads[0]")
        lines.append("        if grad is None:")
        lines.append(f"            return {nothing}")
    if lists:
        formula = formulas[lists[0].name]
        lines += _unpack(formula, saved, results, arrays, "        ")
        text = emit(operator, formula, names, evaluation)
        lines.append(f"        return {text}\n")
        return lines
    variables = []
    edges_needed = len(operator.edged) > 1
    for i, a in enumerate(operator.edged):
        formula = formulas[a.name]
        text = emit(operator, formula, names, evaluation)
        if arrays and a.name in operator.regions:
            text = _region(operator, text)
        unpack = _unpack(formula, saved, results, arrays, "            ")
        if arrays and a.name in operator.regions:
            unpack = []
        if edges_needed:
            lines.append(f"        grad{i}: {answer} | None = None")
            lines.append(f"        if needs & {1 << i} and self.next_edges[{i}] is not None:")
            lines += unpack
            lines.append(f"            grad{i} = {text}")
            variables.append(f"grad{i}")
        else:
            lines.append(f"        if not needs & {1 << i}:")
            lines.append(f"            return {nothing}")
            lines += [line[4:] for line in unpack]
            variables.append(text)
    lines.append(f"        return ({', '.join(variables)},)\n")
    return lines


def _region(operator: Operator, text: str) -> str:
    region = "Region(grad, (self,))"
    if operator.region_if is None:
        return region
    return f"{region} if self.passes_regions() else {text}"


def _large(
    operator: Operator,
    formulas: dict[str, Formula],
    saved: Sequence[Argument],
    results: Sequence[str],
    names: Names,
) -> list[str]:
    if any(a.is_list for a in operator.edged):
        return []
    edges = []
    for a in operator.edged:
        formula = formulas[a.name]
        text = emit(operator, formula, names, ARRAYS)
        unpack = _unpack(formula, saved, results, True, "")
        if a.name in operator.regions:
            text, unpack = _region(operator, text), []
        ownership = _ownership(operator, a.name, formula, names)
        edges.append(LargeEdge(text, tuple(unpack), ownership))
    return emit_large(edges, names.owning)


def ast_names(formula: Formula) -> set[str]:
    """All names in a formula."""
    return {n.id for n in ast.walk(formula.tree) if isinstance(n, ast.Name)}


def _unpack(
    formula: Formula,
    saved: Sequence[Argument],
    results: Sequence[str],
    arrays: bool,
    indent: str,
) -> list[str]:
    lines = []
    method = "unpack_array" if arrays else "unpack"
    for a in saved:
        if a.name not in formula.tensors:
            continue
        local = "self_" if a.name == "self" else a.name
        if a.is_list:
            function = "array_list" if arrays else "tensor_list"
            lines.append(f"{indent}{local} = {function}(self.saved_{a.name}, self)")
            continue
        unpacked = f"saved_{a.name}.{method}(self)"
        lines.append(f"{indent}saved_{a.name} = self.saved_{a.name}")
        if a.type == "Tensor | None":
            unpacked = f"None if saved_{a.name} is None else {unpacked}"
        else:
            lines.append(f"{indent}assert saved_{a.name} is not None")
        if a.type == "Tensor | Number":
            is_saved = f"isinstance(saved_{a.name}, SavedVariable)"
            unpacked = f"{unpacked} if {is_saved} else saved_{a.name}"
        lines.append(f"{indent}{local} = {unpacked}")
    lines += [
        f"{indent}{r} = self.saved_{r}.{method}(self)" for r in results if r in formula.results
    ]
    return lines
