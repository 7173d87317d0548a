"""Special functions of tensors or numbers: choosing the entry of the table."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["polygamma", "polygamma_"]


T = TypeVar("T", bound=TensorBase)


@explained
def polygamma(n: int, input: T, *, out: T | None = None) -> T:
    """The derivative of order `n` of the digamma function.

    As a method of tensors it takes `n` alone.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.polygamma(1, vt.tensor([1.0, 2.0]))  # pi ** 2 / 6, and 1 less
    tensor([1.6449, 0.6449])
    """
    return F.polygamma_of(input, n, out=out)


@explained
def polygamma_(input: T, n: int) -> T:
    """Overwrite the tensor with a derivative of the digamma function; see `polygamma`."""
    return F.polygamma_of_(input, n)
