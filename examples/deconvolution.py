"""Deconvolution by Fourier transforms: a blurred signal is made sharp in steps, row by row.

Row `t + 1` of a table is row `t` and a part of what the blurred row `t` misses of the measured
signal (L. Landweber, 1951). The gradient by the width of the blur and by the size of the steps says
how to set both.
"""

from __future__ import annotations

import numpy as np
from _check import check

import vtgrad as vt

N, STEPS = 64, 12
rng = np.random.default_rng(0)
PLACES = vt.fft.fftfreq(N, 1 / N, dtype=vt.float64)
SHARP = vt.zeros(N, dtype=vt.float64)
SHARP[10:20] = 1.0
SHARP[35] = 2.0
NOISE = vt.tensor(0.01 * rng.normal(size=N))


def response(width: vt.Tensor) -> vt.Tensor:
    """The Fourier transform of a blur that adds up to one."""
    blur = vt.exp(-((PLACES / width) ** 2) / 2)
    return vt.fft.rfft(blur / blur.sum())


def blurred(x: vt.Tensor, spectrum: vt.Tensor) -> vt.Tensor:
    """The signal after a filter with this spectrum."""
    return vt.fft.irfft(vt.fft.rfft(x) * spectrum, n=N)


MEASURED = blurred(SHARP, response(vt.tensor(2.0, dtype=vt.float64))) + NOISE


def error(width: vt.Tensor, step: vt.Tensor) -> vt.Tensor:
    """How far the last row is from the sharp signal."""
    spectrum = response(width)
    rows = vt.zeros(STEPS + 1, N, dtype=vt.float64)
    for t in range(STEPS):
        missing = MEASURED - blurred(rows[t], spectrum)
        rows[t + 1] = rows[t] + step * blurred(missing, spectrum.conj())
        rows[t + 1].clamp_(min=0)  # the signal is not negative
    return ((rows[STEPS] - SHARP) ** 2).sum()


if __name__ == "__main__":
    check(error, 1.6, 0.9, way="exact")
