"""Samples of the operators in the table `joining`."""

from typing import Final

import numpy as np

from tests.ops.sample import MATRIX, OTHER, POSITIVE, SQUARE, VECTOR, Samples, sample

__all__ = ["SAMPLES"]


SAMPLES: Final[Samples] = {
    "cat": [
        sample(lambda xs, d: np.concatenate(xs, d), [MATRIX, SQUARE], 0),
        sample(lambda xs, d: np.concatenate(xs, d), [MATRIX, OTHER, POSITIVE], -1),
    ],
    "stack": [
        sample(lambda xs, d: np.stack(xs, d), [MATRIX, OTHER], 1),
        sample(lambda xs: np.stack(xs), [VECTOR, VECTOR, VECTOR]),
    ],
}
