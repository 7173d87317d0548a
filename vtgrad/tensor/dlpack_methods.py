"""The memory of a tensor for other libraries, by the protocol of DLPack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vtgrad.errors import DLPackError
from vtgrad.graph.set_history import requires_grad
from vtgrad.graph.tracer import export_value
from vtgrad.ops.calling.take_over import keys_of
from vtgrad.storage.key_set import DUAL, keys
from vtgrad.tensor.conversion_methods import ConversionMethods

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

__all__ = ["DLPackMethods"]

# DLPack's number for the memory of the CPU, and which CPU.
_CPU: Final = (1, 0)


class DLPackMethods(ConversionMethods):
    """What other libraries call to share the memory of a tensor."""

    __slots__ = ()

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """The memory of the tensor, as the function `from_dlpack` of another library takes it.

        The other library's writes move no version. Call `vtgrad.autograd.graph.increment_version`
        after them, if backward may still need the values.

        Parameters
        ----------
        stream : None
            Memory of the CPU has no streams.
        max_version : tuple of int, optional
            The newest version of DLPack that the other library knows; an old one by default,
            which has no mark for memory that is read-only.
        dl_device : tuple of int, optional
            Where the memory is wanted: ``(1, 0)``, the CPU.
        copy : bool, optional
            True for a copy, False for the memory itself, which is the default too.

        Returns
        -------
        capsule
            A capsule of DLPack.

        Raises
        ------
        DLPackError
            If the tensor requires grad, also where recording is off, or has a tangent; is a lazy
            conjugate or negative; or if a stream or another device is asked for.
        BufferError
            If the memory is read-only, and `max_version` is too old to say so.
        BatchedTensorError
            For a tensor inside of `vtgrad.vmap`.

        Examples
        --------
        >>> x = vt.zeros(2)
        >>> a = np.from_dlpack(x)
        >>> x[0] = 5
        >>> a
        array([5., 0.], dtype=float32)
        """
        if stream is not None:
            raise DLPackError(
                f"memory of the CPU has no streams; stream must be None, not {stream!r}"
            )
        if dl_device is not None and tuple(dl_device) != _CPU:
            raise DLPackError(
                f"the memory is the CPU's, which is device {_CPU} of DLPack, not {dl_device}"
            )
        if requires_grad(self):
            raise DLPackError(
                "a tensor that requires grad is not handed to other libraries, whose operators "
                "are not in the graph; use x.detach()"
            )
        if keys.modes and keys_of(self) & DUAL:
            raise DLPackError(
                "a tensor with a tangent is not handed to other libraries, whose operators have "
                "no tangents; use x.detach()"
            )
        lazy = self._lazy_kind()
        if lazy is not None:
            raise DLPackError(
                f"DLPack knows no lazy {lazy[0]}s, whose values are not in memory; use "
                f"x.resolve_{lazy[1]}() for a copy"
            )
        if keys.modes:
            export_value(self, "__dlpack__()")
        return self.numpy(force=True).__dlpack__(max_version=max_version, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device of the memory in DLPack's numbers.

        Returns
        -------
        tuple of int
            ``(1, 0)``, the CPU, for lanes too.

        Examples
        --------
        >>> vt.zeros(2).__dlpack_device__()
        (1, 0)
        """
        return _CPU
