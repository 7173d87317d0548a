"""Forward mode: tensors that carry a tangent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vtgrad.autograd.dual_tensors import UnpackedDualTensor as UnpackedDualTensor
from vtgrad.autograd.dual_tensors import current_level as _read_current_level
from vtgrad.autograd.dual_tensors import dual_level as dual_level
from vtgrad.autograd.dual_tensors import enter_dual_level as enter_dual_level
from vtgrad.autograd.dual_tensors import exit_dual_level as exit_dual_level
from vtgrad.autograd.dual_tensors import make_dual as make_dual
from vtgrad.autograd.dual_tensors import set_fwd_grad_enabled as set_fwd_grad_enabled
from vtgrad.autograd.dual_tensors import unpack_dual as unpack_dual

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "set_fwd_grad_enabled",
    "unpack_dual",
]


if TYPE_CHECKING:
    # PyTorch's name for what its test suites read: 0 inside of a level, else -1.
    _current_level: int
else:
    # Hidden from type checkers, which would accept every name because of it.

    def __getattr__(name):
        """The number of the open level, which changes."""
        if name == "_current_level":
            return _read_current_level()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
