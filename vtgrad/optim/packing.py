"""Containers of tensors as one vector of float64, which SciPy's methods work on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vtgrad.errors import ArgumentTypeError, ArgumentValueError
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.tensor.from_data import tensor
from vtgrad.tensor.tensor import Tensor
from vtgrad.utils.pytree import TreeSpec, tree_flatten, tree_unflatten

__all__ = ["FloatArray", "Packing", "as_floats", "as_vector", "flat_outputs"]

FloatArray: TypeAlias = NDArray[np.float64]


class Packing:
    """The shapes and dtypes of the tensors in a container.

    Parameters
    ----------
    tree : object
        The container: real floating tensors, in tuples, lists and dicts.
    what : str
        The name of the argument, for errors.

    Attributes
    ----------
    leaves : list of Tensor
        The tensors.
    spec : TreeSpec
        The containers.
    size : int
        The number of elements.

    Raises
    ------
    ArgumentTypeError
        If something in it is no real floating tensor.
    ArgumentValueError
        If there is no element.
    """

    leaves: list[Tensor]
    spec: TreeSpec
    size: int

    def __init__(self, tree: object, what: str) -> None:
        found, self.spec = tree_flatten(tree)
        self.leaves = []
        for leaf in found:
            if not isinstance(leaf, Tensor) or not leaf.is_floating_point():
                kind = leaf.dtype if isinstance(leaf, Tensor) else type(leaf).__name__
                raise ArgumentTypeError(
                    f"{what} must be real floating tensors, in containers or not: one is {kind}",
                    argument=what,
                )
            self.leaves.append(leaf)
        self.size = sum(leaf.numel() for leaf in self.leaves)
        if not self.size:
            raise ArgumentValueError(f"{what} has no element", argument=what)

    def vector(self) -> FloatArray:
        """A new vector of the values."""
        return np.concatenate([as_floats(leaf) for leaf in self.leaves])

    def tree(self, vector: Tensor) -> object:
        """The container, of parts of a vector; derivatives pass."""
        found: list[object] = []
        at = 0
        for leaf in self.leaves:
            count = leaf.numel()
            part = vector if count == self.size else vector[at : at + count]
            part = F.reshape(part, tuple(leaf.shape))
            found.append(part if leaf.dtype == part.dtype else part.to(leaf.dtype))
            at += count
        return tree_unflatten(found, self.spec)

    def filled(self, vector: FloatArray) -> object:
        """The container, of new tensors with the values of a vector."""
        found: list[object] = []
        at = 0
        for leaf in self.leaves:
            part = vector[at : at + leaf.numel()]
            found.append(tensor(part, dtype=leaf.dtype).reshape(tuple(leaf.shape)))
            at += leaf.numel()
        return tree_unflatten(found, self.spec)

    def vector_of(self, tree: object, what: str) -> FloatArray:
        """The values of a container of the same structure and shapes.

        Raises
        ------
        ArgumentValueError
            If it has another.
        """
        leaves, spec = tree_flatten(tree)
        if spec != self.spec:
            raise ArgumentValueError(
                f"{what} must be in the containers of x0, {self.spec}; it is in {spec}",
                argument=what,
            )
        for leaf, like in zip(leaves, self.leaves, strict=True):
            if not isinstance(leaf, Tensor) or leaf.shape != like.shape or leaf.is_complex():
                raise ArgumentValueError(
                    f"{what} must be real tensors of the shapes of x0", argument=what
                )
        return np.concatenate([as_floats(x) for x in leaves if isinstance(x, Tensor)])


def as_floats(x: Tensor) -> FloatArray:
    """The elements of a tensor as a new vector of float64."""
    return making.array(x.detach().numpy(), dtype=np.float64).reshape(-1)


def as_vector(array: object) -> Tensor:
    """An array of SciPy, which writes to it later, as a new vector of float64."""
    return tensor(making.asarray(array, dtype=np.float64).reshape(-1))


def flat_outputs(outputs: object, what: str) -> Tensor:
    """Real floating tensors, in containers or not, as one vector.

    Raises
    ------
    ArgumentTypeError
        If there is something else.
    """
    leaves, _ = tree_flatten(outputs)
    found: list[Tensor] = []
    for leaf in leaves:
        if not isinstance(leaf, Tensor) or not leaf.is_floating_point():
            kind = leaf.dtype if isinstance(leaf, Tensor) else type(leaf).__name__
            raise ArgumentTypeError(
                f"{what} must return real floating tensors, and returned {kind}", argument=what
            )
        found.append(F.reshape(leaf, (-1,)))
    return joined(found)


def joined(vectors: Sequence[Tensor]) -> Tensor:
    """Several vectors as one."""
    return vectors[0] if len(vectors) == 1 else F.cat(list(vectors))
