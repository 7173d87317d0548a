"""Calls of functions of the namespace, compared with NumPy's by arrays of each kind."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.derivatives import check_samples
from tests.numpy.support import DTYPES, array, compare, values

# A table without equal elements.
TABLE: Final = np.array([[0.5, 1.25, 3.0], [2.0, 0.875, 1.5]])


def mine_of(tree: Any, grad: bool) -> Any:
    """Nested lists, tuples and dicts with arrays of the namespace in place of NumPy's.

    Arrays of dtypes that tensors do not have stay NumPy's.
    """
    if isinstance(tree, np.ndarray):
        return array(tree, grad) if tree.dtype.char in DTYPES else tree.copy()
    if type(tree) in (list, tuple):
        return type(tree)([mine_of(x, grad) for x in tree])
    if isinstance(tree, dict):
        return {key: mine_of(x, grad) for key, x in tree.items()}
    return tree


def _run(function: Any, args: Any, options: Any, written: bool) -> Any:
    if not written:
        return function(*args, **options)
    assert function(*args, **options) is None
    return args[0]


def check(
    name: str, *args: Any, written: bool = False, exact: bool = False, **options: Any
) -> None:
    """Call a function with arrays that carry derivatives and that do not, and by NumPy's name.

    With `written` the function writes its first argument, which is compared.
    """
    theirs: Any = getattr(np, name)
    for grad in (False, True):
        for function in (getattr(vnp, name), theirs):
            given, named = mine_of(args, grad), mine_of(options, grad)
            if function is theirs and not any(
                isinstance(x, vt.Tensor) for x in (*given, *named.values())
            ):
                continue
            if written and grad and isinstance(given[0], vnp.ndarray):
                # A leaf is not written.
                given = (vnp.copy(given[0]), *given[1:])
            compare(
                partial(_run, function, given, named, written),
                partial(_run, theirs, copy.deepcopy(args), options, written),
                f"{name}{args}{options} grad={grad} {'by NumPy' if function is theirs else ''}",
                exact=exact,
            )


def check_rows(f: Callable[[Any], Any], x: Any = TABLE) -> None:
    """Values and gradients of several samples at once, which lie about an array."""
    stack = x + values("d", (3, *np.shape(x)), 2).cumsum(0) * 0.125
    check_samples(f, stack)
    check_samples(vt.func.grad(lambda row: f(row).sum()), stack)


__all__ = ["TABLE", "check", "check_rows", "mine_of"]
