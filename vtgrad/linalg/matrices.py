"""What the functions of this package share: checks, adjoints, and results that go into ``out=``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, MatrixShapeError, NotSupportedError
from vtgrad.graph.batch import is_batched
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.dtypes import DType, numpy_dtype
from vtgrad.storage.key_set import keys
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.tensor.tensor import Tensor
from vtgrad.views.write_out import check_out, write_out, write_outs

__all__ = [
    "adjoint",
    "cast_to",
    "check_matrices",
    "check_same_dtype",
    "check_square",
    "columns_of",
    "common_stack",
    "conjugate",
    "constant",
    "diagonal_of",
    "epsilon",
    "identity_like",
    "real_of",
    "rows_of",
    "shape_of",
    "stored",
    "stored_all",
    "transposed",
    "values",
    "with_stack",
]

T = TypeVar("T", bound=TensorBase)
R = TypeVar("R", bound=tuple[object, ...])


def constant(array: Array) -> Tensor:
    """A new tensor on an array that nothing else holds."""
    return Tensor._wrap(TensorImpl(making.asarray(array)))


def values(x: TensorBase) -> Array:
    """The elements of a tensor that has no samples.

    Raises
    ------
    NotSupportedError
        If it is on a lane, whose threads may not have computed it yet.
    """
    if keys.active and x._impl.device.type != "cpu":
        raise NotSupportedError(
            f"this function of vtgrad.linalg computes on the CPU, and got a tensor on "
            f"{x._impl.device}; pass x.cpu()",
            device=x._impl.device,
        )
    return resolved(x._impl.array)


def shape_of(x: TensorBase) -> Shape:
    """The shape, as a tuple of int."""
    shape: Shape = x._impl.array.shape
    return shape


def check_matrices(name: str, x: TensorBase, argument: str = "A") -> Shape:
    """The shape of a stack of matrices of float32, float64 or complex values.

    Raises
    ------
    ArgumentTypeError
        If it is no tensor.
    MatrixShapeError
        If it has fewer than two dimensions.
    DTypeError
        If its dtype is another one.
    NamesNotSupportedError
        If its dimensions have names.
    """
    refuse_names(name, x)
    array = array_of(x, argument)
    if array.ndim < 2:
        raise MatrixShapeError(
            f"{name}() needs a matrix or a stack of matrices for {argument}, not shape "
            f"{array.shape}",
            shape=array.shape,
        )
    if array.dtype.kind not in "fc" or array.dtype.itemsize < 4:
        raise DTypeError(
            f"{name}() needs float32, float64 or complex values, not {array.dtype}",
            dtype=array.dtype,
        )
    shape: Shape = array.shape
    return shape


def check_square(name: str, x: TensorBase, argument: str = "A") -> Shape:
    """The same of square matrices.

    Raises
    ------
    MatrixShapeError
        If they are not square.
    """
    shape = check_matrices(name, x, argument)
    if shape[-1] != shape[-2]:
        raise MatrixShapeError(
            f"{name}() needs square matrices for {argument}, not shape {shape}", shape=shape
        )
    return shape


def check_same_dtype(name: str, *tensors: TensorBase) -> NumpyDType:
    """The dtype that all have.

    Raises
    ------
    DTypeError
        If they differ.
    NamesNotSupportedError
        If dimensions have names.
    """
    refuse_names(name, *tensors)
    dtypes: list[NumpyDType] = [array_of(x, "A").dtype for x in tensors]
    for dtype in dtypes:
        if dtype != dtypes[0]:
            raise DTypeError(
                f"{name}() needs operands of one dtype, not {dtypes[0]} and {dtype}",
                dtypes=(dtypes[0], dtype),
            )
    return dtypes[0]


def common_stack(name: str, *shapes: Shape) -> Shape:
    """The dimensions in front of the matrices, which broadcast.

    Raises
    ------
    MatrixShapeError
        If they do not.
    """
    try:
        return np.broadcast_shapes(*[shape[:-2] for shape in shapes])
    except ValueError:
        raise MatrixShapeError(
            f"{name}() got stacks of matrices that do not broadcast: shapes {list(shapes)}",
            shapes=shapes,
        ) from None


def with_stack(x: T, stack: Shape, matrix_dims: int = 2) -> T:
    """The same matrices, with these dimensions in front."""
    shape = shape_of(x)
    wanted = (*stack, *shape[len(shape) - matrix_dims :])
    return x if shape == wanted else F.broadcast_to(x, wanted)


def conjugate(x: T) -> T:
    """The conjugates of complex values; real ones as they are."""
    return F.conj_physical(x) if x._impl.array.dtype.kind == "c" else x


def transposed(x: T) -> T:
    """The last two dimensions exchanged, as a view."""
    return F.transpose(x, -2, -1)


def adjoint(x: T) -> T:
    """The last two dimensions exchanged, conjugated."""
    return conjugate(F.transpose(x, -2, -1))


def real_of(x: T) -> T:
    """The real parts of complex values, as a new tensor; real ones as they are."""
    return F.clone(F.real(x)) if x._impl.array.dtype.kind == "c" else x


def diagonal_of(x: T) -> T:
    """The diagonals of matrices, as a view."""
    return F.diagonal(x, 0, -2, -1)


def rows_of(x: T, start: int, end: int) -> T:
    """Some rows of matrices, as a view."""
    return F.narrow(x, -2, start, end - start)


def columns_of(x: T, start: int, end: int) -> T:
    """Some columns of matrices, as a view."""
    return F.narrow(x, -1, start, end - start)


def identity_like(x: TensorBase, size: int) -> Tensor:
    """An identity matrix of the dtype of a tensor."""
    return constant(making.eye(size, dtype=x._impl.array.dtype))


def epsilon(dtype: NumpyDType) -> float:
    """The distance from 1 to the next number of a dtype."""
    return float(np.finfo(dtype).eps)


def cast_to(name: str, x: T, dtype: DType | None) -> T:
    """A tensor in the dtype of the argument ``dtype=``, recorded.

    Raises
    ------
    ArgumentTypeError
        If that is no dtype.
    DTypeError
        If it is not inexact, or real for complex values, or narrower than the values are.
    """
    if dtype is None:
        return x
    own = array_of(x, "x").dtype
    if not isinstance(dtype, DType):
        raise ArgumentTypeError(
            f"argument 'dtype' must be a dtype, not {type(dtype).__name__}", argument="dtype"
        )
    wanted = numpy_dtype(dtype)
    if wanted.kind not in "fc" or (own.kind == "c") != (wanted.kind == "c"):
        raise DTypeError(
            f"{name}() computes {own} values in a wider dtype of the same kind, not in {wanted}",
            dtype=dtype,
        )
    if not np.can_cast(own, wanted):
        raise DTypeError(
            f"{name}() does not narrow {own} values to {wanted} before the sum", dtype=dtype
        )
    return x if own == wanted else F.to_dtype(x, wanted)


def _refuse_samples(name: str, *tensors: TensorBase) -> None:
    if any(is_batched(x) for x in tensors):
        raise NotSupportedError(
            f"{name}() with out= cannot be used inside of vmap; call it without out= and store "
            "the result with copy_"
        )


def stored(name: str, found: T, out: T | None, *inputs: TensorBase) -> T:
    """A result, or ``out`` with its values.

    Raises
    ------
    OutGradError
        If a tensor requires grad while recording is on.
    ResultTypeError
        If the dtype of ``out`` cannot hold the result.
    NotSupportedError
        Inside of `vmap`.
    """
    if out is None:
        return found
    array_of(out, "out")
    _refuse_samples(name, found, out)
    check_out(out, *inputs)
    return write_out(out, values(found), name)


def stored_all(name: str, found: R, out: Sequence[Tensor] | None, *inputs: TensorBase) -> R:
    """Several results, or those of ``out`` with their values, in a tuple of the same class.

    Raises
    ------
    ArgumentTypeError
        If ``out`` has not as many tensors.
    OutGradError, ResultTypeError, NotSupportedError
        As of `stored`.
    """
    if out is None:
        return found
    results = cast("tuple[Tensor, ...]", found)
    if not isinstance(out, (tuple, list)) or len(out) != len(results):
        raise ArgumentTypeError(
            f"argument 'out' of {name}() must be {len(results)} tensors", argument="out"
        )
    for one in out:
        array_of(one, "out")
    _refuse_samples(name, *results, *out)
    for one in out:
        check_out(one, *inputs)
    made = write_outs(list(out), [values(x) for x in results], name)
    return type(found)(*made)
