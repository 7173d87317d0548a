"""Tangents, as the transforms in forward mode use them."""

from __future__ import annotations

from ..errors import NotSupportedError
from ..tensor.tensor import Tensor

__all__ = ["make_dual_at", "tangent_at"]


def make_dual_at(primal: Tensor, tangent: Tensor, level: int) -> Tensor:
    """A view of a tensor that has a tangent at an open level.

    Raises
    ------
    NotSupportedError
        In this version, which has no forward mode.
    """
    raise NotSupportedError(
        "this version has no forward mode; vtgrad.autograd.functional.jvp and func.linearize "
        "compute products with the Jacobian from the right in reverse mode, and func.jacrev the "
        "Jacobian"
    )


def tangent_at(tensor: Tensor, level: int) -> Tensor | None:
    """The tangent of a tensor at an open level; None if it has none."""
    meta = tensor._impl.autograd_meta
    found = None if meta is None else meta.fw_grad(level, tensor)
    assert found is None or isinstance(found, Tensor)
    return found
