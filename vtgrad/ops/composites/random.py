"""Random numbers by PyTorch's names: dispatch over overloads, and tensors like a given one."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import ArgumentTypeError
from vtgrad.generator import Generator
from vtgrad.graph.thread_levels import thread
from vtgrad.ops.calling.from_python import check_differentiable, request_grad
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.composites.creation import empty_like
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.drawing import target_of_draw
from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import DType
from vtgrad.storage.key_set import keys
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
    """Return ones and zeros that are drawn with given probabilities.

    Each element is 1 with its probability and else 0, independently. The gradient is 0.

    Parameters
    ----------
    input : Tensor
        The probabilities, floating; if `p` is given, any real tensor, of which only shape and
        dtype count.
    p : float or None, default None
        One probability for all elements.
    generator : Generator or None, default None
        What to draw from; the default generator if None.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`; not together with `p`.

    Returns
    -------
    Tensor
        A new tensor of the shape and dtype of `input`.

    Raises
    ------
    ShapeError
        If a probability is not between 0 and 1.
    NotSupportedError
        If the probabilities are not floating, or `input` is complex.
    ArgumentTypeError
        If `p` is not a real number, `generator` is not a generator, or `p` and `out` are both
        given.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> vt.bernoulli(vt.tensor([0.0, 1.0]))
    tensor([0., 1.])
    >>> vt.bernoulli(vt.tensor([3, 4]), 1.0)
    tensor([1, 1])
    >>> draws = vt.bernoulli(vt.full((10000,), 0.25), generator=vt.Generator().manual_seed(0))
    >>> 0.2 < draws.mean().item() < 0.3
    True
    """
    if keys.active and is_overridden(input, out):
        return call_override(bernoulli, input, p, generator=generator, out=out)
    if p is None:
        return F.bernoulli_default(input, generator=generator, out=out)
    if out is not None:
        raise ArgumentTypeError("bernoulli takes p or out, not both", argument="out")
    return F.bernoulli_float_(_to_fill(F.clone(input)), p, generator=generator)


def random_(
    input: T,
    from_: int | None = None,
    to: int | None = None,
    *,
    generator: Generator | None = None,
) -> T:
    """Overwrite the tensor with random integers.

    `x.random_(from_, to)` draws from `[from_, to)`, `x.random_(to)` from `[0, to)`, and
    `x.random_()` from all integers between 0 and the largest that the dtype holds exactly,
    inclusive. All of them are equally likely. What is drawn does not depend on the old values,
    so their gradient is 0.

    Parameters
    ----------
    input : Tensor
        Any dtype that is not complex; every element is replaced.
    from_ : int, optional
        The smallest integer; if it stands alone, it is `to`, and the smallest is 0.
    to : int, optional
        The end of the interval, which is not drawn.
    generator : Generator, optional
        Source of the random numbers; the default generator if it is not given.

    Returns
    -------
    Tensor
        The tensor itself.

    Raises
    ------
    ShapeError
        If the interval is empty, or the dtype cannot hold it.
    NotSupportedError
        If the tensor is complex.
    ArgumentTypeError
        If a bound is no integer.
    LeafWriteError
        If the tensor is a leaf that requires grad, while recording.
    SelfOverlapError
        If several elements are one memory location.

    Examples
    --------
    >>> vt.zeros(3).random_(5, 6)
    tensor([5., 5., 5.])
    >>> x = vt.zeros(100, dtype=vt.int64).random_(3)
    >>> vt.logical_and(x >= 0, x < 3).all().item()
    True
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
    """Return uniformly distributed random numbers in the shape of a tensor.

    They are drawn from the interval `[0, 1)`; real and imaginary part of complex numbers each.

    Parameters
    ----------
    input : Tensor
        The model; its values do not matter.
    dtype : DType, optional
        The dtype, floating or complex; by default that of `input`.
    device : Device or str, optional
        Where the memory is; there is only the CPU.
    requires_grad : bool, default False
        Whether the result is a leaf that requires grad.
    memory_format : MemoryFormat, optional
        The order in memory; by default that of `input`.
    generator : Generator, optional
        Source of the random numbers; the default generator if it is not given.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    NotSupportedError
        If the dtype is an integer one or bool, or `device` is another one than the CPU.
    MemoryFormatError
        If the format is for another number of dimensions.

    Examples
    --------
    >>> x = vt.zeros(2, 3)
    >>> a = vt.rand_like(x, generator=vt.Generator().manual_seed(1))
    >>> b = vt.rand_like(x, generator=vt.Generator().manual_seed(1))
    >>> a.shape, vt.equal(a, b), a.min().item() >= 0, a.max().item() < 1
    (vtgrad.Size([2, 3]), True, True, True)
    """
    if keys.active and is_overridden(input):
        return call_override(
            rand_like,
            input,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
            memory_format=memory_format,
            generator=generator,
        )
    result = _to_fill(empty_like(input, dtype=dtype, device=device, memory_format=memory_format))
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
    """Return standard normally distributed random numbers in the shape of a tensor.

    Their mean is 0 and their variance 1, of which real and imaginary part of complex numbers
    each have half.

    Parameters
    ----------
    input : Tensor
        The model; its values do not matter.
    dtype : DType, optional
        The dtype, floating or complex; by default that of `input`.
    device : Device or str, optional
        Where the memory is; there is only the CPU.
    requires_grad : bool, default False
        Whether the result is a leaf that requires grad.
    memory_format : MemoryFormat, optional
        The order in memory; by default that of `input`.
    generator : Generator, optional
        Source of the random numbers; the default generator if it is not given.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    NotSupportedError
        If the dtype is an integer one or bool, or `device` is another one than the CPU.
    MemoryFormatError
        If the format is for another number of dimensions.

    Examples
    --------
    >>> x = vt.zeros(2, 3)
    >>> a = vt.randn_like(x, generator=vt.Generator().manual_seed(1))
    >>> b = vt.randn_like(x, generator=vt.Generator().manual_seed(1))
    >>> a.shape, vt.equal(a, b)
    (vtgrad.Size([2, 3]), True)
    """
    if keys.active and is_overridden(input):
        return call_override(
            randn_like,
            input,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
            memory_format=memory_format,
            generator=generator,
        )
    result = _to_fill(empty_like(input, dtype=dtype, device=device, memory_format=memory_format))
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
    """Return random integers in the shape of a tensor.

    All integers of the interval are equally likely. They are stored in the dtype of `input`,
    which may be a floating one.

    Parameters
    ----------
    input : Tensor
        The model; its values do not matter.
    low : int
        The smallest integer; if it stands alone, it is `high`, and the smallest is 0.
    high : int, optional
        The end of the interval, which is not drawn.
    dtype : DType, optional
        The dtype; by default that of `input`.
    device : Device or str, optional
        Where the memory is; there is only the CPU.
    requires_grad : bool, default False
        Whether the result is a leaf that requires grad.
    memory_format : MemoryFormat, optional
        The order in memory; by default that of `input`.
    generator : Generator, optional
        Source of the random numbers; the default generator if it is not given.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    ShapeError
        If the interval is empty, or the dtype cannot hold it.
    NotSupportedError
        If the dtype is complex, or `device` is another one than the CPU.
    RequiresGradError
        If `requires_grad` is asked for of integers or bools.
    MemoryFormatError
        If the format is for another number of dimensions.

    Examples
    --------
    >>> vt.randint_like(vt.zeros(3), 7, 8)
    tensor([7., 7., 7.])
    >>> x = vt.randint_like(vt.zeros(100), 3, dtype=vt.int64)
    >>> vt.logical_and(x >= 0, x < 3).all().item()
    True
    """
    if keys.active and is_overridden(input):
        return call_override(
            randint_like,
            input,
            low,
            high,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
            memory_format=memory_format,
            generator=generator,
        )
    result = _to_fill(empty_like(input, dtype=dtype, device=device, memory_format=memory_format))
    if requires_grad:
        check_differentiable(result._impl.dtype)
    start, end = (0, low) if high is None else (low, high)
    return _leaf(F.random_from_(result, start, end, generator=generator), requires_grad)


def _to_fill(tensor: T) -> T:
    """A fresh tensor that is to be filled; see Note [Random numbers in a batch]."""
    return target_of_draw(tensor) if keys.active and thread.batch_levels else tensor


def _leaf(tensor: T, requires_grad: bool) -> T:
    # The tensor is new: this write does not count.
    if not tensor.is_inference():
        tensor._impl.version_counter = None
    if requires_grad:
        request_grad(tensor)
    return tensor
