"""Writing the methods behind Python's operators: ``__add__`` and so on."""

import ast
from collections.abc import Mapping, Set

from vtgrad.codegen.template import fill

__all__ = ["PYTHON_HEAD", "emit_python"]

PYTHON_HEAD = '''
from collections.abc import Callable
from typing import Self, cast

import numpy as np

from vtgrad.ops.calling.numbers import python_operand
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.native import mypyc_attr
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.argument_types import T
from vtgrad.views.write import write_ufunc

__all__ = ["PythonOperators"]


@mypyc_attr(allow_interpreted_subclasses=True)
class PythonOperators(TensorBase):
    """What ``+``, ``<`` and the other operators of Python do with tensors.

    They give NotImplemented for operands that are neither tensors nor numbers, so that the other
    operand has its turn. That is why their results are of type `T`: compiled code would refuse to
    give it as a `Self`, see Note [Arguments arrive unchecked].
    """

    __slots__ = ()

    $methods
'''

_UNARY = """
def $method(self) -> Self:
    return $call

"""

_BINARY = """
def $method(self: T, other: TensorBase | Number) -> T:
    $ufunc
    if isinstance(other, TensorBase) or type(other) is float or type(other) is int:
        return $direct
    operand = python_operand(self, other)
    if operand is None:
        return NotImplemented
    return $call

"""

# The tensor is the second operand, and the first one is no tensor.
_REFLECTED = """
def $method(self: T, other: Number) -> T:
    if type(other) is float or type(other) is int:
        return $direct
    operand = python_operand(self, other)
    if operand is None:
        return NotImplemented
    return $call

"""

# Of a function whose body meets no number first; see Note [Arguments that no body meets].
_NUMBER_FIRST = """
def $method(self: T, other: Number) -> T:
    function: Callable[..., T] = F.$function
    if type(other) is float or type(other) is int:
        return function(other, self)
    operand = python_operand(self, other)
    if operand is None:
        return NotImplemented
    return function(operand, self)

"""

_COMPARISON = """
def $method(self: T, other: object) -> T:  # type: ignore[override]  # element by element
    operand = python_operand(self, other)
    if operand is None:
        return NotImplemented
    return $call

"""

# An array answers itself, by its ufunc: see Note [Ufuncs of tensors].
_OF_TENSORS = """
def $method(self: T, other: object) -> T:
    if not isinstance(other, TensorBase):
        return NotImplemented
    return $call

"""

# What the function does, a call sooner.
_UFUNC = """
try:
    if write_ufunc(self._impl, np.$ufunc, other, "$spoken"):
        return self
except OverflowError:
    return $direct  # which says what is wrong with the number
"""


def emit_python(
    python: Mapping[str, str], ufuncs: Mapping[str, str], number_first: Set[str]
) -> str:
    """The methods, as Python text.

    Parameters
    ----------
    python : mapping of str to str
        The expression that each computes, of ``self`` and ``other``.
    ufuncs : mapping of str to str
        By in-place functions that are nothing else, NumPy's ufunc.
    number_first : set of str
        The functions that take a number first, which their source does not say.
    """
    return "".join(_method(name, text, ufuncs, number_first) for name, text in python.items())


def _method(name: str, text: str, ufuncs: Mapping[str, str], number_first: Set[str]) -> str:
    called = text.split("(")[0]
    if called in number_first and text == f"{called}(other, self)":
        return fill(_NUMBER_FIRST, method=name, function=called)
    call, direct = _translated(text, "operand"), _translated(text, "other")
    cast = 'cast("T", {})'
    # A result has the class of the left operand, which may be a tensor of another class here.
    if text.split("(")[1].startswith("other"):
        call = cast.format(call)
    if "other" not in text:
        return fill(_UNARY, method=name, call=call)
    if name in {"__eq__", "__ne__"}:
        return fill(_COMPARISON, method=name, call=call)
    if "matmul" in name:
        call = cast.format(direct) if name == "__rmatmul__" else direct
        return fill(_OF_TENSORS, method=name, call=call)
    if name.startswith("__r") and name != "__rshift__":
        return fill(_REFLECTED, method=name, call=call, direct=direct)
    ufunc = ""
    if called in ufuncs:
        ufunc = fill(_UFUNC, ufunc=ufuncs[called], spoken=called, direct=direct)
    return fill(_BINARY, method=name, call=call, direct=direct, ufunc=ufunc)


def _translated(text: str, other: str) -> str:
    """An expression with functions of ``functional.py``, and `other` under another name."""
    tree = ast.parse(text, mode="eval").body

    class Rewrite(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            node.args = [self.visit(a) for a in node.args]
            node.func = ast.Name(f"F.{ast.unparse(node.func)}", ast.Load())
            return node

        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.Name(other, ast.Load()) if node.id == "other" else node

    return ast.unparse(Rewrite().visit(tree))
