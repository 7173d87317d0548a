"""Special functions whose arguments users pass in another order than the table has them."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "polygamma",
]


T = TypeVar("T", bound=TensorBase)


@explained
def polygamma(n: int, input: T, *, out: T | None = None) -> T:
    """Return a derivative of the digamma function.

    The digamma function is the derivative of `log(gamma(x))`; order 0 is the digamma function
    itself. Of order 1 and more the poles at 0, -1, -2 and so on are infinite. Integers are
    computed in the default floating dtype. The gradient of order `n` is the function of order
    `n + 1`.

    Parameters
    ----------
    n : int
        The order of the derivative, from 0 to 170.
    input : Tensor
        Real values.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new floating tensor of the shape of `input`.

    Raises
    ------
    OptionValueError
        If `n` is negative.
    NotSupportedError
        If `n` is above 170, or the values are complex.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Notes
    -----
    Abramowitz and Stegun, 6.4.1 and 6.4.10. As a method it takes `n` alone: `x.polygamma(1)`.

    Examples
    --------
    >>> vt.polygamma(1, vt.tensor([1.0, 2.0]))  # pi ** 2 / 6, and 1 less
    tensor([1.6449, 0.6449])
    >>> vt.tensor([1.0]).polygamma(0)
    tensor([-0.5772])
    """
    return F.polygamma_of(input, n, out=out)
