"""Moving the element of frequency zero to the middle, and back."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.fft.transform import one_dim
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.argument_types import T

__all__ = ["fftshift", "ifftshift"]


@explained
def fftshift(input: T, dim: int | Sequence[int] | None = None) -> T:
    """Return the elements with that of frequency zero in the middle.

    Parameters
    ----------
    input : Tensor
        Elements in the order of `fftfreq`, of any dtype.
    dim : int or sequence of int, optional
        The dimensions, all by default.

    Returns
    -------
    Tensor
        A new tensor; the gradient is moved back.

    Raises
    ------
    DimensionError
        If there is no such dimension.
    ShapeError
        If there is no dimension at all.

    Examples
    --------
    >>> vt.fft.fftshift(vt.fft.fftfreq(4, 0.25))
    tensor([-2., -1.,  0.,  1.])
    """
    return _moved(input, dim, 1)


@explained
def ifftshift(input: T, dim: int | Sequence[int] | None = None) -> T:
    """Return what `fftshift` has moved in its order before.

    Parameters
    ----------
    input : Tensor
        Elements in ascending order of frequency, of any dtype.
    dim : int or sequence of int, optional
        The dimensions, all by default.

    Returns
    -------
    Tensor
        A new tensor; the gradient is moved back.

    Raises
    ------
    DimensionError
        If there is no such dimension.
    ShapeError
        If there is no dimension at all.

    Examples
    --------
    >>> vt.fft.ifftshift(vt.tensor([-2, -1, 0, 1, 2]))
    tensor([ 0,  1,  2, -2, -1])
    """
    return _moved(input, dim, -1)


def _moved(input: T, dim: int | Sequence[int] | None, sign: int) -> T:
    shape = array_of(input, "input").shape
    if dim is None:
        dims = list(range(len(shape)))
    else:
        dims = [one_dim(input, one) for one in (dim if isinstance(dim, Sequence) else (dim,))]
    # An odd number of elements has one more in front of the middle than behind it.
    return F.roll(input, tuple([sign * (shape[one] // 2) for one in dims]), tuple(dims))
