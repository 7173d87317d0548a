"""Names of dimensions: checking them, and bringing those of two tensors together."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.errors import ArgumentTypeError, NameNotFoundError, NamesError, NamesMismatchError
from vtgrad.storage.extra_meta import Names

__all__ = [
    "check_unique",
    "checked_name",
    "checked_names",
    "position_of",
    "shown",
    "unified",
    "unnamed",
]


def shown(names: Names) -> str:
    """Names as messages show them."""
    return f"({', '.join(map(repr, names))}{',' if len(names) == 1 else ''})"


def unnamed(names: Names) -> bool:
    """Whether no dimension has a name."""
    return names.count(None) == len(names)


def checked_name(name: object) -> str | None:
    """One name; None, or ``"*"``, for none.

    Raises
    ------
    ArgumentTypeError
        If it is neither a text nor None.
    NamesError
        If the text is no identifier.
    """
    if name is None or name == "*":
        return None
    if not isinstance(name, str):
        raise ArgumentTypeError(
            f"the name of a dimension is a text or None, not {type(name).__name__}", name=name
        )
    if not (name.isascii() and name.isidentifier()):
        raise NamesError(
            f"{name!r} cannot name a dimension: a name has letters, digits and underscores, and "
            "begins with no digit",
            name=name,
        )
    return name


def checked_names(names: object, ndim: int) -> Names:
    """One name for each dimension.

    Raises
    ------
    ArgumentTypeError
        If `names` is not a sequence of names.
    NamesError
        If their number is not that of the dimensions, a name is no identifier, or is there twice.
    """
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise ArgumentTypeError(
            f"names come as a sequence, one for each dimension, not as {type(names).__name__}",
            argument="names",
        )
    found = tuple([checked_name(name) for name in names])
    if len(found) != ndim:
        raise NamesError(
            f"{shown(found)} are {len(found)} names, but the tensor has {ndim} dimensions",
            names=found,
            ndim=ndim,
        )
    return check_unique(found)


def check_unique(names: Names) -> Names:
    """The names, none of which is there twice.

    Raises
    ------
    NamesError
        If one is.
    """
    for name in names:
        if name is not None and names.count(name) > 1:
            raise NamesError(
                f"two dimensions would be called {name!r} in {shown(names)}; rename one first",
                names=names,
                name=name,
            )
    return names


def position_of(name: str, names: Names) -> int:
    """The number of the dimension of a name.

    Raises
    ------
    NameNotFoundError
        If no dimension has it.
    """
    if name not in names:
        raise NameNotFoundError(
            f"there is no dimension {name!r} among {shown(names)}", name=name, names=names
        )
    return names.index(name)


def unified(first: Names, second: Names, operator: str) -> Names:
    """The names of a result of two operands, which broadcast.

    Dimensions are compared from the last one. Of two that meet, the names agree, or one has none.

    Raises
    ------
    NamesMismatchError
        If two names meet that differ, or one name is at two positions.
    """
    longest = max(len(first), len(second))
    a = (None,) * (longest - len(first)) + first
    b = (None,) * (longest - len(second)) + second
    result: list[str | None] = []
    for dim, (x, y) in enumerate(zip(a, b, strict=True)):
        if x is not None and y is not None and x != y:
            raise NamesMismatchError(
                f"{operator}: the names {shown(first)} and {shown(second)} do not agree: "
                f"{x!r} meets {y!r} in dimension {dim - longest}",
                first=first,
                second=second,
            )
        for name, own, other in ((x, y, b), (y, x, a)):
            if name is not None and own is None and name in other:
                raise NamesMismatchError(
                    f"{operator}: the names {shown(first)} and {shown(second)} are not aligned: "
                    f"{name!r} is not at the same dimension, counted from the last one; "
                    "align_as brings them into one order",
                    first=first,
                    second=second,
                )
        result.append(y if x is None else x)
    return tuple(result)
