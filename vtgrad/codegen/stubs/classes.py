"""Classes, as the stubs show them."""

import ast
import dataclasses
from collections.abc import Iterator
from typing import Final

from ..docstrings import docstring
from ..language import TableError
from .modules import PACKAGE, Definition, Module, Outside, is_shown
from .signatures import Signature, as_method, merged, read, without_lone_variable
from .spelling import Names, Place, Speller

__all__ = ["TENSOR", "ClassWriter", "function_text", "ways_of"]

Functions = list[ast.FunctionDef]

TENSOR: Final = "vtgrad.tensor.tensor.Tensor"
_TENSOR_BASE: Final = "vtgrad.storage.tensor_base.TensorBase"
# Shown although their names begin with an underscore: PyTorch's programs use them.
_SHOWN: Final = {
    "_backward_cls",
    "_base",
    "_execution_engine",
    "_is_view",
    "_neg_view",
    "_repr_html_",
    "_version",
    "_view_func",
}
# Hidden from type checkers in the source, too, or of no use for them.
_UNSEEN: Final = {
    "__delitem__",
    "__dir__",
    "__getattr__",
    "__getstate__",
    "__init_subclass__",
    "__setstate__",
    "__slots__",
}
# Classes of which users need few members but those of their bases.
_NEEDED: Final = {
    "vtgrad.function.node.BackwardCFunction": {"__init__", "apply"},
    "vtgrad.utils.checkpoint.reentrant.CheckpointFunction": set[str](),
}
# Where types that are stated would stand.
_STATED_IN: Final = Module(
    "vtgrad.stated",
    PACKAGE / "stated.py",
    "from typing import Any, Never, SupportsIndex\n"
    "from typing_extensions import TypeIs\n"
    "from .storage.dtypes import DType\n"
    "from .tensor.tensor import Tensor\n"
    "from .types import Data",
)
_ANY_FUNCTION: Final = "ClassVar[Callable[..., object]]"
# Decorators from other modules.
_IMPORTED: Final = {"contextmanager": "contextlib", "cached_property": "functools"}


@dataclasses.dataclass(frozen=True)
class _Member:
    """What a class body says of one name, with the module in which it says so."""

    module: Module
    statements: tuple[ast.stmt, ...]


class ClassWriter:
    """Writes classes into one stub.

    Parameters
    ----------
    names : Names
        The names of the stub.
    wide : bool
        Whether methods take NumPy's scalars.
    stated : mapping of str to str
        By ``Class.method.parameter``, types that differ from those in the source.
    """

    def __init__(self, names: Names, *, wide: bool, stated: dict[str, str]) -> None:
        self._names = names
        self._wide = wide
        self._stated = stated

    def text(self, found: Definition) -> str:
        """A class with the members of those bases that users do not see.

        Raises
        ------
        TableError
            If a member cannot be understood.
        """
        node = found.last
        assert isinstance(node, ast.ClassDef)
        bases, hidden = self._bases(found)
        members: dict[str, _Member] = {}
        for base in reversed([found, *hidden]):
            members |= _members(base)
        if found.path in _NEEDED:
            members = {name: members[name] for name in members if name in _NEEDED[found.path]}
        if found.path == TENSOR:
            members = dict(sorted(members.items()))
        shadowed = frozenset(members)
        lines = [
            line
            for name, member in members.items()
            if name in _SHOWN or (is_shown(name) and name not in _UNSEEN)
            for line in self._member(found.name, name, member, shadowed)
        ]
        finals = [d for d in map(ast.unparse, node.decorator_list) if d == "final"]
        name = self._names.name_of(found)
        head = f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"
        if finals:
            head = f"@{self._names.use('typing', 'final')}\n{head}"
        body = "".join(f"    {line}\n" if line else "\n" for line in lines) or "    ...\n"
        return f"{head}\n{body}\n"

    def _bases(self, found: Definition) -> tuple[list[str], list[Definition]]:
        """The bases to name, and those of which the members are shown instead."""
        node = found.last
        assert isinstance(node, ast.ClassDef)
        shown: list[str] = []
        hidden: list[Definition] = []
        for base in [*node.bases, *[k.value for k in node.keywords if k.arg == "metaclass"]]:
            plain = base.value if isinstance(base, ast.Subscript) else base
            target = (
                self._names.modules.find(found.module, plain.id)
                if isinstance(plain, ast.Name)
                else Outside("", None)
            )
            speller = Speller(found.module, self._names)
            if isinstance(target, Definition) and target.path == _TENSOR_BASE:
                # Errors would say its name, where they speak of an inherited method.
                shown, hidden = (
                    [self._names.use(target.module.name, target.name)],
                    [*hidden, target],
                )
            elif isinstance(target, Outside) or self._can_be_named(found, target):
                text = speller.expression(base)
                if base not in node.bases:
                    text = f"metaclass={text}"
                shown.append(text)
            else:
                inner_shown, inner_hidden = self._bases(target)
                shown += [text for text in inner_shown if text not in shown]
                hidden = [d for d in hidden if d.path not in {i.path for i in inner_hidden}]
                hidden += [target, *inner_hidden]
        return shown, hidden

    def _can_be_named(self, found: Definition, base: Definition) -> bool:
        """Whether a class may stand among the bases; the parts of `Tensor` may not."""
        modules = self._names.modules
        inner = base.path.startswith("vtgrad.tensor.") or modules.leads_to_operators(
            base.module.name
        )
        return base.path in self._names.homes or not inner

    def _member(
        self, owner: str, name: str, member: _Member, shadowed: frozenset[str]
    ) -> Iterator[str]:
        last = member.statements[-1]
        if isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from self._functions(f"{owner}.{name}", member, shadowed)
        elif isinstance(last, ast.AnnAssign) and ast.unparse(last.annotation) == _ANY_FUNCTION:
            # A static method that takes and returns anything may be overridden by any other, and by
            # no method of objects.
            anything = self._names.use("typing", "Any")
            yield "@staticmethod"
            yield f"def {name}(*args: {anything}, **kwargs: {anything}) -> {anything}: ..."
        elif isinstance(last, ast.AnnAssign):
            speller = Speller(member.module, self._names, shadowed)
            yield f"{name}: {speller.expression(last.annotation)}"
        elif isinstance(last, ast.Assign) and isinstance(last.value, ast.Name):
            yield from self._alias(f"{owner}.{name}", name, member, last.value.id, shadowed)
        elif isinstance(last, ast.Assign):
            yield ast.unparse(last)
        else:
            raise TableError(f"{owner}.{name}: {ast.unparse(last)}")

    def _functions(self, path: str, member: _Member, shadowed: frozenset[str]) -> Iterator[str]:
        """A method or property, in all its ways."""
        given = [s for s in member.statements if isinstance(s, ast.FunctionDef)]
        yield from self._signatures(path, given, member.module, shadowed, "")

    def _alias(
        self, path: str, name: str, member: _Member, target: str, shadowed: frozenset[str]
    ) -> Iterator[str]:
        """A function that is a method under some name."""
        own = member.module.own.get(target)
        found = self._names.modules.find(member.module, target) if own is None else None
        if found is None:
            found = Definition(member.module, target, tuple(own or ()))
        if isinstance(found, Outside):
            yield f"{name} = {self._names.use(found.module, str(found.name))}"
            return
        functions = [s for s in found.statements if isinstance(s, ast.FunctionDef)]
        if not functions:
            raise TableError(f"{path}: {target} is no function")
        # Editors find all other docstrings in the source.
        doc = (ast.get_docstring(functions[-1]) or "").partition("\n")[0]
        yield from self._signatures(path, functions, found.module, shadowed, doc, method=True)

    def _signatures(
        self,
        path: str,
        functions: Functions,
        module: Module,
        shadowed: frozenset[str],
        doc: str,
        *,
        method: bool = False,
    ) -> Iterator[str]:
        name = path.rpartition(".")[2]
        # Those of Python's classes take what their bases take.
        narrow = name.startswith("__") and not path.startswith("Tensor.")
        found = [
            read(f, module, self._names, wide=self._wide and not narrow, hidden=shadowed)
            for f in ways_of(functions)
        ]
        if method or any("_T" in p.types for s in found for p in s.parameters[:1]):
            found = [own for s in found if (own := as_method(s)) is not None]
        yield from function_text(
            name, found, self._names, self._wide, doc, self._stated, path, shadowed
        )


def ways_of(functions: Functions) -> Functions:
    """The overloads of a function, or the function itself, or the parts of a property."""
    overloads = [f for f in functions if "overload" in map(ast.unparse, f.decorator_list)]
    return overloads or functions


def function_text(
    name: str,
    signatures: list[Signature],
    names: Names,
    wide: bool,
    doc: str,
    stated: dict[str, str],
    path: str,
    hidden: frozenset[str] = frozenset(),
) -> Iterator[str]:
    """The lines of a function, with all its signatures."""
    place = Place(given=True, wide=wide)
    found = [_as_stated(one, path, stated, names, hidden) for one in signatures]
    if name != "__get__":
        found = merged(found)
    parts = [one for one in found if any("." in d or d == "property" for d in one.decorators)]
    if len(found) > 1 and not parts:
        names.lines.add("from typing import overload")
    for nr, one in enumerate(found):
        comment = _ignored(one.ignored)
        if len(found) > 1 and not parts:
            yield f"@overload{comment if nr == 0 else ''}"
            comment = ""
        for decorator in one.decorators:
            if decorator in _IMPORTED:
                names.use(_IMPORTED[decorator], decorator)
            yield f"@{decorator}"
        head = without_lone_variable(one, names).text(name, names, place)
        if doc and nr == 0:
            yield f"{head}:{comment}"
            yield f"    {docstring(doc)}"
        else:
            yield f"{head}: ...{comment}"


def _ignored(kind: str) -> str:
    """The comment that hides an error of a signature; other errors are those of a body."""
    return f"  # type: ignore[{kind}]" if kind == "override" else ""


def _as_stated(
    one: Signature, path: str, stated: dict[str, str], names: Names, hidden: frozenset[str]
) -> Signature:
    """A signature with the types that are stated for its parameters."""
    parameters = tuple(
        dataclasses.replace(p, types=_spelled(stated[key], names, hidden))
        if (key := f"{path}.{p.name}") in stated
        else p
        for p in one.parameters
    )
    returned = stated.get(f"{path}.return")
    return dataclasses.replace(
        one,
        parameters=parameters,
        returns=one.returns if returned is None else _spelled(returned, names, hidden),
    )


def _spelled(text: str, names: Names, hidden: frozenset[str]) -> tuple[str, ...]:
    speller = Speller(_STATED_IN, names, hidden)
    return tuple(speller.parts(ast.parse(text, mode="eval").body, Place(given=False, wide=False)))


def _members(found: Definition) -> dict[str, _Member]:
    """The names in a class body, as type checkers see them."""
    node = found.last
    assert isinstance(node, ast.ClassDef)
    by_name: dict[str, list[ast.stmt]] = {}
    for statement in _seen(node.body):
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            by_name.setdefault(statement.name, []).append(statement)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            by_name[statement.target.id] = [statement]
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            by_name[statement.targets[0].id] = [statement]
    return {name: _Member(found.module, tuple(s)) for name, s in by_name.items()}


def _seen(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if not isinstance(statement, ast.If):
            yield statement
        elif ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from _seen(statement.body)
