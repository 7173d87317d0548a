"""Tables of calls of functions, on arrays of the namespace and on NumPy's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_that_write import mine_of
from tests.numpy.support import compare

Call = tuple[tuple[Any, ...], dict[str, Any]]


def call(*args: Any, **options: Any) -> Call:
    """The arguments of a call."""
    return args, options


def check(
    name: str,
    args: Sequence[Any],
    options: dict[str, Any],
    *,
    grad: bool = True,
    by_name: bool = True,
) -> None:
    """Compare a call with NumPy's: of constants, of leaves, and by NumPy's own name."""
    theirs = partial(getattr(np, name), *args, **options)
    for wanted in (False, True) if grad else (False,):
        mine = [mine_of(x, wanted) for x in args]
        named = {key: mine_of(x, wanted) for key, x in options.items()}
        what = f"{name}{tuple(args)}{options} grad={wanted}"
        compare(partial(getattr(vnp, name), *mine, **named), theirs, what)
        if by_name and any(isinstance(x, vt.Tensor) for x in (*mine, *named.values())):
            compare(partial(getattr(np, name), *mine, **named), theirs, f"numpy.{what}")


__all__ = ["Call", "call", "check"]
