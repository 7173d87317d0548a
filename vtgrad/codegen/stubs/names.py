"""The names of one stub: what it imports, and the type variables that it declares."""

from typing import Final

from vtgrad.codegen.language import TableError
from vtgrad.codegen.stubs.modules import Definition, Modules

__all__ = ["TENSOR_VARIABLE", "Names"]

# The variable of functions that are generic in the tensor. Errors name it.
TENSOR_VARIABLE: Final = "_TensorT"
_OF_TYPES: Final = {"DTypeLike", "Dim", "Dims", "Index", "Int", "Nested", "Number", "Real"}


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
        self.allowed = ""

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
        """Declare a type variable, and return its name.

        Raises
        ------
        TableError
            If another one has this name.
        """
        if self.variables.setdefault(name, text) != text:
            raise TableError(f"{self.stub}: {self.variables[name]} and {text}")
        return name
