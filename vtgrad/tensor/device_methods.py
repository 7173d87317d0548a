"""The device and the layout of a tensor, for programs that support several."""

from __future__ import annotations

from vtgrad.storage.device import CPU
from vtgrad.storage.memory_format import MemoryLayout
from vtgrad.storage.tensor_mixin import TensorMixin

__all__ = ["DeviceMethods"]


class DeviceMethods(TensorMixin):
    """Properties of a tensor's memory, most of which are the same for every tensor here."""

    __slots__ = ()

    @property
    def layout(self) -> MemoryLayout:
        """How elements are stored: at the distances that the strides give.

        Returns
        -------
        layout
            Always `vtgrad.strided`.

        Examples
        --------
        >>> vt.zeros(2).layout
        vtgrad.strided
        """
        return MemoryLayout.STRIDED

    @property
    def is_cpu(self) -> bool:
        """Whether the memory is the CPU's.

        Returns
        -------
        bool
            True, unless the tensor is on a lane.

        Examples
        --------
        >>> vt.zeros(2).is_cpu, vt.zeros(2, device="lane").is_cpu
        (True, False)
        """
        return self._impl.device is CPU

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is a GPU's.

        Returns
        -------
        bool
            Always False.

        Examples
        --------
        >>> vt.zeros(2).is_cuda
        False
        """
        return False

    @property
    def is_meta(self) -> bool:
        """Whether the tensor has a shape but no memory.

        Returns
        -------
        bool
            Always False.

        Examples
        --------
        >>> vt.zeros(2).is_meta
        False
        """
        return False

    @property
    def is_sparse(self) -> bool:
        """Whether only elements other than zero are stored.

        Returns
        -------
        bool
            Always False.

        Examples
        --------
        >>> vt.zeros(2).is_sparse
        False
        """
        return False

    @property
    def is_quantized(self) -> bool:
        """Whether elements are integers that stand for floating numbers.

        Returns
        -------
        bool
            Always False.

        Examples
        --------
        >>> vt.zeros(2).is_quantized
        False
        """
        return False

    @property
    def is_nested(self) -> bool:
        """Whether rows have sizes of their own.

        Returns
        -------
        bool
            Always False.

        Examples
        --------
        >>> vt.zeros(2).is_nested
        False
        """
        return False

    def get_device(self) -> int:
        """The number of the lane that the memory is on.

        Returns
        -------
        int
            -1 for the CPU.

        Examples
        --------
        >>> vt.zeros(2).get_device(), vt.zeros(2, device="lane:1").get_device()
        (-1, 1)
        """
        index = self._impl.device.index
        return -1 if index is None else index
