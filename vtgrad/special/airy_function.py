"""The Airy function."""

from __future__ import annotations

from typing import Final

from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise
from vtgrad.special.kernels import airy as kernels
from vtgrad.tensor.tensor import Tensor

__all__ = ["airy_ai"]

_PRIME: Final[Elementwise] = Elementwise(
    "airy_ai_prime",
    kernels.airy_ai_prime,
    takes_half=False,
    # The differential equation (DLMF 9.2.1).
    input=lambda input: F.mul(input, _AI(input)),
)
_AI: Final[Elementwise] = Elementwise("airy_ai", kernels.airy_ai, takes_half=False, input=_PRIME)


@explained
def airy_ai(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the Airy function Ai of each element.

    It oscillates below 0 and vanishes at both infinities. Its phase is exact to the last digit down
    to about -1e10, and has no digits left below -1e20. PyTorch has no derivative of it.

    Parameters
    ----------
    input : Tensor
        Real values. Integers and bools are computed in the default floating dtype.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`: of its dtype if that is floating, else of the default
        floating dtype.

    Raises
    ------
    NotSupportedError
        If `input` is complex, or float16.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    References
    ----------
    NIST Digital Library of Mathematical Functions, 9.2 and 9.7.

    Examples
    --------
    >>> vt.special.airy_ai(vt.tensor([-10.0, 0.0, 1.0]))
    tensor([0.0402, 0.3550, 0.1353])
    """
    return _AI(input, out=out)
