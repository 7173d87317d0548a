"""Shape, dtype and device of each result of a node, and so of its incoming gradients.

Many values have one shape and dtype, and metadata never changes, so nodes share it: that of
ordinary values is stored in their `Layout`, that of others here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..storage.arrays import NumpyDType, Shape
from ..storage.device import CPU, Device
from ..storage.dtypes import DType, dtype_of
from ..storage.layout import PECULIAR, InputMetadata
from ..storage.tensor_impl import TensorImpl

__all__ = ["InputMetadata", "ResultInfo", "metadata_of", "result_info"]

_known: Final[dict[tuple[Shape, NumpyDType, Device | None], tuple[InputMetadata]]] = {}
# Bounds the cache when shapes never repeat.
_BOUND: Final = 1024


def metadata_of(impl: TensorImpl) -> tuple[InputMetadata]:
    """The metadata of a node whose only result is `impl`."""
    layout = impl.layout
    if layout is not None and layout is not PECULIAR:
        return layout.metadata
    array, extra = impl.array, impl.extra_meta
    # Of the CPU without a device in the key, whose hash would be a call.
    device = None if extra is None else extra.device
    key = array.shape, array.dtype, device
    found = _known.get(key)
    if found is None:
        if len(_known) >= _BOUND:
            _known.clear()
        found = _known[key] = (InputMetadata(array.shape, array.dtype, device or CPU),)
    return found


class ResultInfo(NamedTuple):
    """Shape, dtype and device of a node's result, as users read them."""

    shape: Shape
    dtype: DType
    device: Device


def result_info(metadata: tuple[InputMetadata, ...]) -> tuple[ResultInfo, ...]:
    """The public form of `metadata`."""
    return tuple([ResultInfo(m.shape, dtype_of(m.dtype), m.device) for m in metadata])
