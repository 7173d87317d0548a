# Compiled by mypyc.
"""The views, of impls: each returns an alias with the view's geometry, which was checked.

Note [NumPy's own views]

Most views are views of the impl's array too, and NumPy makes those several times faster than an
array can be built from a buffer, sizes and strides. They are used wherever NumPy and PyTorch give
the same strides: not for tensors without elements, whose strides NumPy forgets, and not where
dimensions of size 1 come or go, whose strides NumPy chooses otherwise. But if all elements lie
row-major without gaps, and only the old or only the new shape has a size of 1, `reshape` gives a
dimension of size 1 the stride that PyTorch gives it.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import SupportsIndex

from vtgrad.errors import ArgumentTypeError, DimensionError, DTypeError, ShapeError
from vtgrad.storage.argument_types import AnyInt
from vtgrad.storage.arrays import PLAIN, Array, NumpyDType, Shape
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.geometry import (
    check_in_bounds,
    check_pieces,
    diagonal_geometry,
    expand_geometry,
    infer_size,
    normalize_dim,
    permute_geometry,
    select_geometry,
    slice_geometry,
    split_sizes,
    squeeze_geometry,
    transpose_geometry,
    unfold_geometry,
    unsqueeze_geometry,
    view_strides,
)
from vtgrad.storage.integers import integer
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.lazy_array import like
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = [
    "alias",
    "alias_at",
    "as_strided",
    "as_strided_beyond",
    "diagonal",
    "expand",
    "permute",
    "reshape_alias",
    "select",
    "slice",
    "split_equal",
    "split_with_sizes",
    "squeeze_all",
    "squeeze_dim",
    "squeeze_dims",
    "t",
    "transpose",
    "unbind",
    "unfold",
    "unsqueeze",
    "view",
    "view_dtype",
]


# The view operator shadows the built-in below.
_Slice = slice
_ALL = slice(None)


def alias_at(impl: TensorImpl, sizes: Shape, strides: Shape, offset: AnyInt) -> TensorImpl:
    """An alias at a geometry that is known to lie inside the storage."""
    own = impl.array
    dtype = own.dtype
    array = impl.storage.strided(dtype, sizes, strides, offset)
    if type(own) not in PLAIN:
        array = like(own, array)
    layout = impl.layout
    if (layout is None or layout is PECULIAR) and not own.flags.writeable:
        # The storage may be writable all the same, see Note [Read-only memory].
        array.flags.writeable = False
    return impl.alias(array, offset * dtype.itemsize, strides)


def alias(impl: TensorImpl) -> TensorImpl:
    """The same geometry again, of dimensions with the same names."""
    again = alias_at(impl, impl.sizes, impl.strides, impl.storage_offset)
    if impl.extra_meta is not None:
        again.set_extra_meta(impl.extra_meta)
    return again


# -- the whole in another shape or order ----------------------------------------------------


def as_strided(
    impl: TensorImpl,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: SupportsIndex | None = None,
) -> TensorImpl:
    """Any geometry inside the storage."""
    # Integers may come as tensors, which must not be taken for numbers: `+=` would write them.
    offset = impl.storage_offset if storage_offset is None else integer(storage_offset)
    sizes, strides = tuple(map(operator.index, size)), tuple(map(operator.index, stride))
    check_in_bounds(sizes, strides, offset, impl.storage.nbytes() // impl.array.itemsize)
    return alias_at(impl, sizes, strides, offset)


def as_strided_beyond(
    impl: TensorImpl,
    base: object,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: SupportsIndex | None = None,
) -> TensorImpl:
    """Any geometry inside the storage; `base` says in the graph whose memory it is."""
    if not isinstance(base, TensorBase):
        raise ArgumentTypeError(f"the base must be a tensor, not {type(base).__name__}")
    return as_strided(impl, size, stride, storage_offset)


def view(impl: TensorImpl, size: Sequence[int]) -> TensorImpl:
    """Another shape for the same elements."""
    array = impl.array
    sizes = infer_size(size, array.size)
    layout = impl.layout
    if layout is None:
        layout = impl.find_layout()
    if layout is not PECULIAR and 1 not in layout.shape:
        return impl.alias(array.reshape(sizes), impl.byte_offset)
    strides = view_strides(impl.sizes, impl.strides, sizes)
    if strides is None:
        raise ShapeError(
            f"a tensor of shape {list(impl.sizes)} and strides {list(impl.strides)} has no view of "
            f"shape {list(sizes)}; use reshape, which copies where it must",
            sizes=impl.sizes,
            strides=impl.strides,
            requested=sizes,
        )
    return alias_at(impl, sizes, strides, impl.storage_offset)


def reshape_alias(impl: TensorImpl, size: Sequence[int], stride: Sequence[int]) -> TensorImpl:
    """Another shape for the same elements, with strides that were worked out before."""
    return alias_at(impl, tuple(size), tuple(stride), impl.storage_offset)


def expand(impl: TensorImpl, size: Sequence[int], *, implicit: bool = False) -> TensorImpl:
    """Dimensions of size 1 repeated, new ones in front."""
    sizes, strides = expand_geometry(impl.sizes, impl.strides, size)
    return alias_at(impl, sizes, strides, impl.storage_offset)


def permute(impl: TensorImpl, dims: Sequence[int]) -> TensorImpl:
    """The dimensions in another order."""
    array = impl.array
    if array.size and type(dims) is tuple and dims and len(dims) == array.ndim:
        for dim in dims:
            if type(dim) is not int:
                break
        else:
            try:
                return impl.alias(array.transpose(dims), impl.byte_offset)
            except ValueError:
                pass  # what is wrong is said below
    sizes, strides = permute_geometry(impl.sizes, impl.strides, dims)
    if array.size:
        return impl.alias(array.transpose(dims), impl.byte_offset, strides)
    return alias_at(impl, sizes, strides, impl.storage_offset)


def transpose(impl: TensorImpl, dim0: AnyInt, dim1: AnyInt) -> TensorImpl:
    """Two dimensions exchanged."""
    array = impl.array
    ndim = array.ndim
    if array.size and ndim:
        swapped = array.swapaxes(normalize_dim(dim0, ndim), normalize_dim(dim1, ndim))
        return impl.alias(swapped, impl.byte_offset)
    sizes, strides = transpose_geometry(impl.sizes, impl.strides, dim0, dim1)
    return alias_at(impl, sizes, strides, impl.storage_offset)


def t(impl: TensorImpl) -> TensorImpl:
    """A matrix transposed; anything smaller as it is."""
    if len(impl.sizes) > 2:
        raise ShapeError(
            f"t() takes at most 2 dimensions, got shape {list(impl.sizes)}; use transpose",
            sizes=impl.sizes,
        )
    return alias(impl) if len(impl.sizes) < 2 else transpose(impl, 0, 1)


def squeeze_all(impl: TensorImpl) -> TensorImpl:
    """All dimensions of size 1 taken away."""
    layout = impl.layout
    if layout is None:
        layout = impl.find_layout()
    sizes, strides = squeeze_geometry(impl.sizes, impl.strides)
    if layout is not PECULIAR:
        return impl.alias(impl.array.reshape(sizes), impl.byte_offset)
    return alias_at(impl, sizes, strides, impl.storage_offset)


def squeeze_dim(impl: TensorImpl, dim: AnyInt) -> TensorImpl:
    """A dimension taken away if its size is 1."""
    return squeeze_dims(impl, (dim,))


def squeeze_dims(impl: TensorImpl, dim: Sequence[int]) -> TensorImpl:
    """Those of several dimensions taken away whose size is 1."""
    layout = impl.layout
    if layout is None:
        layout = impl.find_layout()
    sizes, strides = squeeze_geometry(impl.sizes, impl.strides, dim)
    if layout is not PECULIAR and 1 not in sizes:
        return impl.alias(impl.array.reshape(sizes), impl.byte_offset)
    return alias_at(impl, sizes, strides, impl.storage_offset)


def unsqueeze(impl: TensorImpl, dim: AnyInt) -> TensorImpl:
    """A new dimension of size 1."""
    layout = impl.layout
    if layout is None:
        layout = impl.find_layout()
    if layout is not PECULIAR:
        shape = layout.shape
        axis = normalize_dim(dim, len(shape) + 1)
        if 1 not in shape:
            longer = impl.array.reshape((*shape[:axis], 1, *shape[axis:]))
            return impl.alias(longer, impl.byte_offset)
    sizes, strides = unsqueeze_geometry(impl.sizes, impl.strides, dim)
    return alias_at(impl, sizes, strides, impl.storage_offset)


# -- parts ----------------------------------------------------------------------------------


def select(impl: TensorImpl, dim: AnyInt, index: AnyInt) -> TensorImpl:
    """One index of a dimension."""
    array = impl.array
    if type(dim) is int and type(index) is int:
        layout = impl.layout
        if layout is None:
            layout = impl.find_layout()
        try:
            # The ellipsis makes a 0-d result an array, not a number.
            if dim == 0 and layout is not PECULIAR:
                row: Array = array[index, ...]
                from_start: int = index if index >= 0 else index + layout.shape[0]
                view = impl.alias(row, impl.byte_offset + from_start * layout.row_bytes)
                view.layout = layout.row or layout.find_row()
                return view
            if 0 <= dim < array.ndim:
                part: Array = array[(_ALL,) * dim + (index, ...)]
                if part.size:
                    from_start = index if index >= 0 else index + array.shape[dim]
                    return impl.alias(part, impl.byte_offset + from_start * array.strides[dim])
        except IndexError:
            pass  # what is wrong is said below
    return alias_at(
        impl, *select_geometry(impl.sizes, impl.strides, impl.storage_offset, dim, index)
    )


def slice(
    impl: TensorImpl,
    dim: AnyInt = 0,
    start: AnyInt | None = None,
    end: AnyInt | None = None,
    step: AnyInt = 1,
) -> TensorImpl:
    """A range of a dimension."""
    array = impl.array
    if (
        type(dim) is int
        and 0 <= dim < array.ndim
        and (type(start) is int or start is None)
        and (type(end) is int or end is None)
        and type(step) is int
        and step > 0
    ):
        try:
            part: Array = (
                array[(_ALL,) * dim + (_Slice(start, end, step),)] if dim else array[start:end:step]
            )
        except IndexError:
            pass  # what is wrong is said below
        else:
            if part.size:
                first: int = start or 0
                if first < 0:
                    first = max(first + array.shape[dim], 0)
                return impl.alias(part, impl.byte_offset + first * array.strides[dim])
    return alias_at(
        impl, *slice_geometry(impl.sizes, impl.strides, impl.storage_offset, dim, start, end, step)
    )


def diagonal(
    impl: TensorImpl, offset: AnyInt = 0, dim1: AnyInt = 0, dim2: AnyInt = 1
) -> TensorImpl:
    """A diagonal over two dimensions, as the last one."""
    return alias_at(
        impl,
        *diagonal_geometry(impl.sizes, impl.strides, impl.storage_offset, offset, dim1, dim2),
    )


def unfold(impl: TensorImpl, dimension: AnyInt, size: AnyInt, step: AnyInt) -> TensorImpl:
    """All windows of a dimension; their elements come as a new last dimension."""
    sizes, strides = unfold_geometry(impl.sizes, impl.strides, dimension, size, step)
    return alias_at(impl, sizes, strides, impl.storage_offset)


def split_with_sizes(
    impl: TensorImpl, split_sizes: Sequence[int], dim: AnyInt = 0
) -> list[TensorImpl]:
    """Pieces of the given sizes along a dimension."""
    size = _size_to_cut(impl, dim, "split")
    split_sizes = tuple(map(operator.index, split_sizes))
    if any(piece < 0 for piece in split_sizes):
        raise ShapeError(
            f"the size {min(split_sizes)} among the sizes {list(split_sizes)} is negative",
            split_sizes=split_sizes,
            size=size,
        )
    if sum(split_sizes) != size:
        raise ShapeError(
            f"the sizes {list(split_sizes)} do not add up to {size}, the size of dimension {dim}",
            split_sizes=split_sizes,
            size=size,
        )
    pieces: list[TensorImpl] = []
    start = 0
    for piece in split_sizes:
        pieces.append(slice(impl, dim, start, start + piece))
        start += piece
    return pieces


def split_equal(impl: TensorImpl, split_size: AnyInt, dim: AnyInt = 0) -> list[TensorImpl]:
    """Pieces of one size along a dimension, the last perhaps smaller."""
    return split_with_sizes(impl, split_sizes(_size_to_cut(impl, dim, "split"), split_size), dim)


def unbind(impl: TensorImpl, dim: AnyInt = 0) -> list[TensorImpl]:
    """All indices of a dimension."""
    size = _size_to_cut(impl, dim, "unbind")
    check_pieces(size)
    return [select(impl, dim, index) for index in range(size)]


def _size_to_cut(impl: TensorImpl, dim: AnyInt, name: str) -> int:
    sizes = impl.sizes
    if not sizes:
        raise (DimensionError if name == "unbind" else ShapeError)(
            f"cannot {name} a 0-d tensor: it needs at least 1 dimension", ndim=0
        )
    return sizes[normalize_dim(dim, len(sizes))]


def view_dtype(impl: TensorImpl, dtype: NumpyDType) -> TensorImpl:
    """The bytes of memory as elements of another dtype.

    If elements become smaller or larger, so many more or fewer are in the last dimension, whose
    elements must lie side by side.

    Raises
    ------
    DTypeError
        For lazy conjugates and negatives, whose values are not in memory.
    ShapeError
        If elements of the new size do not begin where they must.
    """
    own = impl.array
    if type(own) not in PLAIN:
        raise DTypeError(
            "a lazily conjugated or negated tensor cannot be viewed as another dtype: its values "
            "are not in memory; use resolve_conj() or resolve_neg() first",
            dtype=dtype_of(own.dtype),
        )
    sizes, strides, offset = impl.sizes, impl.strides, impl.storage_offset
    old, new = own.itemsize, dtype.itemsize
    if old != new:
        names = f"a view of {dtype_of(own.dtype).name} as {dtype_of(dtype).name}"
        if not sizes or strides[-1] != 1:
            raise ShapeError(
                f"{names} needs a last dimension of stride 1, got strides {list(strides)}",
                strides=strides,
            )
        if new < old:
            ratio = old // new
            sizes = (*sizes[:-1], sizes[-1] * ratio)
            strides = (*[s * ratio for s in strides[:-1]], 1)
            offset *= ratio
        else:
            ratio = new // old
            if sizes[-1] % ratio or offset % ratio or any(s % ratio for s in strides[:-1]):
                raise ShapeError(
                    f"{names} needs a last size, an offset and other strides that are multiples "
                    f"of {ratio}, got shape {list(sizes)}, strides {list(strides)} and offset "
                    f"{offset}",
                    shape=sizes,
                    strides=strides,
                    offset=offset,
                )
            sizes = (*sizes[:-1], sizes[-1] // ratio)
            strides = (*[s // ratio for s in strides[:-1]], 1)
            offset //= ratio
    array = impl.storage.strided(dtype, sizes, strides, offset)
    if not own.flags.writeable:
        # The memory may be writable, see Note [Read-only memory].
        array.flags.writeable = False
    return impl.alias(array, impl.byte_offset, strides)
