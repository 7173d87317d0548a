"""Calls of linear maps, convolutions, pooling and sampling, as samples for tests.

Each is a function of tensors. The numbers of the elements differ, so that no derivative is taken at
a kink.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

import vtgrad as vt
import vtgrad.nn.functional as F

__all__ = ["CALLS", "COMPLEX", "Call", "results_of", "values"]

Call = tuple[Callable[..., Any], Sequence[tuple[int, ...]]]


def values(shape: Sequence[int], nr: int = 0, *, complex: bool = False) -> vt.Tensor:
    """Values between -1 and 1, no two of which are near each other."""
    generator = np.random.default_rng(nr)
    size = int(np.prod(shape))
    found = generator.permutation(np.linspace(-1, 1, size) + 0.013 * nr).reshape(shape)
    if complex:
        found = found + 1j * generator.permutation(found.reshape(-1)).reshape(shape)
    return vt.tensor(found)


def results_of(found: Any) -> list[vt.Tensor]:
    """The results of a call that have derivatives."""
    listed = list(found) if isinstance(found, tuple) else [found]
    return [x for x in listed if x.is_floating_point() or x.is_complex()]


def unpooled(x: vt.Tensor) -> vt.Tensor:
    """Elements at the places of the largest ones, which are the same for all samples of a batch."""
    places = vt.tensor([[[0, 3], [9, 10]]])
    return F.max_unpool2d(x, places, 2, output_size=(4, 5))


def drawn(x: vt.Tensor, ndim: int) -> vt.Tensor:
    """What random distances of windows are made of, for one sample of two channels."""
    numbers = [[[0.3, 0.8, 0.1][:ndim], [0.6, 0.2, 0.9][:ndim]]]
    return vt.tensor(numbers, dtype=x.dtype, device=x.device)


# By name: a call, and the shapes of the tensors that it takes.
CALLS: Final[Mapping[str, Call]] = {
    "linear": (F.linear, [(2, 3), (4, 3), (4,)]),
    "linear of vectors": (F.linear, [(3,), (3,)]),
    "linear of stacks": (F.linear, [(2, 2, 3), (4, 3), (4,)]),
    "bilinear": (F.bilinear, [(2, 3), (2, 2), (4, 3, 2), (4,)]),
    "conv1d": (
        lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1, groups=2),
        [(2, 2, 5), (4, 1, 3), (4,)],
    ),
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, padding="same"), [(1, 3, 3), (2, 1, 2, 2), (2,)]),
    "conv2d with holes": (
        lambda x, w: F.conv2d(x, w, stride=(2, 1), padding=(0, 2), dilation=(1, 2)),
        [(2, 1, 4, 3), (2, 1, 2, 2)],
    ),
    "conv1d of a long signal": (
        lambda x, w: F.conv1d(x, w, padding="same", dilation=2, groups=2),
        [(2, 2, 130), (4, 1, 4)],
    ),
    "conv2d of the same size": (
        lambda x, w, b: F.conv2d(x, w, b, padding="same", dilation=(1, 2)),
        [(2, 2, 10, 13), (3, 2, 2, 3), (3,)],
    ),
    "conv2d of many windows": (
        lambda x, w: F.conv2d(x, w, stride=(2, 1), groups=2),
        [(2, 2, 9, 11), (4, 1, 2, 3)],
    ),
    "conv2d of points": (F.conv2d, [(2, 2, 2, 2), (3, 2, 1, 1)]),
    "conv3d": (F.conv3d, [(1, 1, 2, 3, 2), (1, 1, 2, 2, 1)]),
    "conv_transpose1d": (
        lambda x, w, b: F.conv_transpose1d(
            x, w, b, stride=2, padding=1, output_padding=1, groups=2
        ),
        [(2, 2, 3), (2, 2, 3), (4,)],
    ),
    "conv_transpose2d": (
        lambda x, w: F.conv_transpose2d(x, w, dilation=2, output_padding=1),
        [(1, 2, 2), (1, 2, 2, 2)],
    ),
    "conv_transpose2d of the same size": (
        lambda x, w: F.conv_transpose2d(x, w, padding=(1, 0), groups=2),
        [(2, 12, 11), (2, 2, 3, 1)],
    ),
    "conv_transpose2d of many windows": (
        lambda x, w: F.conv_transpose2d(x, w, stride=(1, 2), padding=1),
        [(2, 5, 7), (2, 1, 3, 2)],
    ),
    "conv_transpose3d": (F.conv_transpose3d, [(1, 1, 2, 1, 2), (1, 1, 2, 2, 1)]),
    "unfold": (lambda x: F.unfold(x, 2, (1, 2), 1, (2, 1)), [(1, 2, 3, 4)]),
    "fold": (lambda x: F.fold(x, (3, 3), 2, stride=1), [(8, 4)]),
    "max_pool1d": (lambda x: F.max_pool1d(x, 3, 2, 1, ceil_mode=True), [(2, 2, 6)]),
    "max_pool2d": (
        lambda x: F.max_pool2d(x, 2, 1, 1, 2, return_indices=True),
        [(1, 2, 4, 3)],
    ),
    "max_pool3d": (lambda x: F.max_pool3d(x, (1, 2, 2)), [(1, 2, 2, 4)]),
    "adaptive_max_pool1d": (lambda x: F.adaptive_max_pool1d(x, 3), [(1, 2, 5)]),
    "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, (2, None)), [(1, 3, 4)]),
    "adaptive_max_pool3d": (lambda x: F.adaptive_max_pool3d(x, (1, 2, 2)), [(1, 2, 3, 2)]),
    "fractional_max_pool2d": (
        lambda x: F.fractional_max_pool2d(x, 2, (2, 3), _random_samples=drawn(x, 2)),
        [(1, 2, 4, 5)],
    ),
    "fractional_max_pool2d_with_indices": (
        lambda x: F.fractional_max_pool2d_with_indices(
            x, (1, 2), output_ratio=0.5, _random_samples=drawn(x, 2)
        ),
        [(2, 4, 5)],
    ),
    "fractional_max_pool3d": (
        lambda x: F.fractional_max_pool3d(x, 2, (1, 2, 2), _random_samples=drawn(x, 3)),
        [(2, 2, 3, 3)],
    ),
    "fractional_max_pool3d_with_indices": (
        lambda x: F.fractional_max_pool3d_with_indices(
            x, (1, 1, 2), (1, 2, 1), _random_samples=drawn(x, 3)
        ),
        [(1, 2, 1, 2, 3)],
    ),
    "max_unpool1d": (
        lambda x: F.max_unpool1d(x, vt.tensor([[1, 2]]), 2),
        [(1, 2)],
    ),
    "max_unpool2d": (unpooled, [(1, 2, 2)]),
    "max_unpool3d": (
        lambda x: F.max_unpool3d(x, vt.tensor([[[[1]], [[4]]]]), (1, 2, 2)),
        [(1, 2, 1, 1)],
    ),
    "avg_pool1d": (lambda x: F.avg_pool1d(x, 3, 2, 1, True, False), [(2, 2, 6)]),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2, (1, 2), divisor_override=3), [(1, 2, 3, 4)]),
    "avg_pool3d": (lambda x: F.avg_pool3d(x, 2, padding=1), [(1, 2, 3, 2)]),
    "adaptive_avg_pool1d": (lambda x: F.adaptive_avg_pool1d(x, 3), [(1, 2, 5)]),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (2, None)), [(1, 3, 4)]),
    "adaptive_avg_pool3d": (lambda x: F.adaptive_avg_pool3d(x, (1, 2, 3)), [(1, 2, 3, 2)]),
    "lp_pool1d": (lambda x: F.lp_pool1d(x * x, 3.0, 2), [(1, 4)]),
    "lp_pool2d": (lambda x: F.lp_pool2d(x, 2, 2, 1), [(1, 3, 2)]),
    "lp_pool3d": (lambda x: F.lp_pool3d(x, 2, (1, 2, 2)), [(1, 1, 2, 4)]),
    "interpolate to the nearest": (lambda x: F.interpolate(x, 5), [(1, 1, 3)]),
    "interpolate to the nearest middle": (
        lambda x: F.interpolate(x, scale_factor=0.7, mode="nearest-exact"),
        [(1, 1, 3, 4)],
    ),
    "interpolate by lines": (lambda x: F.interpolate(x, 5, mode="linear"), [(1, 2, 3)]),
    "interpolate images by lines": (
        lambda x: F.interpolate(x, (4, 2), mode="bilinear", align_corners=True),
        [(1, 1, 3, 3)],
    ),
    "interpolate images by cubic polynomials": (
        lambda x: F.interpolate(x, scale_factor=1.4, mode="bicubic"),
        [(1, 1, 3, 3)],
    ),
    "interpolate images without aliases": (
        lambda x: F.interpolate(x, 2, mode="bicubic", antialias=True),
        [(1, 1, 5, 4)],
    ),
    "interpolate volumes": (
        lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"),
        [(1, 1, 2, 1, 2)],
    ),
    "interpolate by means": (lambda x: F.interpolate(x, 2, mode="area"), [(1, 1, 3)]),
    "grid_sample by lines": (F.grid_sample, [(1, 2, 3, 3), (1, 2, 2, 2)]),
    "grid_sample of volumes": (
        lambda x, g: F.grid_sample(x, g, padding_mode="border", align_corners=True),
        [(1, 1, 2, 2, 3), (1, 1, 1, 1, 3)],
    ),
    "grid_sample in mirrors": (
        lambda x, g: F.grid_sample(x, 2.3 * g, padding_mode="reflection"),
        [(1, 1, 3, 2), (1, 1, 3, 2)],
    ),
    "grid_sample by cubic polynomials": (
        lambda x, g: F.grid_sample(x, g, "bicubic", "zeros"),
        [(1, 1, 2, 3), (1, 1, 1, 2)],
    ),
    "grid_sample of the nearest": (
        lambda x, g: F.grid_sample(x, g, "nearest"),
        [(1, 1, 3, 3), (1, 1, 2, 2)],
    ),
    "affine_grid": (lambda t: F.affine_grid(t, (2, 1, 2, 3)), [(2, 2, 3)]),
    "affine_grid of volumes": (lambda t: F.affine_grid(t, (1, 1, 2, 1, 2), True), [(1, 3, 4)]),
    "pad": (lambda x: F.pad(x, (1, -1, 0, 2), "constant", 3.0), [(2, 3)]),
    "pad in a circle": (lambda x: F.pad(x, (2, -1), "circular"), [(1, 1, 4)]),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), [(4, 1, 2)]),
    "pixel_unshuffle": (lambda x: F.pixel_unshuffle(x, 2), [(1, 2, 4)]),
    "channel_shuffle": (lambda x: F.channel_shuffle(x, 2), [(1, 4, 2)]),
}

# Calls that take complex numbers for all their tensors.
COMPLEX: Final = [
    name
    for name in CALLS
    if name.split()[0].startswith(("conv", "linear", "bilinear", "unfold", "fold", "pixel"))
]
