"""Custom Functions, and the context of their methods."""

from __future__ import annotations

from ..function import BackwardCFunction as BackwardCFunction
from ..function import Function as Function
from ..function import FunctionCtx as FunctionCtx
from ..function import FunctionMeta as FunctionMeta
from ..function import InplaceFunction as InplaceFunction
from ..function import NestedIOCtx as NestedIOCtx
from ..function import NestedIOFunction as NestedIOFunction
from ..function import once_differentiable as once_differentiable

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOCtx",
    "NestedIOFunction",
    "once_differentiable",
]
