"""From which size on gradients count as large.

NOTE [ Large gradients ]

A fresh array of a million elements costs more than the arithmetic that fills it: its pages come
from the operating system, one fault each, and go back when it is freed. A small array costs next
to nothing, and asking whether one could do without it costs more. So nodes have a second
evaluation of their formulas, `apply_owned`, which stores results in arrays that nobody else
holds: what the formula has made on the way, and the incoming gradient if it is owned. It leaves
the gradient of a sum, one value everywhere, unwritten as long as possible.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LARGE", "large"]

LARGE: Final = 16384


class _Large:
    """The size itself, which tests lower, so that small programs show what happens to large ones.

    Attributes
    ----------
    elements : int
        Gradients of so many elements and more are large.
    """

    __slots__ = ("elements",)
    elements: int

    def __init__(self) -> None:
        self.elements = LARGE


large: Final = _Large()
