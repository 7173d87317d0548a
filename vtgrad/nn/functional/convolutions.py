"""Convolutions over one, two and three dimensions of space, and their transposes."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import TypeVar

from vtgrad.errors import DeviceError, DTypeError, OptionValueError, ShapeError
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.convolution_products import product_for
from vtgrad.nn.functional.sizes import is_batch, numbers, refuse_dtypes, spatial
from vtgrad.nn.functional.window_geometry import Geometry
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array
from vtgrad.storage.integers import index_of
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
]

T = TypeVar("T", bound=Tensor)


@explained
def conv1d(
    input: T,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> T:
    """Return the convolution of signals with kernels, which are not flipped.

    With a stride of 1 and no zeros, element o of
    channel m is ``bias[m]`` plus the sum of ``x[c, o + k] weight[m, c, k]``.
    It is one node of the graph, beside a sum if there is a bias; so are its derivatives.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, W)``, or ``(C, W)`` for one sample.
    weight : Tensor
        The kernels, of shape ``(M, C / groups, kW)`` for M channels of the result, in the
        dtype of `input`.
    bias : Tensor, optional
        What is added to each channel of the result, of shape ``(M,)``.
    stride : int or sequence of int, default 1
        The distance of two places of the kernel; one number, or one for each dimension of space.
    padding : int, sequence of int, 'valid' or 'same', default 0
        How many zeros stand around the input, at each end. ``"valid"`` is none, and ``"same"`` as
        many as give the result the size of the input, one more at the far end if their number is
        odd.
    dilation : int or sequence of int, default 1
        The distance of two elements of the input under neighbours of the kernel.
    groups : int, default 1
        Into how many groups the channels are split, each with kernels of its own.

    Returns
    -------
    Tensor
        A new tensor of shape ``(N, M, oW)``, with
        ``oW = (W + 2 padding - dilation (kW - 1) - 1) // stride + 1`` and so on.

    Raises
    ------
    ShapeError
        If the shapes do not fit each other, a number is too small, or the kernel is larger than the
        input with its zeros.
    DTypeError
        If the tensors have different dtypes.
    DeviceError
        If they are on different devices.
    OptionValueError
        If there is no such padding, or it is ``"same"`` with a stride.
    NotSupportedError
        If the elements are bools.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 2.0, 4.0]])
    >>> vt.nn.functional.conv1d(x, vt.tensor([[[-1.0, 1.0]]]))
    tensor([[1., 2.]])
    """
    options = stride, padding, dilation, groups
    return _convolved("conv1d", 1, input, weight, bias, options)


@explained
def conv2d(
    input: T,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> T:
    """Return the convolution of images with kernels, which are not flipped.

    The sum is that of `conv1d`, over both dimensions of space.
    It is one node of the graph, beside a sum if there is a bias; so are its derivatives.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, H, W)``, or ``(C, H, W)`` for one sample.
    weight : Tensor
        The kernels, of shape ``(M, C / groups, kH, kW)`` for M channels of the result, in the
        dtype of `input`.
    bias : Tensor, optional
        What is added to each channel of the result, of shape ``(M,)``.
    stride : int or sequence of int, default 1
        The distance of two places of the kernel; one number, or one for each dimension of space.
    padding : int, sequence of int, 'valid' or 'same', default 0
        How many zeros stand around the input, at each end. ``"valid"`` is none, and ``"same"`` as
        many as give the result the size of the input, one more at the far end if their number is
        odd.
    dilation : int or sequence of int, default 1
        The distance of two elements of the input under neighbours of the kernel.
    groups : int, default 1
        Into how many groups the channels are split, each with kernels of its own.

    Returns
    -------
    Tensor
        A new tensor of shape ``(N, M, oH, oW)``, with
        ``oW = (W + 2 padding - dilation (kW - 1) - 1) // stride + 1`` and so on.

    Raises
    ------
    ShapeError
        If the shapes do not fit each other, a number is too small, or the kernel is larger than the
        input with its zeros.
    DTypeError
        If the tensors have different dtypes.
    DeviceError
        If they are on different devices.
    OptionValueError
        If there is no such padding, or it is ``"same"`` with a stride.
    NotSupportedError
        If the elements are bools.

    Examples
    --------
    >>> x = vt.ones(1, 1, 3, 3)
    >>> vt.nn.functional.conv2d(x, vt.ones(1, 1, 3, 3), padding="same")
    tensor([[[[4., 6., 4.],
              [6., 9., 6.],
              [4., 6., 4.]]]])
    """
    options = stride, padding, dilation, groups
    return _convolved("conv2d", 2, input, weight, bias, options)


@explained
def conv3d(
    input: T,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> T:
    """Return the convolution of volumes with kernels, which are not flipped.

    The sum is that of `conv1d`, over three dimensions of space.
    It is one node of the graph, beside a sum if there is a bias; so are its derivatives.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, C, D, H, W)``, or ``(C, D, H, W)`` for one sample.
    weight : Tensor
        The kernels, of shape ``(M, C / groups, kD, kH, kW)`` for M channels of the result, in the
        dtype of `input`.
    bias : Tensor, optional
        What is added to each channel of the result, of shape ``(M,)``.
    stride : int or sequence of int, default 1
        The distance of two places of the kernel; one number, or one for each dimension of space.
    padding : int, sequence of int, 'valid' or 'same', default 0
        How many zeros stand around the input, at each end. ``"valid"`` is none, and ``"same"`` as
        many as give the result the size of the input, one more at the far end if their number is
        odd.
    dilation : int or sequence of int, default 1
        The distance of two elements of the input under neighbours of the kernel.
    groups : int, default 1
        Into how many groups the channels are split, each with kernels of its own.

    Returns
    -------
    Tensor
        A new tensor of shape ``(N, M, oD, oH, oW)``, with
        ``oW = (W + 2 padding - dilation (kW - 1) - 1) // stride + 1`` and so on.

    Raises
    ------
    ShapeError
        If the shapes do not fit each other, a number is too small, or the kernel is larger than the
        input with its zeros.
    DTypeError
        If the tensors have different dtypes.
    DeviceError
        If they are on different devices.
    OptionValueError
        If there is no such padding, or it is ``"same"`` with a stride.
    NotSupportedError
        If the elements are bools.

    Examples
    --------
    >>> vt.nn.functional.conv3d(vt.ones(1, 1, 2, 2, 2), vt.ones(5, 1, 2, 2, 2)).shape
    vtgrad.Size([1, 5, 1, 1, 1])
    """
    options = stride, padding, dilation, groups
    return _convolved("conv3d", 3, input, weight, bias, options)


@explained
def conv_transpose1d(
    input: T,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> T:
    """Return the transposed convolution of signals: the gradient of `conv1d` by its input.

    Each element of the input adds the kernel, times itself, to the places of the result under it.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, M, W)``, or ``(M, W)`` for one sample.
    weight : Tensor
        The kernels, of shape ``(M, C / groups, kW)``, as of the convolution that takes C
        channels to M.
    bias : Tensor, optional
        What is added to each channel of the result, of shape ``(C,)``.
    stride, padding, dilation, groups
        Those of the convolution.
    output_padding : int or sequence of int, default 0
        How many places more the result has at the far end. A convolution with a stride gives inputs
        of several sizes the same size; this number says which of them is meant.

    Returns
    -------
    Tensor
        A new tensor of shape ``(N, C, oW)``, with
        ``oW = (W - 1) stride - 2 padding + dilation (kW - 1) + output_padding + 1`` and so on.

    Raises
    ------
    ShapeError
        If the shapes do not fit each other, a number is too small, `output_padding` is as large as
        stride and dilation, or the result has no place.
    DTypeError
        If the tensors have different dtypes.
    DeviceError
        If they are on different devices.
    NotSupportedError
        If the elements are bools or integers that are not int64.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 2.0]])
    >>> vt.nn.functional.conv_transpose1d(x, vt.tensor([[[1.0, 10.0]]]))
    tensor([[ 1., 12., 20.]])
    """
    options = stride, padding, output_padding, groups, dilation
    return _transposed("conv_transpose1d", 1, input, weight, bias, options)


@explained
def conv_transpose2d(
    input: T,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> T:
    """Return the transposed convolution of images: the gradient of `conv2d` by its input.

    Each element of the input adds the kernel, times itself, to the places of the result under it.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, M, H, W)``, or ``(M, H, W)`` for one sample.
    weight : Tensor
        The kernels, of shape ``(M, C / groups, kH, kW)``, as of the convolution that takes C
        channels to M.
    bias : Tensor, optional
        What is added to each channel of the result, of shape ``(C,)``.
    stride, padding, dilation, groups
        Those of the convolution.
    output_padding : int or sequence of int, default 0
        How many places more the result has at the far end. A convolution with a stride gives inputs
        of several sizes the same size; this number says which of them is meant.

    Returns
    -------
    Tensor
        A new tensor of shape ``(N, C, oH, oW)``, with
        ``oW = (W - 1) stride - 2 padding + dilation (kW - 1) + output_padding + 1`` and so on.

    Raises
    ------
    ShapeError
        If the shapes do not fit each other, a number is too small, `output_padding` is as large as
        stride and dilation, or the result has no place.
    DTypeError
        If the tensors have different dtypes.
    DeviceError
        If they are on different devices.
    NotSupportedError
        If the elements are bools or integers that are not int64.

    Examples
    --------
    >>> x = vt.tensor([[[1.0, 2.0]]])
    >>> vt.nn.functional.conv_transpose2d(x, vt.ones(1, 1, 2, 2), stride=2)
    tensor([[[1., 1., 2., 2.],
             [1., 1., 2., 2.]]])
    """
    options = stride, padding, output_padding, groups, dilation
    return _transposed("conv_transpose2d", 2, input, weight, bias, options)


@explained
def conv_transpose3d(
    input: T,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> T:
    """Return the transposed convolution of volumes: the gradient of `conv3d` by its input.

    Each element of the input adds the kernel, times itself, to the places of the result under it.

    Parameters
    ----------
    input : Tensor
        Of shape ``(N, M, D, H, W)``, or ``(M, D, H, W)`` for one sample.
    weight : Tensor
        The kernels, of shape ``(M, C / groups, kD, kH, kW)``, as of the convolution that takes C
        channels to M.
    bias : Tensor, optional
        What is added to each channel of the result, of shape ``(C,)``.
    stride, padding, dilation, groups
        Those of the convolution.
    output_padding : int or sequence of int, default 0
        How many places more the result has at the far end. A convolution with a stride gives inputs
        of several sizes the same size; this number says which of them is meant.

    Returns
    -------
    Tensor
        A new tensor of shape ``(N, C, oD, oH, oW)``, with
        ``oW = (W - 1) stride - 2 padding + dilation (kW - 1) + output_padding + 1`` and so on.

    Raises
    ------
    ShapeError
        If the shapes do not fit each other, a number is too small, `output_padding` is as large as
        stride and dilation, or the result has no place.
    DTypeError
        If the tensors have different dtypes.
    DeviceError
        If they are on different devices.
    NotSupportedError
        If the elements are bools or integers that are not int64.

    Examples
    --------
    >>> vt.nn.functional.conv_transpose3d(vt.ones(5, 1, 1, 1), vt.ones(5, 2, 2, 2, 2)).shape
    vtgrad.Size([2, 2, 2, 2])
    """
    options = stride, padding, output_padding, groups, dilation
    return _transposed("conv_transpose3d", 3, input, weight, bias, options)


def _convolved(
    name: str,
    ndim: int,
    input: T,
    weight: Tensor,
    bias: Tensor | None,
    options: tuple[int | Sequence[int], int | Sequence[int] | str, int | Sequence[int], int],
) -> T:
    array, kernels, groups = _operands(name, ndim, input, weight, options[3])
    refuse_dtypes(name, array, "b")
    channels = kernels.shape[1] * groups
    size = array.shape[-ndim:]
    if kernels.shape[0] % groups or not kernels.shape[0]:
        raise ShapeError(
            f"{name}() with {groups} groups takes a multiple of {groups} kernels, got weight "
            f"of shape {list(kernels.shape)}",
            shape=kernels.shape,
        )
    if array.shape[-ndim - 1] != channels:
        raise ShapeError(
            f"{name}() with {groups} groups and weight of shape {list(kernels.shape)} takes "
            f"{channels} channels, got input of shape {list(array.shape)}",
            shape=array.shape,
        )
    stride, padding, dilation, _ = options
    steps = numbers(name, "stride", stride, ndim, 1)
    spread = numbers(name, "dilation", dilation, ndim, 1)
    kernel = kernels.shape[2:]
    before, around = _padding(name, padding, kernel, steps, spread)
    whole = [n + more for n, more in zip(size, around, strict=True)]
    covered = [d * (k - 1) + 1 for d, k in zip(spread, kernel, strict=True)]
    if any(n < k for n, k in zip(whole, covered, strict=True)) or 0 in size:
        raise ShapeError(
            f"{name}() needs places for a kernel that covers {covered}, and the input with its "
            f"zeros has {whole}, of its own {list(size)}",
            shape=array.shape,
        )
    out = tuple([(n - k) // s + 1 for n, k, s in zip(whole, covered, steps, strict=True)])
    _check_bias(name, bias, array, kernels.shape[0])
    geometry = Geometry(groups, size, kernel, out, steps, spread, before)
    batch = input if is_batch(array.shape, ndim) else F.unsqueeze(input, 0)
    found = product_for("y", batch, weight, geometry)
    return _finished(input, found, bias, ndim)


def _transposed(
    name: str,
    ndim: int,
    input: T,
    weight: Tensor,
    bias: Tensor | None,
    options: tuple[
        int | Sequence[int], int | Sequence[int], int | Sequence[int], int, int | Sequence[int]
    ],
) -> T:
    array, kernels, groups = _operands(name, ndim, input, weight, options[3])
    # PyTorch has no other integers here.
    refuse_dtypes(name, array, "b" if array.dtype == "int64" else "biu")
    if array.shape[-ndim - 1] != kernels.shape[0] or kernels.shape[0] % groups:
        raise ShapeError(
            f"{name}() with {groups} groups and weight of shape {list(kernels.shape)} takes "
            f"{kernels.shape[0]} channels, a multiple of {groups}, got input of shape "
            f"{list(array.shape)}",
            shape=array.shape,
        )
    if not kernels.shape[0] or not kernels.shape[1]:
        raise ShapeError(
            f"{name}() takes weights of at least one channel, got shape {list(kernels.shape)}",
            shape=kernels.shape,
        )
    stride, padding, more, _, dilation = options
    steps = numbers(name, "stride", stride, ndim, 1)
    before = numbers(name, "padding", padding, ndim, 0)
    behind = numbers(name, "output_padding", more, ndim, 0)
    spread = numbers(name, "dilation", dilation, ndim, 1)
    if any(n >= max(s, d) for n, s, d in zip(behind, steps, spread, strict=True)):
        raise ShapeError(
            f"{name}() takes an output_padding that is less than the stride or the dilation, got "
            f"{list(behind)} with {list(steps)} and {list(spread)}",
            output_padding=behind,
        )
    out, kernel = array.shape[-ndim:], kernels.shape[2:]
    size = tuple(
        [
            (o - 1) * s - 2 * p + d * (k - 1) + b + 1
            for o, s, p, d, k, b in zip(out, steps, before, spread, kernel, behind, strict=True)
        ]
    )
    if min(size) < 1 or 0 in out:
        raise ShapeError(
            f"{name}() has no result of the size {list(size)}, for an input of shape "
            f"{list(array.shape)}",
            shape=array.shape,
        )
    _check_bias(name, bias, array, kernels.shape[1] * groups)
    geometry = Geometry(groups, size, kernel, out, steps, spread, before)
    batch = input if is_batch(array.shape, ndim) else F.unsqueeze(input, 0)
    found = product_for("x", weight, batch, geometry)
    return _finished(input, found, bias, ndim)


def _operands(
    name: str, ndim: int, input: Tensor, weight: Tensor, groups: int
) -> tuple[Array, Array, int]:
    """The arrays of input and weight, and the number of groups."""
    refuse_names(name, input, weight)
    array, kernels = spatial(name, input, ndim), array_of(weight, "weight")
    if kernels.ndim != ndim + 2 or 0 in kernels.shape[2:]:
        raise ShapeError(
            f"{name}() takes a weight of {ndim + 2} dimensions, with kernels that have elements, "
            f"got shape {list(kernels.shape)}",
            shape=kernels.shape,
        )
    number = index_of(groups, "groups")
    if number < 1:
        raise ShapeError(f"{name}() takes at least one group, got {number}", groups=number)
    _check_dtype(name, "weight", array, kernels)
    if weight.device != input.device:
        raise DeviceError(
            f"{name}() takes tensors on one device, got input on {input.device} and weight on "
            f"{weight.device}; move one with x.to(device)",
            devices=(input.device, weight.device),
        )
    return array, kernels, number


def _check_dtype(name: str, argument: str, input: Array, other: Array) -> None:
    if other.dtype != input.dtype:
        raise DTypeError(
            f"{name}() takes tensors of one dtype, got input of {input.dtype} and {argument} of "
            f"{other.dtype}",
            dtypes=(input.dtype, other.dtype),
        )


def _check_bias(name: str, bias: Tensor | None, input: Array, channels: int) -> None:
    if bias is None:
        return
    refuse_names(name, bias)
    array = array_of(bias, "bias")
    if array.shape != (channels,):
        raise ShapeError(
            f"{name}() takes a bias of shape [{channels}], got {list(array.shape)}",
            shape=array.shape,
        )
    _check_dtype(name, "bias", input, array)


def _padding(
    name: str,
    padding: int | Sequence[int] | str,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many zeros stand in front of the input, and on both sides together."""
    if not isinstance(padding, str):
        before = numbers(name, "padding", padding, len(kernel), 0)
        return before, tuple([2 * n for n in before])
    if padding == "valid":
        none = (0,) * len(kernel)
        return none, none
    if padding != "same":
        raise OptionValueError(
            f"the padding of {name}() is 'valid', 'same' or numbers, not {padding!r}",
            padding=padding,
        )
    if any(s != 1 for s in stride):
        raise OptionValueError(
            f"{name}() with padding='same' takes no stride, got {list(stride)}", stride=stride
        )
    around = tuple([d * (k - 1) for d, k in zip(dilation, kernel, strict=True)])
    return tuple([n // 2 for n in around]), around


def _finished(input: T, found: Tensor, bias: Tensor | None, ndim: int) -> T:
    """The result with its bias, and without samples if the input has none."""
    if bias is not None:
        found = F.add(found, F.reshape(bias, (bias.shape[0], *[1] * ndim)))
    if not is_batch(input._impl.array.shape, ndim):
        found = F.squeeze_dim(found, 0)
    return typing.cast("T", found)
