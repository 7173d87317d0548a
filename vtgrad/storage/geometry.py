"""Geometry: sizes, strides and offsets of views, as pure functions on tuples of integers.

A tensor's geometry selects elements of its storage. Every view operator is one function here that
computes the new geometry from the old one and validates its arguments; none touches memory. Strides
and offsets count elements. `shapes` (dimension numbers, broadcasting), `strides` (dense or not,
reach, bounds) and `overlap` (which elements share memory) hold the groundwork and are re-exported
here.
"""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.errors import OutOfRangeError, ShapeError
from vtgrad.storage.arrays import Shape
from vtgrad.storage.integers import integer
from vtgrad.storage.overlap import (
    Geometry,
    Overlap,
    covers,
    every_byte,
    has_self_overlap,
    meets,
    overlap,
)
from vtgrad.storage.shapes import (
    broadcast_shapes,
    check_pieces,
    expand_sizes,
    flatten_sizes,
    infer_size,
    normalize_dim,
    normalize_dims,
    split_sizes,
    unflatten_sizes,
)
from vtgrad.storage.slice_bounds import slice_bounds, slice_of
from vtgrad.storage.strides import (
    check_in_bounds,
    clone_strides,
    contiguous_strides,
    dense_strides_in_order,
    is_contiguous,
    is_non_overlapping_and_dense,
    memory_order,
    numel,
    reach,
)

__all__ = [
    "Geometry",
    "Overlap",
    "broadcast_shapes",
    "check_in_bounds",
    "check_pieces",
    "clone_strides",
    "contiguous_strides",
    "covers",
    "dense_strides_in_order",
    "diagonal_geometry",
    "every_byte",
    "expand_geometry",
    "expand_sizes",
    "flatten_sizes",
    "has_self_overlap",
    "infer_size",
    "is_contiguous",
    "is_non_overlapping_and_dense",
    "meets",
    "memory_order",
    "movedim_order",
    "narrow_geometry",
    "normalize_dim",
    "normalize_dims",
    "numel",
    "overlap",
    "permute_geometry",
    "reach",
    "select_geometry",
    "slice_bounds",
    "slice_geometry",
    "slice_of",
    "split_sizes",
    "squeeze_geometry",
    "steps_through",
    "transpose_geometry",
    "unflatten_sizes",
    "unfold_geometry",
    "unsqueeze_geometry",
    "view_strides",
]


# -- all elements, other sizes --------------------------------------------------------------


def view_strides(sizes: Shape, strides: Shape, new_sizes: Shape) -> Shape | None:
    """The strides that show the same elements, in row-major order, in another shape.

    None when no strides do, that is when a new dimension would have to step through memory
    unevenly. `new_sizes` must have as many elements as `sizes`.

    >>> view_strides((2, 3), (3, 1), (6,))
    (1,)
    >>> view_strides((3, 2), (1, 3), (6,)) is None
    True
    """
    if 0 in sizes:
        return strides if sizes == new_sizes else contiguous_strides(new_sizes)
    if not sizes:
        return (1,) * len(new_sizes)
    # Runs: maximal groups of old dimensions that step evenly through memory, innermost first.
    # New dimensions are cut from them; none may span two runs.
    result = [1] * len(new_sizes)
    new_dim = len(new_sizes) - 1
    dim = len(sizes) - 1
    while dim >= 0:
        run_stride, run_count = strides[dim], sizes[dim]
        while dim > 0 and (sizes[dim - 1] == 1 or strides[dim - 1] == run_count * run_stride):
            dim -= 1
            run_count *= sizes[dim]
        dim -= 1
        taken = 1
        while new_dim >= 0 and (taken < run_count or new_sizes[new_dim] == 1):
            result[new_dim] = taken * run_stride
            taken *= new_sizes[new_dim]
            new_dim -= 1
        if taken != run_count:
            return None
    return tuple(result) if new_dim < 0 else None


def expand_geometry(sizes: Shape, strides: Shape, target: Sequence[int]) -> tuple[Shape, Shape]:
    """Sizes and strides after `expand`: repeated dimensions get stride 0.

    >>> expand_geometry((3, 1), (1, 1), (2, -1, 4))
    ((2, 3, 4), (0, 1, 0))
    """
    if type(target) is tuple and len(target) == len(sizes):
        # Without new dimensions one pass is enough; it leaves -1 and what is wrong to the others.
        repeated: list[int] = []
        for wanted, size, stride in zip(target, sizes, strides, strict=True):
            if type(wanted) is not int or not (wanted == size or (size == 1 and wanted >= 0)):
                break
            repeated.append(stride if wanted == size else 0)
        else:
            return target, tuple(repeated)
    new_sizes = expand_sizes(sizes, target)
    if not sizes:
        return new_sizes, (0,) * len(new_sizes)
    lead = len(new_sizes) - len(sizes)
    new_strides: list[int] = []
    for dim in range(len(new_sizes) - 1, -1, -1):
        wanted = new_sizes[dim]
        if dim >= lead:
            size, stride = sizes[dim - lead], strides[dim - lead]
        else:
            size = 1
            # The stride of a size-1 dimension put in front; visible only if the size stays 1.
            stride = new_sizes[dim + 1] * new_strides[-1] if new_strides else 1
        new_strides.append(stride if wanted == size else 0)
    return new_sizes, tuple(reversed(new_strides))


# -- dimensions rearranged ------------------------------------------------------------------


def permute_geometry(sizes: Shape, strides: Shape, dims: Sequence[int]) -> tuple[Shape, Shape]:
    """Sizes and strides with the dimensions in the order `dims`, each exactly once."""
    ndim = len(sizes)
    if len(dims) != ndim:
        raise ShapeError(
            f"permute of {ndim} dimension(s) needs as many numbers, got {tuple(dims)}",
            dims=tuple(dims),
            ndim=ndim,
        )
    order = normalize_dims(dims, ndim)
    return tuple([sizes[d] for d in order]), tuple([strides[d] for d in order])


def transpose_geometry(sizes: Shape, strides: Shape, dim0: int, dim1: int) -> tuple[Shape, Shape]:
    """Sizes and strides with two dimensions swapped; a 0-d geometry stays as it is."""
    ndim = len(sizes)
    a, b = normalize_dim(dim0, ndim), normalize_dim(dim1, ndim)
    if a == b:
        return sizes, strides
    new_sizes, new_strides = list(sizes), list(strides)
    new_sizes[a], new_sizes[b] = sizes[b], sizes[a]
    new_strides[a], new_strides[b] = strides[b], strides[a]
    return tuple(new_sizes), tuple(new_strides)


def movedim_order(ndim: int, source: Sequence[int], destination: Sequence[int]) -> Shape:
    """The order for `permute_geometry` that moves dimensions to new positions.

    >>> movedim_order(4, (0,), (2,))
    (1, 2, 0, 3)
    """
    if len(source) != len(destination):
        raise ShapeError(
            f"movedim needs as many destinations as sources, got {tuple(source)} and "
            f"{tuple(destination)}",
            source=tuple(source),
            destination=tuple(destination),
        )
    sources = tuple([normalize_dim(dim, ndim) for dim in source])
    destinations = tuple([normalize_dim(dim, ndim) for dim in destination])
    normalize_dims(sources, ndim)
    normalize_dims(destinations, ndim)
    at = dict(zip(destinations, sources, strict=True))
    others = iter([d for d in range(ndim) if d not in sources])
    return tuple([at[axis] if axis in at else next(others) for axis in range(ndim)])


def squeeze_geometry(
    sizes: Shape, strides: Shape, dims: Sequence[int] | None = None
) -> tuple[Shape, Shape]:
    """Sizes and strides without the size-1 dimensions, all of them or those among `dims`."""
    if dims is None:
        keep = [d for d, size in enumerate(sizes) if size != 1]
    elif len(dims) == 1:
        axis = normalize_dim(dims[0], len(sizes))
        if not sizes or sizes[axis] != 1:
            return sizes, strides
        after = axis + 1
        return (*sizes[:axis], *sizes[after:]), (*strides[:axis], *strides[after:])
    else:
        chosen = normalize_dims(dims, len(sizes))
        keep = [d for d, size in enumerate(sizes) if size != 1 or d not in chosen]
    return tuple([sizes[d] for d in keep]), tuple([strides[d] for d in keep])


def unsqueeze_geometry(sizes: Shape, strides: Shape, dim: int) -> tuple[Shape, Shape]:
    """Sizes and strides with a new dimension of size 1 at position `dim`."""
    ndim = len(sizes)
    axis = normalize_dim(dim, ndim + 1)
    stride = sizes[axis] * strides[axis] if axis < ndim else 1
    return (
        (*sizes[:axis], 1, *sizes[axis:]),
        (*strides[:axis], stride, *strides[axis:]),
    )


# -- parts ----------------------------------------------------------------------------------


def select_geometry(sizes: Shape, strides: Shape, offset: int, dim: int, index: int) -> Geometry:
    """The geometry at one index of a dimension, which disappears.

    Raises
    ------
    OutOfRangeError
        If the geometry is 0-d or `index` is outside the dimension.
    """
    if not sizes:
        raise OutOfRangeError("a 0-d tensor has no dimension to index", index=index, ndim=0)
    axis = normalize_dim(dim, len(sizes))
    size = sizes[axis]
    if type(index) is not int:
        index = integer(index)
    if not -size <= index < size:
        raise OutOfRangeError(
            f"index {index} is outside dimension {axis} of size {size}",
            index=index,
            dim=axis,
            size=size,
        )
    if index < 0:
        index += size
    return (
        (*sizes[:axis], *sizes[axis + 1 :]),
        (*strides[:axis], *strides[axis + 1 :]),
        offset + index * strides[axis],
    )


def slice_geometry(
    sizes: Shape,
    strides: Shape,
    offset: int,
    dim: int,
    start: int | None,
    end: int | None,
    step: int = 1,
) -> Geometry:
    """The geometry of ``start:end:step`` in one dimension.

    >>> slice_geometry((5,), (1,), 0, 0, None, None, -2)
    ((3,), (-2,), 4)
    """
    if not sizes:
        raise OutOfRangeError("a 0-d tensor has no dimension to slice", ndim=0)
    axis = normalize_dim(dim, len(sizes))
    first, count = slice_bounds(sizes[axis], start, end, step)
    stride = strides[axis]
    # A slice of one element has no direction: its stride is positive.
    taken = abs(step) if count < 2 else step
    return (
        (*sizes[:axis], count, *sizes[axis + 1 :]),
        (*strides[:axis], stride * taken, *strides[axis + 1 :]),
        offset + first * stride,
    )


def narrow_geometry(
    sizes: Shape, strides: Shape, offset: int, dim: int, start: int, length: int
) -> Geometry:
    """The geometry of `length` elements from `start` in one dimension; nothing is clamped.

    Raises
    ------
    ShapeError
        If the geometry is 0-d, `length` is negative, or the part leaves the dimension.
    OutOfRangeError
        If `start` is outside the dimension.
    """
    if not sizes:
        raise ShapeError("a 0-d tensor has no dimension to narrow", ndim=0)
    if type(start) is not int or type(length) is not int:
        start, length = integer(start), integer(length)
    if length < 0:
        raise ShapeError(f"narrow's length must not be negative, got {length}", length=length)
    axis = normalize_dim(dim, len(sizes))
    size = sizes[axis]
    if not -size <= start <= size:
        raise OutOfRangeError(
            f"narrow's start {start} is outside dimension {axis} of size {size}",
            index=start,
            dim=axis,
            size=size,
        )
    first = start + size if start < 0 else start
    if first + length > size:
        raise ShapeError(
            f"narrow from {start} with length {length} leaves dimension {axis} of size {size}",
            start=start,
            length=length,
            dim=axis,
            size=size,
        )
    return slice_geometry(sizes, strides, offset, axis, first, first + length)


def diagonal_geometry(
    sizes: Shape, strides: Shape, offset: int, diagonal: int = 0, dim1: int = 0, dim2: int = 1
) -> Geometry:
    """The geometry of a diagonal of two dimensions, which it replaces; the diagonal comes last."""
    ndim = len(sizes)
    a, b = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
    if a == b:
        raise ShapeError(
            f"a diagonal needs two different dimensions, got {dim1} and {dim2}",
            dim1=dim1,
            dim2=dim2,
        )
    if type(diagonal) is not int:
        diagonal = integer(diagonal)
    if diagonal >= 0:
        length = max(min(sizes[a], sizes[b] - diagonal), 0)
        skipped = diagonal * strides[b]
    else:
        length = max(min(sizes[a] + diagonal, sizes[b]), 0)
        skipped = -diagonal * strides[a]
    rest = [d for d in range(ndim) if d not in (a, b)]
    return (
        (*[sizes[d] for d in rest], length),
        (*[strides[d] for d in rest], strides[a] + strides[b]),
        # An empty diagonal has no first element: the offset must not leave the storage.
        offset + (skipped if length else 0),
    )


def unfold_geometry(
    sizes: Shape, strides: Shape, dimension: int, size: int, step: int
) -> tuple[Shape, Shape]:
    """Sizes and strides of all windows of `size` in one dimension, `step` apart.

    The elements of a window are a new last dimension; windows may share elements.
    """
    ndim = len(sizes)
    axis = normalize_dim(dimension, ndim)
    extent = sizes[axis] if ndim else 1
    size, step = integer(size), integer(step)
    if size < 0 or size > extent or step <= 0:
        raise ShapeError(
            f"windows of size {size} with step {step} do not fit a dimension of size {extent}",
            dim=axis,
            size=size,
            step=step,
        )
    if ndim == 0:
        return (size,), (1,)
    windows = (extent - size) // step + 1
    return (
        (*sizes[:axis], windows, *sizes[axis + 1 :], size),
        (*strides[:axis], strides[axis] * step, *strides[axis + 1 :], strides[axis]),
    )


def steps_through(whole: Geometry, part: Geometry) -> tuple[Shape, tuple[Shape, ...]] | None:
    """The index at which a part starts in the whole, and the index steps of each of its dimensions.

    Element ``i`` of the part is element ``start + sum(i[k] * steps[k])`` of the whole, also in any
    copy of the whole. None if the part is not found to be of this kind: it reaches outside, runs
    over the end of a row, or has elements that lie between those of the whole.

    >>> steps_through(((3, 2), (1, 3), 0), ((3,), (1,), 3))
    ((0, 1), ((1, 0),))
    """
    start = _index_of(part[2] - whole[2], whole)
    if start is None:
        return None
    last = list(start)
    steps: list[Shape] = []
    for size, stride in zip(*part[:2], strict=True):
        step = _index_of(stride if size > 1 else 0, whole)
        if step is None:
            return None
        steps.append(step)
        last = [index + (size - 1) * k for index, k in zip(last, step, strict=True)]
    if any(index >= size for index, size in zip(last, whole[0], strict=True)):
        return None
    return start, tuple(steps)


def _index_of(distance: int, whole: Geometry) -> Shape | None:
    """The index steps that lead this far through memory, largest strides first."""
    sizes, strides, _ = whole
    index = [0] * len(sizes)
    for dim in sorted(range(len(sizes)), key=lambda d: -strides[d]):
        if sizes[dim] > 1 and strides[dim] > 0:
            index[dim], distance = divmod(distance, strides[dim])
    return tuple(index) if distance == 0 and min(index, default=0) >= 0 else None
