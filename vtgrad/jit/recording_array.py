"""The classes of arrays that write down what NumPy is asked to do.

Note [Seen, not trusted]

The class of an array has one purpose: NumPy asks it at each call. What the array *is* follows from
its address alone; see Note [Known by address]. On a thread that does not record, or after the
recording, these arrays do what plain ones do, and their results are plain.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from vtgrad.jit.callers import is_bookkeeping
from vtgrad.jit.numpy_functions import METADATA, WRITING, is_refused
from vtgrad.jit.recorder import Recorder, recording
from vtgrad.jit.steps import Place
from vtgrad.jit.values import is_basic

__all__ = ["OnScalars", "RecordingArray", "RecordingNumber", "stripped"]

_plain: Final = np.ndarray.view


def stripped(value: Any) -> Any:
    """A value with plain arrays."""
    if isinstance(value, RecordingArray):
        return _plain(value, np.ndarray)
    if isinstance(value, (tuple, list)):
        parts = [stripped(x) for x in value]
        return getattr(type(value), "_make", type(value))(parts)
    return value


def _recorder() -> Recorder | None:
    """What records this call."""
    recorder = recording.recorder
    return None if recorder is None or is_bookkeeping() else recorder


class RecordingArray(np.ndarray[Any, np.dtype[Any]]):
    """An array of a recording.

    Attributes
    ----------
    kept_place : tuple of (object, Place)
        See Note [Places that arrays remember]; not set before its place was asked for.
    """

    __slots__ = ("kept_place",)

    kept_place: tuple[object, Place]

    # NumPy's own classes have these as attributes, which `getattr` finds by name below.

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **kwargs: Any
    ) -> Any:
        """Write a call of a ufunc or of one of its methods down."""
        for x in (*inputs, *out):
            kind = type(x)
            if not isinstance(x, (RecordingArray, np.generic)) and kind is not np.ndarray:
                if getattr(kind, "__array_ufunc__", _OWN_UFUNC) is not _OWN_UFUNC:
                    return NotImplemented
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        recorder = _recorder()
        if recorder is None:
            args = stripped(inputs)
            options = {name: stripped(x) for name, x in kwargs.items()}
            if out:
                options["out"] = stripped(out)
            found = function(*args, **options)
            return _originals(found, options.get("out", ()), out)
        if method == "at":
            return recorder.call(function, inputs, kwargs, [inputs[0]])
        return recorder.ufunc(function, inputs, kwargs, out)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any:
        """Write a call of a function of NumPy down."""
        for kind in types:
            if kind.__array_function__ is not _OWN_FUNCTION and not issubclass(
                kind, RecordingArray
            ):
                return NotImplemented
        recorder = _recorder()
        if recorder is None or func in METADATA:
            found = func(*stripped(args), **{name: stripped(x) for name, x in kwargs.items()})
            return kwargs["out"] if kwargs.get("out") is not None else found
        if func is np.empty_like:
            # NumPy asks the numbers of a shape for their values, which are guarded.
            return recorder.created(_empty_like(*args, **kwargs))
        if is_refused(func, tuple(args), kwargs):
            raise recorder.refuse(
                f"{func.__name__} with these arguments cannot be recorded", "refused function"
            )
        return recorder.call(func, tuple(args), kwargs, args[:1] if func in WRITING else ())

    # -- elements ----------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        recorder = _recorder()
        if recorder is not None:
            return recorder.getitem(self, key)
        found = _plain(self, np.ndarray)[stripped(key)]
        if recording.recorder is not None and isinstance(found, np.ndarray) and is_basic(key):
            # Bookkeeping hands a part on to those who keep its values.
            return _plain(found, RecordingArray)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        recorder = _recorder()
        if recorder is None:
            _plain(self, np.ndarray)[stripped(key)] = stripped(value)
        else:
            recorder.setitem(self, key, value)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i] for i in range(len(self))])

    def __contains__(self, value: object) -> bool:
        return bool((self == value).any())

    # -- numbers -----------------------------------------------------------------------------

    def __bool__(self) -> bool:
        value: bool = _leaves(bool, self)
        return value

    def __int__(self) -> int:
        value: int = _leaves(int, self)
        return value

    def __float__(self) -> float:
        value: float = _leaves(float, self)
        return value

    def __complex__(self) -> complex:
        value: complex = _leaves(complex, self)
        return value

    def __index__(self) -> int:
        value: int = _leaves(operator.index, self)
        return value

    def __repr__(self) -> str:
        return repr(_plain(self, np.ndarray))

    def __str__(self) -> str:
        return str(_plain(self, np.ndarray))

    def __format__(self, spec: str) -> str:
        return format(_plain(self, np.ndarray), spec)

    # -- parts -------------------------------------------------------------------------------

    @property
    def imag(self) -> Any:
        """The imaginary parts; those of real numbers are zeros."""
        if self.dtype.kind == "c":
            return np.ndarray.imag.__get__(self)
        zeros = np.ndarray.imag.__get__(_plain(self, np.ndarray))
        recorder = _recorder()
        return zeros if recorder is None else recorder.filled(zeros)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    @property
    def real(self) -> Any:
        """The real parts."""
        return np.ndarray.real.__get__(self)

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def flat(self) -> Any:
        """The elements in order, which a recording refuses."""
        recorder = _recorder()
        if recorder is None:
            return _plain(self, np.ndarray).flat
        raise recorder.refuse("flat cannot be recorded; use reshape(-1)", "refused function")

    @property
    def data(self) -> Any:
        """The memory, which a recording refuses."""
        recorder = _recorder()
        if recorder is None:
            return _plain(self, np.ndarray).data
        raise recorder.refuse("memory cannot be recorded", "refused function")

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """The same memory again, with another dtype or as another class."""
        recorder = _recorder()
        asked = args[0] if args else kwargs.get("type")
        if isinstance(asked, type) and issubclass(asked, np.ndarray):
            if recorder is not None and asked is np.ndarray:
                return np.ndarray.view(self, type(self))
            return np.ndarray.view(self, *args, **kwargs)
        if recorder is None:
            return _plain(self, np.ndarray).view(*args, **kwargs)
        if not args and not kwargs:
            return np.ndarray.view(self)
        return recorder.call(np.ndarray.view, (self, *args), kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        recorder = _recorder()
        if recorder is None:
            return _plain(self, np.ndarray).__reduce_ex__(protocol)
        raise recorder.refuse("a pickle cannot be recorded", "refused function")

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy("K")

    def __copy__(self) -> Any:
        return self.copy("K")


class RecordingNumber(RecordingArray):
    """What stands for a scalar of NumPy; see Note [Numbers of NumPy]."""

    __slots__ = ()


class OnScalars:
    """An operator of Python on scalars of NumPy, which stand in 0-d arrays.

    Scalars have an arithmetic of their own: products of complex numbers and powers differ in the
    last bits from those of ufuncs. Sums, differences, products and quotients of real numbers do
    not, and are recorded as ufuncs.

    Attributes
    ----------
    function : callable
        A function of the module `operator`, or `divmod`.
    """

    __slots__ = ("function",)

    function: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        """The result for scalars."""
        return self.function(*[x[()] if isinstance(x, np.ndarray) else x for x in args])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OnScalars) and self.function is other.function

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return f"OnScalars({self.function.__name__})"


_OWN_UFUNC: Final = np.ndarray.__array_ufunc__
_OWN_FUNCTION: Final = np.ndarray.__array_function__


def _empty_like(prototype: Any, *args: Any, **kwargs: Any) -> Any:
    return np.empty_like(stripped(prototype), *args, **kwargs)


def _originals(found: Any, plain: Any, out: Any) -> Any:
    """The arrays that were passed as ``out``, in the place of their plain views."""
    if not out:
        return found
    parts = found if isinstance(found, tuple) else (found,)
    named = {id(x): original for x, original in zip(plain, out, strict=True) if x is not None}
    results = tuple([named.get(id(x), x) for x in parts])
    return results if isinstance(found, tuple) else results[0]


def _leaves(function: Callable[..., Any], array: RecordingArray) -> Any:
    """A Python value of an array, which is guarded."""
    plain = _plain(array, np.ndarray)
    recorder = _recorder()
    if recorder is None:
        return function(plain)
    value = recorder.run(function, (plain,), {})
    recorder.leaves(function, array, value)
    return value


def _method(name: str, writes: bool) -> Callable[..., Any]:
    """A method of arrays that is recorded."""
    function: Callable[..., Any] = getattr(np.ndarray, name)

    def method(self: RecordingArray, *args: Any, **kwargs: Any) -> Any:
        recorder = _recorder()
        if recorder is None:
            options = {key: stripped(x) for key, x in kwargs.items()}
            found = function(_plain(self, np.ndarray), *stripped(args), **options)
            return kwargs["out"] if kwargs.get("out") is not None else found
        return recorder.call(function, (self, *args), kwargs, [self] if writes else ())

    method.__name__ = name
    return method


def _refusing(name: str) -> Callable[..., Any]:
    """A method of arrays that a recording refuses."""
    function: Callable[..., Any] = getattr(np.ndarray, name)

    def method(self: RecordingArray, *args: Any, **kwargs: Any) -> Any:
        recorder = _recorder()
        if recorder is None:
            return function(_plain(self, np.ndarray), *args, **kwargs)
        raise recorder.refuse(f"{name} cannot be recorded", "refused function")

    method.__name__ = name
    return method


def _scalar_operator(name: str, function: Callable[..., Any], swapped: bool) -> Callable[..., Any]:
    """An operator of numbers, with the arithmetic that scalars of NumPy have."""
    usual: Callable[..., Any] = getattr(np.ndarray, name)
    by_ufunc = function in _EXACT
    on_scalars = OnScalars(function)

    def method(self: RecordingNumber, *others: Any) -> Any:
        recorder = _recorder()
        if recorder is None or not all(
            isinstance(x, (RecordingNumber, np.generic, bool, int, float, complex)) for x in others
        ):
            return usual(self, *others)
        real = self.dtype.kind in "fiu" and not any(
            isinstance(x, complex) or (isinstance(x, np.ndarray) and x.dtype.kind not in "fiu")
            for x in others
        )
        if by_ufunc and real:
            return usual(self, *others)
        return recorder.call(on_scalars, (*others, self) if swapped else (self, *others), {})

    method.__name__ = name
    return method


def _out_of_place(name: str) -> Callable[..., Any]:
    """What ``number += x`` does: a scalar of NumPy stays, and the name gets a new one."""
    function: Callable[..., Any] = getattr(operator, name)

    def method(self: RecordingNumber, other: Any) -> Any:
        return function(self, other)

    method.__name__ = name
    return method


for _name in """
    all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy
    cumprod cumsum diagonal dot flatten item max mean min nonzero prod ravel repeat reshape round
    searchsorted squeeze std sum swapaxes take tolist trace transpose var
""".split():
    setattr(RecordingArray, _name, _method(_name, False))
for _name in "fill partition put sort".split():
    setattr(RecordingArray, _name, _method(_name, True))
# The same bits by ufuncs and by the arithmetic of scalars, for real numbers.
_EXACT: Final = frozenset(
    {operator.abs, operator.add, operator.mul, operator.neg, operator.sub, operator.truediv}
)
for _name in "add and_ floordiv lshift mod mul or_ pow rshift sub truediv xor".split():
    _function = getattr(operator, _name)
    for _swapped in (False, True):
        _dunder = f"__{'r' if _swapped else ''}{_name.rstrip('_')}__"
        setattr(RecordingNumber, _dunder, _scalar_operator(_dunder, _function, _swapped))
for _name in "abs invert neg pos".split():
    _dunder = f"__{_name}__"
    setattr(RecordingNumber, _dunder, _scalar_operator(_dunder, getattr(operator, _name), False))
setattr(RecordingNumber, "__hash__", lambda self: hash(_leaves(np.ndarray.item, self)))  # noqa: B010
for _name in "byteswap dump dumps getfield resize setfield tobytes tofile".split():
    setattr(RecordingArray, _name, _refusing(_name))
for _name in """
    add and_ floordiv lshift matmul mod mul or_ pow rshift sub truediv xor
""".split():
    setattr(RecordingNumber, f"__i{_name.rstrip('_')}__", _out_of_place(_name))
