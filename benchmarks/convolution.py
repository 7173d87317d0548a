"""A convolution of images and its gradients by images, kernels and bias.

The products of matrices are most of the time here, and NumPy's are those of OpenBLAS: which kernels
it chooses for a processor decides much of the ratio.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Real, Toolkit
from benchmarks.results import Bar, Result

SECTION = "convolution, value and gradient"
IMAGES = (8, 16, 32, 32)
KERNELS = (32, 16, 3, 3)
# These have no convolution of several channels.
WITHOUT = ("autograd", "mygrad")


def convolved(lib: Toolkit, x: Array, kernels: Array, bias: Array, weights: Array) -> Array:
    """A weighted sum of what a convolution gives."""
    return (lib.ops.nn.functional.conv2d(x, kernels, bias, padding=1) * weights).sum()


def inputs(images: tuple[int, ...], kernels: tuple[int, ...]) -> list[Real]:
    """Images, kernels and bias."""
    rng = np.random.default_rng(0)
    return [rng.normal(size=images), rng.normal(size=kernels), rng.normal(size=kernels[0])]


def weights(images: tuple[int, ...], kernels: tuple[int, ...]) -> list[Real]:
    """The weights of the sum."""
    return [np.random.default_rng(1).normal(size=(images[0], kernels[0], *images[2:]))]


def rows(bench: Bench) -> Iterator[Result]:
    """Eight images of 32x32 with 16 channels, and 32 kernels of 3x3."""
    yield bench.compare_body(
        SECTION,
        "8x16x32x32 with 32 kernels of 3x3",
        convolved,
        inputs(IMAGES, KERNELS),
        "both",
        Bar(1.5, 1.5),
        constants=weights(IMAGES, KERNELS),
        without=WITHOUT,
    )
