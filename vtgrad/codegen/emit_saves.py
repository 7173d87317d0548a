"""Writing the base classes of nodes, one for each set of fields that hold saved tensors."""

from collections.abc import Sequence

from vtgrad.codegen.language import TableError
from vtgrad.codegen.template import fill, tuple_of

__all__ = ["SAVES_HEAD", "SavedField", "emit_saves", "saving_class"]

# A field's name, and the type of the argument that it holds; ``Result 0`` for the first result.
SavedField = tuple[str, str]

SAVES_HEAD = """\
from vtgrad.graph.operator_node import OperatorNode
from vtgrad.graph.saved_variable import RELEASED, UNSAVED, SavedResult, SavedVariable
from vtgrad.storage.arrays import Number
from vtgrad.storage.native import mypyc_attr
from vtgrad.storage.tensor_base import TensorBase
"""

_CLASS = '''
@mypyc_attr(allow_interpreted_subclasses=True)
class $name(OperatorNode):
    """A node that saves $saved."""

    __slots__ = $slots
    $fields

    $save_results
    def check_saved(self) -> None:
        $checks

    def release_variables(self) -> None:
        $releases
'''

_SAVE_RESULTS = """
def save_results(self, *results: TensorBase) -> None:
    $stored

"""

_TYPES = {
    "Tensor": "SavedVariable",
    "Tensor | Number": "SavedVariable | Number",
    "Tensor | None": "SavedVariable | None",
    "Tensors": "list[SavedVariable]",
}
_ENDINGS = {
    "Tensor": "",
    "Tensor | Number": "OrNumber",
    "Tensor | None": "OrNone",
    "Tensors": "List",
}

_CHECKS = {
    "Tensor": "self.$field.check(self)",
    "Tensor | Number": """
if isinstance(self.$field, SavedVariable):
    self.$field.check(self)
""",
    "Tensor | None": """
if self.$field is not None:
    self.$field.check(self)
""",
    "Tensors": """
for one in self.$field:
    one.check(self)
""",
}

# A number needs no freeing, but PyTorch saves it as a tensor, so that a second backward through
# `x * 2` is an error like one through `x * y`.
_IF_SAVED = """
if self.$field is not UNSAVED:
    self.$field = RELEASED
"""
_RELEASES = {
    "Tensor": _IF_SAVED,
    "Tensor | Number": _IF_SAVED,
    "Tensor | None": """
if self.$field is not None:
    self.$field = RELEASED
""",
    "Tensors": "self.$field = [RELEASED] * len(self.$field)",
}


def saving_class(fields: Sequence[SavedField]) -> str:
    """The class from which a node with these saved fields inherits."""
    if not fields:
        return "OperatorNode"
    return "Saves" + "".join(_in_name(name, kind) for name, kind in fields)


def _in_name(name: str, kind: str) -> str:
    """A field as a part of the name of the class."""
    words = "".join(word.capitalize() for word in name.split("_"))
    if kind.startswith("Result"):
        return words if name == "result" else f"{words}Output"
    return words + _ENDINGS[kind]


def emit_saves(fields: Sequence[SavedField]) -> str:
    """The class, as Python text.

    Raises
    ------
    TableError
        If a saved value is of no known type.
    """
    results = [(name, kind.split()[1]) for name, kind in fields if kind.startswith("Result")]
    own = [
        (f"saved_{name}", "Tensor" if kind.startswith("Result") else kind) for name, kind in fields
    ]
    for name, kind in own:
        if kind not in _TYPES:
            raise TableError(f"a {name} of type {kind!r}")
    stored = [f"self.saved_{name} = SavedResult(results[{nr}], {nr})" for name, nr in results]
    return fill(
        _CLASS,
        name=saving_class(fields),
        saved=" and ".join(f"`{name}`" for name, _ in fields),
        slots=tuple_of([f'"{name}"' for name in sorted(name for name, _ in own)]),
        fields="\n".join(f"{name}: {_TYPES[kind]}" for name, kind in own),
        save_results=fill(_SAVE_RESULTS, stored="\n".join(stored)) if results else "",
        checks="".join(fill(_CHECKS[kind], field=name) for name, kind in own),
        releases="".join(fill(_RELEASES[kind], field=name) for name, kind in own),
    )
