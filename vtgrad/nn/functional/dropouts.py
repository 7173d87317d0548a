"""Elements and channels that are dropped by chance, to fit what does not depend on single ones.

What is drawn comes from the default generator, and is not what PyTorch draws from the same seed.
"""

from __future__ import annotations

import math
from typing import Final

from vtgrad.errors import ArgumentValueError, ShapeError
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.nn.functional.in_place import in_place
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.drawing import target_of_draw
from vtgrad.storage.warn import warn
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]

# Minus the lowest value of selu: Klambauer et al., "Self-Normalizing Neural Networks", 2017.
_LOWEST: Final = 1.0507009873554804934193349852946 * 1.6732632423543772848170429916717


@explained
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return elements divided by ``1 - p``, of which some are dropped: 0 stands for them.

    Parameters
    ----------
    input : Tensor
        Floating or complex values, of any shape.
    p : float, default 0.5
        The probability that an element is dropped.
    training : bool, default True
        Whether anything is dropped.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`; `input` itself if nothing is dropped or
        it is written.

    Raises
    ------
    ArgumentValueError
        If `p` is not between 0 and 1.
    NotSupportedError
        If something is to be dropped, and `input` is neither floating nor complex.

    Examples
    --------
    >>> x = vt.nn.functional.dropout(vt.ones(10_000), 0.25)
    >>> 0.97 < x.mean().item() < 1.03, (x == 0).any().item()
    (True, True)
    >>> vt.nn.functional.dropout(vt.ones(2), 0.25, training=False)
    tensor([1., 1.])
    """
    return _dropped("dropout", input, p, training, inplace, False)


@explained
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return a sequence in which whole channels are dropped, as by `dropout`.

    Parameters
    ----------
    input : Tensor
        Values with dimensions of channels and of places, and of samples in front of them or not.
    p : float, default 0.5
        The probability that a channel is dropped.
    training : bool, default True
        Whether anything is dropped.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`; `input` itself if nothing is dropped or
        it is written.

    Raises
    ------
    ArgumentValueError
        If `p` is not between 0 and 1.
    ShapeError
        If `input` has another number of dimensions.
    NotSupportedError
        If something is to be dropped, and `input` is neither floating nor complex.

    Examples
    --------
    >>> x = vt.nn.functional.dropout1d(vt.ones(4, 2))
    >>> (x[:, 0] == x[:, 1]).all().item()
    True
    """
    ndim = array_of(input, "input").ndim
    if ndim not in (2, 3):
        raise ShapeError(f"dropout1d() takes two or three dimensions, not {ndim}")
    return _dropped("dropout1d", input, p, training, inplace, True, batched=ndim == 3)


@explained
def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return images in which whole channels are dropped, as by `dropout`.

    Parameters
    ----------
    input : Tensor
        Values with dimensions of samples, of channels and of two places. Other numbers of
        dimensions warn; the first is always that of samples.
    p : float, default 0.5
        The probability that a channel is dropped.
    training : bool, default True
        Whether anything is dropped.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`; `input` itself if nothing is dropped or
        it is written.

    Raises
    ------
    ArgumentValueError
        If `p` is not between 0 and 1.
    ShapeError
        If `input` has fewer than two dimensions, and something is to be dropped.
    NotSupportedError
        If something is to be dropped, and `input` is neither floating nor complex.

    Examples
    --------
    >>> x = vt.nn.functional.dropout2d(vt.ones(4, 3, 2, 2))
    >>> (x[..., 0, 0] == x[..., 1, 1]).all().item()
    True
    """
    ndim = array_of(input, "input").ndim
    if ndim != 4:
        warn(f"dropout2d() takes four dimensions, the first of samples, and got {ndim}")
    return _dropped("dropout2d", input, p, training, inplace, True)


@explained
def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return volumes in which whole channels are dropped, as by `dropout`.

    Parameters
    ----------
    input : Tensor
        Values with dimensions of channels and of three places, and of samples in front of them or
        not. Other numbers of dimensions warn, and then the first is that of channels.
    p : float, default 0.5
        The probability that a channel is dropped.
    training : bool, default True
        Whether anything is dropped.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`; `input` itself if nothing is dropped or
        it is written.

    Raises
    ------
    ArgumentValueError
        If `p` is not between 0 and 1.
    NotSupportedError
        If something is to be dropped, and `input` is neither floating nor complex.

    Examples
    --------
    >>> x = vt.nn.functional.dropout3d(vt.ones(4, 2, 2, 2))
    >>> (x[:, 0, 0, 0] == x[:, 1, 1, 1]).all().item()
    True
    """
    ndim = array_of(input, "input").ndim
    if ndim not in (4, 5):
        warn(f"dropout3d() takes four or five dimensions, and got {ndim}")
    return _dropped("dropout3d", input, p, training, inplace, True, batched=ndim == 5)


@explained
def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Return elements some of which become the lowest of `selu`, scaled to keep the variance.

    Parameters
    ----------
    input : Tensor
        Floating values, of mean 0 and variance 1.
    p : float, default 0.5
        The probability that an element is dropped.
    training : bool, default False
        Whether anything is dropped.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`; `input` itself if nothing is dropped or
        it is written.

    Raises
    ------
    ArgumentValueError
        If `p` is not between 0 and 1.
    NotSupportedError
        If something is to be dropped, and `input` is neither floating nor complex.

    Examples
    --------
    >>> x = vt.nn.functional.alpha_dropout(vt.randn(10_000), 0.25, training=True)
    >>> abs(x.mean().item()) < 0.1, abs(x.var().item() - 1) < 0.1
    (True, True)
    """
    return _dropped("alpha_dropout", input, p, training, inplace, False, to_lowest=True)


@explained
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Return channels some of which become the lowest value of `selu`, as by `alpha_dropout`.

    Parameters
    ----------
    input : Tensor
        Floating values with dimensions of samples, of channels, and others.
    p : float, default 0.5
        The probability that a channel is dropped.
    training : bool, default False
        Whether anything is dropped.
    inplace : bool, default False
        Whether the result is written into `input`.

    Returns
    -------
    Tensor
        A new tensor of the dtype and the shape of `input`; `input` itself if nothing is dropped or
        it is written.

    Raises
    ------
    ArgumentValueError
        If `p` is not between 0 and 1.
    ShapeError
        If `input` has fewer than two dimensions, and something is to be dropped.
    NotSupportedError
        If something is to be dropped, and `input` is neither floating nor complex.

    Examples
    --------
    >>> x = vt.nn.functional.feature_alpha_dropout(vt.ones(4, 3, 2), training=True)
    >>> (x[..., 0] == x[..., 1]).all().item()
    True
    """
    return _dropped("feature_alpha_dropout", input, p, training, inplace, True, to_lowest=True)


def _dropped(
    function: str,
    input: Tensor,
    p: float,
    training: bool,
    inplace: bool,
    by_channel: bool,
    *,
    batched: bool = True,
    to_lowest: bool = False,
) -> Tensor:
    """The operand with elements or channels dropped, to 0 or to the lowest value of selu."""
    part = real_of(p, "p")
    if not 0 <= part <= 1:
        raise ArgumentValueError(f"{function}() takes a probability, between 0 and 1, not {part}")
    array = array_of(input, "input")
    if not check_flag(training, "training") or not part or not array.size:
        return input
    check_kind(function, input, "f" if to_lowest else "fc")
    drawn = F.detach(input)
    if by_channel:
        least = 2 if batched else 1
        if array.ndim < least:
            raise ShapeError(f"{function}() drops channels, and input has none: {array.shape}")
        for axis in range(least, array.ndim):
            drawn = F.narrow(drawn, axis, 0, 1)
    kept = F.bernoulli_float_(target_of_draw(F.empty_like(drawn)), 1 - part)
    if part == 1:
        return F.mul_(input, kept) if inplace else F.mul(input, kept)
    if not to_lowest:
        factors = F.div_(kept, 1 - part)
        return F.mul_(input, factors) if inplace else F.mul(input, factors)
    scale = 1 / math.sqrt((_LOWEST * _LOWEST * part + 1) * (1 - part))
    shift = F.mul(F.sub(kept, 1), _LOWEST * scale)
    shift = F.add(shift, _LOWEST * scale * part)
    factors = F.mul(kept, scale)

    def moved(x: Tensor) -> Tensor:
        return F.add(F.mul(x, factors), shift)

    return in_place(input, moved) if inplace else moved(input)
