"""Arrays whose values are the conjugates or the negatives of what is in memory.

Note [Lazy conjugates]

`z.conj()` is a view: it shows the conjugates of what is in the memory of `z`, and a write through
it stores conjugates there. `z.conj().imag` is also a view: it shows that memory with the opposite
sign. The array of such a tensor is a `LazyArray`, an ndarray on the *physical* memory with two bits
that state how its values follow from the memory. Parts and rearrangements of it keep the bits.
Every read of the values (ufuncs, NumPy's functions, the methods of arrays) gets them resolved, as a
plain copy; every write (``out=``, `numpy.copyto`, assignments) stores what the memory must hold.

So kernels need no code for lazy arrays. But they must not strip the subclass, and the bits with it:
`np.asarray(x)`, `np.array(x)`, ``np.ndarray(..., buffer=x)`` and `as_strided` of NumPy do. And
``plain[...] = x``, ``plain[x]`` and ``plain.dot(x)`` read the memory of `x`, not its values:
kernels pass `resolved(x)` there. A test of all operators finds a kernel that does not.

The `Layout` of these arrays is always `PECULIAR`, and their type is not ``np.ndarray``, so no quick
path ever takes one; the rest of the library makes no distinction. Results of operators and
gradients are always plain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, SupportsIndex, cast, overload

import numpy as np

from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.empty import empty_like_preserving

__all__ = [
    "LazyArray",
    "has_bits_of",
    "is_conjugated",
    "is_negated",
    "like",
    "physical",
    "resolved",
    "with_bits",
    "without_repeats",
]

_Method = Literal["__call__", "reduce", "reduceat", "accumulate", "outer", "at"]


class LazyArray(np.ndarray[Any, np.dtype[Any]]):
    """Memory that is read and written through conjugation, negation or both.

    Made by `with_bits`. See Note [Lazy conjugates].

    Attributes
    ----------
    conjugated : bool
        Whether values are the conjugates of what is in memory.
    negated : bool
        Whether values are the negatives of what is in memory, or of its conjugates.
    """

    conjugated: bool = False
    negated: bool = False

    def __array_finalize__(self, obj: object) -> None:
        """Give a part or a rearrangement the bits of the whole."""
        if isinstance(obj, LazyArray):
            self.conjugated = obj.conjugated
            self.negated = obj.negated

    def physical(self) -> Array:
        """The memory as it is."""
        memory: Array = making.plain_view(self)
        return memory

    def resolve(self) -> Array:
        """The values, as a plain copy with the strides of a clone."""
        return self._converted(self.physical())

    def store(self, values: object) -> None:
        """Overwrite all values, with broadcasting and any cast."""
        values = resolved(values)
        if not isinstance(values, np.ndarray):
            values = making.asarray(values)
        np.copyto(self.physical(), self._stored(values), casting="unsafe")

    def _stored(self, values: Array) -> Array:
        """What memory must hold for these values."""
        if values.dtype != self.dtype:
            if values.dtype.kind == "c" and self.dtype.kind != "c":
                values = values.real
            values = values.astype(self.dtype)
        return self._converted(values)

    def _converted(self, array: Array) -> Array:
        """Convert memory to values, or values to memory: each bit is its own inverse."""
        # Not the functions' own results, which are scalars for 0-d arrays.
        result = empty_like_preserving(array.dtype, array)
        if self.conjugated:
            np.conjugate(array, out=result)
            array = result
        if self.negated:
            np.negative(array, out=result)
        return result

    # -- NumPy's protocols -------------------------------------------------------------------

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: _Method, *inputs: object, **kwargs: Any
    ) -> Any:
        """Compute with resolved inputs; results for lazy arrays are converted and stored."""
        run = getattr(ufunc, method)
        if method == "at":
            target, *rest = inputs
            values = resolved(target)
            run(values, *[resolved(x) for x in rest])
            if isinstance(target, LazyArray):
                target.store(values)
            return None
        plain = [resolved(x) for x in inputs]
        outs: tuple[object, ...] | None = kwargs.pop("out", None)
        options = {key: resolved(value) for key, value in kwargs.items()}
        if outs is None:
            return run(*plain, **options)
        # Resolved rather than empty: with `where` some of the old values stay.
        targets = tuple([resolved(out) for out in outs])
        result = run(*plain, out=targets, **options)
        for out, values in zip(outs, targets, strict=True):
            if isinstance(out, LazyArray):
                out.store(values)
        return outs[0] if len(outs) == 1 else outs if outs else result

    def __array_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: Iterable[Any],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """Call one of NumPy's functions with resolved arguments."""
        if func in _ABOUT_MEMORY:
            return func(*[physical(x) for x in args], **kwargs)
        if func in _REARRANGING:
            return super().__array_function__(func, types, args, kwargs)
        out = kwargs.get("out")
        args = tuple(args)
        plain = [_deeply_resolved(x) for x in args]
        options = {key: _deeply_resolved(value) for key, value in kwargs.items()}
        result = func(*plain, **options)
        if func in _WRITING and isinstance(args[0], LazyArray):
            args[0].store(plain[0])
        if isinstance(out, LazyArray):
            out.store(options["out"])
            return out
        return result

    # -- elements ----------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """A part of the array with the same bits, or an element's value."""
        part = super().__getitem__(_deeply_resolved(key))
        return part if isinstance(part, np.ndarray) else self._converted(making.asarray(part))[()]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Overwrite a part."""
        values = resolved(value)
        if not isinstance(values, np.ndarray):
            values = making.asarray(values, self.dtype)
        self.physical()[_deeply_resolved(key)] = self._stored(values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.resolve())

    def __contains__(self, value: object) -> bool:
        return value in self.resolve()

    def __bool__(self) -> bool:
        return bool(self.resolve())

    def __int__(self) -> int:
        return int(self.resolve())

    def __float__(self) -> float:
        return float(self.resolve())

    def __complex__(self) -> complex:
        return complex(self.resolve())

    def __index__(self) -> int:
        return cast("SupportsIndex", self.resolve()).__index__()

    def __repr__(self) -> str:
        return f"LazyArray({self.resolve()!r})"

    # -- parts of complex numbers ------------------------------------------------------------

    @property
    def real(self) -> Array:
        """The real parts, as a part of the same memory."""
        return with_bits(self.physical().real, False, self.negated)

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Array:
        """The imaginary parts; conjugation changes their sign."""
        return with_bits(self.physical().imag, False, self.negated is not self.conjugated)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    @property
    def flat(self) -> Any:
        """Not available: NumPy's flat iterators read memory, not values.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("a lazy array has no flat iterator; use reshape(-1)")

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """The same memory again, or the values under another dtype or type."""
        if args or kwargs:
            return self.resolve().view(*args, **kwargs)
        return super().view()

    def fill(self, value: Any) -> None:
        """Set every element."""
        self[...] = value


def _reading(name: str) -> Callable[..., Any]:
    """A method of arrays that reads, applied to the resolved values."""

    def method(self: LazyArray, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.resolve(), name)(
            *[resolved(x) for x in args], **{key: resolved(x) for key, x in kwargs.items()}
        )

    method.__name__ = name
    return method


def _writing(name: str) -> Callable[..., Any]:
    """A method of arrays that writes, applied to the resolved values, which are then stored."""

    def method(self: LazyArray, *args: Any, **kwargs: Any) -> None:
        values = self.resolve()
        getattr(values, name)(*[resolved(x) for x in args], **kwargs)
        self.store(values)

    method.__name__ = name
    return method


for _name in """
    __format__ __str__ all any argmax argmin argpartition argsort astype choose clip compress conj
    conjugate copy cumprod cumsum dot dump dumps flatten item max mean min nonzero prod repeat round
    searchsorted std sum take tobytes tofile tolist trace var
""".split():
    setattr(LazyArray, _name, _reading(_name))
for _name in "partition put sort".split():
    setattr(LazyArray, _name, _writing(_name))

# NumPy's functions that read addresses, not values.
_ABOUT_MEMORY: Final = frozenset({np.may_share_memory, np.shares_memory})
# NumPy's functions that return parts or rearrangements, through which kernels may write.
_REARRANGING: Final = frozenset(
    {
        np.diagonal,
        np.expand_dims,
        np.flip,
        np.moveaxis,
        np.reshape,
        np.squeeze,
        np.swapaxes,
        np.transpose,
    }
)
# NumPy's functions that write to their first argument.
_WRITING: Final = frozenset(
    {np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask}
)


def with_bits(array: Array, conjugated: bool, negated: bool) -> Array:
    """The memory of a plain array, read and written through conjugation, negation or both.

    Examples
    --------
    >>> import numpy as np
    >>> memory = np.array([1 + 2j, 3 - 4j])
    >>> lazy = with_bits(memory, True, False)
    >>> lazy[0] = 5j
    >>> memory
    array([0.-5.j, 3.-4.j])
    """
    if not conjugated and not negated:
        return array
    lazy = array.view(LazyArray)
    lazy.conjugated = conjugated
    lazy.negated = negated
    return lazy


def like(source: Array, array: Array) -> Array:
    """The memory of a plain array, read and written with the bits of `source`."""
    if isinstance(source, LazyArray):
        return with_bits(array, source.conjugated, source.negated)
    return array


def is_conjugated(array: Array) -> bool:
    """Whether values are the conjugates of what is in memory."""
    return isinstance(array, LazyArray) and array.conjugated


def has_bits_of(array: Array, other: Array) -> bool:
    """Whether two arrays are conjugated and negated alike."""
    if isinstance(array, LazyArray) and isinstance(other, LazyArray):
        return array.conjugated == other.conjugated and array.negated == other.negated
    return type(array) is type(other)


def is_negated(array: Array) -> bool:
    """Whether values are the negatives of what is in memory, or of its conjugates."""
    return isinstance(array, LazyArray) and array.negated


@overload
def resolved(value: Array) -> Array: ...
@overload
def resolved(value: Any) -> Any: ...
def resolved(value: Any) -> Any:
    """A lazy array's values as a plain array; any other value unchanged."""
    return value.resolve() if isinstance(value, LazyArray) else value


def physical(array: Array) -> Array:
    """The memory of an array, as a plain one."""
    return array.physical() if isinstance(array, LazyArray) else array


def without_repeats(array: Array) -> Array:
    """A view of an array with one element of each dimension whose elements are one in memory."""
    if 0 not in array.strides:
        return array
    index = tuple([slice(None) if step else slice(1) for step in array.strides])
    return like(array, physical(array)[index])


def _deeply_resolved(value: Any) -> Any:
    """`resolved`, also inside sequences of arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)([_deeply_resolved(x) for x in value])
    return resolved(value)
