"""The local level model written a second time, in plain Python: the oracle of these tests.

It shares nothing with ``vtgrad.demo.local_level``: predicted states instead of filtered ones,
scalars instead of buffers, no tensors.
"""

import math
from collections.abc import Sequence


def log_likelihood(
    observation_variance: float, level_variance: float, flows: Sequence[float]
) -> float:
    """Diffuse log-likelihood from the recursion for a[t+1] and P[t+1] (predictions)."""
    predicted = flows[0]
    variance = observation_variance + level_variance
    total = -0.5 * len(flows) * math.log(2.0 * math.pi)
    for flow in flows[1:]:
        error = flow - predicted
        error_variance = variance + observation_variance
        total -= 0.5 * (math.log(error_variance) + error**2 / error_variance)
        gain = variance / error_variance
        predicted += gain * error
        variance = variance * (1.0 - gain) + level_variance
    return total


def concentrated_log_likelihood(ratio: float, flows: Sequence[float]) -> float:
    """Log-likelihood in the ratio of the variances only, without its constants."""
    predicted, variance = flows[0], 1.0 + ratio
    squares = logarithms = 0.0
    for flow in flows[1:]:
        error = flow - predicted
        error_variance = variance + 1.0
        squares += error**2 / error_variance
        logarithms += math.log(error_variance)
        gain = variance / error_variance
        predicted += gain * error
        variance = variance * (1.0 - gain) + ratio
    count = len(flows) - 1
    return -0.5 * (count * math.log(squares / count) + logarithms)
