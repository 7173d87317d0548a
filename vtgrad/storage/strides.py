# Compiled by mypyc.
"""Strides: contiguity, density, the strides of a copy, and the range of memory they span.

Pure functions on tuples of Python integers. All numbers count elements, not bytes; Python's
integers are exact, so no geometry is too large to be checked.

The loops that each write runs count dimensions: compiled, a `zip` that checks lengths is an
object of Python.
"""

from __future__ import annotations

from typing import Final

from vtgrad.errors import NotSupportedError, OutOfBoundsError, ShapeError
from vtgrad.storage.arrays import Shape

__all__ = [
    "MAX_DIMS",
    "channels_last_strides",
    "check_in_bounds",
    "check_sizes",
    "clone_strides",
    "contiguous_strides",
    "dense_strides_in_order",
    "is_channels_last",
    "is_channels_last_contiguous",
    "is_contiguous",
    "is_non_overlapping_and_dense",
    "memory_order",
    "numel",
    "reach",
]

# The largest element count that NumPy and the allocator can address.
_MAX_ELEMENTS: Final = 2**63 - 1
# NumPy's limit.
MAX_DIMS: Final = 64


def numel(sizes: Shape) -> int:
    """The number of elements of a shape; 1 for the empty shape."""
    count = 1
    for size in sizes:
        count *= size
    return count


def contiguous_strides(sizes: Shape) -> Shape:
    """Row-major strides; a dimension of size 0 counts as one of size 1.

    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    >>> contiguous_strides((2, 0, 4))
    (4, 4, 1)
    """
    ndim = len(sizes)
    if ndim == 1:
        return (1,)
    strides = [1] * ndim
    running = 1
    for dim in range(ndim - 1, -1, -1):
        strides[dim] = running
        size = sizes[dim]
        if size > 1:
            running *= size
    return tuple(strides)


def is_contiguous(sizes: Shape, strides: Shape) -> bool:
    """Whether the elements lie row-major without gaps; strides of size-1 dims do not count.

    A geometry without elements is contiguous whatever its strides are.
    """
    if 0 in sizes:
        return True
    expected = 1
    for dim in range(len(sizes) - 1, -1, -1):
        size = sizes[dim]
        if size != 1:
            if strides[dim] != expected:
                return False
            expected *= size
    return True


def is_non_overlapping_and_dense(sizes: Shape, strides: Shape) -> bool:
    """Whether the elements fill one block of memory exactly, in any order of the dimensions."""
    if is_contiguous(sizes, strides):
        return True
    span = count = 1
    for dim in range(len(sizes)):
        span += (sizes[dim] - 1) * strides[dim]
        count *= sizes[dim]
    if span != count:
        return False
    expected = 1
    for stride, size in sorted((stride, size) for size, stride in zip(sizes, strides, strict=True)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def memory_order(sizes: Shape, *operands: Shape) -> tuple[int, ...]:
    """The dimensions from innermost to outermost, as the operands' strides order them.

    The first operand that distinguishes two dimensions decides their order: the smaller stride is
    the inner one, and with equal strides the smaller size. A stride of 0 decides nothing.
    Dimensions that no operand distinguishes stay row-major.

    Not a sort by a key: "not distinguished" is not transitive, so the result is defined by
    insertion, one dimension after another from the last to the first.
    """
    order = list(range(len(sizes) - 1, -1, -1))
    for position in range(1, len(order)):
        here = position
        for there in range(position - 1, -1, -1):
            verdict = _compare(order[there], order[here], sizes, operands)
            if verdict > 0:
                order[there], order[here] = order[here], order[there]
                here = there
            elif verdict < 0:
                break
    return tuple(order)


def _compare(a: int, b: int, sizes: Shape, operands: tuple[Shape, ...]) -> int:
    """1 if dimension `a` belongs outside `b`, -1 if inside, 0 if undecided."""
    for strides in operands:
        # A negative stride gives the same memory order as a positive one.
        sa, sb = abs(strides[a]), abs(strides[b])
        if sa == 0 or sb == 0:
            continue
        if sa != sb:
            return 1 if sa > sb else -1
        if sizes[a] > sizes[b]:
            return 1
    return 0


def dense_strides_in_order(sizes: Shape, order: tuple[int, ...]) -> Shape:
    """Gapless strides for dimensions listed from innermost to outermost."""
    strides = [1] * len(sizes)
    running = 1
    for dim in order:
        strides[dim] = running
        if sizes[dim] > 1:
            running *= sizes[dim]
    return tuple(strides)


def clone_strides(sizes: Shape, strides: Shape) -> Shape:
    """The strides of a copy that preserves the format of its source.

    A dense source keeps its strides, whatever the order of its dimensions. A source with gaps
    or repeated elements gets gapless strides in the same memory order.

    >>> clone_strides((3, 2), (1, 3))
    (1, 3)
    >>> clone_strides((2, 3), (0, 1))
    (3, 1)
    """
    if is_non_overlapping_and_dense(sizes, strides):
        return strides
    return dense_strides_in_order(sizes, memory_order(sizes, strides))


def is_channels_last(sizes: Shape, strides: Shape) -> bool:
    """Whether the channels, dimension 1 of 4 or 5, are the innermost one, and the batch outermost.

    The dimensions between them keep their order. Gaps do not matter. Strides of size-1 dimensions
    count, and one image of one pixel is not channels last.

    >>> is_channels_last((2, 3, 4, 5), (60, 1, 15, 3))
    True
    """
    if strides[1] == 0:
        return False
    least = 0
    for dim in _channels_last_order(len(sizes)):
        if sizes[dim] == 0 or strides[dim] < least or (dim == 0 and least == strides[1]):
            return False
        least = strides[dim] * sizes[dim]
    return True


def is_channels_last_contiguous(sizes: Shape, strides: Shape) -> bool:
    """Whether `is_channels_last` holds without gaps; strides of size-1 dimensions do not count.

    Unlike for row-major order, the strides also decide for tensors without elements.

    >>> is_channels_last_contiguous((1, 3, 1, 1), (3, 1, 1, 1))
    True
    """
    expected = 1
    for dim in _channels_last_order(len(sizes)):
        if sizes[dim] != 1:
            if strides[dim] != expected:
                return False
            expected *= sizes[dim]
    return True


def channels_last_strides(sizes: Shape) -> Shape:
    """Gapless strides of 4 or 5 dimensions with the channels, dimension 1, innermost."""
    strides = [1] * len(sizes)
    running = 1
    for dim in _channels_last_order(len(sizes)):
        strides[dim] = running
        running *= sizes[dim]
    return tuple(strides)


def _channels_last_order(ndim: int) -> tuple[int, ...]:
    return (1, *range(ndim - 1, 1, -1), 0)


def reach(sizes: Shape, strides: Shape, offset: int = 0) -> tuple[int, int]:
    """The lowest and the highest position of an element.

    Exact, also for negative strides. Without elements the highest position is one less than the
    lowest, ``(offset, offset - 1)``.

    >>> reach((2, 3), (10, 1), 5)
    (5, 17)
    """
    low = high = offset
    for dim in range(len(sizes)):
        size, stride = sizes[dim], strides[dim]
        if size == 0:
            return offset, offset - 1
        if stride >= 0:
            high += stride * (size - 1)
        else:
            low += stride * (size - 1)
    return low, high


def check_sizes(sizes: Shape, itemsize: int) -> None:
    """Refuse sizes that no array can have.

    Raises
    ------
    ShapeError
        If a size is negative, or the sizes multiply to more bytes than memory can have; as in
        NumPy, also when another size is 0.
    NotSupportedError
        If there are more dimensions than NumPy allows.
    """
    if sizes and min(sizes) < 0:
        raise ShapeError(f"a size is negative in {list(sizes)}", sizes=sizes)
    if len(sizes) > MAX_DIMS:
        raise NotSupportedError(
            f"{len(sizes)} dimensions are more than NumPy's limit of {MAX_DIMS}", sizes=sizes
        )
    if numel(tuple([size for size in sizes if size])) * itemsize > _MAX_ELEMENTS:
        raise ShapeError(f"sizes {list(sizes)} are more than memory can have", sizes=sizes)


def check_in_bounds(
    sizes: Shape,
    strides: Shape,
    offset: int,
    storage_elements: int,
    *,
    backwards: bool = False,
) -> None:
    """Refuse a geometry that is malformed or reaches outside its storage.

    Parameters
    ----------
    backwards : bool
        Whether strides may be negative, as those of slices with a negative step.

    Raises
    ------
    OutOfBoundsError
        If sizes and strides differ in number, a size, stride or the offset is negative, or an
        element lies before the storage, or at or after `storage_elements`.
    """
    if offset >= 0 and len(sizes) == len(strides):
        # The usual geometries need one pass.
        last, count = offset, 1
        for size, stride in zip(sizes, strides, strict=True):
            if size <= 0 or not 0 <= stride <= _MAX_ELEMENTS:
                break
            last += (size - 1) * stride
            count *= size
        else:
            if last < storage_elements and count <= _MAX_ELEMENTS:
                return
    if len(sizes) != len(strides):
        raise OutOfBoundsError(
            f"{len(sizes)} sizes {sizes} cannot go with {len(strides)} strides {strides}",
            sizes=sizes,
            strides=strides,
        )
    if offset < 0 or (sizes and (min(sizes) < 0 or (min(strides) < 0 and not backwards))):
        raise OutOfBoundsError(
            "sizes, strides and the storage offset must not be negative, "
            f"got sizes {sizes}, strides {strides}, offset {offset}",
            sizes=sizes,
            strides=strides,
            offset=offset,
        )
    if numel(sizes) > _MAX_ELEMENTS:
        raise OutOfBoundsError(
            f"a geometry of sizes {sizes} has more elements than memory can have", sizes=sizes
        )
    if 0 in sizes:
        if offset > _MAX_ELEMENTS or any(abs(s) > _MAX_ELEMENTS for s in strides):
            raise OutOfBoundsError(
                f"strides {strides} or offset {offset} are more than memory can have",
                strides=strides,
                offset=offset,
            )
        return
    lowest, highest = reach(sizes, strides, offset)
    if lowest < 0 or highest >= storage_elements:
        outside = lowest if lowest < 0 else highest
        raise OutOfBoundsError(
            f"sizes {sizes}, strides {strides} and offset {offset} reach element {outside}, but "
            f"the storage has {storage_elements} elements",
            sizes=sizes,
            strides=strides,
            offset=offset,
            highest=highest,
            storage_elements=storage_elements,
        )
    if any(abs(s) > _MAX_ELEMENTS for s in strides):
        raise OutOfBoundsError(f"strides {strides} are more than memory can have", strides=strides)
