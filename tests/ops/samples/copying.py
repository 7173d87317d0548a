"""Samples of the operators in the table `copying`."""

from typing import Final

import numpy as np

from tests.ops.sample import COMPLEX, MATRIX, OTHER, VECTOR, WHOLE, Samples, array, sample

__all__ = ["SAMPLES"]


SAMPLES: Final[Samples] = {
    "to_dtype": [
        sample(lambda x, dtype: x.astype(dtype), MATRIX, np.dtype("complex128")),
        sample(lambda x, dtype: x.astype(dtype), WHOLE, np.dtype("float64")),
    ],
    "sum_to_size": [
        sample(lambda x, size: x.sum(0), MATRIX, (3,)),
        sample(lambda x, size: x.sum(1, keepdims=True), MATRIX, (2, 1)),
    ],
    "expand_to": [
        sample(np.broadcast_to, VECTOR, (2, 3)),
    ],
    "clone": [sample(np.copy, MATRIX), sample(np.copy, COMPLEX)],
    "zero_": [sample(np.zeros_like, MATRIX)],
    "fill_Scalar_": [sample(np.full_like, MATRIX, 2.5)],
    "fill_Tensor_": [sample(np.full_like, MATRIX, array(2.5))],
    "copy_": [
        sample(lambda x, y: y, MATRIX, OTHER),
        sample(lambda x, y: np.broadcast_to(y, x.shape), MATRIX, VECTOR),
    ],
}
