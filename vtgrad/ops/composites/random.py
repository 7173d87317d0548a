"""Random numbers by PyTorch's names: dispatch over overloads, and tensors like a given one."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.from_python import check_differentiable, request_grad
from vtgrad.ops.composites.creation import empty_like
from vtgrad.ops.generated import functional as F
from vtgrad.random import Generator
from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import DType
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "bernoulli",
    "rand_like",
    "randint_like",
    "randn_like",
    "random_",
]


T = TypeVar("T", bound=TensorBase)


def bernoulli(
    input: T,
    p: float | None = None,
    *,
    generator: Generator | None = None,
    out: T | None = None,
) -> T:
    """Ones and zeros, drawn with the probabilities that the tensor holds.

    Parameters
    ----------
    p : float, optional
        One probability for all elements; then the tensor's values do not matter.
    generator : Generator, optional
        What to draw from; the default generator unless given.
    out : Tensor, optional
        Where to write, if `p` is not given.

    Returns
    -------
    Tensor
        Of the tensor's shape and dtype. Gradients through it are zeros.

    Raises
    ------
    ShapeError
        If a probability is not between 0 and 1.
    NotSupportedError
        If the tensor, taken for probabilities, is not floating.

    Examples
    --------
    >>> import vtgrad as vt
    >>> vt.bernoulli(vt.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    if p is None:
        return F.bernoulli_default(input, generator=generator, out=out)
    if out is not None:
        raise ArgumentTypeError("bernoulli takes p or out, not both", argument="out")
    return F.bernoulli_float_(F.clone(input), p, generator=generator)


def random_(
    input: T,
    from_: int | None = None,
    to: int | None = None,
    *,
    generator: Generator | None = None,
) -> T:
    """Fill the tensor with integers.

    ``random_(from_, to)`` draws from ``[from_, to)``, ``random_(to)`` from ``[0, to)``, and
    ``random_()`` from all integers from 0 to the largest that the dtype holds exactly.
    """
    if from_ is None:
        if to is None:
            return F.random_default_(input, generator=generator)
        return F.random_to_(input, to, generator=generator)
    if to is None:
        return F.random_to_(input, from_, generator=generator)
    return F.random_from_(input, from_, to, generator=generator)


def rand_like(
    input: T,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
    generator: Generator | None = None,
) -> T:
    """Numbers spread evenly over [0, 1), in the shape of a tensor; see `zeros_like`."""
    result = empty_like(input, dtype=dtype, device=device, memory_format=memory_format)
    return _leaf(F.uniform_(result, generator=generator), requires_grad)


def randn_like(
    input: T,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
    generator: Generator | None = None,
) -> T:
    """Standard normal numbers in the shape of a tensor; see `zeros_like`."""
    result = empty_like(input, dtype=dtype, device=device, memory_format=memory_format)
    return _leaf(F.normal_(result, generator=generator), requires_grad)


def randint_like(
    input: T,
    low: int,
    high: int | None = None,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    memory_format: MemoryFormat | None = None,
    generator: Generator | None = None,
) -> T:
    """Integers of ``[low, high)``, or below `low` alone, in the shape of a tensor.

    The dtype is the tensor's unless given; see `zeros_like`.
    """
    result = empty_like(input, dtype=dtype, device=device, memory_format=memory_format)
    if requires_grad:
        check_differentiable(result._impl.dtype)
    start, end = (0, low) if high is None else (low, high)
    return _leaf(F.random_from_(result, start, end, generator=generator), requires_grad)


def _leaf(tensor: T, requires_grad: bool) -> T:
    # It is new to the world: that it was written once is no news to anybody.
    if not tensor.is_inference():
        tensor._impl.version_counter = None
    if requires_grad:
        request_grad(tensor)
    return tensor
