"""Spelling the types of source files as the stubs show them."""

import ast
import dataclasses
from collections.abc import Iterable
from typing import Final

from vtgrad.codegen.language import TableError
from vtgrad.codegen.stubs.modules import Definition, Module, Outside
from vtgrad.codegen.stubs.names import TENSOR_VARIABLE, Names

__all__ = ["Place", "Speller", "union"]

# What stands for what, by where it is defined: internal types that users never see, and unions that
# are too long for a signature. The names on the right are those of `vtgrad.types`, or `Tensor`.
_BY_PATH: Final = {
    "vtgrad.storage.tensor_base.TensorBase": "Tensor",
    "vtgrad.storage.argument_types.AnyTensor": "Tensor",
    "vtgrad.storage.argument_types.AnyBool": "bool",
    "vtgrad.storage.argument_types.AnyFloat": "float",
    "vtgrad.storage.argument_types.AnyInt": "int",
    "vtgrad.storage.argument_types.AnyStr": "str",
    "vtgrad.storage.arrays.Array": "NDArray[Any]",
    "vtgrad.ops.calling.types.Index": "Index",
    "vtgrad.tensor.conversion_methods.Nested": "Nested",
    "vtgrad.tensor.tensor.Tensor": "Tensor",
}
_TYPES: Final = "vtgrad.types"
# A default that stands for an argument that is not given.
_ABSENT: Final = "vtgrad.ops.calling.reduction_arguments.Unset"
_NUMBER: Final = "vtgrad.storage.arrays.Number"

# What users may give where the code says the type on the left; see `vtgrad.types`.
_WIDER: Final = {"int": "Int", "SupportsIndex": "Int", "float": "Real"}


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a type stands.

    Attributes
    ----------
    given : bool
        Whether users give the value; otherwise they get it.
    wide : bool
        Whether NumPy's scalars are accepted beside Python's numbers.
    """

    given: bool
    wide: bool

    @property
    def turned(self) -> "Place":
        """The place of a parameter of a function that stands here."""
        return dataclasses.replace(self, given=not self.given)


class Speller:
    """Spells the types of one source module.

    Parameters
    ----------
    module : Module
        Where the types stand.
    names : Names
        The names of the stub.
    hidden : set of str
        The names that mean something else where the type is spelled: the members of its class.
    """

    def __init__(self, module: Module, names: Names, hidden: frozenset[str] = frozenset()) -> None:
        self._module = module
        self._names = names
        self._hidden = hidden

    def parts(self, node: ast.expr, place: Place) -> list[str]:
        """The members of a union, or one type; nothing for a type that no user gives."""
        if isinstance(node, ast.BinOp):
            return [*self.parts(node.left, place), *self.parts(node.right, place)]
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                return self.parts(ast.parse(node.value, mode="eval").body, place)
            return [ast.unparse(node)]
        if isinstance(node, ast.Name):
            return self._name(node.id, place)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, place)
        if isinstance(node, ast.Subscript):
            return [self._generic(node, place)]
        if isinstance(node, ast.List):
            return [f"[{', '.join(self.one(e, place) for e in node.elts)}]"]
        if isinstance(node, ast.Starred):
            return [f"*{self.one(node.value, place)}"]
        raise TableError(f"{self._module.name}: the type {ast.unparse(node)}")

    def one(self, node: ast.expr, place: Place) -> str:
        """The whole type as one text."""
        return union(self.parts(node, place), self._names, place)

    def expression(self, node: ast.expr) -> str:
        """An expression that is no type, such as a decorator or a base."""
        return self.one(node, Place(given=False, wide=False))

    def _name(self, name: str, place: Place) -> list[str]:
        found = self._names.modules.find(self._module, name)
        if isinstance(found, Outside):
            return [self._outside(found, place)]
        if found.path == _ABSENT:
            return []
        if found.path == _NUMBER:
            if place.given:
                return [self._names.named("Number")]
            return [self._built_in(kind) for kind in ("int", "float", "complex")]
        if found.path in _BY_PATH:
            return [self._standing_for(_BY_PATH[found.path], place)]
        if found.module.name == _TYPES:
            return [self._names.use(_TYPES, found.name)]
        if isinstance(found.last, ast.ClassDef):
            return [self._class(found)]
        return self._assigned(found, place)

    def _class(self, found: Definition) -> str:
        home = self._names.home_of(found)
        return self._names.use(home, self._names.name_of(found))

    def _standing_for(self, name: str, place: Place) -> str:
        if place.given and place.wide and name in _WIDER:
            return self._names.named(_WIDER[name])
        return self._built_in(name) if name.islower() else self._names.named(name)

    def _built_in(self, name: str) -> str:
        if name not in self._hidden:
            return self._names.use("builtins", name)
        self._names.lines.add("import builtins")
        return f"builtins.{name}"

    def _outside(self, found: Outside, place: Place) -> str:
        if found.name is None:
            raise TableError(f"{self._module.name}: the module {found.module} as a type")
        if place.given and place.wide and found.name in _WIDER:
            return self._names.named(_WIDER[found.name])
        if found.module == "builtins":
            return self._built_in(found.name)
        return self._names.use(found.module, found.name)

    def _assigned(self, found: Definition, place: Place) -> list[str]:
        """A type variable, or an alias, which is spelled out."""
        value = getattr(found.last, "value", None)
        if isinstance(value, ast.Call):
            return [self._variable(found, value)]
        if not isinstance(value, ast.expr):
            raise TableError(f"{self._module.name}: {found.path} is no type")
        return Speller(found.module, self._names, self._hidden).parts(value, place)

    def _variable(self, found: Definition, call: ast.Call) -> str:
        speller = Speller(found.module, self._names)
        name = f"_{found.name}"
        options = [f"{k.arg}={speller.option(k)}" for k in call.keywords]
        if "bound=Tensor" in options and name == "_T":
            name = TENSOR_VARIABLE
            # An error says Tensor where nothing else is known. Others stand before variables that
            # have no default, which must not follow one that has.
            options.append("default=Tensor")
        # A variable of `typing` has no default before Python 3.13.
        kind = ast.unparse(call.func)
        self._names.use("typing" if kind == "ParamSpec" else "typing_extensions", kind)
        given = [f'"{name}"', *map(speller.expression, call.args[1:]), *options]
        return self._names.declare(name, f"{kind}({', '.join(given)})")

    def option(self, keyword: ast.keyword) -> str:
        """The value of an option of a type variable."""
        if keyword.arg == "bound":
            return self.expression(keyword.value)
        return ast.unparse(keyword.value)

    def _attribute(self, node: ast.Attribute, place: Place) -> list[str]:
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            raise TableError(f"{self._module.name}: the type {ast.unparse(node)}")
        found = self._names.modules.find(self._module, root.id)
        if isinstance(found, Definition):
            # `P.args` of a variable.
            return [f"{self._name(root.id, place)[0]}.{node.attr}"]
        inner = self._names.modules.get(found.module) if found.name is None else None
        if inner is not None:
            return Speller(inner, self._names, self._hidden)._name(node.attr, place)
        if found.module == "builtins" and place.given and place.wide and node.attr in _WIDER:
            return [self._names.named(_WIDER[node.attr])]
        name = f" as {root.id}" if root.id != found.module else ""
        self._names.lines.add(f"import {found.module}{name}")
        return [ast.unparse(node)]

    def _generic(self, node: ast.Subscript, place: Place) -> str:
        base = self.one(node.value, Place(place.given, wide=False))
        if base.endswith("Literal"):
            return f"{base}[{ast.unparse(node.slice).strip('()')}]"
        elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if base.endswith("Callable"):
            called = self.one(elements[0], place.turned)
            return f"{base}[{called}, {self.one(elements[1], place)}]"
        # A list or dict of Python's numbers is no list of NumPy's.
        inner = Place(place.given, place.wide and base not in {"list", "dict", "Mapping"})
        return f"{base}[{', '.join(self.one(e, inner) for e in elements)}]"


def union(parts: Iterable[str], names: Names, place: Place) -> str:
    """One type out of the members of a union."""
    found = list(dict.fromkeys(parts))
    if place.given and "Int" in found and "str" in found:
        several = "Sequence[Int]" in found or "Sequence[str]" in found
        dim = names.named("Dims" if several else "Dim")
        found = [dim, *found]
        for one in ("Int", "str", *(["Sequence[Int]", "Sequence[str]"] if several else ())):
            found = [part for part in found if part != one]
    if "None" in found:
        found = [part for part in found if part != "None"] + ["None"]
    if not found:
        raise TableError("a type of nothing")
    return " | ".join(found)
