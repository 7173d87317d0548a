"""Rarely needed functions, and checkpoints: PyTorch's `torch.utils`."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from vtgrad.utils import pytree as pytree
from vtgrad.utils.swap import swap_tensors as swap_tensors

__all__ = [
    "checkpoint",
    "pytree",
    "swap_tensors",
]

if TYPE_CHECKING:
    from vtgrad.utils import checkpoint as checkpoint
else:
    # Hidden from type checkers, which would accept every name because of it. See Note [Tools come
    # at first use].

    def __getattr__(name):
        """Checkpoints, which most programs never load."""
        if name == "checkpoint":
            return _import_module("vtgrad.utils.checkpoint")
        raise AttributeError(f"module 'vtgrad.utils' has no attribute {name!r}")

    def __dir__():
        """What is here, and what would be found."""
        return sorted({*globals(), *__all__})
