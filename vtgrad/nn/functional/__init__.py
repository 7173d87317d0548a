"""Layers, pooling and sampling as functions, under the names of ``torch.nn.functional``.

They have no parameters of their own: weights are arguments.
"""

from vtgrad.later.distances import cosine_similarity as cosine_similarity
from vtgrad.later.distances import pairwise_distance as pairwise_distance
from vtgrad.later.distances import pdist as pdist
from vtgrad.later.padding import pad as pad
from vtgrad.nn.functional.attention import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from vtgrad.nn.functional.average_pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from vtgrad.nn.functional.average_pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from vtgrad.nn.functional.average_pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from vtgrad.nn.functional.average_pooling import avg_pool1d as avg_pool1d
from vtgrad.nn.functional.average_pooling import avg_pool2d as avg_pool2d
from vtgrad.nn.functional.average_pooling import avg_pool3d as avg_pool3d
from vtgrad.nn.functional.average_pooling import lp_pool1d as lp_pool1d
from vtgrad.nn.functional.average_pooling import lp_pool2d as lp_pool2d
from vtgrad.nn.functional.average_pooling import lp_pool3d as lp_pool3d
from vtgrad.nn.functional.batch_statistics import batch_norm as batch_norm
from vtgrad.nn.functional.batch_statistics import instance_norm as instance_norm
from vtgrad.nn.functional.binary_losses import binary_cross_entropy as binary_cross_entropy
from vtgrad.nn.functional.binary_losses import (
    binary_cross_entropy_with_logits as binary_cross_entropy_with_logits,
)
from vtgrad.nn.functional.binary_losses import (
    multilabel_soft_margin_loss as multilabel_soft_margin_loss,
)
from vtgrad.nn.functional.binary_losses import soft_margin_loss as soft_margin_loss
from vtgrad.nn.functional.class_losses import cross_entropy as cross_entropy
from vtgrad.nn.functional.class_losses import multi_margin_loss as multi_margin_loss
from vtgrad.nn.functional.class_losses import multilabel_margin_loss as multilabel_margin_loss
from vtgrad.nn.functional.class_losses import nll_loss as nll_loss
from vtgrad.nn.functional.convolutions import conv1d as conv1d
from vtgrad.nn.functional.convolutions import conv2d as conv2d
from vtgrad.nn.functional.convolutions import conv3d as conv3d
from vtgrad.nn.functional.convolutions import conv_transpose1d as conv_transpose1d
from vtgrad.nn.functional.convolutions import conv_transpose2d as conv_transpose2d
from vtgrad.nn.functional.convolutions import conv_transpose3d as conv_transpose3d
from vtgrad.nn.functional.ctc import ctc_loss as ctc_loss
from vtgrad.nn.functional.dropouts import alpha_dropout as alpha_dropout
from vtgrad.nn.functional.dropouts import dropout as dropout
from vtgrad.nn.functional.dropouts import dropout1d as dropout1d
from vtgrad.nn.functional.dropouts import dropout2d as dropout2d
from vtgrad.nn.functional.dropouts import dropout3d as dropout3d
from vtgrad.nn.functional.dropouts import feature_alpha_dropout as feature_alpha_dropout
from vtgrad.nn.functional.embedding_losses import cosine_embedding_loss as cosine_embedding_loss
from vtgrad.nn.functional.embedding_losses import hinge_embedding_loss as hinge_embedding_loss
from vtgrad.nn.functional.embedding_losses import margin_ranking_loss as margin_ranking_loss
from vtgrad.nn.functional.embedding_losses import triplet_margin_loss as triplet_margin_loss
from vtgrad.nn.functional.embedding_losses import (
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss,
)
from vtgrad.nn.functional.embeddings import embedding as embedding
from vtgrad.nn.functional.embeddings import embedding_bag as embedding_bag
from vtgrad.nn.functional.embeddings import one_hot as one_hot
from vtgrad.nn.functional.fractional_pooling import fractional_max_pool2d as fractional_max_pool2d
from vtgrad.nn.functional.fractional_pooling import (
    fractional_max_pool2d_with_indices as fractional_max_pool2d_with_indices,
)
from vtgrad.nn.functional.fractional_pooling import fractional_max_pool3d as fractional_max_pool3d
from vtgrad.nn.functional.fractional_pooling import (
    fractional_max_pool3d_with_indices as fractional_max_pool3d_with_indices,
)
from vtgrad.nn.functional.grid_sampling import affine_grid as affine_grid
from vtgrad.nn.functional.grid_sampling import grid_sample as grid_sample
from vtgrad.nn.functional.linear_losses import linear_cross_entropy as linear_cross_entropy
from vtgrad.nn.functional.linear_maps import bilinear as bilinear
from vtgrad.nn.functional.linear_maps import linear as linear
from vtgrad.nn.functional.max_pooling import adaptive_max_pool1d as adaptive_max_pool1d
from vtgrad.nn.functional.max_pooling import adaptive_max_pool2d as adaptive_max_pool2d
from vtgrad.nn.functional.max_pooling import adaptive_max_pool3d as adaptive_max_pool3d
from vtgrad.nn.functional.max_pooling import max_pool1d as max_pool1d
from vtgrad.nn.functional.max_pooling import max_pool2d as max_pool2d
from vtgrad.nn.functional.max_pooling import max_pool3d as max_pool3d
from vtgrad.nn.functional.max_pooling import max_unpool1d as max_unpool1d
from vtgrad.nn.functional.max_pooling import max_unpool2d as max_unpool2d
from vtgrad.nn.functional.max_pooling import max_unpool3d as max_unpool3d
from vtgrad.nn.functional.normalizations import group_norm as group_norm
from vtgrad.nn.functional.normalizations import layer_norm as layer_norm
from vtgrad.nn.functional.normalizations import local_response_norm as local_response_norm
from vtgrad.nn.functional.normalizations import rms_norm as rms_norm
from vtgrad.nn.functional.piecewise_linear import hardshrink as hardshrink
from vtgrad.nn.functional.piecewise_linear import hardsigmoid as hardsigmoid
from vtgrad.nn.functional.piecewise_linear import hardswish as hardswish
from vtgrad.nn.functional.piecewise_linear import hardtanh as hardtanh
from vtgrad.nn.functional.piecewise_linear import hardtanh_ as hardtanh_
from vtgrad.nn.functional.piecewise_linear import leaky_relu as leaky_relu
from vtgrad.nn.functional.piecewise_linear import leaky_relu_ as leaky_relu_
from vtgrad.nn.functional.piecewise_linear import prelu as prelu
from vtgrad.nn.functional.piecewise_linear import relu as relu
from vtgrad.nn.functional.piecewise_linear import relu6 as relu6
from vtgrad.nn.functional.piecewise_linear import relu_ as relu_
from vtgrad.nn.functional.piecewise_linear import rrelu as rrelu
from vtgrad.nn.functional.piecewise_linear import rrelu_ as rrelu_
from vtgrad.nn.functional.piecewise_linear import softshrink as softshrink
from vtgrad.nn.functional.piecewise_linear import threshold as threshold
from vtgrad.nn.functional.piecewise_linear import threshold_ as threshold_
from vtgrad.nn.functional.pooling_with_indices import (
    adaptive_max_pool1d_with_indices as adaptive_max_pool1d_with_indices,
)
from vtgrad.nn.functional.pooling_with_indices import (
    adaptive_max_pool2d_with_indices as adaptive_max_pool2d_with_indices,
)
from vtgrad.nn.functional.pooling_with_indices import (
    adaptive_max_pool3d_with_indices as adaptive_max_pool3d_with_indices,
)
from vtgrad.nn.functional.pooling_with_indices import (
    max_pool1d_with_indices as max_pool1d_with_indices,
)
from vtgrad.nn.functional.pooling_with_indices import (
    max_pool2d_with_indices as max_pool2d_with_indices,
)
from vtgrad.nn.functional.pooling_with_indices import (
    max_pool3d_with_indices as max_pool3d_with_indices,
)
from vtgrad.nn.functional.regression_losses import gaussian_nll_loss as gaussian_nll_loss
from vtgrad.nn.functional.regression_losses import huber_loss as huber_loss
from vtgrad.nn.functional.regression_losses import kl_div as kl_div
from vtgrad.nn.functional.regression_losses import l1_loss as l1_loss
from vtgrad.nn.functional.regression_losses import mse_loss as mse_loss
from vtgrad.nn.functional.regression_losses import poisson_nll_loss as poisson_nll_loss
from vtgrad.nn.functional.regression_losses import smooth_l1_loss as smooth_l1_loss
from vtgrad.nn.functional.resizing import interpolate as interpolate
from vtgrad.nn.functional.shuffles import channel_shuffle as channel_shuffle
from vtgrad.nn.functional.shuffles import pixel_shuffle as pixel_shuffle
from vtgrad.nn.functional.shuffles import pixel_unshuffle as pixel_unshuffle
from vtgrad.nn.functional.smooth_activations import celu as celu
from vtgrad.nn.functional.smooth_activations import celu_ as celu_
from vtgrad.nn.functional.smooth_activations import elu as elu
from vtgrad.nn.functional.smooth_activations import elu_ as elu_
from vtgrad.nn.functional.smooth_activations import gelu as gelu
from vtgrad.nn.functional.smooth_activations import glu as glu
from vtgrad.nn.functional.smooth_activations import logsigmoid as logsigmoid
from vtgrad.nn.functional.smooth_activations import mish as mish
from vtgrad.nn.functional.smooth_activations import selu as selu
from vtgrad.nn.functional.smooth_activations import selu_ as selu_
from vtgrad.nn.functional.smooth_activations import sigmoid as sigmoid
from vtgrad.nn.functional.smooth_activations import silu as silu
from vtgrad.nn.functional.smooth_activations import softplus as softplus
from vtgrad.nn.functional.smooth_activations import softsign as softsign
from vtgrad.nn.functional.smooth_activations import tanh as tanh
from vtgrad.nn.functional.smooth_activations import tanhshrink as tanhshrink
from vtgrad.nn.functional.softmaxes import gumbel_softmax as gumbel_softmax
from vtgrad.nn.functional.softmaxes import log_softmax as log_softmax
from vtgrad.nn.functional.softmaxes import softmax as softmax
from vtgrad.nn.functional.softmaxes import softmin as softmin
from vtgrad.nn.functional.upsampling import upsample as upsample
from vtgrad.nn.functional.upsampling import upsample_bilinear as upsample_bilinear
from vtgrad.nn.functional.upsampling import upsample_nearest as upsample_nearest
from vtgrad.nn.functional.vectors import normalize as normalize
from vtgrad.nn.functional.windows import fold as fold
from vtgrad.nn.functional.windows import unfold as unfold

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
