"""Maps of memory: which tensors and saved values look at which elements, and who wrote them."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import meta_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.tensor import Tensor
from vtgrad.viz.memory import Mask, Memory, memories_of
from vtgrad.viz.storage_picture import picture

__all__ = ["StorageMap", "storage_map"]

# Characters of the widest bar.
_WIDTH: Final = 60


class StorageMap:
    """The buffers of some tensors and of their graph, as they were when the map was made.

    As text (``print(storage_map(x))``) each buffer has a line for each tensor and each saved value
    on it, with a bar: ``#`` where it shows the elements, ``.`` where it does not, and ``+`` where
    one character stands for several elements of which it shows some. Below are the last writes.
    Notebooks show a picture of the same.

    Examples
    --------
    >>> from vtgrad.viz import storage_map
    >>> isinstance(storage_map(vt.zeros(2)), vt.viz.StorageMap)
    True
    """

    __slots__ = ("_memories",)

    _memories: list[Memory]

    def __init__(self, memories: list[Memory]) -> None:
        self._memories = memories

    def __str__(self) -> str:
        return "\n\n".join(
            [_text(number, memory) for number, memory in enumerate(self._memories, 1)]
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_svg_(self) -> str:
        """The picture for notebooks."""
        return picture(self._memories)


def storage_map(*tensors: Tensor, **named: Tensor) -> StorageMap:
    """The memory that tensors and the graph behind them touch.

    Shown are the tensors that are given, the leaves of their graph, and what its nodes have saved.
    Other views of the same memory are not known: give those that matter. Nothing is changed: a
    stale ``grad_fn`` is not rebuilt, but said to be stale.

    Parameters
    ----------
    *tensors : Tensor
        Tensors, which are called by their `Tensor.name`, or numbered.
    **named : Tensor
        Tensors under names.

    Returns
    -------
    StorageMap
        Print it, or let a notebook show it.

    Raises
    ------
    ArgumentTypeError
        If an argument is no tensor.

    Examples
    --------
    >>> from vtgrad.viz import storage_map
    >>> x = vt.ones(4, requires_grad=True)
    >>> b = x.clone()
    >>> head, tail = b[:2], b[3:]
    >>> head = head.mul_(2)
    >>> print(storage_map(b=b, head=head, tail=tail))
    storage 1: 16 bytes, version 1
      b     ####  float32 [4], of CopySlices
      head  ##..  float32 [2], view of b at offset 0; written, grad_fn is made on reading
      tail  ...#  float32 [1], view of b at offset 3; grad_fn is stale, of version 0
      version 1: mul_ at ...:1 in <module>, through a view of shape [2] at offset 0 made by slice
    <BLANKLINE>
    storage 2: 16 bytes, version 0
      (unnamed)  ####  float32 [4], leaf
    """
    given: list[tuple[str | None, object]] = [(None, x) for x in tensors]
    given += named.items()
    checked: list[tuple[str | None, TensorBase]] = []
    for name, tensor in given:
        if not isinstance(tensor, TensorBase):
            raise ArgumentTypeError(
                f"storage_map shows tensors, not {type(tensor).__name__}",
                argument=name or "tensors",
            )
        checked.append((name, tensor))
    return StorageMap(memories_of(checked, [n for _, x in checked for n in _producers(x)]))


def _producers(tensor: TensorBase) -> list[Node]:
    """The node of a tensor as it is stored, and that of its base; neither is rebuilt."""
    found = []
    meta = meta_of(tensor)
    while meta is not None:
        if meta.grad_fn_ is not None:
            found.append(meta.grad_fn_)
        elif meta.grad_accumulator is not None:
            found.append(meta.grad_accumulator.function)
        base: TensorBase | None = getattr(meta, "base", None)
        meta = None if base is None else meta_of(base)
    return found


def _text(number: int, memory: Memory) -> str:
    """One buffer as lines of text."""
    version = "writes are not counted" if memory.version is None else f"version {memory.version}"
    lines = [f"storage {number}: {memory.nbytes} bytes, {version}"]
    width = max((len(part.name) for part in memory.parts), default=0)
    for part in memory.parts:
        bar = _bar(memory.covered(part))
        lines.append(f"  {part.name:{width}}  {bar}  {part.about}".rstrip())
    lines += [f"  {write}" for write in memory.writes]
    return "\n".join(lines)


def _bar(mask: Mask) -> str:
    """A mask as characters, each for one element or, of many, for several."""
    if mask.size <= _WIDTH:
        return "".join(np.where(mask, "#", ".").tolist())
    edges = np.linspace(0, mask.size, _WIDTH + 1).astype(np.intp)
    counts = np.add.reduceat(mask.astype(np.intp), edges[:-1])
    return "".join(
        "#" if count == size else "+" if count else "."
        for count, size in zip(counts.tolist(), np.diff(edges).tolist(), strict=True)
    )
