"""The operators of Python, for all dtypes and kinds of operands."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.numpy.support import DTYPES, INEXACT, array, compare, values

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "divmod": divmod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "@": operator.matmul,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "abs": abs,
}
NUMBERS = (True, 2, -3, 300, 1.5, 2.0, 1 + 2j, np.float32(1.5), np.float64(2.0), np.int8(3))
INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
}


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize("name", BINARY)
def test_operators_of_two_arrays(name: str, grad: bool) -> None:
    f = BINARY[name]
    for one in DTYPES:
        if grad and one not in INEXACT:
            continue
        for two in DTYPES:
            for left, right in (((3,), (3,)), ((2, 3), (3,)), ((), (3,)), ((), ()), ((0,), (0,))):
                a, b = values(one, left, 1), values(two, right, 2)
                what = f"{one}{left} {name} {two}{right}"
                x, y = array(a, grad), array(b)
                compare(partial(f, x, y), partial(f, a, b), what)
                compare(partial(f, x, b), partial(f, a, b), what)
                if name != "@" and left:
                    compare(partial(f, b, x), partial(f, b, a), what)


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize("name", BINARY)
def test_operators_of_arrays_and_numbers(name: str, grad: bool) -> None:
    f = BINARY[name]
    for one in DTYPES:
        for number in NUMBERS:
            for shape in ((3,), ()):
                a = values(one, shape)
                what = f"{one}{shape} {name} {number!r}"
                x = array(a, grad)
                compare(partial(f, x, number), partial(f, a, number), what)
                what = f"{number!r} {name} {one}{shape}"
                compare(partial(f, number, x), partial(f, number, a), what)


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize("name", UNARY)
def test_operators_of_one_array(name: str, grad: bool) -> None:
    f = UNARY[name]
    for one in DTYPES:
        for shape in ((2, 3), (), (0,)):
            a = values(one, shape)
            compare(partial(f, array(a, grad)), partial(f, a), f"{name} {one}{shape}")


@pytest.mark.parametrize("grad", [False, True], ids=["constant", "recorded"])
@pytest.mark.parametrize("name", INPLACE)
def test_operators_in_place(name: str, grad: bool) -> None:
    f = INPLACE[name]
    for one in DTYPES:
        for other in (*DTYPES, *NUMBERS):
            a = values(one, (2, 3))
            b = values(other, (3,), 4) if isinstance(other, str) else other

            def theirs(a: Any = a, b: Any = b) -> Any:
                written = a.copy()
                view = written[1]
                f(view, b)
                return written

            def mine(a: Any = a, b: Any = b) -> Any:
                start = array(a, grad)
                written = start * 1 if start.requires_grad else start
                view = written[1]
                f(view, array(b) if isinstance(b, np.ndarray) else b)
                return written

            compare(mine, theirs, f"{one} {name} {other!r}")


def test_an_operator_refuses_what_can_be_no_operand() -> None:
    x = array([1.0, 2.0])
    for f in BINARY.values():
        if f not in (operator.eq, operator.ne):
            with pytest.raises(TypeError):
                f(x, object())
            with pytest.raises(TypeError):
                f({}, x)


def test_lists_and_tuples_are_operands() -> None:
    x = np.array([1.0, 2.0])
    for f in (operator.add, operator.mul, operator.lt):
        compare(partial(f, array(x), [3, 4]), partial(f, x, [3, 4]), "list")
        compare(partial(f, (3, 4), array(x)), partial(f, (3, 4), x), "tuple")


def test_comparisons_with_none_and_text_are_elementwise() -> None:
    x = np.array([1.0, 2.0])
    compare(lambda: array(x) == None, lambda: x == None, "None")  # noqa: E711
    compare(lambda: array(x) != None, lambda: x != None, "None")  # noqa: E711
