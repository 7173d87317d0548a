"""Forward mode: tensors that carry a tangent."""

from __future__ import annotations

from .dual_tensors import UnpackedDualTensor as UnpackedDualTensor
from .dual_tensors import dual_level as dual_level
from .dual_tensors import enter_dual_level as enter_dual_level
from .dual_tensors import exit_dual_level as exit_dual_level
from .dual_tensors import make_dual as make_dual
from .dual_tensors import set_fwd_grad_enabled as set_fwd_grad_enabled
from .dual_tensors import unpack_dual as unpack_dual

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "set_fwd_grad_enabled",
    "unpack_dual",
]
