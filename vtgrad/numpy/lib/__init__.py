"""What NumPy has in ``numpy.lib``: views with other strides, and helpers for axes and versions."""

from numpy.lib import NumpyVersion as NumpyVersion
from numpy.lib import array_utils as array_utils

from vtgrad.numpy.lib import stride_tricks as stride_tricks

__all__ = ["NumpyVersion", "array_utils", "stride_tricks"]
