"""Transforms of functions, which give derivatives as functions: PyTorch's `torch.func`."""

from ..ops.rules.patterns.value_read import ValueRead as ValueRead
from .find_pattern import sparsity_pattern as sparsity_pattern
from .grad import grad as grad
from .grad import grad_and_value as grad_and_value
from .hessian import hessian as hessian
from .jacfwd import jacfwd as jacfwd
from .jacobian_pattern import SparsityPattern as SparsityPattern
from .jacrev import jacrev as jacrev
from .jvp import jvp as jvp
from .linearize import linearize as linearize
from .sparse_jacobian import sparse_jacobian as sparse_jacobian
from .vjp import vjp as vjp
from .vmap import vmap as vmap

__all__ = [
    "SparsityPattern",
    "ValueRead",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "sparse_jacobian",
    "sparsity_pattern",
    "vjp",
    "vmap",
]
