"""Classes, as the stubs show them."""

import ast
from collections.abc import Iterator
from typing import Final

from vtgrad.codegen.language import TableError
from vtgrad.codegen.stubs.functions import FunctionWriter
from vtgrad.codegen.stubs.modules import Definition, Module, Outside, defined, is_shown, seen
from vtgrad.codegen.stubs.named_later import methods_named_later
from vtgrad.codegen.stubs.names import Names
from vtgrad.codegen.stubs.spelling import Speller

__all__ = ["TENSOR", "TENSOR_BASE", "ClassWriter"]

TENSOR: Final = "vtgrad.tensor.tensor.Tensor"
TENSOR_BASE: Final = "vtgrad.storage.tensor_base.TensorBase"
# Shown although their names begin with an underscore: PyTorch's programs use them.
_SHOWN: Final = {
    "_backward_cls",
    "_base",
    "_execution_engine",
    "_is_view",
    "_neg_view",
    "_repr_html_",
    "_make_subclass",
    "_version",
    "_view_func",
}
# Hidden from type checkers in the source, too, or of no use for them.
_UNSEEN: Final = {"__init_subclass__", "__slots__"}
_UNSEEN_OF_TENSORS: Final = {"__delitem__", *_UNSEEN}
# Classes of which users need few members but those of their bases.
_NEEDED: Final = {
    "vtgrad.function.node.BackwardCFunction": {"__init__", "apply"},
    "vtgrad.utils.checkpoint.reentrant.CheckpointFunction": set[str](),
}
# mypy allows a variable of a class to have a narrower type than in the base.
_OVERRIDES: Final = "  # pyright: ignore[reportIncompatibleVariableOverride]"
_ANY_FUNCTION: Final = "ClassVar[Callable[..., object]]"


class ClassWriter:
    """Writes classes into one stub.

    Parameters
    ----------
    names : Names
        The names of the stub.
    functions : FunctionWriter
        Writes the methods.
    """

    def __init__(self, names: Names, functions: FunctionWriter) -> None:
        self._names = names
        self._functions = functions

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
        members: dict[str, Definition] = {}
        for base in reversed([found, *hidden]):
            members |= _members(base)
        if found.path in _NEEDED:
            members = {name: members[name] for name in members if name in _NEEDED[found.path]}
        if found.path == TENSOR:
            members = dict(sorted({**methods_named_later(self._names.modules), **members}.items()))
        unseen = _UNSEEN_OF_TENSORS if found.path == TENSOR else _UNSEEN
        shadowed = frozenset(members)
        lines = [
            line
            for name, member in members.items()
            if name in _SHOWN or (is_shown(name) and name not in unseen)
            for line in self._member(found.name, member, shadowed)
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
        written = [("", base) for base in node.bases]
        written += [("metaclass=", k.value) for k in node.keywords if k.arg == "metaclass"]
        for before, base in written:
            plain = base.value if isinstance(base, ast.Subscript) else base
            target = (
                self._names.modules.find(found.module, plain.id)
                if isinstance(plain, ast.Name)
                else Outside("", None)
            )
            if isinstance(target, Definition) and target.path == TENSOR_BASE:
                # Its members are shown too: errors about an inherited method would say its name.
                shown = [self._names.use(target.module.name, target.name)]
                hidden.append(target)
            elif isinstance(target, Outside) or self._can_be_named(target):
                shown.append(before + Speller(found.module, self._names).expression(base))
            else:
                inner_shown, inner_hidden = self._bases(target)
                shown += [text for text in inner_shown if text not in shown]
                hidden = [d for d in hidden if d.path not in {i.path for i in inner_hidden}]
                hidden += [target, *inner_hidden]
        return shown, hidden

    def _can_be_named(self, base: Definition) -> bool:
        """Whether a class may stand among the bases; the parts of `Tensor` may not."""
        modules = self._names.modules
        inner = base.path.startswith("vtgrad.tensor.") or modules.leads_to_operators(
            base.module.name
        )
        return base.path in self._names.homes or not inner

    def _member(self, owner: str, member: Definition, shadowed: frozenset[str]) -> Iterator[str]:
        path, last = f"{owner}.{member.name}", member.last
        if isinstance(last, ast.FunctionDef):
            yield from self._functions.lines(path, member, shadowed)
        elif isinstance(last, ast.AnnAssign) and ast.unparse(last.annotation) == _ANY_FUNCTION:
            # A static method that takes and returns anything may be overridden by any other, and by
            # no method of objects.
            anything = self._names.use("typing", "Any")
            yield "@staticmethod"
            yield f"def {member.name}(*args: {anything}, **kwargs: {anything}) -> {anything}: ..."
        elif isinstance(last, ast.AnnAssign):
            speller = Speller(member.module, self._names, shadowed)
            comment = _OVERRIDES if member.module.ignored_at(last) == "assignment" else ""
            yield f"{member.name}: {speller.expression(last.annotation)}{comment}"
        elif isinstance(last, ast.Assign) and isinstance(last.value, ast.Name):
            yield from self._shared(path, member.module, last.value.id, shadowed)
        elif isinstance(last, ast.Assign):
            yield ast.unparse(last)
        else:
            raise TableError(f"{path}: {ast.unparse(last)}")

    def _shared(
        self, path: str, module: Module, target: str, shadowed: frozenset[str]
    ) -> Iterator[str]:
        """A function that is a method under some name."""
        found = self._names.modules.find(module, target)
        if isinstance(found, Outside):
            name = path.rpartition(".")[2]
            yield f"{name} = {self._names.use(found.module, str(found.name))}"
        elif isinstance(found.last, ast.FunctionDef):
            yield from self._functions.lines(path, found, shadowed, shared=True)
        else:
            raise TableError(f"{path}: {target} is no function")


def _members(found: Definition) -> dict[str, Definition]:
    """The names in a class body, as type checkers see them."""
    node = found.last
    assert isinstance(node, ast.ClassDef)
    by_name: dict[str, list[ast.stmt]] = {}
    for statement in seen(node.body):
        for name in defined(statement):
            by_name.setdefault(name, []).append(statement)
    return {name: Definition(found.module, name, tuple(s)) for name, s in by_name.items()}
