"""What PyTorch's live tensors tell the menu; see `vtgrad.testing.menu.state`."""

import warnings
from collections.abc import Sequence

from tests.oracle.side import TensorLike
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.menu.state import TensorState

__all__ = ["LiveState"]


def _described(index: int, t: TensorLike, tangent: TensorLike | None) -> TensorState:
    """Describe a tensor. The graph of a view is not read, because reading rebuilds it."""
    base = t._base
    root = t if base is None else base
    is_root_leaf = root.requires_grad and root.is_leaf
    is_leaf = base is None and is_root_leaf
    dtype = str(t.dtype).rpartition(".")[2]
    grad = t.grad if is_leaf else None
    return TensorState(
        index,
        tuple(t.shape),
        tuple(t.stride()),
        int(t.storage_offset()),
        int(t.untyped_storage().nbytes()) // int(t.element_size()),
        requires_grad=t.requires_grad,
        is_view=base is not None,
        is_leaf=is_leaf,
        is_protected=is_root_leaf,
        is_part=root.requires_grad and not is_root_leaf and 0 < t.numel() < root.numel(),
        dtype=dtype,
        is_lazy=bool(t.is_conj() or t.is_neg()),
        is_tame=not (dtype.startswith(("float", "complex")) and t.numel())
        or bool(t.detach().abs().max() < 1e4),
        has_gradient=grad is not None and not grad.requires_grad,
        # PyTorch crashes if an output of several retains its gradient and a part of it is written.
        refuses_retaining=bool(t.output_nr),
        producer=type(t.grad_fn).__name__ if base is None and t.grad_fn is not None else "",
        has_tangent=tangent is not None,
    )


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

    @property
    def has_level(self) -> bool:
        """See `State`."""
        return self.side.has_level()

    def describe(self) -> Sequence[TensorState]:
        """See `State`."""
        tangent = self.side.library.tangent if self.has_level else lambda _: None
        return [_described(int(name[1:]), t, tangent(t)) for name, t in self.side.tensors().items()]

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
