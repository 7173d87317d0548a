"""The views that change what memory means: another dtype, conjugates, negatives.

Note [Views that strides cannot express]

Sizes, strides and offset do not say how these views are made from their base: the replay does, see
`vtgrad.views.replay`. A conjugate or negative has the geometry of what it is a view of and another
kind of array (Note [Lazy conjugates]). The real view of complex memory has one more dimension, of
size 2 and stride 1; complex views of real memory are made the other way round.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.errors import DTypeError, ShapeError
from vtgrad.storage.arrays import NumpyDType, Shape
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.lazy_array import is_conjugated, is_negated, like, physical, with_bits
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["conj_view", "neg_view", "view_as_complex", "view_as_real"]


_COMPLEX: Final[dict[NumpyDType, NumpyDType]] = {
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
}
_REAL: Final = {pair: single for single, pair in _COMPLEX.items()}


def conj_view(impl: TensorImpl) -> TensorImpl:
    """The conjugates of complex memory; for conjugates the memory itself again."""
    own = impl.array
    array = with_bits(physical(own), not is_conjugated(own), is_negated(own))
    return impl.alias(array, impl.byte_offset, impl.strides)


def neg_view(impl: TensorImpl) -> TensorImpl:
    """The negatives of memory; for negatives the memory itself again.

    Raises
    ------
    DTypeError
        For booleans, which have no negatives.
    """
    own = impl.array
    if own.dtype.kind == "b":
        raise DTypeError("booleans have no negatives; use logical_not", dtype=dtype_of(own.dtype))
    array = with_bits(physical(own), is_conjugated(own), not is_negated(own))
    return impl.alias(array, impl.byte_offset, impl.strides)


def view_as_real(impl: TensorImpl) -> TensorImpl:
    """Complex memory as pairs of real numbers, in a new last dimension.

    Raises
    ------
    DTypeError
        If the dtype is not complex, or the values are lazy conjugates: no memory holds their
        imaginary parts.
    """
    own = impl.array
    dtype = _REAL.get(own.dtype)
    if dtype is None:
        raise DTypeError(
            f"view_as_real needs a complex tensor, not one of {dtype_of(own.dtype).name}",
            dtype=dtype_of(own.dtype),
        )
    if is_conjugated(own):
        raise DTypeError(
            "view_as_real of a lazily conjugated tensor: memory does not hold its imaginary parts "
            "but their negatives; use x.real and x.imag, or resolve_conj() for a copy",
            dtype=dtype_of(own.dtype),
        )
    sizes: Shape = (*impl.sizes, 2)
    strides = (*[2 * s for s in impl.strides], 1)
    array = impl.storage.strided(dtype, sizes, strides, 2 * impl.storage_offset)
    return impl.alias(like(own, array), impl.byte_offset, strides)


def view_as_complex(impl: TensorImpl) -> TensorImpl:
    """Pairs of real numbers, side by side in memory, as complex numbers.

    Raises
    ------
    DTypeError
        If the dtype is neither float32 nor float64.
    ShapeError
        If the last dimension does not hold pairs that lie side by side, or some do not begin at a
        multiple of their size.
    """
    own = impl.array
    dtype = _COMPLEX.get(own.dtype)
    if dtype is None:
        raise DTypeError(
            "view_as_complex needs a tensor of float32 or float64, not one of "
            f"{dtype_of(own.dtype).name}",
            dtype=dtype_of(own.dtype),
        )
    sizes, strides, offset = impl.sizes, impl.strides, impl.storage_offset
    if not sizes or sizes[-1] != 2:
        raise ShapeError(
            "view_as_complex needs a last dimension of size 2, real and imaginary part, got shape "
            f"{list(sizes)}",
            shape=sizes,
        )
    # As in PyTorch, a single step may be of any length, but none of nothing.
    uneven = any(s % 2 and n != 1 for n, s in zip(sizes[:-1], strides[:-1], strict=True))
    if strides[-1] != 1 or offset % 2 or uneven:
        raise ShapeError(
            "view_as_complex needs pairs that lie side by side, and begin at multiples of 2: the "
            f"last stride must be 1, the others and the offset even; got strides {list(strides)} "
            f"and offset {offset}. Use contiguous() or clone() first",
            strides=strides,
            offset=offset,
        )
    strides = tuple([s // 2 for s in strides[:-1]])
    array = impl.storage.strided(dtype, sizes[:-1], strides, offset // 2)
    return impl.alias(like(own, array), impl.byte_offset, strides)
