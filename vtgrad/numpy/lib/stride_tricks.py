"""Views with other strides, as in ``numpy.lib.stride_tricks``."""

from __future__ import annotations

from vtgrad.numpy.broadcasting import broadcast_arrays as broadcast_arrays
from vtgrad.numpy.broadcasting import broadcast_to as broadcast_to
from vtgrad.numpy.strided_views import as_strided as as_strided
from vtgrad.numpy.strided_views import sliding_window_view as sliding_window_view

__all__ = ["as_strided", "broadcast_arrays", "broadcast_to", "sliding_window_view"]
