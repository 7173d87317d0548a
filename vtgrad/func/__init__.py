"""Transforms of functions, which give derivatives as functions: PyTorch's `torch.func`."""

from vtgrad.func.find_pattern import sparsity_pattern as sparsity_pattern
from vtgrad.func.grad import grad as grad
from vtgrad.func.grad import grad_and_value as grad_and_value
from vtgrad.func.hessian import hessian as hessian
from vtgrad.func.jacfwd import jacfwd as jacfwd
from vtgrad.func.jacobian_pattern import SparsityPattern as SparsityPattern
from vtgrad.func.jacrev import jacrev as jacrev
from vtgrad.func.jvp import jvp as jvp
from vtgrad.func.linearize import linearize as linearize
from vtgrad.func.sparse_jacobian import sparse_jacobian as sparse_jacobian
from vtgrad.func.vjp import vjp as vjp
from vtgrad.func.vmap import vmap as vmap
from vtgrad.ops.rules.patterns.value_read import ValueRead as ValueRead

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
