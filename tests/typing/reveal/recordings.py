"""Recorded functions take what the function takes, and return what it returns."""

from typing import reveal_type

import vtgrad as vt

x = vt.ones(2)


def step(x: vt.Tensor, scale: float) -> tuple[vt.Tensor, ...]:
    return x * scale, x


@vt.jit.replay
def product(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    return x * y


fast = vt.jit.trace(step, x, 2.0)
reveal_type(fast(x, 3.0))  # R: tuple[vtgrad.Tensor, ...]
reveal_type(product(x, x))  # R: vtgrad.Tensor
reveal_type(fast.code)  # R: str
