"""What NumPy has in ``numpy.lib``: views with strides, complex results, helpers for axes."""

from numpy.lib import NumpyVersion as NumpyVersion
from numpy.lib import array_utils as array_utils

from vtgrad.numpy.lib import scimath as scimath
from vtgrad.numpy.lib import stride_tricks as stride_tricks

__all__ = ["NumpyVersion", "array_utils", "scimath", "stride_tricks"]
