"""Layers, pooling and sampling as functions, under the names of ``torch.nn.functional``.

They have no parameters of their own: weights are arguments.
"""

from vtgrad.nn.functional.shuffles import channel_shuffle as channel_shuffle
from vtgrad.nn.functional.shuffles import pixel_shuffle as pixel_shuffle
from vtgrad.nn.functional.shuffles import pixel_unshuffle as pixel_unshuffle

__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]
