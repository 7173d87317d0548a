"""Convolutions and correlations of signals, directly or by Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vtgrad.errors import NotSupportedError, OptionValueError, ShapeError
from vtgrad.fft.complex_transforms import fftn, ifftn
from vtgrad.fft.real_transforms import irfftn, rfftn
from vtgrad.fft.transform import some_dims
from vtgrad.later.convolution import convolved
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.signal.operands import in_one_dtype
from vtgrad.tensor.tensor import Tensor

__all__ = ["convolve", "correlate", "fftconvolve"]

# Up to this size of the smaller operand a direct sum takes less time than three transforms.
_SHORT: Final = 64
# How many elements of the shorter operand may reach beyond the longer one, as `convolved` counts.
_ALL: Final = 2


@explained
def convolve(in1: Tensor, in2: Tensor, mode: str = "full", method: str = "auto") -> Tensor:
    """Return the convolution of two tensors: the sums of products whose indices have one sum.

    Parameters
    ----------
    in1, in2 : Tensor
        The operands, of as many dimensions. Integers are cast to the default dtype.
    mode : {"full", "same", "valid"}, default "full"
        Which sums: all, the middle ones, as many as `in1` has elements, or those in which no
        element is missing, where one operand must be at least as large as the other in each
        dimension.
    method : {"auto", "direct", "fft"}, default "auto"
        A sum for each element, for operands of one dimension; or Fourier transforms, with an error
        that is relative to the largest element. By default what takes less time.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        If the numbers of dimensions differ, an operand is empty or 0-d, or neither fits into the
        other.
    OptionValueError
        If there is no such `mode` or `method`.
    NotSupportedError
        If a direct sum is asked for in more than one dimension.

    Examples
    --------
    >>> x, y = vt.tensor([1.0, 2.0, 3.0]), vt.tensor([1.0, -1.0])
    >>> vt.signal.convolve(x, y)
    tensor([ 1.,  1.,  1., -3.])
    >>> vt.signal.convolve(x, y, mode="valid")
    tensor([1., 1.])
    """
    refuse_names("convolve", in1, in2)
    return _convolved("convolve", in1, in2, mode, method)


@explained
def correlate(in1: Tensor, in2: Tensor, mode: str = "full", method: str = "auto") -> Tensor:
    """Return the correlation of two tensors: sums of products at each distance.

    It is the convolution of `in1` with the conjugates of `in2` in reverse order.

    Parameters
    ----------
    in1, in2, mode, method
        As in `convolve`.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        If the numbers of dimensions differ, an operand is empty or 0-d, or neither fits into the
        other.
    OptionValueError
        If there is no such `mode` or `method`.
    NotSupportedError
        If a direct sum is asked for in more than one dimension.

    Examples
    --------
    >>> x, y = vt.tensor([1.0, 2.0, 3.0]), vt.tensor([0.0, 1.0])
    >>> vt.signal.correlate(x, y)
    tensor([1., 2., 3., 0.])
    """
    refuse_names("correlate", in1, in2)
    turned = F.conj(F.flip(in2, tuple(range(array_of(in2, "in2").ndim))))
    return _convolved("correlate", in1, turned, mode, method)


@explained
def fftconvolve(
    in1: Tensor, in2: Tensor, mode: str = "full", axes: int | Sequence[int] | None = None
) -> Tensor:
    """Return the convolution of two tensors along some dimensions, by Fourier transforms.

    Parameters
    ----------
    in1, in2, mode
        As in `convolve`.
    axes : int or sequence of int, optional
        The dimensions, all by default. The others broadcast.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ShapeError
        If the numbers of dimensions differ, an operand is empty or 0-d, or neither fits into the
        other.
    OptionValueError
        If there is no such `mode`, or a dimension stands twice.

    Examples
    --------
    >>> x, y = vt.tensor([[1.0, 2.0, 3.0]]), vt.tensor([[1.0], [2.0]])
    >>> vt.signal.fftconvolve(x, y)
    tensor([[1., 2., 3.],
            [2., 4., 6.]])
    """
    refuse_names("fftconvolve", in1, in2)
    _check("fftconvolve", in1, in2)
    dims = list(range(in1.ndim)) if axes is None else some_dims(in1, axes)
    return _by_transforms(in1, in2, mode, dims)


def _convolved(name: str, in1: Tensor, in2: Tensor, mode: str, method: str) -> Tensor:
    _check(name, in1, in2)
    if method not in ("auto", "direct", "fft"):
        raise OptionValueError(
            f'method must be "auto", "direct" or "fft", not {method!r}', method=method
        )
    is_direct = method == "direct"
    if is_direct and in1.ndim > 1:
        raise NotSupportedError(f'{name}() sums directly in one dimension; use method="fft"')
    if method == "auto":
        is_direct = in1.ndim == 1 and min(in1.numel(), in2.numel()) <= _SHORT
    if not is_direct:
        return _by_transforms(in1, in2, mode, list(range(in1.ndim)))
    parts = [_part(mode, in1.shape[0], in2.shape[0])]
    first, second = in_one_dtype(in1, in2)
    found = convolved(first, second, _ALL)
    return _cut(found, [0], parts)


def _by_transforms(in1: Tensor, in2: Tensor, mode: str, dims: list[int]) -> Tensor:
    pairs = [(in1.shape[dim], in2.shape[dim]) for dim in dims]
    if mode == "valid" and any(a < b for a, b in pairs) and any(a > b for a, b in pairs):
        raise ShapeError(
            f"neither of the shapes {list(in1.shape)} and {list(in2.shape)} fits into the other",
            shapes=(in1.shape, in2.shape),
        )
    parts = [_part(mode, *pair) for pair in pairs]
    first, second = in_one_dtype(in1, in2)
    if not dims:
        return F.mul(first, second)
    sizes = [_good_size(in1.shape[dim] + in2.shape[dim] - 1) for dim in dims]
    if first.is_complex():
        found = ifftn(F.mul(fftn(first, sizes, dims), fftn(second, sizes, dims)), None, dims)
    else:
        product = F.mul(rfftn(first, sizes, dims), rfftn(second, sizes, dims))
        found = irfftn(product, sizes, dims)
    return _cut(found, dims, parts)


def _check(name: str, in1: Tensor, in2: Tensor) -> None:
    first, second = array_of(in1, "in1"), array_of(in2, "in2")
    if first.ndim != second.ndim or not first.ndim or not first.size or not second.size:
        raise ShapeError(
            f"{name}() takes two tensors of as many dimensions, not empty, and not of the shapes "
            f"{list(first.shape)} and {list(second.shape)}",
            shapes=(first.shape, second.shape),
        )


def _part(mode: str, first: int, second: int) -> tuple[int, int]:
    """Where the sums that are asked for begin, and how many there are."""
    total = first + second - 1
    if mode == "full":
        return 0, total
    if mode == "same":
        return (total - first) // 2, first
    if mode == "valid":
        return min(first, second) - 1, abs(first - second) + 1
    raise OptionValueError(f'mode must be "full", "same" or "valid", not {mode!r}', mode=mode)


def _cut(found: Tensor, dims: Sequence[int], parts: Sequence[tuple[int, int]]) -> Tensor:
    for dim, (start, size) in zip(dims, parts, strict=True):
        if size != found.shape[dim]:
            found = F.narrow(found, dim, start, size)
    return found


def _good_size(size: int) -> int:
    """The next size that is a product of 2, 3 and 5, of which transforms are fast."""
    while True:
        rest = size
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return size
        size += 1
