"""The source of adopted code, with a few calls rewritten."""

from __future__ import annotations

import ast
import threading
import warnings
from types import CodeType
from typing import Final, TypeVar

from vtgrad.numpy.adopted_numbers import CALLS, METHODS
from vtgrad.storage.thread_state import after_fork

__all__ = ["PREFIX", "compiled"]

# Names of functions that rewritten code calls. No program can have such a name, and Python does not
# change it inside a class, as it changes ``__name``.
PREFIX: Final = "vtgrad."

_F = TypeVar("_F", bound=ast.FunctionDef | ast.AsyncFunctionDef)


class _Quiet:
    """What lets one thread at a time change Python's list of warnings, and put it back.

    The lock can be taken again, because a signal handler may adopt a module meanwhile.
    """

    lock: threading.RLock

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Make a new lock: a thread that the child process does not have may hold the old one."""
        self.lock = threading.RLock()


_quiet: Final = _Quiet()
after_fork(_quiet.renew)


def compiled(source: str | bytes, filename: str) -> CodeType:
    """The code of a module, whose lines are those of the source.

    Raises
    ------
    SyntaxError
        If it is not Python.
    """
    with _quiet.lock, warnings.catch_warnings():
        # Of ``"\m"`` in a text and the like Python warns when it compiles a module, once, and not
        # when it imports the compiled one. The user of a copy did not write it.
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        tree = ast.parse(source, filename)
        tree = ast.fix_missing_locations(_Rewriter().visit(tree))
        return compile(tree, filename, "exec", dont_inherit=True)


class _Rewriter(ast.NodeTransformer):
    """Rewrites calls, see Note [Calls in adopted code], and marks the entry of each function."""

    def __init__(self) -> None:
        # In how many functions a node is.
        self.depth = 0

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Name) and called.id in CALLS:
            node.args.insert(0, called)
            node.func = _name(called.id, node)
        elif isinstance(called, ast.Attribute) and called.attr in METHODS:
            node.args.insert(0, called.value)
            node.func = _name(f".{called.attr}", node)
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        self.generic_visit(node)
        patterns = [x for case in node.cases for x in ast.walk(case.pattern)]
        classes = [x.cls for x in patterns if isinstance(x, ast.MatchClass)]
        if classes:
            nothing = ast.arguments([], [], None, [], [], None, [])
            named = ast.Lambda(nothing, ast.Tuple(classes, ast.Load()))
            node.subject = ast.copy_location(_call("matched", node.subject, named), node.subject)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._entered(node, _has_steps(node))

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._entered(node, True)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        if node.decorator_list:
            # The outermost one: it sees what the others have made.
            node.decorator_list.insert(0, _name("decorated", node.decorator_list[0]))
        return node

    def _entered(self, node: _F, has_steps: bool) -> _F:
        """The function, which converts its arguments and sets the mode if no adopted code runs."""
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        # Functions in functions would stand four times, and names are declared once.
        is_simple = not self.depth and not any(map(_declares, node.body))
        begin = 1 if ast.get_docstring(node, clean=False) is not None else 0
        body = node.body[begin:]
        if all(_is_empty(x) for x in body):
            return node
        first = body[0]
        given: ast.arguments = node.args
        names = [x.arg for x in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
        names += [x.arg for x in (given.vararg, given.kwarg) if x is not None]
        converted: list[ast.stmt] = [
            ast.Assign([ast.Name(x, ast.Store())], _call("entered", ast.Name(x, ast.Load())))
            for x in names
        ]
        added: list[ast.stmt]
        if has_steps:
            added = [ast.If(_inside(), [ast.Pass()], converted)] if names else []
            rest = body
        elif is_simple:
            # The body stands twice, so that a call from inside costs as little as can be.
            block = ast.With([ast.withitem(_call("inside"), None)], body)
            added, rest = [ast.If(_inside(), body, [*converted, block])], []
        else:
            added = [ast.If(_inside(), [ast.Pass()], converted)] if names else []
            context = ast.IfExp(_inside(), _mine("nothing"), _call("inside"))
            added.append(ast.With([ast.withitem(context, None)], body))
            rest = []
        for statement in added:
            ast.copy_location(statement, first)
        node.body = [*node.body[:begin], *added, *rest]
        return node


def _inside() -> ast.expr:
    """Whether the thread runs adopted code."""
    return ast.Compare(_call("ident"), [ast.In()], [_mine("threads")])


def _name(text: str, like: ast.AST) -> ast.Name:
    return ast.copy_location(ast.Name(PREFIX + text, ast.Load()), like)


def _mine(text: str) -> ast.Name:
    return ast.Name(PREFIX + text, ast.Load())


def _call(text: str, *args: ast.expr) -> ast.Call:
    return ast.Call(_mine(text), list(args), [])


def _is_empty(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _declares(statement: ast.stmt) -> bool:
    return any(isinstance(x, (ast.Global, ast.Nonlocal)) for x in ast.walk(statement))


def _has_steps(node: ast.FunctionDef) -> bool:
    """Whether a function is a generator."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        found = waiting.pop()
        if isinstance(found, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(found)
        else:
            # Decorators, defaults and bases belong to the function around.
            waiting += getattr(found, "decorator_list", [])
            if not isinstance(found, ast.ClassDef):
                waiting += [*found.args.defaults, *(x for x in found.args.kw_defaults if x)]
    return False
