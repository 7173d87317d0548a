"""Layers, pooling and sampling as functions, under the names of ``torch.nn.functional``.

They have no parameters of their own: weights are arguments.
"""

from vtgrad.later.padding import pad as pad
from vtgrad.nn.functional.average_pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from vtgrad.nn.functional.average_pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from vtgrad.nn.functional.average_pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from vtgrad.nn.functional.average_pooling import avg_pool1d as avg_pool1d
from vtgrad.nn.functional.average_pooling import avg_pool2d as avg_pool2d
from vtgrad.nn.functional.average_pooling import avg_pool3d as avg_pool3d
from vtgrad.nn.functional.average_pooling import lp_pool1d as lp_pool1d
from vtgrad.nn.functional.average_pooling import lp_pool2d as lp_pool2d
from vtgrad.nn.functional.average_pooling import lp_pool3d as lp_pool3d
from vtgrad.nn.functional.convolutions import conv1d as conv1d
from vtgrad.nn.functional.convolutions import conv2d as conv2d
from vtgrad.nn.functional.convolutions import conv3d as conv3d
from vtgrad.nn.functional.convolutions import conv_transpose1d as conv_transpose1d
from vtgrad.nn.functional.convolutions import conv_transpose2d as conv_transpose2d
from vtgrad.nn.functional.convolutions import conv_transpose3d as conv_transpose3d
from vtgrad.nn.functional.grid_sampling import affine_grid as affine_grid
from vtgrad.nn.functional.grid_sampling import grid_sample as grid_sample
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
from vtgrad.nn.functional.resizing import interpolate as interpolate
from vtgrad.nn.functional.shuffles import channel_shuffle as channel_shuffle
from vtgrad.nn.functional.shuffles import pixel_shuffle as pixel_shuffle
from vtgrad.nn.functional.shuffles import pixel_unshuffle as pixel_unshuffle
from vtgrad.nn.functional.windows import fold as fold
from vtgrad.nn.functional.windows import unfold as unfold

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "bilinear",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "grid_sample",
    "interpolate",
    "linear",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "pad",
    "pixel_shuffle",
    "pixel_unshuffle",
    "unfold",
]
