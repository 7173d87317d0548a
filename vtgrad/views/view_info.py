# Compiled by mypyc.
"""The base of a view, and the function that makes the view from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from vtgrad.storage.tensor_base import TensorBase

__all__ = ["ViewFunction", "ViewInfo"]

ViewFunction: TypeAlias = Callable[[TensorBase], TensorBase]


class ViewInfo:
    """The base of a view, and the function that makes the view again.

    Attributes
    ----------
    base : TensorBase
        Never a view itself: chains of views are flattened.
    view_fn : callable or None
        Makes the view from the base. None if sizes, strides and offset suffice, as for every view
        within one dtype.
    """

    __slots__ = ("base", "view_fn")

    base: TensorBase
    view_fn: ViewFunction | None

    def __init__(self, base: TensorBase, view_fn: ViewFunction | None = None) -> None:
        self.base = base
        self.view_fn = view_fn
