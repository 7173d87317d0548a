"""The derivative of what does not depend on its input."""

from __future__ import annotations

from vtgrad.graph.no_names_guard import NoNamesGuard
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["zero_derivative"]


def zero_derivative(like: Tensor) -> Tensor:
    """Zeros like a tensor; as other derivatives they have no names of dimensions."""
    return NoNamesGuard.run(lambda: F.zeros_like(like))
