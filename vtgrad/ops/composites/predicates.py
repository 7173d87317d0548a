"""Questions about tensors that are answered by Python values."""

from __future__ import annotations

import math

import numpy as np

from vtgrad.errors import AmbiguousTruthError, DeviceError
from vtgrad.graph.tracer import read_value
from vtgrad.ops import kernels as k
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.generated import functional as F
from vtgrad.storage.key_set import keys
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "allclose",
    "equal",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "numel",
]


def allclose(
    input: TensorBase,
    other: TensorBase,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> bool:
    """Return whether two tensors are equal up to tolerances.

    That is whether ``abs(input - other) <= atol + rtol * abs(other)`` holds for all elements,
    as a Python bool. Infinities are close to their like; the comparison is not symmetric.
    Shapes broadcast.

    Parameters
    ----------
    input : Tensor
        The values to judge.
    other : Tensor
        The values to compare with, of the same dtype.
    rtol : float, default 1e-05
        Relative tolerance.
    atol : float, default 1e-08
        Absolute tolerance.
    equal_nan : bool, default False
        Whether a nan is close to another nan.

    Returns
    -------
    bool
        Whether all elements are close.

    Raises
    ------
    DTypeError
        If the dtypes differ.
    ShapeError
        If the shapes do not broadcast.
    OptionValueError
        If a tolerance is negative.
    ArgumentTypeError
        If an operand is not a tensor.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0])
    >>> vt.allclose(x, x + 1e-6)
    True
    >>> vt.allclose(x, x + 1e-3)
    False
    >>> vt.allclose(x, x + 1e-3, atol=0.01)
    True
    """
    if keys.active and is_overridden(input, other):
        return call_override(allclose, input, other, rtol, atol, equal_nan)
    close = F.isclose(input, other, rtol, atol, equal_nan)
    if keys.modes:
        read_value(close)
    return bool(close._impl.array.all())


@explained
def equal(input: TensorBase, other: TensorBase) -> bool:
    """Return whether two tensors have the same shape and the same values.

    The answer is a Python bool. The dtypes may differ: values are compared in the promoted
    dtype. A nan equals nothing, so a tensor with a nan does not even equal itself. Tensors of
    different shapes are not broadcast: they are not equal.

    Parameters
    ----------
    input : Tensor
        First tensor.
    other : Tensor
        Second tensor.

    Returns
    -------
    bool
        Whether shapes and all values agree.

    Raises
    ------
    ArgumentTypeError
        If one of the two is not a tensor.
    DeviceError
        If they are on different devices.

    Examples
    --------
    >>> vt.equal(vt.tensor([1, 2]), vt.tensor([1.0, 2.0]))
    True
    >>> vt.equal(vt.ones(2), vt.ones(1, 2))
    False
    >>> vt.equal(vt.tensor(float('nan')), vt.tensor(float('nan')))
    False
    """
    a, b = array_of(input, "input"), array_of(other, "other")
    if keys.active:
        here, there = input._impl.device, other._impl.device
        if here != there:
            raise DeviceError(
                f"equal compares tensors on one device, not on {here} and {there}",
                operator="equal",
                devices=(here, there),
            )
        if input._impl.names != other._impl.names:
            return False
    if keys.modes:
        read_value(input)
        read_value(other)
    return a.shape == b.shape and bool(run_without_warnings(k.eq, a, b).all())


def is_nonzero(input: TensorBase) -> bool:
    """Return whether the one element of a tensor is not zero.

    This is the truth of a tensor, which ``if`` and ``bool()`` ask for. A nan is not zero. A
    bool is taken for 0 or 1.

    Parameters
    ----------
    input : Tensor
        Tensor with exactly one element, of any number of dimensions.

    Returns
    -------
    bool
        Whether the element differs from zero.

    Raises
    ------
    AmbiguousTruthError
        If the number of elements is not 1.
    ArgumentTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> vt.is_nonzero(vt.tensor([[0.0]]))
    False
    >>> vt.is_nonzero(vt.tensor(-3))
    True
    >>> bool(vt.tensor(float('nan')))
    True
    """
    if keys.active and is_overridden(input):
        return call_override(is_nonzero, input)
    array = array_of(input, "input")
    if math.prod(array.shape) != 1:
        raise AmbiguousTruthError(
            f"whether it is zero can be said of one element, not of shape {list(input.shape)}"
        )
    if keys.modes:
        read_value(input)
    return bool(np.any(array))


def numel(input: TensorBase) -> int:
    """Return the number of elements.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.

    Returns
    -------
    int
        The product of the sizes; 1 of a 0-d tensor.

    Raises
    ------
    ArgumentTypeError
        If `input` is no tensor.

    Examples
    --------
    >>> vt.numel(vt.zeros(2, 3)), vt.numel(vt.tensor(5.0)), vt.numel(vt.zeros(0, 3))
    (6, 1, 0)
    """
    if keys.active and is_overridden(input):
        return call_override(numel, input)
    return math.prod(array_of(input, "input").shape)


def is_tensor(obj: object) -> bool:
    """Return whether an object is a tensor.

    NumPy arrays and numbers are no tensors; `from_numpy` and `tensor` make tensors of them.

    Parameters
    ----------
    obj : object
        Any object.

    Returns
    -------
    bool
        Whether `obj` is a tensor, an instance of a subclass included.

    Examples
    --------
    >>> vt.is_tensor(vt.zeros(2))
    True
    >>> vt.is_tensor(np.zeros(2)), vt.is_tensor(1.0)
    (False, False)
    """
    return isinstance(obj, TensorBase)


def is_complex(input: TensorBase) -> bool:
    """Return whether a tensor has a complex dtype.

    Only the dtype counts: a complex tensor whose imaginary parts are all zero is complex.
    `isreal` looks at the values.

    Parameters
    ----------
    input : Tensor
        Tensor of any dtype and shape.

    Returns
    -------
    bool
        True for complex64 and complex128.

    Raises
    ------
    ArgumentTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> vt.is_complex(vt.tensor([1 + 0j]))
    True
    >>> vt.is_complex(vt.tensor([1.0]))
    False
    """
    if keys.active and is_overridden(input):
        return call_override(is_complex, input)
    kind: str = array_of(input, "input").dtype.kind
    return kind == "c"


def is_floating_point(input: TensorBase) -> bool:
    """Return whether a tensor has a real floating dtype.

    Only the dtype counts. Complex dtypes are no floating dtypes here; `is_complex` asks for
    them.

    Parameters
    ----------
    input : Tensor
        Tensor of any dtype and shape.

    Returns
    -------
    bool
        True for float16, float32 and float64.

    Raises
    ------
    ArgumentTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> vt.is_floating_point(vt.tensor([1.0]))
    True
    >>> vt.is_floating_point(vt.tensor([1]))
    False
    >>> vt.is_floating_point(vt.tensor([1j]))
    False
    """
    if keys.active and is_overridden(input):
        return call_override(is_floating_point, input)
    kind: str = array_of(input, "input").dtype.kind
    return kind == "f"


def is_signed(input: TensorBase) -> bool:
    """Return whether the dtype of a tensor has negative values.

    All dtypes have them but bool and uint8. Complex dtypes count as signed.

    Parameters
    ----------
    input : Tensor
        Tensor of any dtype and shape.

    Returns
    -------
    bool
        False for bool and uint8, else True.

    Raises
    ------
    ArgumentTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> vt.is_signed(vt.tensor([1]))
    True
    >>> vt.is_signed(vt.tensor([1], dtype=vt.uint8))
    False
    >>> vt.is_signed(vt.tensor([True]))
    False
    """
    if keys.active and is_overridden(input):
        return call_override(is_signed, input)
    return array_of(input, "input").dtype.kind not in "bu"


def is_same_size(input: TensorBase, other: TensorBase) -> bool:
    """Return whether two tensors have the same shape.

    Dtypes, strides and values do not matter. Shapes that merely broadcast are not the same.

    Parameters
    ----------
    input : Tensor
        First tensor.
    other : Tensor
        Second tensor.

    Returns
    -------
    bool
        Whether the shapes are equal.

    Raises
    ------
    ArgumentTypeError
        If one of the two is not a tensor.

    Examples
    --------
    >>> vt.is_same_size(vt.zeros(2, 3), vt.ones(2, 3, dtype=vt.int64))
    True
    >>> vt.is_same_size(vt.ones(3), vt.ones(1, 3))
    False
    """
    if keys.active and is_overridden(input, other):
        return call_override(is_same_size, input, other)
    return bool(array_of(input, "input").shape == array_of(other, "other").shape)
