"""Refusing tensors of lanes, for which there is no filter and no spline."""

from __future__ import annotations

from vtgrad.errors import NotSupportedError
from vtgrad.storage.device import CPU
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["refuse_lanes"]


def refuse_lanes(function: str, *operands: object) -> None:
    """Raise if a tensor among the operands is not on the CPU.

    Raises
    ------
    NotSupportedError
        If there is one.
    """
    for x in operands:
        if isinstance(x, TensorBase) and x._impl.device != CPU:
            raise NotSupportedError(
                f"{function}() works on the CPU only, and got a tensor on {x._impl.device}; move "
                'it with x.to("cpu")',
                device=x._impl.device,
            )
