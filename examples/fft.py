"""The fast Fourier transform in place: butterflies over the halves of ever longer blocks.

Each butterfly turns `u` into `u + w v` and `v` into `u - w v`, where `u` and `v` are views of the
array. The transform is linear, and its only products are with constants: the gradient needs nothing
that is overwritten, and it runs by default.
"""

from __future__ import annotations

import numpy as np
from _check import check

import vtgrad as vt

N = 16
rng = np.random.default_rng(0)
WEIGHTS = rng.normal(size=N) + 1j * rng.normal(size=N)


def transform(x: vt.Tensor) -> None:
    """Replace a vector, whose length is a power of two, by its Fourier transform."""
    n = len(x)
    bits = n.bit_length() - 1
    x[:] = x[[int(f"{i:0{bits}b}"[::-1], 2) for i in range(n)]]
    half = 1
    while half < n:
        w = vt.from_numpy(np.exp(-1j * np.pi * np.arange(half) / half))
        blocks = x.view(-1, 2, half)
        u, v = blocks[:, 0], blocks[:, 1]
        v *= w
        u += v  # u + w v
        v *= -2
        v += u  # u + w v - 2 w v
        half *= 2


def weighted(pairs: vt.Tensor) -> vt.Tensor:
    """The real part of a weighted sum of the transform of `pairs`, real and imaginary parts."""
    x = vt.view_as_complex(pairs.clone())  # the input is the caller's
    transform(x)
    return (x * vt.from_numpy(WEIGHTS.conj())).sum().real


if __name__ == "__main__":
    # The adjoint of the transform is N times its inverse.
    adjoint = N * np.fft.ifft(WEIGHTS)
    formula = np.stack([adjoint.real, adjoint.imag], axis=1)
    check(weighted, rng.normal(size=(N, 2)), way="exact", expected=[formula])
