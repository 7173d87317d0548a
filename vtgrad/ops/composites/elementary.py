"""Rounding: which entry of the table is meant."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.integers import integer
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["round", "round_"]


T = TypeVar("T", bound=TensorBase)


@explained
def round(input: T, *, decimals: int = 0, out: T | None = None) -> T:
    """The nearest integer, the even one of two equally near.

    Parameters
    ----------
    input : Tensor
    decimals : int
        Keep this many decimal places; with a negative number, round before the point.
    out : Tensor, optional
    """
    places = integer(decimals)
    if places == 0:
        return F.round_whole(input, out=out)
    return F.round_decimals(input, decimals=places, out=out)


@explained
def round_(input: T, *, decimals: int = 0) -> T:
    """Round the tensor itself; see `round`."""
    places = integer(decimals)
    if places == 0:
        return F.round_whole_(input)
    return F.round_decimals_(input, decimals=places)
