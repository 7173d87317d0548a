"""Samples of the operators in the table `creation`."""

from typing import Final

import numpy as np

from tests.ops.sample import MATRIX, Samples, sample

__all__ = ["SAMPLES"]


SAMPLES: Final[Samples] = {
    "zeros_shaped": [sample(lambda x, sizes: np.zeros(sizes), MATRIX, (3, 1))],
}
