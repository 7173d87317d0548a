"""Calls written once for both namespaces, and what is checked of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import vtgrad.numpy as vnp
from tests.numpy.support import array, compare

#: A call: of a namespace, and of what makes arrays of values in it.
Call: TypeAlias = Callable[[Any, Callable[[Any], Any]], Any]


def compare_call(call: Call, what: str, *, exact: bool = False) -> None:
    """A call gives what NumPy gives: of constants, of what requires grad, and by NumPy's name."""
    for grad in (False, True):

        def make(value: Any, grad: bool = grad) -> Any:
            return array(value, grad)

        compare(lambda: call(vnp, make), lambda: call(np, np.array), f"{what} {grad}", exact=exact)


def by_numpys_name(call: Call, what: str) -> None:
    """NumPy's own function, called with arrays of the namespace, is the namespace's."""
    for grad in (False, True):

        def make(value: Any, grad: bool = grad) -> Any:
            return array(value, grad)

        compare(lambda: call(np, make), lambda: call(np, np.array), f"numpy.{what} {grad}")


__all__ = ["Call", "by_numpys_name", "compare_call"]
