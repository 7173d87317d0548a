"""Jacobians, Hessians, and products with them: PyTorch's `torch.autograd.functional`."""

from .hessian import hessian as hessian
from .hessian_products import hvp as hvp
from .hessian_products import vhp as vhp
from .jacobian import jacobian as jacobian
from .products import jvp as jvp
from .products import vjp as vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
