# Compiled by mypyc.
"""The size from which gradients count as large.

Note [Large gradients]

A fresh array of a million elements costs more than the arithmetic that fills it: its pages come
from the operating system, one fault each, and go back when it is freed. A small array costs next to
nothing, less than testing whether it can be avoided. So nodes have a second evaluation of their
formulas, `apply_owned`, which stores results in arrays without other readers: intermediate results
of the formula, and the incoming gradient if it is owned. It keeps the gradient of a sum, one value
everywhere, unexpanded as long as possible.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LARGE", "large"]

LARGE: Final = 16384


class _Large:
    """The size, which tests lower, so that small programs run the code for large ones.

    Attributes
    ----------
    elements : int
        The smallest number of elements of a large gradient.
    """

    __slots__ = ("elements",)
    elements: int

    def __init__(self) -> None:
        self.elements = LARGE


large: Final = _Large()
