"""Products of a Jacobian with the rows of a matrix of seeds: one pass for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from ..errors import TransformError
from ..ops.generated import functional as F
from ..storage.arrays import Array, Shape
from ..storage.lazy_array import resolved
from ..tensor.from_data import tensor
from ..tensor.tensor import Tensor
from ..utils.pytree import TreeSpec, tree_flatten, tree_unflatten
from .jvp import jvp
from .vjp import vjp

__all__ = ["ForwardPasses", "Passes", "ReversePasses"]

Function = Callable[..., object]


class Passes(Protocol):
    """Passes of one mode at one point.

    Attributes
    ----------
    aux : object
        What the function returned beside its outputs.
    """

    aux: object

    def products(self, seeds: Array) -> Array:
        """One product for each row of `seeds`, as the rows of a matrix."""


class ForwardPasses:
    """Products ``J @ v``, each by a call of the function.

    Parameters
    ----------
    func : callable
        Takes the inputs, one tensor each.
    inputs : callable
        Makes the inputs, which the function may write to.
    shapes : tuple of tuple of int
        The shapes that the outputs must have.
    """

    aux: object

    def __init__(
        self,
        func: Function,
        inputs: Callable[[], Sequence[Tensor]],
        shapes: tuple[Shape, ...],
        has_aux: bool,
    ) -> None:
        self._func = func
        self._inputs = inputs
        self._shapes = shapes
        self._has_aux = has_aux
        self.aux = None

    def products(self, seeds: Array) -> Array:
        """One product for each row of `seeds`."""
        return np.stack([self._product(seed) for seed in seeds])

    def _product(self, seed: Array) -> Array:
        inputs = self._inputs()
        if not inputs:
            return np.zeros(0)
        found = jvp(
            self._func, tuple(inputs), tuple(split_like(seed, inputs)), has_aux=self._has_aux
        )
        if self._has_aux:
            self.aux = found[2]
        leaves = tree_flatten(found[1])[0]
        return joined(leaves, self._shapes)


class ReversePasses:
    """Products ``u @ J``; the function is called once.

    The parameters are those of `ForwardPasses`.
    """

    aux: object

    def __init__(
        self,
        func: Function,
        inputs: Callable[[], Sequence[Tensor]],
        shapes: tuple[Shape, ...],
        has_aux: bool,
    ) -> None:
        # Copies made inside are no leaves, so the function may write to them.
        found = vjp(lambda *given: func(*map(F.clone, given)), *inputs(), has_aux=has_aux)
        self.aux = found[2] if has_aux else None
        leaves, spec = tree_flatten(found[0])
        self._outputs = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        self._spec: TreeSpec = spec
        check_shapes(self._outputs, shapes)
        pull = found[1]
        assert callable(pull)
        self._pull: Function = pull

    def products(self, seeds: Array) -> Array:
        """One product for each row of `seeds`."""
        return np.stack([self._product(seed) for seed in seeds])

    def _product(self, seed: Array) -> Array:
        cotangents = tree_unflatten(split_like(seed, self._outputs), self._spec)
        return joined(tree_flatten(self._pull(cotangents))[0], None)


def split_like(row: Array, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The parts of a row that belong to each tensor, in its shape, dtype and device."""
    parts, start = [], 0
    for like in tensors:
        part = row[start : start + like.numel()].reshape(like.shape)
        parts.append(tensor(part, dtype=like.dtype, device=like.device))
        start += like.numel()
    return parts


def joined(leaves: Sequence[object], shapes: tuple[Shape, ...] | None) -> Array:
    """The elements of tensors, one after another."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if shapes is not None:
        check_shapes(tensors, shapes)
    arrays = [resolved(x._impl.array).reshape(-1) for x in tensors]
    return np.concatenate(arrays) if arrays else np.zeros(0)


def check_shapes(tensors: Sequence[Tensor], shapes: tuple[Shape, ...]) -> None:
    """Raise if the outputs are not those of the run that found the pattern."""
    found = tuple([tuple(x.shape) for x in tensors])
    if found != shapes:
        raise TransformError(
            f"the pattern was found for outputs of shapes {[list(s) for s in shapes]}, and the "
            f"function returned {[list(s) for s in found]}",
            expected=shapes,
            found=found,
        )
