"""The zeta function of Riemann and Hurwitz."""

from __future__ import annotations

from typing import Final

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise
from vtgrad.special.kernels.hurwitz_zeta import zeta as kernel
from vtgrad.tensor.tensor import Tensor

__all__ = ["zeta"]


def _slope(input: Tensor, other: Tensor) -> Tensor:
    return F.neg(F.mul(input, _ZETA(F.add(input, 1), other)))


_ZETA: Final[Elementwise] = Elementwise(
    "zeta", kernel, takes_half=False, refuses_late=True, input=None, other=_slope
)


@explained
def zeta(input: Tensor | float, other: Tensor | float, *, out: Tensor | None = None) -> Tensor:
    """Return the zeta function of Hurwitz of each pair of elements.

    The sum of ``(other + k) ** -input`` over k from 0 on, which is the function of Riemann where
    `other` is 1. It is infinite where `input` is 1 and where `other` is 0 or a negative whole
    number, and nan where `input` is less than 1, or where a power of a negative number would be
    complex. The derivative by `other` is ``-input * zeta(input + 1, other)``.

    Parameters
    ----------
    input : Tensor or number
        The order. There is no derivative by it.
    other : Tensor or number
        Where the sum starts. One of the two is a tensor; they broadcast.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.

    Returns
    -------
    Tensor
        A new tensor of the shape that the operands broadcast to, of a floating dtype.

    Raises
    ------
    ArgumentTypeError
        If both operands are numbers.
    NotSupportedError
        If an operand is complex, or float16. In backward or forward mode, if the derivative by a
        parameter is asked that has none.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 25.11.

    Examples
    --------
    >>> vt.special.zeta(vt.tensor([2.0, 4.0]), 1)
    tensor([1.6449, 1.0823])
    """
    return _ZETA(input, other, out=out)
