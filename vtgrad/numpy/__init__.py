"""NumPy's namespace on tensors: a NumPy program runs by changing its import line."""

from vtgrad.numpy.ndarray import ndarray as ndarray
from vtgrad.numpy.scalar import scalar as scalar

__all__ = ["ndarray", "scalar"]
