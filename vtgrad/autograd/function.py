"""Custom Functions, and the context of their methods."""

from __future__ import annotations

from vtgrad.function import BackwardCFunction as BackwardCFunction
from vtgrad.function import Function as Function
from vtgrad.function import FunctionCtx as FunctionCtx
from vtgrad.function import FunctionMeta as FunctionMeta
from vtgrad.function import InplaceFunction as InplaceFunction
from vtgrad.function import NestedIOCtx as NestedIOCtx
from vtgrad.function import NestedIOFunction as NestedIOFunction
from vtgrad.function import once_differentiable as once_differentiable

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
