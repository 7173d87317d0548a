"""Choices that are drawn with weights."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import DTypeError, OptionValueError, ResultTypeError, ShapeError
from vtgrad.generator import Generator
from vtgrad.later.refuse_names import refuse_names
from vtgrad.later.store_result import store_result
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.storage.integers import integer
from vtgrad.storage.strides import check_sizes
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["multinomial"]


T = TypeVar("T", bound=TensorBase)


@explained
def multinomial(
    input: T,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: T | None = None,
) -> T:
    """Return indices that are drawn with given weights.

    Parameters
    ----------
    input : Tensor
        The weights, floating and not negative: a vector, or a matrix with a row for each draw.
        They need not add up to 1.
    num_samples : int
        How many indices are drawn.
    replacement : bool, default False
        Whether an index may be drawn several times.
    generator : Generator or None, default None
        What to draw from; the default generator if None.
    out : Tensor, optional
        Where the result is stored, of int64.

    Returns
    -------
    Tensor
        A new tensor of int64 with `num_samples` indices, or as many in each row.

    Raises
    ------
    ShapeError
        If `input` is neither a vector nor a matrix, or a weight is negative or not finite, or
        nothing has a weight.
    DTypeError
        If `input` is not floating.
    OptionValueError
        If `num_samples` is not positive, or more than there are without replacement.
    ResultTypeError
        If `out` is not of int64.

    Examples
    --------
    >>> vt.multinomial(vt.tensor([0.0, 3.0, 0.0]), 2, replacement=True)
    tensor([1, 1])
    >>> weights = vt.tensor([1.0, 2.0, 1.0])
    >>> draws = vt.multinomial(weights, 10000, True, generator=vt.Generator().manual_seed(0))
    >>> 0.48 < (draws == 1).double().mean().item() < 0.52
    True
    """
    refuse_names("multinomial", input)
    array = array_of(input, "input")
    if array.ndim not in (1, 2):
        raise ShapeError(f"multinomial() takes a vector or a matrix, got {list(array.shape)}")
    if array.dtype.kind != "f":
        raise DTypeError(f"multinomial() takes floating weights, not {input.dtype.name}")
    if out is not None and array_of(out, "out").dtype != "int64":
        raise ResultTypeError(f"multinomial() stores int64 only, not {out.dtype.name}")
    count = integer(num_samples)
    if count <= 0:
        raise OptionValueError(f"multinomial() draws one index at least, not {count}")
    if not check_flag(replacement, "replacement") and count > array.shape[-1]:
        raise OptionValueError(
            f"multinomial() cannot draw {count} of {array.shape[-1]} without replacement"
        )
    check_sizes((*array.shape[:-1], count), 8)
    found = F.draw_choices(input, count, replacement, generator=generator)
    return store_result(found, out, "multinomial", input, exact=True, differentiable=False)
