"""Samples of the operators in the table `fft`."""

from typing import Final

import numpy as np

from tests.ops.sample import COMPLEX, MATRIX, Samples, sample

__all__ = ["SAMPLES"]

SAMPLES: Final[Samples] = {
    "fft_c2c": [
        sample(lambda x, *_: np.fft.fft(x), COMPLEX, (-1,), "backward", False),
        sample(lambda x, *_: np.fft.ifft(x, axis=0), COMPLEX, (0,), "forward", True),
        sample(lambda x, *_: np.fft.fft2(x, norm="ortho"), COMPLEX, (0, 1), "ortho", False),
        sample(lambda x, *_: x, COMPLEX, (), "ortho", False),
    ],
    "fft_r2c": [
        sample(lambda x, *_: np.fft.rfft(x), MATRIX, (-1,), "backward", True),
        sample(lambda x, *_: np.fft.fft(x, axis=0), MATRIX, (0,), "backward", False),
        sample(lambda x, *_: np.fft.rfft2(x, norm="ortho"), MATRIX, (0, 1), "ortho", True),
        sample(lambda x, *_: np.fft.fft2(x, norm="forward"), MATRIX, (1, 0), "forward", False),
    ],
    "fft_c2r": [
        sample(lambda x, *_: np.fft.irfft(x, 2), COMPLEX, (-1,), "forward", 2),
        sample(lambda x, *_: np.fft.irfft(x, 3, 0, "ortho"), COMPLEX, (0,), "ortho", 3),
        sample(lambda x, *_: np.fft.irfft2(x, (2, 3)), COMPLEX, (0, 1), "forward", 3),
    ],
    "fft_scale_pairs": [
        sample(lambda x, *_: x * [1, 3, 1], np.ones((2, 3)), -1, 4, 3.0),
        sample(lambda x, *_: x * [1, 3, 3], np.ones((2, 3)) * 1j, 1, 5, 3.0),
    ],
}
