"""Writing the evaluation of formulas that reuses the memory of large arrays.

A formula over arrays is a nest of kernel calls. What an inner call returns is held only by
the outer one, which may store its own result there; so may the last use of an incoming gradient
that the node owns. `reusing` turns ``k.mul(grad, k.conj(k.cos(self_)))`` into
``reuse(2 | owned, k.mul, grad, k.conj(k.cos(self_)))``, where the bits say which operands are free.
"""

import ast
import copy
import dataclasses
from collections.abc import Mapping

__all__ = ["Reuse", "shared_operand", "reusing_helpers", "reusing", "reusing_function"]


@dataclasses.dataclass(frozen=True)
class Reuse:
    """What the tables say of the kernels that formulas call.

    Attributes
    ----------
    storing : frozenset of str
        Those that compute element by element, with an ``out`` that may be one of the operands.
        Their result has the dtype in which the operands meet.
    passing : frozenset of str
        Those that return their argument itself where they do not make a new array, so that the
        result is free if the argument is.
    """

    storing: frozenset[str]
    passing: frozenset[str]


class _Rewrite(ast.NodeTransformer):
    def __init__(self, reuse: Reuse, owning: frozenset[str], owned: str | None) -> None:
        self.reuse = reuse
        self.owning = owning
        self.owned = owned
        self.changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        kernel = _kernel(node)
        helper = _helper(node)
        if kernel in self.reuse.storing and not any(isinstance(a, ast.Starred) for a in node.args):
            bits = self._free_operands(node.args)
        else:
            bits = None
        self.generic_visit(node)
        if bits is not None:
            self.changed = True
            return ast.Call(ast.Name("reuse", ast.Load()), [bits, node.func, *node.args], [])
        if helper in self.owning:
            owned = ast.Name(self.owned or "False", ast.Load())
            first = node.args[0]
            if not (isinstance(first, ast.Name) and first.id == "grad"):
                owned = ast.Name("False", ast.Load())
            self.changed = True
            name = ast.unparse(node.func).replace("array_formulas.", "reusing_formulas.")
            return ast.Call(ast.Name(name, ast.Load()), [owned, *node.args], node.keywords)
        return node

    def _free_operands(self, operands: list[ast.expr]) -> ast.expr | None:
        mask = 0
        terms: list[ast.expr] = []
        for i, operand in enumerate(operands):
            if is_temporary(operand, self.reuse):
                mask |= 1 << i
            elif self.owned is not None and isinstance(operand, ast.Name) and operand.id == "grad":
                name = ast.Name(self.owned, ast.Load())
                terms.append(ast.BinOp(name, ast.LShift(), ast.Constant(i)) if i else name)
        if mask:
            terms.insert(0, ast.Constant(mask))
        if not terms:
            return None
        bits = terms[0]
        for term in terms[1:]:
            bits = ast.BinOp(bits, ast.BitOr(), term)
        return bits


def _kernel(node: ast.expr) -> str | None:
    """The kernel that a call is of."""
    text = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    plain = isinstance(node, ast.Call) and not node.keywords
    return text[2:] if text.startswith("k.") and plain else None


def _helper(node: ast.Call) -> str:
    """The helper that a call is of: by its name, or qualified as nodes call it."""
    return ast.unparse(node.func).removeprefix("array_formulas.")


def is_temporary(node: ast.expr, reuse: Reuse) -> bool:
    """Whether an expression gives an array without other holders."""
    kernel = _kernel(node)
    assert kernel is None or isinstance(node, ast.Call)
    if kernel in reuse.passing and isinstance(node, ast.Call):
        return is_temporary(node.args[0], reuse)
    return kernel in reuse.storing


def _uses_of_grad(node: ast.AST) -> int:
    return sum(isinstance(n, ast.Name) and n.id in {"grad", "grads"} for n in ast.walk(node))


def reusing(text: str, reuse: Reuse, owning: frozenset[str], owned: str) -> str | None:
    """A formula over arrays, as `emit` wrote it, with memory reused; None if there is none to.

    Parameters
    ----------
    text : str
        The formula.
    reuse : Reuse
        What is known of kernels.
    owning : frozenset of str
        The helpers that `reusing_function` was given and changed.
    owned : str
        The name of the bit that tells whether the gradient may be overwritten.
    """
    tree = ast.parse(text, mode="eval").body
    rewrite = _Rewrite(reuse, owning, owned if _uses_of_grad(tree) == 1 else None)
    tree = rewrite.visit(tree)
    return ast.unparse(tree) if rewrite.changed else None


def shared_operand(text: str, reuse: Reuse) -> str | None:
    """The saved value that ``grad * conj(value)`` is if `grad` is one everywhere.

    None if `text`, a formula over arrays, is no such product.
    """
    tree = ast.parse(text, mode="eval").body
    if _kernel(tree) != "mul" or not isinstance(tree, ast.Call):
        return None
    first, second = tree.args
    if _kernel(second) in reuse.passing and isinstance(second, ast.Call):
        second = second.args[0]
    if isinstance(first, ast.Name) and first.id == "grad" and isinstance(second, ast.Name):
        return second.id
    return None


def reusing_helpers(functions: Mapping[str, ast.FunctionDef], reuse: Reuse) -> frozenset[str]:
    """The helpers of which `reusing_function` makes something else."""
    found: frozenset[str] = frozenset()
    while True:
        more = frozenset(
            name for name, f in functions.items() if reusing_function(f, reuse, found) is not None
        )
        if more == found:
            return found
        found = more


def reusing_function(function: ast.FunctionDef, reuse: Reuse, owning: frozenset[str]) -> str | None:
    """A helper of formulas with memory reused, and ``owned`` as its first parameter.

    It has no docstring: that of the helper stands in `ops/formulas`. Its first parameter must be
    ``grad``. That is overwritten in a ``return`` that uses it once, if nothing but ``return`` uses
    it.
    """
    parameters = function.args.args
    if not parameters or parameters[0].arg != "grad":
        return None
    function = copy.deepcopy(function)
    returns = [n for n in ast.walk(function) if isinstance(n, ast.Return)]
    last_use = _uses_of_grad(function) == sum(_uses_of_grad(r) for r in returns)
    changed = False

    class Statements(ast.NodeTransformer):
        def visit_Return(self, node: ast.Return) -> ast.AST:
            return self._expressions(node, last_use and _uses_of_grad(node) == 1)

        def visit_Assign(self, node: ast.Assign) -> ast.AST:
            return self._expressions(node, may_own=False)

        def _expressions(self, node: ast.stmt, may_own: bool) -> ast.AST:
            nonlocal changed
            rewrite = _Rewrite(reuse, owning, "owned" if may_own else None)
            result: ast.AST = rewrite.visit(node)
            changed = changed or rewrite.changed
            return result

    Statements().visit(function)
    if not changed:
        return None
    owned = ast.arg("owned", ast.Name("bool", ast.Load()))
    function.args.args.insert(0, owned)
    if ast.get_docstring(function) is not None:
        del function.body[0]
    return ast.unparse(ast.fix_missing_locations(function))
