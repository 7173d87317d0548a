"""Spelling the types of source files as the stubs show them."""

import ast
import dataclasses
from collections.abc import Iterable
from typing import Final

from ..language import TableError
from .modules import Definition, Module, Modules, Outside

__all__ = ["Names", "Place", "Speller", "union"]

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
_OF_TYPES: Final = {"Index", "Int", "Real", "Number", "Dim", "Dims", "Data", "Nested"}


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


class Names:
    """What one stub imports, and the variables that it declares.

    Parameters
    ----------
    modules : Modules
        The source files.
    homes : mapping of str to str
        By the path of a class that stubs write themselves, the stub that does.
    stub : str
        The dotted name of the stub's module.
    own : set of str
        The names that the stub defines.
    """

    def __init__(self, modules: Modules, homes: dict[str, str], stub: str, own: set[str]) -> None:
        self.modules = modules
        self.homes = homes
        self.stub = stub
        self.own = own
        self.lines: set[str] = set()
        self.variables: dict[str, str] = {}
        self.pending: list[Definition] = []

    def home_of(self, found: Definition) -> str:
        """The module from which the stub imports a class.

        A class that only signatures show, and that cannot be imported without the operators, is
        written into the stub that needs it first.
        """
        if found.path not in self.homes and self.modules.leads_to_operators(found.module.name):
            self.homes[found.path] = self.stub
            self.pending.append(found)
        return self.homes.get(found.path, found.module.name)

    def name_of(self, found: Definition) -> str:
        """What a class is called in its home; users cannot import one that only signatures show."""
        if any(one.path == found.path for one in self.pending):
            return f"_{found.name.lstrip('_')}"
        return found.name

    def use(self, source: str, name: str) -> str:
        """Import a name, and return what it is called in the stub.

        Raises
        ------
        TableError
            If the stub has another thing of this name.
        """
        if source == "builtins":
            if name not in self.own:
                return name
            self.lines.add("import builtins")
            return f"builtins.{name}"
        if source == self.stub:
            return name
        if name in self.own:
            alias = f"_{name}"
            self.lines.add(f"from {source} import {name} as {alias}")
            return alias
        self.lines.add(f"from {source} import {name}")
        return name

    def named(self, name: str) -> str:
        """A name of `_BY_PATH` and its like, imported."""
        if name == "Tensor":
            return self.use("vtgrad", name)
        if name in _OF_TYPES:
            return self.use("vtgrad.types", name)
        if name == "NDArray[Any]":
            return f"{self.use('numpy.typing', 'NDArray')}[{self.use('typing', 'Any')}]"
        return self.use("builtins", name)

    def declare(self, name: str, text: str) -> str:
        """Declare a type variable.

        Raises
        ------
        TableError
            If another one has this name.
        """
        if self.variables.setdefault(f"_{name}", text) != text:
            raise TableError(f"{self.stub}: {self.variables[f'_{name}']} and {text}")
        return f"_{name}"


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
        # A variable of `typing` has no default before Python 3.13.
        kind = ast.unparse(call.func)
        self._names.use("typing" if kind == "ParamSpec" else "typing_extensions", kind)
        texts = [f'"_{found.name}"', *map(speller.expression, call.args[1:])]
        for option in call.keywords:
            if option.arg == "bound":
                bound = speller.expression(option.value)
                texts.append(f"bound={bound}")
                if bound == "Tensor":
                    # An error says Tensor where nothing else is known.
                    texts.append("default=Tensor")
            else:
                texts.append(f"{option.arg}={ast.unparse(option.value)}")
        return self._names.declare(found.name, f"{kind}({', '.join(texts)})")

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
