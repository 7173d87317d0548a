"""Samples of the operators in the table `random`."""

from typing import Final

from tests.ops.sample import MATRIX, POSITIVE, Samples, array, sample

__all__ = ["SAMPLES"]

CHANCES: Final = array([[0.5, 0.25, 0.75], [0.5, 0.9, 0.1]])


# What is drawn is compared with nothing here: tests/bridge/test_random.py does.
SAMPLES: Final[Samples] = {
    "normal_": [sample(None, MATRIX, 1.0, 0.5)],
    "uniform_": [sample(None, MATRIX, -1.0, 1.0)],
    "exponential_": [sample(None, MATRIX, 2.0)],
    "cauchy_": [sample(None, MATRIX, -1.0, 2.0)],
    "log_normal_": [sample(None, MATRIX, 0.0, 1.0)],
    "geometric_": [sample(None, MATRIX, 0.3)],
    "random_from_": [sample(None, MATRIX, 3, 9)],
    "random_to_": [sample(None, MATRIX, 9)],
    "random_default_": [sample(None, MATRIX)],
    "bernoulli_default": [sample(None, CHANCES)],
    "bernoulli_Tensor_": [sample(None, MATRIX, CHANCES)],
    "bernoulli_float_": [sample(None, MATRIX, 0.5)],
    "poisson": [sample(None, POSITIVE)],
    "draw_choices": [sample(None, POSITIVE, 2, False), sample(None, POSITIVE, 4, True)],
    "normal_Tensor_float": [sample(None, MATRIX, 0.5)],
    "normal_float_Tensor": [sample(None, 0.5, POSITIVE)],
    "normal_Tensor_Tensor": [sample(None, MATRIX, POSITIVE)],
}
