"""Activations that are linear on both sides of a few kinks.

At a kink the derivative is that of PyTorch, which the docstrings state. Derivatives of higher order
are zero.
"""

from __future__ import annotations

from vtgrad.errors import ArgumentValueError, NotSupportedError, OptionValueError, ShapeError
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.nn.functional.in_place import in_place
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.drawing import target_of_draw
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "softshrink",
    "threshold",
    "threshold_",
]


@explained
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the positive part of each element; the derivative at 0 is 0.

    Parameters
    ----------
    input : Tensor
        Real values, of any shape.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`, or `input`.

    Examples
    --------
    >>> vt.nn.functional.relu(vt.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return F.relu_(input) if inplace else F.relu(input)


@explained
def relu_(input: Tensor) -> Tensor:
    """Write the positive part of each element in its place; see `relu`.

    Parameters
    ----------
    input : Tensor
        Real values, of any shape.

    Returns
    -------
    Tensor
        `input`.

    Examples
    --------
    >>> vt.nn.functional.relu_(vt.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return F.relu_(input)


@explained
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Return each element, or the nearer of two bounds; the derivative at a bound is 0.

    Parameters
    ----------
    input : Tensor
        Real values, of any shape.
    min_val, max_val : float, default -1.0 and 1.0
        The bounds; those of integers are cut to integers.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`, or `input`.

    Raises
    ------
    ArgumentValueError
        If `min_val` is above `max_val`.
    OptionValueError
        If `input` is of bools, or a bound of unsigned integers is negative.

    Examples
    --------
    >>> vt.nn.functional.hardtanh(vt.tensor([-3.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    low, high = real_of(min_val, "min_val"), real_of(max_val, "max_val")
    if low > high:
        raise ArgumentValueError(f"min_val is {low}, above max_val, which is {high}")
    return _between("hardtanh", input, low, high, inplace)


@explained
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Write each element, or the nearer of two bounds, in its place; see `hardtanh`.

    Parameters
    ----------
    input, min_val, max_val
        As of `hardtanh`.

    Returns
    -------
    Tensor
        `input`.

    Raises
    ------
    ArgumentValueError, OptionValueError
        As `hardtanh`.

    Examples
    --------
    >>> vt.nn.functional.hardtanh_(vt.tensor([-3.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    return hardtanh(input, min_val, max_val, inplace=True)


@explained
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return each element, but 0 below 0 and 6 above 6; the derivative at both is 0.

    Parameters
    ----------
    input : Tensor
        Real values, of any shape.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`, or `input`.

    Raises
    ------
    OptionValueError
        If `input` is of bools.

    Examples
    --------
    >>> vt.nn.functional.relu6(vt.tensor([-1.0, 2.0, 7.0]))
    tensor([0., 2., 6.])
    """
    return _between("relu6", input, 0.0, 6.0, inplace)


@explained
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return each element that is above a threshold, and a value for the others.

    The derivative of an element that is at the threshold is 0.

    Parameters
    ----------
    input : Tensor
        Real values, of any shape.
    threshold : float
        The threshold.
    value : float
        What stands for an element that is not above it.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`, or `input`.

    Raises
    ------
    NotSupportedError
        If `input` is of bools or complex numbers.

    Examples
    --------
    >>> vt.nn.functional.threshold(vt.tensor([-1.0, 2.0]), 1.0, 20.0)
    tensor([20.,  2.])
    """
    dtype = check_kind("threshold", input, "fiu")
    limit, other = real_of(threshold, "threshold"), real_of(value, "value")
    if dtype.kind != "f":
        limit, other = int(limit), int(other)
    return _filled(input, F.le(input, limit), other, inplace)


@explained
def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Write a value in place of each element that is not above a threshold; see `threshold`.

    Parameters
    ----------
    input, threshold, value
        As of `threshold`.

    Returns
    -------
    Tensor
        `input`.

    Raises
    ------
    NotSupportedError
        As `threshold`.

    Examples
    --------
    >>> vt.nn.functional.threshold_(vt.tensor([-1.0, 2.0]), 1.0, 20.0)
    tensor([20.,  2.])
    """
    check_kind("threshold", input, "fiu")
    limit, other = real_of(threshold, "threshold"), real_of(value, "value")
    if input._impl.array.dtype.kind != "f":
        limit, other = int(limit), int(other)
    return _filled(input, F.le(input, limit), other, True)


@explained
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return positive elements, and others multiplied by a slope, which is the derivative at 0.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape.
    negative_slope : float, default 0.01
        The slope.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`, or `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.

    Examples
    --------
    >>> vt.nn.functional.leaky_relu(vt.tensor([-1.0, 2.0]), 0.5)
    tensor([-0.5000,  2.0000])
    """
    check_kind("leaky_relu", input)
    slope = real_of(negative_slope, "negative_slope")
    factors = _factors(input, slope)
    return F.mul_(input, factors) if inplace else F.mul(input, factors)


@explained
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Multiply elements that are not positive by a slope, in their place; see `leaky_relu`.

    Parameters
    ----------
    input, negative_slope
        As of `leaky_relu`.

    Returns
    -------
    Tensor
        `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.

    Examples
    --------
    >>> vt.nn.functional.leaky_relu_(vt.tensor([-1.0, 2.0]), 0.5)
    tensor([-0.5000,  2.0000])
    """
    return leaky_relu(input, negative_slope, inplace=True)


@explained
def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Return positive elements, and others multiplied by slopes, which are drawn in training.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape.
    lower, upper : float, default 1/8 and 1/3
        Between which numbers a slope is drawn for each element; without training each slope is
        their mean.
    training : bool, default False
        Whether slopes are drawn, with the default generator.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`, or `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.
    OptionValueError
        If `lower` is above `upper`, or one of them is not finite.

    Examples
    --------
    >>> vt.nn.functional.rrelu(vt.tensor([-1.0, 2.0]), 0.25, 0.75)
    tensor([-0.5000,  2.0000])
    """
    check_kind("rrelu", input)
    low, high = real_of(lower, "lower"), real_of(upper, "upper")
    if not -float("inf") < low <= high < float("inf"):
        raise OptionValueError(f"rrelu() takes finite bounds in order, not {low} and {high}")
    if not training:
        return leaky_relu(input, (low + high) / 2, inplace)
    factors = _factors(input, F.uniform_(target_of_draw(F.empty_like(F.detach(input))), low, high))
    return F.mul_(input, factors) if inplace else F.mul(input, factors)


@explained
def rrelu_(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> Tensor:
    """Multiply elements that are not positive by slopes, in their place; see `rrelu`.

    Parameters
    ----------
    input, lower, upper, training
        As of `rrelu`.

    Returns
    -------
    Tensor
        `input`.

    Raises
    ------
    NotSupportedError, OptionValueError
        As `rrelu`.

    Examples
    --------
    >>> vt.nn.functional.rrelu_(vt.tensor([-1.0, 2.0]), 0.25, 0.75)
    tensor([-0.5000,  2.0000])
    """
    return rrelu(input, lower, upper, training, inplace=True)


@explained
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return positive elements, and others multiplied by the weight of their channel.

    At 0 the derivative by the element is the weight.

    Parameters
    ----------
    input : Tensor
        Floating values. The second dimension is that of channels, of a tensor in one dimension or
        none there is one channel.
    weight : Tensor
        One element, or one for each channel, of the dtype of `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.
    OptionValueError
        If the dtypes differ.
    ShapeError
        If `weight` has more than one dimension, or another number of elements.

    Examples
    --------
    >>> vt.nn.functional.prelu(vt.tensor([[-1.0, -1.0]]), vt.tensor([0.5, 2.0]))
    tensor([[-0.5000, -2.0000]])
    """
    dtype = check_kind("prelu", input)
    given = array_of(weight, "weight")
    shape = input._impl.array.shape
    if given.dtype != dtype:
        raise OptionValueError(f"prelu() takes one dtype, not {dtype.name} and {given.dtype.name}")
    if given.ndim > 1:
        raise ShapeError(f"the weight of prelu() is a vector, not of shape {list(given.shape)}")
    channels = shape[1] if len(shape) > 1 else 1
    if given.size not in (1, channels) or (given.size != 1 and not shape):
        raise ShapeError(f"prelu() got {given.size} weights for {channels} channels")
    if given.ndim and len(shape) > 1:
        weight = F.reshape(weight, (given.size, *(1,) * (len(shape) - 2)))
    elif given.ndim and not shape:
        weight = F.reshape(weight, ())
    # At 0 the slope is that of `clamp_max`; see Note [Two halves].
    return F.add(F.relu(input), F.mul(F.clamp_max_default(input, 0), weight))


@explained
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return a line from 0 at -3 to 1 at 3, and 0 and 1 beside it; the derivative at both is 0.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`, or `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.

    Examples
    --------
    >>> vt.nn.functional.hardsigmoid(vt.tensor([-4.0, 0.0, 3.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    check_kind("hardsigmoid", input)
    return in_place(input, _ramp) if inplace else _ramp(input)


@explained
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return each element multiplied by its `hardsigmoid`.

    At -3 and at 3 the derivative is that on the outer side, 0 and 1, at 3 with half of the slope.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`, or `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.

    Examples
    --------
    >>> vt.nn.functional.hardswish(vt.tensor([-4.0, 1.5, 3.0]))
    tensor([-0.0000,  1.1250,  3.0000])
    """
    check_kind("hardswish", input)
    factors = _ramp(input)
    return F.mul_(input, factors) if inplace else F.mul(input, factors)


@explained
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return each element, but 0 within a distance from 0, whose ends have derivative 0 too.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape.
    lambd : float, default 0.5
        The distance.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.

    Examples
    --------
    >>> vt.nn.functional.hardshrink(vt.tensor([-1.0, 0.5, 0.75]))
    tensor([-1.0000,  0.0000,  0.7500])
    """
    check_kind("hardshrink", input)
    within = F.le(F.abs(F.detach(input)), real_of(lambd, "lambd"))
    return F.masked_fill(input, within, 0)


@explained
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return each element moved by a distance towards 0, but not across; at the kinks level.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape.
    lambd : float, default 0.5
        The distance, not negative.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.
    OptionValueError
        If `lambd` is negative.

    Examples
    --------
    >>> vt.nn.functional.softshrink(vt.tensor([-1.0, 0.5, 0.75]))
    tensor([-0.5000,  0.0000,  0.2500])
    """
    check_kind("softshrink", input)
    distance = real_of(lambd, "lambd")
    if not distance >= 0:
        raise OptionValueError(f"softshrink() takes no negative lambd, got {distance}")
    return F.sub(input, F.clamp_default(input, -distance, distance))


def _factors(input: Tensor, slopes: Tensor | float) -> Tensor:
    """1 for positive elements, and slopes for others: a sum with 0, see Note [Two halves]."""
    positive = F.gt(input, 0)
    dtype = input._impl.array.dtype
    others = F.mul(F.to_dtype(F.logical_not(positive), dtype), slopes)
    return F.add(F.to_dtype(positive, dtype), others)


def _filled(input: Tensor, mask: Tensor, value: float, inplace: bool) -> Tensor:
    return F.masked_fill_(input, mask, value) if inplace else F.masked_fill(input, mask, value)


def _between(function: str, input: Tensor, low: float, high: float, inplace: bool) -> Tensor:
    """Elements between bounds; the bounds belong to what is level, unlike those of `clamp`."""
    kind = array_of(input, "input").dtype.kind
    if kind == "b":
        raise OptionValueError(f"{function}() does not take bools")
    if kind == "c":
        raise NotSupportedError(f"{function}() does not take complex numbers")
    if kind != "f":
        low, high = int(low), int(high)
        if kind == "u" and low < 0:
            raise OptionValueError(f"{function}() of unsigned integers has no negative bounds")
        found = F.clamp_default(input, low, high)
        return F.copy_(input, found) if inplace else found

    def bounded(x: Tensor) -> Tensor:
        return F.clamp_default(_level_at(x, low, high), low, high)

    return in_place(input, bounded) if inplace else bounded(input)


def _level_at(input: Tensor, low: float, high: float) -> Tensor:
    """The same elements, of which those at two places have no derivative."""
    values = F.detach(input)
    return F.where_self(F.logical_or(F.eq(values, low), F.eq(values, high)), values, input)


def _ramp(input: Tensor) -> Tensor:
    line = F.add(_level_at(input, -3, 3), 3)
    return F.div(F.clamp_default(line, 0, 6), 6)
