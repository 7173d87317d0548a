"""Python's functions of numbers, called for each element of arrays."""

from __future__ import annotations

import itertools
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from vtgrad.numpy.deliver import NO_VALUE, NoValue
from vtgrad.numpy.function import function
from vtgrad.numpy.index import getitem
from vtgrad.numpy.on_values import any_differentiated, values_in
from vtgrad.numpy.operands import (
    as_array,
    cast,
    check_dtype,
    fresh,
    has_dtype,
    is_differentiated,
    of,
    result,
    value_of,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["frompyfunc", "vectorize"]

_Dims: TypeAlias = tuple[str, ...]

_CORE: Final = r"\((?:\w+(?:,\w+)*)?\)"
_SIGNATURE: Final = re.compile(f"{_CORE}(?:,{_CORE})*->{_CORE}(?:,{_CORE})*")


class vectorize:
    """A function of numbers as one of arrays: it is called for each element, with broadcasting.

    An element that carries a derivative is passed as a `scalar`, any other one as a number of
    Python. What the function computes from scalars is recorded.

    Parameters
    ----------
    pyfunc : callable, optional
        The function. Without it the object is a decorator.
    otypes : str or list of dtype, optional
        The dtypes of the results; by default those of the first results.
    doc : str, optional
        The text of documentation, by default that of the function.
    excluded : set of int or str, optional
        Positions and names of arguments that are passed as they are.
    cache : bool
        Without `otypes` the function is called once more for the first elements, whose results
        say what the dtypes are. True keeps these results.
    signature : str, optional
        The axes of parts, as in ``"(n),(n)->()"``: the function gets these parts as arrays.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> larger = np.vectorize(lambda x, y: x if x > y else y)
    >>> larger(np.array([1.0, 4.0]), 2.0)
    array([2., 4.])
    """

    pyfunc: Callable[..., Any] | None
    otypes: str | None
    excluded: set[int | str]
    cache: bool
    signature: str | None

    def __init__(
        self,
        pyfunc: Callable[..., Any] | NoValue = NO_VALUE,
        otypes: str | Iterable[object] | None = None,
        doc: str | None = None,
        excluded: Iterable[int | str] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        if not isinstance(pyfunc, NoValue) and not callable(pyfunc):
            raise TypeError("When used as a decorator, only accepts keyword arguments.")
        self.cache = cache
        self.signature = signature
        self.otypes = _otypes(otypes)
        self.excluded = set() if excluded is None else set(excluded)
        self._doc = doc
        self._core = None if signature is None else _parsed(signature)
        self.pyfunc = None
        self.__doc__ = doc
        if not isinstance(pyfunc, NoValue):
            self._set_function(pyfunc)

    def _set_function(self, pyfunc: Callable[..., Any]) -> None:
        self.pyfunc = pyfunc
        self.__name__: str = getattr(pyfunc, "__name__", type(pyfunc).__name__)
        self.__doc__ = pyfunc.__doc__ if self._doc is None else self._doc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function for each element.

        Parameters
        ----------
        *args, **kwargs : array_like
            The arguments, which broadcast.

        Returns
        -------
        ndarray
            A new array; a tuple of them, if the function gives tuples.

        Raises
        ------
        ValueError
            If there are no elements, and `otypes` is not given.
        """
        if self.pyfunc is None:
            (pyfunc,) = args
            self._set_function(pyfunc)
            return self
        pyfunc = self.pyfunc
        if not kwargs and not self.excluded:
            return self._each(pyfunc, args)
        names = [name for name in kwargs if name not in self.excluded]
        places = [nr for nr in range(len(args)) if nr not in self.excluded]

        def call(*parts: Any) -> Any:
            given = list(args)
            for nr, part in zip(places, parts, strict=False):
                given[nr] = part
            named = dict(zip(names, parts[len(places) :], strict=True))
            return pyfunc(*given, **{**kwargs, **named})

        return self._each(call, [*[args[nr] for nr in places], *[kwargs[name] for name in names]])

    def _each(self, call: Callable[..., Any], args: Sequence[Any]) -> Any:
        """What the function gives for all elements of the arguments."""
        if self._core is not None:
            return _each_part(call, args, *self._core, self.otypes)
        if not args:
            return call()
        operands = [_operand(x) for x in args]
        shape = np.broadcast_shapes(*[x.shape for x in operands])
        codes = self.otypes
        rows = []
        if codes is None:
            first = call(*[_first(x, given) for x, given in zip(operands, args, strict=True)])
            codes = "".join([_code(x) for x in (first if isinstance(first, tuple) else (first,))])
            single = not isinstance(first, tuple)
            rows = [first] if self.cache else []
        else:
            single = len(codes) == 1
        columns = [_elements(x, shape) for x in operands]
        rest = itertools.islice(zip(*columns, strict=True), len(rows), None)
        rows += [call(*parts) for parts in rest]
        if single:
            return _array(rows, shape, codes)
        for row in rows:
            if not isinstance(row, tuple) or len(row) != len(codes):
                raise ValueError(f"the function gives no tuple of {len(codes)} results: {row!r}")
        return tuple(
            [_array([row[nr] for row in rows], shape, code) for nr, code in enumerate(codes)]
        )


def _otypes(given: str | Iterable[object] | None) -> str | None:
    """The codes of dtypes."""
    if given is None:
        return None
    if isinstance(given, str):
        for code in given:
            if code not in np.typecodes["All"]:
                raise ValueError(f"Invalid otype specified: {code}")
        return given
    try:
        return "".join([np.dtype(typing.cast("Any", x)).char for x in given])
    except TypeError:
        raise ValueError("Invalid otype specification") from None


def _operand(value: Any) -> ndarray | Array:
    """An argument as an array: of Python's objects where there is no derivative."""
    if isinstance(value, TensorBase) or any_differentiated(value):
        x = of(value)
        return x if is_differentiated(x) else value_of(x).astype(object)
    return making.asarray(value, dtype=object)


def _elements(x: ndarray | Array, shape: Shape) -> Iterator[Any]:
    """The elements of an array, broadcast, in row-major order."""
    if isinstance(x, TensorBase):
        # One recorded operator for all elements: backward stacks their gradients.
        flat = F.reshape(F.broadcast_to(x, shape), -1)
        return iter([result(part) for part in F.unbind_copy(flat, 0)])
    return iter(making.broadcast_to(x, shape).flat)


def _first(x: ndarray | Array, given: Any) -> Any:
    """The first element of an argument, as NumPy's scalar where there is no derivative."""
    if not x.size:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    if isinstance(x, TensorBase):
        return getitem(F.reshape(x, -1), 0)
    return making.asarray(values_in(given)).flat[0]


def _code(x: Any) -> str:
    """The dtype that NumPy gives a result."""
    dtype: NumpyDType = (
        of(x)._impl.dtype if any_differentiated(x) else making.asarray(values_in(x)).dtype
    )
    return dtype.char


def _array(results: Sequence[Any], shape: Shape, code: str) -> ndarray:
    """Numbers as an array, which records if one of them does."""
    dtype = np.dtype(code)
    if not any_differentiated(results) or dtype.char == "O":
        return _numpys(results, shape, dtype)
    check_dtype(dtype)
    parts = [cast(of(x), dtype) for x in results]
    if any(x._impl.array.ndim for x in parts):
        raise ValueError("setting an array element with a sequence.")
    return as_array(F.reshape(F.stack(parts), shape))


def _numpys(results: Sequence[Any], shape: Shape, dtype: NumpyDType) -> ndarray:
    """Objects that carry no derivative as an array; of NumPy, if tensors do not have the dtype."""
    given = _objects(results).reshape(shape)
    found = given if dtype.char == "O" else given.astype(dtype)
    return fresh(found) if has_dtype(dtype) else typing.cast("ndarray", found)


def _objects(items: Sequence[Any]) -> Array:
    """An array of NumPy that holds objects as they are, along one axis."""
    # An assignment would take arrays without axes for numbers.
    pick: Any = np.frompyfunc(items.__getitem__, 1, 1)
    return typing.cast("Array", pick(making.arange(len(items), dtype=object)))


# -- functions of parts ----------------------------------------------------------------------------


def _parsed(signature: str) -> tuple[list[_Dims], list[_Dims]]:
    """The names of the axes of arguments and results."""
    text = re.sub(r"\s+", "", signature)
    if not _SIGNATURE.fullmatch(text):
        raise ValueError(f"not a valid gufunc signature: {signature}")
    sides = [re.findall(_CORE, side) for side in text.split("->")]
    before, behind = ([tuple(re.findall(r"\w+", part)) for part in side] for side in sides)
    return before, behind


def _each_part(
    call: Callable[..., Any],
    args: Sequence[Any],
    before: list[_Dims],
    behind: list[_Dims],
    otypes: str | None,
) -> Any:
    """What a function of parts gives for all of them."""
    if len(args) != len(before):
        raise TypeError(
            f"wrong number of positional arguments: expected {len(before)!r}, got {len(args)!r}"
        )
    operands = [of(x) for x in args]
    sizes: dict[str, int] = {}
    for x, dims in zip(operands, before, strict=True):
        _note_sizes(sizes, x.shape, dims)
    leading = [x.shape[: len(x.shape) - len(d)] for x, d in zip(operands, before, strict=True)]
    outer: Shape = np.broadcast_shapes(*leading)
    whole = [
        as_array(F.broadcast_to(x, (*outer, *[sizes[name] for name in dims])))
        for x, dims in zip(operands, before, strict=True)
    ]
    rows = []
    for index in np.ndindex(outer):
        found = call(*[getitem(x, index if index else ()) for x in whole])
        row = found if isinstance(found, tuple) else (found,)
        if len(row) != len(behind):
            raise ValueError(
                f"wrong number of outputs from pyfunc: expected {len(behind)!r}, got {len(row)!r}"
            )
        rows.append([of(x) for x in row])
    if rows:
        for x, dims in zip(rows[0], behind, strict=True):
            _note_sizes(sizes, x.shape, dims)
    elif otypes is None:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    elif any(name not in sizes for name in itertools.chain(*behind)):
        raise ValueError(
            "cannot call `vectorize` with a signature including new output dimensions on size 0 "
            "inputs"
        )
    arrays = [
        _stacked(
            [row[nr] for row in rows], outer, dims, sizes, None if otypes is None else otypes[nr]
        )
        for nr, dims in enumerate(behind)
    ]
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def _note_sizes(sizes: dict[str, int], shape: Shape, dims: _Dims) -> None:
    """Note the lengths of named axes, the last ones of a shape."""
    if not dims:
        return
    if len(shape) < len(dims):
        raise ValueError(
            f"{len(shape)}-dimensional argument does not have enough dimensions for all core "
            f"dimensions {dims!r}"
        )
    for name, size in zip(dims, shape[-len(dims) :], strict=True):
        if sizes.setdefault(name, size) != size:
            raise ValueError(
                f"inconsistent size for core dimension {name!r}: {size!r} vs {sizes[name]!r}"
            )


def _stacked(
    results: Sequence[ndarray], outer: Shape, dims: _Dims, sizes: dict[str, int], code: str | None
) -> ndarray:
    """The results of a function of parts as an array."""
    shape = tuple([sizes[name] for name in dims])
    dtype = results[0]._impl.dtype if code is None else np.dtype(code)
    check_dtype(dtype)
    if not results:
        return fresh(making.empty((*outer, *shape), dtype))
    for x in results:
        if np.broadcast_shapes(x.shape, shape) != shape:
            raise ValueError(f"could not broadcast input array from {x.shape} into {shape}")
    parts = [F.broadcast_to(cast(x, dtype), shape) for x in results]
    return as_array(F.reshape(F.stack(parts), (*outer, *shape)))


# -- ufuncs of objects -----------------------------------------------------------------------------


class _ObjectUfunc:
    """NumPy's ufunc of a function of Python, which gets scalars where there are derivatives."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self.ufunc = ufunc
        self.__name__ = ufunc.__name__
        self.__doc__ = ufunc.__doc__

    def __repr__(self) -> str:
        return repr(self.ufunc)

    def __call__(self, *args: object, **options: object) -> Any:
        """Call the function for each element; the results are an array of objects of NumPy."""
        return self._on_objects(self.ufunc, *args, **options)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.ufunc, name)
        if name not in ("reduce", "accumulate", "reduceat", "outer"):
            return found
        return lambda *args, **options: self._on_objects(found, *args, **options)

    @staticmethod
    def _on_objects(function: Callable[..., Any], *args: object, **options: object) -> Any:
        return function(*[_object_array(x) for x in args], **options)


def _object_array(x: object) -> object:
    """An array of NumPy with the elements of an array of the namespace, scalars among them."""
    if not isinstance(x, TensorBase) and not any_differentiated(x):
        return x
    array = of(typing.cast("Any", x))
    if not is_differentiated(array):
        return value_of(array)
    return _objects(list(_elements(array, array.shape))).reshape(array.shape)


@function
def frompyfunc(
    func: Callable[..., object],
    /,
    nin: int,
    nout: int,
    *,
    identity: object = NO_VALUE,
) -> _ObjectUfunc:
    """A function of Python as a ufunc whose results are objects.

    Parameters
    ----------
    func : callable
        The function.
    nin, nout : int
        The numbers of arguments and results.
    identity : object, optional
        What a reduction of no elements gives.

    Returns
    -------
    ufunc
        What it gives is NumPy's array of objects. Where elements carry derivatives, it holds
        scalars, of which ``np.array(found.tolist())`` makes an array of the namespace.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> half = np.frompyfunc(lambda x: x / 2, 1, 1)
    >>> half(np.array([1.0, 4.0])).tolist()
    [0.5, 2.0]
    """
    options: dict[str, Any] = {} if identity is NO_VALUE else {"identity": identity}
    return _ObjectUfunc(np.frompyfunc(func, nin, nout, **options))
