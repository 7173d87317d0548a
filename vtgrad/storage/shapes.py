"""Shapes and dimension numbers: normalising, broadcasting, inferring.

Pure functions on tuples of integers that need no strides.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Final

from vtgrad.errors import DimensionError, ShapeError
from vtgrad.storage.arrays import Shape
from vtgrad.storage.integers import integer
from vtgrad.storage.strides import numel

__all__ = [
    "broadcast_shapes",
    "check_pieces",
    "expand_sizes",
    "flatten_sizes",
    "infer_size",
    "normalize_dim",
    "normalize_dims",
    "split_sizes",
    "unflatten_sizes",
]


_MOST_PIECES: Final = 2**24


def normalize_dim(dim: int, ndim: int) -> int:
    """A dimension number counted from the front; a 0-d tensor accepts 0 and -1.

    Raises
    ------
    DimensionError
        If `dim` is not in ``[-ndim, ndim - 1]``.
    """
    # NumPy's integers are accepted, but a geometry contains only Python's.
    if type(dim) is not int:
        dim = integer(dim)
    if 0 <= dim < ndim:
        return dim
    extent = ndim if ndim > 0 else 1
    if not -extent <= dim < extent:
        raise DimensionError(
            f"dimension {dim} does not exist: with {ndim} dimension(s) it must be between "
            f"{-extent} and {extent - 1}",
            dim=dim,
            ndim=ndim,
        )
    return dim + extent if dim < 0 else dim


def normalize_dims(dims: Sequence[int], ndim: int) -> tuple[int, ...]:
    """Several dimension numbers counted from the front; `ShapeError` if one comes twice."""
    result = tuple([normalize_dim(dim, ndim) for dim in dims])
    if len(set(result)) != len(result):
        raise ShapeError(f"a dimension appears more than once in {tuple(dims)}", dims=tuple(dims))
    return result


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all shapes broadcast to; `ShapeError` if there is none.

    >>> broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    result = shapes[0] if shapes else ()
    for shape in shapes[1:]:
        if shape != result:
            result = _broadcast_two(result, shape, shapes)
    return result


def _broadcast_two(a: Shape, b: Shape, shapes: tuple[Shape, ...]) -> Shape:
    if len(a) < len(b):
        a, b = b, a
    lead = len(a) - len(b)
    merged = list(a)
    for dim, size in enumerate(b, lead):
        if size != merged[dim]:
            if merged[dim] == 1:
                merged[dim] = size
            elif size != 1:
                raise ShapeError(
                    f"shapes {' and '.join(map(str, shapes))} do not broadcast: sizes "
                    f"{merged[dim]} and {size} meet in dimension {dim}",
                    shapes=shapes,
                    dim=dim,
                )
    return tuple(merged)


def infer_size(sizes: Sequence[int], count: int) -> Shape:
    """A requested shape with its one ``-1`` replaced, checked to hold `count` elements.

    Raises
    ------
    ShapeError
        If there is more than one -1 or another negative size, if the shape cannot hold `count`
        elements, or if -1 could be anything because another size is 0.
    """
    known = 1
    wildcard = -1
    for dim, size in enumerate(sizes):
        if size >= 0:
            known *= size
        elif size != -1:
            raise ShapeError(f"size {size} in shape {tuple(sizes)} is negative", sizes=tuple(sizes))
        elif wildcard >= 0:
            raise ShapeError(
                f"shape {tuple(sizes)} has more than one -1; only one can be inferred",
                sizes=tuple(sizes),
            )
        else:
            wildcard = dim
    if type(known) is not int:
        # NumPy's integers are accepted, but a geometry contains only Python's.
        return infer_size([operator.index(size) for size in sizes], count)
    if wildcard < 0:
        if known == count:
            return tuple(sizes)
    elif known == 0:
        if count == 0:
            raise ShapeError(
                f"the -1 in shape {tuple(sizes)} is ambiguous: without elements it can be any size",
                sizes=tuple(sizes),
            )
    elif count % known == 0:
        result = list(sizes)
        result[wildcard] = count // known
        return tuple(result)
    raise ShapeError(
        f"shape {tuple(sizes)} cannot hold exactly {count} element(s)",
        sizes=tuple(sizes),
        numel=count,
    )


def flatten_sizes(sizes: Shape, start_dim: int, end_dim: int) -> Shape:
    """The shape after merging the dimensions from `start_dim` to `end_dim`, both included."""
    ndim = len(sizes)
    start, end = normalize_dim(start_dim, ndim), normalize_dim(end_dim, ndim)
    if start > end:
        raise ShapeError(
            f"flatten needs start_dim before end_dim, got {start_dim} and {end_dim}",
            start_dim=start_dim,
            end_dim=end_dim,
        )
    if ndim == 0:
        return (1,)
    return (*sizes[:start], numel(sizes[start : end + 1]), *sizes[end + 1 :])


def unflatten_sizes(sizes: Shape, dim: int, into: Sequence[int]) -> Shape:
    """The shape after splitting dimension `dim` into the sizes `into`, one of which may be -1."""
    axis = normalize_dim(dim, len(sizes))
    if not sizes:
        raise ShapeError("a 0-d tensor has no dimension to unflatten", ndim=0)
    if not into:
        raise ShapeError("unflatten needs at least one size", sizes=sizes)
    return (*sizes[:axis], *infer_size(into, sizes[axis]), *sizes[axis + 1 :])


def expand_sizes(sizes: Shape, target: Sequence[int]) -> Shape:
    """The shape that `expand` gives: -1 keeps a size, new dimensions come in front."""
    lead = len(target) - len(sizes)
    if lead < 0:
        raise ShapeError(
            f"shape {sizes} cannot expand to the {len(target)} dimension(s) of {tuple(target)}",
            sizes=sizes,
            target=tuple(target),
        )
    result: list[int] = []
    for dim, wanted in enumerate(target):
        size = sizes[dim - lead] if dim >= lead else 1
        if type(wanted) is not int:
            wanted = operator.index(wanted)
        if wanted == -1 and dim >= lead:
            wanted = size
        if wanted < 0 or (wanted != size and size != 1):
            raise ShapeError(
                f"shape {sizes} cannot expand to {tuple(target)}: dimension {dim} wants size "
                f"{wanted} and has {size if dim >= lead else 'none yet'}",
                sizes=sizes,
                target=tuple(target),
                dim=dim,
            )
        result.append(wanted if type(wanted) is int else operator.index(wanted))
    return tuple(result)


def check_pieces(count: int) -> None:
    """Refuse to cut a dimension into more pieces than there can be tensors.

    Raises
    ------
    ShapeError
        If so: each piece takes memory of its own, although it shares that of its elements.
    """
    if count > _MOST_PIECES:
        raise ShapeError(f"{count} pieces are more tensors than memory can hold", pieces=count)


def split_sizes(size: int, split_size: int) -> Shape:
    """The sizes of the pieces of at most `split_size`; one empty piece for size 0."""
    split_size = integer(split_size)
    if split_size < 0 or (split_size == 0 and size != 0):
        raise ShapeError(
            f"a dimension of size {size} cannot be split into pieces of {split_size}",
            size=size,
            split_size=split_size,
        )
    if size == 0:
        return (0,)
    pieces = -(-size // split_size)
    check_pieces(pieces)
    return (*([split_size] * (pieces - 1)), size - split_size * (pieces - 1))
