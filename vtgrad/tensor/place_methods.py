"""Where and how a tensor is stored, as programs for several devices and layouts ask for it."""

from __future__ import annotations

from ..storage.memory_layout import MemoryLayout
from ..storage.tensor_base import TensorBase

__all__ = ["PlaceMethods"]


class PlaceMethods(TensorBase):
    """Answers that are the same for every tensor here: strided memory of the CPU."""

    __slots__ = ()

    @property
    def layout(self) -> MemoryLayout:
        """How elements are stored: always `vtgrad.strided`."""
        return MemoryLayout.STRIDED

    @property
    def is_cpu(self) -> bool:
        """Whether the memory is the CPU's: always True."""
        return True

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is a GPU's: always False."""
        return False

    @property
    def is_meta(self) -> bool:
        """Whether there is a shape without memory: always False."""
        return False

    @property
    def is_sparse(self) -> bool:
        """Whether only some elements are stored: always False."""
        return False

    @property
    def is_quantized(self) -> bool:
        """Whether elements stand for others: always False."""
        return False

    @property
    def is_nested(self) -> bool:
        """Whether rows have sizes of their own: always False."""
        return False

    def get_device(self) -> int:
        """The number of the GPU: always -1, there is none."""
        return -1
