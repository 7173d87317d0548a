"""Blocks in which ``__torch_function__`` is not called."""

from __future__ import annotations

from typing import ClassVar, Self

from vtgrad.storage.key_set import OVERRIDES, TORCH_FUNCTION, TORCH_FUNCTION_OF_OTHERS
from vtgrad.storage.scope import Scope
from vtgrad.storage.thread_mode import thread

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass"]


class DisableTorchFunctionSubclass(Scope):
    """A block in which ``__torch_function__`` of subclasses of `Tensor` is not called.

    Functions run as for plain tensors, and give plain tensors. Objects that are no tensors still
    take functions over, and modes see them. One object serves one block.

    Examples
    --------
    >>> class Logged(vt.Tensor):
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return super().__torch_function__(func, types, args, kwargs)
    >>> x = vt.ones(2).as_subclass(Logged)
    >>> y = x * 2
    mul
    >>> with vt.overrides.DisableTorchFunctionSubclass():
    ...     type(x * 2) is vt.Tensor
    True
    """

    __slots__ = ("_before",)

    _keys: ClassVar[int] = TORCH_FUNCTION

    # Which of them were excluded before the block; None while it is not open.
    _before: int | None

    def __init__(self) -> None:
        super().__init__()
        self._before = None

    def __enter__(self) -> Self:
        excluded = thread.excluded_keys
        # In this order, so that an interrupt between the two is undone.
        self._before = excluded & self._keys
        thread.excluded_keys = excluded | self._keys
        return self

    def restore(self) -> None:
        """Switch back; called again if the call is interrupted."""
        before = self._before
        if before is not None:
            thread.excluded_keys = thread.excluded_keys & ~self._keys | before
            self._before = None


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """A block in which no ``__torch_function__`` is called, that of modes included.

    Objects that are no tensors are errors where tensors are taken. One object serves one block.

    Examples
    --------
    >>> with vt.overrides.DisableTorchFunction():
    ...     vt.ones(2) * 2
    tensor([2., 2.])
    """

    __slots__ = ()

    _keys: ClassVar[int] = OVERRIDES | TORCH_FUNCTION_OF_OTHERS
