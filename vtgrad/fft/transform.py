"""What the Fourier transforms share: dtypes, dimensions, sizes and factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from vtgrad.errors import DimensionError, DTypeError, OptionValueError, ResultTypeError, ShapeError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.ops.generated import functional as F
from vtgrad.storage.argument_types import T
from vtgrad.storage.integers import index_of
from vtgrad.storage.promotion import result_dtype
from vtgrad.storage.shapes import normalize_dim
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "OTHER_DIRECTION",
    "check_complex_out",
    "check_real_out",
    "complex_values",
    "in_size",
    "in_sizes",
    "one_dim",
    "real_values",
    "scale_of",
    "sizes_and_dims",
    "some_dims",
]

# Note [Names of factors]
#
# `norm` is called after the direction that divides by the number of elements, and the operators'
# `scale` (Note [Factors of transforms]) as if each transform were the forward one. So of an
# inverse transform the two words are different.

#: The norm of a transform of the other direction with the same factor.
OTHER_DIRECTION: Final = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def scale_of(norm: str | None, inverse: bool) -> str:
    """What the operators call the factor, see Note [Names of factors].

    Raises
    ------
    OptionValueError
        If there is no such norm.
    """
    word = "backward" if norm is None else norm
    if word not in OTHER_DIRECTION:
        raise OptionValueError(
            f'norm must be "backward", "ortho" or "forward", not {norm!r}', norm=norm
        )
    return OTHER_DIRECTION[word] if inverse else word


def complex_values(input: T) -> T:
    """The values in a complex dtype; real ones are cast, which is recorded."""
    found = array_of(input, "input").dtype
    _refuse_half(found)
    if found.kind == "c":
        return input
    floats = found if found.kind == "f" else result_dtype(input._impl.array, 1.0)
    return F.to_dtype(input, np.result_type(floats, np.complex64))


def real_values(name: str, input: T) -> T:
    """The values in a floating dtype; integers are cast to the default dtype.

    Raises
    ------
    DTypeError
        If they are complex.
    """
    found = array_of(input, "input").dtype
    _refuse_half(found)
    if found.kind == "c":
        raise DTypeError(f"{name}() takes real values, not {found.name}", dtype=found)
    if found.kind == "f":
        return input
    return F.to_dtype(input, result_dtype(input._impl.array, 1.0))


def _refuse_half(found: np.dtype[np.generic]) -> None:
    if found == np.float16:
        raise DTypeError(
            "there is no Fourier transform of float16; cast the values to float32 first",
            dtype=found,
        )


def one_dim(input: TensorBase, dim: int) -> int:
    """A dimension, counted from the first.

    Raises
    ------
    DimensionError
        If `input` has no such dimension.
    """
    ndim = array_of(input, "input").ndim
    if not ndim:
        raise DimensionError("a transform needs a dimension, and a 0-d tensor has none", ndim=0)
    return normalize_dim(checked_dim(dim), ndim)


def some_dims(input: TensorBase, dim: int | Sequence[int]) -> list[int]:
    """Several different dimensions, counted from the first.

    Raises
    ------
    OptionValueError
        If one of them stands twice.
    """
    dims = [one_dim(input, one) for one in (dim if isinstance(dim, Sequence) else (dim,))]
    if len(set(dims)) < len(dims):
        raise OptionValueError(f"a transform along dimensions {dims} takes one twice", dim=dims)
    return dims


def sizes_and_dims(
    name: str, input: TensorBase, s: int | Sequence[int] | None, dim: int | Sequence[int] | None
) -> tuple[list[int], list[int]]:
    """The size that each dimension is brought to, and the dimensions; -1 leaves a size.

    Without `dim` they are the last ones, as many as there are sizes, or all.

    Raises
    ------
    ShapeError
        If there are more sizes than dimensions.
    OptionValueError
        If the numbers of sizes and of dimensions differ, or a dimension stands twice.
    """
    ndim = array_of(input, "input").ndim
    given = None if s is None else list(s) if isinstance(s, Sequence) else [s]
    if dim is not None:
        dims = some_dims(input, dim)
        if given is not None and len(given) != len(dims):
            raise OptionValueError(
                f"{name}() needs as many sizes as dimensions, not {len(given)} and {len(dims)}"
            )
    elif given is None:
        dims = list(range(ndim))
    else:
        if len(given) > ndim:
            raise ShapeError(
                f"{name}() got {len(given)} sizes for a tensor of {ndim} dimensions",
                shape=input.shape,
            )
        dims = list(range(ndim - len(given), ndim))
    sizes = [-1] * len(dims) if given is None else [index_of(size, "s") for size in given]
    return sizes, dims


def in_size(input: T, size: int, dim: int) -> T:
    """The first elements along a dimension, with zeros behind them where there are not enough.

    Raises
    ------
    OptionValueError
        If the size is less than 1.
    """
    if size < 1:
        raise OptionValueError(f"a Fourier transform needs at least one value, not {size}", n=size)
    missing = size - input.shape[dim]
    if missing == 0:
        return input
    if missing < 0:
        return F.narrow(input, dim, 0, size)
    widths = (0, 0) * (input.ndim - 1 - dim) + (0, missing)
    return F.constant_pad(input, widths, 0)


def in_sizes(input: T, sizes: Sequence[int], dims: Sequence[int]) -> T:
    """The same along several dimensions, of which -1 leaves the size."""
    for size, dim in zip(sizes, dims, strict=True):
        input = in_size(input, input.shape[dim] if size == -1 else size, dim)
    return input


def check_complex_out(name: str, out: TensorBase | None) -> None:
    """Raise `ResultTypeError` if ``out`` cannot hold the complex result."""
    if out is not None and array_of(out, "out").dtype.kind != "c":
        raise ResultTypeError(f"{name}() stores complex values, and out is {out._impl.dtype}")


def check_real_out(name: str, out: TensorBase | None) -> None:
    """Raise `ResultTypeError` if ``out`` is not of the kind of the result, which is real."""
    if out is not None and array_of(out, "out").dtype.kind != "f":
        raise ResultTypeError(f"{name}() stores real values, and out is {out._impl.dtype}")
