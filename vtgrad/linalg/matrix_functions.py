"""Functions of matrices: the exponential, the logarithm and the square root.

Note [Derivatives of functions of matrices]
The derivative of a function f of a matrix A along E stands in the upper right corner of
``f([[A, E], [0, A]])``: N. Higham, "Functions of Matrices", 2008, section 3.2. The gradient is the
adjoint of the derivative along the adjoint of the result's gradient. The derivative of the adjoint
of A would do as well if there were no eigenvalues on the negative axis: there roots and logarithms
jump, and those of the adjoint are not the adjoints. So derivatives of every order are calls of the
function, with matrices twice as large.
"""

from __future__ import annotations

import typing

import numpy as np

from vtgrad.linalg.matrices import (
    adjoint,
    check_square,
    columns_of,
    constant,
    real_of,
    rows_of,
    shape_of,
    values,
)
from vtgrad.linalg.scipy_modules import scipy_linalg
from vtgrad.linalg.stacked import Context, Stacked, are_finite
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["expm", "logm", "matrix_exp", "sqrtm"]


@explained
def matrix_exp(A: Tensor) -> Tensor:
    """Return the exponentials of square matrices, not of their elements.

    SciPy is needed.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, n, n)``. Half precision is computed in float32.

    Returns
    -------
    Tensor
        A new tensor of the shape of `A`.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If the values are not floating or complex.
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.linalg.matrix_exp(vt.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    if array_of(A, "A").dtype == np.float16:
        return F.to_dtype(
            _called("expm", F.to_dtype(A, np.dtype(np.float32))), np.dtype(np.float16)
        )
    return _called("expm", A)


expm = matrix_exp


@explained
def logm(A: Tensor) -> Tensor:
    """Return the principal logarithms of square matrices, as `scipy.linalg.logm`.

    SciPy is needed.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, n, n)`` without eigenvalues on the negative axis, and not singular.

    Returns
    -------
    Tensor
        A new tensor of the shape of `A`; complex, if the logarithm of a real matrix of them is.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.linalg.logm(vt.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=vt.float64)).round(decimals=9)
    tensor([[0., 1.],
            [0., 0.]], dtype=vtgrad.float64)
    """
    return _called("logm", A)


@explained
def sqrtm(A: Tensor) -> Tensor:
    """Return the principal square roots of square matrices, as `scipy.linalg.sqrtm`.

    SciPy is needed.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, n, n)``. Derivatives need matrices that are not singular.

    Returns
    -------
    Tensor
        A new tensor of the shape of `A`; complex, if the root of a real matrix of them is.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.linalg.sqrtm(vt.tensor([[4.0, 0.0], [0.0, 9.0]])).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return _called("sqrtm", A)


def _called(name: str, x: Tensor) -> Tensor:
    check_square("linalg_matrix_exp" if name == "expm" else name, x)
    return _MatrixFunction.apply(x, name)


def _value(name: str, matrices: Array) -> Array:
    """SciPy's result, which is complex if that of one matrix is."""
    call = getattr(scipy_linalg(name), name)
    if not matrices.size:
        return matrices.copy()
    # Of nan and inf the results are nan: SciPy's functions raise, or never end.
    found = [
        making.asarray(making.call(call, matrices[at]))
        if are_finite(matrices[at])
        else matrices[at] * np.nan
        for at in np.ndindex(*matrices.shape[:-2])
    ]
    is_complex = matrices.dtype.kind == "c" or any(
        x.dtype.kind == "c" and x.imag.any() for x in found
    )
    dtype = np.result_type(matrices.dtype, np.complex64) if is_complex else matrices.dtype
    made = [x.real if x.dtype.kind == "c" and not is_complex else x for x in found]
    return np.stack(made).reshape(matrices.shape).astype(dtype, copy=False)


class _MatrixFunction(Stacked):
    """See Note [Derivatives of functions of matrices]."""

    @staticmethod
    def forward(x: Tensor, name: str) -> Tensor:
        return constant(_value(name, values(x)))

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        x, name = typing.cast("tuple[Tensor, str]", inputs)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        ctx.save_for_forward(x, typing.cast("Tensor", output))
        ctx.called = name

    @staticmethod
    def backward(ctx: Context, grad: Tensor | None) -> tuple[Tensor | None, None]:
        if grad is None:
            return None, None
        (x,) = ctx.saved_tensors
        dtype = x._impl.array.dtype
        whole = F.to_dtype(x, grad._impl.array.dtype)
        found = adjoint(_along(ctx.called, whole, adjoint(grad)))
        return real_of(found) if dtype.kind == "f" else found, None

    @staticmethod
    def jvp(ctx: Context, tangent: Tensor | None, _: object) -> Tensor | None:
        if tangent is None:
            return None
        x, result = ctx.saved_tensors
        # The result of a real matrix may be complex, and its tangent is then.
        dtype = result._impl.array.dtype
        found = _along(ctx.called, F.to_dtype(x, dtype), F.to_dtype(tangent, dtype))
        return real_of(found) if dtype.kind == "f" else found


def _along(name: str, x: Tensor, direction: Tensor) -> Tensor:
    """The derivative of a function at matrices along others.

    It is linear in the direction, which is brought to the size of 1 first: a function of a matrix
    of which one part is huge would lose the others.
    """
    size = shape_of(x)[-1]
    if not size:
        return direction
    largest = F.amax(F.abs(F.detach(direction)), (-2, -1), True)
    unit = F.masked_fill(largest, F.logical_or(F.eq(largest, 0), F.isinf(largest)), 1)
    top = F.cat([x, F.true_divide(direction, unit)], -1)
    bottom = F.cat([F.zeros_like(x), x], -1)
    whole = _MatrixFunction.apply(F.cat([top, bottom], -2), name)
    return F.mul(rows_of(columns_of(whole, size, 2 * size), 0, size), unit)
