"""What a node knows of each gradient that it will receive."""

from __future__ import annotations

from typing import Final

from ..storage.arrays import NumpyDType, Shape
from ..storage.layout import PECULIAR, Layout
from ..storage.tensor_impl import TensorImpl

__all__ = ["InputMetadata", "metadata_of"]


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


# Values of one shape and dtype are many, and what is known of them never changes, so that nodes
# share it. The bound is for programs whose shapes are always new ones.
_known: Final[dict[tuple[Shape, NumpyDType], tuple[InputMetadata]]] = {}
_of_layout: Final[dict[Layout, tuple[InputMetadata]]] = {}
_BOUND: Final = 1024


def metadata_of(impl: TensorImpl) -> tuple[InputMetadata]:
    """The metadata of a node whose only result is `impl`."""
    layout = impl.layout
    if layout is not None and layout is not PECULIAR:
        known = _of_layout.get(layout)
        if known is None:
            if len(_of_layout) >= _BOUND:
                _of_layout.clear()
            known = _of_layout[layout] = _metadata(layout.shape, layout.dtype)
        return known
    return _metadata(impl.array.shape, impl.array.dtype)


def _metadata(shape: Shape, dtype: NumpyDType) -> tuple[InputMetadata]:
    key = (shape, dtype)
    found = _known.get(key)
    if found is None:
        if len(_known) >= _BOUND:
            _known.clear()
        found = _known[key] = (InputMetadata(shape, dtype),)
    return found
