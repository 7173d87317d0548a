"""Finds the text of a function or class in its file, and the names that the text needs."""

import ast
import builtins
import inspect
import linecache
import symtable
import sys
import textwrap
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from types import CellType, CodeType, FunctionType

__all__ = ["Source", "source_of_class", "source_of_function"]

_Node = ast.FunctionDef | ast.ClassDef | ast.Lambda


@dataclass(frozen=True)
class Source:
    """The text of a function or class.

    Attributes
    ----------
    name : str
        What the text defines; empty for a lambda expression.
    text : str
        A statement, or the expression.
    needs : mapping
        The names that it refers to beside builtins, and their values.
    """

    name: str
    text: str
    needs: Mapping[str, object]


def source_of_function(function: FunctionType) -> Source | None:
    """Return the text of a function, with its decorators; None where there is none."""
    written = inspect.unwrap(function)
    if not isinstance(written, FunctionType):
        return None
    code = written.__code__
    lines = _lines(code.co_filename, written.__globals__)
    for node in _nodes("".join(lines)):
        if _is_of(node, code) and not isinstance(node, ast.ClassDef):
            known = {**written.__globals__, **_closure(written), **_defaults(written, node)}
            return _source(node, lines, known)
    return None


def _defaults(function: FunctionType, node: ast.FunctionDef | ast.Lambda) -> dict[str, object]:
    """The values of names that stand as defaults of arguments."""
    given = function.__defaults__ or ()
    pairs = list(zip(reversed(node.args.defaults), reversed(given), strict=False))
    by_name = function.__kwdefaults__ or {}
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if default is not None and argument.arg in by_name:
            pairs.append((default, by_name[argument.arg]))
    return {text.id: value for text, value in pairs if isinstance(text, ast.Name)}


def source_of_class(cls: type) -> Source | None:
    """Return the text of a class; None where there is none."""
    module = sys.modules.get(cls.__module__)
    methods = [m for m in map(_function_of, vars(cls).values()) if m is not None]
    own = [
        method
        for method in methods
        if method.__qualname__ == f"{cls.__qualname__}.{method.__code__.co_name}"
        and _lines(method.__code__.co_filename, method.__globals__)  # not made by `dataclass`
    ]
    filename = own[0].__code__.co_filename if own else getattr(module, "__file__", None)
    names: dict[str, object] = own[0].__globals__ if own else vars(module) if module else {}
    if filename is None:
        return None
    lines = _lines(filename, names)
    found = [
        node
        for node in _nodes("".join(lines))
        if isinstance(node, ast.ClassDef)
        and node.name == cls.__name__
        and all(node.lineno <= m.__code__.co_firstlineno <= _end(node) for m in own)
    ]
    if len(found) != 1:
        return None  # several classes of that name, or none
    bases = {base.__name__: base for base in cls.__mro__[1:]}
    closures = {name: value for m in own for name, value in _closure(m).items()}
    return _source(found[0], lines, {**bases, **names, **closures})


def _source(node: _Node, lines: list[str], known: Mapping[str, object]) -> Source:
    if isinstance(node, ast.Lambda):
        name, text = "", ast.get_source_segment("".join(lines), node) or ""
        text = f"({text})" if "\n" in text else text
    else:
        node, name = copy(node), node.name
        node.decorator_list = [d for d in node.decorator_list if ast.unparse(d) != "staticmethod"]
        text = textwrap.dedent("".join(lines[_start(node) - 1 : _end(node)])).rstrip()
    needs = {n: known[n] for n in _free_names(node) if n in known and not hasattr(builtins, n)}
    return Source(name, text, {n: value for n, value in needs.items() if n != name})


def _start(node: ast.FunctionDef | ast.ClassDef) -> int:
    """The first line, that of a decorator."""
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _lines(filename: str, names: Mapping[str, object]) -> list[str]:
    return linecache.getlines(filename, dict(names))


@lru_cache(maxsize=16)
def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None  # the file has changed since it was imported


def _nodes(text: str) -> Iterator[_Node]:
    tree = _tree(text)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            yield node


def _is_of(node: _Node, code: CodeType) -> bool:
    """Whether the code of a function was compiled from a node."""
    if isinstance(node, ast.Lambda):
        # What is returned has the position of the whole body, or of one of its branches.
        spans = {span for end in _ends(node.body) for span in _spans(end)}
        return code.co_name == "<lambda>" and not spans.isdisjoint(code.co_positions())
    return (
        isinstance(node, ast.FunctionDef)
        and node.name == code.co_name
        and code.co_firstlineno in (node.lineno, _start(node))
    )


def _spans(node: ast.expr) -> Iterator[tuple[int, int | None, int, int | None]]:
    """The positions that compiled code may have for a node: lines and columns, first and last."""
    yield node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
    called = node.func if isinstance(node, ast.Call) else node
    if isinstance(called, ast.Attribute) and called.end_lineno and called.end_col_offset:
        # Of several lines: then it begins at the name of the method or attribute.
        first = called.end_col_offset - len(called.attr)
        yield called.end_lineno, node.end_lineno, first, node.end_col_offset


def _ends(body: ast.expr) -> Iterator[ast.expr]:
    """The expressions of which an expression has the value."""
    if isinstance(body, ast.IfExp):
        yield from _ends(body.body)
        yield from _ends(body.orelse)
    else:
        yield body


def _function_of(value: object) -> FunctionType | None:
    """The function that an attribute of a class was made of."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if isinstance(value, property):
        value = value.fget
    return value if isinstance(value, FunctionType) else None


def _closure(function: FunctionType) -> dict[str, object]:
    """The variables of the functions around it."""
    cells: tuple[CellType, ...] = function.__closure__ or ()
    found: dict[str, object] = {}
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue  # not bound yet
    return found


class _WithoutAnnotations(ast.NodeTransformer):
    """Scripts do not evaluate annotations."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


def _free_names(node: _Node) -> list[str]:
    """The names that a text refers to and does not bind."""
    text = ast.unparse(node)
    bare = ast.unparse(ast.fix_missing_locations(_WithoutAnnotations().visit(ast.parse(text))))
    top = symtable.symtable(bare, "<source>", "exec")
    bound = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned()}
    found: dict[str, None] = {}
    tables = [top]
    for table in tables:
        tables.extend(table.get_children())
        for symbol in table.get_symbols():
            is_free = table is top or symbol.is_global()
            if symbol.is_referenced() and is_free and symbol.get_name() not in bound:
                found[symbol.get_name()] = None
    return list(found)
