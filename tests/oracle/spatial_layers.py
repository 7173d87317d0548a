"""The samples of PyTorch's operator database for linear maps, convolutions, pooling and sampling.

What the functions of `vtgrad.nn.functional` are made of is the library's own choice, so nodes,
strides and counts of writes are not compared. Values, shapes, dtypes, which result requires grad,
the first two derivatives, and which calls are refused with which class of error are.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import torch
from torch.testing._internal.common_methods_invocations import op_db

from tests.oracle.linear_algebra import EXACT, Sample, difference

__all__ = ["DTYPES", "KNOWN", "NAMES", "differences", "entries", "wrong_calls"]

NAMES: Final = (
    *("linear bilinear conv1d conv2d conv3d conv_transpose1d conv_transpose2d".split()),
    *("conv_transpose3d unfold max_pool1d max_pool2d max_pool3d max_unpool1d".split()),
    *("max_unpool2d max_unpool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d".split()),
    *("adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d".split()),
    *("adaptive_max_pool3d interpolate grid_sample pad upsample_nearest upsample_bilinear".split()),
    *("pixel_shuffle pixel_unshuffle channel_shuffle".split()),
)
DTYPES: Final = (*EXACT, torch.float32, torch.complex64, torch.int64, torch.uint8, torch.bool)
# Of a dtype of double precision, and of each other.
SAMPLES: Final = {True: 6, False: 2}

# How many are made to choose from, which takes longer than calling them.
MADE: Final = 30

# What differs, by function and kind of difference, and why that is meant.
_SHARED: Final = "of elements with one place PyTorch differentiates all"
KNOWN: Final[dict[tuple[str, str], str]] = {
    ("max_unpool1d", "gradient"): _SHARED,
    ("max_unpool2d", "gradient"): _SHARED,
    ("max_unpool3d", "gradient"): _SHARED,
    # Only of uint8, which PyTorch rounds.
    ("interpolate", "is refused by one"): "lines and polynomials between integers are refused",
    ("upsample_bilinear", "is refused by one"): "lines between integers are refused",
}


def entries(name: str) -> Iterator[Any]:
    """The entries of a function."""
    return (entry for entry in op_db if entry.name == f"nn.functional.{name}")


def _samples(entry: Any, dtype: torch.dtype) -> Iterator[Sample]:
    torch.manual_seed(0)
    differentiable = entry.supports_autograd and dtype.is_floating_point | dtype.is_complex
    found = list(islice(entry.sample_inputs("cpu", dtype, requires_grad=differentiable), MADE))
    # From all over them: they are in the order of their arguments.
    step = -(-len(found) // SAMPLES[dtype in EXACT]) or 1
    for sample in islice(found, 0, None, step):
        yield Sample(entry, sample)


def differences(name: str) -> Iterator[tuple[str, str]]:
    """What differs in the samples of a function: the kind, and the sample."""
    for entry in entries(name):
        for dtype in DTYPES:
            if dtype not in entry.supported_dtypes("cpu"):
                continue
            for nr, sample in enumerate(_samples(entry, dtype)):
                what = difference(sample, dtype)
                if what:
                    shapes = [tuple(x.shape) for x, _ in sample.leaves.values()]
                    given = sample.torch_arguments[1:]
                    yield what, f"{entry.variant_test_name} {dtype} {nr}: {shapes} {given}"


def wrong_calls(name: str) -> Iterator[tuple[str, Exception | None, Exception | None]]:
    """The calls of a function that PyTorch's tests expect to fail, and what both raise."""
    for entry in entries(name):
        if entry.error_inputs_func is None:
            continue
        for nr, wrong in enumerate(entry.error_inputs("cpu")):
            sample = Sample(entry, wrong.sample_input)
            yield f"call {nr}", _raised(sample.on_torch), _raised(sample.on_vtgrad)


def _raised(call: Any) -> Exception | None:
    try:
        call()
    except Exception as error:  # which of them is what is compared
        return error
    return None
