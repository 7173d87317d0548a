"""Calls of activations, losses, normalisations and their kin, as samples for tests.

Each is a function of tensors. Their values differ, so that no derivative is taken at a kink.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import vtgrad as vt

__all__ = ["CALLS", "Call"]

Call = tuple[Callable[..., Any], Sequence[tuple[int, ...]]]

f: Final = vt.nn.functional
ANY: Final = [(3, 4)]


# Made anew in each call, so that a recording knows them.
def rows() -> vt.Tensor:
    return vt.tensor([2, 0, 1, 2])


def signs() -> vt.Tensor:
    return vt.tensor([1, -1, -1, 1])


def mask() -> vt.Tensor:
    return vt.tensor([[True, False, True], [False, False, False]])


def _probabilities(x: vt.Tensor) -> vt.Tensor:
    return vt.sigmoid(x)


def _trained(x: vt.Tensor, w: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    mean, var = vt.zeros(3).double(), vt.ones(3).double()
    return f.batch_norm(x, mean, var, w, b, training=True)


def _instances(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
    return f.instance_norm(x, vt.zeros(3).double(), vt.ones(3).double(), w)


# By name: a call, and the shapes of the tensors that it takes.
CALLS: Final[Mapping[str, Call]] = {
    "relu": (f.relu, ANY),
    "relu6": (lambda x: f.relu6(x * 5), ANY),
    "elu": (lambda x: f.elu(x, 1.5), ANY),
    "celu": (lambda x: f.celu(x, 0.7), ANY),
    "selu": (f.selu, ANY),
    "leaky_relu": (f.leaky_relu, ANY),
    "prelu": (f.prelu, [(2, 3, 2), (3,)]),
    "prelu of one weight": (f.prelu, [(2, 3), (1,)]),
    "rrelu": (f.rrelu, ANY),
    "gelu": (f.gelu, ANY),
    "gelu by tanh": (lambda x: f.gelu(x, approximate="tanh"), ANY),
    "silu": (f.silu, ANY),
    "mish": (f.mish, ANY),
    "softplus": (lambda x: f.softplus(x, 2, 1.5), ANY),
    "softsign": (f.softsign, ANY),
    "softshrink": (f.softshrink, ANY),
    "hardshrink": (f.hardshrink, ANY),
    "tanhshrink": (f.tanhshrink, ANY),
    "hardtanh": (f.hardtanh, ANY),
    "hardsigmoid": (lambda x: f.hardsigmoid(x * 2), ANY),
    "hardswish": (lambda x: f.hardswish(x * 2), ANY),
    "threshold": (lambda x: f.threshold(x, 0.1, 5), ANY),
    "logsigmoid": (f.logsigmoid, ANY),
    "sigmoid": (f.sigmoid, ANY),
    "tanh": (f.tanh, ANY),
    "glu": (f.glu, ANY),
    "softmax": (lambda x: f.softmax(x, 1), ANY),
    "log_softmax": (lambda x: f.log_softmax(x, 0), ANY),
    "softmin": (lambda x: f.softmin(x, 1), ANY),
    "mse_loss": (lambda x, y, w: f.mse_loss(x, y, weight=w * w), [(3, 4), (3, 4), (3, 4)]),
    "l1_loss": (lambda x, y: f.l1_loss(x, y, reduction="none"), [(3, 4), (3, 4)]),
    "smooth_l1_loss": (lambda x, y: f.smooth_l1_loss(x, y, beta=0.7), [(3, 4), (3, 4)]),
    "huber_loss": (lambda x, y: f.huber_loss(x, y, "sum", 0.7), [(3, 4), (3, 4)]),
    "poisson_nll_loss": (lambda x, y: f.poisson_nll_loss(x, y + 3, full=True), [(4,), (4,)]),
    "poisson_nll_loss of counts": (
        lambda x, y: f.poisson_nll_loss(x + 3, y, False, reduction="none"),
        [(4,), (4,)],
    ),
    "gaussian_nll_loss": (
        lambda x, y, v: f.gaussian_nll_loss(x, y, v * v + 0.5, full=True),
        [(3, 4), (3, 4), (3, 1)],
    ),
    "kl_div": (
        lambda x, y: f.kl_div(x, _probabilities(y), reduction="batchmean"),
        [(3, 4), (3, 4)],
    ),
    "kl_div of logarithms": (
        lambda x, y: f.kl_div(x, y, reduction="none", log_target=True),
        [(3, 4), (3, 4)],
    ),
    "binary_cross_entropy": (
        lambda x, y, w: f.binary_cross_entropy(
            _probabilities(x), _probabilities(y), w, reduction="none"
        ),
        [(3, 4), (3, 4), (4,)],
    ),
    "binary_cross_entropy_with_logits": (
        lambda x, y, w, p: f.binary_cross_entropy_with_logits(x, y, w, pos_weight=p),
        [(3, 4), (3, 4), (4,), (4,)],
    ),
    "soft_margin_loss": (lambda x: f.soft_margin_loss(x, signs()), [(4,)]),
    "multilabel_soft_margin_loss": (f.multilabel_soft_margin_loss, [(3, 4), (3, 4), (4,)]),
    "hinge_embedding_loss": (lambda x: f.hinge_embedding_loss(x, signs(), 0.3), [(4,)]),
    "margin_ranking_loss": (
        lambda x, y: f.margin_ranking_loss(x, y, signs(), 0.3, reduction="none"),
        [(4,), (4,)],
    ),
    "cosine_embedding_loss": (
        lambda x, y: f.cosine_embedding_loss(x, y, signs(), -0.9, reduction="none"),
        [(4, 3), (4, 3)],
    ),
    "triplet_margin_loss": (
        lambda x, y, z: f.triplet_margin_loss(x, y, z, 3.0, swap=True, reduction="none"),
        [(3, 2), (3, 2), (3, 2)],
    ),
    "triplet_margin_with_distance_loss": (
        lambda x, y, z: f.triplet_margin_with_distance_loss(
            x, y, z, distance_function=lambda a, b: (a * b).sum(-1), margin=3.0
        ),
        [(3, 2), (3, 2), (3, 2)],
    ),
    "nll_loss": (
        lambda x, w: f.nll_loss(x, rows(), w, ignore_index=1, reduction="none"),
        [(4, 3), (3,)],
    ),
    "nll_loss of weights": (lambda x, w: f.nll_loss(x, rows(), w * w + 1), [(4, 3), (3,)]),
    "nll_loss of images": (
        lambda x: f.nll_loss(x, rows().reshape(1, 2, 2), reduction="sum"),
        [(1, 3, 2, 2)],
    ),
    "cross_entropy": (
        lambda x, w: f.cross_entropy(x, rows(), w * w + 1, label_smoothing=0.2, ignore_index=0),
        [(4, 3), (3,)],
    ),
    "cross_entropy of probabilities": (
        lambda x, y, w: f.cross_entropy(x, y, w, label_smoothing=0.2, reduction="none"),
        [(4, 3, 2), (4, 3, 2), (3,)],
    ),
    "linear_cross_entropy": (
        lambda x, w, b: f.linear_cross_entropy(x, w, rows(), linear_bias=b, label_smoothing=0.2),
        [(4, 2), (3, 2), (3,)],
    ),
    "linear_cross_entropy of several losses": (
        lambda x, w, b: f.linear_cross_entropy(
            x, w, rows().reshape(2, 2), linear_bias=b, reduction="none"
        ),
        [(2, 3), (3, 2, 3), (3, 2)],
    ),
    "cross_entropy of one sample": (lambda x: f.cross_entropy(x, rows()[0]), [(3,)]),
    "multi_margin_loss": (lambda x, w: f.multi_margin_loss(x, rows(), 2, 0.7, w), [(4, 3), (3,)]),
    "multilabel_margin_loss": (
        lambda x: f.multilabel_margin_loss(x, vt.tensor([[2, 0, -1, 1], [-1, 0, 0, 0]])),
        [(2, 4)],
    ),
    "ctc_loss": (
        lambda x: f.ctc_loss(
            x, vt.tensor([[1, 1, 2], [2, 0, 0]]), (5, 4), (3, 1), reduction="none"
        ),
        [(5, 2, 3)],
    ),
    "ctc_loss of one sample": (
        lambda x: f.ctc_loss(x.log_softmax(-1), vt.tensor([1, 2]), (4,), (2,), blank=0),
        [(4, 3)],
    ),
    "layer_norm": (lambda x, w, b: f.layer_norm(x, (3, 2), w, b), [(2, 3, 2), (3, 2), (3, 2)]),
    "rms_norm": (lambda x, w: f.rms_norm(x, (3,), w), [(2, 3), (3,)]),
    "group_norm": (lambda x, w, b: f.group_norm(x, 2, w, b), [(2, 4, 2), (4,), (4,)]),
    "batch_norm": (_trained, [(2, 3, 2), (3,), (3,)]),
    "batch_norm of kept statistics": (
        lambda x, m, v: f.batch_norm(x, m, v * v + 0.5),
        [(2, 3), (3,), (3,)],
    ),
    "instance_norm": (_instances, [(2, 3, 2), (3,)]),
    "local_response_norm": (lambda x: f.local_response_norm(x, 2, 0.5), [(2, 3, 2)]),
    "embedding": (lambda w: f.embedding(rows().reshape(2, 2), w), [(3, 2)]),
    "embedding_bag": (
        lambda w, s: f.embedding_bag(
            rows(), w, vt.tensor([0, 0, 3]), mode="sum", per_sample_weights=s
        ),
        [(3, 2), (4,)],
    ),
    "embedding_bag of means": (lambda w: f.embedding_bag(rows().reshape(2, 2), w), [(3, 2)]),
    "embedding_bag of the largest": (
        lambda w: f.embedding_bag(rows(), w, vt.tensor([0, 2, 2]), mode="max"),
        [(3, 2)],
    ),
    "normalize": (lambda x: f.normalize(x, 3.0, 0), [(3, 2)]),
    "pairwise_distance": (f.pairwise_distance, [(3, 2), (3, 2)]),
    "cosine_similarity": (f.cosine_similarity, [(3, 2), (3, 2)]),
    "pdist": (f.pdist, [(3, 2)]),
    "scaled_dot_product_attention": (
        lambda q, k, v: f.scaled_dot_product_attention(q, k, v, mask()),
        [(2, 2), (3, 2), (3, 2)],
    ),
    "scaled_dot_product_attention of causes": (
        lambda q, k, v: f.scaled_dot_product_attention(
            q, k, v, is_causal=True, scale=0.3, enable_gqa=True
        ),
        [(1, 4, 2, 3), (1, 2, 3, 3), (1, 2, 3, 2)],
    ),
    "scaled_dot_product_attention of a mask of floats": (
        f.scaled_dot_product_attention,
        [(2, 2), (3, 2), (3, 2), (2, 3)],
    ),
}
