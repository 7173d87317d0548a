# Compiled by mypyc.
"""Memory order of new results: the strides of the array of a result.

In PyTorch the inputs decide. If their strides agree, the result has the same strides; if not,
dimensions are sorted by stride, and the first operand that distinguishes two dimensions decides
their order. NumPy's ``order="K"`` falls back to C order in the second case, so results are
allocated here and passed to ufuncs as ``out``.

Note [Canonical strides]
NumPy's C-contiguity ignores the strides of dimensions of size 1, but those strides affect the order
of a result in the sorted case: ``x + 2`` of a ``(1, 3)`` array with strides ``(1, 1)`` has strides
``(1, 1)``. So a C-contiguous operand implies C order only without dimensions of size 1, and quick
paths check ``1 not in shape`` beside the flag.

Arrays whose strides are all 0, such as the gradient of a sum, decide nothing either.

Note [Converted operands]
PyTorch converts operands to the dtype of the computation first, and compares strides afterwards. A
converted operand has neither gaps nor repetitions, so an expanded integer array of shape ``(2, 3)``
is row-major in a sum with a floating one, and takes part in the decision.

Note [Remembered strides]
To find the strides of a result takes ten times as long as to compute a small one, and a program
meets few pairs of geometries again and again. So what was found is remembered. Mostly it is what
NumPy chooses for a new result; then the ufunc allocates it, which is the quickest. Like layouts,
what is remembered is forgotten as a whole when it becomes too much.
"""

from __future__ import annotations

from typing import Final, TypeAlias, cast

import numpy as np

from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Number, NumpyDType, Shape
from vtgrad.storage.empty import (
    element_strides,
    empty_in_format,
    empty_like_preserving,
    empty_strided,
)
from vtgrad.storage.loops import NATIVE, binary_loop
from vtgrad.storage.shapes import broadcast_shapes
from vtgrad.storage.strides import (
    channels_last_strides,
    dense_strides_in_order,
    is_non_overlapping_and_dense,
    memory_order,
)

__all__ = [
    "as_converted",
    "broadcast_shapes",
    "called",
    "element_strides",
    "empty_in_format",
    "empty_in_order_of",
    "empty_like_elementwise",
    "empty_like_preserving",
    "empty_strided",
    "is_plain",
    "with_strides_of_values",
]


def is_plain(a: Array) -> bool:
    """Whether `a` is C-contiguous or one value expanded; see Note [Canonical strides]."""
    return a.flags.c_contiguous or not any(a.strides)


# See Note [Remembered strides]; strides are in bytes. Of ufuncs shape, dtype and strides of the
# result, or None where NumPy allocates it.
_Key: TypeAlias = tuple[object, ...]
_Found: TypeAlias = tuple[Shape, NumpyDType, Shape]
_of_ufuncs: Final[dict[_Key, _Found | None]] = {}
_strides_of: Final[dict[_Key, Shape]] = {}
_BOUND: Final = 1024


def called(ufunc: np.ufunc, a: Array, b: Array | None = None) -> Array:
    """The result of a ufunc, with the strides of an elementwise result.

    Parameters
    ----------
    ufunc : numpy.ufunc
        Its result for these operands has the dtype that the library gives it.
    a, b : ndarray
        The operands, of one dtype; plain arrays.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    """
    key: _Key
    if b is None:
        key = (ufunc, a.shape, a.strides, a.dtype)
    else:
        key = (ufunc, a.shape, a.strides, b.shape, b.strides, a.dtype)
    known = _of_ufuncs.get(key, key)
    if known is None:
        found = ufunc(a) if b is None else ufunc(a, b)
        by_numpy: Array = found if type(found) in PLAIN else making.asarray(found)
        return by_numpy
    if known is key:
        return _called_first(ufunc, key, a, b)
    shape, dtype, strides = cast("_Found", known)
    out: Array = making.ndarray(shape, dtype, None, 0, strides)
    if b is None:
        ufunc(a, out)
    elif not NATIVE or binary_loop(ufunc, a, b, out) is None:
        # By keyword: `maximum` and `minimum` warn of a third operand.
        ufunc(a, b, out=out)
    return out


def _called_first(ufunc: np.ufunc, key: _Key, a: Array, b: Array | None) -> Array:
    operands = (a,) if b is None else (a, b)
    result: Array = making.asarray(ufunc(*operands))
    out = empty_like_elementwise(result.dtype, result.shape, *operands)
    if len(_of_ufuncs) >= _BOUND:
        _of_ufuncs.clear()
    # The loops in C need a place for the result, and are then quicker than the ufunc.
    served = NATIVE and b is not None and binary_loop(ufunc, a, b, out) is not None
    if result.strides == out.strides and not served:
        _of_ufuncs[key] = None
        return result
    _of_ufuncs[key] = out.shape, out.dtype, out.strides
    np.copyto(out, result)
    return out


def empty_like_elementwise(dtype: NumpyDType, shape: Shape, *operands: Array | Number) -> Array:
    """An uninitialised array for the elementwise result of `operands`.

    Parameters
    ----------
    dtype : numpy.dtype
        The dtype of the result.
    shape : tuple of int
        The shape of the result; every operand broadcasts to it.
    *operands : ndarray or number
        In the operator's order: earlier ones decide. A number counts as a 0-d array.
    """
    if 1 not in shape:
        for x in operands:
            if isinstance(x, np.ndarray) and not x.flags.c_contiguous:
                break
        else:
            return making.empty(shape, dtype)
    parts: list[object] = [shape, dtype]
    for x in operands:
        if isinstance(x, np.ndarray):
            if type(x) not in PLAIN:
                return _found_for(dtype, shape, operands)
            parts += (x.shape, x.strides, x.dtype)
        else:
            parts.append(None)
    key = tuple(parts)
    strides = _strides_of.get(key)
    if strides is None:
        result = _found_for(dtype, shape, operands)
        if len(_strides_of) >= _BOUND:
            _strides_of.clear()
        _strides_of[key] = result.strides
        return result
    known: Array = making.ndarray(shape, dtype, None, 0, strides)
    return known


def _found_for(dtype: NumpyDType, shape: Shape, operands: tuple[Array | Number, ...]) -> Array:
    same = True
    contiguous = True
    arrays: list[Array] = []
    for x in operands:
        if not isinstance(x, np.ndarray):
            same = same and not shape
            continue
        if type(x) not in PLAIN:
            x = with_strides_of_values(x)
        if x.shape != shape:
            same = False
        if not x.flags.c_contiguous:
            x = _as_converted(x, dtype)
            if any(x.strides):
                contiguous = contiguous and x.flags.c_contiguous
            else:
                # One value, expanded: like a number, it decides no order.
                same = False
        arrays.append(x)
    if contiguous and (same or 1 not in shape):
        return making.empty(shape, dtype)
    if len(shape) == 1 and shape[0] > 1:
        # There is only one order, and gaps are not kept.
        return making.empty(shape, dtype)
    if same:
        strides = _agreed_strides(shape, arrays)
        if strides is not None:
            return empty_strided(dtype, shape, strides)
    order = memory_order(shape, *[_broadcast_strides(x, shape) for x in arrays])
    return empty_strided(dtype, shape, dense_strides_in_order(shape, order))


def as_converted(dtype: NumpyDType, *operands: Array | Number) -> list[Array | Number]:
    """Operands with the strides that they have after conversion; see Note [Converted operands]."""
    return [_as_converted(x, dtype) if isinstance(x, np.ndarray) else x for x in operands]


def _as_converted(x: Array, dtype: NumpyDType) -> Array:
    # No operator converts from floating values to integers, nor to the bools of a comparison.
    if x.flags.c_contiguous or x.dtype == dtype or not np.can_cast(x.dtype, dtype, "same_kind"):
        return x
    return empty_like_preserving(dtype, x)


def empty_in_order_of(dtype: NumpyDType, a: Array) -> Array:
    """An uninitialised array for a result computed from `a` in several steps, or from its parts.

    Its strides are gapless in the memory order of `a`; they may differ from gapless strides of `a`.
    """
    order = memory_order(a.shape, element_strides(with_strides_of_values(a)))
    return empty_strided(dtype, a.shape, dense_strides_in_order(a.shape, order))


def with_strides_of_values(a: Array) -> Array:
    """An array with the strides of `a` or, if `a` is lazy, of its resolved values."""
    return a if type(a) in PLAIN else empty_like_preserving(a.dtype, a)


def _agreed_strides(shape: Shape, arrays: list[Array]) -> tuple[int, ...] | None:
    """The strides, in elements, of arrays of one shape that agree; None if they do not."""
    if len(shape) == 4 and all(_is_channels_last(x) for x in arrays):
        return channels_last_strides(shape)
    first = element_strides(arrays[0])
    for x in arrays[1:]:
        if element_strides(x) != first:
            return None
    return first if is_non_overlapping_and_dense(shape, first) else None


def _is_channels_last(x: Array) -> bool:
    """Whether a 4-d array is contiguous in the order batch, height, width, channels."""
    flag: bool = x.transpose(0, 2, 3, 1).flags.c_contiguous
    return flag


def _broadcast_strides(x: Array, shape: Shape) -> tuple[int, ...]:
    """Strides, in elements, of `x` expanded to `shape`."""
    missing = len(shape) - x.ndim
    own = element_strides(x)
    return (0,) * missing + tuple(
        [
            0 if size == 1 and full != 1 else stride
            for size, full, stride in zip(x.shape, shape[missing:], own, strict=True)
        ]
    )
