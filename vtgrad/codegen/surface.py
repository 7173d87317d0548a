"""What users see of the operators: functions of the package, and methods of tensors."""

import ast
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from vtgrad.codegen.groups import Group
from vtgrad.codegen.language import Composite, Operator, TableError

__all__ = ["Surface", "surface_of"]


@dataclasses.dataclass(frozen=True)
class Surface:
    """Names of users, and the functions of ``functional.py`` that they stand for.

    Attributes
    ----------
    functions, methods : dict of str to str
        The functions of the package, and the methods of tensors.
    python : dict of str to str
        Expressions by the methods of Python that compute them: ``__add__`` and so on.
    """

    functions: dict[str, str]
    methods: dict[str, str]
    python: dict[str, str]

    def add(self, name: str, function: str, variants: frozenset[str]) -> None:
        """Show a function where its variants say."""
        if "function" in variants:
            self.functions[name] = function
        if "method" in variants:
            self.methods[name] = function


def surface_of(
    operators: Sequence[Operator],
    groups: Sequence[Group],
    stated: Mapping[str, Composite],
    modules: Mapping[str, tuple[Path, Mapping[str, str]]],
) -> Surface:
    """What users see of the tables and of the composites.

    Parameters
    ----------
    operators : sequence of Operator
        All entries of the tables.
    groups : sequence of Group
        The groups of their overloads.
    stated : mapping of str to Composite
        What the tables say of composites.
    modules : mapping of str to (Path, mapping)
        The modules of composites, with the aliases that each defines.

    Raises
    ------
    TableError
        If a table speaks of a composite that does not exist.
    """
    surface = Surface({}, {}, {})
    for op in operators:
        if op.is_public:
            _add_operator(surface, op)
        surface.python.update(op.python)
    for group in groups:
        for name in (group.name, *group.aliases):
            surface.add(name, group.name if name == group.name else name, group.variants)
    missing = set(stated)
    for path, aliases in modules.values():
        for name, variants in _composites_in(path, aliases, stated):
            missing.discard(name)
            surface.add(stated[name].called if name in stated else name, name, variants)
    if missing:
        raise TableError(f"no composite is called {sorted(missing)}")
    for composite in stated.values():
        surface.python.update(composite.python)
    return surface


def _add_operator(surface: Surface, op: Operator) -> None:
    writes = op.returns in {"Self", "Geometry"}
    has_self = op.arguments[0].name == "self"
    variants = op.variants
    if variants is None:
        variants = frozenset({"function"} if not writes else set())
        variants |= {"method"} if has_self else set()
    for name in (op.name, *op.aliases):
        if not name.startswith("_"):
            surface.add(name, name, variants)
    if op.inplace is not None:
        inplace = frozenset({"function", "method"} if op.inplace_function else {"method"})
        for name in (op.inplace, *[f"{alias}_" for alias in op.aliases]):
            surface.add(name, name, inplace)


def _composites_in(
    path: Path, aliases: Mapping[str, str], stated: Mapping[str, Composite]
) -> Iterator[tuple[str, frozenset[str]]]:
    """The functions of a module of composites, with where users find them.

    What the tables do not say of a function, its name and its first parameter tell: ``name_`` is a
    method, and another one a function, and a method too if it takes a tensor first.
    """
    tree = ast.parse(path.read_text("utf-8"))
    first: dict[str, str] = {}
    exports: list[str] = []
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            parameters = statement.args.posonlyargs + statement.args.args
            first[statement.name] = parameters[0].arg if parameters else ""
        elif isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            exports = [str(name) for name in ast.literal_eval(statement.value)]
    for name in exports:
        if name.startswith("_"):
            continue
        known = stated.get(name)
        if known is not None and known.variants is not None:
            yield name, known.variants
            continue
        variants = set() if name.endswith("_") else {"function"}
        if first.get(aliases.get(name, name)) in {"self", "input"}:
            variants |= {"method"}
        yield name, frozenset(variants)
