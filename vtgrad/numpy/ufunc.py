"""NumPy's ufuncs as objects of the namespace."""

# Some take one operand or two, in place of any number.
# mypy: disable-error-code="override"

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any, Final, TypedDict, Unpack

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.errors import NotSupportedError
from vtgrad.numpy import ufunc_reductions
from vtgrad.numpy.deliver import NO_VALUE, Axis, NoValue
from vtgrad.numpy.on_values import Target
from vtgrad.numpy.operands import ArrayLike, as_array, of_any_dtype, result
from vtgrad.numpy.other_dtypes import method_or_by_numpy
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.ufunc_loop import Operator, UfuncLoop, outs_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["Binary", "Options", "Ufunc", "Unary"]


class Options(TypedDict, total=False):
    """What a ufunc takes by name beside ``out`` and ``where``, see `Ufunc.__call__`."""

    casting: str
    order: str
    dtype: DTypeLike | None
    subok: bool
    signature: object
    axes: object


class OptionsOfPairs(Options, total=False):
    """What `Ufunc.outer` takes by name."""

    out: ndarray | tuple[ndarray | None, ...] | None
    where: ArrayLike


class Ufunc(UfuncLoop):
    """A function of the elements of arrays, as NumPy's ufunc of the same name."""

    @property
    def nin(self) -> int:
        """Number of operands."""
        return self.ufunc.nin

    @property
    def nout(self) -> int:
        """Number of results."""
        return self.ufunc.nout

    @property
    def nargs(self) -> int:
        """Number of operands and results."""
        return self.ufunc.nargs

    @property
    def ntypes(self) -> int:
        """Number of loops of NumPy's ufunc."""
        return self.ufunc.ntypes

    @property
    def types(self) -> list[str]:
        """The loops of NumPy's ufunc, as in ``"dd->d"``."""
        return self.ufunc.types

    @property
    def identity(self) -> object:
        """What a reduction of no elements gives; None if there is no such number."""
        return self.ufunc.identity

    @property
    def signature(self) -> str | None:
        """The dimensions that operands share, of a ufunc of whole matrices."""
        return self.ufunc.signature

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    def __reduce__(self) -> tuple[object, ...]:
        return getattr, (_Namespace(), self.__name__)

    def __call__(
        self,
        *inputs: ArrayLike,
        out: ndarray | tuple[ndarray | None, ...] | None = None,
        where: ArrayLike = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: DTypeLike | None = None,
        subok: bool = True,
        signature: object = None,
        axes: object = None,
    ) -> ndarray:
        """Compute the function at each element.

        Parameters
        ----------
        *inputs : array_like
            The operands, which broadcast.
        out : ndarray or tuple of ndarray, optional
            Where the results are stored.
        where : array_like of bool
            Where to compute. Other elements keep what `out` holds, and are 0 without `out`.
        casting : str
            Which casts of operands and results are allowed, as in NumPy.
        order : str
            Accepted; results are in the memory order that the operands have.
        dtype : dtype, optional
            The dtype of the results.
        subok : bool
            Accepted.
        signature : str or tuple, optional
            The dtypes of operands and results.
        axes : list of tuple, optional
            Refused: `swapaxes` says which dimensions are meant.

        Returns
        -------
        ndarray
            A new array, or `out`; a scalar for 0-d operands; a tuple of several results.
        """
        if axes is not None:
            raise NotSupportedError(f"{self.__name__} takes no axes=; move the axes first")
        nin = self.ufunc.nin
        if len(inputs) > nin:
            if out is not None:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            inputs, out = inputs[:nin], typing.cast("Any", inputs[nin:])
        if len(inputs) != nin:
            raise TypeError(
                f"{self.__name__}() takes {nin} positional arguments but {len(inputs)} were given"
            )
        return self.compute(inputs, outs_of(out, self.ufunc.nout), where, casting, dtype, signature)

    @method_or_by_numpy
    def reduce(
        self,
        array: ArrayLike,
        axis: Axis = 0,
        dtype: DTypeLike | None = None,
        out: Target | None = None,
        keepdims: bool = False,
        initial: ArrayLike | NoValue = NO_VALUE,
        where: ArrayLike = True,
    ) -> ndarray:
        """Combine the elements along axes by the function of two operands.

        Parameters
        ----------
        array : array_like
            The elements.
        axis : int or tuple of int, optional
            The axes; None is all of them.
        dtype : dtype, optional
            The dtype of the computation.
        out : ndarray, optional
            Where the result is stored.
        keepdims : bool
            Whether the axes stay, with size 1.
        initial : array_like, optional
            What it begins with.
        where : array_like of bool
            Which elements take part.

        Returns
        -------
        ndarray
            A new array, a scalar, or `out`.
        """
        return ufunc_reductions.reduce(self, array, axis, dtype, out, keepdims, initial, where)

    @method_or_by_numpy
    def accumulate(
        self,
        array: ArrayLike,
        axis: typing.SupportsIndex = 0,
        dtype: DTypeLike | None = None,
        out: Target | None = None,
    ) -> ndarray:
        """Combine the elements up to each place along an axis.

        Parameters
        ----------
        array : array_like
            The elements.
        axis : int
            The axis.
        dtype : dtype, optional
            The dtype of the computation.
        out : ndarray, optional
            Where the result is stored.

        Returns
        -------
        ndarray
            A new array, or `out`.
        """
        return ufunc_reductions.accumulate(self, array, axis, dtype, out)

    @method_or_by_numpy
    def reduceat(
        self,
        array: ArrayLike,
        indices: ArrayLike,
        axis: typing.SupportsIndex = 0,
        dtype: DTypeLike | None = None,
        out: Target | None = None,
    ) -> ndarray:
        """Combine the elements of ranges along an axis.

        Parameters
        ----------
        array : array_like
            The elements.
        indices : array_like of int
            Where ranges begin; each ends where the next begins.
        axis : int
            The axis.
        dtype : dtype, optional
            The dtype of the computation.
        out : ndarray, optional
            Where the result is stored.

        Returns
        -------
        ndarray
            A new array, or `out`.
        """
        return ufunc_reductions.reduceat(self, array, indices, axis, dtype, out)

    def outer(self, A: ArrayLike, B: ArrayLike, /, **options: Unpack[OptionsOfPairs]) -> ndarray:
        """The function of each element of one array with each of another.

        Parameters
        ----------
        A, B : array_like
            The operands.
        **options : object
            As of a call.

        Returns
        -------
        ndarray
            Of the shape of `A`, followed by that of `B`.
        """
        a, b = of_any_dtype(A), of_any_dtype(B)
        shape = (*a.shape, *(1,) * len(b.shape))
        spread = a.reshape(shape) if isinstance(a, np.ndarray) else as_array(F.reshape(a, shape))
        call: Any = self
        return typing.cast("ndarray", call(spread, b, **options))

    def at(self, a: Target, indices: object, b: ArrayLike | None = None, /) -> None:
        """Write the function of elements in place, once for each time that an element is named.

        Parameters
        ----------
        a : ndarray
            What is written.
        indices : index
            The elements, as in ``a[indices]``.
        b : array_like, optional
            The second operand.
        """
        ufunc_reductions.at(self, a, indices, b)


class Unary(Ufunc):
    """A ufunc of one operand and one result."""

    def __call__(
        self,
        x: ArrayLike,
        /,
        out: ndarray | tuple[ndarray | None] | None = None,
        *,
        where: ArrayLike = True,
        **options: Unpack[Options],
    ) -> ndarray:
        """Compute the function at each element; see `Ufunc.__call__` for the options."""
        if out is None and where is True and not options and isinstance(x, ndarray):
            layout = x._impl.layout or x._impl.find_layout()
            if layout.dtype.kind == "f" and self.operator is not None:
                return typing.cast("ndarray", self.operator(x))
        return super().__call__(x, out=out, where=where, **options)


# How an operator takes its operands: as they are, the second as Python's number, or not at once.
_AS_THEY_ARE: Final = 1
_AS_NUMBER: Final = 2
_NOT_AT_ONCE: Final = 0


class Binary(Ufunc):
    """A ufunc of two operands and one result.

    Parameters
    ----------
    ufunc, operator
        As of `Ufunc`.
    numbers : bool
        Whether the operator takes a number of Python as its second operand.
    """

    numbers: bool
    ways: dict[tuple[object, object], int]

    def __init__(
        self,
        ufunc: np.ufunc,
        operator: Operator | None = None,
        *,
        numbers: bool = False,
    ) -> None:
        super().__init__(ufunc, operator)
        self.numbers = numbers
        self.ways = {}

    def of_pair(self, a: object, b: object) -> Any:
        """The function of two operands without options, quickly where the dtypes agree."""
        ka = a._impl.array.dtype if isinstance(a, TensorBase) else type(a)
        kb = b._impl.array.dtype if isinstance(b, TensorBase) else type(b)
        way = self.ways.get((ka, kb))
        if way is None:
            way = self.ways[ka, kb] = self._way(ka, kb)
        if way == _NOT_AT_ONCE or self.operator is None:
            return self.compute((a, b))
        return result(self.operator(a, b if way == _AS_THEY_ARE else float(typing.cast("Any", b))))

    def _way(self, ka: object, kb: object) -> int:
        if self.operator is None or not isinstance(ka, np.dtype) or ka.kind not in "fc":
            return _NOT_AT_ONCE
        try:
            if self.ufunc.resolve_dtypes((ka, ka, None))[2] != ka:
                return _NOT_AT_ONCE
        except TypeError:
            return _NOT_AT_ONCE
        if isinstance(kb, np.dtype) and kb == ka:
            return _AS_THEY_ARE
        if not self.numbers:
            return _NOT_AT_ONCE
        if kb is float or kb is int:
            return _AS_THEY_ARE
        return _AS_NUMBER if kb is np.float64 and ka == np.float64 else _NOT_AT_ONCE

    def __call__(
        self,
        x1: ArrayLike,
        x2: ArrayLike,
        /,
        out: ndarray | tuple[ndarray | None] | None = None,
        *,
        where: ArrayLike = True,
        **options: Unpack[Options],
    ) -> ndarray:
        """Compute the function at each pair of elements; see `Ufunc.__call__` for the options."""
        if out is None and where is True and not options:
            if isinstance(x1, ndarray) and self.operator is not None:
                layout = x1._impl.layout or x1._impl.find_layout()
                if layout.dtype.kind == "f" and isinstance(x2, TensorBase):
                    if (x2._impl.layout or x2._impl.find_layout()) is layout:
                        return typing.cast("ndarray", self.operator(x1, x2))
            return typing.cast("ndarray", self.of_pair(x1, x2))
        return super().__call__(x1, x2, out=out, where=where, **options)


class _Namespace:
    """Stands for the namespace in pickles of its ufuncs."""

    def __reduce__(self) -> tuple[object, ...]:
        import_module: Callable[[str], object] = __import__
        return import_module, ("vtgrad.numpy", None, None, ("ndarray",))
