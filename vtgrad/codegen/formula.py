"""Derivative formulas: one text, evaluated over arrays and over tensors.

A formula is a Python expression. Names are the operator's arguments, its results, ``grad`` (the
gradient of the first result) and ``grads`` (all of them); functions are kernels, or the helpers
in ``vtgrad/ops/formulas``. `parse` finds out what must be saved, `emit` writes the expression for
one of the two evaluations.
"""

import ast
import dataclasses
from collections.abc import Mapping
from typing import Final

from vtgrad.codegen.language import Operator, TableError
from vtgrad.codegen.memory_reuse import Reuse

__all__ = [
    "ARRAYS",
    "TENSORS",
    "Evaluation",
    "Formula",
    "Names",
    "check_names",
    "emit",
    "parse",
    "translate",
]

_BINARY: Final[dict[type[ast.operator], str]] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
}
_COMPARE: Final[dict[type[ast.cmpop], str]] = {
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
_METADATA: Final = {"shape", "dtype", "ndim", "geometry", "shapes", "dtypes"}


@dataclasses.dataclass(frozen=True)
class Names:
    """The functions that formulas may call.

    Attributes
    ----------
    kernels, functions : frozenset of str
        Kernels, and the differentiable functions of the same names.
    helpers : frozenset of str
        Functions of ``vtgrad/ops/formulas``, which exist in both evaluations.
    aliasing : frozenset of str
        Those whose result may share memory with an argument.
    owning : frozenset of str
        Helpers of which there is a version that reuses memory.
    reuse : Reuse
        Kernels that can reuse memory.
    """

    kernels: frozenset[str]
    functions: frozenset[str]
    helpers: frozenset[str]
    aliasing: frozenset[str]
    owning: frozenset[str]
    reuse: Reuse


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Where the functions are found in one of the two evaluations."""

    functions: str
    helpers: str


ARRAYS: Final = Evaluation("k", "array_formulas")
TENSORS: Final = Evaluation("F", "tensor_formulas")


@dataclasses.dataclass(frozen=True)
class Formula:
    """A formula that was understood.

    Attributes
    ----------
    tree : ast.expr
        The expression.
    tensors : frozenset of str
        Tensor arguments whose values it uses.
    metadata : frozenset of (str, str)
        Arguments of which it uses the shape, dtype and so on only.
    plain : frozenset of str
        Arguments that are no tensors.
    results : frozenset of str
        Results whose values it uses.
    """

    tree: ast.expr
    tensors: frozenset[str]
    metadata: frozenset[tuple[str, str]]
    plain: frozenset[str]
    results: frozenset[str]


def parse(operator: Operator, text: str, names: Names) -> Formula:
    """Understand one formula.

    Raises
    ------
    TableError
        If it is no expression, or a name in it is unknown.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise TableError(f"{operator.where}: bad formula {text!r}: {error.msg}") from None
    arguments = {a.name: a for a in operator.arguments}
    tensors: set[str] = set()
    metadata: set[tuple[str, str]] = set()
    plain: set[str] = set()
    results: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Attribute):
            owner = node.value
            if not (isinstance(owner, ast.Name) and node.attr in _METADATA):
                raise TableError(f"{operator.where}: {ast.unparse(node)} in {text!r}")
            if owner.id in arguments:
                metadata.add((owner.id, node.attr))
                return
            if owner.id in {"grad", *operator.results}:
                raise TableError(
                    f"{operator.where}: {ast.unparse(node)} in {text!r} is for a helper to ask"
                )
            raise TableError(f"{operator.where}: unknown name {owner.id!r} in {text!r}")
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name):
                raise TableError(f"{operator.where}: cannot call {ast.unparse(node.func)}")
            called = node.func.id
            in_both = called in names.kernels and called in names.functions
            if not in_both and called not in names.helpers:
                missing = [
                    kind
                    for kind, have in (("kernel", names.kernels), ("function", names.functions))
                    if called not in have
                ]
                raise TableError(
                    f"{operator.where}: {called!r} in {text!r} is no helper and has no "
                    + " and no ".join(missing)
                )
            for child in (*node.args, *node.keywords):
                visit(child)
            return
        if isinstance(node, ast.Name):
            name = node.id
            if name in {"grad", "grads"}:
                return
            if name in operator.results and name not in arguments:
                results.add(name)
            elif name in arguments:
                argument = arguments[name]
                (tensors if argument.is_tensor or argument.is_list else plain).add(name)
            else:
                raise TableError(f"{operator.where}: unknown name {name!r} in {text!r}")
            return
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return Formula(
        tree, frozenset(tensors), frozenset(metadata), frozenset(plain), frozenset(results)
    )


def check_names(operator: Operator, tree: ast.expr, text: str, names: Names) -> None:
    """Refuse a forward formula that calls or reads what there is not.

    Raises
    ------
    TableError
        If a name is not known.
    """
    known = {"grad", "grads", *operator.results}
    known |= {a.name for a in operator.arguments} | {f"{a.name}_t" for a in operator.tensors}
    called = {
        id(node.func): node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name):
            continue
        if id(node) in called:
            if node.id not in names.functions and node.id not in names.helpers:
                raise TableError(f"{operator.where}: no function or helper {node.id!r} in {text!r}")
        elif node.id not in known:
            raise TableError(f"{operator.where}: unknown name {node.id!r} in {text!r}")


def emit(operator: Operator, formula: Formula, names: Names, evaluation: Evaluation) -> str:
    """The formula as Python text of one evaluation."""
    values = {a.name for a in operator.tensors} | set(operator.results) | {"grad", "grads"}
    return translate(
        operator,
        formula.tree,
        names,
        evaluation,
        {name: "self_" if name == "self" else name for name in values},
        {name: f"self.{name}" for name in formula.plain},
        metadata="self.{name}_{what}",
    )


# How a tensor itself answers what nodes keep of it.
_ASKED: Final = {
    "shape": "_impl.sizes",
    "dtype": "_impl.dtype",
    "geometry": "_impl.geometry",
    "ndim": "ndim",
}
_ASKED_EACH: Final = {"shapes": "_impl.sizes", "dtypes": "_impl.dtype"}


def translate(
    operator: Operator,
    tree: ast.expr,
    names: Names,
    evaluation: Evaluation,
    values: Mapping[str, str],
    plain: Mapping[str, str],
    metadata: str | None = None,
    asked: Mapping[str, str] | None = None,
) -> str:
    """A formula as Python text of one evaluation.

    Parameters
    ----------
    values, plain : mapping of str to str
        The text for each tensor, and for each other argument.
    metadata : str, optional
        The text for what is kept of a tensor; the tensor itself is asked if it is not given.
    asked : mapping of str to str, optional
        How it answers, if not as a tensor does.

    Raises
    ------
    TableError
        If an operator is unknown, or `asked` does not have what is asked for.
    """

    def is_value(node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return False
        if isinstance(node, ast.Name):
            return node.id in values
        if isinstance(node, ast.Call):
            return True
        return any(is_value(child) for child in ast.iter_child_nodes(node))

    class Rewrite(ast.NodeTransformer):
        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            assert isinstance(node.value, ast.Name)
            name, what = node.value.id, node.attr
            if metadata is not None:
                return _name(metadata.format(name=name, what=what))
            if asked is not None:
                if what not in asked:
                    raise TableError(f"{operator.where}: {what!r} is not asked of arrays")
                return _name(f"{values[name]}.{asked[what]}")
            if what in _ASKED_EACH:
                return _name(f"[x.{_ASKED_EACH[what]} for x in {values[name]}]")
            return _name(f"{values[name]}.{_ASKED[what]}")

        def visit_Name(self, node: ast.Name) -> ast.AST:
            found = values.get(node.id, plain.get(node.id))
            return node if found is None else _name(found)

        def visit_Call(self, node: ast.Call) -> ast.AST:
            assert isinstance(node.func, ast.Name)
            node.args = [self.visit(a) for a in node.args]
            node.keywords = [self.visit(a) for a in node.keywords]
            called = node.func.id
            owner = evaluation.helpers if called in names.helpers else evaluation.functions
            node.func = _name(f"{owner}.{called}")
            return node

        def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
            if not (is_value(node.left) or is_value(node.right)):
                return self.generic_visit(node)
            name = _BINARY.get(type(node.op))
            if name is None:
                raise TableError(f"{operator.where}: operator in {ast.unparse(node)!r}")
            return _call(evaluation, name, self.visit(node.left), self.visit(node.right))

        def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
            if isinstance(node.op, ast.USub) and is_value(node.operand):
                return _call(evaluation, "neg", self.visit(node.operand))
            return self.generic_visit(node)

        def visit_Compare(self, node: ast.Compare) -> ast.AST:
            if len(node.ops) == 1 and type(node.ops[0]) in _COMPARE and is_value(node.left):
                name = _COMPARE[type(node.ops[0])]
                return _call(
                    evaluation, name, self.visit(node.left), self.visit(node.comparators[0])
                )
            return self.generic_visit(node)

    fresh_copy = ast.parse(ast.unparse(tree), mode="eval").body
    return ast.unparse(Rewrite().visit(fresh_copy))


def _name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def _call(evaluation: Evaluation, name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(_name(f"{evaluation.functions}.{name}"), list(args), [])
