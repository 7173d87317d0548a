"""Rarely needed functions, and checkpoints: PyTorch's `torch.utils`."""

from . import checkpoint as checkpoint
from . import pytree as pytree
from .swap import swap_tensors as swap_tensors

__all__ = [
    "checkpoint",
    "pytree",
    "swap_tensors",
]
