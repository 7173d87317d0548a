"""What the model tells the menu, and what it can predict."""

from collections.abc import Sequence
from dataclasses import dataclass

from vtgrad.testing.libraries import Library
from vtgrad.testing.menu.state import Abilities, TensorState
from vtgrad.testing.model import Creation, ModelTensor, Saved
from vtgrad.testing.rules import OPERATORS
from vtgrad.testing.world import World

__all__ = ["VIEWS", "ModelState", "model_abilities"]

#: The largest number of tensors alive at once, of elements of operands, and of elements of leaves.
MOST_TENSORS, MOST_ELEMENTS, MOST_LEAVES = 12, 24, 16

#: The views that the model knows.
VIEWS = frozenset(
    "[] unsqueeze squeeze expand view reshape select narrow transpose swapaxes permute diagonal"
    " t T mT as_strided split chunk unbind".split()
)

_FUNCTIONS = VIEWS - {"[]", "T", "mT", "view", "expand"} | set(OPERATORS)

_IN_PLACE = frozenset(f"{name}_" for name, op in OPERATORS.items() if op.has_inplace)


def model_abilities(library: Library) -> Abilities:
    """Return what the model can predict of programs on a library."""
    return Abilities(
        known=VIEWS | _FUNCTIONS | _IN_PLACE | {"squeeze_dim", "make_dual", "copy_"},
        functions=_FUNCTIONS,
        rules=tuple(library.rules.values()),
        most_tensors=MOST_TENSORS,
        most_elements=MOST_ELEMENTS,
        most_dims=3,
    )


def _described(world: World, index: int, t: ModelTensor) -> TensorState:
    base = t.base
    return TensorState(
        index,
        t.geometry.shape,
        t.geometry.strides,
        t.geometry.offset,
        int(t.buffer.values.size),
        requires_grad=t.requires_grad,
        is_view=base is not None,
        is_leaf=t.leaf is not None,
        is_protected=t.root.leaf is not None,
        is_part=base is not None and base.node is not None and 0 < t.cells.size < base.cells.size,
        is_restricted=t.creation is not Creation.DEFAULT,
        has_tangent=world.tangent_of(t) is not None,
    )


@dataclass(frozen=True)
class ModelState:
    """See `State`."""

    world: World

    @property
    def made(self) -> int:
        """See `State`."""
        return self.world.made

    @property
    def has_level(self) -> bool:
        """See `State`."""
        return self.world.level is not None

    def describe(self) -> Sequence[TensorState]:
        """See `State`."""
        return [_described(self.world, i, t) for i, t in sorted(self.world.tensors.items())]

    def has_room(self, numel: int) -> bool:
        """See `State`."""
        return len(self.world.variables.leaf_columns) + numel <= MOST_LEAVES

    def look(self, text: str) -> None:
        """See `State`: the model reads no text."""

    def beside_saves(self) -> Sequence[tuple[int, int | slice]]:
        """See `State`."""
        kept = [
            save.failure
            for save in self.world.saves
            if isinstance(save.failure, Saved) and not save.freed and save.failure.cells
        ]
        return [
            (index, part)
            for saved in kept[-4:]
            for index, tensor in sorted(self.world.tensors.items())
            if tensor.counter is saved.tensor.counter and not tensor.root.leaf
            for part in _parts(tensor)
            if not saved.cells & set(tensor.cells[part].ravel().tolist())
        ]


def _parts(tensor: ModelTensor) -> Sequence[int | slice]:
    size = tensor.geometry.shape[0] if tensor.geometry.shape else 0
    return [*range(size), *(slice(k, None) for k in range(1, size))]
