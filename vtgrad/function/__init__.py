"""Custom Functions: operators whose forward and backward a user writes."""

from .function import Function as Function
from .function import FunctionMeta as FunctionMeta
from .function_ctx import FunctionCtx as FunctionCtx
from .inplace_function import InplaceFunction as InplaceFunction
from .nested_io_function import NestedIOCtx as NestedIOCtx
from .nested_io_function import NestedIOFunction as NestedIOFunction
from .node import BackwardCFunction as BackwardCFunction
from .once_differentiable import once_differentiable as once_differentiable
