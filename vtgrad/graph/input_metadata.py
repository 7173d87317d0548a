"""What a node knows of each gradient that it will receive."""

from ..storage.arrays import NumpyDType, Shape

__all__ = ["InputMetadata"]


class InputMetadata:
    """Shape and dtype of one value that a node produced, hence of the gradient for it.

    Attributes
    ----------
    shape : tuple of int
        Length of each dimension.
    dtype : numpy.dtype
        Element type.
    """

    __slots__ = ("dtype", "shape")

    shape: Shape
    dtype: NumpyDType

    def __init__(self, shape: Shape, dtype: NumpyDType) -> None:
        self.shape = shape
        self.dtype = dtype
