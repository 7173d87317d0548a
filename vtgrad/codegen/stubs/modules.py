"""Finding what a name stands for, in source files that are read and not run.

The stubs describe generated files too, whose text may be newer than the one that could be imported.
"""

import ast
import builtins
import dataclasses
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from vtgrad.codegen.language import TableError
from vtgrad.codegen.source_files import OPS

__all__ = ["PACKAGE", "Definition", "Module", "Modules", "Outside", "defined", "is_shown", "seen"]

PACKAGE: Final = OPS.parent


@dataclasses.dataclass(frozen=True)
class Outside:
    """A name of another package, or a module where `name` is None."""

    module: str
    name: str | None


@dataclasses.dataclass(frozen=True, eq=False)
class Definition:
    """What a module of the package defines under a name.

    Attributes
    ----------
    module : Module
        Where it stands.
    name : str
        What it is called there.
    statements : tuple of ast.stmt
        One statement, or the overloads of a function before the function.
    """

    module: "Module"
    name: str
    statements: tuple[ast.stmt, ...]

    @property
    def path(self) -> str:
        """The dotted name."""
        return f"{self.module.name}.{self.name}"

    @property
    def last(self) -> ast.stmt:
        """The statement that counts."""
        return self.statements[-1]


class Module:
    """A source file of the package, and the names at its head level.

    Attributes
    ----------
    name : str
        The dotted name.
    stub_path : str
        Where its stub stands, under the package.
    own : dict of str to list of ast.stmt
        The statements that define each name.
    imported : dict of str to (str, str or None)
        By local name, the module and the name in it; None for the module itself.
    tree : ast.Module
        The parsed text.
    starred : list of str
        The modules of which all public names are imported.
    """

    name: str
    stub_path: str
    tree: ast.Module
    own: dict[str, list[ast.stmt]]
    imported: dict[str, tuple[str, str | None]]
    starred: list[str]

    def __init__(self, name: str, path: Path, text: str) -> None:
        self.name = name
        self.stub_path = path.relative_to(PACKAGE).with_suffix(".pyi").as_posix()
        self.tree = ast.parse(text, type_comments=True)
        self._ignored = {i.lineno: i.tag for i in self.tree.type_ignores}
        self._package = name if path.stem == "__init__" else name.rpartition(".")[0]
        self.own = {}
        self.imported = {}
        self.starred = []
        for statement in self.statements():
            self._enter(statement)

    def ignored_at(self, statement: ast.stmt) -> str:
        """The kind of error that is ignored in the first line of a statement."""
        lines = [statement.lineno]
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines += [decorator.lineno for decorator in statement.decorator_list]
        tags = [tag for line in lines if (tag := self._ignored.get(line))]
        return tags[0].partition("]")[0].removeprefix("[") if tags else ""

    def statements(self) -> Iterator[ast.stmt]:
        """The statements as type checkers see them."""
        yield from seen(self.tree.body)

    def _enter(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import):
            for name in statement.names:
                local = name.asname or name.name.partition(".")[0]
                self.imported[local] = (name.name if name.asname else local, None)
        elif isinstance(statement, ast.ImportFrom):
            source = self.absolute(statement)
            for name in statement.names:
                if name.name == "*":
                    self.starred.append(source)
                else:
                    self.imported[name.asname or name.name] = (source, name.name)
        else:
            for own in defined(statement):
                self.own.setdefault(own, []).append(statement)

    def absolute(self, statement: ast.ImportFrom) -> str:
        """The module that an import names, in full."""
        if not statement.level:
            return str(statement.module)
        parts = self._package.split(".")
        base = parts[: len(parts) - statement.level + 1]
        return ".".join([*base, statement.module] if statement.module else base)

    @cached_property
    def exports(self) -> list[str] | None:
        """The names in ``__all__``, if they are all written there."""
        found: list[str] = []
        for statement in self.own.get("__all__", []):
            value = getattr(statement, "value", None)
            if isinstance(value, ast.List):
                found += [str(ast.literal_eval(e)) for e in value.elts]
        return found or None


class Modules:
    """The source files of the package.

    Parameters
    ----------
    generated : mapping of str to str
        By path under ``ops``, the texts of files that may be newer than those on disk.
    with_stub : collection of str
        The modules that type checkers read a stub of.
    """

    def __init__(self, generated: Mapping[str, str], with_stub: Collection[str]) -> None:
        self._generated = {OPS / name: text for name, text in generated.items()}
        self._with_stub = with_stub
        self._known: dict[str, Module | None] = {}
        self._reached: dict[str, frozenset[str]] = {}

    def get(self, name: str) -> Module | None:
        """The module of a dotted name; None if the package has no such module."""
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def _read(self, name: str) -> Module | None:
        first, *parts = name.split(".")
        if first != PACKAGE.name:
            return None
        folder = PACKAGE.joinpath(*parts)
        for path in (folder.with_suffix(".py") if parts else folder, folder / "__init__.py"):
            if path in self._generated or path.is_file():
                return Module(name, path, self._generated.get(path) or path.read_text("utf-8"))
        return None

    def at(self, name: str) -> Module:
        """The module of a dotted name.

        Raises
        ------
        TableError
            If there is none.
        """
        found = self.get(name)
        if found is None:
            raise TableError(f"there is no module {name}")
        return found

    def find(self, module: Module, name: str) -> Definition | Outside:
        """What a name in a module stands for.

        Raises
        ------
        TableError
            If the module has no such name.
        """
        if name in module.own:
            statements = tuple(module.own[name])
            target = getattr(statements[-1], "value", None)
            alias = isinstance(statements[-1], ast.Assign) and isinstance(target, ast.Name)
            if alias and isinstance(target, ast.Name):
                return self.find(module, target.id)
            return Definition(module, name, statements)
        if name in module.imported:
            source, original = module.imported[name]
            if original is None:
                return Outside(source, None)
            found = self.get(source)
            if found is None:
                return Outside(source, original)
            itself = found.imported.get(original, (source, original)) == (source, original)
            if itself and original not in found.own and self.get(f"{source}.{original}"):
                return Outside(f"{source}.{original}", None)
            return self.find(found, original)
        for source in module.starred:
            if self._offers(self.at(source), name):
                return self.find(self.at(source), name)
        if hasattr(builtins, name):
            return Outside("builtins", name)
        raise TableError(f"{module.name} has no {name}")

    def _offers(self, module: Module, name: str) -> bool:
        """Whether an import of all public names of a module has a name."""
        if module.exports is not None:
            return name in module.exports
        if name in module.own or name in module.imported:
            return not name.startswith("_")
        return any(self._offers(self.at(source), name) for source in module.starred)

    def reached_from(self, name: str) -> frozenset[str]:
        """The modules that type checkers read because of one, with itself; stubs are left out."""
        if name in self._reached:
            return self._reached[name]
        seen: set[str] = set()
        pending = [name]
        while pending:
            module = self.get(pending.pop())
            if module is None or module.name in seen or module.name in self._with_stub:
                continue
            seen.add(module.name)
            for source, original in module.imported.values():
                pending += [source] if original is None else [source, f"{source}.{original}"]
            pending += module.starred
        self._reached[name] = frozenset(seen)
        return self._reached[name]

    def leads_to_operators(self, name: str) -> bool:
        """Whether type checkers would read operators and kernels because of a module."""
        return any(m.startswith("vtgrad.ops.kernels") for m in self.reached_from(name))


def is_shown(name: str) -> bool:
    """Whether a member is shown: it has no leading underscore, or is one of Python's."""
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def seen(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements without those that are hidden from type checkers."""
    for statement in body:
        if not isinstance(statement, ast.If):
            yield statement
        elif ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from seen(statement.body)
        elif ast.unparse(statement.test) == "not TYPE_CHECKING":
            yield from seen(statement.orelse)


def defined(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement defines."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (t.id for t in statement.targets if isinstance(t, ast.Name))
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        if isinstance(statement.target, ast.Name):
            yield statement.target.id
