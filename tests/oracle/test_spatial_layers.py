"""Linear maps, convolutions, pooling and sampling beside PyTorch: samples, errors, other calls."""

from typing import Any, Final

import numpy as np
import pytest
import torch

import vtgrad as vt
from tests.oracle.kinds import builtin_of
from tests.oracle.spatial_layers import KNOWN, NAMES, differences, entries, wrong_calls

# The database has no samples of these: a function, shapes of tensors, and other arguments.
OTHERS: Final[list[tuple[str, list[tuple[int, ...]], dict[str, Any]]]] = [
    ("fold", [(2, 8, 6)], {"output_size": (3, 4), "kernel_size": 2}),
    ("fold", [(4, 6)], {"output_size": 4, "kernel_size": 2, "stride": (1, 2), "padding": (0, 0)}),
    ("fold", [(1, 6, 4)], {"output_size": 3, "kernel_size": (2, 3), "padding": 1, "stride": 2}),
    ("fold", [(1, 4, 4)], {"output_size": 4, "kernel_size": 2, "dilation": 2}),
    ("lp_pool1d", [(2, 3, 7)], {"norm_type": 2.0, "kernel_size": 3, "stride": 2}),
    ("lp_pool1d", [(3, 7)], {"norm_type": 3.0, "kernel_size": 3, "ceil_mode": True}),
    ("lp_pool2d", [(2, 3, 5, 4)], {"norm_type": 1.5, "kernel_size": (2, 3), "stride": 1}),
    ("lp_pool3d", [(1, 3, 3, 4, 5)], {"norm_type": 2.0, "kernel_size": 2, "ceil_mode": False}),
    ("affine_grid", [(2, 2, 3)], {"size": (2, 3, 4, 5), "align_corners": True}),
    ("affine_grid", [(2, 2, 3)], {"size": (2, 3, 1, 5), "align_corners": False}),
    ("affine_grid", [(1, 3, 4)], {"size": (1, 3, 2, 3, 4), "align_corners": False}),
    ("max_pool2d", [(2, 3, 6, 7)], {"kernel_size": 3, "dilation": 2, "padding": 1, "stride": 1}),
    ("conv2d", [(2, 4, 7, 6), (6, 2, 3, 2)], {"stride": (2, 1), "groups": 2, "padding": (1, 0)}),
    (
        "conv_transpose2d",
        [(2, 4, 3, 2), (4, 2, 3, 2)],
        {"dilation": (2, 1), "output_padding": (1, 0)},
    ),
]


@pytest.mark.filterwarnings("ignore")  # of functions that PyTorch is about to drop
@pytest.mark.parametrize("name", NAMES)
def test_samples_agree_with_pytorch(name: str) -> None:
    found = [f"{what}: {sample}" for what, sample in differences(name) if (name, what) not in KNOWN]
    assert not found, f"{len(found)} samples differ\n" + "\n".join(found[:5])


@pytest.mark.parametrize("name", NAMES)
def test_the_database_has_the_function(name: str) -> None:
    # A database of another form would silently give nothing to compare.
    assert list(entries(name))


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_call_raises_the_class_that_pytorch_raises() -> None:
    found, count = [], 0
    for name in NAMES:
        for call, theirs, raised in wrong_calls(name):
            count += 1
            same = (
                raised is None
                if theirs is None
                else any(cls.__name__ == builtin_of(theirs) for cls in type(raised).__mro__)
            )
            if not same:
                found.append(f"{name} {call}: {theirs!r} there, {raised!r} here")
    assert not found, "\n".join(found)
    assert count > 50


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_windows_at_random_distances_are_those_of_torch(ndim: int, dtype: str) -> None:
    generator = np.random.default_rng(ndim)
    for _ in range(30):
        size, kernel = generator.integers(5, 9, ndim), generator.integers(1, 4, ndim)
        # One less than there may be: PyTorch refuses some of volumes that fit.
        out = [int(generator.integers(1, n - k + 1)) for n, k in zip(size, kernel, strict=True)]
        x = generator.integers(-4, 5, (2, 3, *size)).astype(dtype)
        drawn = generator.random((2, 3, ndim)).astype(dtype)
        results = []
        for library in (torch, vt):
            leaf = library.tensor(x, requires_grad=True)
            call: Any = getattr(library.nn.functional, f"fractional_max_pool{ndim}d_with_indices")
            found, places = call(
                leaf, kernel.tolist(), out, None, _random_samples=library.tensor(drawn)
            )
            (slope,) = library.autograd.grad((found * found).sum(), leaf)
            results.append([one.detach().numpy() for one in (found, places, slope)])
        for one, two in zip(*results, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "shapes", "options"), OTHERS, ids=[f"{x[0]}-{nr}" for nr, x in enumerate(OTHERS)]
)
def test_other_calls_agree(
    name: str, shapes: list[tuple[int, ...]], options: dict[str, Any]
) -> None:
    generator = np.random.default_rng(1)
    arrays = [generator.uniform(0.5, 2, size=shape) for shape in shapes]
    results = []
    for library in (torch, vt):
        leaves = [library.tensor(x, requires_grad=True) for x in arrays]
        found: Any = getattr(library.nn.functional, name)(*leaves, **options)
        weights = library.linspace(0, 1, found.numel(), dtype=library.float64)
        total = (found * found * weights.reshape(tuple(found.shape))).sum()
        first = library.autograd.grad(total, leaves, create_graph=True)
        second = library.autograd.grad(sum((g * g).sum() for g in first), leaves)
        results.append([x.detach().numpy() for x in (found, *first, *second)])
    for one, two in zip(*results, strict=True):
        assert one.shape == two.shape
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)
