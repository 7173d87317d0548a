"""What the tests of forward mode call."""

import vtgrad as vt
from vtgrad.autograd import forward_ad as fw

__all__ = ["dual", "has_none", "tangent", "tensor"]


def tensor(*values: float) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.float64)


def tangent(x: vt.Tensor) -> vt.Tensor:
    found = fw.unpack_dual(x).tangent
    assert found is not None
    return found


def has_none(x: vt.Tensor) -> bool:
    return fw.unpack_dual(x).tangent is None


def dual(*values: float) -> vt.Tensor:
    """A dual whose tangent has the same numbers."""
    return fw.make_dual(tensor(*values), tensor(*values))
