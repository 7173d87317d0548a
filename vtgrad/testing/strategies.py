"""Hypothesis strategies for tensors, and for what programs do with their memory.

For stateful tests of objects that keep tensors: a buffer, a table, a cache. Tensors come in the
layouts that such objects meet (transposed, with gaps, in the middle of a larger memory), and views,
indices and in-place steps are drawn as small values that are printed as they are written, and that
do the same to an array of NumPy's, which is the model of the object.

This needs Hypothesis, which is not installed with vtgrad.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import vtgrad as vt
from vtgrad.storage.arrays import Array

__all__ = [
    "Index",
    "Items",
    "View",
    "Write",
    "dtypes",
    "indices",
    "numbers",
    "shapes",
    "tensors",
    "views",
    "writes",
]

T = TypeVar("T")

#: What stands between the brackets of ``x[...]``, in part or as a whole.
Items: TypeAlias = "int | slice | list[int] | list[bool] | None"

_FLOATING: Final = (vt.float64, vt.float32, vt.float16)
_COMPLEX: Final = (vt.complex128, vt.complex64)
_WHOLE: Final = (vt.int64, vt.int32, vt.int16, vt.int8, vt.uint8, vt.bool)


@dataclass(frozen=True)
class Index:
    """An index, as it stands between brackets.

    Attributes
    ----------
    items : tuple
        Integers, slices, lists of integers or bools, None for a new dimension; ``...`` is left out.
    is_basic : bool
        Whether it is without lists, so that it gives a view.

    Examples
    --------
    >>> from vtgrad.testing.strategies import Index
    >>> index = Index((slice(1, 3), None))
    >>> index
    [1:3, None]
    >>> index.of(vt.arange(4)).tolist()
    [[1], [2]]
    """

    items: tuple[Items, ...]

    @property
    def is_basic(self) -> bool:
        """Whether it gives a view."""
        return not any(isinstance(item, list) for item in self.items)

    def of(self, x: vt.Tensor) -> vt.Tensor:
        """``x[...]`` of a tensor."""
        return x[self.items]

    def of_array(self, array: Array) -> Array:
        """The same of an array."""
        # With an ellipsis, or one element would be a number and no view.
        where: Any = (*self.items, ...)
        found: Array = array[where]
        return found

    def __repr__(self) -> str:
        return f"[{', '.join(map(_item, self.items)) or '...'}]"


def _item(item: Items) -> str:
    if not isinstance(item, slice):
        return repr(item)
    parts = ["" if part is None else str(part) for part in (item.start, item.stop, item.step)]
    return ":".join(parts if item.step is not None else parts[:2])


@dataclass(frozen=True)
class View:
    """A view, by the name of the method that makes it and its arguments.

    Attributes
    ----------
    name : str
        ``getitem``, ``transpose``, ``movedim``, ``unsqueeze``, ``squeeze``, ``select`` or
        ``narrow``.
    arguments : tuple
        An `Index`, or integers.

    Examples
    --------
    >>> from vtgrad.testing.strategies import View
    >>> view = View("transpose", (0, 1))
    >>> view
    .transpose(0, 1)
    >>> view.of(vt.zeros(2, 3)).shape
    vtgrad.Size([3, 2])
    >>> view.of_array(np.zeros((2, 3))).shape
    (3, 2)
    """

    name: str
    arguments: tuple[Index | int, ...]

    def of(self, x: vt.Tensor) -> vt.Tensor:
        """The view of a tensor."""
        first = self.arguments[0]
        if isinstance(first, Index):
            return first.of(x)
        found: vt.Tensor = getattr(x, self.name)(*self.arguments)
        return found

    def of_array(self, array: Array) -> Array:
        """The same view of an array."""
        first, *rest = self.arguments
        if isinstance(first, Index):
            return first.of_array(array)
        numbers = [first, *(part for part in rest if isinstance(part, int))]
        if self.name == "transpose":
            return np.swapaxes(array, *numbers)
        if self.name == "movedim":
            return np.moveaxis(array, *numbers)
        if self.name == "unsqueeze":
            return np.expand_dims(array, first)
        if self.name == "squeeze":
            return np.squeeze(array, first) if array.shape[first] == 1 else array[...]
        part: int | slice = numbers[1]
        if self.name == "narrow":
            part = slice(numbers[1], sum(numbers[1:]))
        return Index((*(slice(None),) * first, part)).of_array(array)

    def __repr__(self) -> str:
        first = self.arguments[0]
        if isinstance(first, Index):
            return repr(first)
        return f".{self.name}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class Write:
    """An in-place step, by the name of the method and its arguments.

    Attributes
    ----------
    name : str
        ``fill_``, ``zero_``, ``add_``, ``sub_``, ``mul_``, ``neg_``, ``clamp_``, ``copy_``, or
        ``setitem`` for an assignment to an index.
    arguments : tuple
        Numbers; nested lists that stand for tensors; an `Index` before them for ``setitem``.
    slope : float or None
        The derivative of each new element by the old one, where it is the same for all elements
        that are written; None if it is not.

    Examples
    --------
    >>> from vtgrad.testing.strategies import Write
    >>> x, array = vt.ones(3), np.ones(3)
    >>> step = Write("mul_", (2.0,))
    >>> step
    .mul_(2.0)
    >>> step.to(x)
    >>> step.to_array(array)
    >>> x.tolist() == array.tolist()
    True
    """

    name: str
    arguments: tuple[object, ...] = ()

    @property
    def slope(self) -> float | None:
        """The derivative by the old value."""
        if self.name == "mul_":
            factor = self.arguments[0]
            return float(factor) if isinstance(factor, int | float) else None
        known = {"neg_": -1.0, "add_": 1.0, "sub_": 1.0, "fill_": 0.0, "zero_": 0.0, "copy_": 0.0}
        return known.get(self.name)

    def to(self, x: vt.Tensor) -> None:
        """Write to a tensor."""
        if self.name == "setitem":
            index, value = self.arguments
            assert isinstance(index, Index)
            x[index.items] = cast("float", self._operand(value, x))
            return
        getattr(x, self.name)(*[self._operand(value, x) for value in self.arguments])

    def to_array(self, array: Array) -> None:
        """Do the same to an array."""
        values: list[object] = [np.array(v) if isinstance(v, list) else v for v in self.arguments]
        where = cast("npt.NDArray[np.float64]", array)
        first = cast("npt.NDArray[np.float64]", values[0]) if values else np.zeros(())
        if self.name == "setitem":
            assert isinstance(self.arguments[0], Index)
            where[self.arguments[0].items] = cast("npt.NDArray[np.float64]", values[1])
        elif self.name == "add_":
            where += first
        elif self.name == "sub_":
            where -= first
        elif self.name == "mul_":
            where *= first
        elif self.name == "neg_":
            np.negative(where, out=where)
        elif self.name == "clamp_":
            low, high = cast("tuple[float, float]", self.arguments)
            np.clip(where, low, high, out=where)
        else:
            where[...] = first  # fill_, zero_, copy_

    @staticmethod
    def _operand(value: object, x: vt.Tensor) -> object:
        return vt.tensor(value, dtype=x.dtype) if isinstance(value, list) else value

    def __repr__(self) -> str:
        if self.name == "setitem":
            index, value = self.arguments
            return f"{index!r} = {value!r}"
        return f".{self.name}({', '.join(map(repr, self.arguments))})"


def dtypes(
    *, floating: bool = True, complex: bool = False, whole: bool = False
) -> SearchStrategy[vt.dtype]:
    """Draw a dtype.

    Parameters
    ----------
    floating : bool, default True
        Whether it may be float64, float32 or float16.
    complex : bool, default False
        Whether it may be complex128 or complex64.
    whole : bool, default False
        Whether it may be an integer dtype or bool.

    Returns
    -------
    SearchStrategy of dtype
        The first of these is the simplest.

    Examples
    --------
    >>> from hypothesis import given
    >>> from vtgrad.testing import strategies
    >>> @given(strategies.dtypes(complex=True))
    ... def test(dtype):
    ...     assert dtype.is_floating_point or dtype.is_complex
    >>> test()
    """
    return st.sampled_from(
        [*(_FLOATING if floating else ()), *(_COMPLEX if complex else ()), *(_WHOLE * whole)]
    )


def shapes(
    *, min_dims: int = 0, max_dims: int = 3, min_side: int = 0, max_side: int = 4
) -> SearchStrategy[tuple[int, ...]]:
    """Draw a shape: small ones, among them those without dimensions and without elements.

    Parameters
    ----------
    min_dims, max_dims : int
        The number of dimensions.
    min_side, max_side : int
        The size of each.

    Returns
    -------
    SearchStrategy of tuple of int
        The shapes.

    Examples
    --------
    >>> from hypothesis import given
    >>> from vtgrad.testing import strategies
    >>> @given(strategies.shapes(min_dims=1))
    ... def test(shape):
    ...     assert 1 <= len(shape) <= 3
    >>> test()
    """
    sides = st.integers(min_side, max_side)
    return st.lists(sides, min_size=min_dims, max_size=max_dims).map(tuple)


def numbers(*, most: int = 8) -> SearchStrategy[float]:
    """Draw a number whose sums and products stay exact: a quarter of a small integer.

    Parameters
    ----------
    most : int, default 8
        The largest size.

    Returns
    -------
    SearchStrategy of float
        The numbers.

    Examples
    --------
    >>> from hypothesis import given
    >>> from vtgrad.testing import strategies
    >>> @given(strategies.numbers(most=2))
    ... def test(number):
    ...     assert abs(number) <= 2
    >>> test()
    """
    return st.integers(-4 * most, 4 * most).map(lambda quarters: quarters / 4)


def tensors(
    shape: tuple[int, ...] | SearchStrategy[tuple[int, ...]] | None = None,
    *,
    dtype: vt.dtype | SearchStrategy[vt.dtype] = vt.float64,
    elements: SearchStrategy[float] | None = None,
    requires_grad: bool | SearchStrategy[bool] = False,
    layouts: bool = True,
) -> SearchStrategy[vt.Tensor]:
    """Draw a tensor, in memory of its own.

    Parameters
    ----------
    shape : tuple of int or strategy, optional
        Its shape; by default one of `shapes`.
    dtype : dtype or strategy, default vtgrad.float64
        Its dtype.
    elements : strategy, optional
        Its elements; by default `numbers`. They are cast to the dtype.
    requires_grad : bool or strategy, default False
        Whether it is a leaf that requires grad. Leaves are floating or complex.
    layouts : bool, default True
        Whether its elements may lie in another order, with gaps, and in the middle of a larger
        memory. Otherwise it is contiguous.

    Returns
    -------
    SearchStrategy of Tensor
        The tensors; no two share memory.

    Examples
    --------
    >>> from hypothesis import given
    >>> from vtgrad.testing import strategies
    >>> @given(strategies.tensors((2, 3), requires_grad=True))
    ... def test(x):
    ...     assert x.shape == (2, 3)
    ...     assert x.is_leaf
    ...     assert x.grad is None
    >>> test()
    """
    values = numbers() if elements is None else elements

    @st.composite
    def drawn(draw: st.DrawFn) -> vt.Tensor:
        sizes = draw(_as_strategy(shapes() if shape is None else shape))
        kind = draw(_as_strategy(dtype))
        count = int(np.prod(sizes, dtype=int))
        listed = draw(st.lists(values, min_size=count, max_size=count))
        array = np.array(listed, np.float64).reshape(sizes)
        # What is negative is no element of an unsigned dtype.
        array = np.abs(array) if kind.numpy.kind in "ub" else array
        plain = vt.tensor(array.astype(kind.numpy))
        if layouts and sizes:
            plain = _laid_out(draw, plain)
        if draw(_as_strategy(requires_grad)):
            plain.requires_grad_()
        return plain

    return drawn()


def _as_strategy(given: T | SearchStrategy[T]) -> SearchStrategy[T]:
    return given if isinstance(given, SearchStrategy) else st.just(given)


def _laid_out(draw: st.DrawFn, plain: vt.Tensor) -> vt.Tensor:
    """The same elements in another layout."""
    order = draw(st.permutations(range(plain.dim())))
    gap = draw(st.sampled_from((1, 1, 2)))
    offset = draw(st.sampled_from((0, 0, 3)))
    strides, step = [0] * plain.dim(), gap
    for dim in reversed(order):
        strides[dim] = step
        step *= max(plain.shape[dim], 1)
    memory = vt.zeros(offset + max(step, 1), dtype=plain.dtype)
    with vt.no_grad():
        memory.as_strided(tuple(plain.shape), tuple(strides), offset).copy_(plain)
    # A tensor of its own on the memory, and no view of another.
    alone = vt.empty(0, dtype=plain.dtype)
    alone.set_(memory.untyped_storage(), offset, tuple(plain.shape), tuple(strides))
    return alone


def indices(
    shape: Sequence[int], *, basic: bool = False, new_dimensions: bool = True
) -> SearchStrategy[Index]:
    """Draw an index into a tensor of a shape.

    At most one part is a list of integers or bools, because integers beside such a list are placed
    otherwise by NumPy than here.

    Parameters
    ----------
    shape : sequence of int
        The shape.
    basic : bool, default False
        Whether the index must give a view: without lists.
    new_dimensions : bool, default True
        Whether None may be among its parts.

    Returns
    -------
    SearchStrategy of Index
        The indices, none of which is out of range.

    Examples
    --------
    >>> from hypothesis import given
    >>> from vtgrad.testing import strategies
    >>> @given(strategies.indices((3, 4), basic=True))
    ... def test(index):
    ...     assert index.of(vt.zeros(3, 4))._is_view()
    >>> test()
    """

    @st.composite
    def drawn(draw: st.DrawFn) -> Index:
        items: list[Items] = []
        has_list = False
        for size in shape[: draw(st.integers(0, len(shape)))]:
            if new_dimensions and draw(st.integers(0, 7)) == 7:
                items.append(None)
            kinds = ["slice"]
            if size and not has_list:
                kinds.append("int")
            if not basic and not has_list and not any(isinstance(i, int) for i in items):
                kinds += ["list", "mask"]
            kind = draw(st.sampled_from(kinds))
            if kind == "int":
                items.append(draw(st.integers(-size, size - 1)))
            elif kind == "slice":
                items.append(draw(_slices(size)))
            elif kind == "list":
                has_list = True
                positions = st.permutations(range(size))
                items.append(draw(positions)[: draw(st.integers(0, min(size, 4)))])
            else:
                has_list = True
                items.append(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
        return Index(tuple(items))

    return drawn()


@st.composite
def _slices(draw: st.DrawFn, size: int) -> slice:
    bounds = st.none() | st.integers(-size, size)
    start, stop = draw(bounds), draw(bounds)
    return slice(start, stop, draw(st.sampled_from((None, None, 1, 2))))


def views(shape: Sequence[int]) -> SearchStrategy[View]:
    """Draw a view of a tensor of a shape, whatever its strides are.

    Parameters
    ----------
    shape : sequence of int
        The shape.

    Returns
    -------
    SearchStrategy of View
        The views.

    Examples
    --------
    >>> from hypothesis import given
    >>> from vtgrad.testing import strategies
    >>> @given(strategies.views((2, 3)))
    ... def test(view):
    ...     x = vt.arange(6).reshape(2, 3)
    ...     assert view.of(x).tolist() == view.of_array(x.numpy()).tolist()
    ...     assert view.of(x)._is_view()
    >>> test()
    """
    sizes = list(shape)
    makers: list[SearchStrategy[View]] = [
        indices(sizes, basic=True).map(lambda index: View("getitem", (index,))),
        st.integers(0, len(sizes)).map(lambda dim: View("unsqueeze", (dim,))),
    ]
    if sizes:
        dims = st.integers(0, len(sizes) - 1)
        makers += [
            st.tuples(dims, dims).map(lambda pair: View("transpose", pair)),
            st.tuples(dims, dims).map(lambda pair: View("movedim", pair)),
            dims.map(lambda dim: View("squeeze", (dim,))),
            dims.flatmap(lambda dim: _narrowed(dim, sizes[dim])),
        ]
    full = [dim for dim, size in enumerate(sizes) if size]
    if full:
        makers.append(st.sampled_from(full).flatmap(lambda dim: _selected(dim, sizes[dim])))
    return st.one_of(makers)


def _narrowed(dim: int, size: int) -> SearchStrategy[View]:
    return st.integers(0, size).flatmap(
        lambda start: st.integers(0, size - start).map(
            lambda length: View("narrow", (dim, start, length))
        )
    )


def _selected(dim: int, size: int) -> SearchStrategy[View]:
    return st.integers(0, size - 1).map(lambda at: View("select", (dim, at)))


def writes(
    shape: Sequence[int], *, elements: SearchStrategy[float] | None = None, linear: bool = False
) -> SearchStrategy[Write]:
    """Draw an in-place step for a floating tensor of a shape.

    Parameters
    ----------
    shape : sequence of int
        The shape.
    elements : strategy, optional
        The numbers that are written, added or multiplied by; by default small `numbers`.
    linear : bool, default False
        Whether to draw only steps with a `Write.slope`.

    Returns
    -------
    SearchStrategy of Write
        The steps.

    Examples
    --------
    >>> from hypothesis import given
    >>> from vtgrad.testing import strategies
    >>> @given(strategies.writes((2, 3)))
    ... def test(step):
    ...     x, array = vt.ones(2, 3), np.ones((2, 3))
    ...     step.to(x)
    ...     step.to_array(array)
    ...     assert x.tolist() == array.tolist()
    ...     assert x._version == 1
    >>> test()
    """
    values = numbers(most=2) if elements is None else elements
    makers: list[SearchStrategy[Write]] = [
        st.sampled_from((Write("zero_"), Write("neg_"))),
        st.tuples(st.sampled_from(("mul_", "add_", "sub_", "fill_")), values).map(
            lambda pair: Write(pair[0], (pair[1],))
        ),
    ]
    if 0 not in shape:  # lists do not say which dimension has no elements
        makers.append(_arrays(shape, values).map(lambda array: Write("copy_", (array.tolist(),))))
    if not linear:
        makers += [
            st.tuples(values, values).map(lambda pair: Write("clamp_", tuple(sorted(pair)))),
            st.tuples(indices(shape, new_dimensions=False), values).map(
                lambda pair: Write("setitem", pair)
            ),
        ]
    return st.one_of(makers)


@st.composite
def _arrays(draw: st.DrawFn, shape: Sequence[int], values: SearchStrategy[float]) -> Array:
    """An array that is broadcast to a shape: in some dimensions of size 1."""
    sizes = [draw(st.sampled_from((size, size, 1))) for size in shape]
    count = int(np.prod(sizes, dtype=int))
    listed = draw(st.lists(values, min_size=count, max_size=count))
    return np.array(listed, np.float64).reshape(sizes)
