"""Values shifted and scaled by the statistics of a batch, or by statistics that were kept.

Note [Both statistics or neither]

In training the mean and the variance are written, each by one operator. All else is done before:
the result, copies of the old statistics, and the new ones. If the second write is refused, or an
interrupt comes on the way, the handler writes the old ones again, and then the exception goes on.
"""

from __future__ import annotations

import math
from contextlib import suppress

from vtgrad.errors import ArgumentValueError, OptionValueError, ShapeError, WriteRefusedError
from vtgrad.graph.grad_mode import no_grad
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.nn.functional.normalizations import (
    affine,
    check_channels,
    check_count,
    of_channels,
    with_statistics,
)
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor
from vtgrad.views.check_inplace import check_memory

__all__ = ["batch_norm", "instance_norm"]


@explained
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return values with mean 0 and variance 1 over all dimensions but that of channels.

    Parameters
    ----------
    input : Tensor
        Floating values, with dimensions of samples, of channels, and others.
    running_mean, running_var : Tensor or None
        Statistics of each channel. In training they are written:
        ``(1 - momentum) * running + momentum * new``, with the variance that is divided by the
        number of values less one. Otherwise they are what the values are shifted and scaled by.
    weight, bias : Tensor, optional
        A factor for each channel, and what is added to it.
    training : bool, default False
        Whether the statistics are those of `input`.
    momentum : float, default 0.1
        The part of the new statistics.
    eps : float, default 1e-05
        What is added to the variance.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.
    ShapeError
        If there are fewer than two dimensions, or a vector has not an element for each channel.
    ArgumentValueError
        If there is one value for each channel in training, or `eps` is negative, or 0 in training.
    OptionValueError
        If statistics are missing, and it is not training.

    Examples
    --------
    >>> mean, var = vt.zeros(1), vt.ones(1)
    >>> vt.nn.functional.batch_norm(vt.tensor([[1.0], [3.0]]), mean, var, training=True).flatten()
    tensor([-1.0000,  1.0000])
    >>> mean, var
    (tensor([0.2000]), tensor([1.1000]))
    """
    refuse_names("batch_norm", input, running_mean, running_var, weight, bias)
    shape = array_of(input, "input").shape
    by_batch = check_flag(training, "training")
    least, part = real_of(eps, "eps"), real_of(momentum, "momentum")
    if shape == (0,):
        # As PyTorch does: a vector without elements has no channels either.
        return F.clone(input)
    if len(shape) < 2:
        raise ShapeError(f"batch_norm() takes two dimensions at least, not {len(shape)}")
    if by_batch:
        check_count(shape[0] * math.prod(shape[2:]), shape)
    if least < 0 or (by_batch and not least):
        raise ArgumentValueError(f"eps of batch_norm() is positive, not {least}")
    check_kind("batch_norm", input)
    vectors = {"running_mean": running_mean, "running_var": running_var}
    check_channels("batch_norm", shape[1], **vectors, weight=weight, bias=bias)
    axes = (0, *range(2, len(shape)))
    scale, shift = of_channels(shape, weight, bias)
    if not by_batch:
        return affine(_by_kept(input, running_mean, running_var, least), scale, shift)
    found = with_statistics(input, axes, least)
    result = affine(found.values, scale, shift)
    if running_mean is not None or running_var is not None:
        count = shape[0] * math.prod(shape[2:])
        channels = (shape[1],)
        mean, variance = F.reshape(found.mean, channels), F.reshape(found.variance, channels)
        variance = F.mul(variance, count / (count - 1)) if count > 1 else variance
        _keep(running_mean, running_var, mean, variance, part)
    return result


@explained
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return values with mean 0 and variance 1 in each channel of each sample.

    Parameters
    ----------
    input : Tensor
        Floating values, with dimensions of samples, of channels, and others.
    running_mean, running_var : Tensor, optional
        Statistics of each channel, as of `batch_norm`; new ones are means over the samples.
    weight, bias : Tensor, optional
        A factor for each channel, and what is added to it.
    use_input_stats : bool, default True
        Whether the statistics are those of `input`.
    momentum : float, default 0.1
        The part of the new statistics.
    eps : float, default 1e-05
        What is added to the variance.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not floating.
    ShapeError
        If there are fewer than two dimensions, or a vector has not an element for each channel.
    ArgumentValueError
        If the statistics are those of `input`, and there is one value in each channel.
    OptionValueError
        If statistics are missing, and those of `input` are not to be used.

    Examples
    --------
    >>> vt.nn.functional.instance_norm(vt.tensor([[[1.0, 3.0], [0.0, 20.0]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """
    refuse_names("instance_norm", input, running_mean, running_var, weight, bias)
    shape = array_of(input, "input").shape
    by_input = check_flag(use_input_stats, "use_input_stats")
    if by_input:
        check_count(math.prod(shape[2:]), shape)
    if len(shape) < 2:
        raise ShapeError(f"instance_norm() takes two dimensions at least, not {len(shape)}")
    check_kind("instance_norm", input)
    vectors = {"running_mean": running_mean, "running_var": running_var}
    check_channels("instance_norm", shape[1], **vectors, weight=weight, bias=bias)
    least, part = real_of(eps, "eps"), real_of(momentum, "momentum")
    axes = tuple(range(2, len(shape)))
    scale, shift = of_channels(shape, weight, bias)
    if not by_input:
        return affine(_by_kept(input, running_mean, running_var, least), scale, shift)
    found = with_statistics(input, axes, least)
    result = affine(found.values, scale, shift)
    if running_mean is not None or running_var is not None:
        count = math.prod(shape[2:])
        mean, variance = [F.reshape(F.mean_dim(each, (0,)), (shape[1],)) for each in found[1:]]
        variance = F.mul(variance, count / (count - 1)) if count > 1 else variance
        _keep(running_mean, running_var, mean, variance, part)
    return result


def _by_kept(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, eps: float
) -> Tensor:
    """Values shifted and scaled by statistics of the channels."""
    if running_mean is None or running_var is None:
        raise OptionValueError("statistics that were kept are to be used, and one is missing")
    mean, variance = of_channels(input._impl.array.shape, running_mean, running_var)
    assert mean is not None
    assert variance is not None
    return F.mul(F.sub(input, mean), F.rsqrt(F.add(variance, eps)))


def _keep(
    running_mean: Tensor | None,
    running_var: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    momentum: float,
) -> None:
    """Write the statistics; see Note [Both statistics or neither]."""
    with no_grad():
        writes = [
            (running, F.clone(running), F.add(F.mul(running, 1 - momentum), F.mul(new, momentum)))
            for running, new in ((running_mean, mean), (running_var, variance))
            if running is not None
        ]
        for running, _, _ in writes:
            check_memory(running)
        begun = 0
        try:
            for running, _, value in writes:
                begun += 1
                F.copy_(running, value)
        except BaseException:
            for running, before, _ in writes[:begun]:
                # What was refused has its values still.
                with suppress(WriteRefusedError):
                    F.copy_(running, before)
            raise
