"""Writing the base classes of nodes, one for each set of fields that hold saved tensors."""

from collections.abc import Sequence

from .language import TableError
from .template import fill, tuple_of

__all__ = ["SAVES_HEAD", "SavedField", "emit_saves", "saving_class"]

# A field's name and the type of the argument or result that it holds.
SavedField = tuple[str, str]

SAVES_HEAD = """\
from vtgrad.graph.operator_node import OperatorNode
from vtgrad.graph.saved_variable import RELEASED, UNSAVED, SavedVariable
from vtgrad.storage.arrays import Number
from vtgrad.storage.native import mypyc_attr
"""

_CLASS = '''
@mypyc_attr(allow_interpreted_subclasses=True)
class $name(OperatorNode):
    """A node that saves $saved."""

    __slots__ = $slots

    $fields

    def check_saved(self) -> None:
        $checks

    def release_variables(self) -> None:
        $releases
'''

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
    names = [
        "".join(word.capitalize() for word in name.split("_")) + _ENDINGS[kind]
        for name, kind in fields
    ]
    return "Saves" + "".join(names)


def emit_saves(fields: Sequence[SavedField]) -> str:
    """The class, as Python text.

    Raises
    ------
    TableError
        If a saved value is of no known type.
    """
    for name, kind in fields:
        if kind not in _TYPES:
            raise TableError(f"a saved {name} of type {kind!r}")
    own = [(f"saved_{name}", kind) for name, kind in fields]
    return fill(
        _CLASS,
        name=saving_class(fields),
        saved=" and ".join(f"`{name}`" for name, _ in fields),
        slots=tuple_of([f'"{name}"' for name in sorted(name for name, _ in own)]),
        fields="\n".join(f"{name}: {_TYPES[kind]}" for name, kind in own),
        checks="".join(fill(_CHECKS[kind], field=name) for name, kind in own),
        releases="".join(fill(_RELEASES[kind], field=name) for name, kind in own),
    )
