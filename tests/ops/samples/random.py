"""Samples of the operators in the table `random`."""

from typing import Final

from ..sample import MATRIX, POSITIVE, Samples, array, sample

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
    "random_between_": [sample(None, MATRIX, 3, 9)],
    "random_below_": [sample(None, MATRIX, 9)],
    "random_any_": [sample(None, MATRIX)],
    "bernoulli_of": [sample(None, CHANCES)],
    "bernoulli_tensor_": [sample(None, MATRIX, CHANCES)],
    "bernoulli_number_": [sample(None, MATRIX, 0.5)],
    "normal_of_means": [sample(None, MATRIX, 0.5)],
    "normal_of_deviations": [sample(None, 0.5, POSITIVE)],
    "normal_of_both": [sample(None, MATRIX, POSITIVE)],
}
