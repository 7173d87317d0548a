"""Custom Functions: operators whose forward and backward a user writes."""

from vtgrad.function.function import Function as Function
from vtgrad.function.function import FunctionMeta as FunctionMeta
from vtgrad.function.function_ctx import FunctionCtx as FunctionCtx
from vtgrad.function.inplace_function import InplaceFunction as InplaceFunction
from vtgrad.function.nested_io_function import NestedIOCtx as NestedIOCtx
from vtgrad.function.nested_io_function import NestedIOFunction as NestedIOFunction
from vtgrad.function.node import BackwardCFunction as BackwardCFunction
from vtgrad.function.once_differentiable import once_differentiable as once_differentiable
