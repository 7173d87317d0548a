"""The samples of PyTorch's operator database for `nn.functional`, called on both libraries.

Activations, losses, normalisations, embeddings and attention. What they are made of is the
library's own choice, so nodes, strides and counts of writes are not compared. Values, shapes,
dtypes, which result requires grad, and the first two derivatives are, and which calls are refused.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import torch
from torch.testing._internal.common_methods_invocations import op_db

import vtgrad as vt
from tests.oracle.linear_algebra import EXACT, Sample, difference

__all__ = ["DTYPES", "KNOWN", "NAMES", "differences", "entries"]

NAMES: Final = (
    *("celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid".split()),
    *("mish prelu relu relu6 rrelu selu silu softmin softplus softshrink softsign".split()),
    *("tanhshrink threshold binary_cross_entropy binary_cross_entropy_with_logits".split()),
    *("cosine_embedding_loss cross_entropy ctc_loss gaussian_nll_loss".split()),
    *("hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss".split()),
    *("multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss nll_loss".split()),
    *("poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss".split()),
    *("triplet_margin_with_distance_loss batch_norm group_norm instance_norm layer_norm".split()),
    *("local_response_norm rms_norm embedding embedding_bag one_hot normalize".split()),
    *("cosine_similarity pairwise_distance pdist scaled_dot_product_attention".split()),
)
DTYPES: Final = (*EXACT, torch.float32, torch.int64, torch.uint8)
# Of a dtype of double precision, and of each other.
SAMPLES: Final = {True: 12, False: 3}

# What differs, by function and kind of difference, and why that is meant: PyTorch has no second
# derivatives of these.
KNOWN: Final = frozenset(
    (name, "second gradient is refused")
    for name in (
        *("ctc_loss embedding_bag multi_margin_loss multilabel_margin_loss pdist".split()),
        "scaled_dot_product_attention",
    )
)


def entries(name: str) -> Iterator[Any]:
    """The entries of a function."""
    return (entry for entry in op_db if entry.name == f"nn.functional.{name}")


class _Sample(Sample):
    """A call with the arguments that the functions themselves take, and without chance."""

    def __init__(self, entry: Any, sample: Any) -> None:
        if "distance_function" in sample.kwargs:
            # A module of PyTorch that is the default.
            sample.kwargs["distance_function"] = None
        if entry.name == "nn.functional.ctc_loss":
            # Of other values than those of `log_softmax` PyTorch's gradient is not the derivative.
            sample.input = sample.input.detach().requires_grad_(sample.input.requires_grad)
        super().__init__(entry, sample)

    def on_torch(self) -> Any:
        if self.entry.name == "nn.functional.ctc_loss":
            first, rest, options = self.torch_arguments
            return self.entry.op(first.log_softmax(-1), *rest, **options)
        return super().on_torch()

    def on_vtgrad(self) -> Any:
        first, rest, options = self.arguments
        layers: Any = vt.nn.functional
        if self.entry.name == "nn.functional.ctc_loss":
            return layers.ctc_loss(first.log_softmax(-1), *rest, **options)
        if self.entry.name.startswith("nn.functional.embedding"):
            # The entry's function takes the table first.
            function = getattr(layers, self.entry.name.rpartition(".")[2])
            return function(rest[0], first, *rest[1:], **options)
        return super().on_vtgrad()


def _by_chance(sample: Any) -> bool:
    """Whether a sample draws numbers."""
    return bool(sample.kwargs.get("dropout_p")) or (
        "upper" in sample.kwargs and (sample.kwargs.get("training") is True)
    )


def _samples(entry: Any, dtype: torch.dtype) -> Iterator[_Sample]:
    torch.manual_seed(0)
    differentiable = entry.supports_autograd and dtype.is_floating_point | dtype.is_complex
    found = list(entry.sample_inputs("cpu", dtype, requires_grad=differentiable))
    found = [sample for sample in found if not _by_chance(sample)]
    # Those of `ctc_loss` are long.
    count = 4 if entry.name.endswith("ctc_loss") else SAMPLES[dtype in EXACT]
    # From all over the list, which is in the order of its arguments.
    for sample in islice(found, 0, None, -(-len(found) // count) or 1):
        yield _Sample(entry, sample)


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
                    options = sample.torch_arguments[2]
                    yield what, f"{entry.variant_test_name} {dtype} {nr}: {shapes} {options}"
