"""Names of dimensions: reading, changing, and ordering by them."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Self

from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.names.renaming import aligned, refined, renamed
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.extra_meta import Names
from vtgrad.storage.key_set import NAMED
from vtgrad.storage.names import checked_names, unnamed
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_mixin import TensorMixin
from vtgrad.storage.thread_mode import thread

__all__ = ["NamedMethods"]


class NamedMethods(TensorMixin):
    """Methods for the names of dimensions, see `docs/howto/named-dimensions.md`.

    Names are metadata of one tensor: a view has its own, and gradients have none.
    """

    __slots__ = ()

    @property
    def names(self) -> tuple[str | None, ...]:
        """The name of each dimension, None for one without.

        Assigning gives other names, None drops all. While a node of the graph runs, and in a
        custom backward, no tensor has names.

        Returns
        -------
        tuple of (str or None)
            As many as there are dimensions.

        Raises
        ------
        NamesError
            If assigned names are not one for each dimension, or one is there twice.

        Examples
        --------
        >>> x = vt.zeros(2, 3, names=("N", "C"))
        >>> x.names, x.sum("N").names
        (('N', 'C'), ('C',))
        >>> vt.zeros(2, 3).names
        (None, None)
        """
        impl = self._impl
        return (None,) * impl.array.ndim if thread.excluded_keys & NAMED else impl.names

    @names.setter
    def names(self, value: Sequence[str | None] | None) -> None:
        impl = self._impl
        impl.set_names(None if value is None else checked_names(value, impl.array.ndim))

    def has_names(self) -> bool:
        """Whether a dimension has a name.

        Returns
        -------
        bool
            False for a tensor whose names are all None.

        Examples
        --------
        >>> vt.zeros(2, 3, names=("N", None)).has_names(), vt.zeros(2, 3).has_names()
        (True, False)
        """
        return not unnamed(self.names)

    def rename(self, *names: str | EllipsisType | None, **rename_map: str | None) -> Self:
        """Return a view with other names.

        Parameters
        ----------
        *names : str, None or ...
            A name for each dimension; ``...`` stands for names that stay. A single None drops all
            names.
        **rename_map : str or None
            New names by the old ones, instead.

        Returns
        -------
        Tensor
            A view: writing to it writes to the tensor.

        Raises
        ------
        NamesError
            If names are given in both ways, do not fit the dimensions, or one would be there twice.
        NameNotFoundError
            If a name in `rename_map` is not there.
        ArgumentTypeError
            If a name is neither a text nor None.

        Examples
        --------
        >>> x = vt.zeros(2, 3, names=("N", "C"))
        >>> x.rename("batch", ...).names, x.rename(C="channel").names, x.rename(None).names
        (('batch', 'C'), ('N', 'channel'), (None, None))
        """
        return self._named_view(renamed(names, rename_map, self._impl.names))

    def rename_(self, *names: str | EllipsisType | None, **rename_map: str | None) -> Self:
        """Give the tensor other names, in place.

        Parameters
        ----------
        *names, **rename_map
            As in `rename`.

        Returns
        -------
        Tensor
            The tensor itself. Values and version stay.

        Raises
        ------
        NamesError, NameNotFoundError, ArgumentTypeError
            As `rename` does.

        Examples
        --------
        >>> x = vt.zeros(2, 3)
        >>> x.rename_("N", "C").names
        ('N', 'C')
        """
        impl = self._impl
        impl.set_names(renamed(names, rename_map, impl.names))
        return self

    def refine_names(self, *names: str | EllipsisType | None) -> Self:
        """Return a view in which dimensions without a name have one.

        Parameters
        ----------
        *names : str, None or ...
            A name for each dimension; that of a dimension with a name must be the same. ``...``
            stands for names that stay.

        Returns
        -------
        Tensor
            A view: writing to it writes to the tensor.

        Raises
        ------
        NamesMismatchError
            If a dimension has another name already.
        NamesError
            If names do not fit the dimensions, or one would be there twice.
        ArgumentTypeError
            If a name is neither a text nor None.

        Examples
        --------
        >>> images = vt.zeros(8, 3, 4, 5)
        >>> images.refine_names("N", ..., "H", "W").names
        ('N', None, 'H', 'W')
        """
        return self._named_view(refined(names, self._impl.names))

    def align_to(self, *names: str | EllipsisType | None) -> Self:
        """Return a view with dimensions in the order of names.

        Parameters
        ----------
        *names : str or ...
            The order. A name that the tensor does not have makes a dimension of size 1. ``...``
            stands for the dimensions that are not named here, in their order.

        Returns
        -------
        Tensor
            A view: writing to it writes to the tensor.

        Raises
        ------
        NamesMismatchError
            If a dimension of the tensor is not among the names, and there is no ``...``.
        NamesError
            If a dimension has no name, and there is no ``...``; or if a name is there twice.
        ArgumentTypeError
            If a name is not a text.

        Examples
        --------
        >>> x = vt.zeros(2, 3, 4, names=("N", "H", "C"))
        >>> x.align_to("C", "N", "W", "H").shape
        vtgrad.Size([4, 2, 1, 3])
        >>> x.align_to("C", ...).names
        ('C', 'N', 'H')
        """
        order, wanted = aligned(names, self._impl.names)
        return run_excluding(NAMED, self._in_order, order)._named(wanted)

    def align_as(self, other: TensorBase) -> Self:
        """Return a view with dimensions in the order of another tensor's.

        Parameters
        ----------
        other : Tensor
            The tensor whose names are the order.

        Returns
        -------
        Tensor
            A view that broadcasts with `other`; dimensions that only `other` has are of size 1.

        Raises
        ------
        NamesMismatchError
            If a dimension of the tensor is not among those of `other`.
        NamesError
            If a dimension of the tensor has no name.
        ArgumentTypeError
            If `other` is no tensor.

        Examples
        --------
        >>> scale = vt.ones(3, names=("C",))
        >>> images = vt.zeros(8, 3, 4, 5, names=("N", "C", "H", "W"))
        >>> scale.align_as(images).shape
        vtgrad.Size([1, 3, 1, 1])
        """
        array_of(other, "other")
        return self.align_to(*other._impl.names)

    def _named(self, names: Names) -> Self:
        self._impl.set_names(names)
        return self

    def _named_view(self, names: Names) -> Self:
        """An alias with these names."""
        view = run_excluding(NAMED, lambda: F.alias(self))
        return view._named(names)

    def _in_order(self, order: list[int | None]) -> Self:
        """The dimensions in an order, and new ones of size 1."""
        view = F.permute_dims(self, [dim for dim in order if dim is not None])
        for dim, old in enumerate(order):
            if old is None:
                view = F.unsqueeze(view, dim)
        return view
