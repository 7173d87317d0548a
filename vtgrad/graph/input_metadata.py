# Compiled by mypyc.
"""Shape, dtype and device of each result of a node, and so of its incoming gradients.

Many values have one shape and dtype, and metadata never changes, so nodes share it: that of
ordinary values is stored in their `Layout`, that of others here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.device import Device
from vtgrad.storage.dtypes import DType, dtype_of
from vtgrad.storage.layout import PECULIAR, InputMetadata
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["InputMetadata", "ResultInfo", "metadata_of", "metadata_of_array", "result_info"]

_known: Final[dict[tuple[Shape, NumpyDType], tuple[InputMetadata, ...]]] = {}
_known_on_lanes: Final[dict[tuple[Shape, NumpyDType, Device], tuple[InputMetadata, ...]]] = {}
# Bounds a cache when shapes never repeat.
_BOUND: Final = 1024


def metadata_of(impl: TensorImpl) -> tuple[InputMetadata, ...]:
    """The metadata of a node whose only result is `impl`."""
    layout = impl.layout
    if layout is not None and layout is not PECULIAR:
        return layout.metadata
    extra = impl.extra_meta
    if extra is not None and extra.device is not None:
        return _metadata_on(extra.device, impl)
    key = (impl.array.shape, impl.array.dtype)
    return _known.get(key) or _remembered(key)


def metadata_of_array(array: Array) -> tuple[InputMetadata, ...]:
    """The metadata of a node whose only result has this array, and is not on a lane."""
    key = (array.shape, array.dtype)
    return _known.get(key) or _remembered(key)


def _remembered(key: tuple[Shape, NumpyDType]) -> tuple[InputMetadata, ...]:
    if len(_known) >= _BOUND:
        _known.clear()
    found = _known[key] = (InputMetadata(*key),)
    return found


def _metadata_on(device: Device, impl: TensorImpl) -> tuple[InputMetadata, ...]:
    """As `metadata_of`, of a value on a lane."""
    key = (impl.array.shape, impl.array.dtype, device)
    found = _known_on_lanes.get(key)
    if found is None:
        if len(_known_on_lanes) >= _BOUND:
            _known_on_lanes.clear()
        found = _known_on_lanes[key] = (InputMetadata(*key),)
    return found


class ResultInfo(NamedTuple):
    """Shape, dtype and device of a node's result, as users read them."""

    shape: Shape
    dtype: DType
    device: Device


def result_info(metadata: tuple[InputMetadata, ...]) -> tuple[ResultInfo, ...]:
    """The public form of `metadata`."""
    return tuple([ResultInfo(m.shape, dtype_of(m.dtype), m.device) for m in metadata])
