"""Jacobians, Hessians, and products with them: PyTorch's `torch.autograd.functional`."""

from vtgrad.autograd.functional.hessian import hessian as hessian
from vtgrad.autograd.functional.hessian_products import hvp as hvp
from vtgrad.autograd.functional.hessian_products import vhp as vhp
from vtgrad.autograd.functional.jacobian import jacobian as jacobian
from vtgrad.autograd.functional.products import jvp as jvp
from vtgrad.autograd.functional.products import vjp as vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
