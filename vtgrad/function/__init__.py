"""Custom Functions: operators whose forward and backward a user writes."""

from .context import FunctionCtx as FunctionCtx
from .function import Function as Function
from .function import FunctionMeta as FunctionMeta
from .node import BackwardCFunction as BackwardCFunction
from .once_differentiable import once_differentiable as once_differentiable
