"""Writing the node classes: one class for each derivative in the tables."""

from collections.abc import Sequence

from vtgrad.codegen.edges import Edge, edges_of
from vtgrad.codegen.emit_apply import emit_apply
from vtgrad.codegen.emit_owned import emit_owned
from vtgrad.codegen.emit_record import emit_record
from vtgrad.codegen.emit_saves import SavedField, saving_class
from vtgrad.codegen.formula import ARRAYS, Formula, Names, emit, parse
from vtgrad.codegen.language import Argument, Operator, TableError
from vtgrad.codegen.parameters import INTEGER_TYPES, argument_type
from vtgrad.codegen.template import fill, tuple_of

__all__ = ["NODE_IMPORTS", "emit_node", "saved_fields"]

NODE_IMPORTS = """\
from collections.abc import Sequence
from operator import index as integer
from typing import ClassVar, SupportsIndex, final

from vtgrad.graph.set_history import collect_next_edges, gradient_edge
from vtgrad.graph.node import FRESH, PASSED, SHARED
from vtgrad.graph.operator_node import OperatorNode
from vtgrad.graph.region import Gradient, Region
from vtgrad.graph.saved_variable import UNSAVED, SavedResult, SavedVariable
from vtgrad.ops import formulas as array_formulas
from vtgrad.ops import kernels as k
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated import reusing_formulas
from vtgrad.ops.generated import tensor_formulas
$saving
from vtgrad.ops.kernels.support.memory_reuse import product, reuse
$types
from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape
from vtgrad.storage.dtypes import DType
from vtgrad.storage.rewind import saves_observed
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.argument_types import AnyBool, AnyFloat, AnyInt, AnyStr
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
    tensor_list
)
"""

# The gradient of what is overwritten whatever it was.
_ZEROS = "zeros_like(grad)"

_CLASS = '''
$final
class $node($base):
    """Derivative of `$operator`."""

    __slots__ = $slots
    $constants
    $fields

    $named
    $record
    $view
    $apply
'''

# The node of a view's copy: all but its name is that of the view.
_COPY = '''
@final
class $node($view):
    """Derivative of `$operator`."""

    __slots__ = ()
    is_view_node: ClassVar[bool] = False
'''

_NAME = """
def name(self) -> str:
    return "$name"

"""

_VIEW = """
def passes_regions(self) -> bool:
    return $passes

def view_array(self, array: Array) -> Array:
    return k.$kernel(array$arguments)

"""

_VIEWED_SHAPE = """
def viewed_shape(self) -> Shape:
    return self.$shape

"""

_METADATA_TYPE = {
    "shape": "Shape",
    "dtype": "NumpyDType",
    "ndim": "int",
    "geometry": "tuple[Shape, Shape, int]",
    "shapes": "list[Shape]",
    "dtypes": "list[NumpyDType]",
}


def _formulas(operator: Operator, names: Names) -> dict[str, Formula]:
    return {name: parse(operator, text, names) for name, text in operator.formulas.items()}


def _saved(operator: Operator, formulas: dict[str, Formula]) -> list[Argument]:
    return [a for a in operator.tensors if any(a.name in f.tensors for f in formulas.values())]


def _results(operator: Operator, formulas: dict[str, Formula]) -> list[str]:
    return [r for r in operator.results if any(r in f.results for f in formulas.values())]


def _metadata(formulas: dict[str, Formula]) -> list[tuple[str, str]]:
    return sorted({m for f in formulas.values() for m in f.metadata})


def saved_fields(operator: Operator, names: Names) -> tuple[SavedField, ...]:
    """The tensors that an operator's node saves: arguments, then results."""
    formulas = _formulas(operator, names)
    fields = [(a.name, a.type) for a in _saved(operator, formulas)]
    results = _results(operator, formulas)
    return (*fields, *[(name, f"Result {operator.results.index(name)}") for name in results])


def _kept_arguments(operator: Operator, formulas: dict[str, Formula]) -> list[Argument]:
    """The arguments that are no tensors and that the node keeps: all of a view's."""
    if operator.is_plain_view:
        return operator.plain_arguments
    return [a for a in operator.arguments if any(a.name in f.plain for f in formulas.values())]


def emit_node(operator: Operator, names: Names) -> str:
    """The class of one derivative, as Python text."""
    if operator.copies_view and operator.node is not None:
        view = operator.node.removesuffix("_copy")
        return fill(_COPY, node=operator.node, view=view, operator=operator.name)
    formulas = _formulas(operator, names)
    if any(a.is_list for a in operator.edged) and len(operator.edged) > 1:
        raise TableError(f"{operator.where}: a list with a derivative must be the only tensor")
    saved, results = _saved(operator, formulas), _results(operator, formulas)
    metadata, plain = _metadata(formulas), _kept_arguments(operator, formulas)
    fields = [(f"{name}_{what}", _METADATA_TYPE[what]) for name, what in metadata]
    fields += [
        (a.name, a.type if a.type in INTEGER_TYPES else argument_type(a.type)) for a in plain
    ]
    edges = edges_of(operator, formulas, saved, results, names)
    owned = emit_owned(edges, names)
    named = "" if operator.node_name is None else fill(_NAME, name=operator.node_name)
    return fill(
        _CLASS,
        final="" if operator.has_copy else "@final",
        node=str(operator.node),
        base=saving_class(saved_fields(operator, names)),
        operator=operator.name,
        slots=tuple_of([f'"{name}"' for name in sorted(name for name, _ in fields)]),
        constants=_constants(operator, edges, bool(results), bool(owned)),
        fields="\n".join(f"{name}: {kind}" for name, kind in fields),
        named=named,
        record=emit_record(operator, formulas, saved, metadata, plain),
        view=_view(operator, metadata, names),
        apply=emit_apply(operator, edges, owned),
    )


def _constants(operator: Operator, edges: Sequence[Edge], results: bool, reuses: bool) -> str:
    lines: list[str] = []
    if not any(a.is_list for a in operator.edged):
        owners = tuple_of([edge.ownership for edge in edges])
        lines.append(f"ownership: ClassVar[tuple[int, ...]] = {owners}")
    written = operator.edged[0].name if operator.edged else ""
    if operator.formulas.get(written) == _ZEROS and {e.ownership for e in edges} == {"FRESH"}:
        lines.append("overwrites: ClassVar[bool] = True")
    if operator.arity == 1:
        lines.append("arity: ClassVar[int] = 1")
    if reuses:
        lines.append("takes_large: ClassVar[bool] = True")
    if operator.returns == "View":
        lines.append("is_view_node: ClassVar[bool] = True")
    if results:
        lines.append("saves_results: ClassVar[bool] = True")
    return "\n".join(lines)


def _view(operator: Operator, metadata: Sequence[tuple[str, str]], names: Names) -> str:
    """How a region of the gradient passes through the node of a view."""
    if not operator.is_plain_view:
        return ""
    arguments = "".join(f", self.{a.name}" for a in operator.plain_arguments)
    if ("self", "geometry") in metadata:
        arguments += ", self.self_geometry"
    passes = "True"
    if operator.region_if is not None:
        condition = parse(operator, operator.region_if, names)
        passes = emit(operator, condition, names, ARRAYS)
    text = fill(_VIEW, passes=passes, kernel=operator.kernel, arguments=arguments)
    if ("self", "shape") in metadata:
        text += fill(_VIEWED_SHAPE, shape="self_shape")
    elif ("self", "geometry") in metadata:
        text += fill(_VIEWED_SHAPE, shape="self_geometry[0]")
    return text
