"""How the elements of an input lie under the windows of a kernel."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Geometry"]


class Geometry(NamedTuple):
    """How the elements of an input lie under the kernel.

    Attributes
    ----------
    groups : int
        In how many groups the channels are.
    size, kernel, out : tuple of int
        How many places the input, the kernel and the output have, by dimension.
    stride, dilation, padding : tuple of int
        The steps of the output and of the kernel, and how many zeros stand in front.
    """

    groups: int
    size: tuple[int, ...]
    kernel: tuple[int, ...]
    out: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[int, ...]

    def reached(self) -> tuple[int, ...]:
        """How many places lie under the kernel, with those outside of the input."""
        return tuple(
            [
                (o - 1) * s + (k - 1) * d + 1 if o else 0
                for o, s, k, d in zip(
                    self.out, self.stride, self.kernel, self.dilation, strict=True
                )
            ]
        )
