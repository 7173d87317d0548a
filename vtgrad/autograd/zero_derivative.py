"""The derivative of what does not depend on its input."""

from __future__ import annotations

from vtgrad.ops.generated import functional as F
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.key_set import NAMED
from vtgrad.tensor.tensor import Tensor

__all__ = ["zero_derivative"]


def zero_derivative(like: Tensor) -> Tensor:
    """Zeros like a tensor; as other derivatives they have no names of dimensions."""
    return run_excluding(NAMED, lambda: F.zeros_like(like))
