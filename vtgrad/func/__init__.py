"""Transforms of functions, which give derivatives as functions: PyTorch's `torch.func`."""

from .grad import grad as grad
from .grad import grad_and_value as grad_and_value
from .hessian import hessian as hessian
from .jacfwd import jacfwd as jacfwd
from .jacrev import jacrev as jacrev
from .jvp import jvp as jvp
from .linearize import linearize as linearize
from .vjp import vjp as vjp
from .vmap import vmap as vmap

__all__ = [
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "vjp",
    "vmap",
]
