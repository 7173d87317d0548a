"""Reshaping and rearranging: views where strides allow it, copies elsewhere.

The methods take sizes and dimensions as separate integers or as one sequence, as in PyTorch.
"""

from collections.abc import Sequence
from typing import TypeVar

from vtgrad.errors import ArgumentTypeError, OutOfRangeError, ShapeError
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Shape
from vtgrad.storage.geometry import (
    broadcast_shapes,
    flatten_sizes,
    infer_size,
    movedim_order,
    narrow_geometry,
    normalize_dim,
    unflatten_sizes,
    view_strides,
)
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "adjoint",
    "broadcast_tensors",
    "broadcast_to",
    "chunk",
    "contiguous",
    "detach",
    "dsplit",
    "expand",
    "expand_as",
    "flatten",
    "hsplit",
    "moveaxis",
    "movedim",
    "narrow",
    "permute",
    "ravel",
    "reshape",
    "reshape_as",
    "split",
    "squeeze",
    "squeeze_",
    "swapaxes",
    "swapaxes_",
    "swapdims",
    "swapdims_",
    "tensor_split",
    "unflatten",
    "view",
    "view_as",
    "vsplit",
]

T = TypeVar("T", bound=TensorBase)


def numbers(given: Sequence[int | Sequence[int]], name: str) -> Shape:
    """Integers that were passed one by one or as one sequence."""
    if len(given) == 1 and isinstance(given[0], Sequence):
        return tuple(given[0])
    result: list[int] = []
    for number in given:
        if isinstance(number, Sequence) or not hasattr(number, "__index__"):
            raise ArgumentTypeError(
                f"{name} takes integers or one sequence of them, not {type(number).__name__}",
                value=number,
            )
        result.append(number)
    return tuple(result)


# -- another shape --------------------------------------------------------------------------


def view(self: T, *shape: int | Sequence[int]) -> T:
    """The same elements in another shape; always a view.

    Parameters
    ----------
    *shape : int
        One size may be -1: it is worked out from the others.

    Raises
    ------
    ShapeError
        If the number of elements differs, or the strides allow no such view.
    """
    return F.view_shape(self, numbers(shape, "view"))


def view_as(self: T, other: TensorBase) -> T:
    """The same elements in the shape of another tensor; a view."""
    return F.view_shape(self, other.shape)


def reshape(self: T, *shape: int | Sequence[int]) -> T:
    """The same elements in another shape; a view if strides allow it, else a copy.

    Parameters
    ----------
    *shape : int
        One size may be -1: it is worked out from the others.

    Raises
    ------
    ShapeError
        If the number of elements differs.
    """
    impl = self._impl
    sizes = infer_size(numbers(shape, "reshape"), impl.numel)
    if impl.is_contiguous:
        return F.view_shape(self, sizes)
    strides = view_strides(impl.sizes, impl.strides, sizes)
    if strides is None:
        return F._unsafe_view(F.clone(self, memory_format=MemoryFormat.CONTIGUOUS), sizes)
    return F._reshape_alias(self, sizes, strides)


def reshape_as(self: T, other: TensorBase) -> T:
    """The same elements in the shape of another tensor; a view if strides allow it."""
    return reshape(self, other.shape)


def flatten(self: T, start_dim: int = 0, end_dim: int = -1) -> T:
    """Some dimensions merged into one; the tensor itself if there is nothing to merge.

    Raises
    ------
    ShapeError
        If `start_dim` comes after `end_dim`.
    """
    sizes = flatten_sizes(self.shape, start_dim, end_dim)
    return self if len(sizes) == self.ndim else reshape(self, sizes)


def ravel(self: T) -> T:
    """All dimensions merged into one; a view if strides allow it, else a copy."""
    return F.view_shape(contiguous(self), (-1,)) if self.numel() else reshape(self, (0,))


def unflatten(self: T, dim: int, sizes: Sequence[int]) -> T:
    """One dimension split into several; a view.

    Raises
    ------
    ShapeError
        If the sizes do not multiply to the dimension's size.
    """
    return F.view_shape(self, unflatten_sizes(self.shape, dim, sizes))


def expand(self: T, *size: int | Sequence[int], implicit: bool = False) -> T:
    """Dimensions of size 1 repeated without a copy; new ones come in front.

    Parameters
    ----------
    *size : int
        -1 keeps a dimension as it is.

    Raises
    ------
    ShapeError
        If a dimension of another size than 1 would have to change.
    """
    return F.expand_sizes(self, numbers(size, "expand"), implicit=implicit)


def expand_as(self: T, other: TensorBase) -> T:
    """`expand` to the shape of another tensor."""
    return F.expand_sizes(self, other.shape)


def broadcast_to(self: T, size: Sequence[int]) -> T:
    """`expand` to a shape."""
    return F.expand_sizes(self, tuple(size))


def broadcast_tensors(*tensors: T | Sequence[T]) -> tuple[T, ...]:
    """All tensors expanded to their common shape: views, or the very tensors that have it."""
    each: list[T] = []
    for given in tensors:
        if isinstance(given, TensorBase):
            each.append(given)
        else:
            each.extend(given)
    shape = broadcast_shapes(*[x.shape for x in each])
    return tuple([x if x.shape == shape else F.expand_sizes(x, shape) for x in each])


def contiguous(self: T, *, memory_format: MemoryFormat = MemoryFormat.CONTIGUOUS) -> T:
    """The tensor itself if it is row-major without gaps, else a copy that is."""
    if memory_format is MemoryFormat.CONTIGUOUS and not self._impl.is_contiguous:
        return F.clone(self, memory_format=MemoryFormat.CONTIGUOUS)
    return self


def detach(input: T) -> T:
    """A tensor on the same memory and version, without a producer; no view."""
    impl = input._impl
    alias = impl.alias(impl.array, impl.byte_offset, impl._strides)
    alias.allow_tensor_metadata_change = False
    return input._wrap(alias)


# -- another order --------------------------------------------------------------------------


def permute(self: T, *dims: int | Sequence[int]) -> T:
    """The dimensions in another order; a view.

    Raises
    ------
    ShapeError
        If `dims` does not name every dimension once.
    """
    return F.permute_dims(self, numbers(dims, "permute"))


def movedim(self: T, source: int | Sequence[int], destination: int | Sequence[int]) -> T:
    """Some dimensions moved to other places, the rest in their old order; a view."""
    sources = (source,) if isinstance(source, int) else tuple(source)
    places = (destination,) if isinstance(destination, int) else tuple(destination)
    if self.ndim == 0:
        movedim_order(1, sources, places)
        return F.alias(self)
    return F.permute_dims(self, movedim_order(self.ndim, sources, places))


def moveaxis(self: T, source: int | Sequence[int], destination: int | Sequence[int]) -> T:
    """Another name of `movedim`."""
    return movedim(self, source, destination)


def swapaxes(self: T, axis0: int, axis1: int) -> T:
    """Two dimensions exchanged; a view."""
    return F.transpose(self, axis0, axis1)


def swapdims(self: T, dim0: int, dim1: int) -> T:
    """Two dimensions exchanged; a view."""
    return F.transpose(self, dim0, dim1)


def swapaxes_(self: T, axis0: int, axis1: int) -> T:
    """Exchange two dimensions of the tensor itself."""
    return F.transpose_(self, axis0, axis1)


def swapdims_(self: T, dim0: int, dim1: int) -> T:
    """Exchange two dimensions of the tensor itself."""
    return F.transpose_(self, dim0, dim1)


def adjoint(self: T) -> T:
    """The last two dimensions exchanged, complex values conjugated; a view if real.

    Raises
    ------
    ShapeError
        If there are fewer than 2 dimensions.
    """
    if self.ndim < 2:
        raise ShapeError(f"adjoint needs at least 2 dimensions, got {self.ndim}", ndim=self.ndim)
    return F.conj(F.transpose(self, -2, -1))


def squeeze(self: T, dim: int | Sequence[int] | None = None) -> T:
    """Dimensions of size 1 taken away, all of them or those among `dim`; a view."""
    if dim is None:
        return F.squeeze_all(self)
    return F.squeeze_dim(self, dim) if isinstance(dim, int) else F.squeeze_dims(self, tuple(dim))


def squeeze_(self: T, dim: int | Sequence[int] | None = None) -> T:
    """Take away dimensions of size 1 of the tensor itself."""
    if dim is None:
        return F.squeeze_all_(self)
    if isinstance(dim, int):
        return F.squeeze_dim_(self, dim)
    return F.squeeze_dims_(self, tuple(dim))


# -- parts ----------------------------------------------------------------------------------


def narrow(self: T, dim: int, start: int | TensorBase, length: int) -> T:
    """`length` elements of a dimension from `start` on; a view.

    Parameters
    ----------
    start : int or 0-d integer tensor
        May be negative: counted from the end.

    Raises
    ------
    ShapeError
        If the part leaves the dimension; nothing is clamped.
    OutOfRangeError
        If `start` is outside the dimension.
    """
    impl = self._impl
    first = start if isinstance(start, int) else _one_integer(start, "narrow's start")
    narrow_geometry(impl.sizes, impl.strides, impl.storage_offset, dim, first, length)
    if first < 0:
        first += impl.sizes[normalize_dim(dim, len(impl.sizes))]
    return F.slice(self, dim, first, first + length, 1)


def split(self: T, split_size: int | Sequence[int], dim: int = 0) -> tuple[T, ...]:
    """Pieces along a dimension, of one size (the last perhaps smaller) or of given sizes.

    They are the results of one operator, so none of them may be written in place.
    """
    if isinstance(split_size, int):
        return F.split_equal(self, split_size, dim)
    return F.split_with_sizes(self, tuple(split_size), dim)


def chunk(self: T, chunks: int, dim: int = 0) -> tuple[T, ...]:
    """At most `chunks` pieces of one size along a dimension, the last perhaps smaller.

    Raises
    ------
    ShapeError
        If the tensor is 0-d or `chunks` is not positive.
    """
    if self.ndim == 0:
        raise ShapeError("chunk needs at least 1 dimension, got a 0-d tensor", ndim=0)
    if chunks <= 0:
        raise ShapeError(f"chunk needs a positive number of pieces, got {chunks}", chunks=chunks)
    size = self.shape[normalize_dim(dim, self.ndim)]
    if size == 0:
        return F.split_with_sizes(self, (0,) * chunks, dim)
    return F.split_equal(self, -(-size // chunks), dim)


def tensor_split(
    self: T, indices_or_sections: int | Sequence[int] | TensorBase, dim: int = 0
) -> tuple[T, ...]:
    """Pieces along a dimension, by their number or by the places of the cuts; views.

    Each piece is a slice of its own: unlike the pieces of `split` it may be written in place.

    Raises
    ------
    ShapeError
        If the tensor is 0-d or the number of pieces is not positive.
    """
    if self.ndim == 0:
        raise ShapeError("tensor_split needs at least 1 dimension, got a 0-d tensor", ndim=0)
    axis = normalize_dim(dim, self.ndim)
    parts = _cuts(indices_or_sections)
    if not isinstance(parts, int):
        cuts = [0, *parts]
        ends: list[int | None] = [*parts, None]
        return tuple([F.slice(self, axis, a, b, 1) for a, b in zip(cuts, ends, strict=True)])
    sections, size = parts, self.shape[axis]
    if sections <= 0:
        raise ShapeError(
            f"tensor_split needs a positive number of pieces, got {sections}", sections=sections
        )
    pieces: list[T] = []
    start = 0
    for place in range(sections):
        end = start + size // sections + (place < size % sections)
        pieces.append(F.slice(self, axis, start, end, 1))
        start = end
    return tuple(pieces)


def _cuts(given: int | Sequence[int] | TensorBase) -> int | Sequence[int]:
    """The number of pieces or the places of the cuts, which may come as a tensor."""
    if not isinstance(given, TensorBase):
        return given
    array = given._impl.array
    if array.dtype != "int64" or array.ndim > 1:
        raise ShapeError(
            "tensor_split takes a 0-d or 1-d tensor of int64, got shape "
            f"{list(array.shape)} and {array.dtype}",
            shape=array.shape,
        )
    parts: int | list[int] = array.tolist()
    return parts


def hsplit(self: T, indices_or_sections: int | Sequence[int]) -> tuple[T, ...]:
    """`tensor_split` along dimension 1, or 0 if there is only one."""
    return _named_split(self, indices_or_sections, 0 if self.ndim == 1 else 1, 1, "hsplit")


def vsplit(self: T, indices_or_sections: int | Sequence[int]) -> tuple[T, ...]:
    """`tensor_split` along dimension 0."""
    return _named_split(self, indices_or_sections, 0, 2, "vsplit")


def dsplit(self: T, indices_or_sections: int | Sequence[int]) -> tuple[T, ...]:
    """`tensor_split` along dimension 2."""
    return _named_split(self, indices_or_sections, 2, 3, "dsplit")


def _named_split(
    self: T, parts: int | Sequence[int], dim: int, least: int, name: str
) -> tuple[T, ...]:
    if self.ndim < least:
        raise ShapeError(
            f"{name} needs at least {least} dimension(s), got {self.ndim}", ndim=self.ndim
        )
    if isinstance(parts, int) and (parts <= 0 or self.shape[dim] % parts):
        raise ShapeError(
            f"{name} needs pieces of one size, but {self.shape[dim]} is no multiple of {parts}",
            size=self.shape[dim],
            sections=parts,
        )
    return tensor_split(self, parts, dim)


def _one_integer(value: TensorBase, what: str) -> int:
    array = value._impl.array
    if array.ndim or array.dtype.kind not in "iu":
        raise OutOfRangeError(
            f"{what} must be an integer or a 0-d integer tensor", shape=array.shape
        )
    return int(array)
