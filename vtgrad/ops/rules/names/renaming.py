"""Names that replace those of a tensor, as users write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import TypeAlias

from vtgrad.errors import ArgumentTypeError, NamesError, NamesMismatchError
from vtgrad.storage.extra_meta import Names
from vtgrad.storage.names import check_unique, checked_name, checked_names, position_of, shown

__all__ = ["GivenName", "aligned", "refined", "renamed"]

# ``...`` stands for names that stay.
GivenName: TypeAlias = str | EllipsisType | None


def _is_ellipsis(name: object) -> bool:
    return name is ... or name == "..."


def _split(given: Sequence[GivenName], what: str) -> tuple[list[str | None], int | None]:
    """The names without ``...``, and where that stood.

    Raises
    ------
    NamesError
        If it is there twice.
    """
    at = [nr for nr, name in enumerate(given) if _is_ellipsis(name)]
    if len(at) > 1:
        raise NamesError(f"{what} takes ... once, not {len(at)} times")
    return [checked_name(name) for name in given if not _is_ellipsis(name)], at[0] if at else None


def _with_ellipsis(given: Sequence[GivenName], own: Names, what: str) -> Names:
    """One name for each dimension: ``...`` stands for the names of the dimensions there."""
    names, at = _split(given, what)
    if at is not None:
        rest = len(own) - len(names)
        if rest < 0:
            raise NamesError(
                f"{what} got {len(names)} names for the {len(own)} dimensions {shown(own)}",
                names=tuple(names),
            )
        names[at:at] = own[at : at + rest]
    return checked_names(names, len(own))


def renamed(given: Sequence[GivenName], changes: Mapping[str, str | None], own: Names) -> Names:
    """What `Tensor.rename` makes of the names `own`.

    Raises
    ------
    ArgumentTypeError
        If a name is neither a text nor None.
    NamesError
        If names come in both ways, do not fit the dimensions, or one would be there twice.
    NameNotFoundError
        If a name that is to be replaced is not there.
    """
    if given and changes:
        raise NamesError("rename takes names for all dimensions, or by keyword new names for some")
    if changes:
        names = list(own)
        for old, new in changes.items():
            names[position_of(old, own)] = checked_name(new)
        return check_unique(tuple(names))
    if len(given) == 1 and given[0] is None:
        return (None,) * len(own)
    return _with_ellipsis(given, own, "rename")


def refined(given: Sequence[GivenName], own: Names) -> Names:
    """What `Tensor.refine_names` makes of the names `own`: dimensions without a name get one.

    Raises
    ------
    ArgumentTypeError
        If a name is neither a text nor None.
    NamesError
        If names do not fit the dimensions, or one would be there twice.
    NamesMismatchError
        If a dimension has another name already.
    """
    names = _with_ellipsis(given, own, "refine_names")
    for dim, (old, new) in enumerate(zip(own, names, strict=True)):
        if old is not None and old != new:
            raise NamesMismatchError(
                f"refine_names keeps names: dimension {dim} is {old!r} in {shown(own)}, and not "
                f"{new!r} as in {shown(names)}; rename replaces them",
                names=names,
                own=own,
            )
    return names


def aligned(given: Sequence[GivenName], own: Names) -> tuple[list[int | None], Names]:
    """The order of dimensions that `Tensor.align_to` makes, and their names.

    Returns
    -------
    tuple
        For each dimension of the result that of the tensor, None for a new one of size 1; and
        the names.

    Raises
    ------
    ArgumentTypeError
        If a name is neither a text nor None.
    NamesError
        If a dimension of the tensor that must be named is not, or a name is there twice.
    NamesMismatchError
        If a dimension of the tensor would have no place.
    """
    names, at = _split(given, "align_to")
    if at is None:
        for dim, name in enumerate(own):
            if name is None:
                raise NamesError(
                    f"align_to needs a name for each dimension, and {dim} has none in {shown(own)}",
                    names=own,
                )
            if name not in names:
                raise NamesMismatchError(
                    f"align_to finds no place for {name!r} of {shown(own)} "
                    f"in {shown(tuple(names))}",
                    names=tuple(names),
                    own=own,
                )
    elif None in names:
        raise ArgumentTypeError("align_to takes names beside ..., and no None")
    wanted: list[tuple[int | None, str | None]] = [
        (own.index(name) if name is not None and name in own else None, name) for name in names
    ]
    if at is not None:
        wanted[at:at] = [(dim, name) for dim, name in enumerate(own) if name not in names]
    return [dim for dim, _ in wanted], check_unique(tuple([name for _, name in wanted]))
