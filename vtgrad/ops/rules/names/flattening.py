"""Merging and splitting dimensions by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from vtgrad.errors import ArgumentTypeError, NamesError, NamesNotSupportedError
from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.storage.extra_meta import Names
from vtgrad.storage.geometry import normalize_dim
from vtgrad.storage.names import check_unique, checked_name, position_of, shown, unnamed

__all__ = ["flattened", "has_names", "unflattened"]


def _number(dim: object, own: Names, name: str) -> int:
    """A dimension that was given by number or by name."""
    if isinstance(dim, str):
        return position_of(dim, own)
    return normalize_dim(checked_dim(dim, name), len(own))


def flattened(
    own: Names, start_dim: object, end_dim: object, out_dim: object, dims: object
) -> tuple[int, int, Names | None]:
    """The first and the last dimension that `flatten` merges, and the names of its result.

    None for names where the tensor stays as it is.

    Raises
    ------
    ArgumentTypeError
        If an argument is of another kind.
    NamesError
        If the dimensions are not neighbours, in their order.
    NamesNotSupportedError
        If the merged dimension would have no name, and others have.
    """
    if dims is None and isinstance(start_dim, Sequence) and not isinstance(start_dim, str):
        # ``flatten(dims, out_dim)``
        dims, out_dim = start_dim, end_dim if isinstance(end_dim, str) else out_dim
    if dims is not None:
        if isinstance(dims, str) or not isinstance(dims, Sequence) or not dims:
            raise ArgumentTypeError("flatten takes dims as a sequence of names", argument="dims")
        numbers = [_number(dim, own, "dims") for dim in dims]
        if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            raise NamesError(
                f"flatten merges neighbours in their order, not {tuple(dims)} of {shown(own)}",
                dims=tuple(dims),
                names=own,
            )
        start, end = numbers[0], numbers[-1]
    else:
        start = _number(start_dim, own, "start_dim") if own else 0
        end = _number(end_dim, own, "end_dim") if own else 0
    name = checked_name(out_dim)
    if name is None and start < end and not unnamed(own):
        raise NamesNotSupportedError(
            f"flatten of a tensor with names {shown(own)} needs a name for the merged dimension: "
            "out_dim",
            names=own,
        )
    if name is None:
        return start, end, None
    return start, end, check_unique((*own[:start], name, *own[end + 1 :]))


def has_names(sizes: object) -> bool:
    """Whether sizes for `unflatten` come with names."""
    if isinstance(sizes, Mapping):
        return True
    return (
        isinstance(sizes, Sequence)
        and not isinstance(sizes, str)
        and any(isinstance(one, Sequence) for one in sizes)
    )


def unflattened(own: Names, dim: object, sizes: object) -> tuple[int, tuple[int, ...], Names]:
    """The dimension that `unflatten` splits, its sizes, and the names of the result.

    Raises
    ------
    ArgumentTypeError
        If the sizes are not pairs of a name and a size.
    NamesNotSupportedError
        If they have no names, and the tensor has.
    """
    axis = _number(dim, own, "dim")
    if not has_names(sizes):
        raise NamesNotSupportedError(
            f"unflatten of a tensor with names {shown(own)} takes pairs of a name and a size",
            names=own,
        )
    pairs: Sequence[object] = (
        list(sizes.items()) if isinstance(sizes, Mapping) else cast("Sequence[object]", sizes)
    )
    into: list[int] = []
    names: list[str | None] = []
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise ArgumentTypeError("unflatten takes pairs of a name and a size", argument="sizes")
        names.append(checked_name(pair[0]))
        into.append(checked_dim(pair[1], "sizes"))
    return axis, tuple(into), check_unique((*own[:axis], *names, *own[axis + 1 :]))
