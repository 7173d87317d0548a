"""Transforms of functions, which give derivatives as functions: PyTorch's `torch.func`."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from vtgrad.func.grad import grad as grad
from vtgrad.func.grad import grad_and_value as grad_and_value
from vtgrad.func.hessian import hessian as hessian
from vtgrad.func.jacfwd import jacfwd as jacfwd
from vtgrad.func.jacrev import jacrev as jacrev
from vtgrad.func.jvp import jvp as jvp
from vtgrad.func.linearize import linearize as linearize
from vtgrad.func.vjp import vjp as vjp
from vtgrad.func.vmap import vmap as vmap

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

if TYPE_CHECKING:
    from vtgrad.func.sparsity.find_pattern import sparsity_pattern as sparsity_pattern
    from vtgrad.func.sparsity.jacobian_pattern import SparsityPattern as SparsityPattern
    from vtgrad.func.sparsity.sparse_jacobian import sparse_jacobian as sparse_jacobian
    from vtgrad.ops.rules.patterns.value_read import ValueRead as ValueRead
else:
    # Hidden from type checkers, which would accept every name because of it. See Note [Tools come
    # at first use].

    _HOMES = {
        "SparsityPattern": "vtgrad.func.sparsity.jacobian_pattern",
        "ValueRead": "vtgrad.ops.rules.patterns.value_read",
        "sparse_jacobian": "vtgrad.func.sparsity.sparse_jacobian",
        "sparsity_pattern": "vtgrad.func.sparsity.find_pattern",
    }

    def __getattr__(name):
        """Sparse Jacobians, which most programs never load."""
        if name in _HOMES:
            return getattr(_import_module(_HOMES[name]), name)
        raise AttributeError(f"module 'vtgrad.func' has no attribute {name!r}")

    def __dir__():
        """What is here, and what would be found."""
        return sorted({*globals(), *__all__})
