"""What PyTorch's live tensors tell the menu; see `vtgrad.testing.menu.state`."""

import math
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property

from tests.oracle.side import TensorLike
from vtgrad.testing.interpreter import Interpreter

__all__ = ["LiveState"]


class _Tensor:
    """See `TensorState`. The graph is not read, because reading rebuilds it."""

    def __init__(self, index: int, tensor: TensorLike) -> None:
        self.index = index
        self.tensor = tensor
        self.shape: tuple[int, ...] = tuple(tensor.shape)
        self.dtype: str = str(tensor.dtype).rpartition(".")[2]
        self.requires_grad: bool = tensor.requires_grad
        self.root: TensorLike = tensor if tensor._base is None else tensor._base

    def __str__(self) -> str:
        return f"t{self.index}"

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(self.tensor.stride())

    @property
    def offset(self) -> int:
        return int(self.tensor.storage_offset())

    @property
    def itemsize(self) -> int:
        return max(int(self.tensor.element_size()), 1)

    @property
    def room(self) -> int:
        return int(self.tensor.untyped_storage().nbytes()) // self.itemsize

    @property
    def is_view(self) -> bool:
        return self.root is not self.tensor

    @property
    def is_leaf(self) -> bool:
        return self.requires_grad and not self.is_view and self.tensor.is_leaf

    @property
    def is_protected(self) -> bool:
        return self.root.requires_grad and self.root.is_leaf

    is_restricted = False  # which only reading the graph would tell

    @property
    def is_part(self) -> bool:
        computed = self.is_view and self.root.requires_grad and not self.root.is_leaf
        return computed and 0 < math.prod(self.shape) < self.root.numel()

    @property
    def is_lazy(self) -> bool:
        return bool(self.tensor.is_conj() or self.tensor.is_neg())

    @cached_property
    def is_tame(self) -> bool:
        t = self.tensor.detach()
        if t.numel() == 0 or not self.dtype.startswith(("float", "complex")):
            return True
        return bool(t.abs().max() < 1e4)

    @property
    def has_gradient(self) -> bool:
        grad = self.tensor.grad if self.is_leaf else None
        return grad is not None and not grad.requires_grad

    @property
    def refuses_retaining(self) -> bool:
        # PyTorch crashes if an output of several retains its gradient and a part of it is written.
        return bool(self.tensor.output_nr)


class LiveState:
    """See `State`: the program as it is on one side.

    Parameters
    ----------
    side : Interpreter
        PyTorch, which has run the program so far.
    """

    made = 0  # the menu counts

    def __init__(self, side: Interpreter) -> None:
        self.side = side
        self._tensors: dict[int, _Tensor] | None = None

    def forget(self) -> None:
        """Look at the tensors anew."""
        self._tensors = None

    @property
    def tensors(self) -> Mapping[int, _Tensor]:
        """See `State`."""
        if self._tensors is None:
            live = self.side.tensors().items()
            self._tensors = {int(name[1:]): _Tensor(int(name[1:]), t) for name, t in live}
        return self._tensors

    def has_room(self, numel: int) -> bool:
        """See `State`."""
        return True

    def beside_saves(self) -> Sequence[tuple[int, int | slice]]:
        """See `State`: what nodes have saved is not looked at."""
        return ()

    def look(self, text: str) -> tuple[tuple[int, ...], str] | None:
        """See `State`."""
        try:
            with self.side.library.module.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = eval(text, self.side.names)
        except Exception:
            return None
        return tuple(found.shape), str(found.dtype).rpartition(".")[2]
