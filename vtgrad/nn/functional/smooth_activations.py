"""Activations without kinks, and those whose kink is at 0 only.

Note [Two halves]

Masks cost NumPy twenty times what a sum costs where neighbours differ, and `logaddexp` fifty times.
So a function with two branches is a sum of functions of the positive and of the negative part of
its operand, of which one is 0. Each part is that of `relu`, whose derivative at 0 is 0, or that of
`clamp_min` or `clamp_max`, whose derivative there is 1: which of them is taken decides about the
derivative of the sum at 0.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from vtgrad.errors import OptionValueError, ShapeError
from vtgrad.nn.functional.floating import check_kind, in_single, real_of
from vtgrad.nn.functional.in_place import in_place
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import checked_dim
from vtgrad.ops.generated import functional as F
from vtgrad.storage.shapes import normalize_dim
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "logsigmoid",
    "mish",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softplus",
    "softsign",
    "tanh",
    "tanhshrink",
]

# The constants of Klambauer et al., "Self-Normalizing Neural Networks", 2017, equation 14.
_ALPHA: Final = 1.6732632423543772848170429916717
_SCALE: Final = 1.0507009873554804934193349852946


@explained
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return positive elements, and ``alpha * expm1(x)`` for others.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape.
    alpha : float, default 1.0
        The factor, which is the derivative at 0.
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
    >>> vt.nn.functional.elu(vt.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    check_kind("elu", input)
    shape = partial(_exponential, alpha=real_of(alpha, "alpha"))
    return in_place(input, shape) if inplace else shape(input)


@explained
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Write what `elu` returns in place of the elements.

    Parameters
    ----------
    input, alpha
        As of `elu`.

    Returns
    -------
    Tensor
        `input`.

    Raises
    ------
    NotSupportedError
        As `elu`.

    Examples
    --------
    >>> vt.nn.functional.elu_(vt.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return elu(input, alpha, inplace=True)


@explained
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return positive elements, and ``alpha * expm1(x / alpha)`` for others.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape.
    alpha : float, default 1.0
        The factor, not 0.
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
        If `alpha` is 0.

    Examples
    --------
    >>> vt.nn.functional.celu(vt.tensor([-1.0, 2.0]), 2.0)
    tensor([-0.7869,  2.0000])
    """
    check_kind("celu", input)
    factor = real_of(alpha, "alpha")
    if not factor:
        raise OptionValueError("celu() divides by alpha, which is 0")
    shape = partial(_exponential, alpha=factor, steepness=1 / factor)
    return in_place(input, shape) if inplace else shape(input)


@explained
def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Write what `celu` returns in place of the elements.

    Parameters
    ----------
    input, alpha
        As of `celu`.

    Returns
    -------
    Tensor
        `input`.

    Raises
    ------
    NotSupportedError
        As `celu`.

    Examples
    --------
    >>> vt.nn.functional.celu_(vt.tensor([-1.0, 2.0]), 2.0)
    tensor([-0.7869,  2.0000])
    """
    return celu(input, alpha, inplace=True)


@explained
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``scale * elu(x, alpha)`` with constants that keep mean 0 and variance 1.

    The constants are those of Klambauer et al., "Self-Normalizing Neural Networks", 2017,
    equation 14.

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
    >>> vt.nn.functional.selu(vt.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    check_kind("selu", input)
    shape = partial(_exponential, alpha=_ALPHA, scale=_SCALE)
    return in_place(input, shape) if inplace else shape(input)


@explained
def selu_(input: Tensor) -> Tensor:
    """Write what `selu` returns in place of the elements.

    Parameters
    ----------
    input
        As of `selu`.

    Returns
    -------
    Tensor
        `input`.

    Raises
    ------
    NotSupportedError
        As `selu`.

    Examples
    --------
    >>> vt.nn.functional.selu_(vt.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    return selu(input, inplace=True)


@explained
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return ``x * ndtr(x)``, where ndtr is the distribution function of the normal distribution.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape.
    approximate : {"none", "tanh"}, default "none"
        ``"tanh"`` takes ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2`` for it, after
        Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.
    OptionValueError
        If `approximate` is neither.

    Examples
    --------
    >>> vt.nn.functional.gelu(vt.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    check_kind("gelu", input)
    if approximate not in ("none", "tanh"):
        raise OptionValueError(f'approximate is "none" or "tanh", not {approximate!r}')
    return in_single(input, _gelu if approximate == "none" else _gelu_by_tanh)


@explained
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x * sigmoid(x)``, which is called swish too.

    Parameters
    ----------
    input : Tensor
        Floating or complex values, of any shape.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`, or `input`.

    Raises
    ------
    NotSupportedError
        If `input` is neither floating nor complex.

    Examples
    --------
    >>> vt.nn.functional.silu(vt.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    check_kind("silu", input, "fc")
    return in_place(input, silu) if inplace else in_single(input, _silu)


@explained
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x * tanh(softplus(x))``.

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
    >>> vt.nn.functional.mish(vt.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """
    check_kind("mish", input)
    if inplace:
        return in_place(input, mish)
    return in_single(input, _mish)


@explained
def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """Return ``log(1 + exp(beta * x)) / beta``.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape.
    beta : float, default 1
        The steepness, positive.
    threshold : float, default 20
        Above which ``beta * x`` the result is `x` itself.

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
    >>> vt.nn.functional.softplus(vt.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """
    check_kind("softplus", input)
    steepness, limit = real_of(beta, "beta"), real_of(threshold, "threshold")
    scaled = input if steepness == 1 else F.mul(input, steepness)
    over = F.gt(scaled, limit)
    curve = softplus_of(F.masked_fill(scaled, over, 0))
    return F.where_self(over, input, curve if steepness == 1 else F.div(curve, steepness))


@explained
def logsigmoid(input: Tensor) -> Tensor:
    """Return ``log(sigmoid(x))``, exact where the sigmoid is near 0 or 1.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape.

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
    >>> vt.nn.functional.logsigmoid(vt.tensor([-1000.0, 0.0]))
    tensor([-1.0000e+03, -6.9315e-01])
    """
    check_kind("logsigmoid", input)
    negative = F.clamp_max_default(input, 0)
    return F.sub(negative, _below(negative, F.relu(input)))


@explained
def softsign(input: Tensor) -> Tensor:
    """Return ``x / (1 + abs(x))``.

    Parameters
    ----------
    input : Tensor
        Values of any dtype but bool, of any shape.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`; of integers it is floating.

    Examples
    --------
    >>> vt.nn.functional.softsign(vt.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """
    array_of(input, "input")
    return F.div(input, F.add(F.abs(input), 1))


@explained
def tanhshrink(input: Tensor) -> Tensor:
    """Return ``x - tanh(x)``.

    Parameters
    ----------
    input : Tensor
        Values of any dtype but bool, of any shape.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`; of integers it is floating.

    Examples
    --------
    >>> vt.nn.functional.tanhshrink(vt.tensor([-1.0, 2.0]))
    tensor([-0.2384,  1.0360])
    """
    array_of(input, "input")
    return F.sub(input, F.tanh(input))


@explained
def sigmoid(input: Tensor) -> Tensor:
    """Return ``1 / (1 + exp(-x))``; the same as `vtgrad.sigmoid`.

    Parameters
    ----------
    input : Tensor
        Values of any dtype, of any shape.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`; of integers and bools it is floating.

    Examples
    --------
    >>> vt.nn.functional.sigmoid(vt.tensor([0.0, 2.0]))
    tensor([0.5000, 0.8808])
    """
    return F.sigmoid(input)


@explained
def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent; the same as `vtgrad.tanh`.

    Parameters
    ----------
    input : Tensor
        Values of any dtype, of any shape.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`; of integers and bools it is floating.

    Examples
    --------
    >>> vt.nn.functional.tanh(vt.tensor([0.0, 2.0]))
    tensor([0.0000, 0.9640])
    """
    return F.tanh(input)


@explained
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return the first half of the elements multiplied by the sigmoid of the second half.

    Parameters
    ----------
    input : Tensor
        Floating values, of any shape but that of one element.
    dim : int, default -1
        The dimension that is halved.

    Returns
    -------
    Tensor
        A new tensor of the dtype of `input`, with half of the elements along `dim`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.
    ShapeError
        If the dimension has an odd size, or `input` is 0-d.
    DimensionError
        If there is no such dimension.

    Examples
    --------
    >>> vt.nn.functional.glu(vt.tensor([3.0, 0.0]))
    tensor([1.5000])
    """
    check_kind("glu", input)
    shape = input._impl.array.shape
    if not shape:
        raise ShapeError("glu() halves a dimension, and input is 0-d", shape=())
    axis = normalize_dim(checked_dim(dim), len(shape))
    half, odd = divmod(shape[axis], 2)
    if odd:
        raise ShapeError(
            f"glu() halves a dimension of even size, not of {shape[axis]}", shape=shape
        )

    def halved(input: Tensor) -> Tensor:
        share = F.sigmoid(F.narrow(input, axis, half, half))
        return F.mul(F.narrow(input, axis, 0, half), share)

    return in_single(input, halved)


def _gelu(input: Tensor) -> Tensor:
    # Not by erf: 1 + erf(x) has no digits left where x is far below 0.
    return F.mul(F.mul(input, 0.5), F.erfc(F.mul(input, -math.sqrt(0.5))))


def _gelu_by_tanh(input: Tensor) -> Tensor:
    # Beyond 20 the tangent is 1 exactly, and cubes of large numbers would overflow.
    near = F.clamp_default(input, -20, 20)
    slope = math.sqrt(2 / math.pi)
    cubic = F.mul(F.add(F.mul(F.mul(near, near), 0.044715 * slope), slope), near)
    return F.mul(F.mul(input, 0.5), F.add(F.tanh(cubic), 1))


def _silu(input: Tensor) -> Tensor:
    return F.mul(input, F.sigmoid(input))


def _mish(input: Tensor) -> Tensor:
    return F.mul(input, F.tanh(softplus_of(input)))


def _exponential(
    input: Tensor, alpha: float = 1.0, scale: float = 1.0, steepness: float = 1.0
) -> Tensor:
    """A line for positive elements and an exponential for negative ones, see Note [Two halves].

    At 0 the slope is that of the exponential, and the second derivative 0, as in PyTorch.
    """
    negative = F.neg(F.relu(F.neg(input)))
    curve = F.expm1(negative if steepness == 1 else F.mul(negative, steepness))
    if alpha * scale != 1:
        curve = F.mul(curve, alpha * scale)
    line = F.clamp_min_default(input, 0)
    if not alpha * steepness == scale == 1:
        slopes = F.full_like(F.detach(input), scale)
        line = F.mul(line, F.masked_fill(slopes, F.eq(input, 0), alpha * scale * steepness))
    return F.add(line, curve)


def softplus_of(input: Tensor) -> Tensor:
    """``log(1 + exp(x))``, see Note [Two halves]."""
    positive = F.relu(input)
    return F.add(positive, _below(F.clamp_max_default(input, 0), positive))


def _below(negative: Tensor, positive: Tensor) -> Tensor:
    """``log(1 + exp(-abs(x)))``, by the two parts of `x`."""
    return F.log1p(F.exp(F.sub(negative, positive)))
